"""Between a search and the cluster: makes the client's calls, and knows whether there are workers.

A call of a Dask client may wait for the scheduler, and a scheduler that is frozen or unreachable never answers. So
all calls are made in separate threads. Nothing here makes the caller wait, except :meth:`Link.close`, which gets a
time limit.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import queue
import threading
from collections.abc import Callable
from typing import Any

from hardmargin.cluster import worker
from hardmargin.cluster.waiting import CLOCK, Clock, in_background
from hardmargin.cluster.worker import ProblemOnWorkers

# Seconds between two requests for the list of workers.
_CENSUS = 1.0
# After this many seconds without an answer the cluster counts as lost, until it answers.
_SILENCE = 2.0
# Seconds to wait, in a thread of Dask, for a result that is reported as available.
_GATHER = 5.0

#: The number of a call with its result or exception; None only says that there may be workers.
Answers = queue.SimpleQueue[tuple[int, Any] | None]


class Link:
    """The calls that the searches of one solve make to a cluster.

    Parameters
    ----------
    client : distributed.Client
    clock : Clock
    """

    def __init__(self, client: Any, clock: Clock = CLOCK) -> None:
        self._client = client
        self._clock = clock
        self._tickets = itertools.count()
        # None ends the queue.
        self._requests: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._futures: dict[int, Any] = {}
        self._wanted: set[int] = set()
        self._listener: Answers = queue.SimpleQueue()
        self._over = threading.Event()
        self._begun = False
        self._threads = 0
        self._plugin: ProblemOnWorkers | None = None
        self._pending = False
        self._taken = False
        self._refusal: BaseException | None = None
        # Since when no workers have been seen, and since when a question and a request have been unanswered.
        self._seen_at = clock.now()
        self._asked_at: float | None = None
        self._requested_at: float | None = None

    @property
    def threads(self) -> int:
        """Threads of all workers that have the problem, as far as known."""
        return self._threads if self._taken else 0

    @property
    def refused(self) -> bool:
        """Whether the workers have not accepted the problem, and are not about to."""
        return self._plugin is not None and not (self._taken or self._pending)

    @property
    def lost(self) -> bool:
        """Whether the cluster does not answer."""
        disconnected = self._begun and getattr(self._client, "status", "running") != "running"
        return disconnected or self.silent_for() > _SILENCE

    def silent_for(self) -> float:
        """Seconds for which an answer of the cluster has been outstanding."""
        since = [at for at in (self._asked_at, self._requested_at) if at is not None]
        return self._clock.now() - min(since) if since else 0.0

    def absent_for(self) -> float:
        """Seconds for which no worker could have done anything; infinite if the workers refused the problem."""
        if self.refused:
            return math.inf
        return max(self._clock.now() - self._seen_at, self.silent_for())

    def listen(self, answers: Answers) -> None:
        """Notify this search, and no other, when workers may be available."""
        self._listener = answers

    def hand_out(self, plugin: ProblemOnWorkers) -> None:
        """Give a problem to all workers, replacing the previous one."""
        self._begin()
        before, self._plugin = self._plugin, plugin
        self._taken, self._pending = False, True

        def request() -> None:
            if before is not None:
                with contextlib.suppress(Exception):
                    self._client.unregister_worker_plugin(before.name)
            try:
                self._client.register_plugin(plugin)
            except Exception as error:
                self._refusal = error
            else:
                self._taken = True
            self._pending = False
            self._listener.put(None)

        self._requests.put(request)

    def has(self, problem: Any) -> bool:
        """Whether the workers have a problem, or are about to get it."""
        return self.joined and self._plugin is not None and self._plugin.problem is problem

    @property
    def joined(self) -> bool:
        """Whether the workers take part in the solve, or are about to."""
        return self._plugin is not None and not self.refused

    def refusal(self) -> BaseException | None:
        """Why the workers refused the problem, if they did; returned only once."""
        refusal, self._refusal = self._refusal, None
        return refusal

    def submit(self, answers: Answers, function: Callable[..., Any], *arguments: Any) -> int:
        """Call a function on a worker. Its result or exception arrives with the number that is returned here."""
        ticket = next(self._tickets)
        self._wanted.add(ticket)

        def request() -> None:
            if ticket not in self._wanted:
                return
            try:
                future = self._client.submit(function, *arguments, pure=False)
            except Exception as error:
                self._threads = 0
                answers.put((ticket, error))
                return
            self._futures[ticket] = future
            future.add_done_callback(fetch)

        def fetch(future: Any) -> None:
            # In a thread of Dask, because a worker that has a result may not answer.
            found: Any
            try:
                found = future.result(timeout=_GATHER)
            except BaseException as error:
                found = error
            self._futures.pop(ticket, None)
            self._wanted.discard(ticket)
            answers.put((ticket, found))

        self._requests.put(request)
        return ticket

    def cancel(self, tickets: list[int]) -> None:
        """Make slices end, or not start; nobody waits for them any more."""
        self._wanted.difference_update(tickets)

        def request() -> None:
            for ticket in tickets:
                future = self._futures.pop(ticket, None)
                if future is not None:
                    with contextlib.suppress(Exception):
                        future.cancel(force=True)

        if tickets:
            self._requests.put(request)

    def tell(self, search: str, objective: float) -> None:
        """Tell all workers about an objective; a worker that is lost does not need it."""

        def tell() -> None:
            with contextlib.suppress(Exception):
                self._client.run(worker.tell, search, objective, on_error="ignore")

        in_background(tell)

    def close(self, seconds: float) -> None:
        """Remove the problem from the workers, and wait at most this many seconds for their answer."""
        self._over.set()
        plugin, self._plugin = self._plugin, None
        if plugin is None:
            return
        self._taken = False
        answers: queue.SimpleQueue[None] = queue.SimpleQueue()

        def request() -> None:
            with contextlib.suppress(Exception):
                self._client.unregister_worker_plugin(plugin.name)
            answers.put(None)

        self._requests.put(request)
        self._requests.put(None)
        with contextlib.suppress(queue.Empty):
            self._clock.get(answers, seconds)

    def _begin(self) -> None:
        if not self._begun:
            self._begun = True
            self._seen_at = self._clock.now()
            in_background(self._make_requests)
            in_background(self._count_threads)

    def _make_requests(self) -> None:
        """Make the requests one after the other: a slice must not be submitted before its problem is handed out."""
        while (request := self._requests.get()) is not None:
            self._requested_at = self._clock.now()
            request()
            self._requested_at = None

    def _count_threads(self) -> None:
        while not self._over.is_set():
            if self._asked_at is None:
                self._asked_at = self._clock.now()
            with contextlib.suppress(Exception):
                count = sum(self._client.nthreads().values())
                self._asked_at = None
                if count > 0:
                    self._seen_at = self._clock.now()
                if count != self._threads:
                    self._threads = count
                    self._listener.put(None)
            self._over.wait(_CENSUS)
