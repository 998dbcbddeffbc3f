"""The cores that this process may use."""

from __future__ import annotations

import os

#: More threads per core than this do not make a search faster; they only cost memory, and time to start and stop.
THREADS_PER_CORE = 4


def available_cores() -> list[int]:
    """The numbers of these cores; all cores if the system does not say which ones are available."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def useful_threads(wanted: int) -> int:
    """How many threads to start if this many are wanted: at most :data:`THREADS_PER_CORE` per core.

    Parameters
    ----------
    wanted : int
        At least 1, or -1 for one thread per core.
    """
    cores = len(available_cores())
    return cores if wanted == -1 else min(wanted, THREADS_PER_CORE * cores)
