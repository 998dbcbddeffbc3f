"""Branch and bound over hyperplane directions, bounded by matchings of conflicting pairs.

What a region is and why its bound holds is told in ``core/direction_tree.h``; ``core/tree_search.h`` has the queue
of open regions. This module gives the search its incumbent, whose direction is the middle of the face of the cube
that is searched first.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from hardmargin import _core
from hardmargin.bounds import Report
from hardmargin.methods import heuristic
from hardmargin.methods.base import Incumbent, Limits, require_positive
from hardmargin.methods.proof import Proof
from hardmargin.problem import Problem
from hardmargin.result import Result
from hardmargin.status import Status

# Regions of the first search; what it leaves open is worth a better incumbent: so many times the first effort.
_FIRST_NODES = 20_000
_LATER_EFFORT = 10.0
# Of the memory, what the threads may use together for the pairs; the rest is for open regions.
_PATH_SHARE = 0.5

# Face, sign, low and high corner, shortest and longest length, bound, and the objective it was derived under.
Region = tuple[int, float, list[float], list[float], float, float, float, float]


@dataclass(frozen=True)
class Options:
    """Settings of the search over hyperplane directions.

    Attributes
    ----------
    heuristic_effort : float
        Effort of the primal search that comes first, as in the method ``heuristic``; ten times that follows if
        the problem turns out to be hard.
    memory : float
        Gigabytes of open regions and of the pairs on the way to them; when the former outgrow their part, the
        search goes depth first.
    """

    heuristic_effort: float = 0.2
    memory: float = 4.0

    def __post_init__(self) -> None:
        require_positive(self, "heuristic_effort", "memory")


def run(
    problem: Problem, incumbent: Incumbent | None, limits: Limits, report: Report, options: Options | None = None
) -> Result:
    """Search for a hyperplane and prove it optimal; see :class:`hardmargin.methods.base.Method`."""
    options = options or Options()
    found = heuristic.run(problem, incumbent, limits, report, heuristic.Options(options.heuristic_effort))
    if found.gap <= limits.gap or found.status is not Status.HEURISTIC:
        return replace(found, method="directions")
    proof = _Proof(problem, found, limits, report, options)
    proof.search(_FIRST_NODES)
    if not (proof.finished or proof.complete):
        proof.improve(_LATER_EFFORT * options.heuristic_effort)
    if not (proof.finished or proof.complete):
        proof.search()
    return proof.result()


class _Proof(Proof):
    """A proof whose open regions are carried from one search to the next."""

    def __init__(self, problem: Problem, found: Result, limits: Limits, report: Report, options: Options) -> None:
        super().__init__(problem, found, limits, report, "directions")
        self.frontier: list[Region] = []
        self._options = _core.DirectionOptions()
        # Half of the gap asked for is left to rounding.
        self._options.gap = limits.gap / 2
        self._options.first_axis = [float(weight) for weight in self.coef]
        self._core_limits = _core.SearchLimits()
        self._core_limits.threads = limits.threads
        memory = options.memory * 2**30
        self._options.path_memory = int(_PATH_SHARE * memory / limits.threads)
        self._core_limits.memory = int((1 - _PATH_SHARE) * memory)
        self.complete = False

    def search(self, nodes: int | None = None) -> None:
        """Search the open regions, looking at so many of them and their parts at most."""
        self._core_limits.node_limit = self.nodes_allowed(nodes)
        found = _core.direction_search(
            self.problem.X,
            self.problem.y,
            self.problem.costs,
            self.frontier,
            self.objective,
            self._options,
            self._core_limits,
            self.limits.remaining(),
            self.observe,
        )
        self.add(found)
        # What a search leaves open that was not cut short cannot be closed: rounding is in the way.
        self.complete = nodes is None or found.nodes < nodes
        if not (self.finished or self.complete):
            # Only now: turning many regions into Python's objects takes seconds.
            self.frontier = found.open
