"""Independent tasks: plain data, and a function that turns each into an answer, wherever that runs."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any

#: ``run(task, seconds, go_on)`` returns an answer after at most this many seconds, and soon after ``go_on()``
#: becomes false. It is a function of a module, and its answer depends on the task alone unless it is ended early.
Run = Callable[[Any, float, Callable[[], bool]], Any]

# Seconds between two questions whether to go on.
_POLL = 0.05
# Seconds after which a task lets another one compute, if more of them are under way than threads.
_TURN = 0.2


@dataclass(frozen=True)
class Batch:
    """Tasks that an engine runs side by side.

    Attributes
    ----------
    run : callable
        Runs a task.
    tasks : iterable
        The tasks, as plain data; each is taken when it is about to be started.
    seconds : float
        Time limit: running tasks are ended.
    threads : int
        Tasks that compute at a time, in this process.
    under_way : int
        Tasks that may be under way at a time; if they are more than the threads, they take turns in this process.
        So none has to wait until others are done, and all have an answer when the time is up.
    take : callable
        ``take(index, answer)`` is called for every task that was run, in this thread and in any order.
    go_on : callable
        Called several times per second, in this thread; running tasks are ended if it returns False.
    more : callable
        Called before a task is started; if it returns False, no more tasks are started.
    """

    run: Run
    tasks: Iterable[Any]
    seconds: float
    threads: int
    take: Callable[[int, Any], None]
    go_on: Callable[[], bool]
    more: Callable[[], bool]
    under_way: int = 0

    @property
    def started(self) -> int:
        """How many tasks are started before the first one is done."""
        return max(self.threads, self.under_way)


class Rotation:
    """Lets some of the tasks that are under way compute, and all of them in turn.

    Parameters
    ----------
    places : int
        How many compute at a time.
    """

    def __init__(self, places: int) -> None:
        self._lock = threading.Lock()
        self._free = places
        self._waiting: deque[threading.Event] = deque()
        self._over = False

    def enter(self) -> None:
        """Wait for a place."""
        with self._lock:
            if self._over or self._free > 0:
                self._free -= 1
                return
            turn = threading.Event()
            self._waiting.append(turn)
        turn.wait()

    def leave(self) -> None:
        """Give the place to the task that has waited longest."""
        with self._lock:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._free += 1

    def take_turns(self) -> None:
        """Let another task compute, if one waits."""
        if self._waiting:
            self.leave()
            self.enter()

    def end(self) -> None:
        """Let all tasks compute, because they are about to end."""
        with self._lock:
            self._over = True
            while self._waiting:
                self._waiting.popleft().set()


def run_here(batch: Batch) -> None:
    """Run tasks in this process, one per thread."""
    deadline = time.monotonic() + batch.seconds
    if batch.started == 1:
        _run_in_this_thread(batch, deadline)
    else:
        _run_in_threads(batch, deadline)


def _run_in_this_thread(batch: Batch, deadline: float) -> None:
    """Run one task after the other; each asks by itself whether to go on."""
    for index, task in enumerate(batch.tasks):
        left = deadline - time.monotonic()
        if left <= 0 or not batch.more() or not batch.go_on():
            return
        batch.take(index, batch.run(task, left, batch.go_on))


def _run_in_threads(batch: Batch, deadline: float) -> None:
    ended = threading.Event()
    rotation = Rotation(batch.threads)
    running: dict[Future[Any], int] = {}
    waiting = iter(enumerate(batch.tasks))

    def run(task: Any) -> Any:
        rotation.enter()
        turn_over = time.monotonic() + _TURN

        def go_on() -> bool:
            nonlocal turn_over
            if time.monotonic() >= turn_over:
                rotation.take_turns()
                turn_over = time.monotonic() + _TURN
            return not ended.is_set()

        try:
            return batch.run(task, max(0.0, deadline - time.monotonic()), go_on)
        finally:
            rotation.leave()

    with ThreadPoolExecutor(batch.started) as pool:
        try:
            going_on = True
            while True:
                while going_on and len(running) < batch.started and batch.more():
                    if (following := next(waiting, None)) is None:
                        break
                    running[pool.submit(run, following[1])] = following[0]
                if not running:
                    return
                done, _ = wait(running, timeout=_POLL, return_when=FIRST_COMPLETED)
                for future in sorted(done, key=lambda each: running[each]):
                    batch.take(running.pop(future), future.result())
                if going_on and (not batch.go_on() or time.monotonic() >= deadline):
                    going_on = False
                    ended.set()
                    rotation.end()
        finally:
            ended.set()
            rotation.end()
