"""Runs on this machine, several at a time, each on its own cores."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable
from typing import Any

from hardmargin.bench.running.execution import RunOutcome, RunProcess
from hardmargin.bench.running.plan import Job
from hardmargin.bench.running.worker import Worker
from hardmargin.cores import available_cores
from hardmargin.processes import INTERVAL


class LocalRunner:
    """Makes runs on this machine.

    Parameters
    ----------
    jobs : int
        How many run at a time.
    threads : int
        Cores per run.

    Raises
    ------
    ValueError
        If there are not enough cores; sharing them would make the times meaningless.
    """

    def __init__(self, jobs: int, threads: int) -> None:
        cores = available_cores()
        if jobs < 1:
            raise ValueError(f"--jobs is {jobs}; expected a whole number >= 1.")
        if jobs * threads > len(cores):
            raise ValueError(
                f"--jobs {jobs} times --threads {threads} is {jobs * threads}, but there are {len(cores)} cores; "
                "runs that share a core would have no meaningful times. Lower one of them."
            )
        self.at_once = jobs
        self._places = [cores[k * threads : (k + 1) * threads] for k in range(jobs)]

    def close(self) -> None:
        """There is nothing to release."""

    def outcomes(
        self, jobs: Iterable[Job], task_of: Callable[[Job], dict[str, Any]]
    ) -> Generator[tuple[Job, RunOutcome], None, None]:
        """Make the runs, and yield each with its outcome as it ends; if this is stopped, all of them are ended."""
        waiting = iter(jobs)
        # Cores that are free, each with the process that the last run there has left, if any.
        free: list[tuple[list[int], Worker | None]] = [(place, None) for place in reversed(self._places)]
        running: list[tuple[Job, RunProcess, list[int]]] = []
        try:
            while True:
                while free and (job := next(waiting, None)) is not None:
                    # Ctrl-C may come at any time, so every process is always in one of the lists.
                    task, (place, worker) = task_of(job), free[-1]
                    running.append((job, RunProcess(task, place, worker), place))
                    free.pop()
                if not running:
                    return
                for entry in list(running):
                    job, process, place = entry
                    outcome = process.poll()
                    if outcome is not None:
                        free.append((place, process.pass_on()))
                        running.remove(entry)
                        yield job, outcome
                time.sleep(INTERVAL)
        finally:
            for _, process, _ in running:
                process.kill()
            for _, worker in free:
                if worker is not None:
                    worker.end()
