"""Prior knowledge on the command line."""

from __future__ import annotations

import json

import pytest

from hardmargin.cli import main

TABLE = "age,dose,ill\n0,1,no\n1,0,no\n3,2,yes\n4,1,yes\n9,0,no\n2.5,1,no\n"


@pytest.fixture
def table(tmp_path, monkeypatch) -> str:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "table.csv").write_text(TABLE)
    return "table.csv"


def solved(*words: str) -> dict:
    assert main(["solve", *words, "--C", "10", "--quiet", "--json", "model.json"]) == 0
    assert main(["verify", "model.json", words[0]]) == 0
    with open("model.json", encoding="utf-8") as file:
        return json.load(file)


@pytest.mark.parametrize("text", ["4\n0", "0, 4", "trusted\n1\n0\n0\n0\n1\n0\n"])
def test_rows_are_trusted_by_number_or_by_a_column(table: str, tmp_path, text: str) -> None:
    (tmp_path / "rows.txt").write_text(text)
    model = solved(table, "--trusted", "rows.txt")
    assert model["trusted"] == [0, 4]
    assert not {0, 4} & set(model["violations"])


def test_signs_and_ranges_are_given_by_name(table: str) -> None:
    model = solved(table, "--monotonic", "age=-1", "dose=+1", "--coef-bounds", "dose=:0.5")
    assert model["monotonic_cst"] == [-1, 1]
    assert model["coef_bounds"] == [[None, 0.0], [0.0, 0.5]]


def test_features_without_names_have_numbers(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.txt").write_text("-1 1:0\n-1 1:1\n1 1:3\n1 1:4\n")
    assert solved("data.txt", "--coef-bounds", "0=2:")["coef"] == [pytest.approx(2.0)]


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--trusted", "missing.txt"], "missing.txt"),
        (["--trusted", "table.csv"], "'dose' is no row number"),
        (["--trusted", "far.txt"], "there is no row 6"),
        (["--trusted", "word.txt"], "'rows' is no row number"),
        (["--trusted", "fraction.txt"], "'1.5' is no row number"),
        (["--trusted", "all.txt", "--monotonic", "dose=-1"], "contradict each other"),
        (["--monotonic", "weight=1"], "names 'weight', which is not a feature"),
        (["--monotonic", "age=up"], "expected FEATURE=+1"),
        (["--monotonic", "0"], "is '0'; expected FEATURE=+1"),
        (["--monotonic", "age=+1", "age=-1"], "names 'age' more than once"),
        (["--coef-bounds", "age=0:1", "age=2:3"], "names 'age' more than once"),
        (["--coef-bounds", "age=3"], "expected FEATURE=LOW:HIGH"),
        (["--coef-bounds", "age=3:1"], "are 3 and 1"),
    ],
)
def test_what_cannot_be_used_is_one_line(table: str, tmp_path, capsys, words, text) -> None:
    (tmp_path / "far.txt").write_text("6")
    (tmp_path / "word.txt").write_text("rows")
    (tmp_path / "fraction.txt").write_text("1.5 3")
    (tmp_path / "all.txt").write_text("0 1 2 3 4 5")
    assert main(["solve", table, *words]) == 2
    error = capsys.readouterr().err
    assert text in error
    assert error.count("\n") == 1


def test_a_name_that_several_features_have_is_no_name(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "twice.csv").write_text("age,age,ill\n0,1,no\n3,2,yes\n")
    assert main(["solve", "twice.csv", "--monotonic", "age=+1"]) == 2
    assert "several features" in capsys.readouterr().err
