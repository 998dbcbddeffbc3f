"""The training data as exact integers, and their fingerprint."""

from __future__ import annotations

import hashlib
from fractions import Fraction
from typing import Any

import numpy as np

# Values that are hashed at once.
_BLOCK = 1_000_000


def row_values(X: Any, row: int) -> tuple[list[int], list[float]]:
    """The columns of a row that are not zero, ascending, and their values; X is an array or a CSR matrix."""
    if isinstance(X, np.ndarray):
        columns = np.flatnonzero(X[row])
        return columns.tolist(), X[row, columns].tolist()
    part = slice(X.indptr[row], X.indptr[row + 1])
    columns, values = X.indices[part], X.data[part]
    order = np.argsort(columns, kind="stable")
    order = order[values[order] != 0]
    return columns[order].tolist(), values[order].tolist()


def samples_hash(X: Any) -> str:
    """SHA-256 of the shape and of the values that are not zero, row by row: equal for dense and sparse data."""
    n, m = X.shape
    digest = hashlib.sha256(f"{n} {m};".encode())
    step = max(1, _BLOCK // max(1, m))
    for begin in range(0, n, step):
        block = X[begin : begin + step]
        if not isinstance(block, np.ndarray):
            block = block.toarray()
        rows, columns = np.nonzero(block)
        for part in (rows + begin, columns):
            digest.update(part.astype("<i8").tobytes())
        digest.update(block[rows, columns].astype("<f8").tobytes())
    return digest.hexdigest()


def numbers_hash(values: Any) -> str:
    """SHA-256 of numbers: the labels (-1 and 1), or the costs."""
    return hashlib.sha256(np.ascontiguousarray(values, dtype="<f8").tobytes()).hexdigest()


def exponent_of(values: Any) -> int:
    """The least q >= 0 such that all these numbers are integers times 2^-q."""
    numbers = np.asarray(values, dtype=np.float64).ravel()
    numbers = numbers[numbers != 0]
    if len(numbers) == 0:
        return 0
    mantissas, exponents = np.frexp(numbers)
    whole = np.ldexp(np.abs(mantissas), 53).astype(np.int64)
    zeros = np.log2((whole & -whole).astype(np.float64)).astype(np.int64)
    return max(0, int((53 - exponents - zeros).max()))


def scaled(value: float, exponent: int) -> int:
    """A number times 2^exponent, which must be an integer."""
    fraction = Fraction(value) * 2**exponent
    if fraction.denominator != 1:
        raise ValueError(f"{value!r} is not an integer times 2^-{exponent}.")
    return int(fraction.numerator)


def _as_doubles(X: Any) -> Any:
    """The same samples in double precision, as an array or a CSR matrix with one value per place."""
    if isinstance(X, np.ndarray):
        return np.asarray(X, dtype=np.float64)
    if getattr(X, "format", None) != "csr":
        raise ValueError("samples must be an array or a CSR matrix.")
    if X.dtype != np.float64 or not X.has_canonical_format:
        X = X.astype(np.float64)
        X.sum_duplicates()
    return X


class Samples:
    """Samples, labels and costs of a problem.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, m)
        float64, every value finite.
    y : sequence of n labels, -1 or 1
    costs : sequence of n costs
        float64, not negative.
    """

    def __init__(self, X: Any, y: Any, costs: Any) -> None:
        self.X = X = _as_doubles(X)
        self.n, self.m = X.shape
        self.y = np.asarray(y, dtype=np.float64)
        self.costs = np.asarray(costs, dtype=np.float64)
        values = X if isinstance(X, np.ndarray) else X.data
        if self.y.shape != (self.n,) or not np.isin(self.y, (-1, 1)).all():
            raise ValueError("labels must be -1 or 1, one for every sample.")
        if self.costs.shape != (self.n,) or not (np.isfinite(self.costs) & (self.costs >= 0)).all():
            raise ValueError("costs must be finite and not negative, one for every sample.")
        if not np.isfinite(values).all():
            raise ValueError("samples must be finite.")
        #: Features are integers times 2^-exponent.
        self.exponent = exponent_of(values)
        self._rows: dict[int, list[tuple[int, int]]] = {}

    def hashes(self) -> dict[str, str]:
        """What identifies the problem."""
        return {
            "samples": samples_hash(self.X),
            "labels": numbers_hash(self.y),
            "costs": numbers_hash(self.costs),
        }

    def label(self, row: int) -> int:
        """-1 or 1."""
        return 1 if self.y[row] > 0 else -1

    def whole_row(self, row: int) -> list[tuple[int, int]]:
        """The features of a row that are not zero, as pairs of column and value times 2^exponent."""
        known = self._rows.get(row)
        if known is None:
            columns, values = row_values(self.X, row)
            known = [(k, scaled(value, self.exponent)) for k, value in zip(columns, values, strict=True)]
            self._rows[row] = known
        return known
