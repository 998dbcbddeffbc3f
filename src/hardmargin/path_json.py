"""The JSON form of a path: its own figures, and its hyperplanes in the form of models, without repetition."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from hardmargin.result import Result
from hardmargin.status import Status

if TYPE_CHECKING:
    from hardmargin.penalty_path import Path

_FORMAT = "hardmargin path"
# What each hyperplane of a path has for itself. All else is written once, except what has no meaning for a path.
_OWN = ("C", "coef", "intercept", "violations", "objective", "lower_bound", "gap", "status")
_LEFT_OUT = (*_OWN, "trace", "n_violations")


def to_dict(path: Path) -> dict[str, Any]:
    """Plain data, with the keys of the JSON form."""
    plain = [hyperplane.to_dict() for hyperplane in path.hyperplanes]
    return {
        **{name: value for name, value in plain[0].items() if name not in _LEFT_OUT},
        "format": _FORMAT,
        "status": path.status.value,
        "C": {"values": path.C} if isinstance(path.C, list) else {"low": path.C[0], "high": path.C[1]},
        "breakpoints": path.breakpoints,
        "gap": path.gap,
        "hyperplanes": [{name: each[name] for name in _OWN} for each in plain],
        "proven": [list(point) for point in path.proven],
        "runtime": path.runtime,
        "nodes": path.nodes,
        "solves": path.solves,
        "target_gap": path.target_gap,
        "data": path.data,
        "version": path.version,
    }


def checked_fields(values: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a path from :func:`to_dict`; unknown keys are ignored.

    Raises
    ------
    ValueError
        If a key is missing or its value has the wrong type.
    """
    try:
        return _fields(values)
    except KeyError as error:
        raise ValueError(f"not a hardmargin path: the key {error} is missing.") from None
    except (TypeError, AttributeError, ValueError) as error:
        text = str(error)
        raise ValueError(text if text.startswith("not a ") else f"not a hardmargin path: {text}") from None


def _fields(values: Mapping[str, Any]) -> dict[str, Any]:
    if values.get("format") != _FORMAT:
        raise ValueError(f"not a hardmargin path: the key 'format' is not {_FORMAT!r}.")
    hyperplanes = [Result.from_dict({**values, "trace": [], **own}) for own in values["hyperplanes"]]
    if not hyperplanes:
        raise ValueError("not a hardmargin path: it has no hyperplanes.")
    return {
        "status": Status(values["status"]),
        "C": _penalties(values["C"]),
        "hyperplanes": hyperplanes,
        "proven": [(_finite(at), _finite(bound)) for at, bound in values["proven"]],
        "runtime": hyperplanes[0].runtime,
        "nodes": hyperplanes[0].nodes,
        "solves": int(values["solves"]),
        "target_gap": _finite(values["target_gap"]),
        "data": str(values["data"]),
        "version": hyperplanes[0].version,
    }


def _penalties(numbers: Mapping[str, Any]) -> tuple[float, float] | list[float]:
    """The range of C, or the values."""
    asked = numbers.get("values")
    C = (
        (_finite(numbers["low"]), _finite(numbers["high"]))
        if asked is None
        else [_finite(value) for value in asked]
    )
    if not C or not all(value > 0 for value in C):
        raise ValueError(f"not a hardmargin path: 'C' is {numbers!r}; expected positive numbers.")
    return C


def _finite(value: Any) -> float:
    if isinstance(value, (bool, str)) or not np.isfinite(value):
        raise ValueError(f"not a hardmargin path: {value!r} is not a finite number.")
    return float(value)
