"""Branch and bound over the samples to give up, bounded by packings of must-hit sets.

``core/packing/state.h`` explains what a subproblem is and why its conclusions hold; ``core/tree/search.h`` has the
queue of open subproblems. This module gives the search its incumbent and its targets. A search below a target T
proves that no hyperplane costs less than T. The lower T is, the smaller are the must-hit sets and the tree. So if a
first, short search for the optimum itself does not finish, targets rise towards it. The lower bound is then the
last target proven, and all lower targets together cost about half as much as the last one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from math import inf
from typing import Any, Literal

from hardmargin.bounds import Report
from hardmargin.frontier import Frontier
from hardmargin.incumbent import Incumbent
from hardmargin.limits import Limits
from hardmargin.methods.base import SMALLEST_GAP as SMALLEST_GAP
from hardmargin.methods.base import ProofOptions, memory_of, require_memory_limit, require_room
from hardmargin.problem import Problem
from hardmargin.result import Result
from hardmargin.search.context import Context
from hardmargin.search.engine import (
    SearchResult,
    frontier_of,
    knowledge_of,
    numbered,
    numbers_of,
    plain_open,
    restored_open,
)
from hardmargin.search.portfolio import prove_alone
from hardmargin.search.proof import Proof
from hardmargin.search.recording import ProofRecorder, SampleRecords
from hardmargin.search.reduction import Decided, Reduction, reduction
from hardmargin.search.roots import packing_root
from hardmargin.search.settings import PackingSettings
from hardmargin.search.target_growth import TargetGrowth
from hardmargin.units import GIGABYTE
from hardmargin.validation import is_real

HAS_FRONTIER = True
NEEDS_DENSE = True

# Subproblems of the first search, before targets rise, and its work: if subproblems are expensive, targets are
# better earlier.
_FIRST_NODES = 4000
_FIRST_WORK = 4_000_000_000
# Share of the memory that all threads together may use for certified sets; the rest is for open subproblems.
_POOL_SHARE = 0.25
# Rows of the core's samples are padded to multiples of this many values.
_PADDING = 8
# What a thread needs at least: some max-margin problems, and a few subproblems that wait.
_BYTES_PER_SAMPLE = 300


@dataclass(frozen=True)
class Options(ProofOptions):
    """Settings of the search over the samples to give up, in addition to those of :class:`ProofOptions`.

    Attributes
    ----------
    cover_distance : float or "auto"
        The cover bound is used where bound and objective are at least this many samples apart; ``inf`` never
        uses it, "auto" finds out where it pays off.
    memory : float or None
        Gigabytes of open subproblems and certified sets. If the open subproblems exceed their part, the search goes
        depth first. None means :func:`hardmargin.limits.default_memory`.
    """

    cover_distance: float | Literal["auto"] = "auto"
    memory: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        require_memory_limit(self)
        distance = self.cover_distance
        if distance != "auto" and (not is_real(distance) or not distance >= 0):
            raise ValueError(f"cover_distance is {distance!r}; expected 'auto' or a number that is not negative.")


def run(
    problem: Problem,
    incumbent: Incumbent | None,
    limits: Limits,
    report: Report,
    options: Options | None = None,
    context: Context | None = None,
) -> Result:
    """Search for a hyperplane and prove it optimal; see :class:`hardmargin.methods.base.Method`."""
    settings = options or Options()
    require_fit(problem, settings, limits.threads)
    return prove_alone(PackingProof, problem, incumbent, limits, report, settings, context)


def fits(problem: Problem, memory: float, threads: int = 1) -> bool:
    """Whether this many gigabytes have room for the core's copy of the samples and a few subproblems."""
    return _least_memory(problem, threads) <= memory


def require_fit(problem: Problem, options: Options, threads: int) -> None:
    """Refuse a problem for which the option ``memory`` has no room.

    Raises
    ------
    ValueError
    """
    require_room(problem, "packing", options, _least_memory(problem, threads))


