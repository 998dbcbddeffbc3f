"""Runs a frontier on Dask: searches are cut into slices, which the workers of a cluster take.

``engine.py`` gives slices out and puts what comes back together, ``pool.py`` has the open subproblems meanwhile,
``worker.py`` is what runs on the workers, and ``connection.py`` finds them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from hardmargin.cluster.connection import connected
from hardmargin.methods.engine import Engine, LocalEngine


@contextlib.contextmanager
def opened_engine(cluster: Any) -> Iterator[Engine]:
    """The engine for ``solve(cluster=...)``: this process if that is None; see :func:`connection.connected`."""
    if cluster is None:
        yield LocalEngine()
        return
    with connected(cluster) as client:
        from hardmargin.cluster.engine import ClusterEngine

        engine = ClusterEngine(client)
        try:
            yield engine
        finally:
            engine.close()
