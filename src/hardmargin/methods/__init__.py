"""The methods, by name; one module each, all with the signature of :class:`hardmargin.methods.base.Method`."""

from __future__ import annotations

from typing import cast

from hardmargin.methods import auto, heuristic
from hardmargin.methods.base import Method

_METHODS = {"auto": auto, "heuristic": heuristic}


def names() -> list[str]:
    """The names that ``solve(method=...)`` takes."""
    return list(_METHODS)


def get_method(name: str) -> Method:
    """Look a method up.

    Raises
    ------
    ValueError
        If there is no method of that name.
    """
    if not isinstance(name, str) or name not in _METHODS:
        raise ValueError(f"method is {name!r}; expected one of {', '.join(names())}.")
    return cast(Method, _METHODS[name])
