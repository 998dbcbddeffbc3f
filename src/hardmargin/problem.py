"""The training problem as data: validated samples, labels and costs, and the one place that evaluates it."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

#: A sample counts as kept only if its margin y(w.x + b) is at least ``1 - MARGIN_TOLERANCE``.
MARGIN_TOLERANCE = 1e-9

#: Larger values overflow when they are squared in a norm.
LARGEST_VALUE = 1e150

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Evaluation:
    """What a hyperplane is worth on a problem.

    Attributes
    ----------
    objective : float
        1/2 ||w||^2 plus the costs of the violated samples.
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

    Build it with :meth:`from_data`, which validates; the constructor itself trusts its arguments.

    Attributes
    ----------
    X : ndarray of shape (n, m)
        Samples, float64 and C-contiguous.
    y : ndarray of shape (n,)
        -1.0 and +1.0.
    costs : ndarray of shape (n,)
        What it costs to violate a sample: C times its weight.
    classes : tuple
        The caller's two labels, the negative side first.
    C : float
        The penalty the costs were made from.
    weights : ndarray of shape (n,) or None
        Sample weights times class weights; None if neither was given.

    Examples
    --------
    >>> problem = Problem.from_data([[0.0], [1.0], [3.0]], ["no", "no", "yes"], C=10)
    >>> problem.n, problem.m, problem.classes
    (3, 1, ('no', 'yes'))
    >>> problem.evaluate([1.0], -2.0).objective
    0.5
    """

    X: FloatArray
    y: FloatArray
    costs: FloatArray
    classes: tuple[Any, Any] = (-1, 1)
    C: float = 1.0
    weights: FloatArray | None = None

    @classmethod
    def from_data(
        cls,
        X: ArrayLike,
        y: ArrayLike,
        C: float = 1.0,
        *,
        sample_weight: ArrayLike | None = None,
        class_weight: Mapping[Any, float] | str | None = None,
    ) -> Problem:
        """Validate the caller's data.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n, m)
            Samples; every value finite.
        y : array-like of shape (n,)
            Labels, any two values. The smaller one (in sorted order) is the negative side.
        C : float
            Penalty of a violated sample, positive.
        sample_weight : array-like of shape (n,), optional
            Factors of C, not negative. A sample of weight zero is dropped: it costs nothing.
        class_weight : dict or "balanced", optional
            Factors of C by label; a label that is not named has 1. "balanced" gives both classes the same
            total weight, sample weights included.

        Returns
        -------
        Problem

        Raises
        ------
        ValueError
            If the data, the labels, the weights or C are not usable; the message says which and why.
        TypeError
            If an argument is of a kind that cannot be converted.
        """
        samples = validated_samples(X)
        labels = _validated_labels(y, len(samples))
        penalty = _validated_penalty(C)
        negative, positive = _two_classes(labels)
        signs = np.where(labels == positive, 1.0, -1.0)
        classes = (_plain(negative), _plain(positive))
        weights = _combined_weights(signs, classes, sample_weight, class_weight)
        costs = np.full(len(samples), penalty) if weights is None else _scaled_costs(penalty, weights)
        return cls(samples, signs, costs, classes, penalty, weights)

    @property
    def n(self) -> int:
        """Number of samples."""
        return int(self.X.shape[0])

    @property
    def m(self) -> int:
        """Number of features."""
        return int(self.X.shape[1])

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
            raise ValueError(f"coef has shape {w.shape}; expected ({self.m},), a weight a feature.")
        # A hyperplane out of range is worth infinity, and a margin that is not a number is violated.
        with np.errstate(over="ignore", invalid="ignore"):
            margins = self.y * (self.X @ w + intercept)
            violated = ~(margins >= 1 - MARGIN_TOLERANCE)
            objective = 0.5 * float(w @ w) + float(self.costs[violated].sum())
        return Evaluation(objective, margins, np.flatnonzero(violated))

    def fitted(self, coef: ArrayLike, intercept: float, kept: NDArray[np.bool_]) -> tuple[FloatArray, float]:
        """Scale (w, b) by one factor >= 1 so that every kept sample's margin is at least 1.

        The target leaves room for the rounding of the margins themselves, so that any order of summation
        finds the kept samples kept.

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
        if not kept.any():
            return w, float(intercept)
        rows = self.X[kept]
        margins = self.y[kept] * (rows @ w + intercept)
        rounding = (self.m + 3) * np.finfo(np.float64).eps * (np.abs(rows) @ np.abs(w) + abs(intercept))
        smallest = float((margins - rounding).min())
        if smallest <= 0:
            # So far from the origin float64 promises nothing; what it finds may still pass.
            smallest = float(margins.min())
        if smallest >= 1 or smallest <= 0:
            return w, float(intercept)
        factor = 1 / smallest
        return w * factor, float(intercept * factor)


