"""One run in a separate process: pinned to its cores, and ended from outside if it exceeds a limit."""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import IO, Any

from hardmargin.bench.records.machine import machine, utc_now
from hardmargin.bench.records.record import FAILED, KILLED, MEMORY_LIMIT
from hardmargin.bench.running.memory import tree_memory
from hardmargin.bench.running.plan import Job
from hardmargin.data import Dataset
from hardmargin.processes import WatchedProcess
from hardmargin.versions import installed_versions

# What the interpreter runs.
CHILD = ["-m", "hardmargin.bench.running.child"]

# Seconds that a process has for its imports, which may be slow from a cold disk.
_START_LIMIT = 120.0
_LEAST_GRACE = 10.0
_GRACE_SHARE = 0.2
# Otherwise the libraries below numpy and scipy would start one thread per core of the machine.
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True)
class RunOutcome:
    """How a run ended.

    Attributes
    ----------
    status : str or None
        "failed", "memory_limit" or "killed"; None if there is a result.
    result : dict or None
        The result, not checked yet.
    error : str or None
        Why there is no result.
    wall : float
        Seconds from start to end of the process.
    peak_memory : int or None
        Bytes.
    started : str
        UTC, in ISO 8601.
    machine, versions : dict
    """

    status: str | None
    result: dict[str, Any] | None
    error: str | None
    wall: float
    peak_memory: int | None
    started: str
    machine: dict[str, Any] = field(default_factory=machine)
    versions: dict[str, Any] = field(default_factory=installed_versions)


def task_of(job: Job, dataset: Dataset) -> dict[str, Any]:
    """All that a process needs to run a job: plain data, including the samples, so that it can run anywhere."""
    return {
        "X": dataset.X.tolist(),
        "y": dataset.y.tolist(),
        "C": job.C,
        "method": job.method,
        # Where the functions of other people are searched for.
        "folder": os.getcwd(),
        "options": job.options,
        "seed": job.seed,
        "time_limit": job.limits.time_limit,
        "gap": job.limits.gap,
        "threads": job.limits.threads,
        "memory_limit": job.limits.memory_limit,
    }


def wall_limit(time_limit: float) -> float:
    """Seconds of solving after which a process is ended in any case: the time limit and some extra time.

    Examples
    --------
    >>> wall_limit(5.0), wall_limit(600.0)
    (15.0, 720.0)
    """
    return time_limit + max(_LEAST_GRACE, _GRACE_SHARE * time_limit)


class RunProcess:
    """A running task.

    Parameters
    ----------
    task : dict
        As :func:`task_of` makes it.
    cores : sequence of int or None
        The cores to be pinned to.

    Attributes
    ----------
    begun : bool
        Whether the solve had started at the last check.
    """

    def __init__(self, task: dict[str, Any], cores: Sequence[int] | None) -> None:
        self.begun = False
        self._limit = wall_limit(task["time_limit"])
        self._memory_limit: int | None = task["memory_limit"]
        self._peak: int | None = None
        self._started_at = utc_now()
        self._started = time.monotonic()
        # Files accept all output, so nobody has to read while the process runs.
        self._answer = tempfile.TemporaryFile()  # noqa: SIM115
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115
        request = json.dumps({**task, "cores": None if cores is None else list(cores)}) + "\n"
        self._process = WatchedProcess(
            CHILD,
            request.encode(),
            stdout=self._answer,
            stderr=self._complaints,
            variables=dict.fromkeys(_THREAD_VARIABLES, str(task["threads"])),
            deadline=self._started + _START_LIMIT,
        )

    @property
    def pid(self) -> int:
        """The process ID."""
        return self._process.pid

    def poll(self) -> RunOutcome | None:
        """Check the process, and end it if it exceeds a limit; None while it runs."""
        if self._process.ended():
            return self._outcome(*self._ended())
        used = tree_memory(self.pid)
        self._peak = max(filter(None, (self._peak, used)), default=None)
        if self._memory_limit is not None and used is not None and used > self._memory_limit:
            self.kill()
            error = f"used {used / 1e9:.3g} GB of memory; {self._memory_limit / 1e9:.3g} GB were allowed"
            return self._outcome(MEMORY_LIMIT, None, error)
        if not self.begun and os.fstat(self._answer.fileno()).st_size > 0:
            self.begun = True
            self._process.deadline = time.monotonic() + self._limit
        if self._process.overdue:
            self.kill()
            if self.begun:
                return self._outcome(KILLED, None, f"did not end within {self._limit:g} s, time limit and grace")
            return self._outcome(KILLED, None, f"did not begin to solve within {_START_LIMIT:g} s")
        return None

    def kill(self) -> None:
        """End the process and those that it has started."""
        self._process.kill()

    def _ended(self) -> tuple[str | None, dict[str, Any] | None, str | None]:
        """Status, result and error of a process that has ended by itself."""
        try:
            answer = json.loads(_content(self._answer).splitlines()[-1])
            peak = answer["peak_memory"]
        except (ValueError, IndexError, KeyError):
            said = _content(self._complaints).decode("utf-8", "replace").strip().splitlines()
            last = f": {said[-1].strip()}" if said else ""
            return FAILED, None, f"the process ended with status {self._process.status}{last}"
        self._peak = max(filter(None, (self._peak, peak)), default=None)
        if "result" in answer:
            return None, answer["result"], None
        return MEMORY_LIMIT if answer.get("out_of_memory") else FAILED, None, answer["error"]

    def _outcome(self, status: str | None, result: dict[str, Any] | None, error: str | None) -> RunOutcome:
        wall = time.monotonic() - self._started
        for stream in (self._answer, self._complaints):
            stream.close()
        return RunOutcome(status, result, error, wall, self._peak, self._started_at)


def _content(file: IO[bytes]) -> bytes:
    file.seek(0)
    return file.read()
