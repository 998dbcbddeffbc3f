"""What a solve is asked for: limits, start and combinations of options, checked before anything starts."""

from __future__ import annotations

from typing import Any

import numpy as np

from hardmargin.arrays import FloatArray, dense_bytes, sparse_bytes
from hardmargin.bounds import SMALLEST_GAP, is_possible_gap
from hardmargin.cores import useful_threads
from hardmargin.limits import Limits
from hardmargin.memory import require_memory
from hardmargin.methods import budget, for_sparse_samples, needs_dense, with_frontier
from hardmargin.methods.base import Method
from hardmargin.problem import Problem
from hardmargin.result import Result
from hardmargin.units import GIGABYTE
from hardmargin.validation import is_real, is_whole, validated_time_limit

# Copies of data up to this many bytes are not worth asking the system about. Larger data need a copy, and this many
# bytes per sample for costs, margins and the like.
_SURELY_FITS = 100_000_000
_BYTES_PER_SAMPLE = 200


def check_method(solver: Method, method: str, **asked_for: Any) -> None:
    """Refuse options that need a method with open subproblems."""
    for name, value in asked_for.items():
        if value is not None and not solver.HAS_FRONTIER:
            raise ValueError(
                f"method {method!r} does not support {name}; leave it out, or use {', '.join(with_frontier())}."
            )


def check_budget(method: str, **asked_for: Any) -> None:
    """Refuse what cannot be combined with a budget."""
    if method not in budget.METHODS:
        raise ValueError(
            f"method {method!r} does not support max_violations; leave it out, or use {', '.join(budget.METHODS)}."
        )
    for name, value in asked_for.items():
        if value is not None:
            raise ValueError(f"{name} cannot be combined with max_violations; leave out one of them.")


def check_size(problem: Problem, solver: Method, method: str) -> None:
    """Refuse what cannot fit into memory before anything starts.

    Raises
    ------
    ValueError
        If the samples are sparse and the method needs dense ones.
    MemoryError
        If there is no memory for a copy of the samples.
    """
    n, m = problem.n, problem.m
    dense = dense_bytes(n, m)
    own = sparse_bytes(problem.X) if problem.sparse else dense
    if problem.sparse and needs_dense(solver):
        raise ValueError(
            f"method {method!r} needs dense samples, and {n} x {m} of them would take {dense / GIGABYTE:.3g} GB "
            f"(as a sparse matrix: {own / GIGABYTE:.3g} GB); use {', '.join(for_sparse_samples())}, or select "
            "fewer features or samples."
        )
    if own > _SURELY_FITS:
        require_memory(
            own + _BYTES_PER_SAMPLE * n,
            f"solving a problem of {n} x {m} samples ({own / GIGABYTE:.3g} GB)",
            "use fewer samples or features, or a machine with more memory",
        )


def validated_limits(time_limit: Any, gap: Any, threads: Any, node_limit: Any, seed: Any) -> Limits:
    """The limits of a solve that starts now; for the arguments see :func:`solve`.

    Raises
    ------
    ValueError
        If one of them cannot be used.
    """
    seconds = validated_time_limit(time_limit)
    if not is_real(gap) or not is_possible_gap(gap):
        raise ValueError(f"gap is {gap!r}; expected a number from {SMALLEST_GAP:g} to below 1.")
    if not is_whole(threads) or not (threads >= 1 or threads == -1):
        raise ValueError(f"threads is {threads!r}; expected a whole number >= 1, or -1 for all cores.")
    if node_limit is not None and (not is_whole(node_limit) or node_limit < 1):
        raise ValueError(f"node_limit is {node_limit!r}; expected a whole number >= 1, or None.")
    if not is_whole(seed) or not 0 <= seed < 2**64:
        raise ValueError(f"seed is {seed!r}; expected a whole number from 0 to 2**64 - 1.")
    nodes = None if node_limit is None else int(node_limit)
    return Limits(seconds, float(gap), useful_threads(int(threads)), nodes, int(seed))


def validated_start(start: Any, problem: Problem) -> tuple[FloatArray, float]:
    """The weights and the bias of the caller's start."""
    try:
        coef, intercept = (start.coef, start.intercept) if isinstance(start, Result) else start
        weights, bias = np.array(coef, dtype=np.float64), float(intercept)
    except (TypeError, ValueError):
        raise TypeError(f"start is {start!r:.80}; expected a Result, or a pair of coef and intercept.") from None
    if weights.shape != (problem.m,):
        raise ValueError(f"start has weights of shape {weights.shape}; expected ({problem.m},), one per feature.")
    if not (np.isfinite(weights).all() and np.isfinite(bias)):
        raise ValueError("start has weights or an intercept that are not finite; expected numbers.")
    return weights, bias
