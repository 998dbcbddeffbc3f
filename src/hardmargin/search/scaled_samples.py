"""Samples in features of similar size, without a copy of them.

A descent over weights needs features that are centred and have similar spreads. The centre and the spread are
applied to the weights instead of the samples, which stay as they are, dense or sparse.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from hardmargin.arrays import FloatArray, stored_values

# Samples this far out, in share of all, do not count for centres and spreads.
_FAR_SHARE = 0.25
_ROUNDS = 4
# Features with a smaller spread, relative to the median, are scaled as if they had this one.
_LEAST_SPREAD = 0.1


@dataclass(frozen=True, eq=False)
class Scaling:
    """Scaled features are (x - centre) * inverse_spread.

    Attributes
    ----------
    centre, inverse_spread : ndarray of shape (m,)
    """

    centre: FloatArray
    inverse_spread: FloatArray

    def restored(self, weights: FloatArray, offset: float) -> tuple[FloatArray, float]:
        """A hyperplane in scaled features, in the original ones."""
        coef = weights * self.inverse_spread
        return coef, float(offset - self.centre @ coef)

    def scaled(self, coef: FloatArray, intercept: float) -> tuple[FloatArray, float]:
        """A hyperplane in the original features, in scaled ones."""
        return coef / self.inverse_spread, float(intercept + self.centre @ coef)


@dataclass(frozen=True, eq=False)
class ScaledSamples:
    """Samples with their labels, their costs, and a scaling of their features.

    Attributes
    ----------
    X : ndarray or CSR array of shape (n, m)
        The samples, not scaled.
    y, costs : ndarray of shape (n,)
    scaling : Scaling
    """

    X: Any
    y: FloatArray
    costs: FloatArray
    scaling: Scaling

    @property
    def pass_work(self) -> int:
        """Multiply-adds of one product with all samples."""
        return stored_values(self.X)

    def scores(self, weights: FloatArray, offset: float) -> FloatArray:
        """w.x + b for all samples."""
        coef, intercept = self.scaling.restored(weights, offset)
        scores: FloatArray = self.X @ coef
        scores += intercept
        return scores

    def pulled_back(self, by_scores: FloatArray) -> FloatArray:
        """Derivatives by the weights, from those by the scores."""
        total = float(by_scores.sum())
        pulled: FloatArray = self.X.T @ by_scores
        return (pulled - self.scaling.centre * total) * self.scaling.inverse_spread


def robust_scaling(X: Any) -> Scaling:
    """Centres and spreads of the features over the samples that are not far out.

    Parameters
    ----------
    X : ndarray or CSR array of shape (n, m)
        Samples; a matrix of the same size is made.
    """
    squares = X.multiply(X).tocsr() if scipy.sparse.issparse(X) else X * X
    near = np.ones(X.shape[0])
    scaling = _scaling(X, squares, near)
    for _ in range(_ROUNDS):
        near = (_nearest(_distances(X, squares, scaling.centre, scaling), 1 - _FAR_SHARE)).astype(np.float64)
        scaling = _scaling(X, squares, near)
    return scaling


def trimmed_classes(samples: ScaledSamples) -> tuple[tuple[FloatArray, FloatArray], NDArray[np.bool_]]:
    """The centres of the negatives and the positives in scaled features, and which samples count for them.

    Each class leaves out the quarter of its samples that is farthest from its centre. This is repeated, so that a
    cluster of outliers moves the centre only in the first rounds.
    """
    X = samples.X
    squares = X.multiply(X).tocsr() if scipy.sparse.issparse(X) else X * X
    counted = np.zeros(X.shape[0], dtype=bool)
    centres = []
    for label in (-1.0, 1.0):
        members = samples.y == label
        near = members.copy()
        centre = np.zeros(X.shape[1])
        for _ in range(_ROUNDS):
            weights = samples.costs * near
            centre = (X.T @ weights) / max(float(weights.sum()), np.finfo(float).tiny)
            distances = _distances(X, squares, centre, samples.scaling)
            near = members.copy()
            near[members] = _nearest(distances[members], 1 - _FAR_SHARE)
        centres.append((centre - samples.scaling.centre) * samples.scaling.inverse_spread)
        counted |= near
    return (centres[0], centres[1]), counted


def _distances(X: Any, squares: Any, centre: FloatArray, scaling: Scaling) -> FloatArray:
    """Squared distances from a centre, in scaled features."""
    factors = scaling.inverse_spread**2
    distances: FloatArray = squares @ factors - 2 * (X @ (centre * factors)) + float(centre**2 @ factors)
    return distances


def _nearest(distances: FloatArray, share: float) -> NDArray[np.bool_]:
    """Which are the nearest samples: up to the quantile, and those as near as it."""
    if len(distances) == 0:
        return np.zeros(0, dtype=bool)
    last = int(share * (len(distances) - 1))
    nearest: NDArray[np.bool_] = distances <= np.partition(distances, last)[last]
    return nearest


def _scaling(X: Any, squares: Any, near: FloatArray) -> Scaling:
    count = near.sum()
    centre = (X.T @ near) / count
    spread = np.sqrt(np.maximum((squares.T @ near) / count - centre**2, 0.0))
    positive = spread[spread > 0]
    typical = float(np.median(positive)) if len(positive) else 1.0
    return Scaling(centre, 1.0 / np.maximum(spread, _LEAST_SPREAD * typical))
