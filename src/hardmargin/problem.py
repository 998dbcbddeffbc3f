"""The training problem as data: validated samples, labels and costs, and the one place that evaluates it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hardmargin.arrays import FloatArray, SampleArray, rows_per_block, stored_values
from hardmargin.budget import Budget
from hardmargin.penalty import resolved_penalty
from hardmargin.validation import (
    combined_weights,
    scaled_costs,
    signs_and_classes,
    validated_labels,
    validated_samples,
    validated_trusted,
)
from hardmargin.weight_bounds import WeightBounds, feature_names, validated_bounds

#: A sample counts as kept only if its margin y(w.x + b) is at least ``1 - MARGIN_TOLERANCE``.
MARGIN_TOLERANCE = 1e-9

# Values of the samples that are processed at once.
_BLOCK = 100_000


@dataclass(frozen=True)
class Evaluation:
    """The objective, margins and violations of a hyperplane.

    Attributes
    ----------
    objective : float
        1/2 ||w||^2 plus the costs of the violated samples. With a budget, only samples that are not limited cost
        something, and the objective is infinite beyond a limit.
    margins : ndarray of shape (n,)
        y (w.x + b) of every sample.
    violations : ndarray of int
        Sorted indices of the samples with a margin below ``1 - MARGIN_TOLERANCE``.
    """

    objective: float
    margins: FloatArray
    violations: NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Problem:
    """Minimise 1/2 ||w||^2 + sum of ``costs[i]`` over the samples with y_i (w.x_i + b) < 1.

    Hyperplanes that violate a trusted sample or a bound on a weight are infeasible: they cost infinity.

    Build it with :meth:`from_data`, which validates; the constructor itself trusts its arguments.

    Attributes
    ----------
    X : ndarray or scipy.sparse.csr_array of shape (n, m)
        Samples, float64: dense and C-contiguous, or sparse with sorted indices and without duplicates.
    y : ndarray of shape (n,)
        -1.0 and +1.0.
    costs : ndarray of shape (n,)
        What it costs to violate a sample: C times its weight.
    classes : tuple
        The caller's two labels, the negative side first.
    C : float
        The penalty from which the costs were computed.
    weights : ndarray of shape (n,) or None
        Sample weights times class weights; None if neither was given.
    trusted : ndarray of bool of shape (n,) or None
        The samples that must be kept; None if there are none.
    bounds : WeightBounds or None
        Bounds on the weights; None if all are free.
    budget : Budget or None
        Limits on what may be violated. The costs of limited samples are their weights: they count towards the
        limits and not towards the objective.

    Examples
    --------
    >>> problem = Problem.from_data([[0.0], [1.0], [3.0]], ["no", "no", "yes"], C=10)
    >>> problem.n, problem.m, problem.classes
    (3, 1, ('no', 'yes'))
    >>> problem.evaluate([1.0], -2.0).objective
    0.5
    """

    X: SampleArray
    y: FloatArray
    costs: FloatArray
    classes: tuple[Any, Any] = (-1, 1)
    C: float = 1.0
    weights: FloatArray | None = None
    trusted: NDArray[np.bool_] | None = None
    bounds: WeightBounds | None = None
    budget: Budget | None = None

    @classmethod
    def from_data(
        cls,
        X: ArrayLike,
        y: ArrayLike,
        C: float | str = 1.0,
        *,
        sample_weight: ArrayLike | None = None,
        class_weight: Mapping[Any, float] | str | None = None,
        trusted: ArrayLike | None = None,
        monotonic_cst: Any = None,
        coef_bounds: Any = None,
        max_violations: Mapping[Any, float] | float | None = None,
    ) -> Problem:
        """Validate the caller's data.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n, m)
            Samples; every value finite. A sparse matrix is made dense only if that is small.
        y : array-like of shape (n,)
            Labels, any two values. The smaller one (in sorted order) is the negative side.
        C : float or "scale"
            Penalty of a violated sample, positive; "scale" as in :func:`hardmargin.penalty.scale_penalty`.
        sample_weight : array-like of shape (n,), optional
            Factors of C, not negative. A sample of weight zero is dropped: it costs nothing.
        class_weight : dict or "balanced", optional
            Factors of C by label; a label that is not named has 1. "balanced" gives both classes the same
            total weight, sample weights included.
        trusted : array-like of bool of shape (n,), optional
            The samples that must be kept, even those of weight zero.
        monotonic_cst : array-like of int of shape (m,), or dict, optional
            1, -1 or 0 for every feature: its weight is not negative, not positive, or free. A dict has them by the
            names of a DataFrame's columns.
        coef_bounds : pair or dict, optional
            (lower, upper): bounds on the weights, each a number, one number per feature, or None. A dict has pairs
            (low, high) by the names of a DataFrame's columns.
        max_violations : float or dict, optional
            Limits on the total weight of the violated samples, of all of them or by label; see
            :mod:`hardmargin.budget`.

        Returns
        -------
        Problem

        Raises
        ------
        ValueError
            If the data, the labels, the weights or C cannot be used; the message says which and why.
        TypeError
            If an argument has a type that cannot be converted.
        """
        samples = validated_samples(X)
        n = samples.shape[0]
        labels = validated_labels(y, n)
        signs, classes = signs_and_classes(labels)
        weights = combined_weights(signs, classes, sample_weight, class_weight)
        budget = None if max_violations is None else Budget.of(max_violations, classes)
        penalty = 1.0 if budget is not None and budget.limits_all else resolved_penalty(C, samples, weights)
        factors = np.ones(n) if weights is None else weights
        costs = scaled_costs(penalty, factors)
        if budget is not None:
            costs = np.where(budget.limited(signs), factors, costs)
        bounds = validated_bounds(monotonic_cst, coef_bounds, samples.shape[1], feature_names(X))
        keep = validated_trusted(trusted, n)
        return cls(samples, signs, costs, classes, penalty, weights, keep, bounds, budget)

    @property
    def n(self) -> int:
        """Number of samples."""
        return int(self.X.shape[0])

    @property
    def m(self) -> int:
        """Number of features."""
        return int(self.X.shape[1])

    @property
    def constrained(self) -> bool:
        """Whether some hyperplanes are infeasible."""
        return self.trusted is not None or self.bounds is not None

    @property
    def must_keep(self) -> NDArray[np.bool_]:
        """The mask of the samples that must be kept."""
        return np.zeros(self.n, dtype=bool) if self.trusted is None else self.trusted

    @property
    def core_bounds(self) -> tuple[FloatArray, FloatArray] | None:
        """The bounds on the weights as the core wants them."""
        return None if self.bounds is None else (self.bounds.lower, self.bounds.upper)

    @property
    def typical_cost(self) -> float:
        """The mean cost of the samples that are not trusted; of all samples if there are no others."""
        free = None if self.trusted is None else ~self.trusted
        return float(self.costs.mean() if free is None or not free.any() else self.costs[free].mean())

    @property
    def certain_cost(self) -> float:
        """The smallest cost of a trusted sample; infinity if there are none.

        In the problems that methods get, it is above the objective of a known hyperplane; see
        :func:`hardmargin.search.feasibility.with_certain_costs`.
        """
        trusted = False if self.trusted is None else self.trusted
        return float(np.min(self.costs, where=trusted, initial=np.inf))

    @property
    def sparse(self) -> bool:
        """Whether the samples are stored as a sparse matrix."""
        return not isinstance(self.X, np.ndarray)

    @property
    def stored_values(self) -> int:
        """Number of stored values of the samples, without the zeros of sparse ones."""
        return stored_values(self.X)

    def evaluate(self, coef: ArrayLike, intercept: float) -> Evaluation:
        """Evaluate a hyperplane by the numerical contract: float64, kept means margin >= 1 - 1e-9.

        Parameters
        ----------
        coef : array-like of shape (m,)
            The normal vector w.
        intercept : float
            The offset b.

        Returns
        -------
        Evaluation
        """
        w = np.asarray(coef, dtype=np.float64)
        if w.shape != (self.m,):
            raise ValueError(f"coef has shape {w.shape}; expected ({self.m},), one weight per feature.")
        # A hyperplane out of range costs infinity, and a margin that is not a number is violated. An infeasible
        # hyperplane costs infinity too.
        with np.errstate(over="ignore", invalid="ignore"):
            margins = self._margins(w, intercept)
            violated = ~(margins >= 1 - MARGIN_TOLERANCE)
            objective = 0.5 * float(w @ w) + self._cost_of(violated)
        if self.trusted is not None and bool((violated & self.trusted).any()):
            objective = float("inf")
        if self.bounds is not None and not self.bounds.hold(w):
            objective = float("inf")
        return Evaluation(objective, margins, np.flatnonzero(violated))

    def _cost_of(self, violated: NDArray[np.bool_]) -> float:
        if self.budget is None:
            return float(self.costs[violated].sum())
        return self.budget.cost(self.y[violated], self.costs[violated])

    def _margins(self, w: FloatArray, intercept: float) -> FloatArray:
        # If w = 0, the product over all samples can be skipped.
        values: FloatArray = self.y * (self.X @ w + intercept if w.any() else np.float64(intercept))
        return values

    def kept_up_to_rounding(self, coef: ArrayLike, intercept: float) -> NDArray[np.bool_]:
        """Which samples a hyperplane keeps if the rounding errors of the margins count in their favour.

        A sample far from the origin may have a margin of exactly 1 that float64 cannot distinguish from slightly
        less; :meth:`fitted` then makes it pass.

        Parameters
        ----------
        coef, intercept : array-like of shape (m,), float

        Returns
        -------
        ndarray of bool of shape (n,)
        """
        w = np.asarray(coef, dtype=np.float64)
        margins = self.evaluate(w, intercept).margins
        with np.errstate(over="ignore", invalid="ignore"):
            kept: NDArray[np.bool_] = margins + _margin_rounding(self.X, w, intercept) >= 1 - MARGIN_TOLERANCE
        return kept

    def fitted(self, coef: ArrayLike, intercept: float, kept: NDArray[np.bool_]) -> tuple[FloatArray, float]:
        """Scale (w, b) by one factor >= 1 so that every kept sample's margin is at least 1.

        If there are bounds on the weights, w is moved to the nearest weights within them. The factor may then
        violate a bound by more than its tolerance; so the best of w with the factor, with it and moved again, and
        without it is returned.

        The target allows for the rounding of the margins themselves, so the samples are kept in any order of
        summation.

        Parameters
        ----------
        coef, intercept : array-like of shape (m,), float
            A hyperplane that has all kept samples on their right side.
        kept : ndarray of bool of shape (n,)
            The samples that must pass.

        Returns
        -------
        coef, intercept : ndarray of shape (m,), float
        """
        w = np.asarray(coef, dtype=np.float64)
        if self.bounds is None:
            return self._scaled(w, intercept, kept)
        nearest = self._moved(self.bounds, w, intercept)
        scaled = self._scaled(*nearest, kept)
        moved_again = self._moved(self.bounds, *scaled)
        return min((scaled, moved_again, nearest), key=lambda each: self.evaluate(*each).objective)

    def _moved(self, bounds: WeightBounds, w: FloatArray, intercept: float) -> tuple[FloatArray, float]:
        """The nearest weights within the bounds, with the same score of the mean sample.

        Far from the origin, the smallest change of a weight would move all margins otherwise.
        """
        clipped = bounds.clipped(w)
        change = w - clipped
        if not change.any():
            return clipped, float(intercept)
        return clipped, float(intercept + np.mean(self.X @ change))

    def _scaled(self, w: FloatArray, intercept: float, kept: NDArray[np.bool_]) -> tuple[FloatArray, float]:
        """See :meth:`fitted`."""
        if not kept.any():
            return w, float(intercept)
        # All margins, because a copy of the kept rows would take as much memory as the data.
        with np.errstate(over="ignore", invalid="ignore"):
            margins = self._margins(w, intercept)
            smallest = float((margins - _margin_rounding(self.X, w, intercept))[kept].min())
        if smallest <= 0:
            # This far from the origin, float64 guarantees nothing; the hyperplane may still pass.
            smallest = float(margins[kept].min())
        if smallest >= 1 or smallest <= 0:
            return w, float(intercept)
        factor = 1 / smallest
        return w * factor, float(intercept * factor)


def _margin_rounding(X: SampleArray, w: FloatArray, intercept: float) -> FloatArray:
    """Largest error of the computed margins, for any order of summation."""
    n, m = X.shape
    sizes, lengths = np.empty(n), np.abs(w)
    step = rows_per_block(X, _BLOCK)
    with np.errstate(over="ignore", invalid="ignore"):
        # In blocks, because the absolute values of all data would take as much memory as the data.
        for begin in range(0, n, step):
            sizes[begin : begin + step] = abs(X[begin : begin + step]) @ lengths
        rounding: FloatArray = (m + 3) * np.finfo(np.float64).eps * (sizes + abs(intercept))
    return rounding
