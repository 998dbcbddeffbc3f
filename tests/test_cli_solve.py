"""``hardmargin solve``: what is searched for, written and shown."""

from __future__ import annotations

import os
import signal
from dataclasses import fields, replace

import numpy as np
import pytest

import hardmargin
import hardmargin.methods
from hardmargin import Result
from hardmargin.checkpoint import keeper
from hardmargin.cli import main


@pytest.fixture
def data(tmp_path):
    file = tmp_path / "data.csv"
    file.write_text("0.0,0.5,no\n1.0,0.0,no\n3.0,0.5,yes\n4.0,1.0,yes\n9.0,0.5,no\n")
    return str(file)


@pytest.fixture
def asked(monkeypatch):
    """The arguments of solve(); the search itself is the real one, with its default settings."""
    seen = {}
    search = hardmargin.solve

    def solve(X, y, C, **settings):
        seen.update(settings, X=X, y=y, C=C)
        return search(X, y, C, class_weight=settings["class_weight"])

    monkeypatch.setattr(hardmargin, "solve", solve)
    return seen


def test_model_and_summary(data, tmp_path, capsys):
    model = tmp_path / "model.json"
    assert main(["solve", data, "--C", "10", "--json", str(model)]) == 0
    result = Result.load(model)
    out, err = capsys.readouterr()
    assert out == (
        f"{data}: csv, 5 samples x 2 features, labels 'no' and 'yes' in column 2 (counted from 0); "
        f"C = 10, method auto\n{result.summary()}\n"
    )
    assert err == ""
    assert (result.C, result.n, result.m, result.classes) == (10, 5, 2, ["no", "yes"])


def test_the_json_is_that_of_the_result(data, tmp_path):
    model = tmp_path / "model.json"
    main(["solve", data, "--json", str(model)])
    assert Result.load(model).to_json() == model.read_text()


