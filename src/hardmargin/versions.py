"""The package's version, and the facts a bug report needs."""

from __future__ import annotations

import importlib.metadata
import platform
import sys
from functools import cache

__version__ = importlib.metadata.version("hardmargin")

# What the package rests on, and what it uses where that is installed.
_PACKAGES = (
    "numpy",
    "scipy",
    "scikit-learn",
    "rich",
    "PySCIPOpt",
    "cplex",
    "dask",
    "distributed",
    "pandas",
    "pyarrow",
    "matplotlib",
)


@cache
def installed_versions() -> dict[str, str]:
    """The versions of hardmargin, Python and the packages that hardmargin uses; those not installed are left out.

    Examples
    --------
    >>> list(installed_versions())[:4]
    ['hardmargin', 'python', 'numpy', 'scipy']
    """
    found = {"hardmargin": __version__, "python": sys.version.split()[0]}
    for package in _PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def show_versions() -> None:
    """Print the versions of hardmargin, Python and the packages it uses, and the platform, for bug reports."""
    for name, version in installed_versions().items():
        print(f"{name:<12} {version}")
    print(f"{'platform':<12} {platform.platform()} ({platform.python_implementation()})")
