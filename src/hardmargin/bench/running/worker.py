"""A process that makes runs, one after the other, always on the same cores and with the same number of threads."""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Sequence
from typing import Any

from hardmargin.processes import WatchedProcess

# What the interpreter runs.
CHILD = ["-m", "hardmargin.bench.running.child"]

# Otherwise the libraries below numpy and scipy would start one thread per core of the machine.
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class Worker:
    """The process, and what it has said since its last task.

    Parameters
    ----------
    threads : int
        Threads of every run.
    """

    def __init__(self, threads: int) -> None:
        # Files accept all output, so nobody has to read while the process runs. They share their positions with the
        # process, so they are read without moving these.
        self._answers = tempfile.TemporaryFile()  # noqa: SIM115
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115
        # What it says before its first task belongs to that: it may end at once.
        self._starts = (0, 0)
        self._has_begun = False
        variables = dict.fromkeys(_THREAD_VARIABLES, str(threads))
        self.process = WatchedProcess(
            CHILD, b"", stdout=self._answers, stderr=self._complaints, variables=variables
        )

    def begin(self, task: dict[str, Any], cores: Sequence[int] | None, start_limit: float) -> None:
        """Give it a task, which must begin within some seconds."""
        if self._has_begun:
            self._starts = (_size(self._answers), _size(self._complaints))
        self._has_begun = True
        self.process.deadline = time.monotonic() + start_limit
        request = json.dumps({**task, "cores": None if cores is None else list(cores)}) + "\n"
        self.process.send(request.encode())

    @property
    def begun(self) -> bool:
        """Whether the solve has started."""
        return _size(self._answers) > self._starts[0]

    @property
    def answer(self) -> dict[str, Any] | None:
        """The complete answer to the task; None if there is none, or if it makes no sense."""
        lines = _content(self._answers, self._starts[0])
        if not lines.endswith(b"\n"):
            return None
        try:
            answer = json.loads(lines.splitlines()[-1])
        except ValueError:
            return None
        return answer if isinstance(answer, dict) and "peak_memory" in answer else None

    @property
    def complaint(self) -> str:
        """The last line that it wrote to standard error during the task; "" if there is none."""
        said = _content(self._complaints, self._starts[1]).decode("utf-8", "replace").strip().splitlines()
        return said[-1].strip() if said else ""

    def end(self) -> None:
        """End the process and those that it has started."""
        self.process.kill()
        for file in (self._answers, self._complaints):
            file.close()


def _size(file: Any) -> int:
    return os.fstat(file.fileno()).st_size


def _content(file: Any, start: int) -> bytes:
    return os.pread(file.fileno(), _size(file) - start, start)
