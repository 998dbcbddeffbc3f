"""The way to a Dask cluster: an address, processes on this machine, or a client that the caller has."""

from __future__ import annotations

import contextlib
import logging
import queue
import re
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any

from hardmargin.cores import available_cores
from hardmargin.extras import how_to_install

_LOCAL = re.compile(r"local(?::(?P<count>[1-9]\d*))?")
# Seconds within which a scheduler must answer.
_TIMEOUT = 10
# Seconds that are spent on taking leave.
_FAREWELL = 3
_EXPECTED = (
    "expected the address of a Dask scheduler (tcp://host:port), local or local:N for N processes on this machine, "
    "or a distributed.Client"
)


def local_workers(cluster: Any, default: int | None = None) -> int | None:
    """N of ``"local:N"``, the default for ``"local"``, and None for a cluster that is not to be started here."""
    found = _LOCAL.fullmatch(cluster) if isinstance(cluster, str) else None
    if found is None:
        return None
    return int(found["count"]) if found["count"] is not None else default or len(available_cores())


@contextlib.contextmanager
def connected(cluster: Any, default_workers: int | None = None) -> Iterator[Any]:
    """A client of a cluster; what is started here ends with the block.

    Parameters
    ----------
    cluster : str or distributed.Client
    default_workers : int, optional
        How many processes ``"local"`` means; as many as there are cores if not given.

    Raises
    ------
    ValueError
        If it names no cluster, or none that answers.
    ImportError
        If Dask is not installed.
    """
    try:
        import distributed
    except ImportError:
        raise ImportError(f"cluster needs Dask; {how_to_install('cluster')}.") from None
    if isinstance(cluster, distributed.Client):
        yield cluster
        return
    count = local_workers(cluster, default_workers)
    if count is None and (not isinstance(cluster, str) or not re.match(r"[a-z]+://|[^:]+:\d+$", cluster)):
        raise ValueError(f"cluster is {cluster!r}; {_EXPECTED}.")
    with contextlib.ExitStack() as closing:
        if count is not None:
            with _deaf_to_ctrl_c():
                workers = distributed.LocalCluster(
                    n_workers=count,
                    threads_per_worker=1,
                    processes=True,
                    dashboard_address=None,
                    memory_limit=0,
                    silence_logs=logging.CRITICAL,
                )
            closing.enter_context(workers)
        try:
            address = cluster if count is None else workers
            client = distributed.Client(address, timeout=_TIMEOUT)
        except (OSError, ValueError) as error:
            raise ValueError(
                f"cluster is {cluster!r}, where no scheduler answers ({error}); {_EXPECTED}."
            ) from error
        # Not left to the client: one whose scheduler is gone would wait for it for long.
        closing.callback(_close, client)
        yield client


def within(seconds: float, call: Callable[..., Any], *arguments: Any) -> Any:
    """Call something that may never return.

    Raises
    ------
    TimeoutError
        If it has not returned after so many seconds; it is left to itself then.
    """
    answers: queue.SimpleQueue[tuple[bool, Any]] = queue.SimpleQueue()

    def run() -> None:
        try:
            answers.put((True, call(*arguments)))
        except BaseException as error:
            answers.put((False, error))

    threading.Thread(target=run, daemon=True).start()
    try:
        returned, value = answers.get(timeout=seconds)
    except queue.Empty:
        raise TimeoutError(f"no answer within {seconds:g} s") from None
    if not returned:
        raise value
    return value


def _close(client: Any) -> None:
    with contextlib.suppress(Exception):
        within(_FAREWELL, client.close)


@contextlib.contextmanager
def _deaf_to_ctrl_c() -> Iterator[None]:
    """Processes that are started meanwhile do not hear Ctrl-C: it is for this one to end them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
