"""Records: what is written is read back, even after an incomplete write."""

from __future__ import annotations

import pytest

from bench_records import record
from hardmargin.bench.records.files import RecordFile
from hardmargin.bench.records.parquet import write_parquet
from hardmargin.bench.records.record import Record, read_records
from hardmargin.cli import main


def write(path, *records):
    with RecordFile(path) as file:
        for each in records:
            file.append(each.to_json())


def test_a_record_comes_back_as_it_was():
    one = record(options={"T_S": 0.05}, error=None)
    assert Record.from_json(one.to_json()) == one


def test_the_last_record_of_a_run_counts(tmp_path):
    path = tmp_path / "c.jsonl"
    write(path, record(status="failed"), record(seed=1), record(status="optimal", memory_limit=10**9))
    assert [(one.seed, one.status) for one in read_records(path)] == [(1, "optimal"), (0, "optimal")]


@pytest.mark.parametrize("change", [{"C": 1.0}, {"seed": 1}, {"threads": 2}, {"options": {"T_S": 0.1}}])
def test_other_settings_are_another_run(change):
    assert record(**change).key != record().key


def test_a_torn_last_line_is_left_out_and_removed(tmp_path):
    path = tmp_path / "c.jsonl"
    write(path, record())
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:100])
    with pytest.warns(UserWarning, match="the last line is incomplete"):
        assert read_records(path) == [record()]
    write(path, record(seed=1))
    assert read_records(path) == [record(), record(seed=1)]


@pytest.mark.parametrize("line", ["nonsense", "[]", "{}"])
def test_another_line_that_is_no_record_is_an_error(line, tmp_path):
    path = tmp_path / "c.jsonl"
    path.write_text(f"{record().to_json()}\n{line}\n")
    with pytest.raises(ValueError, match=r"c\.jsonl:2: not a record"):
        read_records(path)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"n": "60"}, "'n' is '60'; expected a whole number"),
        ({"n": True}, "'n' is True; expected a whole number"),
        ({"objective": "1e5"}, "'objective' is '1e5'; expected a number or null"),
        ({"trace": [[0.1, "?", 0.0]]}, "expected a list"),
        ({"instance": None}, "'instance' is None; expected text"),
        ({"options": []}, r"'options' is \[\]; expected an object"),
    ],
)
def test_a_value_of_another_type_is_an_error(change, expected, tmp_path):
    path = tmp_path / "c.jsonl"
    write(path, record(**change))
    with pytest.raises(ValueError, match=rf"c\.jsonl:1: not a record: .*{expected}"):
        read_records(path)


def test_whole_numbers_are_numbers(tmp_path):
    path = tmp_path / "c.jsonl"
    write(path, record(objective=100, coef=[1, 2]))
    assert read_records(path) == [record()]


def test_two_campaigns_do_not_share_a_file(tmp_path):
    pytest.importorskip("fcntl")
    path = tmp_path / "c.jsonl"
    with RecordFile(path), pytest.raises(ValueError, match="another campaign"):
        RecordFile(path)


def test_parquet_has_a_row_a_record(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    records = [record(options={"T_S": 0.05}), record(objective=None, coef=None, trace=[])]
    write_parquet(records, tmp_path / "c.parquet")
    rows = parquet.read_table(tmp_path / "c.parquet").to_pylist()
    assert [row["objective"] for row in rows] == [100.0, None]
    assert rows[0]["options"] == '{"T_S": 0.05}'
    assert rows[0]["trace"] == records[0].trace


def test_the_command_converts(tmp_path):
    pytest.importorskip("pyarrow")
    write(tmp_path / "c.jsonl", record())
    assert main(["bench", "convert", str(tmp_path / "c.jsonl"), "--out", str(tmp_path / "c.parquet")]) == 0
    assert (tmp_path / "c.parquet").stat().st_size > 0


def test_a_campaign_is_not_converted_into_itself(tmp_path, capsys):
    path = tmp_path / "c.jsonl"
    write(path, record())
    before = path.read_bytes()
    assert main(["bench", "convert", str(path), "--out", str(path)]) == 2
    assert "which this command reads" in capsys.readouterr().err
    assert path.read_bytes() == before


def test_a_file_of_something_else_is_left_alone(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("not a word of this may be lost")
    with pytest.raises(ValueError, match="something other than records"):
        RecordFile(path)
    assert path.read_text() == "not a word of this may be lost"
