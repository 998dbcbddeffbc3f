"""One search, spread over a cluster: which slices are handed out, and what their results are."""

from __future__ import annotations

import math
import queue
import uuid
from dataclasses import dataclass, replace
from typing import NamedTuple

from hardmargin.cluster import worker
from hardmargin.cluster.complaints import (
    MOST_FAILURES,
    PATIENCE,
    Warn,
    complain_of_absence,
    complain_of_failure,
    complain_of_refusal,
)
from hardmargin.cluster.link import Answers, Link
from hardmargin.cluster.pool import Pool
from hardmargin.cluster.records import NUMBERS_OF_SLICE, search_here, without_numbers
from hardmargin.cluster.waiting import Clock
from hardmargin.cluster.worker import Slice
from hardmargin.frontier import Frontier
from hardmargin.problem import Problem
from hardmargin.search.engine import LocalEngine, Observer, Search

# Seconds per slice: short at first, until there are subproblems for all. A longer subproblem is finished first.
_FIRST_SLICE = 0.3
_SLICE = 2.0
# Slices per thread of the cluster that are handed out at a time: one runs, one waits.
_AHEAD = 2
_LARGEST_CHUNK = 64
# How often bounds are reported.
_POLL = 0.05
# How long to wait for slices that end by themselves, and for those that were told to end.
_LONGEST_PAUSE = 10.0
_FAREWELL = 0.4


class Outcome(NamedTuple):
    """Why a search ended, in the form of the core."""

    timed_out: bool
    interrupted: bool
    error: BaseException | None = None


@dataclass(frozen=True)
class SpreadResult:
    """What a search found, proved and left open; see :class:`hardmargin.search.engine.SearchResult`."""

    weights: list[float]
    bias: float
    objective: float
    upper: float
    lower_bound: float
    nodes: int
    work: int
    exhausted: bool
    open: Frontier
    outcome: Outcome
    #: The numbers of the open subproblems in the records of a proof.
    proof_numbers: list[int]


class _Chunk(NamedTuple):
    """The subproblems of one slice, and how often it has failed."""

    frontier: Frontier
    failures: int = 0


