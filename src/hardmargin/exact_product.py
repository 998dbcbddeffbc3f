"""Differences of sums and products with almost no rounding, and a bound on what is left of it.

Each factor is split into two leading parts of so few bits that their products, summed up, fit into a float64 in
whatever order they are summed, and a rest too small for its rounding to matter. The parts of the product are then
subtracted one by one, in extended precision where the machine has it.
"""

from __future__ import annotations

import math

import numpy as np

from hardmargin.arrays import FloatArray

_BITS = 53
_ROUNDING = 2.0**-52


def difference(terms: list[FloatArray], A: FloatArray, B: FloatArray) -> tuple[FloatArray, FloatArray]:
    """``sum(terms) - A @ B.T``, and for every entry a bound on its error.

    Parameters
    ----------
    terms : list of ndarray
        Of the shape of the product, or of one row of it.
    A, B : ndarray of shape (n, k), (m, k)

    Returns
    -------
    value, error : ndarray of shape (n, m)

    Examples
    --------
    >>> third, three = np.array([[1 / 3]]), np.array([[3.0]])
    >>> value, error = difference([np.array([[1.0]])], third, three)
    >>> float(value[0, 0]) == 2.0**-54, bool(error[0, 0] < 2.0**-46)
    (True, True)
    """
    parts = [*terms, *(-part for part in _product_parts(A, B))]
    shape = (len(A), len(B))
    total, size = np.zeros(shape, dtype=np.longdouble), np.zeros(shape)
    for part in parts:
        total += part
        size += np.abs(part)
    value = total.astype(np.float64)
    rounding = 2 * len(parts) * float(np.finfo(np.longdouble).eps)
    return value, rounding * size + _ROUNDING * np.abs(value) + _rest_rounding(A, B)


def exact_sum(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """a + b, rounded, and what the rounding has taken away.

    Examples
    --------
    >>> [float(part) for part in exact_sum(np.array(1.0), np.array(1e-20))]
    [1.0, 1e-20]
    """
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _product_parts(A: FloatArray, B: FloatArray) -> list[FloatArray]:
    """Matrices that sum up to A B^T; the first four are exact, the others small."""
    bits = _part_bits(A.shape[1])
    (a_high, a_low, a_rest), (b_high, b_low, b_rest) = _split(A, bits), _split(B, bits)
    exact = [high @ other.T for high in (a_high, a_low) for other in (b_high, b_low)]
    return [*exact, a_rest @ B.T, (a_high + a_low) @ b_rest.T]


def _part_bits(count: int) -> int:
    """Bits of the factors for which so many products of two of them can be summed exactly."""
    return (_BITS - 1 - count.bit_length()) // 2


def _split(values: FloatArray, bits: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Two parts of so many bits, relative to the largest value, and the rest; their sum is exact."""
    places = bits - _exponent(values)
    high = np.ldexp(np.rint(np.ldexp(values, places)), -places)
    low = np.ldexp(np.rint(np.ldexp(values - high, places + bits)), -places - bits)
    return high, low, values - high - low


def _rest_rounding(A: FloatArray, B: FloatArray) -> float:
    """What an entry of the last two parts of the product may be wrong by."""
    count = A.shape[1]
    largest = math.ldexp(1.0, _exponent(A) + _exponent(B) - 2 * _part_bits(count))
    return float(8 * (count + 2) * _ROUNDING * count * largest)


def _exponent(values: FloatArray) -> int:
    """The power of two that no absolute value exceeds."""
    return int(np.frexp(np.abs(values).max(initial=0.0))[1])