def test_quiet_writes_the_model_and_nothing_else(data, tmp_path, capsys):
    model = tmp_path / "model.json"
    assert main(["solve", data, "--json", str(model), "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")
    assert Result.load(model).n == 5


def test_the_model_may_go_to_standard_output(data, capsys):
    assert main(["solve", data, "--json", "-"]) == 0
    out, err = capsys.readouterr()
    result = Result.from_json(out)
    assert err.startswith(f"{data}: csv, ")
    assert err.endswith(result.summary() + "\n")


def test_defaults(data, asked):
    assert main(["solve", data]) == 0
    assert (asked["C"], asked["method"], asked["time_limit"], asked["gap"]) == (1.0, "auto", 60.0, 1e-6)
    # -1 means all cores.
    assert (asked["threads"], asked["seed"], asked["options"], asked["class_weight"]) == (-1, 0, None, None)


def test_every_flag_reaches_the_search(data, asked, tmp_path):
    words = [
        "--C",
        "7",
        "--method",
        "heuristic",
        "--option",
        "effort=2",
        "--time-limit",
        "5",
        "--gap",
        "0.01",
    ]
    words += ["--threads", "2", "--seed", "3", "--checkpoint", str(tmp_path / "to"), "--resume", "from"]
    words += [
        "--cluster",
        "tcp://10.0.0.1:8786",
        "--class-weight",
        "yes=2",
        "--label",
        "2",
        "--format",
        "csv",
    ]
    assert main(["solve", data, *words]) == 0
    expected = {
        "C": 7.0,
        "method": "heuristic",
        "options": {"effort": 2},
        "time_limit": 5.0,
        "gap": 0.01,
        "threads": 2,
        "seed": 3,
        "checkpoint": str(tmp_path / "to"),
        "resume": "from",
        "cluster": "tcp://10.0.0.1:8786",
        "class_weight": {"yes": 2.0},
    }
    assert {name: asked[name] for name in expected} == expected
    assert asked["y"].tolist() == ["no", "no", "yes", "yes", "no"]


def test_a_model_to_begin_with_and_a_node_limit_reach_the_search(data, asked, tmp_path):
    model = tmp_path / "model.json"
    assert main(["solve", data, "--json", str(model)]) == 0
    assert main(["solve", data, "--start", str(model), "--node-limit", "9"]) == 0
    assert asked["start"] == Result.load(model)
    assert asked["node_limit"] == 9


@pytest.mark.parametrize(
    ("columns", "expected"),
    [("a,b,c,class", "has 3 features, but the data have 2"), ("a,c,class", "other names or in another order")],
)
def test_a_model_of_other_features_is_no_beginning(columns, expected, tmp_path, capsys):
    rows = {3: "0,0,{0},no\n1,1,{0},yes\n", 2: "0,{0},no\n1,{0},yes\n"}
    for name, header in (("old.csv", columns), ("new.csv", "a,b,class")):
        (tmp_path / name).write_text(header + "\n" + rows[header.count(",")].format(0))
    model = tmp_path / "model.json"
    assert main(["solve", str(tmp_path / "old.csv"), "--json", str(model), "--quiet"]) == 0
    assert main(["solve", str(tmp_path / "new.csv"), "--start", str(model)]) == 2
    assert expected in capsys.readouterr().err


def test_the_model_to_begin_with_is_not_overwritten(data, tmp_path, capsys):
    model = tmp_path / "model.json"
    assert main(["solve", data, "--json", str(model), "--quiet"]) == 0
    assert main(["solve", data, "--start", str(model), "--json", str(model)]) == 2
    assert "which this command reads" in capsys.readouterr().err


def test_a_model_to_start_from_is_read_while_ctrl_c_is_heard(generated, monkeypatch, capsys) -> None:
    def read(path: str) -> None:
        # As a user does if the file is a pipe that nobody writes to.
        os.kill(os.getpid(), signal.SIGINT)
        pytest.fail("Ctrl-C was not heard")

    monkeypatch.setattr("hardmargin.Result.load", read)
    assert main(["solve", generated("A", 30, 2), "--start", "model.json"]) == 130
    assert capsys.readouterr().err == "hardmargin: interrupted\n"


@pytest.mark.parametrize(("words", "expected"), [([], None), (["--stop", "stall"], "stall")])
def test_a_stop_rule_reaches_the_search(words, expected, data, asked):
    assert main(["solve", data, *words]) == 0
    assert asked["stop"] == expected


def test_a_penalty_by_scale(data, tmp_path, capsys):
    model = tmp_path / "model.json"
    assert main(["solve", data, "--C", "scale", "--json", str(model)]) == 0
    out = capsys.readouterr().out
    result = Result.load(model)
    assert "; C = scale, method auto\n" in out
    assert f"  C            {result.C:.9g} (scale)\n" in out
    variances = np.var([[0.0, 0.5], [1.0, 0.0], [3.0, 0.5], [4.0, 1.0], [9.0, 0.5]], axis=0)
    assert pytest.approx(10 / variances.sum()) == result.C


def test_a_constant_model_is_told_in_the_last_line(tmp_path, capsys):
    file = tmp_path / "data.csv"
    file.write_text("".join(f"{x},{x > 0.5:d}\n" for x in (0, 0.1, 0.2, 0.3, 0.7, 0.8, 0.9, 1)))
    assert main(["solve", str(file)]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("note: The model is the constant one, w = 0, which predicts ")
    assert "from C = 2.67 on, a hyperplane that gives up 1 of 8 samples costs less" in last
    assert main(["solve", str(file), "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")
    assert main(["solve", str(file), "--json", "-"]) == 0
    out, err = capsys.readouterr()
    assert not any(Result.from_json(out).coef)
    assert "note: The model is the constant one" in err


def test_ctrl_c_during_the_note_loses_only_the_note(data, tmp_path, monkeypatch, capsys):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("hardmargin.advice.constant_model_text", interrupted)
    model = tmp_path / "model.json"
    assert main(["solve", data, "--json", str(model)]) == 130
    assert Result.load(model).optimal
    assert "proven minimal" in capsys.readouterr().out


def test_options_before_the_data_do_not_swallow_it(data, asked):
    assert main(["solve", "--option", "effort=2", "--class-weight", "no=1", "yes=3", data]) == 0
    assert asked["options"] == {"effort": 2}
    assert asked["class_weight"] == {"no": 1.0, "yes": 3.0}


def test_class_weights_end_up_in_the_model(data, tmp_path):
    model = tmp_path / "model.json"
    assert main(["solve", data, "--class-weight", "balanced", "--json", str(model)]) == 0
    assert Result.load(model).weights == pytest.approx([5 / 6, 5 / 6, 5 / 4, 5 / 4, 5 / 6])


@pytest.mark.parametrize(
    ("words", "limits", "shown"),
    [
        (["--max-violations", "1"], 1.0, "; max_violations 1, method auto"),
        (
            ["--max-violations", "no=1", "yes=0"],
            {"no": 1.0, "yes": 0.0},
            "; max_violations no=1 yes=0, method auto",
        ),
        (["--max-violations", "no=1", "--C", "10"], {"no": 1.0}, "; C = 10, max_violations no=1, method auto"),
    ],
)
def test_limits_on_violations_end_up_in_the_model(data, tmp_path, capsys, words, limits, shown):
    model = tmp_path / "model.json"
    assert main(["solve", *words, data, "--json", str(model)]) == 0
    assert shown in capsys.readouterr().out
    assert Result.load(model).violations == [4]
    assert Result.load(model).max_violations == limits
    assert main(["verify", str(model), data]) == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--max-violations", "0"], "it is proven that every hyperplane gives up more"),
        (["--max-violations", "few"], "--max-violations is 'few'; expected a number or LABEL=NUMBER, e.g. 1=3."),
        (["--max-violations", "maybe=1"], "--max-violations names 'maybe', which no sample has"),
        (["--max-violations", "-1"], "max_violations is -1.0; expected a finite number >= 0"),
    ],
)
def test_impossible_limits_on_violations_are_told_in_one_line(data, tmp_path, capsys, words, message):
    model = tmp_path / "model.json"
    assert main(["solve", *words, data, "--json", str(model)]) == 2
    err = capsys.readouterr().err
    assert message in err
    assert err.count("\n") == 1
    assert not model.exists()


def test_another_label_column(tmp_path):
    file, model = tmp_path / "data.csv", tmp_path / "model.json"
    file.write_text("kind,length,age\nold,1.0,7\nnew,3.0,1\nold,1.5,9\nnew,4.0,2\n")
    assert main(["solve", str(file), "--label", "kind", "--json", str(model)]) == 0
    assert Result.load(model).classes == ["new", "old"]


@pytest.mark.parametrize(
    ("text", "names", "column"),
    [
        ("kind,length,age\nold,1.0,7\nnew,3.0,1\n", ["length", "age"], "column 'kind'"),
        ("-1 1:1.0 2:7\n1 1:3.0 2:1\n", None, "the first column"),
    ],
)
def test_names_of_features_are_kept_and_the_label_column_is_told(text, names, column, tmp_path, capsys):
    file, model = tmp_path / "data", tmp_path / "model.json"
    file.write_text(text)
    assert main(["solve", str(file), "--json", str(model), *(["--label", "kind"] if names else [])]) == 0
    assert Result.load(model).feature_names == names
    assert f"in {column}; C = 1, method auto\n" in capsys.readouterr().out


def test_a_column_of_many_values_is_named(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(hardmargin, "solve", refuse_to_search)
    file = tmp_path / "data.csv"
    file.write_text("kind,length,age\n1,1.0,7\n2,3.0,1\n1,1.5,9\n")
    assert main(["solve", str(file)]) == 2
    err = capsys.readouterr().err
    assert "column 'age' was taken for the labels and has 3 classes (1, 7, 9, ...)" in err
    assert "--label" in err


def test_negative_labels_may_have_weights(tmp_path, generated):
    model = tmp_path / "model.json"
    words = ["--class-weight", "-1=2", "1=3", "--json", str(model)]
    assert main(["solve", *words, generated("B", 20, 2)]) == 0
    assert set(Result.load(model).weights) == {2.0, 3.0}


def test_help_names_every_option(capsys):
    with pytest.raises(SystemExit, match="0"):
        main(["solve", "--help"])
    words = set(capsys.readouterr().out.replace(",", " ").replace(";", " ").split())
    for name in hardmargin.methods.names():
        assert {field.name for field in fields(hardmargin.methods.get_method(name).Options)} <= words


def refuse_to_search(*_, **__):
    raise AssertionError("the search must not start")


@pytest.mark.parametrize("flag", ["--json", "--checkpoint"])
@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("missing/model.json", "there is no folder"),
        (".", "a folder"),
        ("", "a folder"),
        ("data.csv", "which this command reads"),
        ("link.csv", "which this command reads"),
    ],
)
def test_a_target_that_cannot_be_written_is_refused_before_the_search(
    flag, target, expected, data, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(hardmargin, "solve", refuse_to_search)
    (tmp_path / "link.csv").symlink_to(data)
    before = (tmp_path / "data.csv").read_text()
    assert main(["solve", data, flag, target]) == 2
    err = capsys.readouterr().err
    assert err.startswith(f"hardmargin: error: {flag} is {target!r}")
    assert expected in err
    assert (tmp_path / "data.csv").read_text() == before


@pytest.mark.parametrize("protected", ["model.json", "."])
def test_a_protected_target_is_refused_before_the_search(protected, data, tmp_path, monkeypatch, capsys):
    model = tmp_path / "model.json"
    model.write_text("precious")
    monkeypatch.setattr(hardmargin, "solve", refuse_to_search)
    # Permissions do not apply to root, so the answer of the system is faked.
    monkeypatch.setattr(os, "access", lambda path, mode: str(path) != str(tmp_path / protected))
    assert main(["solve", data, "--json", str(model)]) == 2
    assert "permission denied" in capsys.readouterr().err
    assert model.read_text() == "precious"


def test_a_model_that_cannot_be_written_after_all_is_still_summed_up(data, tmp_path, monkeypatch, capsys):
    def full(*_):
        raise OSError(28, "No space left on device", "model.json")

    monkeypatch.setattr(Result, "save", full)
    assert main(["solve", data, "--json", str(tmp_path / "model.json")]) == 2
    out, err = capsys.readouterr()
    assert "objective" in out
    assert err == "hardmargin: error: model.json: No space left on device\n"


def full(*_):
    raise OSError(28, "No space left on device", "state")


@pytest.mark.parametrize("interrupted", [False, True])
def test_a_last_state_that_cannot_be_written_is_a_status_of_its_own(
    interrupted, data, tmp_path, monkeypatch, capsys
):
    search = hardmargin.solve

    def solve(*arguments, report, **settings):
        def interrupting(*bounds):
            nonlocal interrupted
            if interrupted:
                signal.raise_signal(signal.SIGINT)
                interrupted = False
            report(*bounds)

        return search(*arguments, report=interrupting, **settings)

    monkeypatch.setattr(hardmargin, "solve", solve)
    monkeypatch.setattr("hardmargin.checkpoint.keeper.write_checkpoint", full)
    model, state = tmp_path / "model.json", tmp_path / "state"
    assert main(["solve", data, "--json", str(model), "--checkpoint", str(state), "--quiet"]) == 74
    out, err = capsys.readouterr()
    assert out == ""
    assert err == (
        f"hardmargin: warning: checkpoint {state}: No space left on device; the search has ended, and its last "
        "state is NOT saved. The last checkpoint that could be written, if any, is kept.\n"
    )
    assert Result.load(model).n == 5
    assert not state.exists()


def test_a_state_that_cannot_be_written_on_the_way_is_one_warning(tmp_path, generated, monkeypatch, capsys):
    write, tries = keeper.write_checkpoint, []

    def full_for_a_while(*arguments):
        tries.append(arguments)
        if len(tries) < 5:
            full()
        write(*arguments)

    monkeypatch.setattr(keeper, "write_checkpoint", full_for_a_while)
    monkeypatch.setattr(keeper.Keeper, "seconds_until_due", lambda _: 0.0)
    state = tmp_path / "state"
    words = ["--method", "directions", "--checkpoint", str(state), "--option", "heuristic_effort=0.01", "--quiet"]
    assert main(["solve", generated("B", 40, 3), *words]) == 0
    assert len(tries) > 5
    err = capsys.readouterr().err
    assert err.startswith(f"hardmargin: warning: checkpoint {state}: No space left on device; the search goes on")
    assert err.count("\n") == 1
    assert state.exists()


@pytest.mark.skipif(not os.path.exists(os.devnull) or os.name == "nt", reason="needs a device")
def test_a_device_is_written_to_and_not_replaced(data):
    assert main(["solve", data, "--json", os.devnull, "--quiet"]) == 0
    assert not os.path.isfile(os.devnull)


@pytest.mark.parametrize(("required", "status"), [("0.1", 3), ("0.25", 0)])
def test_a_gap_larger_than_required_is_a_status_of_its_own(required, status, data, tmp_path, monkeypatch, capsys):
    search = hardmargin.solve
    monkeypatch.setattr(
        hardmargin, "solve", lambda *words, **settings: replace(search(*words, **settings), gap=0.25)
    )
    model = tmp_path / "model.json"
    assert main(["solve", data, "--require-gap", required, "--json", str(model), "--quiet"]) == status
    assert Result.load(model).gap == 0.25
    expected = "hardmargin: the gap is 0.25; --require-gap is 0.1\n" if status else ""
    assert capsys.readouterr().err == expected


@pytest.mark.parametrize("required", ["7", "nan", "-1", "1e-9"])
def test_a_required_gap_that_makes_no_sense(required, data, capsys):
    assert main(["solve", data, "--require-gap", required]) == 2
    assert "expected a number from --gap (1e-06), at which the search ends, to 1" in capsys.readouterr().err
