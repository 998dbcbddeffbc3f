from __future__ import annotations

import datetime
import math

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from hardmargin import Problem
from hardmargin.validation import sorted_classes

X3 = [[0.0, 1.0], [1.0, 1.0], [3.0, 2.0]]


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        (["no", "no", "yes"], ("no", "yes")),
        ([b"no", b"no", b"yes"], (b"no", b"yes")),
        ([False, False, True], (False, True)),
        ([1, 1, 2], (1, 2)),
        ([-1, -1, 1], (-1, 1)),
        (np.array([5, 5, 250], dtype=np.uint8), (5, 250)),
        ([2**70, 2**70, 2**71], (2**70, 2**71)),
        ([0.25, 0.25, 0.5], (0.25, 0.5)),
        (np.array([0.1, 0.1, 0.2], dtype=np.float32), (float(np.float32(0.1)), float(np.float32(0.2)))),
        (np.array(["a", "a", "b"], dtype=object), ("a", "b")),
        ([datetime.date(2024, 1, 1)] * 2 + [datetime.date(2025, 1, 1)], None),
        (np.array(["2024", "2024", "2025"], dtype="datetime64[ns]"), None),
        (pd.Series(["a", "a", "b"], dtype="category"), ("a", "b")),
        (pd.Series(["a", "a", "b"], dtype="string"), ("a", "b")),
        ([["a"], ["a"], ["b"]], ("a", "b")),
    ],
    ids=repr,
)
def test_labels_may_be_any_two_values(labels, classes) -> None:
    problem = Problem.from_data(X3, labels)
    assert problem.y.tolist() == [-1, -1, 1]
    if classes is not None:
        assert problem.classes == classes
        assert [type(label) for label in problem.classes] == [type(label) for label in classes]


@pytest.mark.parametrize(
    "convert",
    [
        lambda X: X.tolist(),
        lambda X: X.astype(np.float32),
        lambda X: X.astype(int),
        np.asfortranarray,
        lambda X: X[::-1][::-1],
        pd.DataFrame,
        scipy.sparse.csr_array,
        scipy.sparse.csc_matrix,
        scipy.sparse.dok_array,
    ],
)
def test_samples_may_come_in_any_container(convert) -> None:
    X = np.array(X3)
    problem = Problem.from_data(convert(X), [0, 0, 1])
    np.testing.assert_array_equal(problem.X, X)
    assert problem.X.dtype == np.float64
    assert problem.X.flags.c_contiguous


Y3 = [0, 0, 1]

