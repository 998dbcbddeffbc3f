"""Hyperplanes within a budget, from hyperplanes that need not be: for :mod:`hardmargin.methods.budget`.

A hyperplane is improved in three ways that alternate as long as they help. Along its direction, the best offset and
width within the budget are found exactly, by sorting. For the samples that it keeps, the widest margin is found by
the max-margin problem. And while the budget is not used up, the support vector with the largest multiplier is given
up too.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from hardmargin import _core
from hardmargin.arrays import FloatArray
from hardmargin.budget import Budget
from hardmargin.incumbent import Incumbent
from hardmargin.limits import Limits
from hardmargin.problem import Problem

# With more numbers in the data than this, the max-margin problem takes too long.
_MANY_NUMBERS = 500_000
# How often the ways to improve a hyperplane alternate, and how many support vectors are given up at most.
_MOST_ROUNDS = 5
_MOST_STEPS = 50


class BudgetPrimal:
    """The best hyperplane within the budget of a problem.

    Parameters
    ----------
    problem : Problem
        With a budget.
    limits : Limits
        Long improvements end at the time limit.

    Attributes
    ----------
    best : Incumbent
        The hyperplane; if none within the budget is known, the one that exceeds it least.
    objective : float
        Its objective; infinity if none within the budget is known.
    """

    def __init__(self, problem: Problem, limits: Limits) -> None:
        assert problem.budget is not None
        self._problem = problem
        self._limits = limits
        self._budget = problem.budget.relaxed()
        self._limited = problem.budget.limited(problem.y)
        self._groups = self._budget.groups(problem.y)
        self.best = Incumbent(np.zeros(problem.m), 1.0)
        self.objective = math.inf
        self._excess = math.inf
        self._solver: _core.MaxMargin | None = None
        self._enabled = np.zeros(problem.n, dtype=bool)
        if not problem.sparse and problem.X.size <= _MANY_NUMBERS:
            self._solver = _core.MaxMargin(problem.X, problem.y)
        for side in (-1.0, 1.0):
            self._take(Incumbent(np.zeros(problem.m), side))

    def offer(self, hyperplane: Incumbent) -> None:
        """Use a hyperplane, which may be beyond the budget, and what can be made of it."""
        found = self._fitted(hyperplane)
        for _ in range(_MOST_ROUNDS):
            before = self._objective_of(found)
            along = best_on_direction(self._problem, found.coef)
            if along is not None and self._objective_of(along) < before:
                found = along
            if self._objective_of(found) < math.inf:
                found = self._widened(found)
            self._take(found)
            if not self._objective_of(found) < before * (1 - 1e-9):
                return

    def _objective_of(self, hyperplane: Incumbent) -> float:
        return self._problem.evaluate(*hyperplane).objective

    def _fitted(self, hyperplane: Incumbent) -> Incumbent:
        kept = self._problem.kept_up_to_rounding(*hyperplane)
        return Incumbent(*self._problem.fitted(*hyperplane, kept))

    def _take(self, hyperplane: Incumbent) -> None:
        evaluation = self._problem.evaluate(*hyperplane)
        excess = self._excess_of(evaluation.violations)
        if (evaluation.objective, excess) < (self.objective, self._excess):
            self.best, self.objective, self._excess = hyperplane, evaluation.objective, excess

    def _excess_of(self, violations: NDArray[np.intp]) -> float:
        """By how much violations exceed the budget."""
        violated = np.zeros(self._problem.n, dtype=bool)
        violated[violations] = True
        used = ((float(self._problem.costs[samples & violated].sum()), limit) for samples, limit in self._groups)
        return sum(max(0.0, weight - limit) for weight, limit in used)

    def _widened(self, hyperplane: Incumbent) -> Incumbent:
        """The widest margin of the samples that a hyperplane within the budget keeps, and of ever fewer ones."""
        if self._solver is None:
            return hyperplane
        violated = self._problem.evaluate(*hyperplane).violations
        kept = np.ones(self._problem.n, dtype=bool)
        kept[violated] = False
        best = hyperplane
        for _ in range(_MOST_STEPS):
            if self._limits.remaining() == 0:
                break
            for row in np.flatnonzero(kept != self._enabled).tolist():
                (self._solver.enable if kept[row] else self._solver.disable)(row)
            self._enabled = kept.copy()
            if self._solver.solve() is not _core.MaxMarginStatus.optimal:
                break
            found = self._fitted(Incumbent(np.array(self._solver.weights), self._solver.bias))
            if not self._objective_of(found) < self._objective_of(best):
                break
            best = found
            next_row = self._next_to_give_up(best)
            if next_row is None:
                break
            kept[next_row] = False
        return best

    def _next_to_give_up(self, hyperplane: Incumbent) -> int | None:
        """The support vector with the largest multiplier that fits into what is left of the budget."""
        assert self._solver is not None
        problem = self._problem
        violated = problem.evaluate(*hyperplane).violations
        left = _left(self._budget, problem.y[violated], problem.costs[violated])
        support = [
            (multiplier, row)
            for row, multiplier in self._solver.support
            if row < problem.n and self._limited[row] and problem.costs[row] <= left[int(problem.y[row] > 0)]
        ]
        return max(support)[1] if support else None


def _left(budget: Budget, y: FloatArray, costs: FloatArray) -> tuple[float, float]:
    """What may still be given up of the negatives and of the positives, if these samples are given up."""
    total = budget.total - float(costs.sum())
    negatives = budget.negatives - float(costs[y < 0].sum())
    return min(total, negatives), min(total, budget.positives - float(costs[y > 0].sum()))


def best_on_direction(problem: Problem, direction: FloatArray) -> Incumbent | None:
    """The best hyperplane within the budget whose w is a positive multiple of a direction.

    Parameters
    ----------
    problem : Problem
        With a budget.
    direction : ndarray of shape (m,)

    Returns
    -------
    Incumbent or None
        None if all of them are beyond the budget.
    """
    assert problem.budget is not None
    length = float(np.linalg.norm(direction))
    if not 0 < length < math.inf:
        return None
    unit = direction / length
    budget, y = problem.budget.relaxed(), problem.y
    values: FloatArray = np.asarray(problem.X @ unit)
    # Negatives are given up from the top, and for each number of them as many positives from the bottom as the
    # budget allows. If the positives are the class that is priced, the roles are exchanged.
    exchanged = not bool(problem.budget.limited(np.ones(1))[0])
    if exchanged:
        values, y = -values, -y
        budget = Budget(budget.positives, budget.negatives, budget.total)
    top, top_costs = _ordered(-values[y < 0], problem.costs[y < 0])
    bottom, bottom_costs = _ordered(values[y > 0], problem.costs[y > 0])
    allowed = np.minimum(budget.positives, budget.total - top_costs)
    usable = (top_costs <= budget.negatives) & (allowed >= 0)
    given_up = np.searchsorted(bottom_costs, allowed, side="right") - 1
    low, high = -top, bottom[np.maximum(given_up, 0)]
    width = np.where(usable, high - low, 0.0)
    if not (width > 0).any():
        return None
    priced = 0.0 if problem.budget.limits_all else top_costs
    with np.errstate(divide="ignore"):
        objectives = np.where(width > 0, 2 / np.square(width) + priced, math.inf)
    best = int(objectives.argmin())
    scale, middle = 2 / width[best], (high[best] + low[best]) / 2
    offset = scale * middle if exchanged else -scale * middle
    found = Incumbent(scale * unit, float(offset))
    kept: NDArray[np.bool_] = np.where(y > 0, values >= high[best], values <= low[best])
    return Incumbent(*problem.fitted(*found, kept))


def _ordered(values: FloatArray, costs: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Values in ascending order, and the costs of all before each of them."""
    order = np.argsort(values, kind="stable")
    before = np.concatenate([[0.0], np.cumsum(costs[order])[:-1]])
    return values[order], before
