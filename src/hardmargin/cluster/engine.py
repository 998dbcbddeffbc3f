"""Gives slices of a search to the workers of a cluster, and puts together what they return."""

from __future__ import annotations

import contextlib
import queue
import threading
import time
import uuid
import warnings
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from distributed import CancelledError, KilledWorker
from distributed.comm.core import CommClosedError

from hardmargin.cluster import worker
from hardmargin.cluster.connection import within
from hardmargin.cluster.pool import Pool
from hardmargin.cluster.worker import Slice
from hardmargin.frontier import Frontier
from hardmargin.methods.engine import Found, LocalEngine, Observer, Search, frontier_of
from hardmargin.problem import Problem

# A search of so few subproblems is made in this process.
_FEW_NODES = 5000
# Seconds of a slice: short ones at first, until there are subproblems for all. One that takes longer is done first.
_FIRST_SLICE = 0.3
_SLICE = 2.0
# Slices for each thread of the cluster that are given out at a time: one runs, one waits.
_AHEAD = 2
_LARGEST_CHUNK = 64
# How often bounds are reported, and how often it is asked who is there.
_POLL = 0.05
_CENSUS = 1.0
# After so many seconds without a worker this process does the work itself.
_PATIENCE = 5.0
# How long to wait for slices that end by themselves, and for those that have been told to.
_LONGEST_PAUSE = 10.0
_FAREWELL = 0.4
# How long to wait for the scheduler's answer to a request.
_ANSWER = 10.0
# How long to wait for a result that is said to be there.
_GATHER = 5.0
# A chunk that has failed so often is not given out again.
_MOST_FAILURES = 3
_LOST = (KilledWorker, CancelledError, CommClosedError, TimeoutError)


class Outcome(NamedTuple):
    """Why a search has ended; as that of the core."""

    timed_out: bool
    interrupted: bool
    error: BaseException | None = None


@dataclass(frozen=True)
class ClusterFound:
    """What a search found, proved and left open; see :class:`hardmargin.methods.engine.Found`."""

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


class ClusterEngine:
    """Runs searches on the workers of a cluster.

    Parameters
    ----------
    client : distributed.Client
    """

    def __init__(self, client: Any) -> None:
        self._client = client
        self._local = LocalEngine()
        self._solve = f"hardmargin-{uuid.uuid4().hex}"
        self._problem: Problem | None = None

    def search(
        self, problem: Problem, frontier: Frontier | Found, search: Search, observe: Observer | None
    ) -> Found:
        """See :class:`hardmargin.methods.engine.Engine`."""
        open_ = frontier_of(frontier)
        if 0 < search.node_limit <= _FEW_NODES:
            return self._local.search(problem, open_, search, observe)
        if open_.size == 0:
            # There is nothing to give out yet.
            first = replace(search, pause=min(_FIRST_SLICE, search.pause))
            return self._local.search(problem, open_, first, observe)
        begun = time.monotonic()
        self._hand_out(problem, search.seconds)
        with _Spread(self._client, self._solve, problem, open_, search, observe, begun) as spread:
            return spread.run()

    def close(self) -> None:
        """Take the problem from the workers, if they are still there."""
        if self._problem is not None:
            self._problem = None
            with contextlib.suppress(Exception):
                within(_ANSWER, self._client.unregister_worker_plugin, self._solve)

    def _hand_out(self, problem: Problem, seconds: float) -> None:
        """Give the problem to all workers, unless they have it."""
        if self._problem is not problem:
            self.close()
            plugin = worker.ProblemOnWorkers(self._solve, problem)
            try:
                within(min(_ANSWER, seconds), self._client.register_plugin, plugin)
            except worker.OtherVersion as error:
                raise ValueError(f"cluster: {error}; install the same version everywhere.") from error
            except Exception as error:
                # Nobody is there, or not for long: the search will see, and goes on without them.
                warnings.warn(f"the cluster did not take the problem ({error!r}).", RuntimeWarning, stacklevel=2)
            self._problem = problem


class _Chunk(NamedTuple):
    """Subproblems that one slice is given, and how often that has failed."""

    frontier: Frontier
    failures: int = 0


