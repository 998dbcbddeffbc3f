"""What a solve returns: a hyperplane, a proven bound, and how they were reached; also as JSON."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hardmargin.problem import FloatArray, Problem, validated_samples
from hardmargin.versions import __version__

# A bound above the objective by less than this, relatively, is rounding; by more, it is wrong.
_BOUND_ROUNDING = 1e-6


class Status(str, Enum):
    """Why a solve ended.

    ``OPTIMAL`` means that the gap asked for was reached: the objective is proven minimal up to it.
    ``HEURISTIC`` means that the method ran to its end without being asked for, or reaching, a proof.
    """

    OPTIMAL = "optimal"
    TIME_LIMIT = "time_limit"
    INTERRUPTED = "interrupted"
    NODE_LIMIT = "node_limit"
    HEURISTIC = "heuristic"

    def __str__(self) -> str:
        return self.value


class TracePoint(NamedTuple):
    """The bounds known after some seconds."""

    time: float
    upper: float
    lower: float


Trace = list[TracePoint]


def relative_gap(objective: float, lower_bound: float) -> float:
    """(objective - lower_bound) / objective; 0 if the objective is 0, and 1 if it is not finite.

    Examples
    --------
    >>> relative_gap(10.0, 8.0)
    0.2
    """
    if objective == 0:
        return 0.0
    return max(0.0, (objective - lower_bound) / objective) if math.isfinite(objective) else 1.0


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
        Subproblems looked at by the method; for the heuristic, rounds of its local search.
    method : str
        The method's name.
    C : float
        Penalty of a violated sample.
    weights : list of float or None
        Sample weights times class weights, if any were given.
    n, m : int
        Number of samples and features.
    trace : list of TracePoint
        The bounds over time.
    version : str
        The version of hardmargin that wrote this.
    target_gap : float or None
        The gap that was asked for, by which "optimal" is judged; None if it was not recorded.
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
    C: float
    weights: list[float] | None
    n: int
    m: int
    trace: Trace = field(default_factory=list, repr=False)
    version: str = __version__
    target_gap: float | None = None

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
        trace: Trace | None = None,
        target_gap: float | None = None,
    ) -> Result:
        """Evaluate a hyperplane on a problem and wrap it up with its bound.

        Raises
        ------
        RuntimeError
            If the bound is above the objective by more than rounding: then one of them is wrong.
        """
        evaluation = problem.evaluate(coef, intercept)
        bound = _checked_bound(float(lower_bound), evaluation.objective)
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
            C=problem.C,
            weights=None if problem.weights is None else problem.weights.tolist(),
            n=problem.n,
            m=problem.m,
            trace=list(trace or []),
            target_gap=target_gap,
        )

    @property
    def n_violations(self) -> int:
        """Number of violated samples."""
        return len(self.violations)

    @property
    def optimal(self) -> bool:
        """Whether the objective is proven minimal, up to the gap asked for."""
        return self.status is Status.OPTIMAL

    def decision_function(self, X: ArrayLike) -> FloatArray:
        """w.x + b of every row of X (array-like, DataFrame or sparse matrix)."""
        samples = validated_samples(X)
        if samples.shape[1] != self.m:
            raise ValueError(f"X has {samples.shape[1]} features; expected {self.m}, as in training.")
        values: FloatArray = samples @ np.array(self.coef) + self.intercept
        return values

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The label of the side of the hyperplane that every row of X lies on."""
        positive = (self.decision_function(X) > 0).astype(np.intp)
        return np.asarray(self.classes)[positive]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, with the keys that the JSON form has; labels that JSON has no type for become text."""
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        values["status"] = self.status.value
        values["n_violations"] = self.n_violations
        values["classes"] = [_json_label(label) for label in self.classes]
        values["trace"] = [list(point) for point in self.trace]
        return values

    def to_json(self) -> str:
        """The JSON text that ``--json`` writes."""
        return json.dumps(self.to_dict(), indent=1, allow_nan=False) + "\n"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the JSON form; an existing file is replaced in one step, never left half written."""
        if Path(path).exists() and not Path(path).is_file():
            # /dev/stdout and the like are written to, never replaced.
            Path(path).write_text(self.to_json(), encoding="utf-8")
            return
        target = Path(os.path.realpath(path))
        partial = target.with_name(f".{target.name}.{os.getpid()}.partial")
        try:
            partial.write_text(self.to_json(), encoding="utf-8")
            os.replace(partial, target)
        finally:
            partial.unlink(missing_ok=True)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Result:
        """Rebuild a result from :meth:`to_dict`; keys that are not known are ignored.

        Raises
        ------
        ValueError
            If a key is missing or its value is of the wrong kind.
        """
        picked: dict[str, Any] = {}
        for name, read in _READERS.items():
            if name in values:
                picked[name] = _read(name, read, values[name])
            elif name not in _OPTIONAL:
                raise ValueError(f"not a hardmargin model: the key {name!r} is missing.")
        for name, count in (("coef", "m"), ("weights", "n")):
            if picked[name] is not None and len(picked[name]) != picked[count]:
                raise ValueError(
                    f"not a hardmargin model: {name!r} has {len(picked[name])} values "
                    f"but {count!r} is {picked[count]}."
                )
        return cls(**picked)

    @classmethod
    def from_json(cls, text: str) -> Result:
        """Rebuild a result from :meth:`to_json`."""
        return cls.from_dict(_parsed(text))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Result:
        """Read a file that :meth:`save` wrote."""
        return cls.from_dict(read_values(path))

    def summary(self) -> str:
        """A few lines for a person."""
        proven = "proven minimal" if self.optimal else f"gap {100 * self.gap:.3g} %"
        rows = ", ".join(str(row) for row in self.violations[:12])
        more = f", ... ({self.n_violations - 12} more)" if self.n_violations > 12 else ""
        norm = math.hypot(*self.coef)
        lines = [
            f"hardmargin {self.version}, method {self.method}: {self.status}",
            f"  objective    {self.objective:.9g}",
            f"  proven bound {self.lower_bound:.9g} ({proven})",
            f"  margin       {2 / norm if norm > 0 else math.inf:.6g} (2 / ||w||)",
            f"  given up     {self.n_violations} of {self.n} samples" + (f": {rows}{more}" if rows else ""),
            f"  effort       {self.runtime:.2f} s, {self.nodes} nodes",
        ]
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.summary()


