"""Runs a frontier on Dask: searches are cut into slices, which the workers of a cluster run.

``engine.py`` runs searches, ``spread.py`` distributes the slices of a search and combines their results,
``pool.py`` holds the open subproblems meanwhile, and ``worker.py`` runs on the workers. ``connection.py`` opens and
closes the cluster, ``link.py`` makes the calls to it, and ``waiting.py`` bounds calls that may never return.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from hardmargin.cluster.connection import Connection
from hardmargin.cluster.waiting import CLOCK
from hardmargin.search.engine import Engine, LocalEngine


@contextlib.contextmanager
def opened_engine(cluster: Any) -> Iterator[Engine]:
    """The engine for ``solve(cluster=...)``: this process if that is None; see :class:`connection.Connection`."""
    if cluster is None:
        yield LocalEngine()
        return
    connection = Connection(cluster)
    from hardmargin.cluster.engine import ClusterEngine

    engine = ClusterEngine(connection.client)
    try:
        yield engine
    finally:
        leave_by = engine.leave_by()
        engine.close(leave_by)
        connection.close(leave_by - CLOCK.now())
