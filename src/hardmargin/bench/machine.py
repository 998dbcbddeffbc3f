"""What a run ran on: the machine and the versions, as records keep them."""

from __future__ import annotations

import os
import platform
import sys
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

_PACKAGES = ("hardmargin", "numpy", "scipy", "scikit-learn", "PySCIPOpt", "cplex", "distributed")


@cache
def machine() -> dict[str, Any]:
    """Processor, cores, memory in bytes and system; None for what cannot be found out."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory": _memory(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
    }


@cache
def versions() -> dict[str, Any]:
    """The versions of Python and of the packages that take part in a solve; those not installed are left out.

    Examples
    --------
    >>> sorted(versions())[:1], "numpy" in versions()
    (['PySCIPOpt'], True)
    """
    found: dict[str, Any] = {"python": sys.version.split()[0]}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


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
