"""What processes use, as the system tells it; nothing where it does not."""

from __future__ import annotations

from pathlib import Path


def peak_memory(pid: int) -> int | None:
    """The most memory that a process has had so far, in bytes; None if that cannot be found out."""
    return _status_field(pid, "VmHWM")


def tree_memory(pid: int) -> int | None:
    """The memory of a process and its descendants, in bytes; None if that cannot be found out.

    Examples
    --------
    >>> import os
    >>> used = tree_memory(os.getpid())
    >>> used is None or used > 1_000_000
    True
    """
    own = _status_field(pid, "VmRSS")
    return None if own is None else own + sum(_status_field(child, "VmRSS") or 0 for child in descendants(pid))


def descendants(pid: int) -> list[int]:
    """The processes that a process has started, and those that these have."""
    found: list[int] = []
    waiting = [pid]
    while waiting:
        children = _children(waiting.pop())
        found += children
        waiting += children
    return found


def _children(pid: int) -> list[int]:
    try:
        lists = [path.read_text() for path in Path(f"/proc/{pid}/task").glob("*/children")]
    except OSError:
        return []
    return [int(word) for text in lists for word in text.split()]


def _status_field(pid: int, name: str) -> int | None:
    try:
        text = Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    for line in text.splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    return None
