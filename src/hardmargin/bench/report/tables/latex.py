"""Tables for papers, in LaTeX with the package booktabs, and graphicx for wide ones."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hardmargin.bench.report.tables.table import Table

# Characters in a row above which a table is scaled to fit the page.
_PAGE = 75

_NUMBER = re.compile(r"Table \d+: ")


def as_latex(table: Table) -> str:
    """The table for a paper; needs the package booktabs, and graphicx if it is wider than a page.

    The document numbers its tables itself, so a number in the title is left out; the label has it.
    """
    cells, bold = table.cells, table.bold
    names = [column.name for column in table.columns]
    layout = "".join("r" if column.numeric else "l" for column in table.columns)
    lines = [f"\\begin{{tabular}}{{{layout}}}", "\\toprule"]
    if any(group for group, _ in table.heads):
        lines += _heads(table.heads)
    lines += [_row(names), "\\midrule"]
    for number, row in enumerate(cells):
        if table.totals and number == len(cells) - table.totals:
            lines.append("\\midrule")
        lines.append(_row(row, bold[number]))
    lines += ["\\bottomrule", "\\end{tabular}"]
    if sum(max(map(len, column)) + 1 for column in zip(names, *cells, strict=True)) > _PAGE:
        lines = ["\\resizebox{\\textwidth}{!}{%", *lines[:-1], f"{lines[-1]}%", "}"]
    lines += [f"\\caption{{{latex_text(_caption(table))}}}", f"\\label{{tab:{table.name}}}"]
    return "\n".join(["\\begin{table}[htbp]", "\\centering", *lines, "\\end{table}", ""])


def _caption(table: Table) -> str:
    title = _NUMBER.sub("", table.title, count=1)
    title = title[:1].upper() + title[1:]
    return ". ".join(part.rstrip(".") for part in (title, table.caption) if part) + "."


def _heads(heads: Iterable[tuple[str, int]]) -> list[str]:
    cells, rules, start = [], [], 1
    for group, count in heads:
        cells.append(f"\\multicolumn{{{count}}}{{c}}{{{latex_text(group)}}}" if group else " & " * (count - 1))
        if group:
            rules.append(f"\\cmidrule(lr){{{start}-{start + count - 1}}}")
        start += count
    return [" & ".join(cells) + " \\\\", " ".join(rules)]


def _row(texts: Sequence[str], bold: Sequence[bool] | None = None) -> str:
    marks = bold or [False] * len(texts)
    cells = (
        f"\\textbf{{{latex_text(text)}}}" if mark else latex_text(text)
        for text, mark in zip(texts, marks, strict=True)
    )
    return " & ".join(cells) + " \\\\"


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
