"""What pictures need to know of a fitted model: a Result, a linear classifier, or a pipeline that ends in one."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hardmargin.arrays import FloatArray, SampleArray
from hardmargin.problem import MARGIN_TOLERANCE
from hardmargin.validation import validated_labels, validated_samples

_EXPECTED = "expected a Result, or a fitted classifier for two classes with a decision_function"


class Sides(NamedTuple):
    """Where samples lie.

    Attributes
    ----------
    decision : ndarray of shape (n,)
        w.x + b of every sample.
    positive : ndarray of bool of shape (n,)
        Whether its label is that of the positive side.
    """

    decision: FloatArray
    positive: NDArray[np.bool_]

    @property
    def margins(self) -> FloatArray:
        """y (w.x + b) of every sample."""
        return np.where(self.positive, self.decision, -self.decision)

    @property
    def given_up(self) -> NDArray[np.bool_]:
        """The samples with a margin below 1."""
        given_up: NDArray[np.bool_] = self.margins < 1 - MARGIN_TOLERANCE
        return given_up


class LinearPart(NamedTuple):
    """The hyperplane of a model, and the names of the features that it is a hyperplane of."""

    coef: FloatArray
    intercept: float
    feature_names: list[str]


def classes_of(estimator: Any) -> tuple[Any, Any]:
    """The two labels of a model, the negative side first.

    Raises
    ------
    TypeError
        If it is no fitted classifier.
    ValueError
        If it has more than two classes.
    """
    classes = getattr(estimator, "classes_", getattr(estimator, "classes", None))
    if classes is None or not hasattr(estimator, "decision_function"):
        raise TypeError(f"the model is {type(estimator).__name__}; {_EXPECTED}.")
    if len(classes) != 2:
        raise ValueError(f"the model has {len(classes)} classes; {_EXPECTED}.")
    negative, positive = np.asarray(classes).tolist()
    return negative, positive


def sides(decision: ArrayLike, y: ArrayLike, classes: tuple[Any, Any]) -> Sides:
    """Compare the values of a decision function with labels.

    Raises
    ------
    ValueError
        If a label is neither of the two classes.
    """
    values = np.asarray(decision, dtype=np.float64)
    if values.ndim != 1:
        raise ValueError(f"the decision function has values of shape {values.shape}; expected one per sample.")
    labels = validated_labels(y, len(values))
    positive: NDArray[np.bool_] = np.asarray(labels == classes[1], dtype=bool)
    strange = ~positive & np.asarray(labels != classes[0], dtype=bool)
    if strange.any():
        raise ValueError(f"y has the label {labels[strange][0]!r}; expected {classes[0]!r} or {classes[1]!r}.")
    return Sides(values, positive)


def linear_part(estimator: Any) -> LinearPart:
    """The hyperplane of a model; for a pipeline, that of its last step.

    Raises
    ------
    TypeError
        If the model is not linear.
    ValueError
        If it has more than one hyperplane.
    """
    last = estimator[-1] if hasattr(estimator, "steps") else estimator
    coef = getattr(last, "coef_", getattr(last, "coef", None))
    intercept = getattr(last, "intercept_", getattr(last, "intercept", None))
    if coef is None or intercept is None:
        raise TypeError(f"the model is {type(last).__name__} without coef_ and intercept_; expected a linear one.")
    weights = np.atleast_2d(np.asarray(coef, dtype=np.float64))
    if len(weights) != 1:
        raise ValueError(f"the model has {len(weights)} hyperplanes; expected one, that of two classes.")
    return LinearPart(weights[0], float(np.ravel(intercept)[0]), _names(estimator, last, weights.shape[1]))


def transformed(estimator: Any, X: ArrayLike) -> SampleArray:
    """The samples as the last step of a pipeline gets them; for any other model, as they are."""
    if hasattr(estimator, "steps") and len(estimator.steps) > 1:
        X = estimator[:-1].transform(X)
    return validated_samples(X)


def _names(estimator: Any, last: Any, m: int) -> list[str]:
    """The names of the features of the last step, as far as they are known."""
    names = getattr(last, "feature_names_in_", getattr(last, "feature_names", None))
    if names is None and last is not estimator:
        try:
            names = estimator[:-1].get_feature_names_out()
        except (AttributeError, ValueError):
            names = None
    return [f"feature {i + 1}" for i in range(m)] if names is None else [str(name) for name in names]
