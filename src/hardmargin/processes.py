"""Processes of this package that other processes of it start, watch and end.

The parent holds a :class:`WatchedProcess`. Standard input brings the child its request and then stays open: when it
ends, nobody waits for the answer any more. So no child outlives its parent for long, however the parent ends.
"""

from __future__ import annotations

import contextlib
import math
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, BinaryIO

#: Seconds between two looks at a running process.
INTERVAL = 0.05


class WatchedProcess:
    """A Python process that is given a request, and can be ended from outside.

    It runs in a session of its own: Ctrl-C in a terminal reaches the parent alone, which decides what to do.

    Parameters
    ----------
    arguments : sequence of str
        The arguments of the interpreter.
    request : bytes
        What is written to standard input. The parent never waits for the child to read it.
    stdout, stderr : int or file
        As in ``subprocess.Popen``.
    variables : mapping, optional
        Environment variables, beside those of :func:`child_environment`.
    deadline : float
        The moment, by ``time.monotonic()``, after which the process is overdue. Nothing ends it then: the parent
        looks, and decides.

    Attributes
    ----------
    deadline : float
        May be moved while the process runs.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        request: bytes,
        *,
        stdout: int | IO[bytes],
        stderr: int | IO[bytes],
        variables: Mapping[str, str] | None = None,
        deadline: float = math.inf,
    ) -> None:
        self.deadline = deadline
        self._process = subprocess.Popen(
            [sys.executable, *arguments],
            stdin=subprocess.PIPE,
            stdout=stdout,
            stderr=stderr,
            env={**child_environment(), **(variables or {})},
            start_new_session=True,
        )
        assert self._process.stdin is not None
        self._input_over = threading.Event()
        self._writer = threading.Thread(target=self._write, args=(self._process.stdin, request), daemon=True)
        self._writer.start()

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    @property
    def stdout(self) -> IO[bytes]:
        """Its standard output, if that is a pipe."""
        assert self._process.stdout is not None
        return self._process.stdout

    @property
    def status(self) -> int | None:
        """Its exit status; negative if a signal ended it, None if it was still running at the last look."""
        return self._process.returncode

    @property
    def overdue(self) -> bool:
        """Whether the deadline has passed."""
        return time.monotonic() > self.deadline

    def ended(self, within: float = 0.0) -> bool:
        """Whether the process has ended, or does so within a number of seconds."""
        try:
            self._process.wait(within)
        except subprocess.TimeoutExpired:
            return False
        self._let_go()
        return True

    def end_input(self) -> None:
        """Tell the process that nobody waits for it any more. A child that does not listen runs on."""
        self._input_over.set()

    def kill(self) -> None:
        """End the process and those that it has started, unless it has ended by itself."""
        if self._process.poll() is None:
            others = descendants(self.pid)
            self._process.kill()
            for pid in others:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            self._process.wait()
        self._let_go()

    def _let_go(self) -> None:
        self._input_over.set()
        self._writer.join()

    def _write(self, stream: IO[bytes], request: bytes) -> None:
        # The process may end before it has read all of it.
        with contextlib.suppress(OSError), stream:
            stream.write(request)
            stream.flush()
            self._input_over.wait()


def child_environment() -> dict[str, str]:
    """This process's environment, with modules from where it has them, not from where it happens to be."""
    paths = os.pathsep.join(path for path in sys.path if isinstance(path, str) and path)
    return {**os.environ, "PYTHONPATH": paths, "PYTHONSAFEPATH": "1"}


def descendants(pid: int) -> list[int]:
    """The processes that a process has started, and those that these have; none where the system does not tell."""
    found: list[int] = []
    waiting = [pid]
    while waiting:
        children = _children(waiting.pop())
        found += children
        waiting += children
    return found


def _children(pid: int) -> list[int]:
    try:
        lists = [path.read_text() for path in Path(f"/proc/{pid}/task").glob("*/children")]
    except OSError:
        return []
    return [int(word) for text in lists for word in text.split()]


def take_output() -> BinaryIO:
    """In a child: standard output for the answer alone. What is printed from now on goes to standard error."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return answers


def when_input_ends(then: Callable[[], object]) -> None:
    """In a child that has read its request: call a function, from another thread, when nobody waits any more.

    Such a child has to leave by ``os._exit``: the interpreter's own end would wait for standard input.
    """

    def listen() -> None:
        sys.stdin.buffer.read()
        then()

    threading.Thread(target=listen, daemon=True).start()
