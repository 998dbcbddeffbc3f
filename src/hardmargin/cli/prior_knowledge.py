"""Prior knowledge on the command line: trusted rows, and signs and ranges of weights by feature."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hardmargin.cli.key_values import typed
from hardmargin.numerals import plain_int


def trusted_mask(path: str | None, n: int) -> Any:
    """The value of ``trusted`` for ``solve``, from a file.

    Parameters
    ----------
    path : str or None
        A file of row numbers, the first row being 0; or a column with a 0 or a 1 for each of the n rows. A first
        word that is no number is taken for the name of the column.
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
    if words and _number(words[0]) is None:
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
    found = [0] * m
    for text in texts:
        name, _, value = text.rpartition("=")
        sign = _number(value.removeprefix("+"))
        if sign not in (-1, 0, 1):
            raise ValueError(f"--monotonic is {text!r}; expected FEATURE=+1, FEATURE=-1 or FEATURE=0.")
        found[_feature(name, names, m, "--monotonic")] = sign
    return found


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
    lower: list[float | None] = [None] * m
    upper: list[float | None] = [None] * m
    for text in texts:
        name, _, value = text.rpartition("=")
        low, colon, high = value.partition(":")
        ends = [None if end == "" else typed(end) for end in (low, high)]
        if not colon or any(isinstance(end, (str, bool)) for end in ends):
            raise ValueError(f"--coef-bounds is {text!r}; expected FEATURE=LOW:HIGH, e.g. 3=0:2.5 or 3=:0.")
        feature = _feature(name, names, m, "--coef-bounds")
        lower[feature], upper[feature] = (None if end is None else float(end) for end in ends)
    return lower, upper


def _feature(name: str, names: Sequence[str] | None, m: int, flag: str) -> int:
    """The number of a feature, by its name or, if it has none, by its number."""
    if names is not None:
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
