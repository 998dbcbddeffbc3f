"""Tables as aligned text, cut into blocks of columns if they are wider than the screen."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hardmargin.bench.report.tables.table import Table

# Width of captions if no width is given.
_CAPTION_WIDTH = 100

_BETWEEN = 2


def as_text(table: Table, width: int = 0) -> str:
    """The table in aligned columns, under its title and above its caption.

    Parameters
    ----------
    table : Table
    width : int
        Characters per line. A wider table is cut into blocks one below the other, each with the first columns,
        which identify the rows; columns under a shared heading stay together. 0 means one block of any width.
    """
    blocks = ["\n".join(_lines(block)) for block in (_blocks(table, width) if width else [table])]
    notes = [*textwrap.wrap(table.caption, width or _CAPTION_WIDTH), ""] if table.caption else []
    return "\n".join([table.title, "", "\n\n".join(blocks), "", *notes])


def _blocks(table: Table, width: int) -> list[Table]:
    keys = list(range(table.keys))
    blocks: list[list[int]] = []
    for unit in _units(table):
        if blocks and _width(_part(table, [*keys, *blocks[-1], *unit])) <= width:
            blocks[-1] += unit
        else:
            blocks.append(unit)
    return [_part(table, [*keys, *block]) for block in blocks] or [table]


def _units(table: Table) -> list[list[int]]:
    """The columns that must stay together: those of a shared heading, and every other one alone."""
    units: list[list[int]] = []
    for place in range(table.keys, len(table.columns)):
        group = table.columns[place].group
        if units and group and table.columns[units[-1][-1]].group == group:
            units[-1].append(place)
        else:
            units.append([place])
    return units


def _part(table: Table, places: Sequence[int]) -> Table:
    columns = [table.columns[place] for place in places]
    return replace(table, columns=columns, rows=[[row[place] for place in places] for row in table.rows])


def _width(table: Table) -> int:
    return max(map(len, _lines(table)))


def _lines(table: Table) -> list[str]:
    cells = table.cells
    names = [column.name for column in table.columns]
    widths = [max(map(len, column)) for column in zip(names, *cells, strict=True)]
    heads = _widened(table, widths)

    def line(texts: Sequence[str]) -> str:
        aligned = (
            text.rjust(width) if column.numeric else text.ljust(width)
            for text, width, column in zip(texts, widths, table.columns, strict=True)
        )
        return (" " * _BETWEEN).join(aligned).rstrip()

    rule = (" " * _BETWEEN).join("-" * width for width in widths)
    lines = []
    if any(group for group, _ in table.heads):
        lines.append((" " * _BETWEEN).join(group.center(width) for group, width in heads).rstrip())
    lines += [line(names), rule]
    for number, row in enumerate(cells):
        if table.totals and number == len(cells) - table.totals:
            lines.append(rule)
        lines.append(line(row))
    return lines


def _widened(table: Table, widths: list[int]) -> list[tuple[str, int]]:
    """Space for the shared headings: the last column of each is made as wide as its heading needs."""
    spans, start = [], 0
    for group, count in table.heads:
        end = start + count
        width = sum(widths[start:end]) + _BETWEEN * (count - 1)
        widths[end - 1] += max(0, len(group) - width)
        spans.append((group, max(width, len(group))))
        start = end
    return spans
