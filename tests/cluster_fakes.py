"""Clusters in this process that answer late, wrongly or never, and a clock that advances only while waiting."""

from __future__ import annotations

import contextlib
import queue
import random
import threading

import distributed

from hardmargin.cluster.waiting import Clock


class WaitingClock(Clock):
    """Time passes only while something waits, so that it shows for exactly how long a search may wait.

    Parameters
    ----------
    hold : threading.Event, optional
        Until it is set, no time passes: what has to happen first in another thread does happen first.
    """

    def __init__(self, hold: threading.Event | None = None) -> None:
        self._hold = hold
        self.time = 0.0

    def now(self) -> float:
        return self.time

    def get(self, answers, seconds: float):
        while self._hold is not None and not self._hold.is_set():
            with contextlib.suppress(queue.Empty):
                return answers.get(timeout=0.01)
        try:
            return answers.get_nowait()
        except queue.Empty:
            self.time += max(0.0, seconds)
            raise


class Future:
    """A submitted slice."""

    def __init__(self, work, client) -> None:
        self._work = work
        self._client = client
        self._outcome = None

    def run(self) -> None:
        try:
            self._outcome = self._work()
        except Exception as error:
            self._outcome = error
        self._callback(self)

    def add_done_callback(self, callback) -> None:
        self._callback = callback
        self._client.begin(self)

    def result(self, timeout: float):
        if isinstance(self._outcome, Exception):
            raise self._outcome
        return self._outcome

    def cancel(self, force: bool = False) -> None:
        """It continues all the same, and its result comes too late."""
        self._client.called("cancel")


class FakeClient:
    """The calls of a client that an engine uses; slices run in two threads, in a random order.

    Parameters
    ----------
    seed : int
    threads : int
        The number of threads that the workers report.
    """

    def __init__(self, seed: int = 0, threads: int = 2) -> None:
        self.random = random.Random(seed)
        self._threads = threads
        self._waiting: list[Future] = []
        self._changed = threading.Condition()
        self._closed = False
        for _ in range(2):
            threading.Thread(target=self._run_slices, daemon=True).start()

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def called(self, name: str) -> None:
        """A call was made."""

    def begin(self, future: Future) -> None:
        with self._changed:
            self._waiting.append(future)
            self._changed.notify()

    def _run_slices(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._closed)
                if not self._waiting:
                    return
                future = self._waiting.pop(self.random.randrange(len(self._waiting)))
            future.run()

    def nthreads(self) -> dict[str, int]:
        self.called("nthreads")
        return {"worker": self._threads}

    def register_plugin(self, plugin) -> None:
        self.called("register_plugin")
        plugin.setup(None)

    def unregister_worker_plugin(self, name: str) -> None:
        """The problem is not removed, because there are few."""
        self.called("unregister_worker_plugin")

    def run(self, function, *arguments, on_error: str) -> None:
        self.called("run")
        function(*arguments)

    def submit(self, function, *arguments, pure: bool) -> Future:
        self.called("submit")
        return Future(lambda: function(*arguments), self)


class UnreliableClient(FakeClient):
    """Loses slices before or after they have run."""

    def __init__(self, seed: int, threads: int = 2) -> None:
        super().__init__(seed, threads)
        self.lost = self.made = 0

    def submit(self, function, *arguments, pure: bool) -> Future:
        fate = self.random.random()

        def work():
            if fate < 0.15:
                self.lost += 1
                raise distributed.CancelledError("before")
            found = function(*arguments)
            if fate < 0.3:
                self.lost += 1
                raise ArithmeticError("after") if fate < 0.22 else TimeoutError("after")
            self.made += 1
            return found

        if fate > 0.95:
            raise OSError("no connection")
        return Future(work, self)


class SilentClient(FakeClient):
    """A cluster whose slices never end, and some of whose calls never return.

    Parameters
    ----------
    silent : set of str
        The names of those calls.
    awaited : str
        ``reached`` is set at the first call of this name.
    """

    def __init__(self, silent: set[str], awaited: str) -> None:
        super().__init__()
        self._silent = silent
        self._awaited = awaited
        self._released = threading.Event()
        self.reached = threading.Event()
        self.callers: list[tuple[str, threading.Thread]] = []

    def close(self) -> None:
        super().close()
        self._released.set()

    def called(self, name: str) -> None:
        self.callers.append((name, threading.current_thread()))
        if name == self._awaited:
            self.reached.set()
        if name in self._silent:
            self._released.wait()

    def not_reached(self, upper: float, lower: float, nodes: int) -> bool:
        """An observer that ends a search once the awaited call was made."""
        return not self.reached.is_set()

    def begin(self, future: Future) -> None:
        """It never does."""
