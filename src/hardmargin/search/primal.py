"""The primal search: a very good hyperplane, and the first lower bound that costs little to prove.

The search is described in ``core/primal/search.h``, the bound in ``core/packing/root_bound.h``. Starts come first,
then the bound, which tells when there is nothing left to find, then the walk, and at the end the bound once more,
because a better hyperplane makes it stronger.

With many samples, the search of :mod:`hardmargin.search.large_primal` takes the place of the starts. If the data
are too large even for the walk, it is the whole search, and there is no bound.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from hardmargin import _core
from hardmargin.bounds import Report
from hardmargin.incumbent import Incumbent
from hardmargin.limits import Limits
from hardmargin.problem import Problem
from hardmargin.result import Result
from hardmargin.search.large_primal import LargeSearch
from hardmargin.search.recording import ProofRecorder
from hardmargin.search.watch import Watch
from hardmargin.status import Status

#: Default effort of the method ``heuristic``.
DEFAULT_EFFORT = 1.0

# Multiply-adds of one unit of effort.
_WORK = 8_000_000_000
# How often the walk of one unit of effort may go back without having found something better.
_TRIES = 12
_MOST_WORK = 2**62
# Share of the remaining time for the starts, and the share that is left for the last bound.
_START_SHARE = 0.5
_BOUND_SHARE = 0.1
# Up to this many samples, the compiled search finds its own starts.
_FEW_SAMPLES = 2000
# The walk and the bound take part up to these many samples and values: they work on copies that need more memory
# than the data, and the bound may take minutes.
_WALK_SAMPLES = 20_000
_WALK_VALUES = 1_000_000
# Least number of passes over large data of one unit of effort.
_PASSES = 400


def work_of(effort: float) -> int:
    """The approximate number of multiply-adds of a search with this effort."""
    return _whole(_WORK * effort)


def planned_work(problem: Problem, effort: float) -> int:
    """The approximate number of multiply-adds of a search of this problem."""
    passes = 0 if _suits_walk(problem) else _whole(_PASSES * effort * problem.stored_values)
    return max(work_of(effort), passes)


def _suits_walk(problem: Problem) -> bool:
    """Whether the compiled search can afford its walk and its bound."""
    few = problem.n <= _WALK_SAMPLES and problem.n * problem.m <= _WALK_VALUES
    return (problem.n <= _FEW_SAMPLES or few) and not problem.sparse


def search(
    problem: Problem,
    incumbent: Incumbent | None,
    limits: Limits,
    report: Report,
    effort: float,
    recorder: ProofRecorder | None = None,
) -> Result:
    """Search for a good hyperplane and prove a first bound.

    Parameters
    ----------
    problem, incumbent, limits, report
        As in :class:`hardmargin.methods.base.Method`.
    effort : float
        How long to search; see :class:`hardmargin.methods.heuristic.Options`.
    recorder : ProofRecorder or None
        Is offered a proof of the bound.

    Returns
    -------
    Result
    """
    work = work_of(effort)
    watch = Watch(limits, report)
    if problem.n > _FEW_SAMPLES or problem.sparse:
        large = LargeSearch(problem, limits, watch)
        if incumbent is not None:
            large.offer(incumbent)
        affordable = _suits_walk(problem)
        large.run(work // 2 if affordable else planned_work(problem, effort))
        if not affordable or watch.ended is not None:
            return _result(problem, limits, watch, large.incumbent, 0.0, large.rounds)
        found = _Search(problem, limits, watch, recorder)
        found.offer(large.incumbent, work // 4)
    else:
        found = _Search(problem, limits, watch, recorder)
        if incumbent is not None:
            found.offer(incumbent, _MOST_WORK)
        found.start(work // 4)
    found.bound()
    found.walk(work, _whole(_TRIES * effort))
    found.bound()
    return found.result()


def take_up(
    problem: Problem,
    incumbent: Incumbent,
    limits: Limits,
    report: Report,
    effort: float,
    recorder: ProofRecorder | None = None,
) -> Result:
    """Start from a good hyperplane: as :func:`search`, but with many samples only the compiled starts are tried.

    Parameters
    ----------
    problem, limits, report, effort, recorder
        As in :func:`search`.
    incumbent : Incumbent
        A good hyperplane.

    Returns
    -------
    Result
    """
    if problem.n <= _FEW_SAMPLES and not problem.sparse:
        return search(problem, incumbent, limits, report, effort, recorder)
    watch = Watch(limits, report)
    found = _Search(problem, limits, watch)
    work = work_of(effort)
    found.offer(incumbent, work)
    found.start(work // 4)
    return found.result()


def polish(
    problem: Problem,
    incumbent: Incumbent,
    hyperplanes: Sequence[Incumbent],
    limits: Limits,
    watch: Watch,
    effort: float,
) -> Incumbent:
    """Try hyperplanes of parts of the samples on all samples, and improve them where there are many.

    Parameters
    ----------
    problem : Problem
    incumbent : Incumbent
        The best hyperplane so far.
    hyperplanes : sequence of Incumbent
    limits : Limits
    watch : Watch
    effort : float
        As in :func:`search`.

    Returns
    -------
    Incumbent
        The best of all.
    """
    usable = [each for each in hyperplanes if np.isfinite([*each.coef, each.intercept]).all()]
    if problem.n > _FEW_SAMPLES or problem.sparse:
        large = LargeSearch(problem, limits, watch)
        large.offer(incumbent)
        large.polish(usable, work_of(effort) // 2)
        return large.incumbent
    fitted = (Incumbent(*problem.fitted(*each, problem.kept_up_to_rounding(*each))) for each in usable)
    return min([incumbent, *fitted], key=lambda each: problem.evaluate(*each).objective)


class _Search:
    """The compiled search, and what it has proven."""

    def __init__(
        self, problem: Problem, limits: Limits, watch: Watch, recorder: ProofRecorder | None = None
    ) -> None:
        self._problem = problem
        self._recorder = recorder
        self._limits = limits
        self._watch = watch
        self._core = _core.PrimalSearch(
            problem.X, problem.y, problem.costs, limits.seed, problem.certain_cost, problem.core_bounds
        )
        self._lower_bound = 0.0
        self._bounded_at = math.inf

    def offer(self, incumbent: Incumbent, work: int) -> None:
        """Take up a hyperplane from elsewhere, and improve it with this much work."""
        self._watch.run(
            lambda: self._core.offer(
                np.ascontiguousarray(incumbent.coef), incumbent.intercept, work, self._limits.remaining()
            )
        )

    def start(self, work: int) -> None:
        """Try the starting points."""
        self._watch.run(
            lambda: self._core.start(
                _START_SHARE * self._limits.remaining(), work, self._target(), self._lower_bound, self._watch.report
            )
        )

    def walk(self, work: int, tries: int) -> None:
        """Walk on from the best place."""
        seconds = (1 - _BOUND_SHARE) * self._limits.remaining()
        self._watch.run(
            lambda: self._core.walk(seconds, work, tries, self._target(), self._lower_bound, self._watch.report)
        )

    def bound(self) -> None:
        """Prove a lower bound, if there is a better hyperplane than at the last one."""
        if not self._core.objective < self._bounded_at or self._watch.interrupted:
            return
        self._bounded_at = self._core.objective
        # Half of the requested gap is left for rounding.
        proven, outcome, record = self._core.root_bound(
            self._limits.gap / 2, self._limits.remaining(), self._observe_bound
        )
        if self._recorder is not None:
            self._recorder.offer_record(min(proven, self._core.objective), record, self._problem)
        self._lower_bound = max(self._lower_bound, min(proven, self._core.objective))
        self._watch.report(self._core.objective, self._lower_bound, self._core.rounds)
        self._watch.take_note(outcome)

    def result(self) -> Result:
        """The best hyperplane, with the best bound."""
        best = Incumbent(np.array(self._core.weights), self._core.bias)
        return _result(self._problem, self._limits, self._watch, best, self._lower_bound, self._core.rounds)

    def _target(self) -> float:
        return self._lower_bound / (1 - self._limits.gap)

    def _observe_bound(self, upper: float, lower: float, nodes: int) -> bool:
        return self._watch.report(upper, max(self._lower_bound, min(lower, upper)), self._core.rounds)


def _result(
    problem: Problem, limits: Limits, watch: Watch, best: Incumbent, lower_bound: float, rounds: int
) -> Result:
    return Result.of(
        problem,
        best.coef,
        best.intercept,
        lower_bound=lower_bound,
        status=watch.ended or Status.HEURISTIC,
        method="heuristic",
        runtime=limits.elapsed(),
        nodes=rounds,
    )


def _whole(amount: float) -> int:
    return int(min(amount, _MOST_WORK))
