"""Which columns of a table hold the labels and the features, and whether its first row holds names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

from hardmargin.data.source import Source, shown
from hardmargin.data.values import MISSING, is_number

#: Default names of the label column, in order of preference; upper and lower case are the same.
LABEL_NAMES = ("label", "class", "target", "y")

#: A column as a caller gives it: its name, or its position from 0 or, if negative, from the end.
ColumnName = str | int

Record = tuple[int, list[str]]


class NoSuchColumnError(Exception):
    """A requested column is not in the table, or cannot be used."""


@dataclass(frozen=True)
class Header:
    """The shape of a table.

    Attributes
    ----------
    line : int
        The line of the first row.
    count : int
        Number of columns.
    names : list of str or None
        Names of the columns, if the first row holds them; an empty one means that the column has no name.
    """

    line: int
    count: int
    names: list[str] | None

    def position(self, column: ColumnName) -> int:
        """The position of a column, from 0.

        A string that is a whole number is a position unless a column has exactly that name.

        Raises
        ------
        NoSuchColumnError
            If there is no such column, or if several have that name.
        """
        if isinstance(column, str):
            if self.names and column and column in self.names:
                return only(self.names, column)
            if not re.fullmatch("-?[0-9]{1,9}", column):
                known = f"one of {listed(self.names)}" if self.names else "a position, as there is no header"
                raise NoSuchColumnError(f"there is no column named {shown(column)}; expected {known}.")
        position = int(column)
        if not -self.count <= position < self.count:
            raise NoSuchColumnError(
                f"there is no column {position}; expected 0 to {self.count - 1}, or -{self.count} to -1 from "
                "the end."
            )
        return position % self.count

    def positions(self, columns: Sequence[ColumnName], option: str) -> list[int]:
        """The positions of several columns, each of which may be named once."""
        found = [self.position(column) for column in columns]
        for place, position in enumerate(found):
            if position in found[:place]:
                raise NoSuchColumnError(f"{option} names {self.describe(position)} twice; expected it once.")
        return found

    def name(self, column: int) -> ColumnName:
        """What identifies a column: its name, or its position if it has none of its own."""
        if self.names is None or not self.names[column] or self.names.count(self.names[column]) > 1:
            return column
        return self.names[column]

    def describe(self, column: int) -> str:
        """Name or position of a column, for messages."""
        return describe_column(column if self.names is None or not self.names[column] else self.names[column])


@dataclass(frozen=True)
class Columns:
    """What the columns of a table are used for.

    Attributes
    ----------
    header : Header
        The shape of the table.
    label : int or None
        The position of the label column; None if there are no labels.
    features : list of int
        The positions of the features, in the order of X.
    ignored : list of int
        The positions of columns that were found without being expected.
    """

    header: Header
    label: int | None
    features: list[int]
    ignored: list[int]

    @property
    def feature_names(self) -> list[str] | None:
        """The names of the features."""
        names = self.header.names
        return None if names is None else [names[column] for column in self.features]

    def describe_feature(self, feature: int) -> str:
        """Name or position of a feature's column, for messages."""
        return self.header.describe(self.features[feature])


class Choice(Protocol):
    """Chooses columns once the shape of the table is known.

    Attributes
    ----------
    may_drop : bool
        Whether a feature may be left out instead.
    """

    may_drop: ClassVar[bool]

    def is_header(self, first: list[str]) -> bool:
        """Whether a row is a header because it holds names that the choice refers to."""

    def columns(self, header: Header) -> Columns:
        """Choose columns; raises :class:`NoSuchColumnError` if that is impossible."""


