"""Converts the words of a file to numbers and labels, by the same rules for every format."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardmargin.data.dataset import MAX_CELLS
from hardmargin.data.source import Source, shown
from hardmargin.numerals import is_plain, plain_float, plain_int

#: How files write a missing value, in lower case.
MISSING = frozenset({"", "?", "na", "n/a", "nan", "null"})

_LARGEST_INTEGER = 2**63 - 1


class NumberRows:
    """The rows of X as they are read, each with the line it came from.

    Parameters
    ----------
    source : Source
        The file, for error messages.
    describe : callable
        Returns the name of column ``j``, for error messages.
    """

    def __init__(self, source: Source, describe: Callable[[int], str]) -> None:
        self._source = source
        self._describe = describe
        self._values = array("d")
        self._lines: list[int] = []

    def __len__(self) -> int:
        return len(self._lines)

    def append(self, line: int, words: Sequence[str]) -> None:
        """Add a row; all rows must have the same length."""
        try:
            # All words of a row at once, because there are many rows.
            self._values.extend(map(float if is_plain("".join(words)) else plain_float, words))
        except ValueError:
            column = next(j for j, word in enumerate(words) if not is_number(word))
            raise self._refusal(line, column, words[column]) from None
        self._lines.append(line)
        if len(self._values) > MAX_CELLS:
            raise self._source.error(f"more than {MAX_CELLS} values; expected at most that many.", line)

    def matrix(self) -> NDArray[np.float64]:
        """All rows, every value finite."""
        # The values themselves, not a copy: they may be most of what there is in memory.
        X = np.frombuffer(self._values, dtype=np.float64).reshape(len(self), -1)
        with np.errstate(invalid="ignore"):
            largest = np.maximum(X.max(initial=0.0), -X.min(initial=0.0))
        if not np.isfinite(largest):
            row, column = (int(i) for i in np.argwhere(~np.isfinite(X))[0])
            raise self._refusal(self._lines[row], column, str(X[row, column]))
        return X

    def _refusal(self, line: int, column: int, word: str) -> Exception:
        return self._source.error(f"{self._describe(column)} is {refused_number(word)}", line)


def refused_number(word: str) -> str:
    """Say why a word cannot be used as a feature value, and what was expected."""
    if word.strip().lower() in MISSING:
        return f"{shown(word)}, a missing value; expected a number (leave such rows out or fill them in)."
    if has_decimal_comma(word):
        return f"{shown(word)}; expected a number with a decimal point instead of the comma."
    notation = "" if is_plain(word) else " in plain decimal notation (digits 0 to 9, without underscores)"
    return f"{shown(word)}; expected a finite number{notation}."


def is_number(word: str) -> bool:
    """Whether a word is a number in plain decimal notation, infinity, or ``nan``."""
    try:
        plain_float(word)
    except ValueError:
        return False
    return True


def has_decimal_comma(word: str) -> bool:
    """Whether a word would be a number if its only comma was a point."""
    return word.count(",") == 1 and "." not in word and is_number(word.replace(",", "."))


def is_finite_number(word: str) -> bool:
    """Whether a word is a finite number in plain decimal notation."""
    return is_number(word) and math.isfinite(float(word))


def numeric_label(source: Source, line: int, word: str) -> str:
    """Check a label of a format whose labels are numbers."""
    if not is_finite_number(word):
        raise source.error(f"the label is {refused_number(word)}", line)
    return word


def labels_from(words: Sequence[str]) -> NDArray[Any]:
    """Convert labels to integers if all are, to floats if all are finite numbers; otherwise keep them as text.

    Integers of more than 64 bits stay text, because two of them could become equal as floats.

    Examples
    --------
    >>> labels_from(["+1", "-1"]), labels_from(["1", "1.5"]), labels_from(["1", "no"])
    (array([ 1, -1]), array([1. , 1.5]), array(['1', 'no'], dtype='<U2'))
    """
    try:
        integers = [plain_int(word) for word in words]
    except ValueError:
        if all(is_finite_number(word) for word in words):
            return np.array([float(word) for word in words])
        return np.array(words, dtype=np.str_)
    if all(abs(integer) <= _LARGEST_INTEGER for integer in integers):
        return np.array(integers, dtype=np.int64)
    return np.array(words, dtype=np.str_)