REFUSED = {
    "not 2-d": ([1.0, 2.0, 3.0], Y3, {}, ValueError, "Expected 2D array"),
    "no rows": (np.zeros((0, 2)), [], {}, ValueError, "0 sample"),
    "no features": (np.zeros((3, 0)), Y3, {}, ValueError, "0 feature"),
    "NaN": ([[0.0], [np.nan], [1.0]], Y3, {}, ValueError, "X contains NaN"),
    "NaN in a sparse matrix": (
        scipy.sparse.dok_array([[0.0], [np.nan], [1.0]]),
        Y3,
        {},
        ValueError,
        "X contains NaN",
    ),
    "infinity": ([[0.0], [np.inf], [1.0]], Y3, {}, ValueError, "X contains infinity"),
    "too large": ([[0.0], [-2e150], [1.0]], Y3, {}, ValueError, r"magnitude 2e\+150; at most 1e\+150"),
    "complex": (np.array([[0.0], [1j], [1.0]]), Y3, {}, ValueError, "Complex data"),
    "y None": (X3, None, {}, ValueError, "y is None; expected one label"),
    "y 2-d": (X3, [[0, 1]] * 3, {}, ValueError, r"y has shape \(3, 2\); expected one label per row"),
    "y short": (X3, [0, 1], {}, ValueError, "X has 3 rows but y has 2 labels"),
    "y NaN": (X3, [0.0, np.nan, 1.0], {}, ValueError, "y contains NaN or infinity"),
    "y complex": (X3, [0j, 0j, 1j], {}, ValueError, "y is of type complex128"),
    "y None within": (X3, ["a", None, "b"], {}, ValueError, "y contains missing labels"),
    "y NaN among text": (X3, ["a", np.nan, "b"], {}, ValueError, "y contains missing labels"),
    "y pandas.NA": (
        X3,
        pd.Series(["a", pd.NA, "b"], dtype="string"),
        {},
        ValueError,
        "y contains missing labels",
    ),
    "y NaT": (X3, np.array(["2024", "NaT", "2025"], "datetime64[D]"), {}, ValueError, "missing labels"),
    "y mixed": (X3, ["a", 1, "a"], {}, TypeError, "y mixes labels of types int, str"),
    "one class": (X3, ["a", "a", "a"], {}, ValueError, r"y has 1 class \('a'\); expected two classes"),
    "three classes": (X3, [0, 1, 2], {}, ValueError, r"y has 3 classes \(0, 1, 2\); expected two.*HardMarginSVC"),
    "seven classes": (np.eye(7), list("abcdefg"), {}, ValueError, r"\('a', 'b', 'c', 'd', 'e', \.\.\.\)"),
    "C zero": (X3, Y3, {"C": 0}, ValueError, r"C is 0\.0; expected a positive finite number"),
    "C NaN": (X3, Y3, {"C": np.nan}, ValueError, "C is nan"),
    "C infinite": (X3, Y3, {"C": np.inf}, ValueError, "C is inf"),
    "C text": (X3, Y3, {"C": "big"}, TypeError, "C is 'big'; expected a positive number"),
    "C too long": (X3, Y3, {"C": 10**400}, TypeError, "expected a positive number"),
    "weights short": (X3, Y3, {"sample_weight": [1, 1]}, ValueError, r"shape \(2,\); expected \(3,\)"),
    "weights 2-d": (X3, Y3, {"sample_weight": [[1]] * 3}, ValueError, r"shape \(3, 1\); expected \(3,\)"),
    "weight negative": (X3, Y3, {"sample_weight": [1, -2, 1]}, ValueError, "of row 1 is -2; expected no"),
    "weight NaN": (X3, Y3, {"sample_weight": [1, np.nan, 1]}, ValueError, "sample_weight contains NaN"),
    "weight text": (X3, Y3, {"sample_weight": ["x", 1, 1]}, TypeError, "sample_weight is not numeric"),
    "weight complex": (X3, Y3, {"sample_weight": [1j, 1, 1]}, TypeError, "sample_weight is not numeric"),
    "a class without weight": (
        X3,
        Y3,
        {"sample_weight": [1, 1, 0]},
        ValueError,
        r"1 class \(0\) once rows of weight zero are left out",
    ),
    "no weight": (X3, Y3, {"sample_weight": [0, 0, 0]}, ValueError, "no class once rows of weight zero"),
    "class_weight text": (X3, Y3, {"class_weight": "fair"}, ValueError, "class_weight is 'fair'; expected"),
    "class_weight list": (
        X3,
        Y3,
        {"class_weight": [1, 2]},
        ValueError,
        r"class_weight is \[1, 2\]; expected",
    ),
    "class_weight unknown": (X3, Y3, {"class_weight": {2: 1.0}}, ValueError, "names 2, which is not a label"),
    "class_weight negative": (X3, Y3, {"class_weight": {1: -1}}, ValueError, "of 1 is -1; expected a finite"),
    "class_weight not a number": (X3, Y3, {"class_weight": {1: "x"}}, ValueError, "of 1 is 'x'; expected"),
    "class_weight zero": (X3, Y3, {"class_weight": {1: 0}}, ValueError, r"1 class \(0\) once rows of weight"),
    "overflow": (
        X3,
        Y3,
        {"C": 1e300, "sample_weight": [1, 1e300, 1]},
        ValueError,
        "times the weights if any, overflows",
    ),
    "underflow": (X3, Y3, {"C": 1e-300, "sample_weight": [1, 1e-300, 1]}, ValueError, "weight underflows"),
}


