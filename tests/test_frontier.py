"""Open subproblems as plain data: selecting, sorting, splitting and joining them."""

from __future__ import annotations

import numpy as np
import pytest

from hardmargin import _core
from hardmargin.frontier import Frontier


def root(kept, given_up, bound, upper=100.0) -> Frontier:
    return Frontier(*_core.packing_root(10, kept, given_up, bound, upper))


@pytest.fixture
def frontier() -> Frontier:
    """Subproblems of different lengths."""
    return Frontier.joined(
        [root([1, 2], [3], 5.0), root([], [], 1.0, 90.0), root([4], [0, 9], 3.0), root([], [7], 1.0)]
    )


def subproblems(frontier: Frontier) -> list[tuple[list[int], list[float]]]:
    parts = np.split(frontier.integers, frontier.ends[:-1].astype(int)) if frontier.size else []
    return [(part.tolist(), row.tolist()) for part, row in zip(parts, frontier.numbers, strict=True)]


def test_what_is_joined_is_there_in_its_order(frontier) -> None:
    assert subproblems(frontier) == [
        ([2, 1, 2, 3], [5.0, 100.0]),
        ([0], [1.0, 90.0]),
        ([1, 4, 0, 9], [3.0, 100.0]),
        ([0, 7], [1.0, 100.0]),
    ]
    assert frontier.starts.tolist() == [0, 4, 5, 9]
    assert frontier.lengths.tolist() == [4, 1, 4, 2]
    assert (frontier.lower_bound(), frontier.derived_under()) == (1.0, 90.0)


def test_sorting_keeps_the_order_of_equal_bounds(frontier) -> None:
    assert subproblems(frontier.by_bound()) == [subproblems(frontier)[k] for k in (1, 3, 2, 0)]


@pytest.mark.parametrize("count", [0, 1, 3, 4, 9])
def test_splitting_loses_nothing(frontier, count) -> None:
    first, rest = frontier.split(count)
    assert first.size == min(count, 4)
    assert subproblems(first) + subproblems(rest) == subproblems(frontier)


def test_what_cannot_be_better_is_dropped(frontier) -> None:
    assert frontier.below(3.0).size == 2
    assert frontier.below(1.0).size == 0
    assert Frontier.empty().below(1.0).size == 0


def test_what_was_closed_beside_them_is_remembered(frontier) -> None:
    marked = frontier.closed_beside(95.0)
    assert marked.numbers[:, -1].tolist() == [95.0, 90.0, 95.0, 95.0]
    assert frontier.numbers[:, -1].tolist() == [100.0, 90.0, 100.0, 100.0], "the original has changed"
    assert marked.closed_beside(0.5).lower_bound() == 0.5


def test_an_empty_frontier_is_refused_where_something_has_to_be_open(frontier) -> None:
    assert frontier.required() is frontier
    with pytest.raises(ValueError, match="the frontier is empty; expected the root of a search"):
        Frontier.empty().required()
    assert Frontier.joined([Frontier.empty()]).lower_bound() == np.inf
