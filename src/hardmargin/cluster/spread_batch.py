"""A batch of independent tasks, spread over a cluster."""

from __future__ import annotations

import queue
import uuid
from collections.abc import Iterator
from typing import Any, NamedTuple

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
from hardmargin.cluster.waiting import Clock
from hardmargin.search.tasks import Batch

# Tasks per thread of the cluster that are handed out at a time: one runs, one waits.
_AHEAD = 2
# How often the caller is asked whether to go on.
_POLL = 0.05
# How long to wait for tasks that were told to end.
_FAREWELL = 0.4


class _Task(NamedTuple):
    """A task, its place in the batch, and how often it has failed."""

    place: int
    task: Any
    failures: int = 0


class SpreadBatch:
    """Runs a batch on the workers of a cluster, and in this process if there are none.

    A task whose worker is lost is run again. Its answer is the same wherever it runs.
    """

    def __init__(self, link: Link, clock: Clock, solve: str, batch: Batch, warn: Warn) -> None:
        self._link = link
        self._clock = clock
        # The name of this batch: messages to workers may arrive late, and are not meant for the next one.
        self._name = f"{solve}/{uuid.uuid4().hex}"
        self._batch = batch
        self._warn = warn
        self._deadline = clock.now() + batch.seconds
        self._tasks: Iterator[tuple[int, Any]] = iter(enumerate(batch.tasks))
        # Tasks to be run next: one that was taken out of the batch, and those that failed.
        self._next: list[_Task] = []
        self._running: dict[int, _Task] = {}
        self._answers: Answers = queue.SimpleQueue()

    def run(self) -> None:
        """Run the tasks until all are done, no more are wanted, or a limit is reached."""
        self._link.listen(self._answers)
        try:
            while self._batch.go_on() and self._left() > 0:
                self._fill()
                if not (self._next or self._running):
                    return
                complain_of_refusal(self._link, self._warn)
                if self._link.absent_for() > PATIENCE:
                    self._take_back()
                    if not self._link.refused:
                        complain_of_absence(self._link, self._warn)
                    self._run_here(self._next.pop())
                else:
                    self._give_out()
                    self._collect(min(_POLL, self._left()))
            self._end()
        finally:
            self._take_back()

    def _left(self) -> float:
        return self._deadline - self._clock.now()

    def _fill(self) -> None:
        """Take the next task out of the batch, if one is wanted."""
        if not self._next and self._batch.more():
            following = next(self._tasks, None)
            if following is not None:
                self._next.append(_Task(*following))

    def _give_out(self) -> None:
        """Keep all workers busy."""
        while self._next and len(self._running) < _AHEAD * self._link.threads:
            task = self._next.pop()
            if task.failures >= MOST_FAILURES:
                self._run_here(task)
            else:
                arguments = (worker.run_task, self._name, self._batch.run, task.task, self._left())
                self._running[self._link.submit(self._answers, *arguments)] = task
            self._fill()

    def _run_here(self, task: _Task) -> None:
        self._batch.take(task.place, self._batch.run(task.task, max(0.0, self._left()), self._batch.go_on))

    def _collect(self, seconds: float) -> None:
        """Process what workers have returned; wait at most this many seconds for the first answer."""
        for returned in self._clock.arrivals(self._answers, seconds):
            self._take(*returned)

    def _take(self, ticket: int, answer: Any) -> None:
        task = self._running.pop(ticket, None)
        if task is None:
            return
        if isinstance(answer, BaseException):
            self._next.append(task._replace(failures=task.failures + 1))
            complain_of_failure(answer, self._warn)
        else:
            self._batch.take(task.place, answer)

    def _end(self) -> None:
        """Tell the tasks to end, and process what arrives in time; nothing arrives from a cluster that is lost."""
        if self._link.lost:
            if self._running:
                complain_of_absence(self._link, self._warn)
            return
        self._link.tell(self._name, worker.STOP)
        patience = self._clock.now() + _FAREWELL
        while self._running and (left := patience - self._clock.now()) > 0:
            self._collect(min(_POLL, left))

    def _take_back(self) -> None:
        """Cancel what is running; it has to be run again."""
        self._link.cancel(list(self._running))
        self._next += self._running.values()
        self._running.clear()
