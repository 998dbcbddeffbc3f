"""Fewer features for samples that lie in an affine subspace: dependent features, or few samples.

Every optimal w is a combination of differences of samples. So nothing is lost if the samples are replaced by their
coordinates in an orthonormal basis of the span of these differences: lengths and products stay the same. The basis
V and the coordinates z_i are rounded, and the effect on the optimum is bounded afterwards: with c the centre, delta
the largest ||x_i - c - V z_i|| and R the largest ||w|| of an optimum, the hyperplane V^T w has margins that differ
from those of w by at most eps = delta R. So an optimal w, whose margins are at least 1 on the samples that it
keeps, becomes V^T w / (1 - eps), which keeps the same samples, and

    optimum over x  >=  (1 - eps)^2 / ||V||^2 * optimum over z.

If the costs are so large that even a very long w pays off, eps is too large. The features are then left unchanged.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from hardmargin.arrays import FloatArray
from hardmargin.blas import one_blas_thread
from hardmargin.exact_product import difference, exact_sum

# Larger distortions of the margins are refused; the smallest gap that can be requested is a hundred times as large.
_LARGEST_DISTORTION = 1e-11

#: No projection that is used has a smaller bound factor.
SMALLEST_FACTOR = 1 - 4 * _LARGEST_DISTORTION

# Directions in which all samples together contribute less than this share of the refused distortion are dropped.
_NEGLIGIBLE_SHARE = 0.1

# Directions shorter than this share of the longest one are not corrected, because that would turn them too far.
_SHORT_DIRECTION = 1e-3

# Multiply-adds of one product of the size of the data: about a tenth of a second between two checks of the clock.
_MOST_WORK = 50_000_000

# Values of the samples: about ten times their memory is needed.
_MOST_VALUES = 2_000_000

_ROUNDING = 2.0**-52

# Samples per feature that may show that no feature depends on others, if there are many times as many.
_ROWS_PER_FEATURE = 10
_LEAST_STRIDE = 8

#: Called between pieces of work; may raise to stop.
Check = Callable[[], None]


def no_check() -> None:
    """Continue."""


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
        A point of the subspace, up to rounding.
    bound_factor : float
        Just below 1: lower bounds for the coordinates, multiplied by this, hold for the samples.
    """

    samples: FloatArray
    basis: FloatArray
    centre: FloatArray
    bound_factor: float


def is_projectable(n: int, m: int) -> bool:
    """Whether samples of this shape are small enough, and have enough features, to be replaced by fewer."""
    return min(n, m) >= 2 and n * m <= _MOST_VALUES and n * m * min(n, m) <= _MOST_WORK


def projection(X: FloatArray, shift: FloatArray, longest: float, check: Check = no_check) -> Projection | None:
    """Find fewer coordinates for the samples ``X - shift``.

    Parameters
    ----------
    X : ndarray of shape (n, m)
    shift : ndarray of shape (m,)
        Subtracted from the features.
    longest : float
        An upper bound on the length of every optimal w.
    check : callable
        Called before each piece of work; may raise to stop.

    Returns
    -------
    Projection or None
        None if there are no fewer coordinates, or if rounding would cost too much.

    Examples
    --------
    >>> X = np.array([[0.0, 1.0], [1.0, 3.0], [2.0, 5.0]])
    >>> np.abs(np.diff(projection(X, np.zeros(2), 10.0).samples[:, 0])).round(9).tolist()
    [2.236067977, 2.236067977]
    """
    if not is_projectable(*X.shape):
        return None
    with one_blas_thread:
        return _projected(X, shift, longest, check)


