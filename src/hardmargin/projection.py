"""Fewer features for samples that lie in a flat of lower dimension: dependent features, or few samples.

Every optimal w is a combination of differences of samples, so nothing is lost if the samples are given by their
coordinates in an orthonormal basis of the span of these differences: lengths and products are the same there. The
basis V and the coordinates z_i are rounded, and what that does to the optimum is bounded afterwards: with c the
centre, delta the largest ||x_i - c - V z_i|| and R the largest ||w|| of an optimum, the hyperplane V^T w has
margins that differ from those of w by at most eps = delta R. So an optimal w, whose margins are at least 1 on what
it keeps, becomes V^T w / (1 - eps), which keeps the same samples, and

    optimum over x  >=  (1 - eps)^2 / ||V||^2 * optimum over z.

Costs so large that even a very long w is worth them make eps too large. The features are then left as they are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hardmargin.exact_product import difference, exact_sum
from hardmargin.validation import FloatArray

# Larger distortions of the margins are refused; the finest gap that can be asked for is a hundred times as large.
_LARGEST_DISTORTION = 1e-11

# Multiply-adds of the search for a basis, a few seconds of them.
_MOST_WORK = 20_000_000_000

_ROUNDING: float = 2.0**-52


@dataclass(frozen=True, eq=False)
class Projection:
    """Samples in fewer coordinates: ``x - shift - centre`` is ``basis @ z`` up to rounding.

    Attributes
    ----------
    samples : ndarray of shape (n, r)
        The coordinates z.
    basis : ndarray of shape (m, r)
        Orthonormal columns, up to rounding.
    centre : ndarray of shape (m,)
        A point of the flat, up to rounding.
    bound_factor : float
        Just below 1: lower bounds for the coordinates, times this, hold for the samples.
    """

    samples: FloatArray
    basis: FloatArray
    centre: FloatArray
    bound_factor: float


def projection(X: FloatArray, shift: FloatArray, longest: float) -> Projection | None:
    """Find fewer coordinates for the samples ``X - shift``.

    Parameters
    ----------
    X : ndarray of shape (n, m)
    shift : ndarray of shape (m,)
        Taken off the features.
    longest : float
        No optimal w is longer.

    Returns
    -------
    Projection or None
        None if there are no fewer coordinates, or rounding would do too much harm.

    Examples
    --------
    >>> X = np.array([[0.0, 1.0], [1.0, 3.0], [2.0, 5.0]])
    >>> np.abs(np.diff(projection(X, np.zeros(2), 10.0).samples[:, 0])).round(9).tolist()
    [2.236067977, 2.236067977]
    """
    n, m = X.shape
    if min(n, m) < 2 or n * m * min(n, m) > _MOST_WORK:
        return None
    shifted, lost = exact_sum(X, -shift)
    # A power of two, so that nothing overflows and nothing but overflow is changed.
    unit = float(np.ldexp(1.0, np.frexp(np.abs(shifted).max(initial=0.0))[1]))
    scaled = shifted / unit
    centre = scaled.mean(axis=0)
    basis = _basis(scaled - centre)
    if not 0 < basis.shape[1] < m:
        return None
    exact_terms = [scaled, lost / unit, -centre]
    samples = (scaled - centre) @ basis
    # Both are as good as float64 can hold them after one correction each.
    basis += np.linalg.lstsq(samples, difference(exact_terms, samples, basis)[0], rcond=None)[0].T
    samples += difference(exact_terms, samples, basis)[0] @ basis
    distortion = longest * unit * _largest_row(*difference(exact_terms, samples, basis))
    if not distortion <= _LARGEST_DISTORTION:
        return None
    factor = (1 - distortion) ** 2 / _largest_stretch(basis) * (1 - 8 * _ROUNDING)
    return Projection(samples * unit, basis, centre * unit, factor)


def _basis(differences: FloatArray) -> FloatArray:
    """Orthonormal columns that span the rows, up to rounding."""
    triangle = np.linalg.qr(differences, mode="r")
    _, sizes, directions = np.linalg.svd(triangle, full_matrices=False)
    rank = np.count_nonzero(sizes > sizes[0] * max(differences.shape) * _ROUNDING)
    basis: FloatArray = np.ascontiguousarray(directions[:rank].T)
    return basis


def _largest_stretch(basis: FloatArray) -> float:
    """At least the square of the basis' largest singular value."""
    deviation, error = difference([np.eye(basis.shape[1])], basis.T, basis.T)
    size = float(np.linalg.norm(np.abs(deviation) + error))
    return 1 + size * (1 + basis.size * _ROUNDING) + _ROUNDING


def _largest_row(value: FloatArray, error: FloatArray) -> float:
    """At least the largest norm of a row that is wrong by no more than this error."""
    largest = float(np.linalg.norm(np.abs(value) + error, axis=1).max())
    return largest * (1 + (value.shape[1] + 16) * _ROUNDING)
