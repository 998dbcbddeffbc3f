"""Hand-made records and runs, for the tests of tables, figures and report."""

from __future__ import annotations

from typing import Any

import bench_records
from hardmargin.bench.analysis.runs import SystemRun, runs_of
from hardmargin.bench.records.record import Record

_FACTS: dict[str, Any] = {
    "C": 1.0,
    "objective": 10.0,
    "lower_bound": 10.0,
    "runtime": 2.0,
    "wall": 3.0,
    "n_violations": 1,
    "trace": [[0.5, 20.0, 5.0], [1.0, 10.0, 5.0], [2.0, 10.0, 10.0]],
    "machine": {"processor": "Example 3000", "cores": 2, "memory": 8 * 10**9},
    "started": "2024-01-02T03:04:05+00:00",
}


def record(**changes: Any) -> Record:
    """An optimal run of two seconds, except for the changes."""
    return bench_records.record(**{**_FACTS, **changes})


def open_record(gap: float = 0.25, **changes: Any) -> Record:
    """A run that reached its limit with a gap."""
    facts = {"status": "time_limit", "lower_bound": 10 * (1 - gap), "gap": gap, "runtime": 60.1}
    return record(**{**facts, "trace": [[0.5, 10.0, 10 * (1 - gap)]], **changes})


def failed_record(**changes: Any) -> Record:
    """A run that ran out of memory."""
    facts = {"status": "memory_limit", "error": "out of memory", "checked": False, "trace": []}
    nothing = dict.fromkeys(("objective", "lower_bound", "gap", "runtime", "nodes", "coef", "intercept"))
    return record(**{**facts, **nothing, **changes})


def run(**changes: Any) -> SystemRun:
    """The run of an optimal record, except for the changes."""
    return runs_of([record(**changes)])[0]


def small_campaign() -> list[Record]:
    """Two systems on a few pairs of every set, one of them without an answer."""
    places = (
        {"instance": "n60d2ATj0", "set": "A", "n": 60, "m": 2},
        {"instance": "n100d5BTj1", "set": "B", "n": 100, "m": 5},
        {"instance": "heart5f1i1.train", "set": "UCI", "n": 152, "m": 20},
    )
    found = []
    for place in places:
        for C in (1.0, 100.0):
            found.append(record(**place, C=C, runtime=0.5 + C / 100))
            facts = {"method": "benders", "configuration": "cb_5_5", "options": {"T_S": 0.05, "T_B": 0.05}}
            found.append(open_record(**place, C=C, **facts))
    found[-1] = failed_record(**places[-1], C=100.0, **facts)
    return found