class Spread:
    """One search, spread over a cluster."""

    def __init__(
        self,
        link: Link,
        clock: Clock,
        solve: str,
        problem: Problem,
        frontier: Frontier,
        search: Search,
        observe: Observer | None,
        warn: Warn,
    ) -> None:
        self._link = link
        self._clock = clock
        self._solve = solve
        # The name of this search: messages to workers may arrive late, and are not meant for the next one.
        self._name = f"{solve}/{uuid.uuid4().hex}"
        self._problem = problem
        self._search = search
        # Where the records of a proof go; the subproblems then have numbers (cluster/records.py).
        self._sink = search.proof
        self._observe = observe or (lambda *_: True)
        self._warn = warn
        begun = clock.now()
        self._deadline = begun + search.seconds
        self._pause_at = begun + search.pause
        self._pausing_since: float | None = None
        self._pool = Pool(frontier)
        self._stuck: list[Frontier] = []
        # The largest value below which one of these was searched.
        self._stuck_below = 0.0
        self._running: dict[int, _Chunk] = {}
        self._again: list[_Chunk] = []
        self._answers: Answers = queue.SimpleQueue()
        self._weights: list[float] = []
        self._bias = 0.0
        self._objective = max(search.upper, search.keep_below)
        self._upper = search.upper
        # The closed parts contain no solution below this; see TreeSearch::lower_bound() of the core.
        self._closed = frontier.derived_under()
        self._nodes = 0
        self._work = 0

    def __enter__(self) -> Spread:
        self._link.listen(self._answers)
        return self

    def __exit__(self, *_: object) -> None:
        self._take_back()

    def run(self) -> SpreadResult:
        """Search until everything is closed or a limit is reached."""
        go_on = True
        while go_on and self._unfinished() and self._clock.now() < self._deadline:
            complain_of_refusal(self._link, self._warn)
            if self._link.absent_for() > PATIENCE:
                self._take_back()
                if self._link.refused:
                    complain_of_refusal(self._link, self._warn)
                else:
                    complain_of_absence(self._link, self._warn)
                self._work_here(self._pool.take(_LARGEST_CHUNK, self._dropped_from()))
            waited = self._pausing_for()
            if waited is None:
                self._give_out()
            elif not self._running or waited > _LONGEST_PAUSE:
                break
            self._collect(min(_POLL, self._deadline - self._clock.now()))
            go_on = self._report()
        if self._running:
            self._end_slices()
        if self._running and self._link.lost:
            complain_of_absence(self._link, self._warn)
        self._take_back()
        # As in the core: a search that continues from these needs to know under which value the rest was closed.
        left = Frontier.joined([self._pool.everything(), *self._stuck])
        open_ = left.closed_beside(min(self._closed, self._worth()))
        open_, numbers = (open_, []) if self._sink is None else without_numbers(open_)
        return SpreadResult(
            self._weights,
            self._bias,
            self._objective,
            self._upper,
            self._lower_bound(),
            self._nodes,
            self._work,
            self._pool.size == 0,
            open_,
            Outcome(timed_out=self._clock.now() >= self._deadline, interrupted=not go_on),
            numbers,
        )

    def _report(self) -> bool:
        """Report progress; False if the search has to end."""
        return self._observe(self._upper, self._lower_bound(), self._nodes)

    def _unfinished(self) -> bool:
        return bool(self._running or self._again or self._pool.size)

    def _worth(self) -> float:
        """Subproblems with a bound of this or more are closed."""
        return self._upper * (1 - self._search.settings.gap)

    def _dropped_from(self) -> float:
        """Subproblems with a bound of this or more are dropped; none if there are records: they need a reason."""
        return self._worth() if self._sink is None else math.inf

    def _lower_bound(self) -> float:
        waiting = [chunk.frontier.lower_bound() for chunk in (*self._running.values(), *self._again)]
        stuck = [part.lower_bound() for part in self._stuck]
        return min(self._closed, self._worth(), self._pool.lower_bound(), *waiting, *stuck)

    def _pausing_for(self) -> float | None:
        """For how long no slices have been handed out while waiting for the running ones; None before that."""
        now = self._clock.now()
        # Not before some work is done: a search that paused all the time would never make progress.
        if self._pausing_since is None and (
            (now >= self._pause_at and self._nodes > 0)
            or 0 < self._search.work_limit <= self._work
            or 0 < self._search.node_limit <= self._nodes
        ):
            self._pausing_since = now
        return None if self._pausing_since is None else now - self._pausing_since

    def _give_out(self) -> None:
        """Keep all workers busy."""
        threads = self._link.threads
        while len(self._running) < _AHEAD * threads and (self._again or self._pool.size):
            share = self._pool.size // (_AHEAD * threads)
            if self._again:
                chunk = self._again.pop()
            else:
                taken = self._pool.take(min(max(1, share), _LARGEST_CHUNK), self._dropped_from())
                if taken.size == 0:
                    break
                chunk = _Chunk(taken)
            if chunk.failures >= MOST_FAILURES:
                self._work_here(chunk.frontier)
                break
            search = self._slice(_SLICE if share > 1 else _FIRST_SLICE)
            last_number = None if self._sink is None else self._sink.reserve(NUMBERS_OF_SLICE)
            ticket = self._link.submit(
                self._answers, worker.run_slice, self._solve, self._name, chunk.frontier, search, last_number
            )
            self._running[ticket] = chunk

    def _slice(self, seconds: float) -> Search:
        limit = self._search.node_limit
        return replace(
            self._search,
            upper=self._upper,
            keep_below=self._objective,
            seconds=max(0.0, self._deadline - self._clock.now()),
            pause=seconds,
            threads=1,
            node_limit=max(1, (limit - self._nodes) // max(1, _AHEAD * self._link.threads)) if limit > 0 else 0,
            work_limit=0,
            knowledge=None,
            proof=None,
        )

    def _failed(self, chunk: _Chunk, error: BaseException | None) -> None:
        """Queue a chunk to be searched again; nothing of it has been counted."""
        self._again.append(_Chunk(chunk.frontier, chunk.failures + 1))
        if error is not None:
            complain_of_failure(error, self._warn)

    def _collect(self, seconds: float) -> None:
        """Process what workers have returned; wait at most this many seconds for the first result."""
        for returned in self._clock.arrivals(self._answers, seconds):
            self._take(*returned)

    def _take(self, ticket: int, found: Slice | BaseException) -> None:
        chunk = self._running.pop(ticket, None)
        if chunk is None:
            return
        if isinstance(found, BaseException):
            self._failed(chunk, found)
        else:
            self._add(chunk.frontier, found)

    def _add(self, chunk: Frontier, found: Slice) -> None:
        self._nodes += found.nodes
        self._work += found.work
        if self._sink is not None and found.records is not None:
            found.records.add_to(self._sink)
        closed = found.upper * (1 - self._search.settings.gap)
        self._closed = min(self._closed, chunk.derived_under(), closed)
        if found.weights and found.objective < self._objective:
            self._weights, self._bias, self._objective = found.weights, found.bias, found.objective
            if self._objective < self._upper:
                self._upper = self._objective
                self._link.tell(self._name, self._upper)
        if not found.exhausted:
            self._pool.add(found.open)
        elif found.open.size:
            self._stuck.append(found.open)
            self._stuck_below = max(self._stuck_below, found.upper)
        if not self._unfinished():
            self._retry_stuck()

    def _retry_stuck(self) -> None:
        """Search again what could not be closed below a larger value, as the core does."""
        if self._stuck and self._upper < self._stuck_below * (1 - self._search.settings.gap):
            for part in self._stuck:
                self._pool.add(part)
            self._stuck, self._stuck_below = [], 0.0

    def _work_here(self, chunk: Frontier) -> None:
        """Search a slice in this process, because no worker does."""
        if chunk.size:
            search = replace(
                self._slice(_FIRST_SLICE),
                threads=self._search.threads,
                knowledge=self._search.knowledge,
                proof=self._sink,
            )
            bound = min(chunk.lower_bound(), self._lower_bound())

            def observe(upper: float, lower: float, nodes: int) -> bool:
                return self._observe(self._upper, bound, self._nodes + nodes)

            run = LocalEngine().search if self._sink is None else search_here
            found = run(self._problem, chunk, search, observe)
            self._add(chunk, Slice.of(found, numbered=self._sink is not None))

    def _end_slices(self) -> None:
        """Tell the slices to end, and process what arrives in time; nothing arrives from a cluster that is lost."""
        if self._link.lost:
            return
        self._link.tell(self._name, worker.STOP)
        patience = self._clock.now() + _FAREWELL
        while self._running and (left := patience - self._clock.now()) > 0:
            self._collect(min(_POLL, left))

    def _take_back(self) -> None:
        """Put unfinished chunks back into the pool."""
        self._link.cancel(list(self._running))
        for chunk in (*self._running.values(), *self._again):
            self._pool.add(chunk.frontier)
        self._running.clear()
        self._again.clear()
