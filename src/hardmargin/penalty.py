"""The penalty C: a number, or ``"scale"``, which derives it from the samples.

The margin is 2 / ||w|| wide, so C is a price per squared length: if all samples are multiplied by t, the same model
needs C / t^2. C = 1 therefore means something else for every unit of measurement. ``"scale"`` divides by the mean
squared distance of the samples from their mean, the sum of the features' variances, and so gives the same model in
any unit. Moving all samples does not change it either.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from hardmargin.arrays import FloatArray
from hardmargin.validation import validated_penalty

#: The value of C that stands for :func:`scale_penalty`.
SCALE = "scale"

#: What :func:`scale_penalty` divides by the mean squared distance; chosen by cross-validation (docs/estimator.md).
SCALE_FACTOR = 10.0

# Values of the samples that are processed at once.
_BLOCK = 100_000

# A spread of stored values below this share of their size is rounding.
_ROUNDING = 1e-14


def resolved_penalty(C: Any, X: Any, weights: FloatArray | None = None) -> float:
    """C as a number.

    Parameters
    ----------
    C : float or "scale"
    X : ndarray or sparse matrix of shape (n, m)
        Validated samples.
    weights : ndarray of shape (n,), optional
        As in :func:`scale_penalty`.

    Raises
    ------
    ValueError
        If C is not positive and finite, or if the samples have a spread that is out of range.
    TypeError
        If C is neither a number nor "scale".
    """
    return scale_penalty(X, weights) if isinstance(C, str) and C == SCALE else validated_penalty(C)


def scale_penalty(X: Any, weights: FloatArray | None = None) -> float:
    """What C = "scale" means: ``SCALE_FACTOR`` / (sum of the variances of the features); 1 if nothing varies.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n, m)
        Validated samples. A sparse matrix is not made dense.
    weights : ndarray of shape (n,), optional
        How many samples each row counts for.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If the variances are so large or small that C is not a positive finite number.

    Examples
    --------
    >>> X = np.array([[0.0, 5.0], [2.0, 5.0], [4.0, 5.0], [6.0, 5.0]])
    >>> scale_penalty(X), scale_penalty(10 * X)
    (2.0, 0.02)
    """
    counts = np.ones(X.shape[0]) if weights is None else weights / weights.max()
    # Squares of values that are divided by this power of two neither overflow nor vanish.
    exponent = int(np.frexp(float(max(X.max(), -X.min())))[1])
    spread = _dense_spread if isinstance(X, np.ndarray) else _sparse_spread
    variance = spread(X, counts, np.ldexp(1.0, -exponent)) / float(counts.sum())
    if variance == 0:
        return 1.0
    with np.errstate(over="ignore", under="ignore"):
        penalty = float(np.ldexp(SCALE_FACTOR / variance, -2 * exponent))
    if not (np.isfinite(penalty) and penalty > 0):
        raise ValueError(
            f'C="scale" is {penalty:g} for the variances of X; expected features of another size: multiply or '
            "divide all of them by one common factor."
        )
    return penalty


def _dense_spread(X: FloatArray, counts: FloatArray, factor: float) -> float:
    """The sum of the squared distances of the scaled rows from their mean."""
    # Differences from one row are exactly zero in a constant feature, whatever its value.
    first = X[np.flatnonzero(counts)[0]]

    def blocks() -> Iterator[tuple[FloatArray, FloatArray]]:
        step = max(1, _BLOCK // X.shape[1])
        for begin in range(0, len(X), step):
            rows = slice(begin, begin + step)
            yield (X[rows] - first) * factor, counts[rows]

    mean = np.zeros(X.shape[1])
    for block, share in blocks():
        mean += share @ block
    mean /= counts.sum()
    return float(sum(share @ np.square(block - mean).sum(axis=1) for block, share in blocks()))


def _sparse_spread(X: Any, counts: FloatArray, factor: float) -> float:
    """The same for a sparse matrix, from its stored values."""
    entries = X.tocoo()
    entries.sum_duplicates()
    values, shares = entries.data * factor, counts[entries.row]

    def by_feature(terms: FloatArray) -> FloatArray:
        return np.bincount(entries.col, weights=terms, minlength=X.shape[1]).astype(np.float64)

    total = float(counts.sum())
    mean = by_feature(shares * values) / total
    stored = by_feature(shares)
    spreads = by_feature(shares * np.square(values - mean[entries.col])) + (total - stored) * np.square(mean)
    spreads[spreads <= total * np.square(_ROUNDING * mean)] = 0.0
    return float(spreads.sum())
