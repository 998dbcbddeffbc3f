"""What a solve returns: a hyperplane, a proven bound, and how they were reached; also as JSON."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hardmargin import model_json
from hardmargin.arrays import FloatArray
from hardmargin.atomic import replace_text
from hardmargin.bounds import TracePoint, monotone_trace, relative_gap
from hardmargin.problem import Problem
from hardmargin.status import Status
from hardmargin.validation import validated_samples
from hardmargin.versions import __version__
from hardmargin.weight_bounds import WeightBounds

# A bound above the objective by less than this, relatively, is rounding; by more, it is wrong.
_BOUND_ROUNDING = 1e-8

# A proof in a file claims less than the bound by this share, because of rounding.
_PROOF_ROUNDING = 2e-8

# A gap above this is shown, even if the caller requested it.
_SMALL_GAP = 1e-4


@dataclass(frozen=True)
class Result:
    """A hyperplane and what is proven about it.

    Attributes
    ----------
    status : Status
        Why the solve ended.
    objective : float
        1/2 ||w||^2 plus the costs of the violations, recomputed from (w, b) over the caller's data.
    lower_bound : float
        No hyperplane has a smaller objective than this.
    gap : float
        (objective - lower_bound) / objective.
    coef : list of float
        The normal vector w.
    intercept : float
        The offset b.
    classes : list
        The two labels, the negative side first.
    violations : list of int
        Sorted rows of the caller's data with a margin below 1 - 1e-9. Rows of weight zero are listed like any
        others, though they cost nothing.
    runtime : float
        Seconds.
    nodes : int
        Subproblems examined by the method; for the heuristic, rounds of its local search.
    method : str
        The method's name.
    C : float or None
        Penalty of a violated sample; None if all samples are limited by ``max_violations``.
    weights : list of float or None
        Sample weights times class weights, if any were given.
    n, m : int
        Number of samples and features.
    trace : list of TracePoint
        The bounds over time: upper bounds only fall, lower bounds only rise, and the final ones come last.
    version : str
        The version of hardmargin that wrote this.
    target_gap : float or None
        The requested gap, by which "optimal" is judged; None if it was not recorded.
    feature_names : list of str or None
        Names of the features, in the order of ``coef``; None if not known.
    label_column : str, int or None
        The column of the training file that held the labels: its name, or its position from 0; None if not known.
    seed : int or None
        The seed of the search; None if it was not recorded.
    fingerprint : str or None
        A checksum of the training samples and labels, by which :func:`hardmargin.verify` recognises them; None if
        it was not recorded.
    presolve : str
        What was removed or decided before the search, in one line; empty if nothing was.
    trusted : list of int or None
        Sorted rows of the caller's data that had to be kept; None if there were none.
    monotonic_cst : list of int or None
        The sign of every weight that was required: 1, -1, or 0 if it was free; None if all were.
    coef_bounds : list of two lists or None
        The lower and the upper bounds on the weights that were required, None where a weight was free; None if
        there were none besides signs.
    max_violations : float, dict or None
        The limits on the total weight of the violations, of all samples or by label; None if there were none.
        Violations that are limited are not part of the objective.
    proof_bound : float or None
        The bound that the proof in a file claims, if one was written.
    """

    status: Status
    objective: float
    lower_bound: float
    gap: float
    coef: list[float]
    intercept: float
    classes: list[Any]
    violations: list[int]
    runtime: float
    nodes: int
    method: str
    C: float | None
    weights: list[float] | None
    n: int
    m: int
    trace: list[TracePoint] = field(default_factory=list, repr=False)
    version: str = __version__
    target_gap: float | None = None
    feature_names: list[str] | None = None
    label_column: str | int | None = None
    seed: int | None = None
    fingerprint: str | None = None
    presolve: str = ""
    trusted: list[int] | None = None
    monotonic_cst: list[int] | None = None
    coef_bounds: list[list[float | None]] | None = None
    max_violations: float | dict[Any, float] | None = None
    proof_bound: float | None = None

    @classmethod
    def of(
        cls,
        problem: Problem,
        coef: ArrayLike,
        intercept: float,
        *,
        lower_bound: float,
        status: Status,
        method: str,
        runtime: float,
        nodes: int = 0,
        trace: Iterable[TracePoint] = (),
        target_gap: float | None = None,
        presolve: str = "",
    ) -> Result:
        """Evaluate a hyperplane on a problem and combine it with its bound.

        Parameters
        ----------
        problem : Problem
        coef, intercept : array-like of shape (m,), float
            The hyperplane.
        lower_bound, status, method, runtime, nodes, trace, target_gap, presolve
            As the attributes of the result; the trace is made monotone, and ends with the final bounds.

        Returns
        -------
        Result

        Raises
        ------
        RuntimeError
            If the bound is above the objective by more than rounding, which means that one of them is wrong.
        """
        evaluation, budget = problem.evaluate(coef, intercept), problem.budget
        bound = checked_bound(float(lower_bound), evaluation.objective)
        return cls(
            status=Status(status),
            objective=evaluation.objective,
            lower_bound=bound,
            gap=relative_gap(evaluation.objective, bound),
            coef=np.asarray(coef, dtype=np.float64).tolist(),
            intercept=float(intercept),
            classes=list(problem.classes),
            violations=evaluation.violations.tolist(),
            runtime=float(runtime),
            nodes=int(nodes),
            method=method,
            C=None if budget is not None and budget.limits_all else problem.C,
            weights=None if problem.weights is None else problem.weights.tolist(),
            n=problem.n,
            m=problem.m,
            trace=monotone_trace(trace, TracePoint(float(runtime), evaluation.objective, bound)),
            target_gap=target_gap,
            presolve=presolve,
            trusted=None if problem.trusted is None else np.flatnonzero(problem.trusted).tolist(),
            **_recorded_bounds(problem.bounds),
            max_violations=None if budget is None else budget.as_argument(problem.classes),
        )

    @property
    def n_violations(self) -> int:
        """Number of violated samples."""
        return len(self.violations)

    @property
    def constrained(self) -> bool:
        """Whether samples had to be kept, or weights to be within bounds."""
        return any(known is not None for known in (self.trusted, self.monotonic_cst, self.coef_bounds))

    @property
    def optimal(self) -> bool:
        """Whether the objective is proven minimal, up to the requested gap."""
        return self.status is Status.OPTIMAL

    def decision_function(self, X: ArrayLike) -> FloatArray:
        """The value w.x + b of every row of X.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, m)

        Returns
        -------
        ndarray of shape (n_samples,)
            Positive on the side of ``classes[1]``.

        Raises
        ------
        ValueError
            If X has another number of features, or values that are not finite.
        """
        samples = validated_samples(X)
        if samples.shape[1] != self.m:
            raise ValueError(f"X has {samples.shape[1]} features; expected {self.m}, as in training.")
        values: FloatArray = samples @ np.array(self.coef) + self.intercept
        return values

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict the label of every row of X: the side of the hyperplane that it lies on.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, m)

        Returns
        -------
        ndarray of shape (n_samples,)
            ``classes[1]`` where :meth:`decision_function` is positive, ``classes[0]`` elsewhere.
        """
        positive = (self.decision_function(X) > 0).astype(np.intp)
        return np.asarray(self.classes)[positive]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, with the keys of the JSON form.

        Returns
        -------
        dict
            Labels for which JSON has no type are converted to text.
        """
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        values["status"] = self.status.value
        values["n_violations"] = self.n_violations
        values["schema_version"] = model_json.SCHEMA_VERSION
        values["classes"] = [model_json.plain_label(label) for label in self.classes]
        if isinstance(self.max_violations, dict):
            values["max_violations"] = {str(label): limit for label, limit in self.max_violations.items()}
        values["trace"] = [list(point) for point in self.trace]
        return values

    def to_json(self) -> str:
        """The JSON text that ``--json`` writes.

        Returns
        -------
        str

        Raises
        ------
        ValueError
            If a number is not finite, which JSON cannot express.
        """
        return model_json.to_text(self.to_dict())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the JSON form; an existing file is replaced atomically, never left half written.

        Parameters
        ----------
        path : path
            The file, e.g. ``"model.json"``.

        Raises
        ------
        OSError
            If it cannot be written.
        """
        replace_text(path, self.to_json())

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Result:
        """Rebuild a result from :meth:`to_dict`; unknown keys are ignored.

        Raises
        ------
        ValueError
            If a key is missing or its value has the wrong type.
        """
        return cls(**model_json.checked_fields(values))

    @classmethod
    def from_json(cls, text: str) -> Result:
        """Rebuild a result from :meth:`to_json`.

        Parameters
        ----------
        text : str

        Returns
        -------
        Result

        Raises
        ------
        ValueError
            If the text is something else.
        """
        return cls.from_dict(model_json.parsed(text))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Result:
        """Read a file that :meth:`save` wrote.

        Parameters
        ----------
        path : path

        Returns
        -------
        Result

        Raises
        ------
        ValueError
            If the file holds something else; the message names it.
        OSError
            If it cannot be read.
        """
        return cls.from_dict(model_json.read_values(path))

    def summary(self) -> str:
        """A summary of a few lines for people."""
        small = self.optimal and self.gap <= _SMALL_GAP
        asked_for = ", as requested" if self.optimal else ""
        proven = "proven minimal" if small else f"gap {100 * self.gap:.3g} %{asked_for}"
        rows = ", ".join(str(row) for row in self.violations[:12])
        more = f", ... ({self.n_violations - 12} more)" if self.n_violations > 12 else ""
        norm = math.hypot(*self.coef)
        reduced = [f"  presolve     {self.presolve}"] if self.presolve else []
        lines = [
            f"hardmargin {self.version}, method {self.method}: {self.status}",
            f"  objective    {self.objective:.9g}",
            f"  proven bound {self.lower_bound:.9g} ({proven})",
            f"  margin       {2 / norm if norm > 0 else math.inf:.6g} (2 / ||w||)",
            f"  given up     {self.n_violations} of {self.n} samples" + (f": {rows}{more}" if rows else ""),
            *self._constraint_lines(),
            *reduced,
            *self._proof_lines(),
            f"  effort       {self.runtime:.2f} s, {self.nodes} nodes",
        ]
        return "\n".join(lines)

    def _constraint_lines(self) -> list[str]:
        """One line on the constraints, none if there are none."""
        signs = self.monotonic_cst or [0] * self.m
        ends = [[None] * self.m] * 2 if self.coef_bounds is None else self.coef_bounds
        bounded = sum(1 for sign, *sides in zip(signs, *ends, strict=True) if sign or sides != [None, None])
        counts = ((len(self.trusted or ()), "trusted sample"), (bounded, "bounded weight"))
        parts = [f"{count} {what}{'' if count == 1 else 's'}" for count, what in counts if count]
        return [f"  constraints  {', '.join(parts)}"] if parts else []

    def _proof_lines(self) -> list[str]:
        """What the proof in a file claims, if there is one."""
        if self.proof_bound is None:
            return []
        less = self.proof_bound < self.lower_bound * (1 - _PROOF_ROUNDING)
        verdict = "less than the proven bound" if less else "the proven bound, up to rounding"
        return [f"  proof        {self.proof_bound:.9g} ({verdict})"]

    def __str__(self) -> str:
        return self.summary()


def _recorded_bounds(bounds: WeightBounds | None) -> dict[str, Any]:
    """Bounds on weights as plain data."""
    if bounds is None:
        return {}
    signs = None if bounds.monotonic_cst is None else bounds.monotonic_cst.tolist()
    both = (bounds.lower.tolist(), bounds.upper.tolist())
    sides = [[value if math.isfinite(value) else None for value in side] for side in both]
    return {"monotonic_cst": signs, "coef_bounds": sides if bounds.ranged else None}


def checked_bound(bound: float, objective: float) -> float:
    """A proven bound, not above the objective.

    Raises
    ------
    RuntimeError
        If it is above the objective by more than rounding, which means that one of them is wrong.
    """
    if not bound <= objective * (1 + _BOUND_ROUNDING):
        raise RuntimeError(
            f"proven bound {bound:.17g} above the objective {objective:.17g} that a hyperplane reaches: "
            "please report this, with the data and hardmargin.show_versions()."
        )
    return min(max(0.0, bound), objective)
