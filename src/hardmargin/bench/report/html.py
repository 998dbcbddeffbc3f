"""Pieces of the report's page: tables, figures, sections, and the page around them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files

from hardmargin.bench.report.figures.campaign import Illustration
from hardmargin.bench.report.figures.style import inline_svg
from hardmargin.bench.report.tables.table import Column, Table, Value, shown

# Figures wider than this, in inches, take the whole width of a page.
_NARROW = 8.0
# Tables with more columns than this are set smaller, and may be wider than the text.
_MANY_COLUMNS = 13


def page(title: str, sections: Iterable[str]) -> str:
    """The whole page, which loads nothing from outside."""
    folder = files("hardmargin.bench.report") / "assets"
    style, script = ((folder / name).read_text(encoding="utf-8").strip() for name in ("report.css", "report.js"))
    lines = [
        "<!DOCTYPE html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(title)}</title>",
        f"<style>\n{style}\n</style>",
        "</head>",
        "<body>",
        *sections,
        f"<script>\n{script}\n</script>",
        "</body>",
        "</html>",
        "",
    ]
    return "\n".join(lines)


def section(name: str, title: str, parts: Iterable[str]) -> str:
    """A section that the page's contents link to."""
    return "\n".join([f'<section id="{name}">', f"<h2>{escape(title)}</h2>", *parts, "</section>"])


def heading(title: str) -> str:
    """The title of the page."""
    return f"<h1>{escape(title)}</h1>"


def contents(entries: Iterable[tuple[str, str]]) -> str:
    """Links to the sections."""
    return "<nav>" + " ".join(f'<a href="#{name}">{escape(title)}</a>' for name, title in entries) + "</nav>"


def paragraph(text: str, kind: str = "") -> str:
    """A paragraph of plain text."""
    return f'<p class="{kind}">{escape(text)}</p>' if kind else f"<p>{escape(text)}</p>"


def card(value: str, text: str) -> str:
    """A number that stands out at the top of the page."""
    return f'<div class="card"><b>{escape(value)}</b><span class="faint">{escape(text)}</span></div>'


def commands(lines: Iterable[str]) -> str:
    """Lines for a terminal."""
    return "<pre>" + escape("\n".join(lines)) + "</pre>"


def table(content: Table, *, identifier: str = "", box: str = "scroll") -> str:
    """A table in its own box, which scrolls if the screen is narrow."""
    name = f' id="{identifier}"' if identifier else ""
    starts = _group_starts(content)
    lines = [f"<h3>{escape(content.title)}</h3>" if not identifier else ""]
    lines += [
        _frame_start(box, "many" if len(content.columns) > _MANY_COLUMNS else ""),
        f"<table{name}>",
        "<thead>",
    ]
    if any(group for group, _ in content.heads):
        lines.append("<tr>" + "".join(_group_cell(group, count) for group, count in content.heads) + "</tr>")
    heads = [
        _cell("th", escape(column.name), column, i in starts, ' scope="col"')
        for i, column in enumerate(content.columns)
    ]
    lines += ["<tr>" + "".join(heads) + "</tr>", "</thead>", "<tbody>"]
    first_total = len(content.rows) - content.totals
    for number, (row, bold) in enumerate(zip(content.rows, content.bold, strict=True)):
        opening = '<tr class="total">' if number >= first_total else "<tr>"
        lines.append(opening + "".join(_row_cells(row, bold, content.columns, starts)) + "</tr>")
    lines += ["</tbody>", "</table>", _FRAME_END]
    if content.caption:
        lines.append(paragraph(content.caption, "caption"))
    return "\n".join(filter(None, lines))


def _frame_start(box: str, kind: str = "") -> str:
    """A box that scrolls, in a frame whose edges the script marks where there is more to see."""
    return f'<div class="{" ".join(filter(None, ("frame", kind)))}"><div class="{box}" tabindex="0">'


_FRAME_END = "</div></div>"


def _group_starts(content: Table) -> set[int]:
    starts, position = set(), 0
    for group, count in content.heads:
        if group:
            starts.add(position)
        position += count
    return starts


def _group_cell(group: str, count: int) -> str:
    kind = "group group-start" if group else "group"
    return f'<th class="{kind}" colspan="{count}">{escape(group)}</th>'


def _row_cells(
    row: Sequence[Value], bold: Sequence[bool], columns: Sequence[Column], starts: set[int]
) -> list[str]:
    texts = [escape(shown(value, column)) for value, column in zip(row, columns, strict=True)]
    marked = [f"<b>{text}</b>" if mark else text for text, mark in zip(texts, bold, strict=True)]
    return [
        _cell("td", text, column, i in starts) for i, (text, column) in enumerate(zip(marked, columns, strict=True))
    ]


def _cell(tag: str, text: str, column: Column, starts_group: bool, more: str = "") -> str:
    kinds = [name for name, wanted in (("number", column.numeric), ("group-start", starts_group)) if wanted]
    kind = f' class="{" ".join(kinds)}"' if kinds else ""
    return f"<{tag}{kind}{more}>{text}</{tag}>"


def figure(content: Illustration) -> str:
    """A figure, drawn in the page itself."""
    wide = ' class="wide"' if content.figure.get_figwidth() > _NARROW else ""
    svg = inline_svg(content.figure, content.name)
    svg = svg.replace("<svg", f'<svg role="img" aria-label="{escape(content.title)}"', 1)
    return "\n".join(
        [
            f"<figure{wide}>",
            f"<h3>{escape(content.title)}</h3>",
            f"{_frame_start('scroll')}{svg}{_FRAME_END}",
            f"<figcaption>{escape(content.caption)}</figcaption>",
            "</figure>",
        ]
    )
