"""Runs searches on a cluster, small ones in this process and the others spread over the workers, and tasks."""

from __future__ import annotations

import uuid
import warnings
from typing import Any

from hardmargin.cluster.link import Link
from hardmargin.cluster.records import search_here, with_numbers
from hardmargin.cluster.spread import Spread
from hardmargin.cluster.spread_batch import SpreadBatch
from hardmargin.cluster.waiting import CLOCK, Clock
from hardmargin.cluster.worker import ProblemOnWorkers
from hardmargin.frontier import Frontier
from hardmargin.problem import Problem
from hardmargin.search.engine import LocalEngine, Observer, Search, SearchResult, frontier_of
from hardmargin.search.tasks import Batch

# A search of at most this many subproblems runs in this process.
_FEW_NODES = 5000
# Seconds for leaving the cluster; fewer after the deadline, because a time limit is kept to within a second.
_LEAVING = 3.0
_LEFT_AFTER = 0.6
_LEAVING_AT_ONCE = 0.4


class ClusterEngine:
    """Runs searches on the workers of a cluster.

    Parameters
    ----------
    client : distributed.Client
    clock : Clock
    """

    shares_files = False

    def __init__(self, client: Any, clock: Clock = CLOCK) -> None:
        self._link = Link(client, clock)
        self._clock = clock
        self._local = LocalEngine()
        self._solve = f"hardmargin-{uuid.uuid4().hex}"
        self._deadline: float | None = None
        self._warned: set[str] = set()

    def search(
        self, problem: Problem, frontier: Frontier | SearchResult, search: Search, observe: Observer | None
    ) -> SearchResult:
        """See :class:`hardmargin.search.engine.Engine`."""
        self._deadline = self._clock.now() + search.seconds
        recorded = search.proof is not None
        open_ = with_numbers(frontier, search) if recorded else frontier_of(frontier)
        open_.required()
        if 0 < search.node_limit <= _FEW_NODES:
            run = search_here if recorded else self._local.search
            return run(problem, open_, search, observe)
        if not self._link.has(problem):
            self._link.hand_out(ProblemOnWorkers(self._solve, problem, recorded=recorded))
        with Spread(self._link, self._clock, self._solve, problem, open_, search, observe, self._warn) as spread:
            return spread.run()

    def run_tasks(self, batch: Batch) -> None:
        """See :class:`hardmargin.search.engine.Engine`."""
        self._deadline = self._clock.now() + batch.seconds
        if not self._link.joined:
            # Tasks bring all they need.
            self._link.hand_out(ProblemOnWorkers(self._solve, None))
        SpreadBatch(self._link, self._clock, self._solve, batch, self._warn).run()

    def leave_by(self) -> float:
        """Until when the caller may wait for the cluster when leaving it; no waiting if the cluster is lost."""
        now = self._clock.now()
        if self._link.lost:
            return now
        latest = now + _LEAVING_AT_ONCE if self._deadline is None else self._deadline + _LEFT_AFTER
        return max(now, min(now + _LEAVING, latest))

    def close(self, leave_by: float | None = None) -> None:
        """Remove the problem from the workers, if they are still there."""
        self._link.close((self.leave_by() if leave_by is None else leave_by) - self._clock.now())

    def _warn(self, kind: str, message: str) -> None:
        """Warn, once per solve and kind."""
        if kind not in self._warned:
            self._warned.add(kind)
            warnings.warn(message, RuntimeWarning, stacklevel=2)
