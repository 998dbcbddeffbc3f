"""One run in a separate process: pinned to its cores, and ended from outside if it exceeds a limit."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from hardmargin.bench.records.machine import machine, utc_now
from hardmargin.bench.records.record import FAILED, KILLED, MEMORY_LIMIT
from hardmargin.bench.running.memory import tree_memory
from hardmargin.bench.running.plan import Job
from hardmargin.bench.running.worker import Worker
from hardmargin.data import Dataset
from hardmargin.versions import installed_versions

# Seconds that a process has for its imports, which may be slow from a cold disk.
_START_LIMIT = 120.0
_LEAST_GRACE = 10.0
_GRACE_SHARE = 0.2


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
        Seconds from the start of the process, or from when a running one got the task, to the end.
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
    worker : Worker, optional
        One that an earlier run with the same cores and threads has left. Without it, a process is started.

    Attributes
    ----------
    begun : bool
        Whether the solve had started at the last check.
    """

    def __init__(self, task: dict[str, Any], cores: Sequence[int] | None, worker: Worker | None = None) -> None:
        self.begun = False
        self._limit = wall_limit(task["time_limit"])
        self._memory_limit: int | None = task["memory_limit"]
        self._peak: int | None = None
        self._started_at = utc_now()
        self._started = time.monotonic()
        if worker is not None and worker.process.ended():
            worker.end()
            worker = None
        self._worker = worker or Worker(task["threads"])
        self._passed_on = self._reusable = False
        self._worker.begin(task, cores, _START_LIMIT)

    @property
    def pid(self) -> int:
        """The process ID."""
        return self._worker.process.pid

    def poll(self) -> RunOutcome | None:
        """Check the process, and end it if it exceeds a limit; None while it runs."""
        process = self._worker.process
        if process.ended():
            return self._outcome(*self._ended(self._worker.answer))
        answer = self._worker.answer
        if answer is not None and answer.get("ready"):
            self._reusable = True
            return self._outcome(*self._ended(answer))
        used = tree_memory(self.pid)
        self._peak = max(filter(None, (self._peak, used)), default=None)
        if self._memory_limit is not None and used is not None and used > self._memory_limit:
            error = f"used {used / 1e9:.3g} GB of memory; {self._memory_limit / 1e9:.3g} GB were allowed"
            return self._outcome(MEMORY_LIMIT, None, error)
        if not self.begun and self._worker.begun:
            self.begun = True
            process.deadline = time.monotonic() + self._limit
        if process.overdue:
            if self.begun:
                return self._outcome(KILLED, None, f"did not end within {self._limit:g} s, time limit and grace")
            return self._outcome(KILLED, None, f"did not begin to solve within {_START_LIMIT:g} s")
        return None

    def pass_on(self) -> Worker | None:
        """After the outcome: the process, if it can take another task. The caller then has to end it."""
        if not self._reusable:
            return None
        self._passed_on = True
        return self._worker

    def kill(self) -> None:
        """End the process and those that it has started, unless it has been passed on."""
        if not self._passed_on:
            self._worker.end()

    def _ended(self, answer: dict[str, Any] | None) -> tuple[str | None, dict[str, Any] | None, str | None]:
        """Status, result and error of a run that has ended by itself."""
        if answer is None:
            complaint = self._worker.complaint
            last = f": {complaint}" if complaint else ""
            return FAILED, None, f"the process ended with status {self._worker.process.status}{last}"
        self._peak = max(filter(None, (self._peak, answer["peak_memory"])), default=None)
        if "result" in answer:
            return None, answer["result"], None
        return MEMORY_LIMIT if answer.get("out_of_memory") else FAILED, None, answer["error"]

    def _outcome(self, status: str | None, result: dict[str, Any] | None, error: str | None) -> RunOutcome:
        wall = time.monotonic() - self._started
        if not self._reusable:
            self._worker.end()
        return RunOutcome(status, result, error, wall, self._peak, self._started_at)
