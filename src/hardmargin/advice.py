"""What to say about a model that is hardly better than the constant one, and what to do about it.

A model with w = 0 predicts the same label for every sample. It is the best one if C is too small for the scale of
the data, so it may be proven optimal and still be useless. The estimator warns of such models and the command line
prints a note; both use the text that is made here.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hardmargin.penalty import scale_penalty
from hardmargin.result import Result
from hardmargin.status import Status
from hardmargin.useful_penalty import UsefulC, useful_hyperplane

#: A model whose objective is below that of the constant one by less than this share is called hardly better.
HARDLY_BETTER = 0.01

# Time for a hyperplane at a larger C: a second, or this share of the time limit if that is more, but never long.
_SECONDS = 1.0
_SHARE_OF_LIMIT = 0.02
_MOST_SECONDS = 5.0
# Effort of each of these searches.
_EFFORT = 0.02


def constant_model_text(X: Any, y: Any, result: Result, time_limit: float | None) -> str | None:
    """Say that a model is no better than the constant one, why, and which C would do.

    Parameters
    ----------
    X, y : array-like or sparse matrix of shape (n, m), array-like of shape (n,)
        The training data.
    result : Result
        The model.
    time_limit : float or None
        That of the solve. A hyperplane at a larger C is searched for in what is left of it, for a second or 2 % of
        the limit.

    Returns
    -------
    str or None
        None if the model is better than the constant one.

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C.
    """
    if result.max_violations is not None:
        return _unused_budget_text(result)
    if not is_hardly_better(y, result):
        return None
    positive, weights, constant = _constant(y, result)
    model = _model_text(X, result, constant)
    proven = f" At C = {result.C:.6g}, this is proven optimal." if result.optimal else ""
    if result.constrained:
        return f"{model}.{proven} Use a larger C, or loosen the constraints on samples and weights."
    found = _hyperplane(X, positive, result, _seconds(result, time_limit))
    return f"{model}.{proven} {_reason(result, found, weights, constant, _scale(X, weights))}"


def is_hardly_better(y: Any, result: Result) -> bool:
    """Whether a model is no better than the constant one, or hardly better.

    With constraints or a budget, the constant model may be infeasible, or they may be the reason why this one is
    hardly better: then only the model w = 0 counts.
    """
    if result.max_violations is not None:
        return not any(result.coef)
    if result.constrained and any(result.coef):
        return False
    return result.objective >= (1 - HARDLY_BETTER) * _constant(y, result)[2]


def _constant(y: Any, result: Result) -> tuple[Any, Any, float]:
    """Which samples are positive, the weights of all of them, and the objective of the constant model."""
    assert result.C is not None
    positive = np.asarray(y) == result.classes[1]
    weights = np.ones(result.n) if result.weights is None else np.array(result.weights)
    constant = result.C * min(float(weights[positive].sum()), float(weights[~positive].sum()))
    return positive, weights, constant


def _unused_budget_text(result: Result) -> str | None:
    """Say that w = 0 is within a budget; None if it is not the model."""
    if any(result.coef):
        return None
    label = result.classes[result.intercept > 0]
    change = "lower it" if result.C is None else "lower it, or use a larger C"
    return (
        f"The model is the constant one, w = 0, which predicts {label!r} for every sample: max_violations = "
        f"{result.max_violations!r} allows to give up the whole other class; {change}."
    )


def _model_text(X: Any, result: Result, constant: float) -> str:
    """What the model is, in words."""
    label = result.classes[result.intercept > 0]
    if not any(result.coef):
        return f"The model is the constant one, w = 0, which predicts {label!r} for every sample"
    sides = X @ np.array(result.coef) + result.intercept > 0
    if sides.all() or not sides.any():
        return f"The model predicts {result.classes[bool(sides[0])]!r} for every training sample"
    return (
        f"The model is hardly better than the constant one, which predicts one label for every sample: its "
        f"objective is {result.objective:.6g}, that of the constant one {constant:.6g}"
    )


def _seconds(result: Result, time_limit: float | None) -> float:
    """How long to search for a hyperplane at a larger C."""
    if result.status is Status.INTERRUPTED:
        return 0.0
    limit = math.inf if time_limit is None else time_limit
    return min(max(_SECONDS, _SHARE_OF_LIMIT * limit), _MOST_SECONDS, limit - result.runtime)


def _hyperplane(X: Any, positive: Any, result: Result, seconds: float) -> UsefulC | None:
    """A hyperplane that is worth its norm at some C; None if there is no time to search, or X is out of range."""
    if seconds <= 0:
        return None
    try:
        return useful_hyperplane(X, positive, result.weights, time_limit=seconds, effort=_EFFORT)
    except ValueError:
        return None


def _scale(X: Any, weights: Any) -> float:
    """What C = "scale" would be; 0 if X is out of range."""
    try:
        return scale_penalty(X, weights)
    except ValueError:
        return 0.0


def _reason(result: Result, found: UsefulC | None, weights: Any, constant: float, scale: float) -> str:
    """Why there is no better model, and what to do."""
    assert result.C is not None
    if found is None:
        larger = f', for instance C = "scale", which is {scale:.3g} here' if scale > result.C else ""
        return (
            f"Either C = {result.C:.6g} is too small for the scale of these data, or the search was too short: "
            f"use a larger C{larger}, or search longer."
        )
    if math.isinf(found.upper):
        return (
            "C is not the reason: with a much larger C, too, no hyperplane was found that costs less than the "
            "constant model. Check the features and the labels."
        )
    given_up = f"a hyperplane that gives up {len(found.violations)} of {result.n} samples"
    cost = _cost(found, weights, result.C)
    if cost < (1 - HARDLY_BETTER) * result.objective:
        costs = f"{given_up} costs {cost:.6g}, the constant model {constant:.6g}"
        return f"It is not the best one: {costs}. Search longer."
    start = f"from C = {_rounded_up(found.upper)} on, {given_up} costs less than the constant model"
    choice = f'C = "scale", which is {scale:.3g} here' if scale > 2 * found.upper else "several times that"
    return f"C = {result.C:.6g} is too small for the scale of these data: {start}. Try {choice}."


def _cost(found: UsefulC, weights: Any, C: float) -> float:
    """The objective of the hyperplane at C."""
    return 0.5 * float(np.dot(found.coef, found.coef)) + C * float(weights[found.violations].sum())


def _rounded_up(value: float) -> str:
    """Three digits, not below the value.

    Examples
    --------
    >>> _rounded_up(3.125), _rounded_up(20.0), _rounded_up(0.00123456), _rounded_up(999.5)
    ('3.13', '20', '0.00124', '1000')
    """
    unit = 10.0 ** (math.floor(math.log10(value)) - 2)
    return f"{float(f'{math.ceil(value / unit * (1 - 1e-12)) * unit:.3g}'):g}"