@dataclass(frozen=True)
class TrainingColumns:
    """The columns to train on, as a caller names them.

    Attributes
    ----------
    label : str or int, optional
        By default the column named label, class, target or y; if there is none, the last one.
    features : sequence of str or int, optional
        By default all others.
    drop : sequence of str or int
        Columns to leave out.
    """

    label: ColumnName | None = None
    features: Sequence[ColumnName] | None = None
    drop: Sequence[ColumnName] = ()
    may_drop: ClassVar[bool] = True

    def is_header(self, first: list[str]) -> bool:
        """Whether a row holds a name that the caller gave, as a word."""
        given = (self.label, *(self.features or ()), *self.drop)
        return any(name in first for name in given if isinstance(name, str) and not is_number(name))

    def columns(self, header: Header) -> Columns:
        """Find the columns; every one that is used needs a name if there are names."""
        if header.count < 2:
            raise NoSuchColumnError("found one column; expected at least one feature and the label.")
        dropped = header.positions(self.drop, "drop")
        label = self._label(header, dropped)
        if label in dropped:
            raise NoSuchColumnError(f"drop names {header.describe(label)}, which holds the labels.")
        features = [column for column in range(header.count) if column != label and column not in dropped]
        if self.features is not None:
            features = [column for column in header.positions(self.features, "features") if column not in dropped]
        if label in features:
            raise NoSuchColumnError(
                f"features names {header.describe(label)}, which holds the labels; if another column does, name "
                "it with --label."
            )
        if not features:
            raise NoSuchColumnError("no feature is left; expected at least one.")
        _check_names(header, [*features, label])
        return Columns(header, label, features, [])

    def _label(self, header: Header, dropped: list[int]) -> int:
        if self.label is not None:
            return header.position(self.label)
        left = [column for column in range(header.count) if column not in dropped]
        if not left:
            raise NoSuchColumnError("drop names every column; expected at least one feature and the label.")
        return default_label(header, left)


def default_label(header: Header, columns: Sequence[int]) -> int:
    """The label column among these: one with a usual name, else the last."""
    lowered = [header.names[column].lower() if header.names else "" for column in columns]
    for usual in LABEL_NAMES:
        if usual in lowered:
            return columns[only(lowered, usual)]
    return columns[-1]


def find_columns(source: Source, records: Iterable[Record], choice: Choice) -> Columns:
    """Find out whether there is a header, and choose columns.

    Parameters
    ----------
    source : Source
        The file, for error messages.
    records : iterable of (int, list of str)
        The rows with their line numbers; only as many as needed are consumed.
    choice : Choice
        Which columns are wanted.

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
    header = Header(line, len(first), first if _is_header(first, remaining, choice.is_header) else None)
    try:
        return choice.columns(header)
    except NoSuchColumnError as problem:
        raise source.error(str(problem), line) from None


def describe_column(column: ColumnName) -> str:
    """A column's name or position, for messages.

    Examples
    --------
    >>> describe_column("age"), describe_column(3)
    ("column 'age'", 'column 3 (counted from 0)')
    """
    return f"column {shown(column)}" if isinstance(column, str) else f"column {column} (counted from 0)"


def listed(names: Sequence[str]) -> str:
    """Names for a message, shortened to a readable number."""
    more = f", ... ({len(names) - 12} more)" if len(names) > 12 else ""
    return ", ".join(map(shown, names[:12])) + more


def only(names: Sequence[str], name: str) -> int:
    """The position of a name that must occur once."""
    if names.count(name) > 1:
        raise NoSuchColumnError(
            f"{names.count(name)} columns are named {shown(name)}; expected one, or a column by position."
        )
    return names.index(name)


def _is_header(first: list[str], others: Iterable[Record], is_known: Callable[[list[str]], bool]) -> bool:
    """Whether the first row holds names.

    In a row of data only the label may be a word, so a row with two words and no number is a header. If some
    names are numbers, the name of a label column identifies the header, unless that name also occurs as a label.
    """
    words = [cell for cell in first if not is_number(cell) and cell.lower() not in MISSING]
    if len(words) > 1 and not any(map(is_number, first)):
        return True
    if is_known(first):
        return True
    for column, name in enumerate(first):
        if name.lower() in LABEL_NAMES:
            return all(name != cells[column] for _, cells in others if column < len(cells))
    return False


def _check_names(header: Header, used: Sequence[int]) -> None:
    unnamed = [column for column in sorted(used) if header.names and not header.names[column]]
    if unnamed:
        raise NoSuchColumnError(
            f"column {unnamed[0]} (counted from 0) has no name in the header; expected a name for every column "
            f"that is used (if it numbers the rows, leave it out with --drop {unnamed[0]}: it is not a feature)."
        )
