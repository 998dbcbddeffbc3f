"""``hardmargin path``: what is searched for, written and shown."""

from __future__ import annotations

import json

import pytest

import hardmargin
from hardmargin import Path, Status
from hardmargin.cli import main


@pytest.fixture
def data(tmp_path):
    file = tmp_path / "data.csv"
    file.write_text("a,b,kind\n0.0,0.5,no\n1.0,0.0,no\n3.0,0.5,yes\n4.0,1.0,yes\n9.0,0.5,no\n")
    return str(file)


def test_path_and_summary(data, tmp_path, capsys) -> None:
    file = tmp_path / "path.json"
    assert main(["path", data, "--C", "0.1", "100", "--json", str(file)]) == 0
    found = Path.load(file)
    out, err = capsys.readouterr()
    told = f"{data}: csv, 5 samples x 2 features, labels in column 'kind'; C = 0.1 to 100, method auto"
    assert out == f"{told}\n{found.summary()}\n"
    assert err == ""
    assert found.optimal
    assert found.at(50.0).feature_names == ["a", "b"]


def test_single_values_and_standard_output(data, capsys) -> None:
    assert main(["path", data, "--C", "1", "10", "100", "--json", "-"]) == 0
    out, err = capsys.readouterr()
    assert Path.from_json(out).C == [1.0, 10.0, 100.0]
    assert err.startswith(f"{data}: csv, 5 samples x 2 features, labels in column 'kind'; C = 1, 10, 100, ")


def test_quiet(data, tmp_path, capsys) -> None:
    assert main(["path", data, "--C", "1", "100", "--quiet", "--json", str(tmp_path / "path.json")]) == 0
    assert capsys.readouterr() == ("", "")


def test_options_reach_the_search(data, monkeypatch) -> None:
    seen = {}
    find = hardmargin.path

    def path(X, y, C, **settings):
        seen.update(settings, C=C)
        return find(X, y, C)

    monkeypatch.setattr(hardmargin, "path", path)
    words = "--time-limit 7 --gap 0.5 --threads 1 --seed 3 --stop stall --node-limit 9 --method packing"
    words += " --option cover_distance=2 --class-weight yes=2"
    assert main(["path", data, "--C", "1", "100", *words.split()]) == 0
    assert (seen["C"], seen["time_limit"], seen["gap"]) == ((1.0, 100.0), 7, 0.5)
    assert (seen["threads"], seen["seed"]) == (1, 3)
    assert (seen["stop"], seen["node_limit"], seen["method"]) == ("stall", 9, "packing")
    assert (seen["options"], seen["class_weight"]) == ({"cover_distance": 2}, {"yes": 2.0})


def test_checkpoint_and_resume(data, tmp_path, capsys) -> None:
    file = str(tmp_path / "state.json")
    assert main(["path", data, "--C", "1", "100", "--checkpoint", file]) == 0
    solves = Path.load(file).solves
    assert main(["path", data, "--C", "1", "100", "--checkpoint", file]) == 2
    assert "resume" in capsys.readouterr().err
    assert main(["path", data, "--C", "1", "100", "--checkpoint", file, "--resume", file, "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["solves"] == solves


def test_an_interrupted_path_is_written(data, tmp_path, monkeypatch) -> None:
    find = hardmargin.path

    def path(X, y, C, *, report, **settings):
        def interrupt(state) -> None:
            report(state)
            raise KeyboardInterrupt

        return find(X, y, C, report=lambda state: None if state.done else interrupt(state))

    monkeypatch.setattr(hardmargin, "path", path)
    file = tmp_path / "path.json"
    assert main(["path", data, "--C", "1", "100", "--json", str(file)]) == 130
    assert Path.load(file).status is Status.INTERRUPTED


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--C", "5", "1"], "expected (low, high) with low < high"),
        (["--C", "0", "1"], "expected a positive finite number"),
        ([], "--C"),
        (["--C", "1", "2", "--checkpoint", "-"], "--checkpoint is '-'"),
        (["--C", "1", "2", "--resume", "missing.json"], "missing.json"),
        (["--C", "1", "2", "--json", "x.json", "--checkpoint", "x.json"], "expected different files"),
    ],
)
def test_bad_input_is_one_line(data, capsys, tmp_path, monkeypatch, words, text) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["path", data, *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert text in err
    assert err.count("\n") == 1


def test_prior_knowledge_holds_all_along_the_path(data, tmp_path) -> None:
    (tmp_path / "rows.txt").write_text("4")
    file = tmp_path / "path.json"
    words = ["--trusted", str(tmp_path / "rows.txt"), "--monotonic", "a=-1", "--coef-bounds", "b=:0.5"]
    assert main(["path", data, "--C", "0.1", "100", *words, "--quiet", "--json", str(file)]) == 0
    found = Path.load(file)
    assert found.optimal
    for each in found.hyperplanes:
        assert each.trusted == [4]
        assert 4 not in each.violations
        assert each.coef[0] <= 0
        assert each.coef[1] <= 0.5


def test_unknown_features_of_prior_knowledge_are_one_line(data, capsys) -> None:
    assert main(["path", data, "--C", "1", "100", "--monotonic", "age=1"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
