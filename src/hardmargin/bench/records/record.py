"""One record per run: the request, the result and the machine; stored as JSON lines."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from hardmargin.bench.instances.catalogue import published_instances
from hardmargin.bench.instances.groups import group_of
from hardmargin.bench.records.files import JsonLine, read_latest
from hardmargin.bounds import relative_gap

#: Statuses of runs that ended without an answer; all others are those of :class:`hardmargin.Status`.
FAILED = "failed"
MEMORY_LIMIT = "memory_limit"
KILLED = "killed"
WITHOUT_ANSWER = frozenset({FAILED, MEMORY_LIMIT, KILLED})


@dataclass(frozen=True)
class Record(JsonLine):
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
        The method, and the name of its set of options.
    options : dict
        The options themselves.
    seed : int
    time_limit : float
        Seconds.
    gap_asked : float
        The relative gap at which the run should stop.
    threads : int
    memory_limit : int or None
        Bytes.
    status : str
        Status of the result; "failed", "memory_limit" or "killed" if there is none.
    objective, lower_bound, gap : float or None
        The gap is a fraction of the objective.
    runtime : float or None
        Seconds, as measured by the solve itself.
    wall : float
        Seconds from the request to the answer, including reading and, if a process was started, its start.
    nodes, n_violations : int or None
    trace : list of [seconds, upper, lower]
    peak_memory : int or None
        Largest memory use of the process, in bytes.
    checked : bool
        Whether the objective was recomputed from the data and agrees.
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

    @classmethod
    def completed(cls, values: dict[str, Any]) -> dict[str, Any]:
        """Fill in what a minimal record leaves out.

        Results of other solvers join tables and figures with ``instance``, ``C``, ``method``, ``objective``,
        ``lower_bound``, ``runtime`` and ``time_limit``. The size and the set follow from the name of an instance of
        the benchmark. Without a status, a run is optimal if its gap is at most ``gap_asked``, which is CPLEX's
        default of 1e-4 if it is not given.
        """
        if not values.keys() >= _ESSENTIAL or values.keys() >= {item.name for item in fields(cls)}:
            return values
        return {**_DEFAULTS, **_of_instance(values["instance"]), **_derived(values), **values}

    @property
    def optimal(self) -> bool:
        """Whether the objective is proven minimal, up to the requested gap."""
        return self.status == "optimal"

    @property
    def answered(self) -> bool:
        """Whether the run ended with a hyperplane and a bound."""
        return self.status not in WITHOUT_ANSWER

    @property
    def pair(self) -> tuple[str, float]:
        """The instance and its C."""
        return self.instance, float(self.C)

    @property
    def group(self) -> str:
        """The data set or kind of the instance, e.g. "adult" or "n60d2A"."""
        return group_of(self.instance)

    @property
    def key(self) -> str:
        """The request; two records with the same key are the same run twice."""
        return run_key(asdict(self))


# What a record of another solver has to say.
_ESSENTIAL = {"instance", "C", "method", "objective", "lower_bound", "runtime", "time_limit"}
_DEFAULTS: dict[str, Any] = {
    "configuration": "default",
    "options": {},
    "seed": 0,
    "gap_asked": 1e-4,
    "threads": 1,
    "memory_limit": None,
    "nodes": None,
    "n_violations": None,
    "trace": [],
    "peak_memory": None,
    "checked": False,
    "machine": {},
    "versions": {},
    "started": "",
    "error": None,
    "coef": None,
    "intercept": None,
}


def _of_instance(name: Any) -> dict[str, Any]:
    """Set and size of an instance of the benchmark; of others, the record itself has to name them."""
    found = next((one for one in published_instances() if one.name == name), None)
    return {} if found is None else {"set": found.set, "n": found.n, "m": found.m}


def _derived(values: Mapping[str, Any]) -> dict[str, Any]:
    """Gap, status and wall time, from objective, bound and runtime."""
    objective, bound = values["objective"], values["lower_bound"]
    wall = {"wall": values["runtime"]}
    if not isinstance(objective, (int, float)) or not isinstance(bound, (int, float)):
        return {**wall, "gap": None, "status": FAILED}
    gap = relative_gap(objective, bound)
    proven = gap <= values.get("gap_asked", _DEFAULTS["gap_asked"])
    return {**wall, "gap": gap, "status": "optimal" if proven else "time_limit"}


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
    """The number itself, or None if JSON cannot express it."""
    return value if value is not None and math.isfinite(value) else None


def read_records(path: str | os.PathLike[str]) -> list[Record]:
    """Read a campaign's file.

    An incomplete last line, as left by a process that was killed while writing, is ignored with a warning. Of
    several records of the same run the last counts.

    Raises
    ------
    ValueError
        If another line is not a record; the message names file and line.
    OSError
        If the file cannot be read.
    """
    return read_latest(path, Record, "its run was under way when the campaign ended")
