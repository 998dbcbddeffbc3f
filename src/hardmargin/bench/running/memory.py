"""The memory that processes use, if the system provides it."""

from __future__ import annotations

from pathlib import Path

from hardmargin.processes import descendants


def peak_memory(pid: int) -> int | None:
    """The largest memory use of a process so far, in bytes; None if unknown."""
    return _status_field(pid, "VmHWM")


def reset_peak_memory() -> bool:
    """Let the peak of this process begin again at its present memory; False if the system does not allow it."""
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return False
    return True


def tree_memory(pid: int) -> int | None:
    """The memory of a process and its descendants, in bytes; None if unknown.

    Examples
    --------
    >>> import os
    >>> used = tree_memory(os.getpid())
    >>> used is None or used > 1_000_000
    True
    """
    own = _status_field(pid, "VmRSS")
    return None if own is None else own + sum(_status_field(child, "VmRSS") or 0 for child in descendants(pid))


def _status_field(pid: int, name: str) -> int | None:
    try:
        text = Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    for line in text.splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    return None
