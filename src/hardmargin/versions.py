"""The package's version, and the facts a bug report needs."""

from __future__ import annotations

import importlib.metadata
import platform
import sys

__version__ = importlib.metadata.version("hardmargin")

_DEPENDENCIES = ("numpy", "scipy", "scikit-learn", "rich", "matplotlib", "pandas")


def show_versions() -> None:
    """Print the versions of hardmargin, Python, the machine and the packages it uses, for bug reports."""
    print(f"hardmargin   {__version__}")
    print(f"python       {sys.version.split()[0]} ({platform.python_implementation()})")
    print(f"platform     {platform.platform()}")
    for name in _DEPENDENCIES:
        try:
            found = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found = "not installed"
        print(f"{name:<12} {found}")
