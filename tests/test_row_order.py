"""Sorted rows without repetition."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from hardmargin import row_order
from hardmargin.row_order import distinct_rows, equal_rows


def expected(first_column: np.ndarray, others: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    table = np.column_stack([first_column, others])
    _, rows, place = np.unique(table, axis=0, return_index=True, return_inverse=True)
    return rows, place.ravel()


@st.composite
def tables(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    """Few values, so that many rows are equal in their first columns or in all of them."""
    n, m = draw(st.integers(1, 25)), draw(st.integers(1, 9))
    value = st.sampled_from(draw(st.sampled_from([[0.0, 1.0], [-0.0, 0.0, -1.0, 2.5], [3.0]])))
    row = st.lists(value, min_size=m, max_size=m)
    return (
        np.array(draw(st.lists(st.sampled_from([-1.0, 0.5, 1.0, 2.0]), min_size=n, max_size=n))),
        np.array(draw(st.lists(row, min_size=n, max_size=n))),
    )


@given(tables())
def test_rows_are_those_that_a_plain_sort_finds(table) -> None:
    for found, wanted in zip(distinct_rows(*table, lambda: None), expected(*table), strict=True):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("block", [1, 7, 100])
def test_the_size_of_blocks_does_not_matter(block, monkeypatch) -> None:
    monkeypatch.setattr(row_order, "_BLOCK", block)
    rng = np.random.default_rng(block)
    table = rng.choice([-1.0, 1.0], 200), rng.integers(0, 2, size=(200, 9)).astype(float)
    for found, wanted in zip(distinct_rows(*table, lambda: None), expected(*table), strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_columns_that_decide_nothing_are_not_looked_at() -> None:
    """Otherwise the sorted data would grow with the number of features."""
    rng = np.random.default_rng(0)
    X = np.hstack([rng.standard_normal((100, 1)), np.full((100, 50), np.nan)])
    rows, _ = distinct_rows(np.ones(100), X, lambda: None)
    np.testing.assert_array_equal(rows, np.argsort(X[:, 0]))


def test_it_can_be_stopped_between_two_blocks(monkeypatch) -> None:
    monkeypatch.setattr(row_order, "_BLOCK", 100)
    checks = []
    distinct_rows(np.ones(100), np.zeros((100, 20)), lambda: checks.append(None))
    assert len(checks) >= 20


def grouping(first: np.ndarray, place: np.ndarray) -> list[int]:
    """The first row of the set that each row belongs to."""
    return first[place].tolist()


@pytest.mark.parametrize("convert", [np.asarray, scipy.sparse.csr_array])
@given(table=tables(), block=st.sampled_from([1, 5, 1000]))
def test_equal_rows_are_found_without_sorting(convert, table, block) -> None:
    first_column, others = table
    rows = np.flatnonzero(np.arange(len(others)) % 4 != 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_order, "_BLOCK", block)
        first, place = equal_rows(first_column, convert(others), rows, lambda: None)
    assert np.all(np.diff(first) > 0)
    sorted_first, sorted_place = expected(first_column[rows], others[rows])
    assert grouping(first, place) == grouping(rows[sorted_first], sorted_place)


def test_rows_that_only_have_the_same_hash_are_not_merged(monkeypatch) -> None:
    monkeypatch.setattr(row_order, "_mixed", lambda values: np.zeros(values.shape, dtype=np.uint64))
    X = np.array([[1.0], [2.0], [1.0], [3.0]])
    for samples in (X, scipy.sparse.csr_array(X)):
        first, place = equal_rows(np.ones(4), samples, np.arange(4), lambda: None)
        assert grouping(first, place) == [0, 1, 0, 3]
