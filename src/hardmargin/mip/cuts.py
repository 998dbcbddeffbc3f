"""Known cuts: which of them a point violates, and which a solver gets as rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy.optimize
import scipy.sparse

from hardmargin.arrays import FloatArray
from hardmargin.mip.base import Cut, IndicatorModel, costs_and_limits

# Share of the time for finding out which cuts are tight.
_RELAXATION_SHARE = 0.05

# How many known cuts are added at a time, and the least violation for which they are.
_MOST_CUTS = 200
_VIOLATION = 1e-6


class CutMatrix:
    """Cuts as the rows of a sparse matrix."""

    def __init__(self, cuts: Sequence[Cut], count: int) -> None:
        self.cuts = cuts
        columns = np.concatenate([cut.members for cut in cuts])
        factors = np.concatenate([cut.factors for cut in cuts])
        starts = np.concatenate([[0], np.cumsum([len(cut.members) for cut in cuts])])
        self.matrix = scipy.sparse.csr_matrix((factors, columns, starts), shape=(len(cuts), count))
        self.bounds = np.array([cut.bound for cut in cuts])

    def violated(self, values: FloatArray) -> list[Cut]:
        """A :class:`hardmargin.mip.base.Separator`: the cuts that a point violates most."""
        shortfalls = self.bounds - self.matrix @ values
        chosen = np.flatnonzero(shortfalls > _VIOLATION)
        if len(chosen) > _MOST_CUTS:
            chosen = chosen[np.argsort(-shortfalls[chosen], kind="stable")[:_MOST_CUTS]]
        return [self.cuts[k] for k in chosen.tolist()]

    def ranked(self, costs: FloatArray, seconds: float, limits: FloatArray | None = None) -> tuple[list[int], int]:
        """The indices of all cuts, the most useful first, and how many of them are tight.

        Cuts are ordered by their slack at the cheapest fractional cover, tight cuts first. Among tight cuts, those
        with the highest dual prices come first: as long as all cuts with a price are kept, so is the relaxation's
        bound. If the relaxation takes too long, no cut counts as tight, and those that require most of their
        members, on average per member, come first.
        """
        demands = self.bounds / np.asarray(self.matrix.sum(axis=1)).ravel()
        found = scipy.optimize.linprog(
            costs / costs.mean(),
            A_ub=-self.matrix,
            b_ub=-self.bounds,
            bounds=(0, 1) if limits is None else np.column_stack([np.zeros(len(limits)), limits]),
            method="highs",
            options={"time_limit": seconds},
        )
        if found.status != 0:
            return np.argsort(-demands, kind="stable").tolist(), 0
        slacks = self.matrix @ found.x - self.bounds
        slacks[slacks < _VIOLATION] = 0.0
        prices = np.abs(found.ineqlin.marginals)
        return np.lexsort((-demands, -prices, slacks)).tolist(), int((slacks == 0).sum())


class SplitCuts(NamedTuple):
    """Which cuts a solver gets, and how."""

    rows: list[Cut]
    lazy: list[Cut]
    left_out: int


def split_cuts(model: IndicatorModel, seconds: float, room: int | None = None) -> SplitCuts:
    """The cuts that the solver gets as rows, those that it gets when violated, and the number of those left out.

    Cuts are left out only if the solver accepts no more than ``room`` rows and the model does not allow lazy cuts.
    """
    cuts = list(model.cuts)
    if model.cut_use == "lazy" or not cuts:
        return SplitCuts([], cuts, 0)
    room = len(cuts) if room is None else room
    if model.cut_use != "tight" and len(cuts) <= room:
        return SplitCuts(cuts, [], 0)
    costs, limits = costs_and_limits(model.problem)
    order, tight = CutMatrix(cuts, model.problem.n).ranked(costs, _RELAXATION_SHARE * seconds, limits)
    chosen = set(order[: min(room, tight if model.cut_use == "tight" else len(cuts))])
    rows = [cut for k, cut in enumerate(cuts) if k in chosen]
    others = [cut for k, cut in enumerate(cuts) if k not in chosen]
    return SplitCuts(rows, others, 0) if model.cut_use == "tight" else SplitCuts(rows, [], len(others))
