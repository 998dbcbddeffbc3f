"""Tables as small data, and their writers: aligned text, CSV and LaTeX (booktabs)."""

from __future__ import annotations

import csv
import io
import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple, TypeAlias

# Columns of a terminal that captions are wrapped to.
_WIDTH = 100


class Share(NamedTuple):
    """So many of so many; written 3/5, and in CSV, where that would be read as a date, in two columns."""

    part: int
    whole: int


#: None is a figure that does not exist, e.g. of runs that were not made; it stays blank.
Value: TypeAlias = "str | int | float | Share | None"


@dataclass(frozen=True)
class Column:
    """A column: its name, the heading that it shares with its neighbours, and how its floats are written.

    The format is one of Python's, or "p" for p-values, the small ones of which are written <0.001.
    """

    name: str
    group: str = ""
    format: str = ".2f"
    numeric: bool = True


@dataclass(frozen=True)
class Table:
    """A table of a report.

    Attributes
    ----------
    name : str
        For file names, e.g. "table3".
    title, caption : str
        One line, and what readers need to know to understand the figures.
    columns : sequence of Column
    rows : sequence of sequences of values
        As many values each as there are columns.
    totals : int
        How many rows at the end are set apart as sums or means of the others.

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

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"table {self.name!r}: a row of {len(row)} under {len(self.columns)} columns.")

    @property
    def heads(self) -> list[tuple[str, int]]:
        """The upper line of the head: each shared heading and how many columns it spans."""
        return [(group, len(list(columns))) for group, columns in groupby(column.group for column in self.columns)]


def shown(value: Value, column: Column) -> str:
    """A value as text and LaTeX show it."""
    if value is None:
        return ""
    if isinstance(value, Share):
        return f"{value.part}/{value.whole}"
    if not isinstance(value, float):
        return str(value)
    if column.format == "p":
        return "<0.001" if value < 0.001 else f"{value:.3f}"
    return format(value, column.format)


def as_text(table: Table) -> str:
    """The table in aligned columns, under its title and above its caption."""
    cells = [[shown(*pair) for pair in zip(row, table.columns, strict=True)] for row in table.rows]
    names = [column.name for column in table.columns]
    widths = [max(map(len, column)) for column in zip(names, *cells, strict=True)]
    heads = _widened(table, widths)

    def line(texts: Sequence[str]) -> str:
        aligned = (
            text.rjust(width) if column.numeric else text.ljust(width)
            for text, width, column in zip(texts, widths, table.columns, strict=True)
        )
        return "  ".join(aligned).rstrip()

    rule = "  ".join("-" * width for width in widths)
    lines = [table.title, ""]
    if any(group for group, _ in table.heads):
        lines.append("  ".join(group.center(width) for group, width in heads).rstrip())
    lines += [line(names), rule]
    for number, row in enumerate(cells):
        if table.totals and number == len(cells) - table.totals:
            lines.append(rule)
        lines.append(line(row))
    notes = [*textwrap.wrap(table.caption, _WIDTH), ""] if table.caption else []
    return "\n".join([*lines, "", *notes])


def _widened(table: Table, widths: list[int]) -> list[tuple[str, int]]:
    """Room for the shared headings: the last column of each is made as wide as its heading needs."""
    spans, start = [], 0
    for group, count in table.heads:
        end = start + count
        width = sum(widths[start:end]) + 2 * (count - 1)
        widths[end - 1] += max(0, len(group) - width)
        spans.append((group, max(width, len(group))))
        start = end
    return spans


def as_csv(table: Table) -> str:
    """The table for programs: one line of head, plain numbers, nothing rounded, no caption."""
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
    return ["" if value is None else value, ""] if share else ["" if value is None else value]


def as_latex(table: Table) -> str:
    """The table for a paper; needs the package booktabs."""
    layout = "".join("r" if column.numeric else "l" for column in table.columns)
    lines = ["\\begin{table}[htbp]", "\\centering", f"\\begin{{tabular}}{{{layout}}}", "\\toprule"]
    if any(group for group, _ in table.heads):
        lines += _latex_heads(table.heads)
    lines += [_latex_row(column.name for column in table.columns), "\\midrule"]
    for number, row in enumerate(table.rows):
        if table.totals and number == len(table.rows) - table.totals:
            lines.append("\\midrule")
        lines.append(_latex_row(shown(*pair) for pair in zip(row, table.columns, strict=True)))
    caption = ". ".join(part.rstrip(".") for part in (table.title, table.caption) if part) + "."
    lines += ["\\bottomrule", "\\end{tabular}", f"\\caption{{{latex_text(caption)}}}"]
    return "\n".join([*lines, f"\\label{{tab:{table.name}}}", "\\end{table}", ""])


def _latex_heads(heads: Iterable[tuple[str, int]]) -> list[str]:
    cells, rules, start = [], [], 1
    for group, count in heads:
        cells.append(f"\\multicolumn{{{count}}}{{c}}{{{latex_text(group)}}}" if group else " & " * (count - 1))
        if group:
            rules.append(f"\\cmidrule(lr){{{start}-{start + count - 1}}}")
        start += count
    return [" & ".join(cells) + " \\\\", " ".join(rules)]


def _latex_row(texts: Iterable[str]) -> str:
    return " & ".join(map(latex_text, texts)) + " \\\\"


_LATEX = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "\\": "\\textbackslash{}",
    "~": "\\textasciitilde{}",
    "^": "\\textasciicircum{}",
    "<": "$<$",
    ">": "$>$",
    "±": "$\\pm$",
    "–": "--",
}


def latex_text(text: str) -> str:
    r"""Escape what LaTeX would read as commands.

    Examples
    --------
    >>> print(latex_text("5 % of n_60"))
    5 \% of n\_60
    """
    return "".join(_LATEX.get(sign, sign) for sign in text)


#: The writers by the names that the command line gives them, and the suffixes of their files.
WRITERS: dict[str, Callable[[Table], str]] = {"text": as_text, "csv": as_csv, "latex": as_latex}
SUFFIXES = {"text": ".txt", "csv": ".csv", "latex": ".tex"}
