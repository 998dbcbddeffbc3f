"""Checks a model against data, trusting nothing but the hyperplane."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hardmargin.bounds import relative_gap
from hardmargin.labels import same_label
from hardmargin.model_json import read_values
from hardmargin.problem import MARGIN_TOLERANCE, Problem
from hardmargin.result import Result
from hardmargin.status import Status
from hardmargin.validation import FloatArray

# Another order of summation may change the last digits.
_RELATIVE_TOLERANCE = 1e-9
_GAP_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Check:
    """One claim of a model, what it should be, and whether they agree.

    Attributes
    ----------
    name : str
        What the claim is about.
    claimed, found : object
        What the model says, and what the data say.
    holds : bool
        Whether they agree.
    verdict_if_holds : str
        What agreeing means.
    """

    name: str
    claimed: Any
    found: Any
    holds: bool
    verdict_if_holds: str = "holds"


@dataclass(frozen=True)
class Verification:
    """The outcome of :func:`verify`; true if every claim that can be recomputed holds.

    Attributes
    ----------
    checks : tuple of Check
        Every claim that was checked.
    objective : float
        The objective, recomputed.
    violations : list of int
        The violated rows, recomputed.
    smallest_kept_margin : float
        The smallest margin among the rows that the model claims to keep (infinity if there are none).
    """

    checks: tuple[Check, ...]
    objective: float
    violations: list[int]
    smallest_kept_margin: float

    @property
    def ok(self) -> bool:
        """Whether every claim that can be recomputed holds."""
        return all(check.holds for check in self.checks)

    def __bool__(self) -> bool:
        return self.ok

    def summary(self) -> str:
        """A line a claim, for a person."""
        lines = []
        for check in self.checks:
            verdict = check.verdict_if_holds if check.holds else "DOES NOT HOLD"
            lines.append(f"  {check.name:<22} {verdict}: claimed {check.claimed}, found {check.found}")
        end = "all claims that can be recomputed hold" if self.ok else "the model's claims do not hold"
        return "\n".join([*lines, end])

    def __str__(self) -> str:
        return self.summary()


def verify(model: Result | Mapping[str, Any] | str | os.PathLike[str], X: ArrayLike, y: ArrayLike) -> Verification:
    """Recompute a model's objective, violations, margins and gap from the data.

    The lower bound itself cannot be recomputed without solving; what is checked is that it is not above the
    objective and that the gap and the status follow from it. C and the weights are taken from the model: they
    say which problem it claims to have solved.

    Parameters
    ----------
    model : Result, dict, or path of a JSON file
        The model, as returned by :func:`hardmargin.solve` or written by ``hardmargin solve --json``.
    X, y : array-like
        The data that the model was trained on.

    Returns
    -------
    Verification

    Raises
    ------
    ValueError
        If the model cannot be read or the data do not fit it.
    OSError
        If there is no such file.

    Examples
    --------
    >>> import hardmargin
    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1]
    >>> bool(hardmargin.verify(hardmargin.solve(X, y), X, y))
    True
    """
    result, count = _claims(model)
    problem = _problem_of(result, X, y)
    evaluation = problem.evaluate(result.coef, result.intercept)
    violations = evaluation.violations.tolist()
    smallest = _smallest_kept_margin(evaluation.margins, result.violations)
    checks = (
        *_objective_checks(result, evaluation.objective),
        Check("violations", _shown(result.violations), _shown(violations), result.violations == violations),
        Check("number of violations", count, len(violations), count == len(violations)),
        Check("smallest kept margin", f">= {1 - MARGIN_TOLERANCE}", smallest, smallest >= 1 - MARGIN_TOLERANCE),
    )
    return Verification(checks, evaluation.objective, violations, smallest)


def _objective_checks(result: Result, objective: float) -> tuple[Check, ...]:
    gap = relative_gap(objective, result.lower_bound)
    target = result.target_gap
    proven = result.status is not Status.OPTIMAL or target is None or gap <= target + _GAP_TOLERANCE
    return (
        Check(
            "objective",
            result.objective,
            objective,
            math.isclose(result.objective, objective, rel_tol=_RELATIVE_TOLERANCE),
        ),
        Check(
            "lower bound",
            result.lower_bound,
            f"objective {objective}",
            0 <= result.lower_bound <= objective * (1 + _RELATIVE_TOLERANCE),
            "not above the objective; not proven again",
        ),
        Check("gap", result.gap, gap, abs(result.gap - gap) <= _GAP_TOLERANCE),
        Check("status", f"{result.status} (gap asked for: {target})", f"gap {gap}", proven),
    )


def _smallest_kept_margin(margins: FloatArray, claimed_violations: list[int]) -> float:
    kept = np.ones(len(margins), dtype=bool)
    kept[[row for row in claimed_violations if row < len(margins)]] = False
    return float(margins[kept].min()) if kept.any() else math.inf


def _claims(model: Result | Mapping[str, Any] | str | os.PathLike[str]) -> tuple[Result, Any]:
    """The model, and the number of violations that it states beside listing them."""
    if isinstance(model, Result):
        return model, model.n_violations
    if isinstance(model, (str, os.PathLike)):
        model = read_values(model)
    if not isinstance(model, Mapping):
        raise TypeError(
            f"model is {type(model).__name__}; expected a Result (of a fitted HardMarginSVC: its result_), "
            "its dict, or the path of its JSON file."
        )
    result = Result.from_dict(model)
    return result, model.get("n_violations", result.n_violations)


def _problem_of(result: Result, X: ArrayLike, y: ArrayLike) -> Problem:
    problem = Problem.from_data(X, y, result.C)
    if (problem.n, problem.m) != (result.n, result.m):
        raise ValueError(
            f"the data are {problem.n} x {problem.m} but the model was trained on {result.n} x {result.m}; "
            "expected the training data."
        )
    if not all(map(same_label, problem.classes, result.classes)):
        raise ValueError(
            f"the data have the labels {list(problem.classes)} but the model {result.classes}; "
            "expected the training data."
        )
    return Problem.from_data(X, y, result.C, sample_weight=result.weights)


def _shown(rows: list[int]) -> str:
    return f"{len(rows)} rows" + (f" {rows[:8]}".replace("]", ", ...]" if len(rows) > 8 else "]") if rows else "")
