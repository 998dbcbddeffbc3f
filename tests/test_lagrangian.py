"""The bound of problems with penalties for a problem with a budget."""

from __future__ import annotations

import math

import numpy as np
import pytest

from hardmargin import Problem
from hardmargin.data import generate
from hardmargin.incumbent import Incumbent
from hardmargin.limits import Limits
from hardmargin.methods import auto
from hardmargin.presolve import presolve
from hardmargin.result import Result
from hardmargin.search.budget_primal import BudgetPrimal
from hardmargin.search.lagrangian import Lagrangian


def silent(*_: float) -> None:
    """Report nothing."""


def solved(problem: Problem, incumbent: Incumbent | None, report, _) -> Result:
    return auto.run(problem, incumbent, Limits(), report)


@pytest.mark.parametrize("limits", [16, {-1: 8, 1: 8}, {-1: 6}])
def test_the_bound_rises_until_no_multipliers_are_better(limits) -> None:
    data = generate("A", 60, 2, 1)
    problem = presolve(Problem.from_data(data.X, data.y, 10.0, max_violations=limits)).problem
    primal = BudgetPrimal(problem, Limits())
    lagrangian = Lagrangian(problem, primal, silent)
    bounds = []
    for _ in range(20):
        lagrangian.step(solved)
        bounds.append(lagrangian.lower_bound)
        if lagrangian.converged:
            break
    assert lagrangian.converged
    assert bounds == sorted(bounds)
    assert 0 < lagrangian.lower_bound <= primal.objective
    assert lagrangian.multipliers is not None
    assert len(lagrangian.multipliers) == len(problem.budget.groups(problem.y))


def test_large_multipliers_prove_that_a_budget_is_impossible() -> None:
    data = generate("A", 40, 2, 1)
    problem = presolve(Problem.from_data(data.X, data.y, max_violations=1)).problem
    primal = BudgetPrimal(problem, Limits())
    lagrangian = Lagrangian(problem, primal, silent)
    lagrangian.allow(1e20)
    lagrangian.step(solved)
    assert math.isinf(primal.objective)
    assert lagrangian.lower_bound > 1e19


def test_reports_are_bounds_of_the_problem_with_the_budget() -> None:
    data = generate("A", 40, 2, 1)
    problem = presolve(Problem.from_data(data.X, data.y, max_violations=12)).problem
    primal = BudgetPrimal(problem, Limits())
    reported = []
    lagrangian = Lagrangian(problem, primal, lambda _, upper, lower, __: reported.append((upper, lower)))
    for _ in range(8):
        lagrangian.step(solved)
    final = primal.objective
    assert reported
    assert all(lower <= final <= upper * (1 + 1e-9) for upper, lower in reported)
    assert np.isfinite(final)
