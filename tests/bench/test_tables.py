"""The tables of campaigns, and the command that prints them."""

from __future__ import annotations

import csv

import pytest

from bench_runs import failed_record, open_record, record, run, small_campaign
from hardmargin.bench.analysis.runs import SystemRun, runs_of
from hardmargin.bench.records.record import Record
from hardmargin.bench.report.tables.campaign import (
    all_tables,
    configurations_table,
    gaps_over_time_table,
    instance_table,
    paper_tables,
)
from hardmargin.bench.report.tables.table import Share, Table
from hardmargin.cli import main


def cells(table: Table, row: str, system: str) -> list:
    line = next(line for line in table.rows if line[0] == row)
    return [value for value, column in zip(line, table.columns, strict=True) if column.group == system]


@pytest.fixture
def campaign(tmp_path):
    path = tmp_path / "campaign.jsonl"
    path.write_text("".join(one.to_json() + "\n" for one in small_campaign()))
    return str(path)


@pytest.fixture(autouse=True)
def _no_data(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("HARDMARGIN_DATA", raising=False)


def published_run(**changes) -> SystemRun:
    return run(**changes)._replace(system="Brooks 2011", configuration="brooks2011", time_limit=600.0)


def test_ours_stand_beside_the_printed_figures():
    table = paper_tables(runs_of([record(), open_record(C=10.0)]), all_rows=True)[0]
    assert (table.name, [line[0] for line in table.rows]) == ("table3", ["60", "100", "200", "500", "Overall"])
    assert cells(table, "100", "CB-SVM-HML") == [Share(61, 75), 4.26, 170.76]
    assert cells(table, "60", "auto") == [Share(1, 2), 12.5, 31.0]
    assert cells(table, "Overall", "auto") == [Share(1, 2), 12.5, 31.0]
    assert cells(table, "500", "auto") == ["not run", None, None]
    assert "auto 2 of 300" in table.caption


def test_a_part_of_the_benchmark_is_compared_with_the_same_part():
    literature = [published_run(runtime=100.0), published_run(C=10.0), published_run(instance="n60d2ATj1")]
    table = paper_tables(runs_of([record()]), literature)[0]
    assert cells(table, "60", "Brooks 2011") == [Share(1, 1), 0.0, 100.0]
    assert [line[0] for line in table.rows] == ["60", "Overall"]
    assert "that were run here" in table.caption
    assert "Rows without any run are left out: 100, 200, 500." in table.caption
    table = paper_tables(runs_of([record()]), literature, all_rows=True)[0]
    assert cells(table, "100", "Brooks 2011") == [None] * 3
    assert "Rows without any run" not in table.caption


def test_generated_instances_have_tables_of_their_own():
    generated = record(instance="gen80d3A0", n=80, m=3)
    tables = {table.name: table for table in all_tables(runs_of([record(), generated, record(C=7.0)]))}
    assert cells(tables["table3"], "Overall", "auto")[0] == Share(1, 1)
    assert cells(tables["means"], "Overall", "auto")[0] == Share(1, 1)
    assert "auto 1 of 300" in tables["table3"].caption
    told = "1 run on generated instances, 1 run on other instances or with another C, which are shown apart"
    assert told in tables["table3"].caption
    own = tables["generated_a_by_n"]
    assert [line[0] for line in own.rows] == ["80", "Overall"]
    assert {column.group for column in own.columns} == {"", "auto"}
    assert cells(tables["other_means"], "Overall", "auto")[0] == Share(1, 1)
    alone = [table.name for table in all_tables(runs_of([generated]))]
    assert alone == [f"generated_{name}" for name in ("a_by_n", "a_by_m", "means", "gaps_over_time")]


def test_published_configurations_are_of_the_same_pairs():
    (ours,) = runs_of([open_record(method="benders", configuration="cb_5_5")])
    theirs = [ours._replace(system="cb_5_5", configuration="cb_5_5", status="optimal", C=C) for C in (1.0, 10.0)]
    rows = {(row[0], row[1]): row[3] for row in configurations_table([ours], theirs).rows}
    assert rows["(5%, 5%)", "published"] == Share(1, 1)
    assert rows["(5%, 5%)", "benders (5%, 5%)"] == Share(0, 1)
    assert "all 875 pairs" in configurations_table([ours]).caption


def test_runs_without_an_answer_are_told():
    table = paper_tables(runs_of([record(), failed_record(C=10.0)]))[0]
    assert cells(table, "60", "auto") == [Share(1, 2), 50.0, 31.0]
    assert "the time limit: 1" in table.caption


def test_gaps_are_told_as_far_as_the_limit_goes():
    table = gaps_over_time_table(runs_of([record(), open_record(C=10.0)]))
    assert [column.name for column in table.columns] == ["set", "1 s", "10 s", "60 s"]
    assert table.rows[-1] == ["Overall", 37.5, 12.5, 12.5]


def test_every_record_is_a_row():
    records: list[Record] = small_campaign()
    table = instance_table(runs_of(records))
    assert len(table.rows) == len(records)
    failed = next(row for row in table.rows if row[7] == "memory_limit")
    assert failed[8:11] == [None, None, None]


def test_names_of_all_tables():
    names = [table.name for table in all_tables(runs_of(small_campaign()))]
    paper = [f"table{number}" for number in (2, 3, 4, 5, 6)]
    assert names == [*paper, "means", "gaps_over_time", "configurations", "table7"]


def test_command_prints_and_writes(campaign, tmp_path, capsys):
    assert main(["bench", "tables", campaign]) == 0
    printed = capsys.readouterr().out
    assert "Table 2: performance on the UCI instances" in printed
    assert "shift of 1 s" in " ".join(printed.split())
    assert max(map(len, printed.splitlines())) <= 80
    assert " ".join(printed.split()).endswith("it is 60 s (published runs: 600 s).")
    assert "adult" not in printed.replace("adult, australian", "")
    assert main(["bench", "tables", campaign, "--all"]) == 0
    assert "\nadult " in capsys.readouterr().out
    out = tmp_path / "tables"
    assert main(["bench", "tables", campaign, "--format", "csv", "--out", str(out), "--per-instance"]) == 0
    with (out / "instances.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 12
    assert rows[0]["instance"] == "heart5f1i1.train"
    assert main(["bench", "tables", campaign, "--format", "latex"]) == 0
    assert capsys.readouterr().out.count(r"\begin{tabular}") == 9


def test_command_extends_the_best_known_values(campaign, tmp_path):
    solu = tmp_path / "best.solu"
    solu.write_text("=best= n60d2ATj0_C1 11.0\n=opt= other_C1 3.0\n")
    assert main(["bench", "tables", campaign, "--solu", str(solu)]) == 0
    lines = solu.read_text().splitlines()
    assert "=opt= n60d2ATj0_C1 10.0" in lines
    assert "=opt= other_C1 3.0" in lines


def test_common_pairs_only(tmp_path, capsys):
    path = tmp_path / "two.jsonl"
    records = [record(), record(C=10.0), open_record(method="benders")]
    path.write_text("".join(one.to_json() + "\n" for one in records))
    assert main(["bench", "tables", str(path), "--common", "--per-instance", "--format", "csv"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 3


def test_bad_input_is_one_line(campaign, tmp_path, capsys):
    empty = tmp_path / "empty.jsonl"
    empty.write_text("")
    other = tmp_path / "other.txt"
    other.write_text("hello\n")
    for words, complaint in (
        ([str(empty)], "there are no runs in"),
        ([str(other)], "other.txt:1: not a record"),
        ([str(tmp_path / "missing")], "No such file"),
        ([campaign, "--data", str(tmp_path / "nowhere")], "there is no such folder"),
        ([campaign, "--solu", str(tmp_path / "no" / "best.solu")], "there is no folder"),
    ):
        assert main(["bench", "tables", *words]) == 2
        error = capsys.readouterr().err
        assert complaint in error
        assert len(error.splitlines()) == 1


def test_a_torn_line_is_told_and_left_out(campaign, capsys):
    with open(campaign, "a") as file:
        file.write('{"instance": "n60')
    assert main(["bench", "tables", campaign, "--per-instance", "--format", "csv"]) == 0
    told = capsys.readouterr()
    assert "incomplete" in told.err
    assert len(told.out.splitlines()) == 13


def test_systems_can_be_chosen(campaign, capsys):
    words = ["bench", "tables", campaign, "--per-instance", "--format", "csv", "--systems", "benders (5%, 5%)"]
    assert main(words) == 0
    out = capsys.readouterr().out
    assert "benders" in out
    assert "auto" not in out
    assert main([*words[:-1], "brooks"]) == 2
    assert "--systems has 'brooks'; the records have 'auto', 'benders (5%, 5%)'" in capsys.readouterr().err
