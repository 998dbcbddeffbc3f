"""The methods, by name; one module each, all with the signature of :class:`hardmargin.methods.base.Method`."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from hardmargin.methods.base import Method

# A method is imported on demand, because some need packages that are not always installed.
_MODULES = {
    name: f"{__name__}.{name}"
    for name in ("auto", "heuristic", "packing", "directions", "blocks", "indicator", "benders")
}


def names() -> list[str]:
    """The names that ``solve(method=...)`` accepts.

    Returns
    -------
    list of str
    """
    return list(_MODULES)


def with_frontier() -> list[str]:
    """The names of the methods that work on open subproblems: they can be stopped and resumed, and use clusters.

    Returns
    -------
    list of str
    """
    return [name for name in names() if get_method(name).HAS_FRONTIER]


def needs_dense(method: Method) -> bool:
    """Whether a method refuses samples that are stored as a sparse matrix."""
    return bool(getattr(method, "NEEDS_DENSE", False))


def for_sparse_samples() -> list[str]:
    """The names of the methods that work on samples stored as a sparse matrix.

    Returns
    -------
    list of str
    """
    return [name for name in names() if not needs_dense(get_method(name))]


def is_certified(name: str) -> bool:
    """Whether the bounds of a method hold in spite of rounding.

    Parameters
    ----------
    name : str
        Also the name of a method that this version does not have, of which nothing is known.

    Returns
    -------
    bool
    """
    return name in _MODULES and bool(getattr(get_method(name), "CERTIFIED", True))


def get_method(name: str) -> Method:
    """Look a method up.

    Raises
    ------
    ValueError
        If there is no method of that name.
    """
    if not isinstance(name, str) or name not in _MODULES:
        raise ValueError(f"method is {name!r}; expected one of {', '.join(names())}.")
    return cast("Method", import_module(_MODULES[name]))
