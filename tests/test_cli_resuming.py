"""``--resume auto``: a script that may be stopped and started at any time needs no other option."""

from __future__ import annotations

import pytest

from hardmargin.cli import main


@pytest.fixture
def data(generated):
    return generated("B", 30, 2)


@pytest.fixture
def solve(data, tmp_path, capsys):
    """Solve with --resume auto; return the exit status, standard output and standard error."""

    def run(*words):
        status = main(["solve", data, "--checkpoint", str(tmp_path / "state"), "--resume", "auto", *words])
        return (status, *capsys.readouterr())

    return run


def test_it_begins_and_then_continues(solve, tmp_path):
    status, out, err = solve("--C", "10")
    assert (status, err) == (0, "")
    assert "resumed" not in out
    status, out, err = solve("--C", "10")
    assert (status, err) == (0, "")
    assert f"resumed from {tmp_path / 'state'}: " in out


@pytest.mark.parametrize("words", [("--C", "7"), ("--C", "10", "--method", "packing")])
def test_a_state_of_another_problem_is_set_aside(words, solve, tmp_path):
    state = tmp_path / "state"
    solve("--C", "10")
    before = state.read_bytes()
    status, out, err = solve(*words)
    assert status == 0
    assert err.startswith(f"hardmargin: warning: checkpoint {state} belongs to ")
    assert err.endswith(f"; it is kept as {state}.1, and a new one begins.\n")
    assert "resumed" not in out
    assert (tmp_path / "state.1").read_bytes() == before
    assert "resumed" in solve(*words)[1]
    solve("--C", "3")
    assert (tmp_path / "state.2").exists()


def test_what_is_no_state_is_refused_and_kept(solve, tmp_path):
    (tmp_path / "state").write_text("precious")
    status, out, err = solve("--C", "10")
    assert (status, out) == (2, "")
    assert "is not a checkpoint" in err
    assert (tmp_path / "state").read_text() == "precious"


def test_bad_settings_set_nothing_aside(solve, tmp_path):
    solve("--C", "10")
    assert solve("--C", "7", "--gap", "2")[0] == 2
    assert not (tmp_path / "state.1").exists()


def test_a_state_counts_more_than_a_model_to_start_from(solve, data, tmp_path):
    model = tmp_path / "model.json"
    assert main(["solve", data, "--C", "10", "--json", str(model), "--quiet"]) == 0
    assert solve("--C", "10", "--start", str(model))[0] == 0
    status, out, _ = solve("--C", "10", "--start", str(model))
    assert status == 0
    assert "resumed" in out


def test_it_needs_a_checkpoint(data, capsys):
    assert main(["solve", data, "--resume", "auto"]) == 2
    assert "--resume auto needs --checkpoint FILE" in capsys.readouterr().err
