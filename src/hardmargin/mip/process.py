"""Runs a solver on the indicator model in a separate process.

A solver may check the clock rarely, and a bug in it may end the process that it runs in. Here neither affects the
caller: progress is passed on as it is made, a solver that does not end in time is killed, and its last message
stays valid.
"""

from __future__ import annotations

import pickle
import queue
import subprocess
import threading
import time
import warnings
from dataclasses import replace
from typing import IO, Any

from hardmargin.mip.base import Answer, IndicatorModel, Refusal, SolverLimits
from hardmargin.processes import INTERVAL, WatchedProcess

# What the interpreter runs.
CHILD = ["-m", "hardmargin.mip.child"]
# Seconds that a solver has to end when its time is up or when it is asked to.
_GRACE = 0.4
# Seconds that a process has to end by itself after its last message if nobody has asked it to, because its exit
# status is needed. It ends at once, but the machine may be busy.
_EXIT_GRACE = 10.0


def solve_indicator(backend: str, model: IndicatorModel, limits: SolverLimits) -> Answer:
    """Solve the indicator model with the named back end; limits are kept whatever the solver does.

    Raises
    ------
    ValueError
        If the back end refuses the model.
    """
    answer = Answer()
    trouble = ""
    with _Child(backend, model, limits) as child:
        while not (answer.ended or trouble or child.silent):
            message = child.next_message(INTERVAL)
            if isinstance(message, Refusal):
                raise ValueError(message.text)
            if isinstance(message, Answer):
                answer = message
            elif message is not None:
                trouble = str(message)
            go_on = limits.observe is None or limits.observe(answer)
            if not go_on or child.overdue:
                child.ask_to_end()
    if not answer.ended and not child.asked_to_end:
        reason = trouble or f"exit status {child.status}"
        warnings.warn(
            f"{backend} ended unexpectedly ({reason}); what it had found and proven by then is kept.",
            RuntimeWarning,
            stacklevel=2,
        )
    return answer


class _Child:
    """The process and its messages."""

    def __init__(self, backend: str, model: IndicatorModel, limits: SolverLimits) -> None:
        deadline = time.monotonic() + limits.seconds
        # Its own clock starts with the model; the observer stays here.
        request = pickle.dumps((backend, model, replace(limits, observe=None)))
        # Solvers print messages on standard error.
        self._process = WatchedProcess(
            CHILD, request, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, deadline=deadline
        )
        self.asked_to_end = False
        self._messages: queue.Queue[Any] = queue.Queue()
        self._said_all = threading.Event()
        self._reader = threading.Thread(target=self._read, args=(self._process.stdout,), daemon=True)
        self._reader.start()

    def __enter__(self) -> _Child:
        return self

    def __exit__(self, *_: object) -> None:
        """End the process now, if it has not ended by itself."""
        self._process.end_input()
        grace = _EXIT_GRACE if self._said_all.is_set() and not self.asked_to_end else 0.0
        if not self._process.ended(within=grace):
            self._process.kill()
        self._reader.join()

    @property
    def overdue(self) -> bool:
        """Whether its time is up, or the time to end after it was asked to."""
        return self._process.overdue

    @property
    def silent(self) -> bool:
        """Whether no further message will come: it has ended, or has not ended although it was asked to."""
        return (self.asked_to_end and self.overdue) or (self._said_all.is_set() and self._messages.empty())

    @property
    def status(self) -> int | None:
        """Its exit status; negative if a signal ended it."""
        return self._process.status

    def next_message(self, seconds: float) -> Any:
        """The latest message, or None if there is none within this many seconds."""
        try:
            message = self._messages.get(timeout=seconds)
            while not self._messages.empty():
                message = self._messages.get_nowait()
        except queue.Empty:
            return None
        return message

    def ask_to_end(self) -> None:
        """Ask it to end soon."""
        if not self.asked_to_end:
            self.asked_to_end = True
            self._process.deadline = time.monotonic() + _GRACE
            self._process.end_input()

    def _read(self, stream: IO[bytes]) -> None:
        try:
            with stream:
                while True:
                    self._messages.put(pickle.load(stream))
        except EOFError:
            pass
        except Exception as error:
            self._messages.put(f"{type(error).__name__} in what it said: {error}")
        finally:
            self._said_all.set()
