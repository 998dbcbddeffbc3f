"""Both exact methods as a portfolio: the one that is likely to be ahead starts."""

from __future__ import annotations

import numpy as np

from hardmargin.blas import one_blas_thread
from hardmargin.bounds import Report
from hardmargin.limits import Limits
from hardmargin.methods import directions, packing
from hardmargin.methods.base import ProofOptions
from hardmargin.problem import Problem
from hardmargin.projection import is_projectable
from hardmargin.result import Result
from hardmargin.search.context import Context
from hardmargin.search.proof import Proof
from hardmargin.search.turns import Member

# Up to how many features the search over directions is likely to be ahead, and up to how many it takes part.
_FEW_FEATURES = 8
_SOME_FEATURES = 12
# With fewer samples per feature than this, the search over samples is ahead: with 8 features it takes a tenth of
# the time at 40 to 60 samples, and about the same at 120; with up to 4 features, both take about the same.
_SAMPLES_PER_FEATURE = 15


def has_few_features(problem: Problem) -> bool:
    """Whether the search over directions is likely to be ahead if there are enough samples."""
    return problem.m <= _FEW_FEATURES and not _has_dependent_features(problem)


def starts_with_directions(problem: Problem) -> bool:
    """Whether the search over directions has the first turn.

    The search over samples hardly depends on the scales of features, and proves small problems in a moment.
    """
    return problem.n >= _SAMPLES_PER_FEATURE * problem.m and has_few_features(problem)


def _has_dependent_features(problem: Problem) -> bool:
    """Whether features depend on each other; presolve replaces them by fewer unless their weights are bounded.

    Directions that differ only along what no sample varies in have the same conflicts, so a search over directions
    has little to tell them apart by.
    """
    if problem.bounds is None or problem.sparse or not is_projectable(problem.n, problem.m):
        return False
    with one_blas_thread:
        return bool(np.linalg.matrix_rank(problem.X - problem.X.mean(axis=0)) < problem.m)


def exact_members(
    problem: Problem,
    found: Result,
    limits: Limits,
    report: Report,
    options: ProofOptions,
    *,
    memory: float,
    first_turn: int,
    context: Context | None = None,
) -> list[Member]:
    """The exact methods that take part, starting with the one that has the first turn.

    Parameters
    ----------
    problem, limits, report, context
        As in :class:`hardmargin.methods.base.FrontierMethod`.
    found : Result
        What the primal search has found.
    options : ProofOptions
        The settings that all proofs have.
    memory : float
        Gigabytes, for all of them together. The search over directions is left out if it does not fit into half.
    first_turn : int
        Work of the first turn of each.

    Returns
    -------
    list of Member
    """
    both = problem.m <= _SOME_FEATURES and directions.fits(problem, memory / 2, limits.threads)
    memory = memory / 2 if both else memory
    for_samples = packing.Options(memory=memory, **options.shared())
    samples = packing.PackingProof(problem, found, limits, report, for_samples, context)
    if not both:
        return [Member(samples, first_turn)]
    for_regions = directions.Options(memory=memory, **options.shared())
    regions = directions.DirectionProof(problem, found, limits, report, for_regions, context)
    proofs: list[Proof] = [regions, samples] if starts_with_directions(problem) else [samples, regions]
    return [Member(proof, first_turn) for proof in proofs]
