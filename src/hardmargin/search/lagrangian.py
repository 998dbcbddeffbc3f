"""Lower bounds for a problem with a budget, from problems with penalties.

Let k be the limits of the budget, and v(w, b) the weights that a hyperplane gives up of each limited group. For all
multipliers mu >= 0, every hyperplane within the budget satisfies

    f(w, b)  >=  f(w, b) + mu (v(w, b) - k)  >=  phi(mu) - mu k,

where f is the objective and phi(mu) is the optimum, or any lower bound of it, of the usual problem in which a
sample of a limited group costs mu times its weight. phi is concave, and every hyperplane is a plane above it.
Kelley's method maximises the bound: the next multipliers are the best ones for the planes known so far. With one
limit, these steps intersect two lines. The hyperplanes found on the way give up about as much as the budget allows.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from hardmargin.arrays import FloatArray
from hardmargin.bounds import Report
from hardmargin.incumbent import Incumbent
from hardmargin.penalty import scale_penalty
from hardmargin.problem import Problem
from hardmargin.result import Result
from hardmargin.search.budget_primal import BudgetPrimal
from hardmargin.search.recording import ProofRecorder, sum_of

# The bound is lowered by this share of its two terms, which is far above their rounding errors.
_ROUNDING = 1e-12
# Multipliers are at least this share of the largest one: a sample that costs nothing would be dropped.
_SMALLEST_SHARE = 1e-6
# While no hyperplane within the budget is known, multipliers may grow by this factor per step.
_GROWTH = 10.0
# Planes with this many times the objective of the best hyperplane are ignored.
_FAR = 1e4
# The multipliers are as good as any if their bound misses what the known planes allow by less than this share.
_CLOSE = 1e-3

#: Solves a usual problem from a hyperplane, with a report, and with what collects a proof if one is wanted:
#: ``solve(problem, incumbent, report, recorder)``.
PenalisedSolve = Callable[[Problem, Incumbent | None, Report, ProofRecorder | None], Result]


class Lagrangian:
    """The best bound so far, and the planes above it.

    Parameters
    ----------
    problem : Problem
        With a budget.
    primal : BudgetPrimal
        Is offered every hyperplane that is found.
    report : Report
        Of the caller, for bounds of the problem with the budget.
    recorder : ProofRecorder or None
        Is offered the proofs of bounds.

    Attributes
    ----------
    lower_bound : float
        The best bound.
    multipliers : ndarray or None
        Those that it belongs to, one per group; None if the bound is 0.
    converged : bool
        Whether the last step has shown that other multipliers are hardly better.
    """

    def __init__(
        self, problem: Problem, primal: BudgetPrimal, report: Report, recorder: ProofRecorder | None = None
    ) -> None:
        assert problem.budget is not None
        self._recorder = recorder
        self._problem = problem
        self._primal = primal
        self._report = report
        self._groups = problem.budget.relaxed().groups(problem.y)
        self._limits = np.array([limit for _, limit in self._groups])
        self._unlimited_costs = np.where(problem.budget.limited(problem.y), 0.0, problem.costs)
        self._heights: list[float] = []
        self._slopes: list[FloatArray] = []
        self._largest = _first_multiplier(problem)
        self._near: Incumbent | None = None
        self.lower_bound = 0.0
        self.multipliers: FloatArray | None = None
        self.converged = False
        for side in (-1.0, 1.0):
            self.add(Incumbent(np.zeros(problem.m), side))
        self.add(primal.best)

    def add(self, hyperplane: Incumbent) -> None:
        """Add the plane of a hyperplane."""
        problem = self._problem
        violated = np.zeros(problem.n, dtype=bool)
        violated[problem.evaluate(*hyperplane).violations] = True
        norm = 0.5 * float(hyperplane.coef @ hyperplane.coef)
        self._heights.append(norm + float(self._unlimited_costs[violated].sum()))
        used = [float(problem.costs[samples & violated].sum()) for samples, _ in self._groups]
        self._slopes.append(np.array(used) - self._limits)

    def step(self, solve: PenalisedSolve) -> Result:
        """Solve the problem with the best multipliers for the known planes.

        Parameters
        ----------
        solve : callable
            Solves a problem with penalties.

        Returns
        -------
        Result
            Of that problem.
        """
        multipliers, possible = self._best_multipliers()
        found = self._solved(solve, multipliers)
        self.converged = self.lower_bound >= possible * (1 - _CLOSE)
        return found

    def allow(self, multiplier: float) -> None:
        """Let multipliers be this large while no hyperplane within the budget is known."""
        self._largest = max(self._largest, multiplier)

    def _best_multipliers(self) -> tuple[FloatArray, float]:
        """The best multipliers for the known planes, and the bound that they would have if there were no others."""
        count = len(self._groups)
        known = math.isfinite(self._primal.objective)
        scale = self._primal.objective if known else self._largest
        # Planes far above the best hyperplane matter only at multipliers that are far too large.
        near = [index for index, height in enumerate(self._heights) if not known or height <= _FAR * scale]
        rows = [[1.0, *(-self._slopes[index]).tolist()] for index in near]
        heights = [self._heights[index] / scale for index in near]
        best = _maximum(rows, heights, None if known else 1.0)
        possible = math.inf
        multipliers = np.full(count, self._largest)
        if best is not None and best[1:].max() > 0:
            multipliers = scale * np.maximum(best[1:], _SMALLEST_SHARE * best[1:].max())
            possible = scale * float(best[0]) if known else math.inf
        if not known:
            self._largest *= _GROWTH
        return multipliers, possible

    def _solved(self, solve: PenalisedSolve, multipliers: FloatArray) -> Result:
        """Solve the problem with these penalties, and use its bound and its hyperplane."""
        costs = self._unlimited_costs.copy()
        for multiplier, (samples, _) in zip(multipliers, self._groups, strict=True):
            costs[samples] += multiplier * self._problem.costs[samples]
        credit = float(multipliers @ self._limits)

        def bound_of(lower: float) -> float:
            return lower - credit - _ROUNDING * (lower + credit)

        def report(time: float, _: float, lower: float, nodes: int) -> None:
            self._report(time, self._primal.objective, max(self.lower_bound, bound_of(lower)), nodes)

        penalised = replace(self._problem, costs=costs, budget=None)
        part = None if self._recorder is None else ProofRecorder(self._recorder.folder)
        found = solve(penalised, self._near, report, part)
        if self._recorder is not None and part is not None:
            self._recorder.take_over(part, bound_of(sum_of(part.pieces)), multipliers.tolist())
        if bound_of(found.lower_bound) > self.lower_bound:
            self.lower_bound, self.multipliers = bound_of(found.lower_bound), multipliers
        self._near = Incumbent(np.array(found.coef), found.intercept)
        self.add(self._near)
        self._primal.offer(self._near)
        self.add(self._primal.best)
        return found


def _first_multiplier(problem: Problem) -> float:
    """A multiplier at which hyperplanes are worth their norm: the penalty "scale" per mean weight."""
    return float(scale_penalty(problem.X) / problem.costs.mean())


def _maximum(rows: list[list[float]], heights: list[float], most: float | None) -> FloatArray | None:
    """The largest t, and multipliers up to ``most``, for which the given rows are at most the heights."""
    from scipy.optimize import linprog

    width = len(rows[0]) - 1
    bounds = [(0.0, None), *[(0.0, most)] * width]
    found = linprog([-1.0, *[0.0] * width], A_ub=rows, b_ub=heights, bounds=bounds, method="highs")
    return np.array(found.x) if found.status == 0 else None