def _projected(X: FloatArray, shift: FloatArray, longest: float, check: Check) -> Projection | None:
    n, m = X.shape
    check()
    if _surely_independent(X, shift, longest):
        return None
    shifted, lost = exact_sum(X, -shift)
    # A power of two, so that scaling prevents overflow and changes nothing else.
    unit = float(np.ldexp(1.0, np.frexp(np.abs(shifted).max(initial=0.0))[1]))
    scaled = shifted / unit
    centre = scaled.mean(axis=0)
    lengths, basis = _directions(scaled - centre, check)
    # The product of the two divisors may underflow.
    negligible = _NEGLIGIBLE_SHARE * _LARGEST_DISTORTION / longest / unit
    rank = int(np.count_nonzero(lengths > max(negligible, lengths[0] * max(n, m) * _ROUNDING)))
    if not 0 < rank < m:
        return None
    exact_terms = [scaled, lost / unit, -centre]
    check()
    samples, basis = _corrected(exact_terms, (scaled - centre) @ basis[:, :rank], basis[:, :rank], lengths[:rank])
    check()
    distortion = longest * unit * _largest_row(*difference(exact_terms, samples, basis))
    if not distortion <= _LARGEST_DISTORTION:
        return None
    check()
    factor = (1 - distortion) ** 2 / _largest_stretch(basis) * (1 - 8 * _ROUNDING)
    if not factor >= SMALLEST_FACTOR:
        return None
    return Projection(samples * unit, basis, centre * unit, factor)


def _surely_independent(X: FloatArray, shift: FloatArray, longest: float) -> bool:
    """Whether a few of many samples show that no direction is negligible, so that there are no fewer coordinates.

    The singular values of all differences from the centre are at least as large as those of some of the rows from
    their own centre.
    """
    n, m = X.shape
    stride = n // (_ROWS_PER_FEATURE * m)
    if stride < _LEAST_STRIDE:
        return False
    some = X[::stride]
    # Above the thresholds of _projected, because this is at least the largest singular value.
    size = max(float(X.max()), -float(X.min())) + float(np.abs(shift).max())
    longest_direction = 2 * size * np.sqrt(n * m)
    least = max(_NEGLIGIBLE_SHARE * _LARGEST_DISTORTION / longest, longest_direction * max(n, m) * _ROUNDING)
    lengths = np.linalg.svd(some - some.mean(axis=0), compute_uv=False)
    return bool(lengths[-1] > 2 * least)


def _directions(differences: FloatArray, check: Check) -> tuple[FloatArray, FloatArray]:
    """The singular values of the rows, descending, and their right singular vectors as columns, up to rounding."""
    n, m = differences.shape
    check()
    if n >= m:
        triangle = np.linalg.qr(differences, mode="r")
        check()
        _, lengths, rows = np.linalg.svd(triangle, full_matrices=False)
        return lengths, rows.T
    columns, upper = np.linalg.qr(differences.T)
    check()
    _, lengths, rows = np.linalg.svd(upper.T, full_matrices=False)
    return lengths, columns @ rows.T


def _corrected(
    terms: list[FloatArray], samples: FloatArray, basis: FloatArray, lengths: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Coordinates and basis whose product approximates the sum of the terms about as well as float64 allows."""
    error = difference(terms, samples, basis)[0]
    inside = error @ basis
    outside = error - inside @ basis.T
    # The columns of `samples` are orthogonal and have these lengths, so this is the least-squares solution.
    turns = np.where(lengths > _SHORT_DIRECTION * lengths[0], lengths, np.inf) ** -2.0
    return samples + inside, np.ascontiguousarray(basis + outside.T @ samples * turns)


def _largest_stretch(basis: FloatArray) -> float:
    """An upper bound on the square of the basis' largest singular value."""
    deviation, error = difference([np.eye(basis.shape[1])], basis.T, basis.T)
    size = float(np.linalg.norm(np.abs(deviation) + error))
    return 1 + size * (1 + basis.size * _ROUNDING) + _ROUNDING


def _largest_row(value: FloatArray, error: FloatArray) -> float:
    """An upper bound on the largest norm of a row, given a bound on the error of each entry."""
    largest = float(np.linalg.norm(np.abs(value) + error, axis=1).max())
    return float(largest * (1 + (value.shape[1] + 16) * _ROUNDING))
