"""The best hyperplane in a known direction that keeps one more sample."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from hardmargin import _core
from hardmargin.arrays import FloatArray
from hardmargin.problem import Problem


def shifted(problem: Problem, coef: FloatArray, rows: Iterable[int]) -> Iterator[tuple[FloatArray, float]]:
    """For each row, scale and shift a hyperplane so that it keeps that row at the least cost.

    A sample that costs more than all others together is never given up, because w = 0 with the right sign of b
    keeps it for less.

    Parameters
    ----------
    problem : Problem
    coef : ndarray of shape (m,)
        The direction.
    rows : iterable of int

    Yields
    ------
    coef, intercept : ndarray of shape (m,), float
    """
    projections = np.asarray(problem.X @ coef)
    everything = 2 * float(problem.costs.sum())
    for row in rows:
        costs = problem.costs.copy()
        costs[row] = everything
        _, scale, offset = _core.best_offset(projections, problem.y, costs, float(coef @ coef))
        if scale == 0:
            yield np.zeros(problem.m), float(problem.y[row])
        else:
            kept = problem.kept_up_to_rounding(scale * coef, offset)
            kept[row] = True
            yield problem.fitted(scale * coef, offset, kept)
