from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from hardmargin import Problem, row_order
from hardmargin import presolve as presolve_module
from hardmargin.presolve import presolve

grid = st.sampled_from([-3.0, -1.0, -0.0, 0.0, 0.5, 2.0])
scales = st.sampled_from([1e-100, 1e-8, 1.0, 3.0, 1e8, 1e100])


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    """Duplicates, zero weights, constant features, offsets and any scale."""
    n, m = draw(st.integers(2, 9)), draw(st.integers(1, 4))
    X = np.array(draw(st.lists(st.lists(grid, min_size=m, max_size=m), min_size=n, max_size=n)))
    X += np.array(draw(st.lists(st.sampled_from([0.0, 0.0, 5.0, 1e5]), min_size=m, max_size=m)))
    for constant in draw(st.sets(st.integers(0, m - 1))):
        X[:, constant] = X[0, constant]
    y = [-1, 1, *draw(st.lists(st.sampled_from([-1, 1]), min_size=n - 2, max_size=n - 2))]
    weights = [1.0, 3.0, *draw(st.lists(st.sampled_from([0, 1, 2.5]), min_size=n - 2, max_size=n - 2))]
    C = draw(st.sampled_from([1e-3, 1.0, 1e4]))
    return Problem.from_data(draw(scales) * X, y, C, sample_weight=weights)


@given(problems(), st.integers(0, 10**6))
def test_every_hyperplane_is_worth_the_same(problem, seed) -> None:
    reduced = presolve(problem)
    rng = np.random.default_rng(seed)
    coef, intercept = rng.uniform(-4, 4, reduced.problem.m), rng.uniform(-4, 4)
    inner = reduced.problem.evaluate(coef, intercept)
    # A margin of exactly one may be rounded to either side.
    assume(np.all(np.abs(inner.margins - 1) > 1e-6))
    outer = problem.evaluate(*reduced.restore(coef, intercept))
    assert outer.objective == pytest.approx(inner.objective * reduced.objective_factor, rel=1e-9)
    kept = np.ones(reduced.problem.n, dtype=bool)
    kept[inner.violations] = False
    costly = problem.costs > 0
    np.testing.assert_array_equal(reduced.kept_rows(kept)[costly], (outer.margins >= 1 - 1e-9)[costly])
    assert not reduced.kept_rows(kept)[~costly].any()


@given(problems(), st.integers(0, 10**6))
def test_margins_survive_the_way_in_and_the_way_back(problem, seed) -> None:
    reduced = presolve(problem)
    rng = np.random.default_rng(seed)
    coef = rng.uniform(-4, 4, problem.m) / np.abs(problem.X).max(axis=0, initial=1e-200)
    inner = reduced.problem.evaluate(*reduced.reduce(coef, 0.5))
    outer = problem.evaluate(coef, 0.5)
    costly = problem.costs > 0
    np.testing.assert_allclose(
        inner.margins[reduced.representative[costly]], outer.margins[costly], rtol=0, atol=1e-9
    )
    back = reduced.restore(*reduced.reduce(coef, 0.5))
    np.testing.assert_allclose(problem.evaluate(*back).margins[costly], outer.margins[costly], atol=1e-9)


@given(problems(), st.randoms(use_true_random=False))
def test_order_and_repetition_do_not_matter(problem, random) -> None:
    """Weights of 2 and rows that occur twice, in any order, give the same reduced problem."""
    repeats = np.where(problem.costs > 0, 2, 0)
    repeated = np.repeat(np.arange(problem.n), repeats).tolist()
    random.shuffle(repeated)
    weighted = Problem(problem.X, problem.y, np.where(problem.costs > 0, 2.0, 0.0))
    copied = Problem(problem.X[repeated], problem.y[repeated], np.ones(len(repeated)))
    first, second = presolve(weighted), presolve(copied)
    for name in ("X", "y", "costs"):
        np.testing.assert_array_equal(getattr(first.problem, name), getattr(second.problem, name))
    np.testing.assert_array_equal(first.shift, second.shift)
    assert first.scale == second.scale


@given(problems())
def test_the_reduced_problem_is_lean_and_well_scaled(problem) -> None:
    reduced = presolve(problem)
    rows = np.column_stack([reduced.problem.y, reduced.problem.X])
    assert len(np.unique(rows, axis=0)) == reduced.problem.n
    assert np.all(reduced.problem.costs > 0)
    assert np.all(np.ptp(reduced.problem.X, axis=0) > 0)
    if reduced.problem.m:
        assert 0.5 <= np.abs(reduced.problem.X).max() < 1
    assert np.frexp(reduced.scale)[0] == 0.5
    assert reduced.problem.costs.sum() * reduced.objective_factor == pytest.approx(problem.costs.sum())


