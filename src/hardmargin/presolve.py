"""Reductions that change neither the optimum nor the answer that the caller sees.

The methods work on a smaller, better conditioned problem: rows of zero cost are dropped, identical
samples are merged into one that carries their total cost, constant features are removed (their weight is
zero in every optimum, because the intercept replaces them at no cost), features far from zero are shifted
towards it (the intercept absorbs the shift), features that depend linearly on others are replaced by fewer
(see :mod:`hardmargin.projection`) and all are divided by one common power of two. Only a common factor may
rescale the features, because anything else would change ||w||.

The reduced rows are sorted, whatever the order of the caller's rows. So shuffled data, or data with weights
instead of repetitions, give the same reduced problem and the same answer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from hardmargin.arrays import FloatArray
from hardmargin.problem import Problem
from hardmargin.projection import Check, Projection, no_check, projection
from hardmargin.row_order import distinct_rows

# Keeps the square of the scale, by which objectives are multiplied, far from overflow.
_LARGEST_EXPONENT = 480

# Costs are divided by that square, and must stay within this power of two and its inverse.
_LARGEST_COST_EXPONENT = 1000

# Features between the inverse of this size and this size need no scaling.
_COMMON_SIZE = 2.0**10

# Values of which medians are taken at once, which takes some hundredths of a second.
_BLOCK = 1_000_000


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
    problem: Problem, *, reduce: bool = True, project: Projector | None = None, check: Check = no_check
) -> Presolved:
    """Reduce a problem without changing its optimum.

    Parameters
    ----------
    problem : Problem
    reduce : bool
        False keeps all samples of positive cost and all features, in their order: the features are only shifted,
        and scaled only if their size is far from 1.
    project : callable, optional
        Finds fewer coordinates for dependent features; by default :func:`hardmargin.projection.projection`. Only
        its last digits depend on the machine.
    check : callable
        Called before each piece of work, which takes at most some tenths of a second; may raise to stop.

    Returns
    -------
    Presolved
    """
    rows, representative = _merged_rows(problem, check) if reduce else _costly_rows(problem)
    costly = representative >= 0
    costs = np.zeros(len(rows))
    np.add.at(costs, representative[costly], problem.costs[costly])
    check()
    X = problem.X[rows]
    varies, shift = _shifts(X, check)
    features = np.flatnonzero(varies) if reduce else np.arange(problem.m)
    check()
    left = X if len(features) == problem.m else X[:, features]
    # One rounding per value, relative to the shifted value: the certificates of the core allow for it.
    shifted = left - shift[features]
    projected = None
    if reduce:
        project = project or partial(projection, check=check)
        projected = project(left, shift[features], _longest(problem))
    if projected is not None:
        shifted = projected.samples
    check()
    sizes = np.maximum(shifted.max(axis=1, initial=0.0), -shifted.min(axis=1, initial=0.0))
    scale = _power_of_two_scale(float(sizes.max()) if reduce else _common_size(sizes), costs)
    check()
    reduced = Problem(
        np.ascontiguousarray(shifted * scale),
        problem.y[rows],
        costs / scale**2,
        problem.classes,
        problem.C,
    )
    return Presolved(reduced, representative, features, shift, scale, problem.m, projected)


def _longest(problem: Problem) -> float:
    """An upper bound on ||w|| in any optimum: w = 0 costs no more than the cheaper class."""
    cost = min(float(problem.costs[problem.y > 0].sum()), float(problem.costs[problem.y < 0].sum()))
    return float(np.sqrt(2 * cost)) * (1 + 1e-9)


def _merged_rows(problem: Problem, check: Check) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """One row per set of identical samples of positive cost, and for every row the index of its set."""
    check()
    costly = np.flatnonzero(problem.costs > 0)
    X = problem.X if len(costly) == problem.n else problem.X[costly]
    first, place = distinct_rows(problem.y[costly], X, check)
    representative = np.full(problem.n, -1, dtype=np.intp)
    representative[costly] = place
    return costly[first], representative


def _costly_rows(problem: Problem) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The rows of positive cost, and for every row its index among them."""
    costly = np.flatnonzero(problem.costs > 0)
    representative = np.full(problem.n, -1, dtype=np.intp)
    representative[costly] = np.arange(len(costly))
    return costly, representative


def _shifts(X: FloatArray, check: Check) -> tuple[NDArray[np.bool_], FloatArray]:
    """Which features vary, and what is subtracted from each feature.

    The shift is the value of a constant feature, the median of a feature far from zero relative to its spread, and
    zero otherwise. Half of the values are then within a factor of two of the shift, so their difference is exact. A
    mean would follow an outlier, and one at 1e12 times the other values would round their digits away.
    """
    n, m = X.shape
    varies, shift = np.zeros(m, dtype=bool), X[0].copy()
    width = max(1, _BLOCK // n)
    for begin in range(0, m, width):
        check()
        columns = slice(begin, begin + width)
        values = np.ascontiguousarray(X[:, columns].T)
        median = np.median(values, axis=1)
        spread = np.median(np.abs(values - median[:, None]), axis=1, overwrite_input=True)
        varies[columns] = values.max(axis=1) > values.min(axis=1)
        shift[columns] = np.where(
            varies[columns], np.where(np.abs(median) > 2 * spread, median, 0.0), X[0, columns]
        )
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
    largest_exponent = (int(np.frexp(costs.min())[1]) + _LARGEST_COST_EXPONENT) // 2
    return float(np.ldexp(1.0, max(min(exponent, largest_exponent), smallest_exponent)))
