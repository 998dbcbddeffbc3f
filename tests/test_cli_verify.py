"""``hardmargin verify``: claims that hold, claims that do not, and files that are not models."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from hardmargin.cli import main

NOTE = "  note                   these are not the data that the model was trained on"


@pytest.fixture
def data(generated):
    return generated("B", 30, 2)


@pytest.fixture
def model(data, tmp_path):
    file = tmp_path / "model.json"
    assert main(["solve", data, "--C", "10", "--json", str(file), "--quiet"]) == 0
    return file


def test_an_honest_model_holds(model, data, capsys):
    assert main(["verify", str(model), data]) == 0
    out, err = capsys.readouterr()
    assert out.endswith("all claims that can be recomputed hold\n")
    assert "lower bound            not above the objective; not proven again: " in out
    assert "DOES NOT" not in out
    assert err == ""


@pytest.mark.parametrize(
    ("claim", "lie"),
    [
        ("objective", lambda value: value * 0.9),
        ("lower_bound", lambda value: value + 1e6),
        ("gap", lambda value: value / 2 + 1e-3),
        ("violations", lambda value: value[1:]),
        ("n_violations", lambda value: value + 1),
        ("intercept", lambda value: value + 5.0),
        ("coef", lambda value: [0.5 * number for number in value]),
        ("runtime", lambda value: -value),
        ("trace", lambda value: [[*value[0][:2], 1e9], *value[1:]]),
        ("target_gap", lambda _: 5.0),
        ("method", lambda _: "magic"),
    ],
)
def test_a_lie_is_found_out(claim, lie, model, data, capsys):
    values = json.loads(model.read_text())
    values[claim] = lie(values[claim])
    model.write_text(json.dumps(values))
    assert main(["verify", str(model), data]) == 1
    out, err = capsys.readouterr()
    assert "DOES NOT HOLD" in out
    assert err == ""


@pytest.mark.parametrize("target", [None, "missing", 1.0, 5.0])
def test_optimal_without_a_proof_is_found_out(target, model, data, capsys):
    values = json.loads(model.read_text())
    values |= {"status": "optimal", "lower_bound": 0.0, "gap": 1.0, "target_gap": target}
    # A matching trace.
    values["trace"] = [[values["runtime"], values["objective"], 0.0]]
    if target == "missing":
        del values["target_gap"]
    model.write_text(json.dumps(values))
    assert main(["verify", str(model), data]) == 1
    assert "  status                 DOES NOT HOLD: claimed optimal (gap asked for: " in capsys.readouterr().out


def test_what_is_not_checked_is_named(model, data, capsys):
    assert main(["verify", str(model), data]) == 0
    told = "lower_bound (needs a proof), method, nodes, presolve, runtime, version, seed"
    assert f"  taken as given         C, target_gap\n  not checked            {told}\n" in capsys.readouterr().out


def test_other_data_are_bad_input(model, generated, capsys):
    assert main(["verify", str(model), generated("B", 40, 2)]) == 2
    assert "expected the training data" in capsys.readouterr().err


def test_columns_are_known_by_their_names(tmp_path, capsys):
    file, model = tmp_path / "data.csv", tmp_path / "model.json"
    file.write_text("length,age,class\n0.0,5,no\n1.0,3,no\n3.0,5,yes\n4.0,3,yes\n")
    assert main(["solve", str(file), "--json", str(model), "--quiet"]) == 0
    file.write_text("class,age,length\nno,5,0.0\nno,3,1.0\nyes,5,3.0\nyes,3,4.0\n")
    assert main(["verify", str(model), str(file)]) == 0
    file.write_text("class,age,width\nno,5,0.0\nno,3,1.0\nyes,5,3.0\nyes,3,4.0\n")
    assert main(["verify", str(model), str(file)]) == 2
    assert "column 'length' missing; expected every feature of the model" in capsys.readouterr().err
    file.write_text("age,length\n5,0.0\n3,1.0\n5,3.0\n3,4.0\n")
    assert main(["verify", str(model), str(file)]) == 2
    assert "no labels; expected column 'class', which held the labels in training" in capsys.readouterr().err


def test_other_data_of_the_same_size_are_noted(tmp_path, capsys):
    file, model = tmp_path / "data.csv", tmp_path / "model.json"
    file.write_text("length,class\n0.0,no\n1.0,no\n3.0,yes\n4.0,yes\n")
    assert main(["solve", str(file), "--C", "10", "--json", str(model), "--quiet"]) == 0
    assert main(["verify", str(model), str(file)]) == 0
    assert "note" not in capsys.readouterr().out
    # Another value far from the hyperplane changes no claim.
    file.write_text("length,class\n-7.0,no\n1.0,no\n3.0,yes\n4.0,yes\n")
    assert main(["verify", str(model), str(file)]) == 0
    assert NOTE in capsys.readouterr().out
    file.write_text("length,class\n3.5,no\n1.0,no\n3.0,yes\n4.0,yes\n")
    assert main(["verify", str(model), str(file)]) == 1
    assert NOTE in capsys.readouterr().out


def test_a_model_of_a_later_format_is_refused(model, data, capsys):
    values = json.loads(model.read_text()) | {"schema_version": 2, "version": "9.1.0"}
    model.write_text(json.dumps(values))
    assert main(["verify", str(model), data]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "schema version 2 and was written by hardmargin 9.1.0" in err
    assert "Use hardmargin 9.1.0, or one after it." in err


@pytest.mark.parametrize("content", ["", "[]", "{}", "{", '{"coef": 3}'])
def test_what_is_not_a_model_is_bad_input(content, model, data, capsys):
    model.write_text(content)
    assert main(["verify", str(model), data]) == 2
    assert "not a hardmargin model" in capsys.readouterr().err


def test_a_proof_is_written_checked_and_refused(capsys, tmp_path) -> None:
    data, model, proof = tmp_path / "data.txt", tmp_path / "model.json", tmp_path / "model.proof"
    assert main(["generate", "--type", "B", "--n", "30", "--d", "2", "--output", str(data)]) == 0
    solve = ["solve", str(data), "--C", "10", "--json", str(model), "--proof", str(proof), "--quiet"]
    assert main(solve) == 0
    verify = ["verify", str(model), str(data), "--proof", str(proof)]
    assert main([*verify, "--threads", "1"]) == 0
    assert "proof holds: no hyperplane has an objective below" in capsys.readouterr().out
    values = json.loads(model.read_text())
    model.write_text(json.dumps(values | {"C": 11.0}))
    assert main(verify) == 1
    assert "the costs are not those of the proof" in capsys.readouterr().out
    proof.write_bytes(proof.read_bytes()[:-9])
    model.write_text(json.dumps(values))
    assert main(verify) == 2
    assert "not a proof: it ends too early" in capsys.readouterr().err
    proof.unlink()
    assert main(verify) == 2


def test_what_is_no_proof_of_these_data_is_told_in_one_line(capsys, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    for seed in ("1", "2"):
        sizes = ["--n", "20", "--d", "2", "--seed", seed]
        assert main(["generate", "--type", "B", *sizes, "--output", f"data{seed}.txt"]) == 0
        outputs = ["--json", f"model{seed}.json", "--proof", f"proof{seed}"]
        assert main(["solve", f"data{seed}.txt", *outputs, "--quiet"]) == 0
    whole = Path("proof1").read_bytes()
    Path("folder").mkdir()
    files = {
        "folder": None,
        "missing": None,
        "empty": b"",
        "garbage": random.Random(1).randbytes(5000),
        "other version": whole.replace(b"proof 2", b"proof 3", 1),
        "odd header": whole.replace(b'"n": 20', b'"n": "\\ud800"', 1),
        "damaged": whole[:-40] + bytes([whole[-40] ^ 1]) + whole[-39:],
        "longer": whole + b"x",
        **{f"cut off at {end}": whole[:end] for end in range(0, len(whole), 97)},
    }
    for name, content in files.items():
        if content is not None:
            Path(name).write_bytes(content)
        capsys.readouterr()
        assert main(["verify", "model1.json", "data1.txt", "--proof", name]) == 2, name
        captured = capsys.readouterr()
        assert captured.out == ""
        assert captured.err.startswith(f"hardmargin: error: {name}: ")
        assert captured.err.count("\n") == 1
    assert main(["verify", "model1.json", "data1.txt", "--proof", "proof2"]) == 1
    assert "DOES NOT HOLD: claimed proof2, found the samples are not those of the proof" in capsys.readouterr().out


@pytest.mark.parametrize("target", ["-", "model.json", "data.txt"])
def test_a_proof_replaces_nothing_else(target, capsys, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["generate", "--type", "B", "--n", "30", "--d", "2", "--output", "data.txt"]) == 0
    assert main(["solve", "data.txt", "--json", "model.json", "--proof", target]) == 2
    assert "--proof" in capsys.readouterr().err