def validated_samples(X: Any) -> FloatArray:
    """Turn an array-like, DataFrame or sparse matrix into a dense float64 array of finite values.

    Raises
    ------
    ValueError
        If X is not two-dimensional, has no rows or columns, or has values that are not finite or too large.
    """
    samples: Any = check_array(X, accept_sparse="csr", dtype=np.float64, order="C", input_name="X")
    if not isinstance(samples, np.ndarray):
        samples = samples.toarray(order="C")
    largest = float(np.abs(samples).max())
    if largest > LARGEST_VALUE:
        raise ValueError(
            f"X has a value of magnitude {largest:.3g}; at most {LARGEST_VALUE:g} is supported. "
            "Divide all features by one common factor."
        )
    dense: FloatArray = np.ascontiguousarray(samples)
    return dense


def _validated_labels(y: Any, n: int) -> NDArray[Any]:
    if y is None:
        raise ValueError("y is None; expected one label for every row of X.")
    labels = np.asarray(y)
    # NumPy would turn the 1 and the NaN of ["a", 1, nan] into text, and so into labels of their own.
    if labels.dtype.kind in "US" and isinstance(y, (list, tuple)):
        labels = np.array(y, dtype=object)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels.ravel()
    if labels.ndim != 1:
        raise ValueError(f"y has shape {labels.shape}; expected one label a row, shape ({n},).")
    if len(labels) != n:
        raise ValueError(f"X has {n} rows but y has {len(labels)} labels; expected as many labels as rows.")
    if labels.dtype.kind == "f" and not np.all(np.isfinite(labels)):
        raise ValueError("y contains NaN or infinity; expected two finite labels.")
    if labels.dtype.kind in "cV":
        raise ValueError(f"y is of type {labels.dtype}; expected numbers, text or other values in order.")
    if labels.dtype.kind in "OmM" and any(_is_missing(label) for label in labels):
        raise ValueError("y contains missing labels; expected one label for every row of X.")
    return labels


def _is_missing(label: Any) -> bool:
    try:
        return label is None or bool(label != label)
    except TypeError:  # pandas.NA has no truth value
        return True


def _two_classes(labels: NDArray[Any]) -> tuple[Any, Any]:
    """The two labels in sorted order."""
    try:
        classes = np.unique(labels)
    except TypeError:
        kinds = sorted({type(label).__name__ for label in labels})
        raise TypeError(
            f"y mixes labels of types {', '.join(kinds)}, which have no order; use one type."
        ) from None
    if len(classes) > 2:
        shown = ", ".join([*(repr(_plain(label)) for label in classes[:5]), "..."][: len(classes)])
        raise ValueError(
            f"y has {len(classes)} classes ({shown}); expected two. Only binary classification is supported. "
            "For more classes use sklearn.multiclass.OneVsRestClassifier(HardMarginSVC())."
        )
    if len(classes) < 2:
        raise ValueError(f"y has 1 class ({_plain(classes[0])!r}); expected two classes to tell apart.")
    return classes[0], classes[1]


