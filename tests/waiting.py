"""Waiting for events in another thread or process, however busy the machine is."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

#: Seconds after which an expected event counts as not happening; as a limit, one that is never reached.
NEVER = 600.0


def until(condition: Callable[[], object]) -> None:
    """Wait until a condition holds."""
    end = time.monotonic() + NEVER
    while not condition():
        assert time.monotonic() < end, f"did not happen within {NEVER:g} s"
        time.sleep(0.01)


def has_a_line(path: Path) -> bool:
    """Whether a complete line has been written to a file."""
    return path.exists() and path.read_bytes().endswith(b"\n")
