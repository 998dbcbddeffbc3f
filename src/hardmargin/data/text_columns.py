"""Columns of a table that hold words instead of numbers, and what to do about them."""

from __future__ import annotations

import csv
import io
import shlex
from collections.abc import Sequence

from hardmargin.data.columns import Columns
from hardmargin.data.dataset import DataError
from hardmargin.data.source import Source, shown
from hardmargin.data.values import MISSING, has_decimal_comma, is_number

# Enough to tell two words from many.
_REMEMBERED = 3


class TextColumns:
    """Counts the words among the features; a column with more words than other cells holds text.

    Parameters
    ----------
    columns : Columns
        Which columns are features.
    """

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._rows = 0
        self._counts = dict.fromkeys(columns.features, 0)
        self._words: dict[int, list[str]] = {column: [] for column in columns.features}

    def add(self, cells: Sequence[str]) -> None:
        """Look at one row."""
        self._rows += 1
        for column in self._columns.features:
            word = cells[column] if column < len(cells) else ""
            if word.lower() not in MISSING and not is_number(word) and not has_decimal_comma(word):
                self._counts[column] += 1
                known = self._words[column]
                if len(known) < _REMEMBERED and word not in known:
                    known.append(word)

    def error(self, source: Source) -> DataError | None:
        """The error that names the columns of text, if there are any."""
        found = sorted(column for column, count in self._counts.items() if 2 * count > self._rows)
        if not found:
            return None
        header = self._columns.header
        told = ", ".join(f"{header.describe(column)} ({self._example(column)})" for column in found)
        pairs = [column for column in found if len(self._words[column]) == 2]
        holds, it = ("holds", "it") if len(found) == 1 else ("hold", "them")
        names = [str(header.name(column)) for column in found]
        advice = f"Leave {it} out with --drop {option_value(names)} (in Python drop={names})"
        if pairs:
            pair = option_value([str(header.name(pairs[0]))])
            advice += f"; if {header.describe(pairs[0])} holds the labels, use --label {pair}; else write 0 and 1"
        return source.error(f"{told} {holds} text; features are numbers. {advice}.")

    def _example(self, column: int) -> str:
        words = self._words[column]
        if len(words) == _REMEMBERED:
            return f"{', '.join(map(shown, words))}, ..."
        return " and ".join(map(shown, words))


def option_value(names: Sequence[str]) -> str:
    """Names as a value of ``--drop`` or ``--features`` on a command line.

    Examples
    --------
    >>> option_value(["name", "a, or b"])
    '\\'name,"a, or b"\\''
    """
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(names)
    return shlex.quote(line.getvalue())
