"""The command line as a whole: exit statuses, one-line errors, streams that are closed."""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import hardmargin
from hardmargin.cli import main
from hardmargin.versions import installed_versions

# No process of a test takes a second on an idle machine; one that takes this many hangs.
PATIENCE = 900

SEPARABLE = "0.0,0.5,no\n1.0,0.0,no\n3.0,0.5,yes\n4.0,1.0,yes\n"


@pytest.fixture
def data(tmp_path):
    file = tmp_path / "data.csv"
    file.write_text(SEPARABLE)
    return str(file)


def one_line(text):
    """The only line of a text."""
    assert text.endswith("\n")
    assert text.count("\n") == 1
    return text


def run_process(*arguments, **settings):
    return subprocess.run(
        [sys.executable, "-m", "hardmargin", *arguments], text=True, timeout=PATIENCE, check=False, **settings
    )


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], "required: COMMAND"),
        (["polish"], "invalid choice: 'polish'"),
        (["solve"], "required: DATA"),
        (["solve", "DATA", "--colour"], "unrecognized arguments: --colour"),
        (["solve", "DATA", "--tim", "3"], "unrecognized arguments: --tim 3; did you mean --time-limit?"),
        (
            ["bench", "run", "--out", "c", "--method", "auto"],
            "did you mean --methods? See 'hardmargin bench run --help'",
        ),
        (["bench", "run", "--out", "c", "--colour"], "--colour; see 'hardmargin bench run --help'"),
        (["bench", "run"], "see 'hardmargin bench run --help'"),
        (["bench", "polish"], "see 'hardmargin bench --help'"),
        (["solve", "DATA", "--C", "much"], "invalid float value: 'much'"),
        (["solve", "DATA", "--C", "0"], "C is 0.0; expected a positive"),
        (["solve", "DATA", "--C", "-3"], "C is -3.0; expected a positive"),
        (["solve", "DATA", "--method", "magic"], "invalid choice: 'magic'"),
        (
            ["solve", "DATA", "--time-limit", "0"],
            "0 given; expected a positive number of seconds, or inf",
        ),
        (["solve", "DATA", "--gap", "2"], "gap is 2.0; expected"),
        (["solve", "DATA", "--threads", "0"], "threads is 0; expected"),
        (["solve", "DATA", "--seed", "-1"], "seed is -1; expected"),
        (["solve", "DATA", "--option", "effort"], "'effort' is not of the form KEY=VALUE"),
        (["solve", "DATA", "--option", "colour=red"], "no option 'colour'"),
        (["solve", "DATA", "--format", "xml"], "format is 'xml'; expected one of brooks"),
        (["solve", "DATA", "--label", "7"], "there is no column 7"),
        (["solve", "DATA", "--method", "heuristic", "--checkpoint", "state"], "does not support checkpoint"),
        (["solve", "DATA", "--method", "heuristic", "--resume", "state"], "does not support resume"),
        (["solve", "DATA", "--method", "heuristic", "--cluster", "local"], "does not support cluster"),
        (["solve", "DATA", "--class-weight", "maybe=2"], "expected one of the labels ['no', 'yes']"),
        (["solve", "DATA", "--class-weight", "yes=much"], "expected 'balanced' or LABEL=WEIGHT"),
        (["solve", "missing.txt"], "missing.txt: No such file or directory"),
        (["generate", "--type", "C", "--n", "20", "--d", "2"], "invalid choice: 'C'"),
        (["generate", "--type", "A", "--n", "0", "--d", "2"], "n is 0; expected"),
        (["generate", "--type", "A", "--n", "20", "--d", "2", "--format", "xml"], "format is 'xml'"),
        (["predict", "missing.json", "DATA"], "missing.json: No such file or directory"),
        (["verify", "DATA", "DATA"], "data.csv: not a hardmargin model"),
        (["predict", "DATA", "DATA"], "data.csv: not a hardmargin model"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(arguments, expected, data, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    given_files = set(tmp_path.iterdir())
    words = [data if word == "DATA" else word for word in arguments]
    if words[:1] == ["solve"]:
        words += ["--json", "model.json"]
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert one_line(err).startswith("hardmargin: error: ")
    assert expected in err
    assert set(tmp_path.iterdir()) == given_files


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", "no content"),
        ("0.0,no\n1.0,no\n", "1 class ('no')"),
        ("0.0,a\n1.0,b\n2.0,c\n", "3 classes"),
        ("0.0,no\nnan,yes\n", "expected a number"),
        ("0.0,no\n1.0,2.0,yes\n", "expected 2"),
    ],
)
def test_unusable_data_is_one_line_and_exit_2(content, expected, tmp_path, capsys):
    file, model = tmp_path / "data.csv", tmp_path / "model.json"
    file.write_text(content)
    assert main(["solve", str(file), "--json", str(model)]) == 2
    assert expected in one_line(capsys.readouterr().err)
    assert not model.exists()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.one_of(st.binary(max_size=80), st.text("01.,;: -e\n#x", max_size=80).map(str.encode)))
