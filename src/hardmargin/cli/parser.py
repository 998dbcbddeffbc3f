"""The argument parser: a usage error is one line that says what to do, not a block of usage."""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any, NoReturn, TypeAlias

from hardmargin.numerals import plain_float, plain_int

#: The argument of every command's ``add_to``.
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
    >>> parser = Parser(prog="hardmargin")
    >>> _ = parser.add_argument("--methods")
    >>> parser.parse_args(["--method", "auto"])
    Traceback (most recent call last):
    ValueError: unrecognized arguments: --method auto; did you mean --methods? See 'hardmargin --help'.
    """

    def __init__(self, **settings: Any) -> None:
        # An abbreviated flag could change its meaning whenever a flag is added.
        super().__init__(**settings, allow_abbrev=False)
        # For arguments declared with type=float or type=int.
        self.register("type", float, plain_float)
        self.register("type", int, plain_int)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Parse, and refuse unknown arguments: only the parser of a sub-command can name its own help."""
        found, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self._refuse(unknown)
        return found, unknown

    def error(self, message: str) -> NoReturn:
        raise ValueError(f"{message}; see '{self.prog} --help'.")

    def _refuse(self, words: list[str]) -> NoReturn:
        message = f"unrecognized arguments: {' '.join(words)}"
        meant = _alike(words, self._option_string_actions)
        if meant is None:
            self.error(message)
        raise ValueError(f"{message}; did you mean {meant}? See '{self.prog} --help'.")


def _alike(words: Iterable[str], flags: Iterable[str]) -> str | None:
    """The flag that was probably meant by these words."""
    flags = [flag for flag in flags if flag.startswith("--")]
    for word in words:
        name = word.partition("=")[0]
        if name.startswith("--") and len(name) > 2:
            longer = [flag for flag in flags if flag.startswith(name)]
            found = longer or get_close_matches(name, flags, n=1, cutoff=0.8)
            if found:
                return found[0]
    return None


def add_model_argument(parser: Parser) -> None:
    """Add the argument that names the model."""
    parser.add_argument("model", metavar="MODEL", help="a file that 'hardmargin solve --json' wrote")


def add_data_arguments(parser: Parser, what: str) -> None:
    """Add the arguments that say where the data are and how to read them."""
    parser.add_argument("data", metavar="DATA", help=f"{what}: a file in Brooks, LIBSVM or CSV format")
    parser.add_argument("--format", metavar="F", help="brooks, libsvm or csv; default: recognised by content")
    parser.add_argument("--label", metavar="COLUMN", help=_LABEL_HELP)


def add_column_arguments(parser: Parser) -> None:
    """Add the arguments that say which columns are features."""
    columns = parser.add_mutually_exclusive_group()
    columns.add_argument(
        "--features",
        type=column_list,
        metavar="A,B,...",
        help="the columns that are features, by name or by position as for --label; default: all others. In Brooks "
        "and LIBSVM files the label is column 0, and feature 3 is column 3",
    )
    columns.add_argument("--drop", type=column_list, metavar="A,B,...", help="columns to leave out")


def column_list(text: str) -> list[str]:
    """The columns of ``--features`` and ``--drop``: separated by commas, quoted as in a CSV file if need be.

    Examples
    --------
    >>> column_list('age, 3,"a, or b"')
    ['age', '3', 'a, or b']
    """
    names = [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]
    if not names or not all(names):
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of columns such as age,length or 0,3")
    return names


def add_quiet_argument(parser: Parser) -> None:
    """Add the argument that silences a command."""
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")
