"""Cuts are valid and minimal: impossible to keep together, possible without any one of them."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest
import scipy.optimize
from sklearn.svm import SVC

from hardmargin import _core
from hardmargin.data import generate
from hardmargin.problem import Problem

REGIONS = list(_core.WeightRegion)
DATA = [("A", 60, 2), ("B", 60, 5), ("A", 100, 10)]

# Enough seconds on any machine, for work that ends by itself in a fraction of one.
AMPLE = 600.0
# Seconds that a busy machine may take for something that is due now.
BUSY = 30.0


def problem_of(kind: str, n: int, d: int) -> Problem:
    data = generate(kind, n, d, 3)
    return Problem.from_data(data.X, data.y)


def possible(problem: Problem, rows, region: _core.WeightRegion, radius: float) -> bool:
    """Whether some (w, b) of the region keeps these rows, by a solver other than the core's."""
    rows = list(rows)
    A = np.column_stack([problem.y[rows, None] * problem.X[rows], problem.y[rows]])
    if region is _core.WeightRegion.ball:
        # The shortest w that keeps the rows; SLSQP is accurate enough here.
        found = scipy.optimize.minimize(
            lambda v: 0.5 * v[:-1] @ v[:-1],
            np.zeros(problem.m + 1),
            jac=lambda v: np.append(v[:-1], 0.0),
            constraints=[{"type": "ineq", "fun": lambda v: A @ v - 1, "jac": lambda v: A}],
            method="SLSQP",
            options={"maxiter": 500, "ftol": 1e-12},
        )
        return bool(found.success and (A @ found.x >= 1 - 1e-6).all() and 2 * found.fun <= radius**2 * (1 + 1e-6))
    limit = radius if region is _core.WeightRegion.box else None
    bounds = [(None if limit is None else -limit, limit)] * problem.m + [(None, None)]
    found = scipy.optimize.linprog(np.zeros(problem.m + 1), A_ub=-A, b_ub=-np.ones(len(rows)), bounds=bounds)
    return found.status == 0


@pytest.mark.parametrize("region", REGIONS, ids=lambda region: region.name)
@pytest.mark.parametrize(("kind", "n", "d"), DATA)
def test_cuts_are_impossible_and_minimal(kind, n, d, region) -> None:
    problem = problem_of(kind, n, d)
    radius = 3.0
    oracle = _core.CutOracle(problem.X, problem.y, region, radius)
    rng = np.random.default_rng(4)
    checked = 0
    for share in (0.0, 0.2, 0.5):
        values = (rng.random(n) < share).astype(float)
        cuts, rest_is_possible = oracle.separate(values, 1e-3)
        used = [member for cut in cuts for member in cut]
        assert len(used) == len(set(used))
        assert not values[used].any()
        for cut in cuts:
            assert cut == sorted(cut)
            assert not possible(problem, cut, region, radius)
            assert all(possible(problem, set(cut) - {member}, region, radius) for member in cut)
            checked += 1
        rest = sorted(set(np.flatnonzero(values == 0).tolist()) - set(used))
        assert rest_is_possible
        assert possible(problem, rest, region, radius)
    assert checked >= 5


def test_smaller_regions_have_smaller_cuts() -> None:
    problem = problem_of("B", 60, 5)
    means = {}
    for region in REGIONS:
        oracle = _core.CutOracle(problem.X, problem.y, region, 1.0)
        cuts, _ = oracle.separate(np.zeros(60), 1e-3)
        means[region.name] = np.mean([len(cut) for cut in cuts])
    assert means["ball"] <= means["box"] <= means["unbounded"]


def test_as_many_cuts_as_asked_for() -> None:
    problem = problem_of("B", 60, 5)
    oracle = _core.CutOracle(problem.X, problem.y, _core.WeightRegion.box, 1.0)
    one, complete = oracle.separate(np.zeros(60), 1e-3, 1)
    assert len(one) == 1
    assert not complete
    assert len(oracle.separate(np.zeros(60), 1e-3)[0]) > 1
    assert oracle.separate(np.ones(60), 1e-3) == ([], True)
    with pytest.raises(ValueError, match="every sample"):
        oracle.separate(np.zeros(3), 1e-3)
    with pytest.raises(ValueError, match="radius"):
        _core.CutOracle(problem.X, problem.y, _core.WeightRegion.box, 0.0)


@pytest.mark.parametrize("C", [0.01, 1.0, 1e4])
@pytest.mark.parametrize(("kind", "n", "d"), DATA)
def test_the_hinge_loss_is_minimal(kind, n, d, C) -> None:
    """Any small change of a weight or the intercept is worse; the problem is convex."""
    problem = problem_of(kind, n, d)
    weights = np.random.default_rng(5).uniform(0.5, 2.0, n)
    costs = C * weights

    def loss(plane: np.ndarray) -> float:
        margins = problem.y * (problem.X @ plane[:-1] + plane[-1])
        return float(0.5 * plane[:-1] @ plane[:-1] + costs @ np.maximum(0, 1 - margins))

    coef, intercept, outcome = _core.soft_margin(problem.X, problem.y, costs, 1e-10, AMPLE, None)
    assert not outcome.timed_out
    plane = np.append(coef, intercept)
    rng = np.random.default_rng(6)
    moved = [loss(plane + size * rng.standard_normal(d + 1)) for size in (1e-4, 1e-2, 1.0) for _ in range(50)]
    assert min(moved) >= loss(plane) * (1 - 1e-8)
    if C < 1:
        # With a larger C it takes too long.
        reference = SVC(kernel="linear", C=C, tol=1e-6).fit(problem.X, problem.y, sample_weight=weights)
        assert loss(plane) == pytest.approx(loss(np.append(reference.coef_[0], reference.intercept_[0])), rel=1e-5)


def test_a_round_of_cuts_ends_when_it_is_told_to() -> None:
    """From another thread: with this many samples the whole round takes a minute or more."""
    random = np.random.default_rng(1)
    X = random.standard_normal((12_000, 120))
    y = np.where(X[:, 0] + 2 * random.standard_normal(12_000) > 0, 1.0, -1.0)
    oracle = _core.CutOracle(X, y, _core.WeightRegion.unbounded, 1.0)
    told = []

    def stop() -> None:
        told.append(time.monotonic())
        oracle.stop()

    threading.Timer(0.3, stop).start()
    found, possible = oracle.separate(np.zeros(12_000), 0.5)
    assert time.monotonic() - told[0] < BUSY
    # Of 77; the first ones take seconds each.
    assert len(found) < 20
    assert not possible
    assert oracle.separate(np.zeros(12_000), 0.5) == ([], False)