def test_no_file_brings_it_down(content, tmp_path, capsys):
    file, model = tmp_path / "data", tmp_path / "model.json"
    file.write_bytes(content)
    model.unlink(missing_ok=True)
    status = main(["solve", str(file), "--json", str(model), "--quiet"])
    err = capsys.readouterr().err
    assert (status, model.exists(), err.count("\n")) in [(0, True, 0), (2, False, 1)]


def test_an_error_of_our_own_is_told_apart(data, capsys, monkeypatch):
    monkeypatch.setattr(hardmargin, "solve", lambda *_, **__: 1 / 0)
    assert main(["solve", data]) == 70
    err = one_line(capsys.readouterr().err)
    assert "internal error: ZeroDivisionError" in err
    assert "please report" in err


def test_debugging_shows_the_traceback(data, capsys, monkeypatch):
    monkeypatch.setenv("HARDMARGIN_DEBUG", "1")
    monkeypatch.setattr(hardmargin, "solve", lambda *_, **__: 1 / 0)
    assert main(["solve", data]) == 70
    assert "Traceback" in capsys.readouterr().err


def test_too_little_memory_is_one_line(data, capsys, monkeypatch):
    def exhausted(*_, **__):
        raise MemoryError

    monkeypatch.setattr(hardmargin, "solve", exhausted)
    assert main(["solve", data]) == 2
    assert "out of memory" in one_line(capsys.readouterr().err)


def test_a_message_of_several_lines_becomes_one(data, capsys, monkeypatch):
    def refused(*_, **__):
        raise ValueError("this\n  and that")

    monkeypatch.setattr(hardmargin, "solve", refused)
    assert main(["solve", data]) == 2
    assert "this and that" in one_line(capsys.readouterr().err)


def test_version(capsys):
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    assert capsys.readouterr().out == f"hardmargin {hardmargin.__version__}\n"


@pytest.mark.parametrize("command", ["solve", "predict", "verify", "generate", "show-versions"])
def test_every_command_explains_itself(command, capsys):
    with pytest.raises(SystemExit, match="0"):
        main([command, "--help"])
    assert f"usage: hardmargin {command}" in capsys.readouterr().out


def test_show_versions(capsys):
    assert main(["show-versions"]) == 0
    out = capsys.readouterr().out
    assert f"hardmargin   {hardmargin.__version__}" in out
    assert all(f"{name} " in out for name in ("python", "platform", "numpy", "PySCIPOpt"))


def test_versions_of_what_is_not_installed_are_left_out(capsys, monkeypatch):
    def version(name):
        if name == "cplex":
            raise importlib.metadata.PackageNotFoundError
        return "1.2.3"

    monkeypatch.setattr(importlib.metadata, "version", version)
    installed_versions.cache_clear()
    assert main(["show-versions"]) == 0
    installed_versions.cache_clear()
    out = capsys.readouterr().out
    assert "pyarrow      1.2.3" in out
    assert "cplex" not in out


def test_as_a_process_bad_input_exits_2_without_traceback(tmp_path):
    done = run_process("solve", str(tmp_path / "missing.txt"), capture_output=True)
    assert done.returncode == 2
    assert done.stdout == ""
    assert one_line(done.stderr) == f"hardmargin: error: {tmp_path / 'missing.txt'}: No such file or directory\n"


@pytest.mark.skipif(os.name == "nt", reason="pipes break differently on Windows")
def test_a_reader_that_goes_away_is_no_error():
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = run_process(
            "generate", "--type", "A", "--n", "50", "--d", "2", stdout=writing, stderr=subprocess.PIPE
        )
    finally:
        os.close(writing)
    assert done.returncode == 141
    assert done.stderr == ""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_is_one_line():
    with open("/dev/full", "w") as full:
        done = run_process("generate", "--type", "A", "--n", "50", "--d", "2", stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 2
    assert "No space left on device" in one_line(done.stderr)
