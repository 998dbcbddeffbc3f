"""Tables as data, and their writers."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import pytest

from hardmargin.bench.report import html
from hardmargin.bench.report.tables.table import (
    Absent,
    Column,
    Share,
    Table,
    as_csv,
    as_latex,
    as_markdown,
    as_text,
)


@pytest.fixture
def table() -> Table:
    columns = [Column("set", numeric=False), Column("#opt", "auto (5%)"), Column("gap %", "auto (5%)")]
    rows = [["UCI_1", Share(3, 5), 12.3456], ["A", Absent("not run"), None], ["Overall", Share(3, 5), 12.3456]]
    return Table("small", "A small table", "50 % of it.", columns, rows, totals=1)


def test_text_is_aligned_and_sets_the_last_row_apart(table):
    lines = as_text(table).splitlines()
    assert lines[0] == "A small table"
    assert lines[3:5] == ["set         #opt  gap %", "-------  -------  -----"]
    assert lines[5:7] == ["UCI_1        3/5  12.35", "A        not run"]
    assert lines[7] == lines[4]
    assert lines[-2:] == ["", "50 % of it."]


def test_csv_has_plain_numbers_and_shares_in_two_columns(table):
    rows = list(csv.reader(io.StringIO(as_csv(table))))
    assert rows[0] == ["set", "auto (5%): #opt", "auto (5%): #opt of", "auto (5%): gap %"]
    assert rows[1] == ["UCI_1", "3", "5", "12.3456"]
    assert rows[2] == ["A", "", "", ""]


def test_latex_escapes_and_uses_booktabs(table):
    text = as_latex(table)
    assert r"\multicolumn{2}{c}{auto (5\%)}" in text
    assert r"\cmidrule(lr){2-3}" in text
    assert r"UCI\_1 & 3/5 & 12.35 \\" in text
    assert r"\caption{A small table. 50 \% of it.}" in text
    assert text.count(r"\midrule") == 2


def test_latex_leaves_numbers_to_the_document_and_fits_wide_tables_to_the_page(table):
    text = as_latex(replace(table, name="table3", title="Table 3: performance on it"))
    assert r"\caption{Performance on it. 50 \% of it.}" in text
    assert r"\label{tab:table3}" in text
    assert "resizebox" not in text
    wide = Table("wide", "Wide", "", [Column("a long heading of a column")] * 4, [[1.0] * 4])
    assert r"\resizebox{\textwidth}{!}{%" in as_latex(wide)


def test_text_that_is_too_wide_is_cut_between_systems():
    systems = [f"system {number}" for number in range(4)]
    columns = [Column("n"), *(Column(name, system) for system in systems for name in ("#opt", "gap %"))]
    table = Table("t", "Title", "Caption.", columns, [[60, *[Share(3, 5), 12.5] * 4]])
    text = as_text(table, width=40)
    assert max(map(len, text.splitlines())) <= 40
    assert (text.count("Title"), text.count("Caption."), text.count("60  ")) == (1, 1, 2)
    assert [text.count(system) for system in systems] == [1, 1, 1, 1]
    assert as_text(table, width=100) == as_text(table)
    # A table that cannot be cut is shown whole.
    assert "system 0" in as_text(table, width=5)


def test_small_p_values_are_told_as_such():
    table = Table("t", "t", "", [Column("p", format="p")], [[0.0004], [0.7961], [None]])
    assert as_text(table).split()[-2:] == ["<0.001", "0.796"]


def test_a_row_of_the_wrong_length_is_refused():
    with pytest.raises(ValueError, match="a row of 1 under 2 columns"):
        Table("t", "t", "", [Column("a"), Column("b")], [[1]])


def test_the_best_of_several_systems_is_bold():
    columns = [Column("n")]
    for system in ("one", "two", "three"):
        columns += [Column("#opt", system, best="high"), Column("gap %", system, best="low")]
    rows = [
        [60, Share(3, 5), 0.501, Share(4, 5), 0.499, Share(4, 5), 0.7],
        [100, Share(1, 5), 9.0, Absent("not run"), None, Absent("not run"), None],
    ]
    table = Table("t", "t", "", columns, rows)
    # Values that look the same are equally good; one system alone is not the best of anything.
    assert table.bold == [[False, False, True, True, True, True, False], [False] * 7]
    assert r"60 & 3/5 & \textbf{0.50} & \textbf{4/5} & \textbf{0.50} & \textbf{4/5} & 0.70 \\" in as_latex(table)
    assert "<b>4/5</b>" in html.table(table)


def test_markdown_names_what_columns_share_and_escapes_bars(table):
    text = as_markdown(replace(table, title="Of a|b"))
    assert "| set | auto (5%): #opt | auto (5%): gap % |\n|---|---:|---:|\n| UCI_1 | 3/5 | 12.35 |" in text
    assert text.endswith("\n\n50 % of it.\n")
    assert "a\\|b" in as_markdown(Table("t", "T", "", [Column("a|b")], [[1.0]]))


def test_boxes_that_scroll_are_in_frames_and_many_columns_are_set_smaller():
    def boxed(count):
        return html.table(Table("t", "T", "", [Column(f"c{k}") for k in range(count)], [[1.0] * count]))

    assert '<div class="frame"><div class="scroll" tabindex="0">' in boxed(5)
    assert '<div class="frame many"><div class="scroll" tabindex="0">' in boxed(30)
    assert boxed(5).count("<div") == boxed(5).count("</div>") == 2