def _validated_penalty(C: Any) -> float:
    try:
        penalty = float(C)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"C is {C!r}; expected a positive number.") from None
    if not (np.isfinite(penalty) and penalty > 0):
        raise ValueError(f"C is {penalty}; expected a positive finite number.")
    return penalty


def _combined_weights(
    signs: FloatArray, classes: tuple[Any, Any], sample_weight: Any, class_weight: Any
) -> FloatArray | None:
    """Sample weights times class weights, or None if neither is given."""
    if sample_weight is None and class_weight is None:
        return None
    weights = np.ones(len(signs)) if sample_weight is None else _sample_factors(sample_weight, len(signs))
    _check_both_sides(signs, classes, weights)
    if class_weight is not None:
        by_class = _class_factors(class_weight, classes, weights, signs)
        weights = weights * np.where(signs > 0, by_class[1], by_class[0])
        _check_both_sides(signs, classes, weights)
    return weights


def _sample_factors(sample_weight: Any, n: int) -> FloatArray:
    try:
        given = np.asarray(sample_weight)
        weights = given.astype(np.float64, casting="unsafe" if given.dtype.kind in "OUS" else "same_kind")
    except (TypeError, ValueError):
        raise TypeError("sample_weight is not numeric; expected a weight a row of X.") from None
    if weights.ndim == 0:
        weights = np.full(n, float(weights))
    if weights.shape != (n,):
        raise ValueError(f"sample_weight has shape {weights.shape}; expected ({n},), a weight a row of X.")
    if not np.all(np.isfinite(weights)):
        raise ValueError("sample_weight contains NaN or infinity; expected finite weights.")
    if weights.min() < 0:
        row = int(weights.argmin())
        raise ValueError(f"sample_weight of row {row} is {weights[row]:g}; expected no negative weights.")
    return weights


def _class_factors(
    class_weight: Any, classes: tuple[Any, Any], weights: FloatArray, signs: FloatArray
) -> tuple[float, float]:
    """The class weight of either side, the negative one first."""
    if isinstance(class_weight, str) and class_weight == "balanced":
        total = float(weights.sum())
        return total / (2 * float(weights[signs < 0].sum())), total / (2 * float(weights[signs > 0].sum()))
    if not isinstance(class_weight, Mapping):
        raise ValueError(f"class_weight is {class_weight!r}; expected 'balanced', a dict by label or None.")
    for label, weight in class_weight.items():
        if label not in classes:
            raise ValueError(
                f"class_weight names {label!r}, which is not a label in y; "
                f"expected {classes[0]!r} and {classes[1]!r}."
            )
        if not isinstance(weight, numbers.Real) or not 0 <= float(weight) < np.inf:
            raise ValueError(f"class_weight of {label!r} is {weight!r}; expected a finite number >= 0.")
    return float(class_weight.get(classes[0], 1.0)), float(class_weight.get(classes[1], 1.0))


def _check_both_sides(signs: FloatArray, classes: tuple[Any, Any], weights: FloatArray) -> None:
    left = [label for label, side in zip(classes, (-1, 1), strict=True) if np.any(weights[signs == side] > 0)]
    if len(left) < 2:
        shown = f"1 class ({left[0]!r})" if left else "no class"
        raise ValueError(
            f"y has {shown} once rows of weight zero are left out; expected two classes to tell apart, "
            f"{classes[0]!r} and {classes[1]!r}."
        )


def _scaled_costs(penalty: float, weights: FloatArray) -> FloatArray:
    with np.errstate(over="ignore", under="ignore"):
        costs = penalty * weights
        total = costs.sum()
    if not np.isfinite(total):
        raise ValueError(f"C = {penalty:g} times the weights overflows; use smaller ones.")
    if np.any(costs[weights > 0] == 0):
        raise ValueError(f"C = {penalty:g} times the smallest weight underflows; use larger ones.")
    return costs


def _plain(label: Any) -> Any:
    # A datetime64 would become a bare count of nanoseconds.
    return label.item() if isinstance(label, np.generic) and label.dtype.kind not in "mM" else label
