"""Random problems with limits on violations, and their optima by exhaustive search."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from brute_force import Case, candidates, violated
from hardmargin import Problem

# Hyperplanes of brute force with larger objectives, in units of the data, are too narrow to be seen.
NARROW = 1e17


def random_limits(seed: int, index: int, case: Case) -> Any:
    """A limit on all samples, on both classes, or on one class."""
    rng = np.random.default_rng([seed, index, 1])

    def limit() -> float:
        return float(rng.choice([0, 1, 2, 0.5, 1.5, rng.uniform(0, len(case.y) / 2)]))

    return [limit(), {-1: limit(), 1: limit()}, {int(rng.choice([-1, 1])): limit()}][int(rng.integers(3))]


def problem_of(case: Case, limits: Any) -> Problem:
    return Problem.from_data(case.X, case.y, case.C, **case.weights, max_violations=limits)


def optimum(problem: Problem) -> float:
    """The optimum within the budget by exhaustive search; infinity if there is no hyperplane."""
    assert problem.budget is not None
    limited, best = problem.budget.limited(problem.y), math.inf
    for half_norms, margins in candidates(problem):
        given_up = violated(margins)
        objectives = half_norms + given_up @ np.where(limited, 0.0, problem.costs)
        for samples, limit in problem.budget.relaxed().groups(problem.y):
            objectives[given_up[:, samples] @ problem.costs[samples] > limit] = math.inf
        best = min(best, float(objectives.min()))
    return best
