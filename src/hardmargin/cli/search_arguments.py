"""Arguments that commands that search share: weights of classes, the method and its options, cores."""

from __future__ import annotations

import argparse
from typing import Any

from hardmargin import methods
from hardmargin.cli.key_values import key_value
from hardmargin.cli.parser import Parser


def add_class_weight_argument(parser: Parser) -> None:
    """Declare ``--class-weight``, which :func:`hardmargin.cli.key_values.class_weights` reads."""
    parser.add_argument(
        "--class-weight",
        action="append",
        metavar="LABEL=W",
        help="factor of C for the samples of a label; may be repeated. Or: balanced",
    )


def add_option_argument(parser: Parser, text: str) -> None:
    """Declare ``--option``; the text says for which methods, and which there are."""
    parser.add_argument("--option", action="append", default=[], type=key_value, metavar="KEY=VALUE", help=text)


def add_method_arguments(parser: Parser, options: str) -> None:
    """Declare ``--method`` and its ``--option``."""
    names = methods.names()
    parser.add_argument("--method", default="auto", choices=names, help=f"{', '.join(names)} (default auto)")
    add_option_argument(parser, options)


def add_place_arguments(parser: Parser) -> None:
    """Declare on which cores and machines to search, and the seed."""
    parser.add_argument("--threads", type=int, default=-1, metavar="N", help="default: all cores")
    parser.add_argument("--seed", type=int, default=0, help="seed of all random choices (default 0)")
    parser.add_argument(
        "--cluster",
        metavar="ADDRESS",
        help="spread the search over the workers of a Dask scheduler (tcp://host:port), or over processes on this "
        "machine (local, local:N)",
    )


def search_settings(arguments: argparse.Namespace) -> dict[str, Any]:
    """The arguments of ``solve`` and ``path`` that say how to search, and for how long."""
    names = ("method", "time_limit", "gap", "threads", "seed", "cluster", "node_limit", "stop", "checkpoint")
    return {**{name: getattr(arguments, name) for name in names}, "options": dict(arguments.option) or None}
