"""Problems with a budget: the widest margin that gives up no more than it allows.

Not a method by itself: it uses ``auto``, ``packing`` or ``heuristic``, which solve problems with penalties.

1. Problems with penalties provide hyperplanes and a bound (:mod:`hardmargin.search.lagrangian`), first by short
   primal searches, then by the method itself. If no hyperplane within the budget turns up, penalties are so large
   that the weight given up is all that counts. The bound usually has a duality gap: it cannot rise above the convex
   hull of what hyperplanes with other numbers of violations reach.
2. The search over samples closes that gap. It knows the budget (``core/packing/budget.h``): a search below a target
   T proves that no hyperplane within the budget has an objective below T.

Either part may prove that no hyperplane is within the budget, by a bound that none reaches unless its margin is too
narrow to be seen.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from hardmargin.arrays import FloatArray
from hardmargin.bounds import Report
from hardmargin.incumbent import Incumbent
from hardmargin.limits import Limits
from hardmargin.methods import packing
from hardmargin.methods.base import ProofOptions, memory_of
from hardmargin.problem import Problem
from hardmargin.result import Result
from hardmargin.search import primal
from hardmargin.search.budget_primal import BudgetPrimal
from hardmargin.search.lagrangian import Lagrangian, PenalisedSolve
from hardmargin.search.reduction import Reduction
from hardmargin.search.watch import Watch
from hardmargin.status import Status

# Margins narrower than this share of the size of the data count as none.
_NARROWEST = 1e-10
# Steps of the multipliers with short primal searches, and the effort of each, as a share of the method's.
_FIRST_STEPS = 12
_FIRST_EFFORT = 0.25
# Steps with exact methods, the subproblems of each, and the share of the remaining time that each may take.
_EXACT_STEPS = 4
_EXACT_NODES = 20_000
_EXACT_SHARE = 0.15
# The share if no hyperplane within the budget is known.
_DECIDING_SHARE = 0.3
# The least difference of two targets, as a share of the objective.
_LEAST_STEP = 0.01
# Work between two checks of whether a hyperplane within the budget has been found.
_SEARCH_WORK = 2_000_000_000

#: A method's ``run``.
Run = Callable[..., Result]


#: The methods that can solve problems with a budget.
METHODS = ("auto", "packing", "heuristic")


def run(
    problem: Problem,
    incumbent: Incumbent | None,
    limits: Limits,
    report: Report,
    options: Any,
    *,
    method: str,
    solve: Run,
) -> Result:
    """Search for the best hyperplane within the budget and prove it optimal.

    Parameters
    ----------
    problem, incumbent, limits, report
        As in :class:`hardmargin.methods.base.Method`; the problem has a budget.
    options
        Those of the method.
    method : str
        One of ``METHODS``.
    solve : callable
        The method's ``run``, for problems with penalties.

    Returns
    -------
    Result
        If no hyperplane within the budget was found, its objective is infinite. So is the bound if it is proven
        that there is none.
    """
    search = _BudgetSearch(problem, incumbent, limits, report, method)
    if not isinstance(options, ProofOptions):
        search.find(_FIRST_EFFORT * options.effort)
        return search.result()
    search.find(_FIRST_EFFORT * options.heuristic_effort)
    search.decide(solve)
    search.bound(solve)
    if _suits_proof(problem, options, limits):
        search.prove(options)
    return search.result()


def _reweighted(problem: Problem, multipliers: FloatArray | None) -> Problem:
    """The same problem, with weights of the limited class that are comparable with the costs of the other one.

    The search over samples adds up the costs of must-hit sets, which may have members of both classes. If all
    samples are limited, their weights are comparable as they are.
    """
    assert problem.budget is not None
    if problem.budget.limits_all:
        return problem
    limited = problem.budget.limited(problem.y)
    typical = float(problem.costs[~limited].mean() / problem.costs[limited].mean())
    factor = typical if multipliers is None else float(multipliers[0])
    costs = np.where(limited, factor * problem.costs, problem.costs)
    return replace(problem, costs=costs, budget=problem.budget.scaled(factor))


def _suits_proof(problem: Problem, options: ProofOptions, limits: Limits) -> bool:
    return not problem.sparse and packing.fits(problem, memory_of(options, problem), limits.threads)


class _BudgetSearch:
    """The parts of a solve in their order, and what is known so far."""

    def __init__(
        self, problem: Problem, incumbent: Incumbent | None, limits: Limits, report: Report, method: str
    ) -> None:
        self._problem = problem
        self._limits = limits
        self._report = report
        self._method = method
        self._primal = BudgetPrimal(problem, limits)
        if incumbent is not None:
            self._primal.offer(incumbent)
        self._lagrangian = Lagrangian(problem, self._primal, report) if problem.m else None
        size = 0.0 if problem.m == 0 else float(max(problem.X.max(), -problem.X.min()))
        # The objective of the narrowest margin that counts.
        self._largest = 2 / (_NARROWEST * (size or 1.0)) ** 2
        self._lower_bound = 0.0
        self._impossible = False
        self._nodes = 0
        # TIME_LIMIT, INTERRUPTED, STALLED or NODE_LIMIT, if that ended the search.
        self._ended: Status | None = None

    @property
    def ended(self) -> bool:
        """Whether the proof is complete, or a limit was reached."""
        return self._ended is not None or self._impossible or self._proven

    @property
    def _proven(self) -> bool:
        return self._lower_bound >= self._primal.objective * (1 - self._limits.gap)

    def find(self, effort: float) -> None:
        """Find hyperplanes within the budget, and a first bound, by short primal searches."""

        def solve(problem: Problem, incumbent: Incumbent | None, report: Report) -> Result:
            return replace(primal.search(problem, incumbent, self._limits, report, effort), nodes=0)

        self._move_multipliers(solve, _FIRST_STEPS)

    def decide(self, solve_alone: Run) -> None:
        """Find a hyperplane within the budget, or prove that there is none, if none is known yet.

        With multipliers this large, problems with penalties minimise the weight that is given up.
        """
        if self._lagrangian is not None and math.isinf(self._primal.objective):
            self._lagrangian.allow(2 * self._largest / float(self._problem.costs.min()))
            self._move_multipliers(self._limited(solve_alone, _DECIDING_SHARE), _EXACT_STEPS)

    def bound(self, solve_alone: Run) -> None:
        """Raise the bound by solving problems with penalties."""
        self._move_multipliers(self._limited(solve_alone, _EXACT_SHARE), _EXACT_STEPS)

    def _limited(self, solve_alone: Run, share: float) -> PenalisedSolve:
        """A method that is given a share of the remaining time, and of the subproblems."""

        def solve(problem: Problem, incumbent: Incumbent | None, report: Report) -> Result:
            seconds = self._limits.elapsed() + share * self._limits.remaining()
            nodes = _EXACT_NODES if self._limits.node_limit is None else min(_EXACT_NODES, self._nodes_left())
            limits = replace(self._limits, time_limit=seconds, node_limit=nodes)
            found = solve_alone(problem, incumbent, limits, self._counting(report))
            self._nodes += found.nodes
            return found

        return solve

    def prove(self, options: ProofOptions) -> None:
        """Search over samples."""
        if self.ended:
            return
        multipliers = None if self._lagrangian is None else self._lagrangian.multipliers
        problem = _reweighted(self._problem, multipliers)
        found = self.result()
        proof = BudgetProof(problem, found, self._limits, self._report, options, self._primal, self._largest)
        proof.nodes_elsewhere = self._nodes
        for _ in proof.steps():
            pass
        self._nodes = proof.all_nodes
        self._lower_bound = max(self._lower_bound, proof.lower_bound)
        self._impossible = proof.impossible
        self._ended = proof.watch.ended or (Status.NODE_LIMIT if proof.out_of_nodes else None)

    def result(self) -> Result:
        """What was found and proven; see :func:`run`."""
        bound = math.inf if self._impossible else min(self._lower_bound, self._primal.objective)
        return Result.of(
            self._problem,
            *self._primal.best,
            lower_bound=bound,
            status=Status.OPTIMAL if self._proven else self._ended or Status.HEURISTIC,
            method=self._method,
            runtime=self._limits.elapsed(),
            nodes=self._nodes,
        )

    def _move_multipliers(self, solve: PenalisedSolve, count: int) -> None:
        if self._lagrangian is None or self.ended:
            return
        watch = Watch(self._limits, self._report)
        for _ in range(count):
            last = self._lagrangian.step(solve)
            self._lower_bound = max(self._lower_bound, self._lagrangian.lower_bound)
            self._impossible = self._lower_bound >= self._largest
            watch.report(self._primal.objective, self._lower_bound, self._nodes)
            watch.take_note(None)
            if last.status in (Status.INTERRUPTED, Status.STALLED):
                self._ended = last.status
            elif watch.ended is not None:
                self._ended = watch.ended
            elif self._limits.node_limit is not None and self._nodes >= self._limits.node_limit:
                self._ended = Status.NODE_LIMIT
            if self.ended or self._lagrangian.converged:
                return

    def _counting(self, report: Report) -> Report:
        """A report that counts the subproblems of earlier solves too."""
        return lambda time, upper, lower, nodes: report(time, upper, lower, self._nodes + nodes)

    def _nodes_left(self) -> int:
        assert self._limits.node_limit is not None
        return max(1, self._limits.node_limit - self._nodes)


class BudgetProof(packing.PackingProof):
    """A proof by targets, over the samples of a problem with a budget.

    While no hyperplane within the budget is known, the objective is that of the narrowest margin that counts.
    """

    def __init__(
        self,
        problem: Problem,
        found: Result,
        limits: Limits,
        report: Report,
        options: ProofOptions,
        primal_part: BudgetPrimal,
        largest: float,
    ) -> None:
        self._largest = largest
        known = math.isfinite(found.objective)
        start = found if known else replace(found, objective=self._largest)

        def without_largest(time: float, upper: float, lower: float, nodes: int) -> None:
            report(time, upper if upper < self._largest else math.inf, min(lower, self._largest), nodes)

        exact = options if isinstance(options, packing.Options) else packing.Options(**options.shared())
        super().__init__(problem, start, limits, without_largest, exact)
        assert problem.budget is not None
        self._settings = replace(self._settings, budget=problem.budget.relaxed())
        self._reduction = Reduction()
        self._primal = primal_part
        self._choose_steps(_LEAST_STEP * self.objective)

    @property
    def known(self) -> bool:
        """Whether a hyperplane within the budget is known."""
        return self.objective < self._largest

    @property
    def impossible(self) -> bool:
        """Whether it is proven that no hyperplane is within the budget."""
        return not self.known and self.proven

    def learn(self, hyperplane: Incumbent, objective: float, lower_bound: float = 0.0) -> None:
        """See :class:`Proof`: hyperplanes of the core are improved, and count as they are evaluated here."""
        if objective < self.objective:
            self._primal.offer(hyperplane)
            hyperplane, objective = self._primal.best, self._primal.objective
        super().learn(hyperplane, objective, lower_bound)

    def improve(self, effort: float) -> None:
        """See :class:`Proof`: the search over samples, and the problems with penalties, find better hyperplanes."""

    def steps(self) -> Iterator[None]:
        """See :class:`Proof`; a search for a hyperplane within the budget comes first, if none is known."""
        while not self.known and not self.finished and not self.stuck:
            if self._open is None:
                self._open = self._whole(self.objective)
            self._open = self.search(self._open, self._settings, self.objective, work=_SEARCH_WORK)
            self.stuck = self._open.exhausted and not self.known and not self.proven
            yield
        self._open = None
        self._choose_steps(_LEAST_STEP * self.objective)
        if not self.stuck:
            yield from super().steps()
