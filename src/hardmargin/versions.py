"""The package's version, and the facts that a bug report needs."""

from __future__ import annotations

import hashlib
import importlib.metadata
import platform
import sys
from functools import cache
from pathlib import Path

__version__ = importlib.metadata.version("hardmargin")

# Required packages, and optional ones that are used if they are installed.
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

    The entry "build" is the start of a checksum of the package's files, which tells builds of one version apart.

    Examples
    --------
    >>> list(installed_versions())[:4]
    ['hardmargin', 'build', 'python', 'numpy']
    """
    found = {"hardmargin": __version__, "build": _build(), "python": sys.version.split()[0]}
    for package in _PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
        if package == "PySCIPOpt" and (version := _scip()):
            found["SCIP"] = version
    return found


def _scip() -> str | None:
    """The version of SCIP itself, which PySCIPOpt carries; None if it cannot be asked."""
    try:
        from pyscipopt.scip import Model
    except ImportError:
        return None
    model = Model()
    return f"{model.getMajorVersion()}.{model.getMinorVersion()}.{model.getTechVersion()}"


def _build() -> str:
    from hardmargin import _core

    package = Path(__file__).parent
    checksum = hashlib.sha256(Path(_core.__file__).read_bytes())
    files = {path.relative_to(package).as_posix(): path for path in package.rglob("*.py")}
    for name in sorted(files):
        checksum.update(name.encode() + files[name].read_bytes())
    return checksum.hexdigest()[:12]


def show_versions() -> None:
    """Print the versions of hardmargin, Python and the packages in use, and the platform, for bug reports."""
    from hardmargin import _core

    for name, version in installed_versions().items():
        print(f"{name:<12} {version}")
    print(f"{'kernels':<12} {_core.kernels()}")
    print(f"{'contracts':<12} {'checked: slower than a release' if _core.checks_contracts() else 'not checked'}")
    print(f"{'platform':<12} {platform.platform()} ({platform.python_implementation()})")
