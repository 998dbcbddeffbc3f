"""The max-margin hyperplane of samples that can be separated, with its multipliers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hardmargin._core import MaxMargin, MaxMarginStatus
from hardmargin.arrays import FloatArray


class Separation(NamedTuple):
    """The shortest w with y (w.x + b) >= 1 on all samples, as a combination of them.

    Attributes
    ----------
    multipliers : ndarray of shape (n,)
        Not negative, and zero except on samples whose margin is 1. w is the sum of
        ``multipliers[i] * y[i] * X[i]``.
    intercept : float
        The offset b.
    """

    multipliers: FloatArray
    intercept: float


def separation(X: FloatArray, y: FloatArray) -> Separation | None:
    """Separate samples by the widest margin.

    Parameters
    ----------
    X : ndarray of shape (n, m)
    y : ndarray of shape (n,)
        -1.0 and +1.0, both of them present.

    Returns
    -------
    Separation or None
        None if the samples cannot be separated, or if rounding prevents a solution.

    Examples
    --------
    >>> found = separation(np.array([[0.0], [1.0], [3.0]]), np.array([-1.0, -1.0, 1.0]))
    >>> found.multipliers.tolist(), found.intercept
    ([0.0, 0.5, 0.5], -2.0)
    """
    solver = MaxMargin(np.ascontiguousarray(X), np.ascontiguousarray(y))
    for row in range(len(y)):
        solver.enable(row)
    if solver.solve() is not MaxMarginStatus.optimal:
        return None
    multipliers = np.zeros(len(y))
    for row, multiplier in solver.support:
        multipliers[row] = multiplier
    return Separation(multipliers, solver.bias)
