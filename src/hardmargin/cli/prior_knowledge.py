"""Prior knowledge on the command line: trusted rows, and signs and ranges of weights by feature."""

from __future__ import annotations

import argparse
from collections.abc import Container, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hardmargin.cli.key_values import typed
from hardmargin.cli.parser import Parser
from hardmargin.data import Dataset
from hardmargin.numerals import plain_int


def add_prior_knowledge_arguments(parser: Parser) -> None:
    """Declare the arguments that :func:`prior_knowledge` reads."""
    parser.add_argument(
        "--trusted",
        metavar="FILE",
        help="samples that must be kept: a file of row numbers from 0, or of a 0 or 1 for each row",
    )
    parser.add_argument(
        "--monotonic",
        action="append",
        default=[],
        metavar="FEATURE=SIGN",
        help="the sign of a feature's weight, +1 or -1; may be repeated",
    )
    parser.add_argument(
        "--coef-bounds",
        action="append",
        default=[],
        metavar="FEATURE=LOW:HIGH",
        help="the range of a feature's weight, open where empty; may be repeated",
    )


def prior_knowledge(arguments: argparse.Namespace, dataset: Dataset) -> dict[str, Any]:
    """The arguments of ``solve`` and ``path`` that say what is known of the hyperplane."""
    return {
        "trusted": trusted_mask(arguments.trusted, dataset.n),
        "monotonic_cst": signs(arguments.monotonic, dataset.feature_names, dataset.m),
        "coef_bounds": ranges(arguments.coef_bounds, dataset.feature_names, dataset.m),
    }


def trusted_mask(path: str | None, n: int) -> Any:
    """The value of ``trusted`` for ``solve``, from a file.

    Parameters
    ----------
    path : str or None
        A file of row numbers, the first row being 0; or a column with a 0 or a 1 for each of the n rows. A first
        word that is no number is taken for the name of the column, if others follow.
    n : int
        Number of samples.

    Raises
    ------
    ValueError
        If it contains something else.
    OSError
        If it cannot be read.
    """
    if path is None:
        return None
    try:
        words = Path(path).read_text(encoding="utf-8").replace(",", " ").split()
    except UnicodeDecodeError:
        raise ValueError(f"--trusted {path}: not text; expected row numbers, or a column of 0 and 1.") from None
    if len(words) > 1 and not _is_numeric(words[0]):
        words = words[1:]
    values: list[int] = []
    for word in words:
        value = _number(word)
        if value is None:
            raise ValueError(f"--trusted {path}: {word!r} is no row number, and neither 0 nor 1; expected these.")
        values.append(value)
    if len(values) == n and set(values) <= {0, 1}:
        return np.array(values, dtype=bool)
    for value in values:
        if not 0 <= value < n:
            raise ValueError(f"--trusted {path}: there is no row {value}; expected rows from 0 to {n - 1}.")
    return np.isin(np.arange(n), values)


def signs(texts: Sequence[str], names: Sequence[str] | None, m: int) -> list[int] | None:
    """The value of ``monotonic_cst`` for ``solve``, from words like AGE=+1.

    Examples
    --------
    >>> signs(["age=+1", "dose=-1"], ["age", "sex", "dose"], 3), signs(["1=-1"], None, 2)
    ([1, 0, -1], [0, -1])
    """
    if not texts:
        return None
    found: dict[int, int] = {}
    for text in texts:
        name, equals, value = text.rpartition("=")
        sign = _number(value.removeprefix("+"))
        if not equals or sign not in (-1, 0, 1):
            raise ValueError(f"--monotonic is {text!r}; expected FEATURE=+1, FEATURE=-1 or FEATURE=0.")
        found[_new_feature(name, names, m, "--monotonic", found)] = sign
    return [found.get(feature, 0) for feature in range(m)]


def ranges(
    texts: Sequence[str], names: Sequence[str] | None, m: int
) -> tuple[list[float | None], list[float | None]] | None:
    """The value of ``coef_bounds`` for ``solve``, from words like AGE=0:2.5; an empty side is open.

    Examples
    --------
    >>> ranges(["age=0:2.5", "dose=:0"], ["age", "sex", "dose"], 3)
    ([0.0, None, None], [2.5, None, 0.0])
    """
    if not texts:
        return None
    lower: dict[int, float | None] = {}
    upper: dict[int, float | None] = {}
    for text in texts:
        name, _, value = text.rpartition("=")
        low, colon, high = value.partition(":")
        ends = [None if end == "" else typed(end) for end in (low, high)]
        if not colon or any(isinstance(end, (str, bool)) for end in ends):
            raise ValueError(f"--coef-bounds is {text!r}; expected FEATURE=LOW:HIGH, e.g. 3=0:2.5 or 3=:0.")
        feature = _new_feature(name, names, m, "--coef-bounds", lower)
        lower[feature], upper[feature] = (None if end is None else float(end) for end in ends)
    return [lower.get(feature) for feature in range(m)], [upper.get(feature) for feature in range(m)]


def _new_feature(name: str, names: Sequence[str] | None, m: int, flag: str, given: Container[int]) -> int:
    """The number of a feature for which the flag has given nothing yet."""
    feature = _feature(name, names, m, flag)
    if feature in given:
        raise ValueError(f"{flag} names {name!r} more than once; expected each feature at most once.")
    return feature


def _feature(name: str, names: Sequence[str] | None, m: int, flag: str) -> int:
    """The number of a feature, by its name or, if it has none, by its number."""
    if names is not None:
        if list(names).count(name) > 1:
            raise ValueError(f"{flag} names {name!r}, as several features are called; expected different names.")
        if name in names:
            return list(names).index(name)
        raise ValueError(f"{flag} names {name!r}, which is not a feature; expected one of {', '.join(names[:8])}.")
    number = _number(name)
    if number is None or not 0 <= number < m:
        raise ValueError(f"{flag} names {name!r}; the features have no names: expected a number from 0 to {m - 1}.")
    return number


def _number(word: str) -> int | None:
    try:
        return plain_int(word)
    except ValueError:
        return None


def _is_numeric(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
