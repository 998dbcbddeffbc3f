"""Records for the tests of ``hardmargin.bench``."""

from __future__ import annotations

from typing import Any

from hardmargin.bench.records.record import Record


def record(**changes: Any) -> Record:
    """A record of a run that was proven optimal, except for the changes."""
    values: dict[str, Any] = {
        "instance": "n60d2ATj0",
        "set": "A",
        "n": 60,
        "m": 2,
        "C": 10.0,
        "method": "auto",
        "configuration": "default",
        "options": {},
        "seed": 0,
        "time_limit": 60.0,
        "gap_asked": 1e-6,
        "threads": 1,
        "memory_limit": None,
        "status": "optimal",
        "objective": 100.0,
        "lower_bound": 100.0,
        "gap": 0.0,
        "runtime": 0.5,
        "wall": 1.5,
        "nodes": 7,
        "n_violations": 9,
        "trace": [[0.1, 120.0, 0.0], [0.5, 100.0, 100.0]],
        "peak_memory": 10**8,
        "checked": True,
        "machine": {"cores": 2},
        "versions": {"hardmargin": "0.1.0"},
        "started": "2024-01-01T00:00:00.000+00:00",
        "error": None,
        "coef": [1.0, 2.0],
        "intercept": 0.5,
    }
    return Record(**{**values, **changes})
