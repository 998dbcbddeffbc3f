"""Where and when a run was made, as stored in records."""

from __future__ import annotations

import os
import platform
from datetime import datetime, timezone
from functools import cache
from pathlib import Path
from typing import Any


@cache
def machine() -> dict[str, Any]:
    """Processor, cores, memory in bytes and system; None for what cannot be determined."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory": _memory(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
    }


def utc_now() -> str:
    """The current time, in ISO 8601."""
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds")


def _processor() -> str | None:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or None


def _memory() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None
