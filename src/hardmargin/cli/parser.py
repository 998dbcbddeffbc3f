"""The argument parser: a usage error is one line that says what to do, not a block of usage."""

from __future__ import annotations

import argparse
from typing import Any, NoReturn, TypeAlias

#: What ``add_to`` of every command is given.
Commands: TypeAlias = "argparse._SubParsersAction[Parser]"

_LABEL_HELP = (
    "label column of a CSV file: its name, or its position from 0, negative from the end; default: the column "
    "named label, class, target or y, else the last one"
)


class Parser(argparse.ArgumentParser):
    """Raises ValueError on a usage error.

    Examples
    --------
    >>> Parser(prog="hardmargin").parse_args(["--colour"])
    Traceback (most recent call last):
    ValueError: unrecognized arguments: --colour; see 'hardmargin --help'.
    """

    def __init__(self, **settings: Any) -> None:
        # An abbreviated flag would change its meaning with the next flag that is added.
        super().__init__(**settings, allow_abbrev=False)

    def error(self, message: str) -> NoReturn:
        raise ValueError(f"{message}; see '{self.prog} --help'.")


def add_model_argument(parser: Parser) -> None:
    """The argument that tells a command which model is meant."""
    parser.add_argument("model", metavar="MODEL", help="a file that 'hardmargin solve --json' wrote")


def add_data_arguments(parser: Parser, what: str) -> None:
    """The arguments that tell a command where its data are and how to read them."""
    parser.add_argument("data", metavar="DATA", help=f"{what}: a file in Brooks, LIBSVM or CSV format")
    parser.add_argument("--format", metavar="F", help="brooks, libsvm or csv; default: recognised by content")
    parser.add_argument("--label", metavar="COLUMN", help=_LABEL_HELP)
