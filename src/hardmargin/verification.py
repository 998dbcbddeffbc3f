"""Checks a model against data; only the hyperplane is trusted."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hardmargin import methods
from hardmargin.arrays import FloatArray
from hardmargin.bounds import SMALLEST_GAP, TracePoint, is_possible_gap, relative_gap
from hardmargin.checker import ProofError, UnreadableProofError, Verdict, check_proof
from hardmargin.fingerprint import data_fingerprint
from hardmargin.labels import same_label
from hardmargin.model_json import KEYS, read_values
from hardmargin.problem import MARGIN_TOLERANCE, Problem
from hardmargin.result import Result
from hardmargin.weight_bounds import feature_names as names_of

# Another order of summation may change the last digits.
_RELATIVE_TOLERANCE = 1e-9
_GAP_TOLERANCE = 1e-9
# A proof in a file claims less than the bound by up to this share, because of rounding.
_PROOF_ROUNDING = 2e-8

# Judges "optimal" in models that do not record the requested gap: all methods reach this one by default.
_UNRECORDED_GAP = 1e-5

# Claims that define the problem, and claims that only another solve could confirm.
_GIVEN = ("C", "weights", "trusted", "monotonic_cst", "coef_bounds", "max_violations", "target_gap")
_UNCHECKED = ("lower_bound", "method", "nodes", "presolve", "runtime", "version")
# The same, but not every model has them.
_SOMETIMES_UNCHECKED = ("seed", "label_column")
_OTHER_DATA = (
    "these are not the data that the model was trained on: their samples or labels have another fingerprint"
)


@dataclass(frozen=True)
class Check:
    """One claim of a model, what it should be, and whether they agree.

    Attributes
    ----------
    name : str
        What the claim is about.
    claimed, found : object
        The value in the model, and the value computed from the data.
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
    """The outcome of :func:`verify`; true if every recomputable claim holds.

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
    given : tuple of str
        Keys of the model that define the problem. They are taken as given.
    unchecked : tuple of str
        Keys of the model that cannot be recomputed from the data. Some of them were only checked for being
        possible.
    notes : tuple of str
        What is worth knowing and no contradiction, such as that the data are not the training data.
    proof : hardmargin.checker.Verdict or None
        What the proof shows, if one was given and holds.
    """

    checks: tuple[Check, ...]
    objective: float
    violations: list[int]
    smallest_kept_margin: float
    given: tuple[str, ...] = ()
    unchecked: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    proof: Verdict | None = None

    @property
    def ok(self) -> bool:
        """Whether every claim that can be recomputed holds."""
        return all(check.holds for check in self.checks)

    def __bool__(self) -> bool:
        return self.ok

    def summary(self) -> str:
        """One line per claim, for people."""
        lines = []
        for check in self.checks:
            verdict = check.verdict_if_holds if check.holds else "DOES NOT HOLD"
            lines.append(f"  {check.name:<22} {verdict}: claimed {check.claimed}, found {check.found}")
        for what, keys in (("taken as given", self.given), ("not checked", self.unchecked)):
            if keys:
                shown = [f"{key} (needs a proof)" if key == "lower_bound" else key for key in keys]
                lines.append(f"  {what:<22} {', '.join(shown)}")
        lines += [f"  {'note':<22} {note}" for note in self.notes]
        if self.proof is not None:
            lines.append(self.proof.summary())
        end = "all claims that can be recomputed hold" if self.ok else "the model's claims do not hold"
        return "\n".join([*lines, end])

    def __str__(self) -> str:
        return self.summary()


