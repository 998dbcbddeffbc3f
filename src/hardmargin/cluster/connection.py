"""The connection to a Dask cluster: an address, processes on this machine, or the caller's own client."""

from __future__ import annotations

import atexit
import contextlib
import logging
import re
import signal
import threading
from collections.abc import Iterator
from typing import Any

from hardmargin.cluster.waiting import CLOCK, Clock, within
from hardmargin.cores import available_cores
from hardmargin.extras import how_to_install

_LOCAL = re.compile(r"local(?::(?P<count>.*))?", re.DOTALL)
_COUNT = re.compile(r"[1-9][0-9]*")
# How many processes may be started here: somewhat more than there are cores, because they may wait for each other.
_WORKERS_PER_CORE = 4
_MOST_WORKERS = 64
_MOST_DIGITS = 6
_ADDRESS = re.compile(r"[a-z]+://.+|[^:]+:[0-9]+")
# Seconds within which a scheduler must answer, and some more for a client that does not keep to them.
_TIMEOUT = 10.0
_MARGIN = 2.0
# Seconds for closing the connection if there is no time limit.
_LEAVING = 10.0
_EXPECTED = (
    "expected the address of a Dask scheduler (tcp://host:port), local or local:N for N processes on this machine, "
    "or a distributed.Client"
)


def local_workers(cluster: Any, default: int | None = None) -> int | None:
    """N of ``"local:N"``, the default for ``"local"``, and None for a cluster that is not started here.

    Raises
    ------
    ValueError
        If N is not a valid number of processes.

    Examples
    --------
    >>> local_workers("local:3"), local_workers("local", 2), local_workers("tcp://127.0.0.1:8786")
    (3, 2, None)
    """
    found = _LOCAL.fullmatch(cluster) if isinstance(cluster, str) else None
    if found is None:
        return None
    if found["count"] is None:
        return default or len(available_cores())
    if not _COUNT.fullmatch(found["count"]):
        raise ValueError(
            f"cluster is {cluster!r}; expected local:N with a whole number N >= 1 of processes on this machine, or "
            "local for as many as there are cores."
        )
    # A number of a thousand digits is too large in any case, and not worth converting.
    most = max(_MOST_WORKERS, _WORKERS_PER_CORE * len(available_cores()))
    if len(found["count"]) > _MOST_DIGITS or int(found["count"]) > most:
        raise ValueError(
            f"cluster is {cluster[:40]!r}; expected at most {most} processes on this machine, because more than "
            "one per core do not search faster."
        )
    return int(found["count"])


class Connection:
    """A client of a cluster, and what has to be closed with it.

    Parameters
    ----------
    cluster : str or distributed.Client
    default_workers : int, optional
        How many processes ``"local"`` means; one per core if not given.

    Attributes
    ----------
    client : distributed.Client

    Raises
    ------
    ValueError
        If it does not name a cluster, or the cluster does not answer or cannot be started.
    ImportError
        If Dask is not installed.
    """

    def __init__(self, cluster: Any, default_workers: int | None = None) -> None:
        try:
            import distributed
        except ImportError:
            raise ImportError(f"cluster needs Dask; {how_to_install('cluster')}.") from None
        # In the order in which they are closed.
        self._own: list[Any] = []
        self._has_processes = False
        if isinstance(cluster, distributed.Client):
            self.client = cluster
            return
        count = local_workers(cluster, default_workers)
        if count is None and (not isinstance(cluster, str) or not _ADDRESS.fullmatch(cluster)):
            raise ValueError(f"cluster is {cluster!r}; {_EXPECTED}.")
        if count is not None:
            self._own = [_started(cluster, count)]
            self._has_processes = True
        try:
            self.client = _client_of(cluster if count is None else self._own[0], cluster)
        except BaseException:
            self.close(_LEAVING)
            raise
        self._own.insert(0, self.client)

    def close(self, seconds: float, clock: Clock = CLOCK) -> None:
        """Close what was opened here. Wait at most this many seconds; the rest happens in the background."""
        own, self._own = self._own, []
        if not own:
            return
        closed = threading.Event()

        def close() -> None:
            for each in own:
                with contextlib.suppress(Exception), _quiet_client():
                    each.close()
            closed.set()

        try:
            within(seconds, close, clock=clock)
        except TimeoutError:
            if self._has_processes:
                # Those that are still ending must not also be ended by Dask, as it does when this process ends.
                atexit.register(closed.wait, _LEAVING)


@contextlib.contextmanager
def connected(cluster: Any, default_workers: int | None = None) -> Iterator[Any]:
    """A client of a cluster; what is started here ends with the block. See :class:`Connection`."""
    connection = Connection(cluster, default_workers)
    try:
        yield connection.client
    finally:
        connection.close(_LEAVING)


def _started(cluster: str, count: int) -> Any:
    """Processes on this machine."""
    import distributed

    try:
        with _deaf_to_ctrl_c():
            return distributed.LocalCluster(
                n_workers=count,
                threads_per_worker=1,
                processes=True,
                dashboard_address=None,
                # Any free port, because several clusters would complain about sharing the default one.
                scheduler_kwargs={"dashboard_address": ":0"},
                memory_limit=0,
                silence_logs=logging.CRITICAL,
            )
    except Exception as error:
        raise ValueError(
            f"cluster is {cluster!r}, but its worker processes could not be started on this machine "
            f"({_reason(error)}). In a script, make the call under if __name__ == '__main__', because the "
            "processes import the script. Otherwise ask for fewer processes, raise the limits on processes and "
            "open files, or leave cluster out."
        ) from error


def _client_of(address: Any, cluster: str) -> Any:
    import distributed

    def client() -> Any:
        return distributed.Client(address, timeout=_TIMEOUT)

    try:
        # A frozen scheduler accepts the connection and never answers, so the client would wait for ever.
        return within(_TIMEOUT + _MARGIN, client)
    except (OSError, ValueError, MemoryError, OverflowError) as error:
        # Another kind of server answers with bytes that the client reads as a huge length.
        raise ValueError(f"cluster is {cluster!r}, where no scheduler answers ({error}); {_EXPECTED}.") from error


def _reason(error: BaseException) -> str:
    """The first cause of an error: Dask says only that a process did not start."""
    while (cause := error.__cause__ or error.__context__) is not None:
        error = cause
    said = " ".join(str(error).split())
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


@contextlib.contextmanager
def _quiet_client() -> Iterator[None]:
    """Dask logs a traceback if a client is closed while it looks for a scheduler that is gone."""
    logger = logging.getLogger("distributed.client")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(before)


@contextlib.contextmanager
def _deaf_to_ctrl_c() -> Iterator[None]:
    """Processes that are started meanwhile ignore Ctrl-C: this process ends them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
