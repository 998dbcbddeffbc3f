"""The smallest useful C against exhaustive search."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import scipy.sparse

import hardmargin.useful_penalty
from brute_force import KINDS, Case, candidates, random_case, violated
from hardmargin import Problem, Status, smallest_useful_C, solve
from hardmargin.data import generate
from hardmargin.useful_penalty import UsefulC, useful_hyperplane

COUNT = 6 * len(KINDS)


def true_value(problem: Problem) -> float:
    """The smallest ratio of all hyperplanes. At any C some candidate is optimal, so one has the smallest ratio."""
    flat = min(problem.costs[problem.y == side].sum() for side in (-1, 1))
    best = math.inf
    for half_norms, margins in candidates(problem):
        saved = flat - violated(margins) @ problem.costs
        useful = (saved > 1e-9 * flat) & (half_norms > 0)
        if useful.any():
            best = min(best, float((half_norms[useful] / saved[useful]).min()))
    return best


@cache
def case_and_value(index: int) -> tuple[Case, float]:
    case = random_case(5, index)
    return case, true_value(Problem.from_data(case.X, case.y, 1.0, **case.weights))


def bounds_of(case: Case, **settings) -> UsefulC:
    return smallest_useful_C(case.X, case.y, **case.weights, time_limit=None, **settings)


@pytest.mark.parametrize("index", range(COUNT))
def test_the_bounds_enclose_the_true_value(index) -> None:
    case, value = case_and_value(index)
    found = bounds_of(case)
    assert found.lower <= value * (1 + 1e-7)
    assert found.upper >= value * (1 - 1e-7)
    assert found.lower <= found.upper


def test_the_bounds_meet_almost_always() -> None:
    apart = {}
    for index in range(COUNT):
        case, value = case_and_value(index)
        found = bounds_of(case)
        if math.isfinite(value) and found.lower < (1 - 1e-3) * found.upper:
            apart[index] = case.kind, found.lower, value, found.upper
    assert len(apart) <= 0.03 * COUNT, apart


@pytest.mark.parametrize("index", range(0, COUNT, 3))
def test_a_proof_that_does_not_finish_is_valid(index) -> None:
    """The primal search alone proves little, so the bounds stay apart."""
    case, value = case_and_value(index)
    found = bounds_of(case, method="heuristic")
    assert found.lower <= value * (1 + 1e-7)
    assert found.upper >= value * (1 - 1e-7)


@pytest.mark.parametrize("proven", [0.0, 0.3, 0.9, 0.999, 1.0])
@pytest.mark.parametrize("index", range(1, COUNT, 5))
def test_every_lower_bound_of_a_solve_gives_a_valid_one(index, proven, monkeypatch) -> None:
    """Whatever share of its bound a solve has proven."""
    case, value = case_and_value(index)

    def weak(*arguments, **settings):
        result = solve(*arguments, **settings)
        bound = proven * result.lower_bound
        return replace(result, lower_bound=bound, status=Status.HEURISTIC)

    monkeypatch.setattr(hardmargin.useful_penalty, "solve", weak)
    found = bounds_of(case)
    assert 0 < found.lower <= value * (1 + 1e-7)
    assert found.upper >= value * (1 - 1e-7)


def test_the_hyperplane_is_worth_its_norm_above_the_bound_only(blobs) -> None:
    X, y = blobs
    found = smallest_useful_C(X, y)
    assert found.lower == pytest.approx(found.upper, rel=1e-5)
    for factor, better in ((1.001, True), (0.999, False)):
        C = factor * found.upper
        problem = Problem.from_data(X, y, C)
        evaluation = problem.evaluate(found.coef, found.intercept)
        assert evaluation.violations.tolist() == found.violations
        assert (evaluation.objective < 20 * C) == better
        assert any(solve(X, y, C).coef) == better


def test_the_unit_of_the_samples_cancels_out(blobs) -> None:
    X, y = blobs
    first, second = smallest_useful_C(X, y), smallest_useful_C(100 * X, y)
    assert second.upper * 1e4 == pytest.approx(first.upper, rel=1e-6)


def test_weights_are_in_units_of_c(blobs) -> None:
    X, y = blobs
    plain, doubled = smallest_useful_C(X, y), smallest_useful_C(X, y, sample_weight=np.full(40, 2.0))
    assert doubled.upper * 2 == pytest.approx(plain.upper, rel=1e-6)
    balanced = smallest_useful_C(X[5:], y[5:], class_weight="balanced")
    C = 1.001 * balanced.upper
    assert any(solve(X[5:], y[5:], C, class_weight="balanced").coef)


def test_sparse_samples(blobs) -> None:
    X, y = blobs
    sparse = smallest_useful_C(scipy.sparse.csr_array(X), y)
    assert sparse.upper == pytest.approx(smallest_useful_C(X, y).upper, rel=1e-6)


def test_many_pairs_are_bounded_by_a_box(monkeypatch) -> None:
    data = generate("A", 40, 2, 1)
    exact = smallest_useful_C(data.X, data.y)
    monkeypatch.setattr(hardmargin.useful_penalty, "_MOST_DIFFERENCES", 0)
    by_box = smallest_useful_C(data.X, data.y)
    assert by_box.lower <= by_box.upper
    assert by_box.upper == pytest.approx(exact.upper, rel=1e-5)
    rough = useful_hyperplane(data.X, data.y, None, time_limit=math.inf, effort=0.01)
    assert rough.lower <= exact.upper * (1 + 1e-6)
    assert rough.upper >= exact.lower * (1 - 1e-6)


def test_identical_samples_have_no_useful_c() -> None:
    found = smallest_useful_C([[5.0, 5.0]] * 3, [0, 1, 1])
    assert (found.lower, found.upper) == (math.inf, math.inf)
    assert (found.coef, found.intercept, found.violations) == ([0.0, 0.0], 1.0, [0])


def test_a_sample_between_two_others_has_no_useful_c() -> None:
    """Every hyperplane gives up one of the three, and so does the constant model."""
    found = smallest_useful_C([[-1.0], [0.0], [1.0]], [0, 1, 0])
    assert found.upper == math.inf
    assert found.lower > 1e6


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"gap": 0}, "gap is 0"), ({"time_limit": 0}, "time_limit is 0"), ({"method": "magic"}, "method is 'magic'")],
)
def test_parameters_are_checked(settings, message) -> None:
    with pytest.raises(ValueError, match=message):
        smallest_useful_C([[0.0], [1.0]], [0, 1], **settings)


def test_samples_out_of_range_are_refused() -> None:
    with pytest.raises(ValueError, match="smallest useful C is out of range; multiply or divide all features"):
        smallest_useful_C([[0.0], [1e-170]], [0, 1])


def test_ctrl_c_is_passed_on(blobs, monkeypatch) -> None:
    def interrupted(*arguments, **settings):
        return replace(solve(*arguments, **settings), status=Status.INTERRUPTED)

    monkeypatch.setattr(hardmargin.useful_penalty, "solve", interrupted)
    with pytest.raises(KeyboardInterrupt):
        smallest_useful_C(*blobs)
