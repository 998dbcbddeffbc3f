"""Waiting that always ends: a cluster may stop answering at any time, and the time limit still has to hold."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

T = TypeVar("T")


class Clock:
    """The time, and the only way in which a search on a cluster waits. Tests replace it by their own."""

    def now(self) -> float:
        """Seconds, as counted by ``time.monotonic()``."""
        return time.monotonic()

    def get(self, answers: queue.SimpleQueue[T], seconds: float) -> T:
        """Return the next answer; wait for it for at most this many seconds.

        Raises
        ------
        queue.Empty
            If none has arrived by then.
        """
        return answers.get(timeout=max(0.0, seconds))

    def arrivals(self, answers: queue.SimpleQueue[T | None], seconds: float) -> Iterator[T]:
        """All answers that are there, after waiting for the first one for at most this many seconds.

        An answer of None only ends the waiting.
        """
        try:
            answer = self.get(answers, seconds)
            while True:
                if answer is not None:
                    yield answer
                answer = answers.get_nowait()
        except queue.Empty:
            return


CLOCK = Clock()


def in_background(call: Callable[[], object]) -> None:
    """Make a call that may never return and that nobody waits for; the process can end before it returns."""
    threading.Thread(target=call, daemon=True).start()


def within(seconds: float, call: Callable[..., Any], *arguments: Any, clock: Clock = CLOCK) -> Any:
    """Make a call that may never return, and wait for it for at most this many seconds.

    Raises
    ------
    TimeoutError
        If it has not returned by then. It continues in the background, and its result is ignored.
    """
    answers: queue.SimpleQueue[tuple[bool, Any]] = queue.SimpleQueue()

    def run() -> None:
        try:
            answers.put((True, call(*arguments)))
        except BaseException as error:
            answers.put((False, error))

    in_background(run)
    try:
        returned, value = clock.get(answers, seconds)
    except queue.Empty:
        raise TimeoutError(f"no answer within {seconds:.3g} s") from None
    if not returned:
        raise value
    return value
