"""Tables for pages in Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hardmargin.bench.report.tables.table import Table


def as_markdown(table: Table) -> str:
    """The table as a section of a page: title, rows and caption.

    Markdown has no heading over several columns, so each name is preceded by the heading that it shares.
    """
    parts = [f"### {table.title}", markdown_rows(table), table.caption]
    return "\n\n".join(filter(None, parts)) + "\n"


def markdown_rows(table: Table) -> str:
    """The table without its title and caption."""
    names = [f"{column.group}: {column.name}" if column.group else column.name for column in table.columns]
    rules = ["---:" if column.numeric else "---" for column in table.columns]
    rows = [_row(cells, bold) for cells, bold in zip(table.cells, table.bold, strict=True)]
    return "\n".join([_row(names), "|" + "|".join(rules) + "|", *rows])


def _row(texts: Sequence[str], bold: Sequence[bool] | None = None) -> str:
    marks = bold or [False] * len(texts)
    escaped = [text.replace("|", "\\|") for text in texts]
    cells = [f"**{text}**" if mark and text else text for text, mark in zip(escaped, marks, strict=True)]
    return "| " + " | ".join(cells) + " |"
