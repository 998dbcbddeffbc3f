"""The parameters of an estimator, checked, as the arguments of its solves."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray
from sklearn.utils import check_random_state

from hardmargin.arrays import FloatArray
from hardmargin.fitting import Job, Samples
from hardmargin.validation import multiclass_weights, shown_classes, validated_trusted
from hardmargin.weight_bounds import by_position

_ON_WEIGHTS = ("monotonic_cst", "coef_bounds")


def fit_job(
    estimator: Any, samples: Samples, y: Any, classes: NDArray[Any], weights: FloatArray | None, trusted: Any
) -> Job:
    """What the binary problems of a fit have in common.

    Parameters
    ----------
    estimator : HardMarginSVC
    samples : Samples
    y, classes : ndarray
        The labels of the samples, and the different ones, sorted.
    weights : ndarray of shape (n,) or None
        The caller's sample weights, validated.
    trusted : array-like of bool of shape (n,) or None

    Raises
    ------
    ValueError, TypeError
        If a parameter cannot be used; the message says what was expected. What only :func:`hardmargin.solve` uses
        is checked there.
    """
    if estimator.callback is not None and not callable(estimator.callback):
        raise TypeError(f"callback is {estimator.callback!r}; expected a function of time, upper, lower and nodes.")
    C, class_weight = estimator.C, estimator.class_weight
    if len(classes) > 2:
        weights, class_weight = multiclass_weights(y, classes, weights, class_weight)
        # One C for all problems, though each has samples of its own.
        C = samples.penalty(C, weights)
    trusted = validated_trusted(trusted, len(y))
    settings = {
        "C": C,
        "class_weight": class_weight,
        "method": estimator.method,
        "gap": estimator.gap,
        "seed": seed_of(estimator.random_state),
        "options": estimator.options,
        "stop": estimator.stop,
        **_constraints(estimator, classes),
    }
    threads = threads_of(estimator.n_jobs)
    return Job(samples, weights, trusted, settings, estimator.time_limit, threads, estimator.checkpoint)


def _constraints(estimator: Any, classes: NDArray[Any]) -> dict[str, Any]:
    """The constraints on the weights and on the violations that were given."""
    count = len(classes)
    for name in _ON_WEIGHTS:
        if getattr(estimator, name) is not None and (estimator.kernel != "linear" or count > 2):
            raise ValueError(
                f"{name} is given with {count} classes and kernel={estimator.kernel!r}; expected two classes and "
                'kernel="linear", because it is about the weights of one hyperplane.'
            )
    if count > 2 and isinstance(estimator.max_violations, Mapping):
        raise ValueError(
            f"max_violations is {estimator.max_violations!r}, and y has {shown_classes(classes)}; limits by label "
            "are for two classes. Expected a number, which limits every binary problem by itself; for limits by "
            "label, fit two of the classes."
        )
    names = getattr(estimator, "feature_names_in_", None)
    signs, ranges = by_position(
        estimator.monotonic_cst, estimator.coef_bounds, None if names is None else names.tolist()
    )
    given = {
        "monotonic_cst": signs,
        "coef_bounds": ranges,
        "max_violations": estimator.max_violations,
    }
    return {name: value for name, value in given.items() if value is not None}


def threads_of(n_jobs: Any) -> int:
    """The number of threads that ``n_jobs`` asks for, as in scikit-learn; -1 stands for all cores."""
    if n_jobs is None:
        return 1
    if not isinstance(n_jobs, numbers.Integral) or not (int(n_jobs) >= 1 or n_jobs == -1):
        raise ValueError(f"n_jobs is {n_jobs!r}; expected None, a whole number >= 1, or -1 for all cores.")
    return int(n_jobs)


def seed_of(random_state: Any) -> int:
    """The seed that ``random_state`` stands for; that of None is 0."""
    if random_state is None:
        return 0
    if isinstance(random_state, numbers.Integral):
        if random_state < 0:
            raise ValueError(
                f"random_state is {random_state}; expected None, a whole number >= 0 or a RandomState."
            )
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31))
