"""Training data of the command line: chosen columns, columns that number the rows."""

from __future__ import annotations

import numpy as np
import pytest

from hardmargin import Result
from hardmargin.cli import main

ROWS = [(row, 20 + row % 7, "no" if row % 3 else "yes") for row in range(12)]


@pytest.fixture
def solve(tmp_path, capsys):
    """Solve a table with these columns; return the exit status, the model and standard error."""

    def run(header, rows, *words):
        file, model = tmp_path / "data.csv", tmp_path / "model.json"
        file.write_text("\n".join(",".join(map(str, row)) for row in [*header, *rows]))
        model.unlink(missing_ok=True)
        status = main(["solve", str(file), "--json", str(model), "--method", "heuristic", *words])
        return status, Result.load(model) if model.exists() else None, capsys.readouterr().err

    return run


def test_a_column_that_numbers_the_rows_draws_a_warning(solve):
    status, model, err = solve([("id", "age", "label")], ROWS)
    assert (status, model.m) == (0, 2)
    assert err == (
        "hardmargin: warning: column 'id' numbers the rows and would be used like a measurement; leave it out with "
        "--drop id.\n"
    )
    status, model, err = solve([("id", "age", "label")], ROWS, "--drop", "id")
    assert (status, model.feature_names, err) == (0, ["age"], "")


def test_it_may_begin_anywhere_and_be_shuffled(solve):
    order = np.random.default_rng(0).permutation(12)
    rows = [(f"{1000 + row}.0", *ROWS[row][1:]) for row in order]
    assert "column 0 (counted from 0) numbers the rows" in solve([], rows)[2]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (ROWS, ["--features", "id,age"]),
        (ROWS, ["--quiet"]),
        (ROWS[:9], []),
        ([(0.5 + row, *rest) for row, *rest in ROWS], []),
        ([(2 * row, *rest) for row, *rest in ROWS], []),
        ([(row % 6 * 11 // 5, *rest) for row, *rest in ROWS], []),
    ],
    ids=["asked for", "quiet", "few rows", "fractions", "every second", "repeated"],
)
def test_other_columns_draw_none(rows, words, solve):
    status, _, err = solve([("id", "age", "label")], rows, *words)
    assert (status, err) == (0, "")


def test_features_are_chosen_in_the_given_order(solve):
    rows = [(*row, f"name {row[0]}") for row in ROWS]
    _, model, _ = solve([("id", "age", "label", "name")], rows, "--features", "age,0", "--label", "label")
    assert (model.feature_names, model.label_column) == (["age", "id"], "label")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--features", "age", "--drop", "id"], "--drop: not allowed with argument --features"),
        (["--features", ","], "',' is not a list of columns such as age,length or 0,3"),
        (["--drop", "weight"], "there is no column named 'weight'; expected one of 'id', 'age', 'label'"),
        (["--drop", "label", "--label", "label"], "drop names column 'label', which holds the labels"),
    ],
)
def test_columns_that_cannot_be_chosen(words, expected, solve):
    status, model, err = solve([("id", "age", "label")], ROWS, *words)
    assert (status, model) == (2, None)
    assert err.count("\n") == 1
    assert expected in err


def test_columns_of_a_libsvm_file_are_the_numbers_of_the_features(tmp_path):
    file, model = tmp_path / "data", tmp_path / "model.json"
    file.write_text("-1 1:7 2:0.5 3:1\n1 1:7 2:2.5 3:4\n-1 1:7 2:0.1 3:1\n")
    assert main(["solve", str(file), "--drop", "1", "--C", "9", "--json", str(model), "--quiet"]) == 0
    assert Result.load(model).m == 2
    assert main(["verify", str(model), str(file), "--drop", "1"]) == 0
    assert main(["solve", str(file), "--drop", "4", "--quiet"]) == 2
