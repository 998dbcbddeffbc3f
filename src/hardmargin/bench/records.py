"""One record a run: what was asked, what came out, on which machine; kept as JSON lines."""

from __future__ import annotations

import json
import math
import os
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from hardmargin.bench.groups import group_of

#: Statuses of runs that ended without an answer; all others are those of :class:`hardmargin.Status`.
FAILED = "failed"
MEMORY_LIMIT = "memory_limit"
KILLED = "killed"
WITHOUT_ANSWER = frozenset({FAILED, MEMORY_LIMIT, KILLED})


@dataclass(frozen=True)
class Record:
    """One run.

    Attributes
    ----------
    instance, set : str
        The instance, and the set that it belongs to: "A", "B" or "UCI".
    n, m : int
        Number of samples and features.
    C : float
        Penalty of a violated sample.
    method, configuration : str
        The method, and the name of its options.
    options : dict
        The options themselves.
    seed : int
    time_limit : float
        Seconds.
    gap_asked : float
        The relative gap at which the run was to stop.
    threads : int
    memory_limit : int or None
        Bytes.
    status : str
        That of the result; "failed", "memory_limit" or "killed" if there is none.
    objective, lower_bound, gap : float or None
        The gap is a fraction of the objective.
    runtime : float or None
        Seconds by the solve's own clock.
    wall : float
        Seconds of the whole process, start of the interpreter and reading included.
    nodes, n_violations : int or None
    trace : list of [seconds, upper, lower]
    peak_memory : int or None
        The most bytes that the process has used.
    checked : bool
        Whether the objective has been recomputed from the data, and agrees.
    machine, versions : dict
    started : str
        UTC, in ISO 8601.
    error : str or None
        Why there is no answer, in one line.
    coef : list of float or None
    intercept : float or None
        The hyperplane.
    """

    instance: str
    set: str
    n: int
    m: int
    C: float
    method: str
    configuration: str
    options: dict[str, Any]
    seed: int
    time_limit: float
    gap_asked: float
    threads: int
    memory_limit: int | None
    status: str
    objective: float | None
    lower_bound: float | None
    gap: float | None
    runtime: float | None
    wall: float
    nodes: int | None
    n_violations: int | None
    trace: list[list[float | None]] = field(repr=False)
    peak_memory: int | None
    checked: bool
    machine: dict[str, Any] = field(repr=False)
    versions: dict[str, Any] = field(repr=False)
    started: str
    error: str | None
    coef: list[float] | None = field(repr=False)
    intercept: float | None

    @property
    def optimal(self) -> bool:
        """Whether the objective is proven minimal, up to the gap asked for."""
        return self.status == "optimal"

    @property
    def answered(self) -> bool:
        """Whether the run has ended with a hyperplane and a bound."""
        return self.status not in WITHOUT_ANSWER

    @property
    def group(self) -> str:
        """The data set or kind of the instance, e.g. "adult" or "n60d2A"."""
        return group_of(self.instance)

    @property
    def key(self) -> str:
        """What was asked; two records of the same key are the same run twice."""
        return run_key(asdict(self))

    def to_json(self) -> str:
        """One line of JSON, without its end."""
        return json.dumps(asdict(self), allow_nan=False, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> Record:
        """Rebuild a record from :meth:`to_json`; keys that are not known are ignored.

        Raises
        ------
        ValueError
            If the text is no record.
        """
        try:
            values = json.loads(text)
        except ValueError as error:
            raise ValueError(f"not a record: not JSON ({error}).") from None
        if not isinstance(values, dict):
            raise ValueError("not a record: the JSON is not an object.")
        missing = [item.name for item in fields(cls) if item.name not in values]
        if missing:
            raise ValueError(f"not a record: the key {missing[0]!r} is missing.")
        return cls(**{item.name: values[item.name] for item in fields(cls)})


_KEY = ("instance", "C", "method", "configuration", "options", "seed", "time_limit", "gap_asked", "threads")
_REAL = {"C", "time_limit", "gap_asked"}


def run_key(values: Mapping[str, Any]) -> str:
    """The identity of a run: instance, C, method, configuration, options, seed, limits and threads.

    Examples
    --------
    >>> asked = dict(instance="n60d2ATj0", C=1, method="auto", configuration="default", options={}, seed=0)
    >>> run_key({**asked, "time_limit": 60, "gap_asked": 1e-6, "threads": 1})
    '["n60d2ATj0", 1.0, "auto", "default", {}, 0, 60.0, 1e-06, 1]'
    """
    picked = [float(values[name]) if name in _REAL else values[name] for name in _KEY]
    return json.dumps(picked, sort_keys=True)


def finite(value: float | None) -> float | None:
    """The number itself, or None if it is none that JSON can express."""
    return value if value is not None and math.isfinite(value) else None


def read_records(path: str | os.PathLike[str]) -> list[Record]:
    """Read a campaign's file.

    A last line without its end, as a kill in the middle of a write leaves it, is left out with a warning. Of
    several records of the same run the last counts.

    Raises
    ------
    ValueError
        If another line is no record; the message names file and line.
    OSError
        If the file cannot be read.
    """
    whole, torn = numbered_lines(path)
    if torn:
        warnings.warn(
            f"{path}: the last line is incomplete and left out; its run was under way when the campaign ended.",
            stacklevel=2,
        )
    latest: dict[str, Record] = {}
    for number, line in whole:
        try:
            record = Record.from_json(line)
        except ValueError as error:
            raise ValueError(f"{path}:{number}: {error}") from None
        latest.pop(record.key, None)
        latest[record.key] = record
    return list(latest.values())


def numbered_lines(path: str | os.PathLike[str]) -> tuple[list[tuple[int, str]], bool]:
    """The lines of a file of records with their numbers, those that are complete and not blank.

    Returns
    -------
    lines : list of (int, str)
    torn : bool
        Whether something without a line's end follows.

    Raises
    ------
    ValueError
        If the file is not text.
    OSError
        If it cannot be read.
    """
    content = Path(path).read_bytes()
    end = content.rfind(b"\n") + 1
    try:
        text = content[:end].decode("utf-8")
    except UnicodeDecodeError:
        raise ValueError(f"{path}: not text; expected the records of a campaign, a line of JSON each.") from None
    numbered = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    return numbered, bool(content[end:].strip())


class RecordFile:
    """Appends records to a file, each in one write that has reached the disk when :meth:`append` returns.

    A torn last line is removed first. Only one process may have the file open for appending.

    Parameters
    ----------
    path : str or path-like
        The file; made if missing.

    Raises
    ------
    ValueError
        If another campaign is appending to it.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o666)
        try:
            _lock(self._file, path)
            content = Path(path).read_bytes()
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
        # Regular files take it all at once, unless the disk is full.
        written = os.write(self._file, content)
        if written != len(content):
            raise OSError(f"only {written} of {len(content)} bytes were written; is the disk full?")
        os.fsync(self._file)


def _lock(file: int, path: str | os.PathLike[str]) -> None:
    try:
        import fcntl
    except ImportError:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise ValueError(f"{path}: another campaign writes to it; wait for it or choose another file.") from None
