"""Runs a solver on the indicator model in a process of its own.

A solver may take its time to look at the clock, and a bug in it may end the process that it runs in. Here it does
neither to the caller: what it has found and proven is passed on as it goes, a solver that does not end in time is
ended, and what it said last stands.
"""

from __future__ import annotations

import os
import pickle
import queue
import subprocess
import sys
import threading
import time
import warnings
from dataclasses import replace
from typing import IO, Any

from hardmargin.mip.base import Answer, IndicatorModel, SolverLimits

# What the interpreter is given to run.
CHILD = ["-m", "hardmargin.mip.child"]
# Seconds between two looks at the messages.
_INTERVAL = 0.05
# Seconds that a solver has to end when its time is up or it is asked to.
_GRACE = 0.4


def solve_indicator(backend: str, model: IndicatorModel, limits: SolverLimits) -> Answer:
    """Solve the indicator model with the back end of that name; limits are kept whatever the solver does.

    Raises
    ------
    ValueError
        If the back end refuses the model.
    """
    deadline = time.monotonic() + limits.seconds
    child = _Child(backend, model, limits)
    answer = Answer()
    try:
        while True:
            message = child.next_message(_INTERVAL)
            if isinstance(message, Exception):
                raise message
            answer = message or answer
            if answer.ended or child.silent:
                break
            go_on = limits.observe is None or limits.observe(answer)
            if not go_on or time.monotonic() > deadline:
                child.ask_to_end()
    finally:
        child.end()
    if not answer.ended and not child.asked_to_end:
        warnings.warn(
            f"{backend} ended unexpectedly (exit status {child.status}); what it had found and proven by then is "
            "kept.",
            RuntimeWarning,
            stacklevel=2,
        )
    return answer


class _Child:
    """The process, and the thread that reads what it says."""

    def __init__(self, backend: str, model: IndicatorModel, limits: SolverLimits) -> None:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        self._process = subprocess.Popen(
            [sys.executable, *CHILD],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # Solvers grumble there.
            stderr=subprocess.DEVNULL,
            env=environment,
            # Ctrl-C is for the parent to hear.
            start_new_session=True,
        )
        self._messages: queue.Queue[Any] = queue.Queue()
        self._end_asked_at: float | None = None
        self._said_all = threading.Event()
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        threading.Thread(target=self._read, args=(self._process.stdout,), daemon=True).start()
        # Its own clock starts with the model.
        pickle.dump((backend, model, replace(limits, observe=None)), self._process.stdin)
        self._process.stdin.flush()

    @property
    def silent(self) -> bool:
        """Whether nothing more will come: it has ended, or has not done so when it was asked to."""
        overdue = self._end_asked_at is not None and time.monotonic() > self._end_asked_at + _GRACE
        return overdue or (self._said_all.is_set() and self._messages.empty())

    @property
    def status(self) -> int | None:
        """Its exit status; negative is the signal that ended it."""
        return self._process.returncode

    @property
    def asked_to_end(self) -> bool:
        """Whether it has been asked to end."""
        return self._end_asked_at is not None

    def next_message(self, seconds: float) -> Any:
        """The latest message, or None if there is none within these seconds."""
        try:
            message = self._messages.get(timeout=seconds)
            while not self._messages.empty():
                message = self._messages.get_nowait()
        except queue.Empty:
            return None
        return message

    def ask_to_end(self) -> None:
        """Ask it to end soon."""
        if self._end_asked_at is None:
            self._end_asked_at = time.monotonic()
            assert self._process.stdin is not None
            self._process.stdin.close()

    def end(self) -> None:
        """End it now."""
        if self._said_all.is_set():
            self._process.wait()
        else:
            self._process.kill()
            self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            stream.close()

    def _read(self, stream: IO[bytes]) -> None:
        try:
            while True:
                self._messages.put(pickle.load(stream))
        except (EOFError, pickle.UnpicklingError, ValueError, OSError):
            self._said_all.set()
