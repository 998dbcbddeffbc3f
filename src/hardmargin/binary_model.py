"""What a fit keeps of one binary problem: a hyperplane, its bound, and the samples that it gives up.

With a kernel, the hyperplane is a combination of samples, and the figures are those of the kernel problem.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hardmargin.arrays import FloatArray
from hardmargin.binary_problems import BinaryProblem
from hardmargin.bounds import relative_gap
from hardmargin.budget import Budget
from hardmargin.gram import GramFactor
from hardmargin.problem import MARGIN_TOLERANCE
from hardmargin.result import Result
from hardmargin.search.max_margin import separation
from hardmargin.status import Status

# Why a fit ended, if its problems ended for different reasons: the first of these.
_ORDER = (
    Status.INTERRUPTED,
    Status.TIME_LIMIT,
    Status.STALLED,
    Status.NODE_LIMIT,
    Status.HEURISTIC,
    Status.OPTIMAL,
)
# Rows that an error message names.
_SHOWN = 12


@dataclass(frozen=True)
class BinaryModel:
    """The model of one binary problem.

    Attributes
    ----------
    weights : ndarray
        The weights of the features or, with a kernel, of the samples of the problem.
    intercept : float
    objective, lower_bound : float
    violations : ndarray of int
        The rows of X that are given up.
    status : Status
    """

    weights: FloatArray
    intercept: float
    objective: float
    lower_bound: float
    violations: NDArray[np.intp]
    status: Status

    @property
    def gap(self) -> float:
        """(objective - lower_bound) / objective."""
        return relative_gap(self.objective, self.lower_bound)


def total_status(models: Sequence[BinaryModel]) -> Status:
    """Why a fit ended."""
    return min((model.status for model in models), key=_ORDER.index)


def linear_model(problem: BinaryProblem, result: Result) -> BinaryModel:
    """The model without a kernel."""
    return BinaryModel(
        np.array(result.coef),
        result.intercept,
        result.objective,
        result.lower_bound,
        problem.rows[np.array(result.violations, dtype=np.intp)],
        result.status,
    )


def kernel_model(problem: BinaryProblem, result: Result, factor: GramFactor) -> BinaryModel:
    """The model of the kernel problem, from a solution of the factored one; the factor is that of its samples.

    The hyperplane that keeps the same samples by the widest margin is written as a combination of samples, and is
    evaluated with the Gram matrix itself.

    Raises
    ------
    ValueError
        If it violates trusted samples, which the solution keeps only because of rounding in the factor.
    """
    signs = np.where(problem.labels == result.classes[1], 1.0, -1.0)
    kept = np.ones(len(signs), dtype=bool)
    kept[result.violations] = False
    weights, intercept = _combination(result, factor, signs, kept)
    margins = signs * (factor.matrix @ weights + intercept)
    smallest = float(margins[kept].min(initial=np.inf))
    if 0 < smallest < 1:
        weights, intercept, margins = weights / smallest, intercept / smallest, margins / smallest
    violated = ~(margins >= 1 - MARGIN_TOLERANCE)
    lost = [row for row in result.trusted or () if violated[row]]
    if lost:
        rows = ", ".join(map(str, problem.rows[lost[:_SHOWN]]))
        raise ValueError(
            "the trusted samples can only be kept by a hyperplane that float64 can hardly represent with this "
            f"kernel; the one found violates the rows {rows}. Trust fewer samples, or check them for near "
            "duplicates with opposite labels."
        )
    objective = 0.5 * max(0.0, float(weights @ factor.matrix @ weights)) + _cost(result, signs, violated)
    if not math.isfinite(objective):
        raise ValueError(
            "max_violations can only be kept by a hyperplane that float64 can hardly represent with this kernel: "
            f"the one found gives up {int(violated.sum())} samples. Allow more."
        )
    lower = min(factor.proven(result.objective, result.lower_bound), objective)
    status = result.status
    if relative_gap(objective, lower) <= (result.target_gap or 0.0):
        status = Status.OPTIMAL
    elif status is Status.OPTIMAL:
        # The bound of the factored problem was good enough, that of the kernel problem is not.
        status = Status.HEURISTIC
    return BinaryModel(weights, intercept, objective, lower, problem.rows[violated], status)


def _cost(result: Result, signs: FloatArray, violated: NDArray[np.bool_]) -> float:
    """What the violations cost, as in :class:`hardmargin.problem.Problem`."""
    weights = np.ones(len(signs)) if result.weights is None else np.array(result.weights)
    costs = weights if result.C is None else result.C * weights
    if result.max_violations is None:
        return float(costs[violated].sum())
    budget = Budget.of(result.max_violations, (result.classes[0], result.classes[1]))
    costs = np.where(budget.limited(signs), weights, costs)
    return budget.cost(signs[violated], costs[violated])


def _combination(
    result: Result, factor: GramFactor, signs: FloatArray, kept: NDArray[np.bool_]
) -> tuple[FloatArray, float]:
    """Multiples of the samples, and the intercept."""
    weights = np.zeros(len(factor.rows))
    if not any(result.coef):
        return weights, result.intercept
    found = separation(factor.rows[kept], signs[kept]) if np.ptp(signs[kept]) > 0 else None
    if found is None:
        return factor.combination(np.array(result.coef)), result.intercept
    weights[kept] = found.multipliers * signs[kept]
    return weights, found.intercept
