"""The literature's methods setting for setting: one name for all options of a published system.

A preset gives every option a value; options that are named beside it take precedence. The back end is left open,
because the settings make sense on either one. What the solver itself is told depends on it: the paper changes one
parameter of CPLEX, which is what ``tuned`` does there, and nothing is known about SCIP, which is left as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: "paper" is the text of the paper, "code" the program of its authors, "best" what measures best here.
NAMES = ("paper", "code", "best")

_BENDERS: dict[str, dict[str, Any]] = {
    "paper": {
        "T_S": 0.05,
        "T_B": 0.05,
        "subset_size": None,
        "stratified": False,
        "weight_bound": "text",
        "region": "box",
        "sampling_region": "bounded",
        "subset_bounds": False,
        "cuts_per_round": 1,
        "cut_use": "lazy",
        "presolve": False,
        "heuristic": False,
    },
    "code": {
        "T_S": 0.05,
        "T_B": 0.05,
        "subset_size": None,
        "stratified": True,
        "weight_bound": "code",
        "region": "box",
        "sampling_region": "unbounded",
        "subset_bounds": True,
        "cuts_per_round": 1,
        "cut_use": "lazy",
        "presolve": False,
        "heuristic": False,
    },
    "best": {},
}

_INDICATOR: dict[str, dict[str, Any]] = {
    "paper": {"presolve": False, "heuristic": False},
    "code": {"presolve": False, "heuristic": False},
    "best": {},
}


def benders_preset(name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a preset of ``benders``, beside those that the caller has given.

    Parameters
    ----------
    name : str
        One of :data:`NAMES`.
    given : mapping
        The caller's own options, which take precedence.

    Returns
    -------
    dict

    Raises
    ------
    ValueError
        If there is no such preset.
    """
    return _preset(_BENDERS, name, given)


def indicator_preset(name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The same for ``indicator``; see :func:`benders_preset`."""
    return _preset(_INDICATOR, name, given)


def _preset(presets: Mapping[str, Mapping[str, Any]], name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(name, str) or name not in presets:
        raise ValueError(f"preset is {name!r}; expected one of {', '.join(NAMES)}.")
    published = {} if name == "best" else {"tuned": given.get("backend") == "cplex"}
    return {**presets[name], **published, **given}
