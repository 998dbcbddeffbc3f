"""Proofs within a budget: the searches over samples and over directions, for :mod:`hardmargin.methods.budget`.

Both prove bounds on the objective of hyperplanes within the budget. Their costs are weights, in units that suit the
search: the answer does not depend on them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from hardmargin.arrays import FloatArray
from hardmargin.bounds import Report
from hardmargin.budget import BUDGET_TOLERANCE, Budget
from hardmargin.incumbent import Incumbent
from hardmargin.limits import Limits
from hardmargin.methods import directions, packing
from hardmargin.problem import Problem
from hardmargin.result import Result
from hardmargin.search.budget_primal import BudgetPrimal
from hardmargin.search.context import Context
from hardmargin.search.proof import Proof
from hardmargin.search.recording import ProofRecorder
from hardmargin.search.reduction import Reduction

# The least difference of two targets, as a share of the objective.
_LEAST_STEP = 0.01
# The first target, as a share of the objective, and the subproblems of targets this low.
_LOWEST_TARGET = 2.0**-10
_LOW_NODES = 20
# Work between two checks of whether a hyperplane within the budget has been found.
_SEARCH_WORK = 2_000_000_000
# In the search over directions, a sample costs this many times the objective.
_DEAR = 2.0
# Up to this relative error, weights count as multiples of the smallest one.
_MULTIPLE = 1e-12


class WithinBudget(Proof):
    """A proof whose hyperplanes are improved within the budget, and count as they are evaluated here."""

    _primal: BudgetPrimal
    #: The costs of the search per unit of weight, for each limit.
    _prices: tuple[float, ...]

    def hand_over(self, recorder: ProofRecorder | None) -> None:
        """Offer the proof of the bound for a file; call it at the end."""
        if recorder is not None and self.context.recorder is not None:
            recorder.take_over(self.context.recorder, self.context.recorder.bound, self._prices, limited=True)

    def learn(self, hyperplane: Incumbent, objective: float, lower_bound: float = 0.0) -> None:
        """See :class:`Proof`."""
        if objective < self.objective:
            self._primal.offer(hyperplane)
            hyperplane, objective = self._primal.best, self._primal.objective
        super().learn(hyperplane, objective, lower_bound)

    def improve(self, effort: float) -> None:
        """See :class:`Proof`: primal searches are for problems with penalties."""


class BudgetSamples(WithinBudget, packing.PackingProof):
    """The search over samples, by targets.

    While no hyperplane within the budget is known, the objective is that of the narrowest margin that counts.

    Parameters
    ----------
    problem : Problem
        With a budget.
    found : Result
        What is known; the objective is infinite if no hyperplane is.
    limits, report
        As in :class:`hardmargin.methods.base.Method`.
    options : packing.Options
    context : Context
        Its recorder, if it has one, is of this proof alone.
    primal : BudgetPrimal
        Of a problem with the same samples.
    largest : float
        The objective of the narrowest margin that counts.
    multipliers : ndarray or None
        The best ones of :class:`hardmargin.search.lagrangian.Lagrangian`, if there are any.
    """

    def __init__(
        self,
        problem: Problem,
        found: Result,
        limits: Limits,
        report: Report,
        options: packing.Options,
        context: Context,
        primal: BudgetPrimal,
        largest: float,
        multipliers: FloatArray | None,
    ) -> None:
        def without_largest(time: float, upper: float, lower: float, nodes: int) -> None:
            report(time, upper if upper < largest else math.inf, lower, nodes)

        self._largest = largest
        self._primal = primal
        start = replace(found, objective=min(found.objective, largest))
        comparable, self._prices = _comparable(problem, multipliers)
        super().__init__(comparable, start, limits, without_largest, options, context)
        assert comparable.budget is not None
        self._settings = replace(self._settings, budget=comparable.budget.relaxed())
        self._reduction = Reduction()
        self._choose_steps(_LEAST_STEP * self.objective)

    @property
    def known(self) -> bool:
        """Whether a hyperplane within the budget is known."""
        return self.objective < self._largest

    @property
    def impossible(self) -> bool:
        """Whether it is proven that no hyperplane is within the budget."""
        return not self.known and self.proven

    def steps(self) -> Iterator[None]:
        """See :class:`Proof`; a search for a hyperplane within the budget comes first, if none is known."""
        while not self.known and not self.finished and not self.stuck:
            if self._open is None:
                self._open = self._whole(self.objective)
            found = self._open = self.search(
                self._open, self._settings, self.objective, work=_SEARCH_WORK, records=self._records
            )
            self.stuck = found.exhausted and not self.known and not self.proven
            if found.exhausted or self.known or self.finished:
                self._end_records(found)
            yield
        self._open = None
        if self.known and not self.finished:
            self._try_low_targets()
            yield
        self._choose_steps(_LEAST_STEP * self.objective)
        if not self.stuck:
            yield from super().steps()

    def _try_low_targets(self) -> None:
        """Double a low target as long as a few subproblems prove it: the first search may take long."""
        target = max(_LOWEST_TARGET * self.objective, 2 * self.lower_bound)
        while target < self.objective and not self.finished:
            whole = self._whole(target)
            found = self.search(whole, self._settings, target, nodes=_LOW_NODES, records=self._records)
            self._end_records(found)
            if self.lower_bound < self._proven(target):
                return
            target *= 2


def _comparable(problem: Problem, multipliers: FloatArray | None) -> tuple[Problem, tuple[float, ...]]:
    """The same problem, with weights of the limited class that are comparable with the costs of the other one.

    Also the factor of each limit.

    The search over samples adds up the costs of must-hit sets, which may have members of both classes. If all
    samples are limited, their weights are comparable as they are.
    """
    assert problem.budget is not None
    if problem.budget.limits_all:
        return problem, (1.0,) * len(problem.budget.groups(problem.y))
    limited = problem.budget.limited(problem.y)
    typical = float(problem.costs[~limited].mean() / problem.costs[limited].mean())
    factor = typical if multipliers is None else float(multipliers[0])
    costs = np.where(limited, factor * problem.costs, problem.costs)
    return replace(problem, costs=costs, budget=problem.budget.scaled(factor)), (factor,)


class BudgetDirections(WithinBudget, directions.DirectionProof):
    """The search over directions, for a limit on the total weight, if weights are multiples of one of them.

    Parameters
    ----------
    problem : Problem
        With such a budget, for which :func:`suits_directions` holds.
    found : Result
        A hyperplane within the budget, and what is known about it.
    limits, report, options, context, primal
        As in :class:`BudgetSamples`.
    """

    def __init__(
        self,
        problem: Problem,
        found: Result,
        limits: Limits,
        report: Report,
        options: directions.Options,
        context: Context,
        primal: BudgetPrimal,
    ) -> None:
        assert problem.budget is not None
        self._primal = primal
        # If one sample costs more than the objective, one too many closes a region. A limit between two multiples
        # would leave room that nothing can use.
        unit = float(problem.costs.min())
        most = unit * math.floor(problem.budget.total * (1 + BUDGET_TOLERANCE) / unit)
        factor = _DEAR * found.objective / unit
        dear = replace(problem, costs=factor * problem.costs, budget=Budget(total=factor * most))
        self._prices = (factor,)
        super().__init__(dear, found, limits, report, options, context)
        assert dear.budget is not None
        self._settings = replace(self._settings, budget=dear.budget.relaxed())

    @property
    def _certain_cost(self) -> float:
        return self.objective + self._settings.budget.total


def suits_directions(problem: Problem, *, exactly: bool = False) -> bool:
    """Whether :class:`BudgetDirections` can search a problem.

    A proof in a file needs weights that are multiples of one of them exactly: its checker rounds limits down only
    if they are.
    """
    smallest = float(problem.costs.min())
    multiples: Any = problem.costs / smallest
    whole = bool(np.all(np.abs(multiples - np.round(multiples)) <= _MULTIPLE * multiples))
    if exactly and whole:
        whole = all(Fraction(weight) % Fraction(smallest) == 0 for weight in np.unique(problem.costs).tolist())
    return problem.budget is not None and math.isfinite(problem.budget.total) and whole
