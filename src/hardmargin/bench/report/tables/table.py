"""Tables as small data, and their writers: aligned text, CSV, LaTeX (booktabs) and Markdown."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal, NamedTuple, TypeAlias

from hardmargin.bench.report.tables.latex import as_latex
from hardmargin.bench.report.tables.markdown import as_markdown
from hardmargin.bench.report.tables.text import as_text

__all__ = [
    "SUFFIXES",
    "WRITERS",
    "Absent",
    "Best",
    "Column",
    "Share",
    "Table",
    "Value",
    "as_csv",
    "as_latex",
    "as_markdown",
    "as_text",
]


class Share(NamedTuple):
    """A count out of a total; written 3/5, and in CSV, where that would be read as a date, as two columns."""

    part: int
    whole: int


class Absent(str):
    """Why there is no value, for readers; in CSV, for programs, the cell is empty."""


#: Which value of several systems is the best; it is printed in bold.
Best: TypeAlias = Literal["", "low", "high"]

#: None means that there is no value, e.g. for missing runs; the cell stays blank.
Value: TypeAlias = "str | int | float | Share | None"


@dataclass(frozen=True)
class Column:
    """A column: its name, the heading that it shares with its neighbours, and the format of its floats.

    The format is one of Python's, or "p" for p-values, of which small ones are written as <0.001. ``best`` says
    which value of a row is the best among the columns of the same name, if there are several.
    """

    name: str
    group: str = ""
    format: str = ".2f"
    numeric: bool = True
    best: Best = ""


@dataclass(frozen=True)
class Table:
    """A table of a report.

    Attributes
    ----------
    name : str
        For file names, e.g. "table3".
    title, caption : str
        One line, and what readers need to know to understand the values.
    columns : sequence of Column
    rows : sequence of sequences of values
        One value per column in each row.
    totals : int
        How many rows at the end are set apart as totals or means of the others.
    keys : int
        How many columns at the start identify a row; text that is too wide repeats them in each of its blocks.

    Examples
    --------
    >>> columns = [Column("n"), Column("#opt", "auto"), Column("gap %", "auto")]
    >>> table = Table("small", "A small table", "", columns, [[60, Share(3, 5), 1.25], [100, None, None]])
    >>> print(as_text(table))
    A small table
    <BLANKLINE>
             auto
      n  #opt  gap %
    ---  ----  -----
     60   3/5   1.25
    100
    <BLANKLINE>
    """

    name: str
    title: str
    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Value]]
    totals: int = 0
    keys: int = 1

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"table {self.name!r}: a row of {len(row)} under {len(self.columns)} columns.")

    @property
    def heads(self) -> list[tuple[str, int]]:
        """The upper line of the head: each shared heading and how many columns it spans."""
        return [(group, len(list(columns))) for group, columns in groupby(column.group for column in self.columns)]

    @property
    def cells(self) -> list[list[str]]:
        """The rows as shown in text and LaTeX."""
        return [[shown(*pair) for pair in zip(row, self.columns, strict=True)] for row in self.rows]

    @property
    def bold(self) -> list[list[bool]]:
        """Which cells have the best value of their row among the columns of the same name, as shown."""
        found = [[False] * len(self.columns) for _ in self.rows]
        rivals: dict[str, list[int]] = {}
        for place, column in enumerate(self.columns):
            if column.best:
                rivals.setdefault(column.name, []).append(place)
        for row, cells, marks in zip(self.rows, self.cells, found, strict=True):
            for places in rivals.values():
                sizes = {place: size for place in places if (size := _size(row[place])) is not None}
                if len(sizes) > 1:
                    first = self.columns[places[0]].best == "low"
                    best = cells[min(sizes, key=lambda place: sizes[place] if first else -sizes[place])]
                    for place in sizes:
                        marks[place] = cells[place] == best
        return found


def _size(value: Value) -> float | None:
    """A value as a number that others can be compared with; None if it is none."""
    if isinstance(value, Share):
        return value.part / value.whole if value.whole else None
    return float(value) if isinstance(value, (int, float)) else None


def shown(value: Value, column: Column) -> str:
    """A value as shown in text and LaTeX."""
    if value is None:
        return ""
    if isinstance(value, Share):
        return f"{value.part}/{value.whole}"
    if not isinstance(value, float):
        return str(value)
    if column.format == "p":
        return "<0.001" if value < 0.001 else f"{value:.3f}"
    return format(value, column.format)


def as_csv(table: Table) -> str:
    """The table for programs: one header line, plain numbers, nothing rounded, no caption."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    shares = [any(isinstance(row[i], Share) for row in table.rows) for i in range(len(table.columns))]
    names = [f"{column.group}: {column.name}" if column.group else column.name for column in table.columns]
    twofold = list(zip(names, shares, strict=True))
    writer.writerow([head for name, share in twofold for head in ([name, f"{name} of"] if share else [name])])
    for row in table.rows:
        cells = zip(row, shares, strict=True)
        writer.writerow([cell for value, share in cells for cell in _csv_cells(value, share)])
    return buffer.getvalue()


def _csv_cells(value: Value, share: bool) -> list[str | int | float]:
    if isinstance(value, Share):
        return [value.part, value.whole]
    cell = "" if value is None or isinstance(value, Absent) else value
    return [cell, ""] if share else [cell]


#: The writers by their names on the command line, and the suffixes of their files.
WRITERS: dict[str, Callable[[Table], str]] = {
    "text": as_text,
    "csv": as_csv,
    "latex": as_latex,
    "markdown": as_markdown,
}
SUFFIXES = {"text": ".txt", "csv": ".csv", "latex": ".tex", "markdown": ".md"}
