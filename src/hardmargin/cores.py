"""The cores that this process may use."""

from __future__ import annotations

import os


def available_cores() -> list[int]:
    """Their numbers; where the system does not tell which they are, those of all cores."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))
