"""The default: both exact methods, in turns that suit the problem, so that the caller need not choose.

The search over directions is far ahead with few features, the search over samples with many; in between either may
be. The one that is likely to be ahead starts, and has the problem almost to itself for a while, which is enough for
most; then the other one has its turns too. They share the best hyperplane and the best bound. Turns are counted in
work and not in seconds, so that one thread does the same every time.
"""

from __future__ import annotations

from dataclasses import dataclass

from hardmargin.bounds import Report
from hardmargin.incumbent import Incumbent
from hardmargin.limits import Limits
from hardmargin.methods import directions, packing
from hardmargin.methods.base import SMALLEST_GAP as SMALLEST_GAP
from hardmargin.methods.base import ProofOptions, require_positive
from hardmargin.problem import Problem
from hardmargin.result import Result
from hardmargin.search.context import Context
from hardmargin.search.portfolio import Member, prove
from hardmargin.search.proof import Proof

# Up to how many features the search over directions starts, and up to how many it takes part.
_FEW_FEATURES = 8
_SOME_FEATURES = 12
# With some more it starts if there are few samples, if many of them are given up (the more, the longer the search
# over samples takes), and if lengths hardly count (the less they do, the fewer regions there are).
_RATHER_FEW_FEATURES = 10
_FEW_SAMPLES = 250
_MANY_GIVEN_UP = 32
_LARGE_SHARE_GIVEN_UP = 0.16
_SMALL_SHARE_OF_NORM = 0.05
# Share of the work that the other method gets after a while. With few features the search over samples hardly ever
# overtakes the one over directions once its first turn is over; with rather few the one over directions often does
# overtake, if there are few samples, and nearly always if many of them are given up.
_SHARE_OF_SAMPLES = 0.12
_SHARE_OF_DIRECTIONS = 0.25
_LARGE_SHARE_OF_DIRECTIONS = 0.6
# Work that the first method does alone: about a minute on two cores, or half a minute where it is overtaken.
_HEAD_START = 400_000_000_000
_SHORT_HEAD_START = 200_000_000_000
# After this much of it, the search over samples has a short first turn: there it finds what is easy for it.
_FIRST_TRY = 30_000_000_000

HAS_FRONTIER = True


@dataclass(frozen=True)
class Options(ProofOptions):
    """Settings of the choice between methods, beside those of :class:`ProofOptions`, which are for all of them.

    Attributes
    ----------
    memory : float
        Gigabytes of open subproblems, of all methods together.
    """

    memory: float = 4.0

    def __post_init__(self) -> None:
        super().__post_init__()
        require_positive(self, "memory")


def run(
    problem: Problem,
    incumbent: Incumbent | None,
    limits: Limits,
    report: Report,
    options: Options | None = None,
    context: Context | None = None,
) -> Result:
    """Solve with the methods that suit the problem; see :class:`hardmargin.methods.base.Method`."""
    settings = options or Options()

    def members(found: Result) -> list[Member]:
        return _members(problem, found, limits, report, settings, context)

    return prove(problem, incumbent, limits, report, settings.heuristic_effort, "auto", members, context)


def _members(
    problem: Problem,
    found: Result,
    limits: Limits,
    report: Report,
    options: Options,
    context: Context | None = None,
) -> list[Member]:
    """The methods that take part, the one that starts first."""
    both = problem.m <= _SOME_FEATURES
    memory = options.memory / 2 if both else options.memory
    for_samples = packing.Options(memory=memory, **options.shared())
    samples = packing.PackingProof(problem, found, limits, report, for_samples, context)
    if not both:
        return [Member(samples)]
    for_regions = directions.Options(memory=memory, **options.shared())
    regions = directions.DirectionProof(problem, found, limits, report, for_regions, context)
    few = problem.m <= _FEW_FEATURES
    rather_few = problem.m <= _RATHER_FEW_FEATURES
    small = rather_few and problem.n <= _FEW_SAMPLES
    long = rather_few and _samples_take_long(problem, found)
    first: Proof = samples
    second: Proof = regions
    head_start = first_turn_after = _HEAD_START
    share = _LARGE_SHARE_OF_DIRECTIONS if small else _SHARE_OF_DIRECTIONS
    if few or (small and long):
        first, second, share = regions, samples, _SHARE_OF_SAMPLES
        # Where it will take long, the bound of the search over samples is wanted early.
        first_turn_after = _FIRST_TRY if few else 0
    elif long:
        head_start = first_turn_after = _SHORT_HEAD_START
        share = 1 - _SHARE_OF_SAMPLES
    # In the units of the other one, which gets its share while the first one does the work.
    handicap = share / (1 - share)
    other = Member(second, share, int(handicap * first_turn_after), int(handicap * head_start))
    return [Member(first, 1 - share), other]


def _samples_take_long(problem: Problem, found: Result) -> bool:
    """Whether the search over samples is likely to take longer than the one over directions."""
    norm = 0.5 * sum(weight * weight for weight in found.coef)
    many = max(_MANY_GIVEN_UP, _LARGE_SHARE_GIVEN_UP * problem.n)
    return found.n_violations >= many and norm <= _SMALL_SHARE_OF_NORM * found.objective
