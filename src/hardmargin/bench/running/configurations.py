"""Settings of methods by name, including those of the paper."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from hardmargin.bench.running.foreign import foreign_function, is_foreign
from hardmargin.literature import presets
from hardmargin.methods import get_method, names
from hardmargin.methods.base import PRESET, option_names, parse_options

DEFAULT = "default"

#: The eight configurations of the paper's Figure 4, by T_S and T_B in percent of the time limit.
PAPER = ("cb_20_0", "cb_0_20", "cb_2_2", "cb_5_5", "cb_10_10", "cb_20_20", "cb_30_30", "cb_40_40")

#: The name of a configuration that gives T_S and T_B in percent.
BENDERS_SHARES = re.compile(r"cb_(\d+)_(\d+)")

_NAMED: dict[str, dict[str, Any]] = {
    DEFAULT: {},
    "scip": {"backend": "scip"},
    "cplex": {"backend": "cplex"},
    "stock": {"tuned": False},
    **{preset: {PRESET: preset} for preset in presets.NAMES},
}


def options_of(configuration: str) -> dict[str, Any]:
    """The options of a configuration.

    Parameters
    ----------
    configuration : str
        "default"; "cb_S_B", the shares T_S and T_B of ``benders`` in percent; "scip", "cplex", "stock" (untuned);
        "paper", "code", "best", the presets of ``benders`` and ``indicator``; or several of these joined by "+".

    Raises
    ------
    ValueError
        If the name is unknown.

    Examples
    --------
    >>> options_of("cb_5_5+cplex")
    {'T_S': 0.05, 'T_B': 0.05, 'backend': 'cplex'}
    """
    options: dict[str, Any] = {}
    for word in configuration.split("+"):
        if shares := BENDERS_SHARES.fullmatch(word):
            options.update(T_S=int(shares[1]) / 100, T_B=int(shares[2]) / 100)
        elif word in _NAMED:
            options.update(_NAMED[word])
        else:
            raise ValueError(
                f"configuration is {configuration!r}; expected {', '.join(_NAMED)}, cb_S_B with two shares in "
                "percent (e.g. cb_5_5), or several joined by '+'."
            )
    return options


def variants(
    methods: Sequence[str], configurations: Sequence[str], options: Mapping[str, Any]
) -> list[tuple[str, str, dict[str, Any]]]:
    """Every method with every configuration that it accepts.

    Parameters
    ----------
    methods : sequence of str
        Names, or functions of other people as "module:function"; these have no configuration but the default.
    configurations : sequence of str
        Names, as in :func:`options_of`. A method skips those with options that it does not have.
    options : mapping
        Further options, for the methods that have them.

    Returns
    -------
    list of (method, configuration, options)

    Raises
    ------
    ValueError
        If a name is unknown, a method has no configuration left, or a configuration or an option has no method.

    Examples
    --------
    >>> variants(["auto", "benders"], ["default", "cb_20_0"], {})[1:]
    [('benders', 'default', {}), ('benders', 'cb_20_0', {'T_S': 0.2, 'T_B': 0.0})]
    """
    found: list[tuple[str, str, dict[str, Any]]] = []
    for method in methods:
        if is_foreign(method):
            foreign_function(method)
            # Its settings are its own affair.
            found += [(method, name, {}) for name in configurations if name == DEFAULT]
            continue
        if method not in names():
            raise ValueError(f"method is {method!r}; expected one of {', '.join(names())}, or MODULE:FUNCTION.")
        kind = get_method(method).Options
        known = set(option_names(kind))
        more = {name: value for name, value in options.items() if name in known}
        for configuration in configurations:
            settings = options_of(configuration)
            if known.issuperset(settings):
                settings.update(more)
                parse_options(kind, settings, method)
                found.append((method, configuration, settings))
    _refuse_unused("method", methods, {method for method, _, _ in found}, "takes none of the configurations")
    _refuse_unused("configuration", configurations, {name for _, name, _ in found}, "suits none of the methods")
    for name in options:
        if not any(name in chosen for *_, chosen in found):
            raise ValueError(f"no method here has an option {name!r}; expected {_known_options(methods)}.")
    return found


def _known_options(methods: Sequence[str]) -> str:
    return "; ".join(
        f"{', '.join(option_names(get_method(method).Options)) or 'none'} for {method}"
        for method in dict.fromkeys(methods)
        if not is_foreign(method)
    )


def _refuse_unused(what: str, asked: Sequence[str], used: set[str], complaint: str) -> None:
    for name in asked:
        if name not in used:
            raise ValueError(
                f"{what} {name!r} {complaint}; leave it out or add what fits (e.g. --configurations default)."
            )
