"""Hyperplanes within a budget."""

from __future__ import annotations

import math

import numpy as np
import pytest

from hardmargin import Problem
from hardmargin.incumbent import Incumbent
from hardmargin.limits import Limits
from hardmargin.search.budget_primal import BudgetPrimal, best_on_direction


def brute_force_on_line(problem: Problem) -> float:
    """The best objective with w > 0 that keeps samples of both classes, with one feature: all pairs are tried."""
    values, best = problem.X[:, 0], math.inf
    for low in values[problem.y < 0]:
        for high in values[(problem.y > 0) & (values > low)]:
            w = 2 / (high - low)
            b = -w * (high + low) / 2
            best = min(best, problem.evaluate(*problem.fitted([w], b, np.isin(values, (low, high)))).objective)
    return best


@pytest.mark.parametrize("limits", [0, 1, 3.5, {0: 1, 1: 2}, {0: 2}, {1: 2}])
def test_the_best_offset_and_width_are_exact(limits) -> None:
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X = np.round(rng.standard_normal((12, 1)), 1 if seed % 2 else 6)
        y = np.where(X[:, 0] + rng.standard_normal(12) > 0, 1, 0)
        y[:2] = 0, 1
        weights = rng.choice([0.5, 1.0, 2.0], size=12) if seed % 3 == 0 else None
        problem = Problem.from_data(X, y, 0.7, sample_weight=weights, max_violations=limits)
        found = best_on_direction(problem, np.array([3.0]))
        best = brute_force_on_line(problem)
        if found is None:
            assert math.isinf(best)
        else:
            assert found.coef[0] > 0
            assert problem.evaluate(*found).objective == pytest.approx(best, rel=1e-9)


def test_a_hyperplane_beyond_the_budget_is_repaired_and_widened() -> None:
    X, y = [[0.0, 0.0], [1.0, 0.1], [3.0, -0.1], [4.0, 0.0], [1.5, 9.0]], [0, 0, 1, 1, 1]
    problem = Problem.from_data(X, y, max_violations=1)
    primal = BudgetPrimal(problem, Limits())
    assert math.isinf(primal.objective)
    primal.offer(Incumbent(np.array([1.0, 0.0]), 5.0))
    assert primal.objective < 0.51
    assert len(problem.evaluate(*primal.best).violations) == 1


def test_without_any_hyperplane_within_it_the_closest_one_is_kept() -> None:
    problem = Problem.from_data([[0.0], [1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1, 0], max_violations=0)
    primal = BudgetPrimal(problem, Limits())
    primal.offer(Incumbent(np.array([2.0]), -1.0))
    assert math.isinf(primal.objective)
    assert len(problem.evaluate(*primal.best).violations) == 2
