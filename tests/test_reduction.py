"""Samples given up before the search, and separable data, which need none."""

from __future__ import annotations

import numpy as np
import pytest

import hardmargin.methods
from brute_force import optimum, random_case
from hardmargin import Problem, solve
from hardmargin.data import generate
from hardmargin.methods import heuristic
from hardmargin.methods.base import Limits
from hardmargin.methods.packing import Options, PackingProof
from hardmargin.methods.reduction import reduction
from hardmargin.presolve import presolve

NATIVE_METHODS = [name for name in hardmargin.methods.names() if name not in ("indicator", "benders")]


def ignore(*_: object) -> None:
    """A report that nobody reads."""


def proof_of(problem: Problem, effort: float = 0.2) -> PackingProof:
    limits = Limits()
    found = heuristic.run(problem, None, limits, ignore, heuristic.Options(effort))
    return PackingProof(problem, found, limits, ignore, Options())


def test_nothing_better_keeps_a_sample_that_is_given_up_in_advance() -> None:
    """A sample that must be kept is one that costs more than everything."""
    count = 0
    for index in range(150):
        case = random_case(5, index)
        problem = presolve(Problem.from_data(case.X, case.y, case.C, **case.weights)).problem
        proof = proof_of(problem, effort=1e-6)
        found = reduction(proof)
        for sample in found.given_up:
            costs = problem.costs.copy()
            costs[sample] = 10 * costs.sum()
            assert optimum(Problem(problem.X, problem.y, costs)) >= found.derived_under * (1 - 1e-9)
            count += 1
    assert count > 30


def test_what_is_given_up_is_told_and_given_up() -> None:
    data = generate("B", 100, 2, 1)
    result = solve(data.X, data.y, 10.0, method="packing")
    assert result.optimal
    assert result.presolve.endswith("given up in advance")
    assert int(result.presolve.split()[0]) <= result.n_violations


@pytest.mark.parametrize("method", NATIVE_METHODS)
@pytest.mark.parametrize(("n", "m"), [(12, 2), (300, 10), (40, 120)])
def test_separable_data_need_no_search(method, n, m) -> None:
    rng = np.random.default_rng(n)
    normal, X = rng.standard_normal(m), rng.standard_normal((n, m))
    y = np.sign(X @ normal)
    X += 0.2 * np.outer(y, normal)
    result = solve(X, y, 1e4, method=method)
    assert result.optimal
    assert result.n_violations == 0
    assert result.nodes == 0
