"""Which column of a table holds the labels, and whether its first row holds names."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from hardmargin.data.source import Source, shown
from hardmargin.data.values import MISSING, is_number

#: Default names of the label column, in order of preference; upper and lower case are the same.
LABEL_NAMES = ("label", "class", "target", "y")

Record = tuple[int, list[str]]


@dataclass(frozen=True)
class Columns:
    """The shape of a table.

    Attributes
    ----------
    count : int
        Number of columns.
    label : int
        The position of the label column, from 0.
    names : list of str or None
        Names of the columns, if the table has a header.
    """

    count: int
    label: int
    names: list[str] | None

    @property
    def feature_names(self) -> list[str] | None:
        """The names without that of the label column."""
        if self.names is None:
            return None
        return self.names[: self.label] + self.names[self.label + 1 :]

    def describe(self, column: int) -> str:
        """Name or position of a column, for error messages."""
        return f"column {column} (counted from 0)" if self.names is None else f"column {shown(self.names[column])}"

    def describe_feature(self, feature: int) -> str:
        """Name or position of a feature's column, for error messages."""
        return self.describe(feature + (feature >= self.label))


def find_columns(source: Source, records: Iterable[Record], label: str | int | None) -> Columns:
    """Find the label column and the names.

    Parameters
    ----------
    source : Source
        The file, for error messages.
    records : iterable of (int, list of str)
        The rows with their line numbers; only as many as needed are consumed.
    label : str or int, optional
        The label column as the caller gave it.

    Returns
    -------
    Columns

    Raises
    ------
    DataError
        If there is no such column, or a name is missing in the header.
    """
    remaining = iter(records)
    line, first = next(remaining, (0, []))
    if not line:
        raise source.error("no rows; expected a table of features and labels.")
    if len(first) < 2:
        raise source.error("found one column; expected at least one feature and the label.", line)
    names = first if _is_header(first, remaining, label) else None
    if names and "" in names:
        raise source.error(
            f"column {names.index('')} (counted from 0) has no name in the header; expected a name for every "
            "column (if it numbers the rows, leave it out: it is not a feature).",
            line,
        )
    try:
        return Columns(len(first), _label_column(names, len(first), label), names)
    except _NoSuchColumnError as problem:
        raise source.error(str(problem), line) from None


class _NoSuchColumnError(Exception):
    """The requested label column is not in the table."""


def _is_header(first: list[str], others: Iterable[Record], label: str | int | None) -> bool:
    """Whether the first row holds names.

    In a row of data only the label may be a word, so a row with two words and no number is a header. If some
    names are numbers, the name of a label column identifies the header, unless that name also occurs as a label.
    """
    words = [cell for cell in first if not is_number(cell) and cell.lower() not in MISSING]
    if len(words) > 1 and not any(map(is_number, first)):
        return True
    if isinstance(label, str) and label in words:
        return True
    for column, name in enumerate(first):
        if name.lower() in LABEL_NAMES:
            return all(name != cells[column] for _, cells in others if column < len(cells))
    return False


def _label_column(names: list[str] | None, count: int, label: str | int | None) -> int:
    if label is None:
        return _default_label_column(names or [], count)
    if isinstance(label, str):
        if names and label in names:
            return _only(names, label)
        if not re.fullmatch("-?[0-9]{1,9}", label):
            known = f"one of {', '.join(map(shown, names))}" if names else "a position, as there is no header"
            raise _NoSuchColumnError(f"there is no column named {shown(label)}; expected {known}.")
    position = int(label)
    if not -count <= position < count:
        raise _NoSuchColumnError(
            f"there is no column {position}; expected 0 to {count - 1}, or -{count} to -1 from the end."
        )
    return position % count


def _default_label_column(names: list[str], count: int) -> int:
    lowered = [name.lower() for name in names]
    for usual in LABEL_NAMES:
        if usual in lowered:
            return _only(lowered, usual)
    return count - 1


def _only(names: list[str], name: str) -> int:
    if names.count(name) > 1:
        raise _NoSuchColumnError(
            f"{names.count(name)} columns are named {shown(name)}; expected one, or the label column by position."
        )
    return names.index(name)