def test_duplicates_carry_their_joint_cost() -> None:
    X = [[0.0, 7.0], [-0.0, 7.0], [1.0, 7.0], [0.0, 7.0], [5.0, 7.0]]
    problem = Problem.from_data(X, [0, 0, 1, 1, 1], C=2, sample_weight=[1, 2, 1, 4, 0])
    reduced = presolve(problem)
    assert (reduced.problem.n, reduced.problem.m) == (3, 1)
    assert reduced.features.tolist() == [0]
    assert reduced.representative[0] == reduced.representative[1]
    assert reduced.representative[4] == -1
    costs = reduced.problem.costs * reduced.objective_factor
    assert costs[reduced.representative[:4]].tolist() == [6, 6, 2, 8]
    assert reduced.summary() == "5 x 2 reduced to 3 x 1: 1 sample of weight zero, 1 duplicate, 1 constant feature"


def test_nothing_left_to_reduce_needs_no_summary(line) -> None:
    assert presolve(Problem.from_data(*line)).summary() == ""


def test_features_that_are_all_constant_leave_two_samples() -> None:
    reduced = presolve(Problem.from_data([[3.0, 1.0]] * 4, [0, 1, 1, 0], C=5))
    assert reduced.problem.X.shape == (2, 0)
    assert reduced.problem.costs.tolist() == [10, 10]
    coef, intercept = reduced.restore(np.zeros(0), -1.0)
    assert coef.tolist() == [0, 0]
    assert intercept == -1


@pytest.mark.parametrize("offset", [0.0, 1e8])
def test_an_outlier_does_not_round_the_digits_of_the_others_away(offset) -> None:
    ordinary = offset + np.array([1.1, 2.3, 3.7, 5.9])
    reduced = presolve(Problem.from_data(np.append(ordinary, 1e15)[:, None], [0, 0, 1, 1, 0]))
    values = reduced.problem.X[reduced.representative[:4], 0] / reduced.scale
    np.testing.assert_allclose(values - values[0], ordinary - ordinary[0], rtol=1e-14)


@pytest.mark.parametrize(("scale", "C"), [(1e-140, 1e-200), (1e-140, 1e200), (1e140, 1e-200), (1e140, 1e200)])
def test_costs_neither_overflow_nor_vanish(scale, C) -> None:
    reduced = presolve(Problem.from_data(scale * np.array([[1.0], [2.0], [4.0]]), [0, 0, 1], C=C))
    assert np.all(reduced.problem.costs > 0)
    assert np.isfinite(reduced.problem.costs.sum())
    assert np.all(np.diff(np.sort(np.abs(reduced.problem.X[:, 0]))) > 0)


def flat_problem(n: int = 60) -> Problem:
    """Samples in five features that span a plane, some of them twice."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((n, 2)) @ rng.standard_normal((2, 5))
    X[: n // 4] = X[n // 4 : n // 2]
    return Problem.from_data(X, np.arange(n) % 2)


class StoppedError(Exception):
    """Raised by a check of the time."""


@pytest.mark.parametrize("reduce", [True, False])
def test_it_can_be_stopped_at_every_check(reduce) -> None:
    """And gives the same result in the end, however often it was checked."""
    problem = flat_problem()
    checks = []
    reduced = presolve(problem, reduce=reduce, check=lambda: checks.append(None))
    np.testing.assert_array_equal(reduced.problem.X, presolve(problem, reduce=reduce).problem.X)
    # The projection alone has six checks.
    assert len(checks) >= (12 if reduce else 4)
    for last in range(len(checks)):
        seen = []

        def check(last=last, seen=seen) -> None:
            seen.append(None)
            if len(seen) > last:
                raise StoppedError

        with pytest.raises(StoppedError):
            presolve(problem, reduce=reduce, check=check)


@pytest.mark.parametrize("block", [50, 500])
def test_checks_become_more_with_the_size_of_the_data(block, monkeypatch) -> None:
    """No piece of work between two checks is much larger than a block of the data."""
    monkeypatch.setattr(presolve_module, "_BLOCK", block)
    monkeypatch.setattr(row_order, "_BLOCK", block)
    problem = flat_problem(100)
    checks = []
    presolve(problem, check=lambda: checks.append(None))
    assert len(checks) >= problem.X.size / block + 6


def test_blocks_do_not_matter(monkeypatch) -> None:
    problem = flat_problem()
    whole = presolve(problem)
    monkeypatch.setattr(presolve_module, "_BLOCK", 1)
    monkeypatch.setattr(row_order, "_BLOCK", 1)
    parts = presolve(problem)
    np.testing.assert_array_equal(parts.shift, whole.shift)
    np.testing.assert_array_equal(parts.representative, whole.representative)
    np.testing.assert_array_equal(parts.problem.X, whole.problem.X)
