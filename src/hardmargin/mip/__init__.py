"""What the methods ``indicator`` and ``benders`` need from a mixed-integer programming solver, and two solvers."""

from __future__ import annotations

import os
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, cast

from hardmargin.extras import how_to_install

if TYPE_CHECKING:
    from hardmargin.mip.base import Backend

# CPLEX reads this when it is imported. Without it, Ctrl-C ends the work of CPLEX without the caller noticing.
os.environ.setdefault("CPLEX_PY_DISABLE_SIGHANDLER", "1")

# By name: our module, the package that it needs, and how to install it.
_BACKENDS = {
    "scip": (f"{__name__}.scip", "pyscipopt", "run pip install PySCIPOpt"),
    "cplex": (f"{__name__}.cplex", "cplex", how_to_install("cplex")),
}


def names() -> list[str]:
    """The names that the option ``backend`` accepts."""
    return list(_BACKENDS)


def get_backend(name: str) -> Backend:
    """Look a back end up.

    Raises
    ------
    ValueError
        If there is no back end of that name.
    ImportError
        If the solver is not installed.
    """
    if not isinstance(name, str) or name not in _BACKENDS:
        raise ValueError(f"backend is {name!r}; expected one of {', '.join(names())}.")
    module, package, command = _BACKENDS[name]
    if find_spec(package) is None:
        raise ImportError(f"backend {name!r} needs the package {package!r}, which is not installed; {command}.")
    return cast("Backend", import_module(module))