def verify(
    model: Result | Mapping[str, Any] | str | os.PathLike[str],
    X: ArrayLike,
    y: ArrayLike,
    *,
    feature_names: Sequence[str] | None = None,
    proof: str | os.PathLike[str] | None = None,
    processes: int = 1,
    progress: Callable[[int], None] | None = None,
) -> Verification:
    """Recompute a model's objective, violations, margins and gap from the data, and check the rest for consistency.

    The lower bound itself cannot be recomputed without solving, except with a proof. Otherwise it is only checked
    that neither the model's hyperplane nor w = 0 costs less, and that gap, status and trace are consistent with it.
    "optimal" means a gap of at most the requested one, which must be possible (at least 1e-9, and below 1); if the
    model does not record it, 1e-5 counts. C, the weights and the limits on violations are taken from the model,
    because they define the problem that it claims to have solved. ``Verification.unchecked`` lists what was not
    checked. If the data are not the training data, a note says so; the claims may hold for them all the same.

    Parameters
    ----------
    model : Result, dict, or path of a JSON file
        The model, as returned by :func:`hardmargin.solve` or written by ``hardmargin solve --json``.
    X, y : array-like
        The data that the model was trained on.
    feature_names : sequence of str, optional
        Names of the columns of X; by default those of a DataFrame.
    proof : path, optional
        A proof that :func:`hardmargin.solve` has written: it is checked too.
    processes : int
        Processes that check it.
    progress : callable, optional
        Called now and then while it is checked, with the number of bytes checked.

    Returns
    -------
    Verification

    Raises
    ------
    ValueError
        If the model or the proof cannot be read, or the data do not match the model.
    OSError
        If there is no such file.

    Examples
    --------
    >>> import hardmargin
    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1]
    >>> bool(hardmargin.verify(hardmargin.solve(X, y), X, y))
    True
    """
    result, count, unknown = _claims(model)
    problem = training_problem(result, X, y)
    # Whether it is feasible is a check of its own.
    evaluation = replace(problem, trusted=None, bounds=None).evaluate(result.coef, result.intercept)
    violations = evaluation.violations.tolist()
    smallest = _smallest_kept_margin(evaluation.margins, result.violations)
    names = names_of(X) if feature_names is None else list(feature_names)
    names_checks = _names_checks(result, names)
    verdict, proof_checks = _proof_checks(result, problem, evaluation.objective, proof, processes, progress)
    checks = (
        *_objective_checks(result, problem, evaluation.objective),
        *_budget_checks(result, problem, violations),
        Check("violations", _shown(result.violations), _shown(violations), result.violations == violations),
        Check("number of violations", count, len(violations), _is_count(count, len(violations))),
        *_constraint_checks(problem, np.array(result.coef), violations),
        Check("smallest kept margin", f">= {1 - MARGIN_TOLERANCE}", smallest, smallest >= 1 - MARGIN_TOLERANCE),
        *_history_checks(result, evaluation.objective),
        *names_checks,
        *proof_checks,
    )
    return Verification(
        checks,
        evaluation.objective,
        violations,
        smallest,
        tuple(key for key in _GIVEN if getattr(result, key) is not None),
        (*_unchecked(result, names_checks, verdict), *unknown),
        () if result.fingerprint in (None, data_fingerprint(problem)) else (_OTHER_DATA,),
        verdict,
    )


def _proof_checks(
    result: Result,
    problem: Problem,
    objective: float,
    path: str | os.PathLike[str] | None,
    processes: int,
    progress: Callable[[int], None] | None,
) -> tuple[Verdict | None, tuple[Check, ...]]:
    """Check a proof, if there is one, and what the model says about it."""
    if path is None:
        return None, ()
    try:
        verdict = check_proof(
            path,
            problem.X,
            problem.y,
            problem.costs,
            trusted=problem.trusted,
            coef_bounds=problem.core_bounds,
            # The labels of the problem.
            max_violations=None if problem.budget is None else problem.budget.as_argument((-1, 1)),
            processes=processes,
            progress=progress,
        )
    except UnreadableProofError as error:
        raise ValueError(f"{os.fspath(path)}: not a proof: {error}") from None
    except ProofError as error:
        return None, (Check("proof", os.fspath(path), str(error), holds=False),)
    if verdict.bound > objective * (1 + _RELATIVE_TOLERANCE):
        # Whatever the reason is, one of the two cannot be true.
        found = f"above the objective {objective} that the hyperplane of the model has"
        return None, (Check("proof", verdict.bound, found, holds=False),)
    claimed = result.lower_bound if result.proof_bound is None else result.proof_bound
    holds = result.proof_bound is None or result.proof_bound <= verdict.bound
    proven = result.lower_bound <= verdict.bound * (1 + _PROOF_ROUNDING)
    text = "holds" if proven else f"holds; it proves less than the bound {result.lower_bound}"
    return verdict, (Check("proof", claimed, verdict.bound, holds, text),)


