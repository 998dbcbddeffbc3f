"""Problems with a budget: the widest margin that gives up no more than it allows.

Not a method by itself: it uses ``auto``, ``packing`` or ``heuristic``, which solve problems with penalties. There are
three parts.

1. Problems with penalties provide hyperplanes and a bound (:mod:`hardmargin.search.lagrangian`). The bound has a
   duality gap: it cannot rise above the convex hull of what other budgets reach.
2. The search over samples closes that gap. It knows the budget (``core/packing/budget.h``): a search below a target T
   proves that no hyperplane within the budget has an objective below T.
3. In between, if that is hard, problems with penalties are solved by all methods, which improves the first bound.

If no hyperplane within the budget is known, the target is one that no hyperplane with a visible margin reaches. So the
search either finds a hyperplane or proves that there is none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from hardmargin.bounds import Report
from hardmargin.incumbent import Incumbent
from hardmargin.limits import Limits
from hardmargin.methods import packing
from hardmargin.methods.base import ProofOptions, memory_of
from hardmargin.problem import Problem
from hardmargin.result import Result
from hardmargin.search import primal
from hardmargin.search.budget_primal import BudgetPrimal
from hardmargin.search.lagrangian import Lagrangian
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
        If no hyperplane within the budget was found, its objective is infinite. So is the bound if it is proven that
        there is none.
    """
    search = _BudgetSearch(problem, incumbent, limits, report, method)
    if isinstance(options, ProofOptions):
        search.find(_FIRST_EFFORT * options.heuristic_effort)
        if _suits_proof(problem, options, limits):
            search.prove(options, solve)
        else:
            search.bound(solve)
    else:
        search.find(_FIRST_EFFORT * options.effort)
    return search.result()


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
        self._primal = BudgetPrimal(problem)
        if incumbent is not None:
            self._primal.offer(incumbent)
        self._lagrangian = Lagrangian(problem, self._primal, report) if problem.m else None
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

    def bound(self, solve_alone: Run) -> None:
        """Raise the bound by solving problems with penalties."""

        def solve(problem: Problem, incumbent: Incumbent | None, report: Report) -> Result:
            seconds = self._limits.elapsed() + _EXACT_SHARE * self._limits.remaining()
            nodes = _EXACT_NODES if self._limits.node_limit is None else self._nodes_left()
            limits = replace(self._limits, time_limit=seconds, node_limit=min(nodes, _EXACT_NODES))
            found = solve_alone(problem, incumbent, limits, self._counting(report))
            self._nodes += found.nodes
            return found

        self._move_multipliers(solve, _EXACT_STEPS)

    def prove(self, options: ProofOptions, solve: Run) -> None:
        """Search over samples."""
        if self.ended:
            return
        proof = BudgetProof(self._problem, self.result(), self._limits, self._report, options, self._primal)
        for _ in proof.steps_before_targets():
            pass
        self._learn(proof)
        if not self.ended and not proof.stuck:
            self.bound(solve)
        if not self.ended and not proof.stuck:
            proof.nodes_elsewhere = self._nodes - proof.nodes
            self._teach(proof)
            for _ in proof.steps():
                pass
            self._learn(proof)

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

    def _move_multipliers(self, solve: Callable[[Problem, Incumbent | None, Report], Result], count: int) -> None:
        if self._lagrangian is None or self.ended:
            return
        watch = Watch(self._limits, self._report)
        for _ in range(count):
            last = self._lagrangian.step(solve)
            self._lower_bound = max(self._lower_bound, self._lagrangian.lower_bound)
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

    def _learn(self, proof: BudgetProof) -> None:
        """Take over what the search over samples has found and proven."""
        self._nodes = proof.all_nodes
        self._lower_bound = max(self._lower_bound, proof.lower_bound)
        self._impossible = proof.impossible
        self._ended = proof.watch.ended or (Status.NODE_LIMIT if proof.out_of_nodes else None)

    def _teach(self, proof: BudgetProof) -> None:
        """Hand over what was found and proven in between."""
        proof.learn(self._primal.best, self._primal.objective, self._lower_bound)


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
    ) -> None:
        size = float(np.abs(problem.X).max(initial=0.0)) or 1.0
        self._largest = 2 / (_NARROWEST * size) ** 2
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

    def steps_before_targets(self) -> Iterator[None]:
        """The first search, and before that the search for a hyperplane within the budget."""
        while not self.known and not self.finished and not self.stuck:
            if self._open is None:
                self._open = self._whole(self.objective)
            self._open = self.search(self._open, self._settings, self.objective, work=_SEARCH_WORK)
            self.stuck = self._open.exhausted and not self.known and not self.proven
            yield
        self._open = None
        self._choose_steps(_LEAST_STEP * self.objective)
        while not self._first_over and not self.finished and not self.stuck:
            self._first_search()
            yield
        self._open = None
