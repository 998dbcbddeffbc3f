"""How much memory there is, and a refusal of what does not fit before it starts."""

from __future__ import annotations

from pathlib import Path

from hardmargin.units import GIGABYTE

_MEMINFO = Path("/proc/meminfo")
# The limit of a container, and what its processes use of it.
_CONTAINER = Path("/sys/fs/cgroup")


def available_memory() -> int | None:
    """The bytes that can be allocated without swapping; None if the system does not say."""
    found = [bytes for bytes in (_of_machine(), _of_container()) if bytes is not None]
    return min(found, default=None)


def require_memory(needed: int, purpose: str, advice: str) -> None:
    """Check that there is memory for something that is about to start.

    Parameters
    ----------
    needed : int
        Bytes, in addition to what is in use.
    purpose, advice : str
        What needs them, and what to do instead.

    Raises
    ------
    MemoryError
        If there is less.
    """
    available = available_memory()
    if available is not None and needed > available:
        raise MemoryError(
            f"{purpose} needs {needed / GIGABYTE:.3g} GB in addition, and {available / GIGABYTE:.3g} GB are "
            f"available; {advice}."
        )


def _of_machine() -> int | None:
    try:
        lines = _MEMINFO.read_text(encoding="ascii").splitlines()
    except (OSError, ValueError):
        return None
    for line in lines:
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return None


def _of_container() -> int | None:
    try:
        most = (_CONTAINER / "memory.max").read_text(encoding="ascii").strip()
        used = (_CONTAINER / "memory.current").read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return None
    # Pages of files that were read count as used, but are given up when memory is needed.
    return max(0, int(most) - int(used) + _file_pages()) if most.isdigit() and used.isdigit() else None


def _file_pages() -> int:
    try:
        lines = (_CONTAINER / "memory.stat").read_text(encoding="ascii").splitlines()
    except (OSError, ValueError):
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith(("active_file ", "inactive_file ")))
