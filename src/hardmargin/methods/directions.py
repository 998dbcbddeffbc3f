"""Branch and bound over hyperplane directions, bounded by matchings of conflicting pairs.

What a region is and why its bound holds is told in ``core/direction_tree.h``; ``core/tree_search.h`` has the queue
of open regions. This module gives the search its incumbent, whose direction is the middle of the face of the cube
that is searched first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hardmargin import _core
from hardmargin.bounds import Report
from hardmargin.methods.base import Incumbent, Limits, require_positive
from hardmargin.methods.proof import Proof, completed, first_answer
from hardmargin.problem import Problem
from hardmargin.result import Result

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
    found, enough = first_answer(problem, incumbent, limits, report, options.heuristic_effort, "directions")
    return found if enough else completed(DirectionProof(problem, found, limits, report, options))


class DirectionProof(Proof):
    """A proof whose open regions are carried from one search to the next."""

    def __init__(self, problem: Problem, found: Result, limits: Limits, report: Report, options: Options) -> None:
        super().__init__(problem, found, limits, report, "directions")
        self._effort = _LATER_EFFORT * options.heuristic_effort
        self._open: list[Region] | _core.DirectionResult = []
        self._options = _core.DirectionOptions()
        # Half of the gap asked for is left to rounding.
        self._options.gap = limits.gap / 2
        self._options.first_axis = [float(weight) for weight in self.coef]
        self._core_limits = _core.SearchLimits()
        self._core_limits.threads = limits.threads
        memory = options.memory * 2**30
        self._options.path_memory = int(_PATH_SHARE * memory / limits.threads)
        self._core_limits.memory = int((1 - _PATH_SHARE) * memory)

    def steps(self) -> Iterator[None]:
        """See :class:`Proof`."""
        self.search(nodes=_FIRST_NODES)
        yield
        if not self.stuck:
            self.improve(self._effort)
        while not (self.finished or self.stuck):
            self.search(work=self.step_work)
            yield

    def search(self, nodes: int | None = None, work: int = 0) -> None:
        """Search the open regions, up to so many of them and their parts, or so much work."""
        self._core_limits.node_limit = self.nodes_allowed(nodes)
        self._core_limits.work_limit = work
        found = _core.direction_search(
            self.problem.X,
            self.problem.y,
            self.problem.costs,
            self._open,
            self.objective,
            self._options,
            self._core_limits,
            self.limits.remaining(),
            self.observe,
        )
        self.add(found)
        self._open = found
        # What a search leaves open that was not cut short cannot be closed: rounding is in the way.
        cut_short = (nodes is not None and found.nodes >= nodes) or (0 < work <= found.work)
        self.stuck = not cut_short and not self.finished
