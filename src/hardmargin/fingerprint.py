"""Checksums of data: whether two problems are the same, and whether data are those that a model was trained on."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardmargin.problem import Problem

# Values of which a checksum is computed at once.
_BLOCK = 1_000_000


def fingerprint(problem: Problem, check: Callable[[], None] = lambda: None) -> str:
    """A checksum of the samples, labels, costs and constraints of a problem.

    Parameters
    ----------
    problem : Problem
    check : callable
        Called before each piece of work; may raise to stop.
    """
    constraints = [] if problem.trusted is None else [problem.trusted.astype(np.float64)]
    constraints += problem.core_bounds or ()
    return _checksum([*_sample_arrays(problem), problem.costs, *constraints], _kind(problem), check)


def data_fingerprint(problem: Problem) -> str:
    """A checksum of the samples and labels of a problem, whatever C and the weights are.

    Labels count by their side only, because a file may hold the same labels as text or as numbers.

    Examples
    --------
    >>> a, b = (Problem.from_data([[0.0], [2.0]], ["no", "yes"], C) for C in (1, 10))
    >>> data_fingerprint(a) == data_fingerprint(b)
    True
    >>> data_fingerprint(a)[:7]
    'sha256:'
    """
    return f"sha256:{_checksum(_sample_arrays(problem), _kind(problem), lambda: None)}"


def _kind(problem: Problem) -> str:
    return f"sparse {problem.X.shape}" if problem.sparse else ""


def _sample_arrays(problem: Problem) -> list[NDArray[Any]]:
    X: Any = problem.X
    return [*([X.indptr, X.indices, X.data] if problem.sparse else [X]), problem.y]


def _checksum(arrays: list[NDArray[Any]], kind: str, check: Callable[[], None]) -> str:
    digest = hashlib.sha256(kind.encode())
    for array in arrays:
        digest.update(f"{array.shape}".encode())
        # In blocks, because the bytes of all samples would take as much memory as the samples.
        step = max(1, _BLOCK // max(1, math.prod(array.shape[1:])))
        for begin in range(0, len(array), step):
            check()
            block = array[begin : begin + step]
            digest.update(np.ascontiguousarray(block, dtype="<i8" if block.dtype.kind == "i" else "<f8").tobytes())
    return digest.hexdigest()
