"""Runs on the workers of a Dask cluster, each a process of its own there."""

from __future__ import annotations

import contextlib
import logging
import re
import secrets
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from pathlib import Path
from typing import Any

from hardmargin.bench.execution import INTERVAL, ChildProcess, Outcome, utc_now
from hardmargin.bench.leases import leased_cores
from hardmargin.bench.machine import available_cores
from hardmargin.bench.plan import Job
from hardmargin.bench.records import FAILED

_LOCAL = re.compile(r"local(?::(\d+))?")

# Seconds within which a scheduler must answer.
_CONNECT_SECONDS = 10

_STOPPED = "the campaign has been stopped"
# Campaigns that have been told to stop on this worker.
_stopped: set[str] = set()


class ClusterRuns:
    """Makes runs on a Dask cluster.

    Parameters
    ----------
    address : str
        That of the scheduler; or "local", or "local:N", for N worker processes on this machine.
    threads : int
        Cores of each run.

    Raises
    ------
    ImportError
        If Dask is not installed.
    ValueError
        If the cluster cannot be reached or has no workers.
    """

    def __init__(self, address: str, threads: int) -> None:
        try:
            import distributed
        except ImportError:
            raise ImportError("--cluster needs Dask; install 'hardmargin[cluster]'.") from None
        self._campaign = secrets.token_hex(8)
        self._closing = contextlib.ExitStack()
        try:
            self._client = self._closing.enter_context(self._connected(distributed, address, threads))
        except OSError as error:
            self._closing.close()
            raise ValueError(f"--cluster is {address!r}, which cannot be reached: {error}.") from None
        workers = self._client.scheduler_info(n_workers=-1)["workers"]
        if not workers:
            self._closing.close()
            raise ValueError(f"the cluster at {address} has no workers; start some first.")
        self.at_once = sum(worker["nthreads"] for worker in workers.values())

    def _connected(self, distributed: Any, address: str, threads: int) -> Any:
        if (local := _LOCAL.fullmatch(address)) is None:
            return distributed.Client(address, timeout=_CONNECT_SECONDS)
        count = int(local[1] or max(1, len(available_cores()) // threads))
        if not 1 <= count * threads <= len(available_cores()):
            raise ValueError(
                f"--cluster {address} times --threads {threads} is {count * threads}, "
                f"but there are {len(available_cores())} cores; expected no more than these."
            )
        with _deaf_to_ctrl_c():
            workers = distributed.LocalCluster(
                n_workers=count,
                threads_per_worker=1,
                processes=True,
                dashboard_address=None,
                silence_logs=logging.CRITICAL,
            )
        self._closing.enter_context(workers)
        return distributed.Client(workers)

    def outcomes(
        self, jobs: Iterable[Job], task_of: Callable[[Job], dict[str, Any]]
    ) -> Generator[tuple[Job, Outcome], None, None]:
        """Make the runs, and yield each with its outcome as it ends; whatever stops this ends them all."""
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
            # One more than can run at once, so that no worker waits for the next.
            first = [future for _ in range(self.at_once + 1) if (future := submit_next()) is not None]
            completed = as_completed(first)
            for future in completed:
                yield submitted.pop(future), _outcome_of(future)
                if (following := submit_next()) is not None:
                    completed.add(following)
        finally:
            if submitted:
                # Workers may have heard Ctrl-C too, and be gone.
                with contextlib.suppress(Exception):
                    self._client.run(stop_on_worker, self._campaign)
                    self._client.cancel(list(submitted))

    def close(self) -> None:
        """Leave the cluster; a local one ends."""
        with contextlib.suppress(Exception):
            self._client.run(tidy_on_worker, self._campaign)
        self._closing.close()


@contextlib.contextmanager
def _deaf_to_ctrl_c() -> Iterator[None]:
    """Processes that are started meanwhile do not hear Ctrl-C: it is for the campaign to end them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def run_on_worker(task: dict[str, Any], campaign: str) -> Outcome:
    """Run a task on cores that no other run of the campaign has on this machine."""

    def go_on() -> bool:
        return campaign not in _stopped

    with leased_cores(_lease_folder(campaign), task["threads"], go_on) as cores:
        if not go_on():
            raise RuntimeError(_STOPPED)
        process = ChildProcess(task, cores)
        try:
            while (outcome := process.poll()) is None:
                if not go_on():
                    raise RuntimeError(_STOPPED)
                time.sleep(INTERVAL)
        except BaseException:
            process.kill()
            raise
    return outcome


def stop_on_worker(campaign: str) -> None:
    """End the runs of a campaign on this worker, and let none begin."""
    _stopped.add(campaign)


def tidy_on_worker(campaign: str) -> None:
    """Remove what the runs of a campaign have left on this worker's machine."""
    shutil.rmtree(_lease_folder(campaign), ignore_errors=True)


def _lease_folder(campaign: str) -> Path:
    return Path(tempfile.gettempdir()) / f"hardmargin-cores-{campaign}"


def _outcome_of(future: Any) -> Outcome:
    """What the worker has returned; a worker that is lost is a run that failed."""
    try:
        outcome: Outcome = future.result()
    except Exception as error:
        text = " ".join(str(error).split()) or type(error).__name__
        return Outcome(FAILED, None, f"lost on the cluster: {text}", 0.0, None, utc_now())
    return outcome
