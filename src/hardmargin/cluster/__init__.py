"""Runs a frontier on Dask: searches are cut into slices, which the workers of a cluster take.

``engine.py`` gives slices out and puts what comes back together, ``pool.py`` has the open subproblems meanwhile,
and ``worker.py`` is what runs on the workers.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from hardmargin.methods.engine import Engine, LocalEngine

_LOCAL = "local"
# Seconds that a scheduler has to answer.
_TIMEOUT = 10
_EXPECTED = (
    "expected the address of a Dask scheduler (tcp://host:port), local or local:N for N processes on this machine, "
    "or a distributed.Client"
)


@contextlib.contextmanager
def opened_engine(cluster: Any) -> Iterator[Engine]:
    """The engine for ``solve(cluster=...)``: this process if that is None.

    Raises
    ------
    ValueError
        If it names no cluster, or none that answers.
    ImportError
        If Dask is not installed.
    """
    if cluster is None:
        yield LocalEngine()
        return
    with _client(cluster) as client:
        from hardmargin.cluster.engine import ClusterEngine

        engine = ClusterEngine(client)
        try:
            yield engine
        finally:
            engine.close()


@contextlib.contextmanager
def _client(cluster: Any) -> Iterator[Any]:
    distributed = _distributed()
    if isinstance(cluster, distributed.Client):
        yield cluster
        return
    if not isinstance(cluster, str) or not cluster:
        raise ValueError(f"cluster is {cluster!r}; {_EXPECTED}.")
    if cluster.split(":")[0] == _LOCAL:
        with (
            distributed.LocalCluster(
                n_workers=_worker_count(cluster),
                threads_per_worker=1,
                processes=True,
                dashboard_address=None,
                memory_limit=0,
            ) as started,
            distributed.Client(started) as client,
        ):
            yield client
        return
    try:
        client = distributed.Client(cluster, timeout=_TIMEOUT)
    except (OSError, ValueError) as error:
        raise ValueError(f"cluster is {cluster!r}, where no scheduler answers ({error}); {_EXPECTED}.") from error
    with client:
        yield client


def _worker_count(cluster: str) -> int | None:
    """N of ``local:N``; None, one a core, for ``local``."""
    _, colon, count = cluster.partition(":")
    if not colon:
        return None
    if not count.isdigit() or int(count) < 1:
        raise ValueError(f"cluster is {cluster!r}; {_EXPECTED}.")
    return int(count)


def _distributed() -> Any:
    try:
        import distributed
    except ImportError as error:
        raise ImportError("cluster needs Dask; install it with: pip install 'hardmargin[cluster]'") from error
    return distributed
