"""Reductions that change neither the optimum nor the answer that the caller sees.

The methods work on a smaller, better conditioned problem: rows of zero cost are dropped unless trusted, identical
samples are merged into one that carries their total cost, constant features are removed (their weight is
zero in every optimum, because the intercept replaces them at no cost), features far from zero are shifted
towards it (the intercept absorbs the shift), features that depend linearly on others are replaced by fewer
(see :mod:`hardmargin.projection`) and all are divided by one common power of two. Only a common factor may
rescale the features, because anything else would change ||w||. If there are bounds on the weights, dependent
features stay, and so do constant ones whose weight must not be zero.

The reduced rows are sorted, whatever the order of the caller's rows. So shuffled data, or data with weights
instead of repetitions, give the same reduced problem and the same answer.

Large data (more than five million values) and sparse data stay in the caller's order, and large data are shifted by
the medians of some of the rows. Dependent features are replaced only in small data. Sparse data are not shifted,
because they would become dense; of their constant features, those without values are removed. The data are copied
at most once, and not at all if there is nothing to change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardmargin.arrays import FloatArray, SampleArray
from hardmargin.far_medians import far_medians
from hardmargin.problem import Problem
from hardmargin.projection import Check, Projection, is_projectable, no_check, projection
from hardmargin.row_order import distinct_rows, equal_rows

# Keeps the square of the scale, by which objectives are multiplied, far from overflow.
_LARGEST_EXPONENT = 480

# Costs are divided by that square, and must stay within this power of two and its inverse.
_LARGEST_COST_EXPONENT = 1000

# Features between the inverse of this size and this size need no scaling.
_COMMON_SIZE = 2.0**10

# Values that are processed at once, which takes some hundredths of a second.
_BLOCK = 1_000_000

# Data with more values are not sorted, and medians are those of evenly spaced rows with at most this many values.
_LARGE = 5_000_000
_MEDIAN_VALUES = 2_000_000


#: Has the parameters of :func:`hardmargin.projection.projection`.
Projector = Callable[[FloatArray, FloatArray, float], "Projection | None"]


@dataclass(frozen=True, eq=False)
class Presolved:
    """A reduced problem, and how to transform its answers back.

    Attributes
    ----------
    problem : Problem
        The reduced problem.
    representative : ndarray of int of shape (n,)
        For every row of the original, the row of the reduced problem that represents it; -1 if dropped.
    features : ndarray of int
        The remaining features of the original.
    shift : ndarray of shape (n_features,)
        Subtracted from the features; the value itself for a constant one.
    scale : float
        A power of two: reduced samples are ``(x - shift)[features] * scale``, projected if the features depend on
        each other.
    n_features : int
        Number of features of the original.
    projection : Projection or None
        How ``(x - shift)[features]`` was replaced by fewer features, if it was.
    """

    problem: Problem
    representative: NDArray[np.intp]
    features: NDArray[np.intp]
    shift: FloatArray
    scale: float
    n_features: int
    projection: Projection | None = None

    @property
    def objective_factor(self) -> float:
        """Factor from objectives of the reduced problem to those of the original."""
        return self.scale**2

    @property
    def bound_factor(self) -> float:
        """Factor for lower bounds: slightly smaller, to allow for the rounding of a projection."""
        return self.objective_factor * (1.0 if self.projection is None else self.projection.bound_factor)

    def restore(self, coef: FloatArray, intercept: float) -> tuple[FloatArray, float]:
        """Transform a hyperplane of the reduced problem back to the original features."""
        w, projected = np.zeros(self.n_features), self.projection
        w[self.features] = (coef if projected is None else projected.basis @ coef) * self.scale
        offset = self.shift @ w + (0.0 if projected is None else projected.centre @ w[self.features])
        return w, float(intercept - offset)

    def reduce(self, coef: FloatArray, intercept: float) -> tuple[FloatArray, float]:
        """Transform a hyperplane of the original to the reduced problem; the inverse of :meth:`restore`.

        If it is out of range there, the result is infinite or not a number.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            w, b = coef[self.features], float(intercept + self.shift @ coef)
            if self.projection is not None:
                w, b = self.projection.basis.T @ w, float(b + self.projection.centre @ w)
            return w / self.scale, b

    def kept_rows(self, kept: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Map a mask over the reduced rows to the original rows; dropped rows are not kept."""
        return np.append(kept, False)[self.representative]

    def summary(self) -> str:
        """One line on what was reduced, empty if nothing was."""
        n, m = len(self.representative), self.n_features
        if (self.problem.n, self.problem.m) == (n, m):
            return ""
        weightless = int(np.count_nonzero(self.representative < 0))
        counts = [
            (weightless, "sample of weight zero", "samples of weight zero"),
            (n - weightless - self.problem.n, "duplicate", "duplicates"),
            (m - len(self.features), "constant feature", "constant features"),
            (len(self.features) - self.problem.m, "dependent feature", "dependent features"),
        ]
        told = [f"{count} {one if count == 1 else more}" for count, one, more in counts if count]
        return f"{n} x {m} reduced to {self.problem.n} x {self.problem.m}: {', '.join(told)}"


def presolve(
    problem: Problem,
    *,
    reduce: bool = True,
    shift_features: bool = True,
    project: Projector | None = None,
    upper: float | None = None,
    check: Check = no_check,
) -> Presolved:
    """Reduce a problem without changing its optimum.

    Parameters
    ----------
    problem : Problem
    reduce : bool
        False keeps all samples that matter and all features, in their order: the features are only shifted,
        and scaled only if their size is far from 1.
    shift_features : bool
        False leaves features that vary where they are: those of a part of a problem have been shifted already, and
        a second shift would round them once more.
    project : callable, optional
        Finds fewer coordinates for dependent features; by default :func:`hardmargin.projection.projection`. Only
        its last digits depend on the machine.
    upper : float, optional
        The objective of a feasible hyperplane. Needed to replace dependent features of a problem with trusted
        samples; of others, giving up the cheaper class is known to be feasible.
    check : callable
        Called before each piece of work, which takes at most some tenths of a second; may raise to stop.

    Returns
    -------
    Presolved
        Its samples are the caller's own array if nothing had to be changed.
    """
    if problem.sparse:
        return _presolved_sparse(problem, reduce, check)
    rows, representative = _merged_rows(problem, check) if reduce else _costly_rows(problem)
    costs = _total_costs(problem, representative, len(rows))
    check()
    selection = _Selection(problem.X, rows)
    if not selection.is_whole and not _is_large(problem.X):
        selection = selection.copied(check)
    varies, shift = _shifts(selection, check)
    if not shift_features:
        shift[varies] = 0.0
    if problem.bounds is not None:
        # The weight of a constant feature is zero only if it may be.
        varies |= problem.bounds.exclude_zero
    features = np.flatnonzero(varies) if reduce else np.arange(problem.m)
    check()
    projected = None
    longest = _longest(problem, upper)
    if reduce and longest is not None and problem.bounds is None and is_projectable(len(rows), len(features)):
        project = project or partial(projection, check=check)
        X = selection[:]
        projected = project(X if len(features) == problem.m else X[:, features], shift[features], longest)
    check()
    # What is still to be done to the samples: None means nothing.
    features_left = features if len(features) < problem.m else None
    shift_left = shift[features] if shift[features].any() else None
    if projected is not None:
        selection, features_left, shift_left = _Selection(projected.samples), None, None
    # Over whole blocks if that is enough: along each row of few features, it takes many times as long.
    sizes = np.zeros(len(rows) if not reduce else 1)
    for part, block in selection.blocks(features_left, shift_left, check):
        if reduce:
            sizes[0] = max(sizes[0], block.max(initial=0.0), -block.min(initial=0.0))
        else:
            sizes[part] = np.maximum(block.max(axis=1, initial=0.0), -block.min(axis=1, initial=0.0))
    scale = _power_of_two_scale(float(sizes[0]) if reduce else _common_size(sizes), costs)
    if scale == 1 and selection.is_whole and features_left is None and shift_left is None:
        samples = selection.X
    else:
        if selection.is_own and features_left is None:
            samples = selection.X
        else:
            samples = np.empty((len(rows), selection.X.shape[1] if features_left is None else len(features_left)))
        for part, block in selection.blocks(features_left, shift_left, check):
            np.multiply(block, scale, out=samples[part])
    trusted = _trusted_rows(problem, representative, len(rows))
    reduced = _scaled_problem(problem, samples, problem.y[rows], costs, scale, features, trusted)
    return Presolved(reduced, representative, features, shift, scale, problem.m, projected)


class _Selection:
    """Some rows of a dense array, in an order of their own, without a copy of all of them.

    Parameters
    ----------
    X : ndarray of shape (n, m)
    rows : ndarray of int, optional
        The rows; all of them if not given.
    is_own : bool
        Whether the array belongs to the presolve, which may then change it.
    """

    def __init__(self, X: FloatArray, rows: NDArray[np.intp] | None = None, *, is_own: bool = False) -> None:
        self.X = X
        self.is_own = is_own
        self.is_whole = rows is None or (len(rows) == len(X) and np.array_equal(rows, np.arange(len(X))))
        self._rows = None if self.is_whole else rows

    def copied(self, check: Check) -> _Selection:
        """The same rows in an array of their own: collecting them anew for every pass takes longer."""
        copy = np.empty((len(self), self.X.shape[1]))
        for part, block in self.blocks(None, None, check):
            copy[part] = block
        return _Selection(copy, is_own=True)

    def __len__(self) -> int:
        return len(self.X) if self._rows is None else len(self._rows)

    def __getitem__(self, part: slice) -> FloatArray:
        taken: FloatArray = self.X[part if self._rows is None else self._rows[part]]
        return taken

    def columns(self, columns: slice) -> FloatArray:
        """All rows of some columns, one column after the other."""
        taken = self.X[:, columns] if self._rows is None else self.X[self._rows, columns]
        return np.ascontiguousarray(taken.T)

    def blocks(
        self, features: NDArray[np.intp] | None, shift: FloatArray | None, check: Check
    ) -> Iterator[tuple[slice, FloatArray]]:
        """Blocks of rows with some features (all if None), minus the shift (none if None), and their places."""
        step = max(1, _BLOCK // max(1, self.X.shape[1]))
        for begin in range(0, len(self), step):
            check()
            part = slice(begin, begin + step)
            block = self[part] if features is None else self[part][:, features]
            # One rounding per value, relative to the shifted value: the certificates of the core allow for it.
            yield part, block if shift is None else block - shift


def _presolved_sparse(problem: Problem, reduce: bool, check: Check) -> Presolved:
    """Without rows of zero cost, duplicates and features that have no values, and scaled by a power of two."""
    from scipy.sparse import csr_array

    check()
    rows, representative = _merged_rows(problem, check) if reduce else _costly_rows(problem)
    costs = _total_costs(problem, representative, len(rows))
    check()
    X: Any = problem.X if len(rows) == problem.n else problem.X[rows]
    if not X.data.all():
        X = X.copy() if X is problem.X else X
        X.eliminate_zeros()
    check()
    used = np.zeros(problem.m, dtype=bool)
    used[X.indices] = True
    if problem.bounds is not None:
        used |= problem.bounds.exclude_zero
    if not reduce or not used.any():
        used[:] = True
    features = np.flatnonzero(used)
    indices = X.indices if used.all() else (np.cumsum(used) - 1).astype(X.indices.dtype)[X.indices]
    check()
    largest = float(max(X.data.max(), -X.data.min())) if X.nnz else 0.0
    scale = _power_of_two_scale(largest, costs)
    check()
    data = X.data if scale == 1 else X.data * scale
    samples = csr_array((data, indices, X.indptr), shape=(len(rows), len(features)))
    trusted = _trusted_rows(problem, representative, len(rows))
    reduced = _scaled_problem(problem, samples, problem.y[rows], costs, scale, features, trusted)
    return Presolved(reduced, representative, features, np.zeros(problem.m), scale, problem.m)


def _scaled_problem(
    problem: Problem,
    samples: SampleArray,
    y: FloatArray,
    costs: FloatArray,
    scale: float,
    features: NDArray[np.intp],
    trusted: NDArray[np.bool_] | None,
) -> Problem:
    """The problem of samples that were multiplied by ``scale``: norms, and so costs, are divided by its square."""
    bounds = None if problem.bounds is None else problem.bounds.reduced(features, scale)
    budget = None if problem.budget is None else problem.budget.scaled(1 / scale**2)
    scaled_costs = costs / scale**2
    return Problem(
        samples, y, scaled_costs, problem.classes, problem.C, trusted=trusted, bounds=bounds, budget=budget
    )


def _longest(problem: Problem, upper: float | None) -> float | None:
    """An upper bound on ||w|| in any optimum: no optimum costs more than a feasible hyperplane.

    Without constraints, w = 0 is one: it costs no more than the cheaper class. With a budget, none is known.
    """
    if problem.budget is not None or (upper is None and problem.constrained):
        return None
    sides = () if problem.constrained else (1, -1)
    costs = [float(problem.costs[problem.y == side].sum()) for side in sides]
    return float(np.sqrt(2 * min([*costs, *([] if upper is None else [upper])]))) * (1 + 1e-9)


def _merged_rows(problem: Problem, check: Check) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """One row per set of identical samples that matter, and for every row the index of its set."""
    check()
    costly = _rows_that_matter(problem)
    if problem.sparse or _is_large(problem.X):
        rows, place = equal_rows(problem.y, problem.X, costly, check)
    else:
        X = problem.X if len(costly) == problem.n else problem.X[costly]
        first, place = distinct_rows(problem.y[costly], X, check)
        rows = costly[first]
    representative = np.full(problem.n, -1, dtype=np.intp)
    representative[costly] = place
    return rows, representative


def _costly_rows(problem: Problem) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The rows that matter, and for every row its index among them."""
    costly = _rows_that_matter(problem)
    representative = np.full(problem.n, -1, dtype=np.intp)
    representative[costly] = np.arange(len(costly))
    return costly, representative


def _rows_that_matter(problem: Problem) -> NDArray[np.intp]:
    """The rows of positive cost, and those that are trusted."""
    matters = problem.costs > 0
    return np.flatnonzero(matters if problem.trusted is None else matters | problem.trusted)


def _trusted_rows(problem: Problem, representative: NDArray[np.intp], count: int) -> NDArray[np.bool_] | None:
    """Which of ``count`` reduced rows represent a trusted one."""
    if problem.trusted is None:
        return None
    trusted = np.zeros(count, dtype=bool)
    trusted[representative[problem.trusted]] = True
    return trusted


def _total_costs(problem: Problem, representative: NDArray[np.intp], count: int) -> FloatArray:
    """The total cost of the rows that each of ``count`` reduced rows represents."""
    costly = representative >= 0
    totals: FloatArray = np.bincount(representative[costly], weights=problem.costs[costly], minlength=count).astype(
        np.float64, copy=False
    )
    return totals


def _is_large(X: SampleArray) -> bool:
    return int(X.shape[0]) * int(X.shape[1]) > _LARGE


def _shifts(samples: _Selection, check: Check) -> tuple[NDArray[np.bool_], FloatArray]:
    """Which features vary, and what is subtracted from each feature.

    The shift is the value of a constant feature, the median of a feature far from zero relative to its spread, and
    zero otherwise. Half of the values are then within a factor of two of the shift, so their difference is exact. A
    mean would follow an outlier, and one at 1e12 times the other values would round their digits away.
    """
    n, m = len(samples), samples.X.shape[1]
    varies, shift = np.zeros(m, dtype=bool), samples[:1][0].copy()
    if _is_large(samples.X):
        lowest, highest = shift.copy(), shift.copy()
        for _, block in samples.blocks(None, None, check):
            np.minimum(lowest, block.min(axis=0), out=lowest)
            np.maximum(highest, block.max(axis=0), out=highest)
        check()
        varies = highest > lowest
        some = samples[:: -(-n * m // _MEDIAN_VALUES)]
        shift = np.where(varies, far_medians(np.ascontiguousarray(some.T)), shift)
        return varies, shift
    width = max(1, _BLOCK // n)
    for begin in range(0, m, width):
        check()
        columns = slice(begin, begin + width)
        values = samples.columns(columns)
        varies[columns] = values.max(axis=1) > values.min(axis=1)
        shift[columns] = np.where(varies[columns], far_medians(values), shift[columns])
    return varies, shift


def _common_size(sizes: FloatArray) -> float:
    """The typical size of a sample, or one that needs no scaling if that is not far from 1."""
    positive = sizes[sizes > 0]
    typical = float(np.median(positive)) if len(positive) else 0.0
    return 0.5 if 1 / _COMMON_SIZE <= typical <= _COMMON_SIZE else typical


def _power_of_two_scale(size: float, costs: FloatArray) -> float:
    """The power of two that scales this size to between 1/2 and 1, as far as costs allow it."""
    if size == 0.0:
        return 1.0
    exponent = int(np.clip(-np.frexp(size)[1], -_LARGEST_EXPONENT, _LARGEST_EXPONENT))
    smallest_exponent = (int(np.frexp(costs.sum())[1]) - _LARGEST_COST_EXPONENT) // 2 + 1
    largest_exponent = (int(np.frexp(costs[costs > 0].min())[1]) + _LARGEST_COST_EXPONENT) // 2
    return float(np.ldexp(1.0, max(min(exponent, largest_exponent), smallest_exponent)))
