"""Differences of sums and products with almost no rounding error, and a bound on the error that remains.

Each factor is split into three parts. The two leading parts have so few bits that the sum of their products fits
into a float64, whatever the order of summation. The rest is so small that its rounding does not matter. The parts
of the product are then subtracted one by one, in extended precision if the machine has it.
"""

from __future__ import annotations

import math

import numpy as np

from hardmargin.arrays import FloatArray

_BITS = 53
_ROUNDING = 2.0**-52


def difference(terms: list[FloatArray], A: FloatArray, B: FloatArray) -> tuple[FloatArray, FloatArray]:
    """``sum(terms) - A @ B.T``, and a bound on the error of each entry.

    Parameters
    ----------
    terms : list of ndarray
        Each has the shape of the product or of one row of it.
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
    """a + b, rounded, and the rounding error.

    Examples
    --------
    >>> [float(part) for part in exact_sum(np.array(1.0), np.array(1e-20))]
    [1.0, 1e-20]
    """
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _product_parts(A: FloatArray, B: FloatArray) -> list[FloatArray]:
    """Matrices whose sum is A B^T; the first four are exact, the others are small."""
    bits = _part_bits(A.shape[1])
    (a_high, a_low, a_rest), (b_high, b_low, b_rest) = _split(A, bits), _split(B, bits)
    exact = [high @ other.T for high in (a_high, a_low) for other in (b_high, b_low)]
    return [*exact, a_rest @ B.T, (a_high + a_low) @ b_rest.T]


def _part_bits(count: int) -> int:
    """How many bits two factors may have so that ``count`` of their products can be summed exactly."""
    return (_BITS - 1 - count.bit_length()) // 2


def _split(values: FloatArray, bits: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Two parts of ``bits`` bits, relative to the largest value, and the rest; their sum is exact."""
    places = bits - _exponent(values)
    high = np.ldexp(np.rint(np.ldexp(values, places)), -places)
    low = np.ldexp(np.rint(np.ldexp(values - high, places + bits)), -places - bits)
    return high, low, values - high - low


def _rest_rounding(A: FloatArray, B: FloatArray) -> float:
    """A bound on the error of any entry of the last two parts of the product."""
    count = A.shape[1]
    largest = math.ldexp(1.0, _exponent(A) + _exponent(B) - 2 * _part_bits(count))
    return float(8 * (count + 2) * _ROUNDING * count * largest)


def _exponent(values: FloatArray) -> int:
    """The exponent of a power of two that no absolute value exceeds."""
    return int(np.frexp(np.abs(values).max(initial=0.0))[1])