@pytest.mark.parametrize(("X", "y", "rest", "kind", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_refusals_say_what_was_expected(X, y, rest, kind, message) -> None:
    with pytest.raises(kind, match=message):
        Problem.from_data(X, y, **rest)


def test_weights_multiply_the_penalty() -> None:
    problem = Problem.from_data(X3, Y3, 10, sample_weight=[1, 0, 3], class_weight={1: 2})
    assert problem.weights is not None
    assert problem.weights.tolist() == [1, 0, 6]
    assert problem.costs.tolist() == [10, 0, 60]
    assert Problem.from_data(X3, Y3, 10).weights is None
    assert Problem.from_data(X3, Y3, 10, sample_weight=2).costs.tolist() == [20, 20, 20]


def test_balanced_counts_weights_as_repetitions() -> None:
    weighted = Problem.from_data(X3, Y3, sample_weight=[3, 0, 1], class_weight="balanced")
    repeated = Problem.from_data([X3[0]] * 3 + [X3[2]], [0, 0, 0, 1], class_weight="balanced")
    assert weighted.costs.tolist() == [2, 0, 2]
    assert repeated.costs.sum() == weighted.costs.sum()
    assert repeated.costs[repeated.y > 0].sum() == repeated.costs[repeated.y < 0].sum()


numbers = st.floats(-100, 100)


@given(st.lists(st.tuples(numbers, numbers, st.booleans()), min_size=1, max_size=8), numbers, numbers, numbers)
def test_evaluation_is_the_definition(rows, w1, w2, b) -> None:
    X = np.array([row[:2] for row in rows])
    y = np.array([1.0 if row[2] else -1.0 for row in rows])
    costs = np.arange(1.0, len(rows) + 1)
    evaluation = Problem(X, y, costs).evaluate([w1, w2], b)
    margins = [sign * math.fsum([w1 * row[0], w2 * row[1], b]) for row, sign in zip(rows, y, strict=True)]
    np.testing.assert_allclose(evaluation.margins, margins, rtol=0, atol=1e-10)
    violated = np.flatnonzero(evaluation.margins < 1 - 1e-9)
    assert evaluation.violations.tolist() == violated.tolist()
    assert evaluation.objective == pytest.approx((w1**2 + w2**2) / 2 + costs[violated].sum(), rel=1e-12)


@pytest.mark.parametrize(("margin", "violated"), [(1.0, 0), (1 - 9e-10, 0), (1 - 2e-9, 1)])
def test_a_sample_is_kept_down_to_the_tolerance(margin, violated) -> None:
    problem = Problem.from_data([[0.0], [1.0]], [0, 1], C=7)
    evaluation = problem.evaluate([2.0], margin - 2.0)
    assert len(evaluation.violations) == violated


def test_evaluation_out_of_range_is_infinite_and_silent() -> None:
    problem = Problem.from_data([[1e150, -1e150], [1.0, 0.0]], [0, 1])
    assert problem.evaluate([1e300, 1e300], 0.0).objective == np.inf
    assert problem.evaluate([np.nan, 0.0], 0.0).violations.tolist() == [0, 1]


def test_evaluation_refuses_another_number_of_features() -> None:
    with pytest.raises(ValueError, match=r"coef has shape \(3,\); expected \(2,\)"):
        Problem.from_data(X3, Y3).evaluate([1.0, 2.0, 3.0], 0.0)


@given(
    seed=st.integers(0, 10**6),
    offset=st.sampled_from([0.0, 1.0, 1e4, 1e8]),
    scale=st.sampled_from([1e-100, 1e-3, 1.0, 1e100]),
)
def test_fitted_makes_kept_samples_pass_in_any_order_of_summation(seed, offset, scale) -> None:
    rng = np.random.default_rng(seed)
    n, m = rng.integers(2, 30), rng.integers(1, 8)
    X = scale * (rng.standard_normal((n, m)) + offset)
    w = rng.standard_normal(m) / scale
    b = -float(np.median(X @ w))
    y = np.where(X @ w + b > 0, 1.0, -1.0)
    kept = np.abs(X @ w + b) > 1e-3
    problem = Problem(X, y, np.ones(n))
    coef, intercept = problem.fitted(w, b, kept)
    assert not set(problem.evaluate(coef, intercept).violations) & set(np.flatnonzero(kept))
    for row in np.flatnonzero(kept):
        products = X[row] * coef
        for total in (sum(products[::-1]) + intercept, math.fsum([*products, intercept])):
            assert y[row] * total >= 1 - 1e-9
    factor = intercept / b if b else 1.0
    assert factor >= 1
    np.testing.assert_allclose(coef, w * factor, rtol=1e-12)


def test_fitted_costs_next_to_nothing_near_the_origin() -> None:
    problem = Problem.from_data([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1])
    coef, intercept = problem.fitted([0.5], -1.0, np.ones(4, dtype=bool))
    assert coef == pytest.approx([1.0], rel=1e-14)
    assert intercept == pytest.approx(-2.0, rel=1e-14)


def test_fitted_leaves_alone_what_it_cannot_or_need_not_scale() -> None:
    problem = Problem.from_data([[0.0], [1.0], [3.0]], [0, 0, 1])
    everyone, nobody = np.ones(3, dtype=bool), np.zeros(3, dtype=bool)
    for w, b, kept in (([2.0], -4.0, everyone), ([0.1], 0.0, everyone), ([0.1], 0.0, nobody)):
        assert problem.fitted(w, b, kept) == (w, b)


def test_fitted_does_what_float64_can_when_it_can_promise_nothing() -> None:
    X = 2.0**52 + np.array([[0.0], [1.0], [9.0], [10.0]])
    problem = Problem.from_data(X, [0, 0, 1, 1])
    coef, intercept = problem.fitted([0.125], -0.125 * (2.0**52 + 5), np.ones(4, dtype=bool))
    assert problem.evaluate(coef, intercept).violations.tolist() == []


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint64, np.float32, np.float64, str, object])
def test_classes_are_the_labels_in_order(dtype) -> None:
    labels = np.array([1, 0, 1, 1, 0]).astype(dtype)
    classes = sorted_classes(labels)
    assert classes.tolist() == np.unique(labels).tolist()
    assert classes.dtype == np.unique(labels).dtype


@pytest.mark.parametrize("labels", [[2.0, 0.5, 1.0], [3, 3], [-0.0, 0.0], [True]])
def test_other_numbers_of_classes_are_found_too(labels) -> None:
    assert sorted_classes(np.array(labels)).tolist() == np.unique(labels).tolist()