def _unchecked(result: Result, names_checks: tuple[Check, ...], verdict: Verdict | None) -> tuple[str, ...]:
    """Known keys that cannot be recomputed; a status other than "optimal" only says why the search ended."""
    status = () if result.optimal else ("status",)
    names = () if result.feature_names is None or names_checks else ("feature_names",)
    proven = verdict is not None and result.lower_bound <= verdict.bound * (1 + _PROOF_ROUNDING)
    proof = ("proof_bound",) if verdict is None and result.proof_bound is not None else ()
    others = (key for key in _SOMETIMES_UNCHECKED if getattr(result, key) is not None)
    always = (key for key in _UNCHECKED if not (proven and key == "lower_bound"))
    return (*always, *others, *status, *names, *proof)


def _objective_checks(result: Result, problem: Problem, objective: float) -> tuple[Check, ...]:
    gap = relative_gap(objective, result.lower_bound)
    flat = min(problem.evaluate(np.zeros(problem.m), side).objective for side in (-1.0, 1.0))
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
            f"objective {objective}" if objective <= flat else f"w = 0 with the objective {flat}",
            0 <= result.lower_bound <= min(objective, flat) * (1 + _RELATIVE_TOLERANCE),
            "not above the objective; not proven again",
        ),
        *_proof_bound_checks(result),
        Check("gap", result.gap, gap, abs(result.gap - gap) <= _GAP_TOLERANCE),
        *_gap_checks(result, gap),
    )


def _budget_checks(result: Result, problem: Problem, violations: list[int]) -> tuple[Check, ...]:
    """Check that the violations stay within the limits, if there are any."""
    if problem.budget is None:
        return ()
    cost = problem.budget.cost(problem.y[violations], problem.costs[violations])
    words = f"{problem.budget.text(problem.classes)} given up"
    return (Check("budget", words, f"{len(violations)} violations", math.isfinite(cost), "is kept"),)


def _proof_bound_checks(result: Result) -> tuple[Check, ...]:
    """Check that a proof in a file claims no more than the model, if there is one."""
    claimed, bound = result.proof_bound, result.lower_bound
    if claimed is None:
        return ()
    holds = 0 <= claimed <= bound * (1 + _RELATIVE_TOLERANCE)
    return (Check("proof bound", claimed, f"lower bound {bound}", holds, "not above the lower bound"),)


def _gap_checks(result: Result, gap: float) -> tuple[Check, ...]:
    """Check that the requested gap is possible, and that it is reached if the status says so."""
    target = result.target_gap
    possible = target is not None and is_possible_gap(target)
    limit = target if target is not None and possible else _UNRECORDED_GAP
    holds = gap <= limit + _GAP_TOLERANCE or not result.optimal
    verdict = "holds" if result.optimal else "claims no proof"
    asked_for = f"gap asked for: {'not recorded' if target is None else target}"
    checks = [Check("status", f"{result.status} ({asked_for})", f"gap {gap}, judged by {limit}", holds, verdict)]
    if target is not None:
        found = f"{'a' if possible else 'no'} gap from {SMALLEST_GAP:g} to below 1"
        checks.append(Check("gap asked for", target, found, possible, "is possible"))
    return tuple(checks)


def _history_checks(result: Result, objective: float) -> tuple[Check, ...]:
    """Check claims on how the result was reached: they cannot be recomputed, but must be possible."""
    fault = _trace_fault(result, objective)
    is_time = result.runtime >= 0
    is_method = result.method in methods.names()
    method = "a method" if is_method else f"none of {', '.join(methods.names())}"
    return (
        Check("trace", f"{len(result.trace)} points", fault or "no contradiction", fault is None, "is consistent"),
        Check("runtime", result.runtime, f"{'a' if is_time else 'no'} time >= 0", is_time, "is possible"),
        Check("method", result.method, method, is_method, "is known"),
    )


