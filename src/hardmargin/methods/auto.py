"""The default: both exact methods, in turns that suit the problem, so that the caller need not choose.

The search over directions is far ahead with few features, the search over samples with many; in between either may
be. The one that is likely to be ahead starts, and has the problem almost to itself for a while, which is enough for
most; then the other one has its turns too. They share the best hyperplane and the best bound. Turns are counted in
work and not in seconds, so that one thread does the same every time.
"""

from __future__ import annotations

from dataclasses import dataclass

from hardmargin.bounds import Report
from hardmargin.methods import directions, packing
from hardmargin.methods.base import SMALLEST_GAP as SMALLEST_GAP
from hardmargin.methods.base import Incumbent, Limits, require_positive
from hardmargin.methods.proof import Proof
from hardmargin.methods.turns import Player, prove
from hardmargin.problem import Problem
from hardmargin.result import Result

# Up to how many features the search over directions starts, and up to how many it takes part.
_FEW_FEATURES = 8
_SOME_FEATURES = 12
# Share of the work that the other method gets after a while. With some features the search over directions may well
# be ahead; with few the one over samples hardly is, once its first try is over.
_SHARE_OF_DIRECTIONS = 0.25
_SHARE_OF_SAMPLES = 0.12
# Work that the first method does alone: about a minute on two cores.
_HEAD_START = 400_000_000_000
# After this much of it, the search over samples has its short first search: there it finds what is easy for it.
_FIRST_TRY = 30_000_000_000

HAS_FRONTIER = True


@dataclass(frozen=True)
class Options:
    """Settings of the choice between methods.

    Attributes
    ----------
    heuristic_effort : float
        Effort of the primal search that comes first, as in the method ``heuristic``; ten times that follows if
        the problem turns out to be hard.
    memory : float
        Gigabytes of open subproblems, of all methods together.
    """

    heuristic_effort: float = 0.2
    memory: float = 4.0

    def __post_init__(self) -> None:
        require_positive(self, "heuristic_effort", "memory")


def run(
    problem: Problem, incumbent: Incumbent | None, limits: Limits, report: Report, options: Options | None = None
) -> Result:
    """Solve with the methods that suit the problem; see :class:`hardmargin.methods.base.Method`."""
    settings = options or Options()

    def players(found: Result) -> list[Player]:
        return _players(problem, found, limits, report, settings)

    return prove(problem, incumbent, limits, report, settings.heuristic_effort, "auto", players)


def _players(problem: Problem, found: Result, limits: Limits, report: Report, options: Options) -> list[Player]:
    """The methods that take part, the one that starts first."""
    both = problem.m <= _SOME_FEATURES
    memory = options.memory / 2 if both else options.memory
    samples = packing.PackingProof(
        problem, found, limits, report, packing.Options(options.heuristic_effort, memory=memory)
    )
    if not both:
        return [Player(samples)]
    regions = directions.DirectionProof(
        problem, found, limits, report, directions.Options(options.heuristic_effort, memory)
    )
    few = problem.m <= _FEW_FEATURES
    first: Proof
    second: Proof
    first, second = (regions, samples) if few else (samples, regions)
    share = _SHARE_OF_SAMPLES if few else _SHARE_OF_DIRECTIONS
    # In the units of the other one, which gets its share while the first one does this work.
    head_start, first_try = (int(share / (1 - share) * work) for work in (_HEAD_START, _FIRST_TRY))
    other = Player(second, share, first_try if few else head_start, head_start)
    return [Player(first, 1 - share), other]