class _Spread:
    """One search, spread over a cluster."""

    def __init__(
        self,
        client: Any,
        solve: str,
        problem: Problem,
        frontier: Frontier,
        search: Search,
        observe: Observer | None,
        begun: float,
    ) -> None:
        self._client = client
        self._solve = solve
        # Of this search: what workers are told may come late, and is not meant for the next one.
        self._name = f"{solve}/{uuid.uuid4().hex}"
        self._problem = problem
        self._search = search
        self._observe = observe or (lambda *_: True)
        self._deadline = begun + search.seconds
        self._pause_at = begun + search.pause
        self._pausing_since: float | None = None
        self._pool = Pool(frontier)
        self._stuck: list[Frontier] = []
        self._running: dict[Any, _Chunk] = {}
        self._again: list[_Chunk] = []
        self._warned = False
        self._done: queue.SimpleQueue[tuple[Any, Slice | BaseException]] = queue.SimpleQueue()
        self._weights: list[float] = []
        self._bias = 0.0
        self._objective = max(search.upper, search.keep_below)
        self._upper = search.upper
        # What is closed has no solution below this; see TreeSearch::lower_bound() of the core.
        self._closed = float(frontier.numbers[:, -1].min())
        self._nodes = 0
        self._work = 0
        self._threads = 0
        self._seen_at = time.monotonic()
        self._over = threading.Event()

    def __enter__(self) -> _Spread:
        threading.Thread(target=self._count_threads, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._take_back()

    def run(self) -> ClusterFound:
        """Search until the end or a limit."""
        go_on = True
        while go_on and self._unfinished() and time.monotonic() < self._deadline:
            if time.monotonic() - self._seen_at > _PATIENCE:
                self._threads = 0
                self._take_back()
                self._warn("no worker of the cluster is there")
                self._work_here(self._pool.take(_LARGEST_CHUNK, self._worth()))
            waited = self._pausing_for()
            if waited is None:
                self._give_out()
            elif not self._running or waited > _LONGEST_PAUSE:
                break
            self._collect(_POLL)
            go_on = self._report()
        if self._running:
            self._end_slices()
        self._take_back()
        open_ = Frontier.joined([self._pool.everything(), *self._stuck])
        if open_.size:
            # As the core does it: who goes on with these has to know under what the rest was closed.
            open_.numbers[:, -1] = np.minimum(open_.numbers[:, -1], min(self._closed, self._worth()))
        return ClusterFound(
            self._weights,
            self._bias,
            self._objective,
            self._upper,
            self._lower_bound(),
            self._nodes,
            self._work,
            self._pool.size == 0,
            open_,
            Outcome(timed_out=time.monotonic() >= self._deadline, interrupted=not go_on),
        )

    def _report(self) -> bool:
        """Tell how far it is; False if it has to end."""
        return self._observe(self._upper, self._lower_bound(), self._nodes)

    def _unfinished(self) -> bool:
        return bool(self._running or self._again or self._pool.size)

    def _worth(self) -> float:
        """Subproblems with a bound of this or more are closed."""
        return self._upper * (1 - float(self._search.settings["gap"]))

    def _lower_bound(self) -> float:
        waiting = [chunk.frontier.lower_bound() for chunk in (*self._running.values(), *self._again)]
        stuck = [part.lower_bound() for part in self._stuck]
        return min(self._closed, self._worth(), self._pool.lower_bound(), *waiting, *stuck)

    def _pausing_for(self) -> float | None:
        """How long slices have been waited for, with none given out any more; None before that."""
        now = time.monotonic()
        # Not before something is done: whoever pauses again and again would never get on.
        if self._pausing_since is None and (
            (now >= self._pause_at and self._nodes > 0)
            or 0 < self._search.work_limit <= self._work
            or 0 < self._search.node_limit <= self._nodes
        ):
            self._pausing_since = now
        return None if self._pausing_since is None else now - self._pausing_since

    def _count_threads(self) -> None:
        """Ask now and then who is there; in a thread of its own, because a scheduler may not answer at all."""
        while not self._over.is_set():
            try:
                count = sum(self._client.nthreads().values())
            except Exception:
                count = 0
            if count > 0:
                self._threads, self._seen_at = count, time.monotonic()
            self._over.wait(_CENSUS)

    def _give_out(self) -> None:
        """Keep all workers busy."""
        while len(self._running) < _AHEAD * self._threads and (self._again or self._pool.size):
            share = self._pool.size // (_AHEAD * self._threads)
            if self._again:
                chunk = self._again.pop()
            else:
                taken = self._pool.take(min(max(1, share), _LARGEST_CHUNK), self._worth())
                if taken.size == 0:
                    break
                chunk = _Chunk(taken)
            if chunk.failures >= _MOST_FAILURES:
                self._work_here(chunk.frontier)
                break
            search = self._slice(_SLICE if share > 1 else _FIRST_SLICE)
            try:
                future = self._client.submit(
                    worker.run_slice, self._solve, self._name, chunk.frontier, search, pure=False
                )
            except Exception as error:
                self._failed(chunk, error)
                self._threads = 0
                break
            self._running[future] = chunk
            future.add_done_callback(self._fetch)

    def _slice(self, seconds: float) -> Search:
        limit = self._search.node_limit
        return replace(
            self._search,
            upper=self._upper,
            keep_below=self._objective,
            seconds=max(0.0, self._deadline - time.monotonic()),
            pause=seconds,
            threads=1,
            node_limit=max(1, (limit - self._nodes) // max(1, _AHEAD * self._threads)) if limit > 0 else 0,
            work_limit=0,
        )

    def _failed(self, chunk: _Chunk, error: BaseException | None) -> None:
        """Whatever became of it: it has to be done again, and nothing of it has been counted."""
        self._again.append(_Chunk(chunk.frontier, chunk.failures + 1))
        if error is not None and not isinstance(error, _LOST):
            self._warn(f"a worker of the cluster failed ({type(error).__name__}: {error})")

    def _warn(self, what: str) -> None:
        if not self._warned:
            self._warned = True
            warnings.warn(f"{what}; what it does not do is done in this process.", RuntimeWarning, stacklevel=2)

    def _fetch(self, future: Any) -> None:
        """Get a result; called in Dask's thread for callbacks, because a worker that has one may not answer."""
        found: Slice | BaseException
        try:
            found = future.result(timeout=_GATHER)
        except BaseException as error:
            found = error
        self._done.put((future, found))

    def _collect(self, seconds: float) -> None:
        """Take over what workers have returned; wait so long for the first of them."""
        try:
            returned = self._done.get(timeout=seconds)
            while True:
                self._take(*returned)
                returned = self._done.get_nowait()
        except queue.Empty:
            return

    def _take(self, future: Any, found: Slice | BaseException) -> None:
        chunk = self._running.pop(future, None)
        if chunk is None:
            return
        if isinstance(found, BaseException):
            self._failed(chunk, found)
        else:
            self._add(chunk.frontier, found)

    def _add(self, chunk: Frontier, found: Slice) -> None:
        self._nodes += found.nodes
        self._work += found.work
        gap = float(self._search.settings["gap"])
        derived_under = float(chunk.numbers[:, -1].min())
        self._closed = min(self._closed, derived_under, found.upper * (1 - gap))
        if found.weights and found.objective < self._objective:
            self._weights, self._bias, self._objective = found.weights, found.bias, found.objective
            if self._objective < self._upper:
                self._upper = self._objective
                self._tell(self._upper)
        if found.exhausted:
            self._stuck += [found.open] if found.open.size else []
        else:
            self._pool.add(found.open)

    def _tell(self, objective: float) -> None:
        """Let all workers know, without waiting for them; who is lost need not know."""

        def tell() -> None:
            with contextlib.suppress(Exception):
                self._client.run(worker.tell, self._name, objective, on_error="ignore")

        threading.Thread(target=tell, daemon=True).start()

    def _work_here(self, chunk: Frontier) -> None:
        """A slice in this process, because nobody else does it."""
        if chunk.size:
            search = replace(self._slice(_FIRST_SLICE), threads=self._search.threads)
            bound = min(chunk.lower_bound(), self._lower_bound())

            def observe(upper: float, lower: float, nodes: int) -> bool:
                return self._observe(self._upper, bound, self._nodes + nodes)

            self._add(chunk, Slice.of(LocalEngine().search(self._problem, chunk, search, observe)))

    def _end_slices(self) -> None:
        """Tell the slices to end, and take what comes in time."""
        self._tell(worker.STOP)
        patience = time.monotonic() + _FAREWELL
        while self._running and (left := patience - time.monotonic()) > 0:
            self._collect(min(_POLL, left))

    def _take_back(self) -> None:
        """Put what nobody has done back into the pool."""
        for future in self._running:
            with contextlib.suppress(Exception):
                future.cancel(force=True)
        for chunk in (*self._running.values(), *self._again):
            self._pool.add(chunk.frontier)
        self._running.clear()
        self._again.clear()