def _trace_fault(result: Result, objective: float) -> str | None:
    """What is wrong with the bounds over time, in words."""
    before = TracePoint(0.0, math.inf, 0.0)
    for number, point in enumerate(result.trace):
        if not point.time >= before.time:
            return f"point {number} is at {point.time} s, before {before.time} s"
        if not point.upper <= before.upper * (1 + _RELATIVE_TOLERANCE):
            return f"the upper bound rises to {point.upper} at point {number}"
        if not point.lower >= before.lower * (1 - _RELATIVE_TOLERANCE):
            return f"the lower bound falls to {point.lower} at point {number}"
        if not point.lower <= point.upper * (1 + _RELATIVE_TOLERANCE):
            return f"the lower bound {point.lower} is above the upper one {point.upper} at point {number}"
        before = point
    # Results that were built by hand may have no trace, and then claim nothing about it.
    return _end_fault(before, result, objective) if result.trace else None


def _end_fault(end: TracePoint, result: Result, objective: float) -> str | None:
    if not end.time <= result.runtime * (1 + _RELATIVE_TOLERANCE):
        return f"it ends at {end.time} s, after the runtime of {result.runtime} s"
    for which, bound, final in (("upper", end.upper, objective), ("lower", end.lower, result.lower_bound)):
        if not math.isclose(bound, final, rel_tol=_RELATIVE_TOLERANCE):
            return f"its last {which} bound is {bound} and the result's {final}"
    return None


def _names_checks(result: Result, names: list[str] | None) -> tuple[Check, ...]:
    claimed = result.feature_names
    if claimed is None or names is None:
        return ()
    return (Check("feature names", _listed(claimed), _listed(names), claimed == names),)


def _constraint_checks(problem: Problem, coef: FloatArray, violations: list[int]) -> tuple[Check, ...]:
    """Check that the hyperplane is feasible."""
    checks = []
    if problem.trusted is not None:
        violated = [row for row in violations if problem.trusted[row]]
        found = f"violated: {_shown(violated)}" if violated else "all kept"
        checks.append(Check("trusted", _shown(np.flatnonzero(problem.trusted).tolist()), found, not violated))
    if problem.bounds is not None:
        outside = problem.bounds.violated(coef)
        found = f"features {outside[:8]} outside" if outside else "all within"
        checks.append(Check("bounds on weights", f"met by {problem.m} weights", found, not outside))
    return tuple(checks)


def _is_count(claimed: Any, count: int) -> bool:
    return not isinstance(claimed, bool) and bool(claimed == count)


def _smallest_kept_margin(margins: FloatArray, claimed_violations: list[int]) -> float:
    kept = np.ones(len(margins), dtype=bool)
    kept[[row for row in claimed_violations if row < len(margins)]] = False
    return float(margins[kept].min()) if kept.any() else math.inf


def _claims(model: Result | Mapping[str, Any] | str | os.PathLike[str]) -> tuple[Result, Any, list[str]]:
    """The model, the number of violations that it states besides listing them, and the unknown keys."""
    if isinstance(model, Result):
        return model, model.n_violations, []
    if isinstance(model, (str, os.PathLike)):
        model = read_values(model)
    if not isinstance(model, Mapping):
        raise TypeError(
            f"model is {type(model).__name__}; expected a Result (of a fitted HardMarginSVC: its result_), "
            "its dict, or the path of its JSON file."
        )
    result = Result.from_dict(model)
    return (
        result,
        model.get("n_violations", result.n_violations),
        sorted(str(key) for key in model if key not in KEYS),
    )


def training_problem(result: Result, X: ArrayLike, y: ArrayLike) -> Problem:
    """The problem that a model was trained on, from its data.

    Raises
    ------
    ValueError
        If the data have another shape or other labels than the model.
    """
    problem = Problem.from_data(X, y, _penalty(result))
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
    # The samples of the first problem: converting them again would take as much memory again.
    trusted = None if result.trusted is None else np.isin(np.arange(result.n), result.trusted)
    return Problem.from_data(
        problem.X,
        y,
        _penalty(result),
        sample_weight=result.weights,
        trusted=trusted,
        monotonic_cst=result.monotonic_cst,
        coef_bounds=result.coef_bounds,
        max_violations=result.max_violations,
    )


def _penalty(result: Result) -> float:
    """The penalty of a model; any number will do if all samples are limited."""
    return 1.0 if result.C is None else result.C


def _shown(rows: list[int]) -> str:
    return f"{len(rows)} rows" + (f" {rows[:8]}".replace("]", ", ...]" if len(rows) > 8 else "]") if rows else "")


def _listed(names: list[str]) -> str:
    return ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
