"""The default: the exact methods and blocks, taking turns as suits the problem, so that the caller need not choose.

The search over directions is far ahead with few features, the search over samples with many; in between either one
may be. The method that is likely to be ahead by the numbers of features and samples starts, and works alone for a
while, which is enough for most problems. Then the other one gets turns too. As soon as both can forecast how much
work they will need (:meth:`hardmargin.search.proof.Proof.remaining_work`), they share the work accordingly. They
share the best hyperplane and the best bound. If neither expects to finish in time, blocks
(:mod:`hardmargin.methods.blocks`) get most of the work. With many samples blocks get a share in any case, and with
very many samples they are alone. Turns are measured in work instead of seconds, so that a run on one thread is
repeatable.
"""

from __future__ import annotations

from dataclasses import dataclass

from hardmargin.bounds import Report
from hardmargin.incumbent import Incumbent
from hardmargin.limits import Limits
from hardmargin.methods import blocks, directions, packing
from hardmargin.methods.base import SMALLEST_GAP as SMALLEST_GAP
from hardmargin.methods.base import ProofOptions, memory_of, require_memory_limit, require_positive
from hardmargin.methods.blocks import BlocksProof
from hardmargin.methods.pair import exact_members, starts_with_directions
from hardmargin.problem import Problem
from hardmargin.result import Result
from hardmargin.search.context import Context
from hardmargin.search.portfolio import prove
from hardmargin.search.turns import Member

HAS_FRONTIER = True

# From how many samples on blocks may prove more than the exact methods.
_MANY_SAMPLES = 300
# With more samples than this, blocks get a share of the work even if another method expects to finish: forecasts
# were measured with up to 500 samples, and can be far too optimistic with 10 000.
_MORE_THAN_MEASURED = 1000
_INSURED_SHARE = 0.3
# With fewer samples they get enough for the first rounds, which take little work and prove a good part, unless
# another method would finish in time even if it needed this many times the work that it expects.
_SMALL_SHARE = 0.1
_SMALL_DOUBT = 4.0
# With more samples or numbers in the data than this, a subproblem of the exact methods takes too long: blocks are
# alone.
_VERY_MANY_SAMPLES = 20_000
_MANY_NUMBERS = 500_000
# Their share of the memory.
_BLOCKS_MEMORY = 0.25


@dataclass(frozen=True)
class Options(ProofOptions):
    """Settings of the choice between methods, in addition to those of :class:`ProofOptions`, which apply to all.

    Attributes
    ----------
    memory : float or None
        Gigabytes of open subproblems, for all methods together. A method that does not fit into its part is left
        out. None means :func:`hardmargin.limits.default_memory`.
    head_start : float
        Work, in multiply-adds, of the first method before the other one gets a turn; some seconds.
    first_turn : float
        Work of the first turn of each method. Turns grow with the work done.
    """

    memory: float | None = None
    head_start: float = 10e9
    first_turn: float = 4e9

    def __post_init__(self) -> None:
        super().__post_init__()
        require_memory_limit(self)
        require_positive(self, "head_start", "first_turn")


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

    def bounds(found: Result, memory: float, last_size: int | None) -> Member:
        for_blocks = blocks.Options(last_size=last_size, memory=memory, **settings.shared())
        proof = BlocksProof(problem, found, limits, report, for_blocks, context)
        if problem.n > _MORE_THAN_MEASURED:
            return Member(proof, int(settings.first_turn), _INSURED_SHARE)
        return Member(proof, int(settings.first_turn), _SMALL_SHARE, _SMALL_DOUBT)

    def members(found: Result) -> list[Member]:
        memory = memory_of(settings, problem)
        if not suits_exact_methods(problem, memory, limits.threads):
            return [bounds(found, memory, None)]
        with_blocks = problem.n >= _MANY_SAMPLES
        for_blocks = memory * _BLOCKS_MEMORY if with_blocks else 0.0
        exact = exact_members(
            problem,
            found,
            limits,
            report,
            settings,
            memory=memory - for_blocks,
            first_turn=int(settings.first_turn),
            context=context,
        )
        # At least two blocks, because the other methods search the whole problem.
        return [*exact, bounds(found, for_blocks, -(-problem.n // 2))] if with_blocks else exact

    return prove(
        problem,
        incumbent,
        limits,
        report,
        settings.heuristic_effort,
        "auto",
        members,
        context,
        head_start=int(settings.head_start),
    )


def suits_exact_methods(problem: Problem, memory: float, threads: int) -> bool:
    """Whether exact methods have enough memory, and subproblems that do not take seconds each."""
    if problem.sparse or problem.n > _VERY_MANY_SAMPLES or problem.n * problem.m > _MANY_NUMBERS:
        return False
    fits = directions.fits if starts_with_directions(problem) else packing.fits
    return fits(problem, memory / 2, threads)
