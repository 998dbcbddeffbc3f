"""Child processes of this package, which the parent starts, watches and ends.

The parent holds a :class:`WatchedProcess`. The child reads its requests from standard input, which then stays open.
When it is closed, nobody waits for the answer any more. So no child outlives its parent for long, however it ends.
"""

from __future__ import annotations

import contextlib
import math
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, BinaryIO

#: Seconds between two checks of a running process.
INTERVAL = 0.05


class WatchedProcess:
    """A Python process that gets a request and can be ended from outside.

    It runs in a session of its own: Ctrl-C in a terminal reaches only the parent, which decides what to do.

    Parameters
    ----------
    arguments : sequence of str
        Arguments for the interpreter.
    request : bytes
        Written to standard input. The parent never waits for the child to read it.
    stdout, stderr : int or file
        As in ``subprocess.Popen``.
    variables : mapping, optional
        Environment variables in addition to those of :func:`child_environment`.
    deadline : float
        The time, by ``time.monotonic()``, after which the process is overdue. It is not ended automatically: the
        parent checks and decides.

    Attributes
    ----------
    deadline : float
        May be changed while the process runs.
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
        # None is the end of the input.
        self._requests: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._writer = threading.Thread(target=self._write, args=(self._process.stdin,), daemon=True)
        self._writer.start()
        self.send(request)

    @property
    def pid(self) -> int:
        """The process ID."""
        return self._process.pid

    @property
    def stdout(self) -> IO[bytes]:
        """Its standard output, if that is a pipe."""
        assert self._process.stdout is not None
        return self._process.stdout

    @property
    def status(self) -> int | None:
        """Its exit status; negative if a signal ended it, None if it was still running at the last check."""
        return self._process.returncode

    @property
    def overdue(self) -> bool:
        """Whether the deadline has passed."""
        return time.monotonic() > self.deadline

    def ended(self, within: float = 0.0) -> bool:
        """Whether the process has ended, or ends within this many seconds."""
        try:
            self._process.wait(within)
        except subprocess.TimeoutExpired:
            return False
        self._let_go()
        return True

    def send(self, request: bytes) -> None:
        """Write a further request to standard input, without waiting for the child to read it."""
        self._requests.put(request)

    def end_input(self) -> None:
        """Tell the process that nobody waits for it any more. A child that does not listen keeps running."""
        self._requests.put(None)

    def kill(self) -> None:
        """End the process and those that it has started, unless it has already ended."""
        if self._process.poll() is None:
            others = descendants(self.pid)
            self._process.kill()
            for pid in others:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            self._process.wait()
        self._let_go()

    def _let_go(self) -> None:
        self._requests.put(None)
        self._writer.join()

    def _write(self, stream: IO[bytes]) -> None:
        # The process may end before it has read a whole request.
        with contextlib.suppress(OSError), stream:
            while (request := self._requests.get()) is not None:
                stream.write(request)
                stream.flush()


def child_environment() -> dict[str, str]:
    """The environment of this process, set so that a child imports the same modules in any working directory."""
    paths = os.pathsep.join(path for path in sys.path if isinstance(path, str) and path)
    return {**os.environ, "PYTHONPATH": paths, "PYTHONSAFEPATH": "1"}


def descendants(pid: int) -> list[int]:
    """The processes started by a process, and by those in turn; empty if the system does not provide this."""
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
    """In a child: reserve standard output for the answer. Anything printed from now on goes to standard error."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return answers


def requests_of_parent(when_over: Callable[[], object]) -> queue.SimpleQueue[bytes]:
    """In a child that gets several requests: their lines, as they come.

    When the parent is gone, the function is called from another thread, as by :func:`when_input_ends`.
    """
    lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()

    def listen() -> None:
        while line := sys.stdin.buffer.readline():
            lines.put(line)
        when_over()

    threading.Thread(target=listen, daemon=True).start()
    return lines


def when_input_ends(then: Callable[[], object]) -> None:
    """In a child that has read its request: call a function, from another thread, when the parent is gone.

    Such a child has to exit with ``os._exit``: a normal exit of the interpreter would wait for standard input.
    """

    def listen() -> None:
        sys.stdin.buffer.read()
        then()

    threading.Thread(target=listen, daemon=True).start()
