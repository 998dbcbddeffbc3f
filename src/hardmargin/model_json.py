"""The JSON form of a model: written in one step, and read with every value checked.

``model.schema.json`` describes it to other programs. Keys may be added without a new schema version, because
readers ignore those that they do not know. A key that changes its meaning or becomes necessary needs a new version.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from hardmargin.bounds import TracePoint
from hardmargin.status import Status
from hardmargin.versions import __version__

#: The version of the format that this version of hardmargin writes, and the latest that it reads.
SCHEMA_VERSION = 1


def to_text(values: Mapping[str, Any]) -> str:
    """The JSON text of plain data.

    Raises
    ------
    ValueError
        If a number is not finite, which JSON cannot express.
    """
    return json.dumps(values, indent=1, allow_nan=False) + "\n"


def plain_label(label: Any) -> Any:
    """A label as JSON can express it; labels of other types become text."""
    return label if isinstance(label, (str, int, float, bool)) else str(label)


def read_values(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read the JSON object of a model file, and check that :func:`checked_fields` accepts it.

    Raises
    ------
    ValueError
        If the file contains something else; the message names the file.
    OSError
        If the file cannot be read.
    """
    try:
        values = parsed(Path(path).read_text(encoding="utf-8"))
        checked_fields(values)
    except UnicodeDecodeError:
        raise ValueError(f"{path}: not a hardmargin model: not text.") from None
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    return values


def parsed(text: str) -> dict[str, Any]:
    """The JSON object that a text contains; its values are not checked.

    Raises
    ------
    ValueError
        If the text is not a JSON object.
    """
    try:
        values = json.loads(text, object_pairs_hook=_without_repetition)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not a hardmargin model: not JSON ({error}).") from None
    if not isinstance(values, dict):
        raise ValueError("not a hardmargin model: the JSON is not an object.")
    return values


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        names = [name for name, _ in pairs]
        repeated = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {repeated!r} occurs {names.count(repeated)} times; expected each key once")
    return values


def checked_fields(values: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a result from plain data; unknown keys are ignored.

    Raises
    ------
    ValueError
        If a key is missing or its value has the wrong type.
    """
    _check_schema_version(values)
    picked: dict[str, Any] = {}
    for name, read in _READERS.items():
        if name in values:
            picked[name] = _read(name, read, values[name])
        elif name not in _OPTIONAL:
            raise ValueError(f"not a hardmargin model: the key {name!r} is missing.")
    for name, count in (("coef", "m"), ("weights", "n"), ("feature_names", "m"), ("monotonic_cst", "m")):
        if picked.get(name) is not None and len(picked[name]) != picked[count]:
            raise ValueError(
                f"not a hardmargin model: {name!r} has {len(picked[name])} values but {count!r} is {picked[count]}."
            )
    sides = picked.get("coef_bounds")
    if sides is not None and [len(side) for side in sides] != [picked["m"]] * 2:
        raise ValueError(f"not a hardmargin model: 'coef_bounds' is not two lists of {picked['m']} bounds each.")
    for row in picked.get("trusted") or ():
        if row >= picked["n"]:
            raise ValueError(f"not a hardmargin model: 'trusted' names row {row} but 'n' is {picked['n']}.")
    if picked["C"] is None and picked.get("max_violations") is None:
        raise ValueError("not a hardmargin model: 'C': None is not a finite number.")
    if isinstance(picked.get("max_violations"), dict):
        picked["max_violations"] = _limits_by_label(picked["max_violations"], picked["classes"])
    return picked


def _limits_by_label(limits: Mapping[str, float], classes: list[Any]) -> dict[Any, float]:
    """Limits by label, from those by the text of a label: JSON has no other keys."""
    labels = {str(label): label for label in classes}
    unknown = [text for text in limits if text not in labels]
    if unknown:
        raise ValueError(f"not a hardmargin model: 'max_violations' names {unknown[0]!r}, which is not a label.")
    return {labels[text]: limit for text, limit in limits.items()}


def _check_schema_version(values: Mapping[str, Any]) -> None:
    """Refuse models that only a later version of hardmargin understands; early models have no version."""
    version = values.get("schema_version", SCHEMA_VERSION)
    if _read("schema_version", _whole, version) > SCHEMA_VERSION:
        writer = values.get("version")
        origin = f"hardmargin {writer:.40}" if isinstance(writer, str) else "a later version of hardmargin"
        raise ValueError(
            f"the model has schema version {version} and was written by {origin}; this is hardmargin "
            f"{__version__}, which reads schema versions up to {SCHEMA_VERSION}. Use {origin}, or one after it."
        )


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


def _sign(value: Any) -> int:
    if isinstance(value, (bool, str)) or value not in (-1, 0, 1):
        raise ValueError(f"{value!r} is not 1, -1 or 0.")
    return int(value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is not text.")
    return value


def _column(value: Any) -> str | int:
    return value if isinstance(value, str) else _whole(value)


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


def _limits(value: Any) -> float | dict[str, float]:
    if isinstance(value, Mapping):
        return {_text(label): _finite(limit) for label, limit in value.items()}
    return _finite(value)


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
    "C": _optional(_finite),
    "weights": _optional(_list_of(_finite)),
    "n": _whole,
    "m": _whole,
    "trace": _list_of(_trace_point),
    "version": _text,
    "target_gap": _optional(_finite),
    "feature_names": _optional(_list_of(_text)),
    "label_column": _optional(_column),
    "seed": _optional(_whole),
    "fingerprint": _optional(_text),
    "presolve": _text,
    "proof_bound": _optional(_finite),
    "trusted": _optional(_list_of(_whole)),
    "monotonic_cst": _optional(_list_of(_sign)),
    "coef_bounds": _optional(_list_of(_list_of(_optional(_finite)))),
    "max_violations": _optional(_limits),
}

# Models that were written before these keys existed, or by hand, need not have them.
_OPTIONAL = {"target_gap", "feature_names", "label_column", "seed", "fingerprint", "presolve", "proof_bound"}
_OPTIONAL |= {"trusted", "monotonic_cst", "coef_bounds", "max_violations"}

#: The keys of a model: one for each field of a result, one that follows from the others, and the format's version.
KEYS = frozenset({*_READERS, "n_violations", "schema_version"})
