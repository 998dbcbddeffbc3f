"""Runs a solver on the indicator model in a process of its own.

A solver may take its time to look at the clock, and a bug in it may end the process that it runs in. Here it does
neither to the caller: what it has found and proven is passed on as it goes, a solver that does not end in time is
ended, and what it said last stands.
"""

from __future__ import annotations

import contextlib
import pickle
import queue
import subprocess
import sys
import threading
import time
import warnings
from dataclasses import replace
from typing import IO, Any

from hardmargin.mip.base import Answer, IndicatorModel, Refusal, SolverLimits
from hardmargin.processes import child_environment

# What the interpreter is given to run.
CHILD = ["-m", "hardmargin.mip.child"]
# Seconds between two looks at the messages.
_INTERVAL = 0.05
# Seconds that a solver has to end when its time is up or it is asked to.
_GRACE = 0.4
# Seconds that a process has to end by itself when it has said all and nobody has asked it to: its exit status is
# wanted. It ends at once, but the machine may be busy.
_EXIT_GRACE = 10.0


def solve_indicator(backend: str, model: IndicatorModel, limits: SolverLimits) -> Answer:
    """Solve the indicator model with the back end of that name; limits are kept whatever the solver does.

    Raises
    ------
    ValueError
        If the back end refuses the model.
    """
    deadline = time.monotonic() + limits.seconds
    answer = Answer()
    trouble = ""
    with _Child(backend, model, limits) as child:
        while not (answer.ended or trouble or child.silent):
            message = child.next_message(_INTERVAL)
            if isinstance(message, Refusal):
                raise ValueError(message.text)
            if isinstance(message, Answer):
                answer = message
            elif message is not None:
                trouble = str(message)
            go_on = limits.observe is None or limits.observe(answer)
            if not go_on or time.monotonic() > deadline:
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
    """The process, and the threads that talk to it."""

    def __init__(self, backend: str, model: IndicatorModel, limits: SolverLimits) -> None:
        self._process = subprocess.Popen(
            [sys.executable, *CHILD],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # Solvers grumble there.
            stderr=subprocess.DEVNULL,
            env=child_environment(),
            # Ctrl-C is for the parent to hear.
            start_new_session=True,
        )
        self._messages: queue.Queue[Any] = queue.Queue()
        self._end_asked_at: float | None = None
        self._said_all = threading.Event()
        # Its own clock starts with the model; the observer stays here.
        request = pickle.dumps((backend, model, replace(limits, observe=None)))
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._writer = threading.Thread(target=self._write, args=(self._process.stdin, request), daemon=True)
        self._reader = threading.Thread(target=self._read, args=(self._process.stdout,), daemon=True)
        self._end_writing = threading.Event()
        self._writer.start()
        self._reader.start()

    def __enter__(self) -> _Child:
        return self

    def __exit__(self, *_: object) -> None:
        """End it now, if it has not ended by itself."""
        self._end_writing.set()
        try:
            self._process.wait(_EXIT_GRACE if self._said_all.is_set() and not self.asked_to_end else 0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._writer.join()
        self._reader.join()

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
            self._end_writing.set()

    def _write(self, stream: IO[bytes], request: bytes) -> None:
        # It may have ended before it has read all; then there is nothing to tell it any more.
        with contextlib.suppress(OSError), stream:
            stream.write(request)
            stream.flush()
            self._end_writing.wait()

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