def _least_memory(problem: Problem, threads: int) -> float:
    """Gigabytes of the core's copy of the samples and of the least that its threads need."""
    n, m = problem.n, problem.m
    padded = -(-m // _PADDING) * _PADDING
    return n * (8 * padded + 12 * m + _BYTES_PER_SAMPLE * (threads + 1)) / GIGABYTE


class PackingProof(Proof):
    """A proof by targets that rise towards the objective."""

    kind = "packing"

    def __init__(
        self,
        problem: Problem,
        found: Result,
        limits: Limits,
        report: Report,
        options: Options,
        context: Context | None = None,
    ) -> None:
        super().__init__(problem, found, limits, report, context)
        self._growth = TargetGrowth(self.lower_bound)
        self._choose_steps(problem.typical_cost)
        self._effort = options.later_effort * options.heuristic_effort
        self.slice = options.slice
        self._reduction: Reduction | None = None
        # The first search: how many subproblems it may examine and has examined, and whether it is over.
        self._first_limit = options.first_nodes or _FIRST_NODES
        self._first_nodes = 0
        self._first_over = False
        # The current target, what its search left open, and the work and subproblems that it has needed so far.
        self._target: float | None = None
        self._open: Frontier | SearchResult | None = None
        self._target_work = self._target_nodes = 0
        # Whether a target could not be proven because of rounding: then lower ones are of no use.
        self._learns_no_more = False
        distance = options.cover_distance
        # What a proof in a file needs: the records of the current search, and those of the reduction.
        self._records: SampleRecords | None = None
        self._decided: Decided = []
        self.knowledge = knowledge_of(problem, keeps_certificates=self.context.recorder is not None)
        memory = memory_of(options, problem) * GIGABYTE
        self.memory = int((1 - _POOL_SHARE) * memory)
        self._settings = PackingSettings(
            # Half of the requested gap is left for rounding.
            gap=limits.gap / 2,
            cover_distance=None if distance == "auto" else float(distance),
            # Every thread has its own sets, and there are some that all share.
            pool_memory=int(_POOL_SHARE * memory / (limits.threads + 1)),
        )

    def _choose_steps(self, unit: float) -> None:
        """Choose the usual least difference of two targets, and the first one."""
        self._growth.choose_first_step(unit, self.objective - self.lower_bound)

    def state(self) -> dict[str, Any]:
        """See :class:`Proof`."""
        return {
            **super().state(),
            "first_nodes": self._first_nodes,
            "first_over": self._first_over,
            "target": self._target,
            "target_work": self._target_work,
            "target_nodes": self._target_nodes,
            **self._growth.state(),
            "open": plain_open(self._open),
            "reduction": self._reduction and asdict(self._reduction),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """See :class:`Proof`."""
        super().restore(state)
        self._first_nodes, self._first_over = state["first_nodes"], state["first_over"]
        self._target, self._target_work = state["target"], state["target_work"]
        self._target_nodes = state["target_nodes"]
        self._growth.restore(state)
        self._open = restored_open(state["open"])
        in_first_search = self._first_nodes > 0 and not self._first_over
        if self._open is None and (self._target is not None or in_first_search):
            raise ValueError("the state is in the middle of a search and has nothing open; start without it.")
        self._reduction = Reduction(**state["reduction"]) if state["reduction"] is not None else None
        if self.context.recorder is not None:
            self._restore_records(self.context.recorder, self.context.recorder.saved[self.kind])

    def recorded(self) -> Any:
        """See :class:`Proof`."""
        return {
            "records": None if self._records is None else self._records.state(),
            "numbers": numbers_of(self._open),
            "decided": [(sample, kept, record.hex()) for sample, kept, record in self._decided],
        }

    def _restore_records(self, recorder: ProofRecorder, recorded: dict[str, Any]) -> None:
        """The inverse of :meth:`recorded`."""
        self._decided = [(sample, kept, bytes.fromhex(record)) for sample, kept, record in recorded["decided"]]
        if recorded["records"] is not None:
            self._records = SampleRecords.resumed(recorder, recorded["records"])
        if self._open is not None:
            self._open = numbered(self.problem, self.kind, frontier_of(self._open), recorded["numbers"])

    @property
    def reduced(self) -> str:
        """See :class:`Proof`."""
        return self._reduction.summary() if self._reduction is not None else ""

    @property
    def target(self) -> float | None:
        """The next value to prove; None if the proof is complete or a limit was reached."""
        if self.finished or self.stuck:
            return None
        if self._target is not None and self._reached < self._proven(self._target):
            # What is open below a target is all that is open below a smaller one.
            return min(self._target, self.objective)
        # A search proves a little less than its target.
        step = self._growth.step_in_time(self._base, self.objective, self.work_left)
        target = self._reached / (1 - self._settings.gap) + step
        return self.objective if target > self.objective - self._growth.unit else target

    def steps(self) -> Iterator[None]:
        """See :class:`Proof`."""
        if self._reduction is None:
            recorded = self.context.recorder is not None
            self._reduction = reduction(self, self._decided) if recorded else reduction(self)
        while not self._first_over and not self.finished:
            self._first_search()
            yield
        while self.target is not None:
            self.improve(self._effort)
            if (target := self.target) is not None:
                self._search_below(target)
                yield

    def _first_search(self) -> None:
        """Search for the optimum itself for a while, with packings only: enough for small problems."""
        if self._first_nodes == 0 or self._open is None:
            self._open = self._whole(self.objective)
        without_cover = replace(self._settings, cover_distance=inf)
        nodes = max(1, self._first_limit - self._first_nodes)
        found = self._open = self.search(
            self._open, without_cover, self.objective, nodes=nodes, work=_FIRST_WORK, records=self._records
        )
        self._mark_records()
        self._first_nodes += found.nodes
        enough = self._first_nodes >= self._first_limit or self.work >= _FIRST_WORK
        self._first_over = found.exhausted or enough
        if self._first_over:
            self._end_records(found)
            self._growth.begin_at(self.own_bound)

    def _search_below(self, target: float) -> None:
        """Continue the search below a target, or start it."""
        if self._open is None or self._target is None or target > self._target:
            self._target_work = self._target_nodes = 0
            self._open = self._whole(target)
        self._target = target
        ends = (self._work_left(), self.work_until_primal_search(self._effort))
        found = self._open = self.search(
            self._open,
            self._settings,
            target,
            work=min(filter(None, ends), default=0),
            records=self._records,
        )
        self._mark_records()
        self._target_work += found.work
        self._target_nodes += found.nodes
        proven = self._reached >= self._proven(target)
        if proven or found.exhausted:
            self._end_records(found)
            self._target = self._open = None
            self._growth.note_ended(target, self._target_work, self._target_nodes)
            self._target_work = self._target_nodes = 0
            # A search that was not cut short and has not proven its target never will, because of rounding errors.
            # If another proof has proven it, there is something left to try above that.
            self.stuck = not proven and self.lower_bound < self._proven(target)
            self._learns_no_more = self._learns_no_more or not proven
        elif 0 < self._most_work() <= self._target_work and not self.finished:
            self._growth.note_abandoned(target, self._target_work, self._base)
            self._end_records(found)
            self._target = self._open = None
            self._target_work = self._target_nodes = 0

    def remaining_work(self) -> float:
        """See :class:`Proof`."""
        return self._growth.remaining_work(self.objective, self._target, self._target_work)

    @property
    def _reached(self) -> float:
        """The bound above which targets rise; always one that is proven.

        Another proof of the solve may have proven more than this one. As long as this one has no forecast, it
        continues from what it has proven itself all the same: those targets take little work, and show how the
        work grows. Far above them, it might finish no target, and never know that it should leave the work to
        others.
        """
        if self._growth.rate > 0 or self._learns_no_more:
            return self.lower_bound
        return min(self.lower_bound, max(self.own_bound, self._growth.last_target * (1 - self._settings.gap)))

    @property
    def _base(self) -> float:
        """What is reached, in terms of targets: a search proves a little less than its target."""
        return max(self._growth.last_target, self._reached)

    def _most_work(self) -> int:
        """After how much work to try a lower target than the current one; 0 means never."""
        assert self._target is not None
        left = self.work_left + self._target_work if self._target < self.objective else inf
        return self._growth.most_work(self._target, self._base, left)

    def _work_left(self) -> int:
        """The work until then."""
        return max(1, most - self._target_work) if (most := self._most_work()) > 0 else 0

    def _proven(self, target: float) -> float:
        """The bound at which a target counts as proven."""
        return min(target, self.objective) * (1 - self.limits.gap)

    def _begin_records(self, decided: Decided) -> None:
        """Begin the records of a search, if a proof in a file is wanted."""
        if self._records is not None:
            self._records.drop()
        recorder = self.context.recorder
        self._records = None if recorder is None else SampleRecords(recorder, decided)

    def _mark_records(self) -> None:
        """Note that what is open now has all records so far."""
        if self._records is not None:
            self._records.mark()

    def _end_records(self, found: SearchResult) -> None:
        """Hand over the records of a search that has closed everything; those of others are of no use."""
        if self._records is None:
            return
        if found.exhausted and frontier_of(found).size == 0:
            self._records.complete(found.lower_bound, self.problem)
        else:
            self._records.drop()
        self._records = None

    def _whole(self, upper: float) -> Frontier:
        """The whole problem as a frontier, for solutions better than ``upper``."""
        known = self._reduction
        if known is None or known.derived_under < upper * (1 - self._settings.gap):
            # Decisions that hold only for better hyperplanes cannot be used to prove that there are none.
            known = Reduction()
        self._begin_records(self._decided if known is self._reduction else [])
        derived_under = min(upper, known.derived_under)
        return packing_root(self.problem, self._reached, derived_under, kept=known.kept, given_up=known.given_up)
