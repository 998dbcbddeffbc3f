"""Where the compiled searches run: in this process, or wherever else somebody has written an engine for."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from hardmargin import _core
from hardmargin.frontier import Frontier
from hardmargin.problem import Problem

_SEARCHES: Mapping[str, tuple[Callable[..., Any], type[Any]]] = {
    "packing": (_core.packing_search, _core.PackingOptions),
    "directions": (_core.direction_search, _core.DirectionOptions),
}


class Found(Protocol):
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
    kind : str
        "packing" or "directions".
    settings : dict
        The core's options by name.
    upper : float
        Only solutions that cost less are searched for.
    seconds : float
        After how many seconds to end, even in the middle of a subproblem.
    pause : float
        After how many seconds to end when the subproblems at work are done.
    keep_below : float
        Solutions that cost less than this are kept too: ``upper`` may be a target that none reaches.
    threads : int
        How many threads to use.
    memory : int
        Bytes of open subproblems before the search goes depth first.
    node_limit, work_limit : int
        After how many subproblems, and how many multiply-adds, to end; 0 means no limit.
    slice : int
        How many subproblems are looked at before the limits are.
    knowledge : object or None
        What the core has learnt in earlier searches over the same samples; this one adds to it. Not plain data: it
        stays in this process.
    """

    kind: str
    settings: Mapping[str, Any]
    upper: float
    seconds: float
    pause: float = math.inf
    keep_below: float = 0.0
    threads: int = 1
    memory: int = 2**30
    node_limit: int = 0
    work_limit: int = 0
    slice: int = 256
    knowledge: Any = None


#: ``observe(upper, lower, nodes)`` is called several times a second; False ends the search.
Observer = Callable[[float, float, int], bool]


class Engine(Protocol):
    """Runs searches."""

    def search(
        self, problem: Problem, frontier: Frontier | Found, search: Search, observe: Observer | None
    ) -> Found:
        """Search below a frontier, or go on where an earlier search of this engine has ended."""


class LocalEngine:
    """Runs searches in this process."""

    def search(
        self, problem: Problem, frontier: Frontier | Found, search: Search, observe: Observer | None
    ) -> Found:
        """See :class:`Engine`."""
        run, options_type = _SEARCHES[search.kind]
        options = options_type()
        for name, value in search.settings.items():
            setattr(options, name, value)
        if search.knowledge is not None:
            options.knowledge = search.knowledge
        limits = _core.SearchLimits()
        limits.threads = search.threads
        limits.memory = search.memory
        limits.pause = search.pause
        limits.keep_below = search.keep_below
        limits.node_limit = search.node_limit
        limits.work_limit = search.work_limit
        limits.slice = search.slice
        found: Found = run(
            problem.X, problem.y, problem.costs, frontier, search.upper, options, limits, search.seconds, observe
        )
        return found


def frontier_of(open_: Frontier | Found) -> Frontier:
    """What a search has left open, as plain data."""
    return open_ if isinstance(open_, Frontier) else Frontier(*open_.open)


def knowledge_of(problem: Problem) -> _core.PackingKnowledge:
    """What searches over the samples of a problem learn from each other, nothing so far."""
    return _core.PackingKnowledge(problem.X, problem.y, problem.costs)
