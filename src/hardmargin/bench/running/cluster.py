"""Runs on the workers of a Dask cluster, each in a separate process."""

from __future__ import annotations

import contextlib
import secrets
import shutil
import tempfile
import time
from collections.abc import Callable, Generator, Iterable
from pathlib import Path
from typing import Any

from hardmargin.bench.records.machine import utc_now
from hardmargin.bench.records.record import FAILED
from hardmargin.bench.running.execution import RunOutcome, RunProcess
from hardmargin.bench.running.leases import leased_cores
from hardmargin.bench.running.plan import Job
from hardmargin.cluster.connection import connected, local_workers
from hardmargin.cluster.waiting import within
from hardmargin.cores import available_cores
from hardmargin.processes import INTERVAL

_STOPPED = "the campaign has been stopped"
# Seconds to wait for workers after they are told that the campaign is over.
_ANSWER = 10.0
# Campaigns that were told to stop on this worker.
_stopped: set[str] = set()


class ClusterRunner:
    """Makes runs on a Dask cluster.

    Parameters
    ----------
    address : str
        The address of the scheduler; or "local", or "local:N", for N worker processes on this machine.
    threads : int
        Cores per run.

    Raises
    ------
    ImportError
        If Dask is not installed.
    ValueError
        If the cluster cannot be reached or has no workers.
    """

    def __init__(self, address: str, threads: int) -> None:
        self._campaign = secrets.token_hex(8)
        self._closing = contextlib.ExitStack()
        cores = len(available_cores())
        count = local_workers(address, max(1, cores // threads))
        if count is not None and count * threads > cores:
            raise ValueError(
                f"--cluster {address} times --threads {threads} is {count * threads}, "
                f"but there are {cores} cores; expected no more than these."
            )
        self._client = self._closing.enter_context(connected(address, count))
        workers = self._client.scheduler_info(n_workers=-1)["workers"]
        if not workers:
            self._closing.close()
            raise ValueError(f"the cluster at {address} has no workers; start some first.")
        self.at_once = sum(worker["nthreads"] for worker in workers.values())

    def outcomes(
        self, jobs: Iterable[Job], task_of: Callable[[Job], dict[str, Any]]
    ) -> Generator[tuple[Job, RunOutcome], None, None]:
        """Make the runs, and yield each with its outcome as it ends; if this is stopped, all of them are ended."""
        from distributed import as_completed

        waiting = iter(jobs)
        submitted: dict[Any, Job] = {}

        def submit_next() -> Any:
            job = next(waiting, None)
            if job is None:
                return None
            future = self._client.submit(run_on_worker, task_of(job), self._campaign, pure=False, retries=0)
            submitted[future] = job
            return future

        try:
            # One more than can run at once, so that no worker has to wait for the next.
            first = [future for _ in range(self.at_once + 1) if (future := submit_next()) is not None]
            completed = as_completed(first)
            for future in completed:
                yield submitted.pop(future), _outcome_of(future)
                if (following := submit_next()) is not None:
                    completed.add(following)
        finally:
            if submitted:
                # Workers may have received Ctrl-C too, and be gone.
                with contextlib.suppress(Exception):
                    within(_ANSWER, self._client.run, stop_on_worker, self._campaign)
                with contextlib.suppress(Exception):
                    within(_ANSWER, self._client.cancel, list(submitted))

    def close(self) -> None:
        """Leave the cluster; a local one is shut down."""
        with contextlib.suppress(Exception):
            within(_ANSWER, self._client.run, tidy_on_worker, self._campaign)
        self._closing.close()


def run_on_worker(task: dict[str, Any], campaign: str) -> RunOutcome:
    """Run a task on cores that no other run of the campaign uses on this machine."""

    def go_on() -> bool:
        return campaign not in _stopped

    with leased_cores(_lease_folder(campaign), task["threads"], go_on) as cores:
        if not go_on():
            raise RuntimeError(_STOPPED)
        process = RunProcess(task, cores)
        try:
            while (outcome := process.poll()) is None:
                if not go_on():
                    raise RuntimeError(_STOPPED)
                time.sleep(INTERVAL)
        finally:
            process.kill()
    return outcome


def stop_on_worker(campaign: str) -> None:
    """End the runs of a campaign on this worker, and start no more."""
    _stopped.add(campaign)


def tidy_on_worker(campaign: str) -> None:
    """Remove the files that the runs of a campaign have left on this worker's machine."""
    shutil.rmtree(_lease_folder(campaign), ignore_errors=True)


def _lease_folder(campaign: str) -> Path:
    return Path(tempfile.gettempdir()) / f"hardmargin-cores-{campaign}"


def _outcome_of(future: Any) -> RunOutcome:
    """What the worker returned; if the worker was lost, the run failed."""
    try:
        outcome: RunOutcome = future.result()
    except Exception as error:
        text = " ".join(str(error).split()) or type(error).__name__
        return RunOutcome(FAILED, None, f"lost on the cluster: {text}", 0.0, None, utc_now())
    return outcome