def read_values(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read the JSON object of a model file, unchecked but for being one.

    Raises
    ------
    ValueError
        If the file holds something else.
    OSError
        If the file cannot be read.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ValueError(f"not a hardmargin model: {path} is not text.") from None
    return _parsed(text)


def _parsed(text: str) -> dict[str, Any]:
    try:
        values = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not a hardmargin model: not JSON ({error}).") from None
    if not isinstance(values, dict):
        raise ValueError("not a hardmargin model: the JSON is not an object.")
    return values


def _json_label(label: Any) -> Any:
    return label if isinstance(label, (str, int, float, bool)) else str(label)


def _checked_bound(bound: float, objective: float) -> float:
    if not bound <= objective * (1 + _BOUND_ROUNDING):
        raise RuntimeError(
            f"proven bound {bound:.17g} above the objective {objective:.17g} that a hyperplane reaches: "
            "please report this, with the data and hardmargin.show_versions()."
        )
    return min(max(0.0, bound), objective)


def _read(name: str, read: Callable[[Any], Any], value: Any) -> Any:
    try:
        return read(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"not a hardmargin model: {name!r}: {error}") from None


def _finite(value: Any) -> float:
    if isinstance(value, (bool, str)) or not math.isfinite(value):
        raise ValueError(f"{value!r} is not a finite number.")
    return float(value)


def _whole(value: Any) -> int:
    if isinstance(value, (bool, str)) or int(value) != value or value < 0:
        raise ValueError(f"{value!r} is not a whole number >= 0.")
    return int(value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is not text.")
    return value


def _list_of(read: Callable[[Any], Any]) -> Callable[[Any], list[Any]]:
    def read_list(values: Any) -> list[Any]:
        if not isinstance(values, (list, tuple)):
            raise ValueError(f"{values!r} is not a list.")
        return [read(value) for value in values]

    return read_list


def _optional(read: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: None if value is None else read(value)


def _trace_point(values: Any) -> TracePoint:
    return TracePoint(*_list_of(_finite)(values))


def _two_labels(values: Any) -> list[Any]:
    labels = _list_of(lambda label: label if isinstance(label, (str, bool, int)) else _finite(label))(values)
    if len(labels) != 2 or labels[0] == labels[1] or len({isinstance(label, str) for label in labels}) != 1:
        raise ValueError(f"{values!r} is not a list of two different labels, both numbers or both text.")
    return labels


_READERS: dict[str, Callable[[Any], Any]] = {
    "status": Status,
    "objective": _finite,
    "lower_bound": _finite,
    "gap": _finite,
    "coef": _list_of(_finite),
    "intercept": _finite,
    "classes": _two_labels,
    "violations": _list_of(_whole),
    "runtime": _finite,
    "nodes": _whole,
    "method": _text,
    "C": _finite,
    "weights": _optional(_list_of(_finite)),
    "n": _whole,
    "m": _whole,
    "trace": _list_of(_trace_point),
    "version": _text,
    "target_gap": _optional(_finite),
}

_OPTIONAL = {"target_gap"}
