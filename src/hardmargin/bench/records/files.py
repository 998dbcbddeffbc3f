"""Files of records, one line of JSON each: safe to append to, and readable even if the last line is incomplete."""

from __future__ import annotations

import json
import os
import warnings
from dataclasses import asdict, fields
from functools import cache
from pathlib import Path
from types import UnionType
from typing import Any, ClassVar, Protocol, TypeVar, get_args, get_origin, get_type_hints

Line = TypeVar("Line", bound="JsonLine")
Keyed = TypeVar("Keyed", bound="KeyedLine")


class JsonLine:
    """A dataclass that is stored as one line of JSON."""

    #: What a line should be, for messages.
    what: ClassVar[str] = "a record"

    def to_json(self) -> str:
        """One line of JSON, without the line break."""
        values: Any = self
        return json.dumps(asdict(values), allow_nan=False, separators=(",", ":"))

    @classmethod
    def completed(cls, values: dict[str, Any]) -> dict[str, Any]:
        """The values of a line that may leave some out; here, nothing may be left out."""
        return values

    @classmethod
    def from_json(cls: type[Line], text: str) -> Line:
        """Rebuild a record from :meth:`to_json`; unknown keys are ignored.

        Raises
        ------
        ValueError
            If the text is not a record.
        """
        kind: Any = cls
        try:
            values = json.loads(text)
        except ValueError as error:
            raise ValueError(f"not {cls.what}: not JSON ({error}).") from None
        if not isinstance(values, dict):
            raise ValueError(f"not {cls.what}: the JSON is not an object.")
        values = cls.completed(values)
        hints = _field_types(kind)
        for name, hint in hints.items():
            if name not in values:
                raise ValueError(f"not {cls.what}: the key {name!r} is missing.")
            if not _fits(values[name], hint):
                raise ValueError(f"not {cls.what}: {name!r} is {values[name]!r:.60}; expected {_told(hint)}.")
        return cls(**{name: values[name] for name in hints})


@cache
def _field_types(kind: Any) -> dict[str, Any]:
    """The types of a dataclass's fields by name."""
    hints = get_type_hints(kind)
    return {item.name: hints[item.name] for item in fields(kind)}


def _fits(value: Any, hint: Any) -> bool:
    """Whether a JSON value has the type of a field."""
    kind = get_origin(hint) or hint
    if kind is UnionType:
        return any(_fits(value, option) for option in get_args(hint))
    if kind is Any:
        return True
    if kind is list:
        return isinstance(value, list) and all(_fits(item, get_args(hint)[0]) for item in value)
    if isinstance(value, bool):
        return kind is bool
    return isinstance(value, (int, float) if kind is float else kind)


def _told(hint: Any) -> str:
    """A type in words."""
    names = {str: "text", dict: "an object", float: "a number", int: "a whole number", bool: "true or false"}
    if get_origin(hint) is UnionType:
        return " or ".join(_told(option) for option in get_args(hint))
    if get_origin(hint) is list:
        return "a list"
    return names.get(get_origin(hint) or hint, "null")


class KeyedLine(Protocol):
    """A record that is unique for its key."""

    @property
    def key(self) -> Any: ...

    @classmethod
    def from_json(cls: type[Keyed], text: str) -> Keyed: ...


def latest_records(path: str | os.PathLike[str], kind: type[Keyed]) -> tuple[list[Keyed], bool]:
    """The records of a file's complete lines, the last one for each key; and whether an incomplete line follows.

    Raises
    ------
    ValueError
        If a line is not a record; the message names file and line.
    OSError
        If the file cannot be read.
    """
    whole, torn = numbered_lines(path)
    latest: dict[Any, Keyed] = {}
    for number, line in whole:
        try:
            record = kind.from_json(line)
        except ValueError as error:
            raise ValueError(f"{path}:{number}: {error}") from None
        latest.pop(record.key, None)
        latest[record.key] = record
    return list(latest.values()), torn


def read_latest(path: str | os.PathLike[str], kind: type[Keyed], lost: str) -> list[Keyed]:
    """The same records; an incomplete last line gives a warning that says what is lost.

    Raises
    ------
    ValueError, OSError
        As :func:`latest_records`.
    """
    records, torn = latest_records(path, kind)
    if torn:
        warnings.warn(f"{path}: the last line is incomplete and left out; {lost}.", stacklevel=3)
    return records


def numbered_lines(path: str | os.PathLike[str]) -> tuple[list[tuple[int, str]], bool]:
    """The complete, non-blank lines of a file of records, with their line numbers.

    Returns
    -------
    lines : list of (int, str)
    torn : bool
        Whether an incomplete line follows.

    Raises
    ------
    ValueError
        If the file is not text.
    OSError
        If the file cannot be read.
    """
    _require_file(path)
    content = Path(path).read_bytes()
    end = content.rfind(b"\n") + 1
    try:
        text = content[:end].decode("utf-8")
    except UnicodeDecodeError:
        raise ValueError(f"{path}: not text; expected the records of a campaign, one line of JSON each.") from None
    numbered = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    return numbered, bool(content[end:].strip())


class RecordFile:
    """Appends records to a file, each in one write that has reached the disk when :meth:`append` returns.

    An incomplete last line is removed first. Only one process may have the file open for appending.

    Parameters
    ----------
    path : str or path-like
        The file; created if missing.

    Raises
    ------
    ValueError
        If another campaign is appending to the file, or it contains something else.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        _require_file(path)
        self._file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o666)
        try:
            _lock(self._file, path)
            content = Path(path).read_bytes()
            if any(line and not line.startswith(b"{") for line in content.split(b"\n")):
                raise ValueError(f"{path}: contains something other than records; expected a new file or records.")
            if not content.endswith(b"\n"):
                os.ftruncate(self._file, content.rfind(b"\n") + 1)
        except BaseException:
            os.close(self._file)
            raise

    def __enter__(self) -> RecordFile:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._file)

    def append(self, line: str) -> None:
        """Append one line of JSON."""
        content = (line + "\n").encode("utf-8")
        # A regular file accepts the whole line at once, unless the disk is full.
        written = os.write(self._file, content)
        if written != len(content):
            raise OSError(f"only {written} of {len(content)} bytes were written; is the disk full?")
        os.fsync(self._file)


def _require_file(path: str | os.PathLike[str]) -> None:
    """Refuse anything but a regular file: a device may have no end."""
    if Path(path).exists() and not Path(path).is_file():
        raise ValueError(f"{path}: a folder or a device; expected a file of records.")


def _lock(file: int, path: str | os.PathLike[str]) -> None:
    try:
        import fcntl
    except ImportError:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise ValueError(f"{path}: another campaign writes to it; wait for it or choose another file.") from None
