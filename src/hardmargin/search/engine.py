"""Where the core's searches run: in this process, or where another engine runs them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

from hardmargin import _core
from hardmargin.frontier import Frontier
from hardmargin.problem import Problem
from hardmargin.search.settings import PackingSettings, Settings
from hardmargin.search.tasks import Batch, run_here

_LIMITS = _core.SearchLimits()


class SearchResult(Protocol):
    """What a search found, proved and left open."""

    @property
    def weights(self) -> list[float]: ...
    @property
    def bias(self) -> float: ...
    @property
    def objective(self) -> float: ...
    @property
    def upper(self) -> float: ...
    @property
    def lower_bound(self) -> float: ...
    @property
    def nodes(self) -> int: ...
    @property
    def work(self) -> int: ...
    @property
    def exhausted(self) -> bool: ...
    @property
    def open(self) -> tuple[Any, Any, Any]: ...
    @property
    def outcome(self) -> Any: ...


@dataclass(frozen=True)
class Search:
    """A search that an engine runs, as plain data.

    Attributes
    ----------
    settings : PackingSettings or DirectionSettings
        Which search it is, and how it works.
    upper : float
        Only solutions that cost less are searched for.
    seconds : float
        Time limit, also in the middle of a subproblem.
    pause : float
        Time limit that lets the current subproblems finish first.
    keep_below : float
        Solutions that cost less than this are kept too: ``upper`` may be a target that no solution reaches.
    threads : int
        Number of threads.
    memory : int
        Bytes of open subproblems before the search goes depth first.
    node_limit, work_limit : int
        Number of subproblems and of multiply-adds after which to end; 0 means no limit.
    slice : int
        Subproblems that a thread searches before it checks the limits.
    knowledge : PackingKnowledge or None
        For a search over samples: what the core has learnt in earlier searches over the same ones; this one adds to
        it. Not plain data: it stays in this process.
    proof : ProofSink or None
        Where records of a proof are written. Not plain data either.
    proof_number : int
        The number of a root in it.
    """

    settings: Settings
    upper: float
    seconds: float
    pause: float = _LIMITS.pause
    keep_below: float = _LIMITS.keep_below
    threads: int = _LIMITS.threads
    memory: int = _LIMITS.memory
    node_limit: int = _LIMITS.node_limit
    work_limit: int = _LIMITS.work_limit
    slice: int = _LIMITS.slice
    knowledge: _core.PackingKnowledge | None = None
    proof: _core.ProofSink | None = None
    proof_number: int = 0

    def limits(self) -> _core.SearchLimits:
        """The limits in the form of the core."""
        limits = _core.SearchLimits()
        limits.pause = self.pause
        limits.keep_below = self.keep_below
        limits.threads = self.threads
        limits.memory = self.memory
        limits.node_limit = self.node_limit
        limits.work_limit = self.work_limit
        limits.slice = self.slice
        return limits


#: ``observe(upper, lower, nodes)`` is called several times per second; False ends the search.
Observer = Callable[[float, float, int], bool]


class Engine(Protocol):
    """Runs searches, and batches of independent tasks."""

    #: Whether tasks can write files that this process reads.
    shares_files: bool

    def search(
        self, problem: Problem, frontier: Frontier | SearchResult, search: Search, observe: Observer | None
    ) -> SearchResult:
        """Search below a frontier, or continue where an earlier search of this engine has ended.

        Raises
        ------
        ValueError
            If nothing is open there.
        """

    def run_tasks(self, batch: Batch) -> None:
        """Run tasks side by side, and hand over their answers."""


class LocalEngine:
    """Runs searches and tasks in this process."""

    shares_files = True

    def search(
        self, problem: Problem, frontier: Frontier | SearchResult, search: Search, observe: Observer | None
    ) -> SearchResult:
        """See :class:`Engine`."""
        samples = (problem.X, problem.y, problem.costs)
        # Its own result or three arrays, as the core wants them.
        start = cast("Any", frontier)
        ends = (search.limits(), search.seconds, observe)
        if isinstance(search.settings, PackingSettings):
            packing = search.settings.options(search.knowledge, search.proof, search.proof_number)
            return _core.packing_search(*samples, start, search.upper, packing, *ends, problem.core_bounds)
        directions = search.settings.options(search.proof)
        return _core.direction_search(*samples, start, search.upper, directions, *ends, problem.core_bounds)

    def run_tasks(self, batch: Batch) -> None:
        """See :class:`Engine`."""
        run_here(batch)


def frontier_of(open_: Frontier | SearchResult) -> Frontier:
    """What a search has left open, as plain data; empty if nothing is."""
    return open_ if isinstance(open_, Frontier) else Frontier(*open_.open)


def plain_open(open_: Frontier | SearchResult | None) -> Frontier | None:
    """What is open, for a state; None if no search is under way, so that the next one begins with a root."""
    frontier = Frontier.empty() if open_ is None else frontier_of(open_)
    return frontier if frontier.size else None


def restored_open(value: Sequence[Any] | None) -> Frontier | None:
    """The inverse of :func:`plain_open`, for a state that was read from a file."""
    return None if value is None else Frontier(*value)


def numbers_of(open_: Frontier | SearchResult | None) -> list[int]:
    """The numbers of open subproblems in the records of a proof; 0 for those of a root."""
    if open_ is None:
        return []
    # A result of the core, or of a cluster.
    return [0] * open_.size if isinstance(open_, Frontier) else cast("Any", open_).proof_numbers


def numbered(problem: Problem, kind: str, frontier: Frontier, numbers: list[int]) -> SearchResult:
    """What a search of an earlier run has left open, with the numbers that it has in the records of a proof."""
    resumed = _core.packing_resumed if kind == "packing" else _core.direction_resumed
    start = cast("Any", frontier)
    return resumed(problem.X, problem.y, problem.costs, start, numbers, problem.core_bounds)


def knowledge_of(problem: Problem, *, keeps_certificates: bool = False) -> _core.PackingKnowledge:
    """What searches over the samples of a problem learn from each other, nothing so far.

    Proofs in files need the certificates of what is learnt.
    """
    samples = (problem.X, problem.y, problem.costs)
    return _core.PackingKnowledge(*samples, problem.core_bounds, keeps_certificates)
