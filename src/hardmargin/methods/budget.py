"""Problems with a budget: the widest margin that gives up no more than it allows.

Not a method by itself: it uses ``auto``, ``packing`` or ``heuristic``, which solve problems with penalties.

1. Problems with penalties provide hyperplanes and a bound (:mod:`hardmargin.search.lagrangian`), first by short
   primal searches, then by the method itself. If no hyperplane within the budget turns up, penalties are so large
   that the weight given up is all that counts. The bound usually has a duality gap: it cannot rise above the convex
   hull of what hyperplanes with other numbers of violations reach.
2. The search over samples closes that gap. It knows the budget (``core/packing/budget.h``): a search below a target
   T proves that no hyperplane within the budget has an objective below T. With few features and a limit on all
   samples, the search over directions takes turns with it. If the samples are too many for these searches, the
   problems with penalties get all of the time.

Either part may prove that no hyperplane is within the budget, by a bound that none reaches unless its margin is too
narrow to be seen.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from hardmargin.bounds import Report
from hardmargin.incumbent import Incumbent
from hardmargin.limits import Limits
from hardmargin.methods import auto, directions, packing
from hardmargin.methods.auto import suits_exact_methods
from hardmargin.methods.base import ProofOptions, memory_of
from hardmargin.methods.budget_proofs import BudgetDirections, BudgetSamples, WithinBudget, suits_directions
from hardmargin.methods.pair import has_few_features
from hardmargin.problem import Problem
from hardmargin.result import Result
from hardmargin.search import primal
from hardmargin.search.budget_primal import BudgetPrimal
from hardmargin.search.context import Context
from hardmargin.search.lagrangian import Lagrangian, PenalisedSolve
from hardmargin.search.recording import ProofRecorder
from hardmargin.search.turns import Member, leading_proof, turns
from hardmargin.search.watch import Watch
from hardmargin.status import Status

# Margins narrower than this share of the size of the data count as none.
_NARROWEST = 1e-10
# A proof in a file may prove less than the bound by this share.
_PROOF_ROUNDING = 1e-6
# Steps of the multipliers with short primal searches, and the effort of each, as a share of the method's; and the
# share of the time that all of them may take if an exact method follows.
_FIRST_STEPS = 12
_FIRST_EFFORT = 0.25
_FIRST_SHARE = 0.4
# Steps with exact methods: the share of the remaining time that each may take, and its subproblems.
_EXACT_SHARES = (0.15,) * 4
_EXACT_NODES = 20_000
# The shares if no search that knows the budget follows, and if no hyperplane within the budget is known.
_LAST_SHARES = (0.5, 0.5, 0.5, 1.0)
_DECIDING_SHARES = (0.3,) * 4

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
    recorder: ProofRecorder | None = None,
) -> Result:
    """Search for the best hyperplane within the budget and prove it optimal.

    Parameters
    ----------
    problem, incumbent, limits, report
        As in :class:`hardmargin.methods.base.Method`; the problem has a budget.
    options
        Those of the method, which apply to its solves of problems with penalties too.
    method : str
        One of ``METHODS``.
    solve : callable
        The method's ``run``, for problems with penalties.
    recorder : ProofRecorder or None
        Collects a proof of the bound.

    Returns
    -------
    Result
        If no hyperplane within the budget was found, its objective is infinite. So is the bound if it is proven
        that there is none.
    """
    if isinstance(options, packing.Options):
        packing.require_fit(problem, options, limits.threads)
    search = _BudgetSearch(problem, incumbent, limits, report, method, recorder)
    if not isinstance(options, ProofOptions):
        search.find(_FIRST_EFFORT * options.effort, 1.0)
        return search.result()
    search.find(_FIRST_EFFORT * options.heuristic_effort, _FIRST_SHARE)
    solve_alone = partial(solve, options=options)
    if _suits_proof(problem, options, limits):
        # With very large multipliers, records of the search over directions may not hold: in double precision, they
        # leave too much room for rounding. Those of the search over samples are exact.
        exact = partial(packing.run, options=_for_samples(options, memory_of(options, problem)))
        search.decide(solve_alone if recorder is None else exact, _DECIDING_SHARES, _EXACT_NODES)
        search.bound(solve_alone, _EXACT_SHARES, _EXACT_NODES)
        search.prove(options)
    else:
        search.decide(solve_alone if recorder is None else _unrecorded(solve_alone), _LAST_SHARES)
        search.bound(solve_alone, _LAST_SHARES)
    search.end_records()
    return search.result()


def _suits_proof(problem: Problem, options: ProofOptions, limits: Limits) -> bool:
    """Whether searches that know the budget have the memory, and subproblems that do not take seconds each."""
    memory = memory_of(options, problem)
    if isinstance(options, auto.Options) and not suits_exact_methods(problem, memory, limits.threads):
        return False
    return not problem.sparse and packing.fits(problem, memory, limits.threads)


def _for_samples(options: ProofOptions, memory: float) -> packing.Options:
    """The options of a search over samples."""
    distance = options.cover_distance if isinstance(options, packing.Options) else "auto"
    return packing.Options(cover_distance=distance, memory=memory, **options.shared())


def _unrecorded(solve: Run) -> Run:
    """The same without a proof."""
    return lambda *arguments, context=None: solve(*arguments)


class _BudgetSearch:
    """The parts of a solve in their order, and what is known so far."""

    def __init__(
        self,
        problem: Problem,
        incumbent: Incumbent | None,
        limits: Limits,
        report: Report,
        method: str,
        recorder: ProofRecorder | None,
    ) -> None:
        self._problem = problem
        self._recorder = recorder
        self._limits = limits
        self._report = report
        self._method = method
        self._primal = BudgetPrimal(problem, limits)
        if incumbent is not None:
            self._primal.offer(incumbent)
        self._lagrangian = Lagrangian(problem, self._primal, report, recorder) if problem.m else None
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

    def find(self, effort: float, share: float) -> None:
        """Find hyperplanes within the budget, and a first bound, by short primal searches in this share of time."""
        limits = replace(self._limits, time_limit=self._limits.elapsed() + share * self._limits.remaining())

        def solve(
            problem: Problem, incumbent: Incumbent | None, report: Report, recorder: ProofRecorder | None
        ) -> Result:
            return replace(primal.search(problem, incumbent, limits, report, effort, recorder), nodes=0)

        self._move_multipliers(solve, _FIRST_STEPS, limits.time_limit)

    def decide(self, solve_alone: Run, shares: Sequence[float], most_nodes: int | None = None) -> None:
        """Find a hyperplane within the budget, or prove that there is none, if none is known yet.

        With multipliers this large, problems with penalties minimise the weight that is given up. For shares and
        subproblems, see :meth:`bound`.
        """
        if self._lagrangian is not None and math.isinf(self._primal.objective):
            self._lagrangian.allow(2 * self._largest / float(self._problem.costs.min()))
            self._move_multipliers(self._limited(solve_alone, shares, most_nodes), len(shares))

    def bound(self, solve_alone: Run, shares: Sequence[float], most_nodes: int | None = None) -> None:
        """Raise the bound by solving problems with penalties, once a hyperplane within the budget is known.

        Each of them is given a share of the remaining time, and may examine so many subproblems.
        """
        if math.isfinite(self._primal.objective):
            self._move_multipliers(self._limited(solve_alone, shares, most_nodes), len(shares))

    def _limited(self, solve_alone: Run, shares: Iterable[float], most_nodes: int | None) -> PenalisedSolve:
        """A method that is given a share of the remaining time, and so many subproblems."""
        later = iter(shares)

        def solve(
            problem: Problem, incumbent: Incumbent | None, report: Report, recorder: ProofRecorder | None
        ) -> Result:
            seconds = self._limits.elapsed() + next(later) * self._limits.remaining()
            nodes = min(filter(None, (most_nodes, self._nodes_left())), default=None)
            limits = replace(self._limits, time_limit=seconds, node_limit=nodes)
            context = {} if recorder is None else {"context": Context(recorder=recorder)}
            found = solve_alone(problem, incumbent, limits, self._counting(report), **context)
            self._nodes += found.nodes
            return found

        return solve

    def prove(self, options: ProofOptions) -> None:
        """Close the duality gap by searches that know the budget."""
        if self.ended:
            return
        samples, regions = self._proofs(options)
        # Only `auto` has two proofs, and options for how they take turns.
        sharing = options if isinstance(options, auto.Options) else auto.Options()
        proofs: list[WithinBudget] = [samples] if regions is None else [regions, samples]
        members = [Member(proof, int(sharing.first_turn)) for proof in proofs]
        for _ in turns(members, int(sharing.head_start), self._nodes):
            pass
        for proof in proofs:
            proof.hand_over(self._recorder)
        self._nodes += sum(member.proof.nodes for member in members)
        last = leading_proof(members)
        self._lower_bound = max(self._lower_bound, last.lower_bound)
        self._impossible = samples.impossible
        self._ended = last.watch.ended or (Status.NODE_LIMIT if last.out_of_nodes else None)

    def _proofs(self, options: ProofOptions) -> tuple[BudgetSamples, BudgetDirections | None]:
        """The search over samples, and the one over directions if it suits the problem and the method."""
        problem, found, memory = self._problem, self.result(), memory_of(options, self._problem)
        both = (
            self._method == "auto"
            and has_few_features(problem)
            and math.isfinite(found.objective)
            and suits_directions(problem, exactly=self._recorder is not None)
            and directions.fits(problem, memory / 2, self._limits.threads)
        )
        memory = memory / 2 if both else memory
        for_samples = _for_samples(options, memory)
        multipliers = None if self._lagrangian is None else self._lagrangian.multipliers
        known = (problem, found, self._limits, self._report)
        contexts = [Context(recorder=self._recorder and ProofRecorder(self._recorder.folder)) for _ in range(2)]
        samples = BudgetSamples(*known, for_samples, contexts[0], self._primal, self._largest, multipliers)
        if not both:
            return samples, None
        for_regions = directions.Options(memory=memory, **options.shared())
        return samples, BudgetDirections(*known, for_regions, contexts[1], self._primal)

    def end_records(self) -> None:
        """If there is no hyperplane within the budget, only a proof of that is of use, and not one of less."""
        rounding = self._limits.gap + _PROOF_ROUNDING
        if (
            self._recorder is not None
            and self._impossible
            and self._recorder.bound < self._largest * (1 - rounding)
        ):
            self._recorder.bound, self._recorder.pieces = 0.0, []

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

    def _move_multipliers(self, solve: PenalisedSolve, count: int, until: float = math.inf) -> None:
        """Take so many steps, unless something ends the search or this many seconds are over."""
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
            if self.ended or self._lagrangian.converged or self._limits.elapsed() >= until:
                return

    def _counting(self, report: Report) -> Report:
        """A report that counts the subproblems of earlier solves too."""
        return lambda time, upper, lower, nodes: report(time, upper, lower, self._nodes + nodes)

    def _nodes_left(self) -> int | None:
        limit = self._limits.node_limit
        return None if limit is None else max(1, limit - self._nodes)
