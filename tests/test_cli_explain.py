"""``hardmargin explain``: the table as text and JSON, and what is refused."""

from __future__ import annotations

import json

import pytest

import hardmargin
from hardmargin import Result, Status
from hardmargin.cli import main


@pytest.fixture
def data(generated):
    return generated("B", 30, 2)


@pytest.fixture
def model(data, tmp_path):
    file = tmp_path / "model.json"
    assert main(["solve", data, "--C", "10", "--json", str(file), "--quiet"]) == 0
    return str(file)


def test_samples_given_up_are_listed(model, data, capsys):
    assert main(["explain", model, data]) == 0
    out, err = capsys.readouterr()
    violations = Result.load(model).violations
    assert f"{len(violations)} of 30 samples given up" in out
    assert {int(line.split()[0]) for line in out.splitlines()[2:-1]} == set(violations)
    assert f"prices: {len(violations)} of {len(violations)} exact" in out
    assert err == ""


def test_all_samples_as_json(model, data, tmp_path, capsys):
    target = tmp_path / "table.json"
    assert main(["explain", model, data, "--all", "--within", "0.1", "--json", str(target), "--quiet"]) == 0
    values = json.loads(target.read_text())
    assert len(values["rows"]) == 30
    assert values["within"] == 0.1
    assert capsys.readouterr().out == ""


def test_json_on_standard_output_is_alone_there(model, data, capsys):
    assert main(["explain", model, data, "--json", "-"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["status"] == "optimal"
    assert "samples given up" in err


def test_after_ctrl_c_the_table_is_written(model, data, tmp_path, monkeypatch):
    priced = hardmargin.outliers

    def interrupted(*words, **settings):
        def report(exact, total):
            raise KeyboardInterrupt

        return priced(*words, **{**settings, "report": report})

    monkeypatch.setattr(hardmargin, "outliers", interrupted)
    target = tmp_path / "table.json"
    assert main(["explain", model, data, "--json", str(target)]) == 130
    assert json.loads(target.read_text())["status"] == Status.INTERRUPTED.value


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--within", "-1"], "within is -1.0; expected a share"),
        (["--time-limit", "0"], "0 given; expected a positive number of seconds, or inf"),
        (["--json", "nowhere/table.json"], "there is no folder"),
    ],
)
def test_bad_options_are_refused_in_one_line(words, message, model, data, capsys):
    assert main(["explain", model, data, *words]) == 2
    out, err = capsys.readouterr()
    assert message in err
    assert err.count("\n") == 1
    assert out == ""


def test_other_data_are_refused_in_one_line(model, generated, capsys):
    assert main(["explain", model, generated("B", 31, 2)]) == 2
    assert "expected the training data" in capsys.readouterr().err
