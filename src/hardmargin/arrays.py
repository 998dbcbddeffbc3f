"""Types of arrays, and when sparse samples are stored as dense ones."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

#: Samples: a dense array, or a ``scipy.sparse.csr_array`` with sorted indices and without duplicates.
SampleArray: TypeAlias = FloatArray | Any

# Sparse samples are made dense if that takes at most this many bytes, or at most this many times their own.
_SMALL_BYTES = 64_000_000
_LARGER = 3


def dense_bytes(n: int, m: int) -> int:
    """The bytes of n x m values in a dense array."""
    return 8 * n * m


def sparse_bytes(X: Any) -> int:
    """The bytes of a CSR array."""
    return int(X.data.nbytes + X.indices.nbytes + X.indptr.nbytes)


def is_worth_making_dense(n: int, m: int, sparse: int) -> bool:
    """Whether sparse samples of this shape, which take ``sparse`` bytes, are small enough as a dense array.

    Examples
    --------
    >>> is_worth_making_dense(1000, 1000, 10_000), is_worth_making_dense(100_000, 10_000, 60_000_000)
    (True, False)
    """
    return dense_bytes(n, m) <= max(_SMALL_BYTES, _LARGER * sparse)


def stored_values(X: Any) -> int:
    """Number of stored values, without the zeros of sparse samples."""
    return int(X.size if isinstance(X, np.ndarray) else X.nnz)


def rows_per_block(X: SampleArray, values: int) -> int:
    """How many rows of samples have about this many stored values; at least 1."""
    return max(1, values * int(X.shape[0]) // max(1, stored_values(X)))
