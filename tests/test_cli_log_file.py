"""``--log``: progress of runs without a terminal."""

from __future__ import annotations

import os
import re

import pytest

from hardmargin.cli import main
from hardmargin.run_log import LOGGER


@pytest.fixture
def data(tmp_path):
    file = tmp_path / "data.csv"
    file.write_text("0.0,0.5,no\n1.0,0.0,no\n3.0,0.5,yes\n4.0,1.0,yes\n9.0,0.5,no\n")
    return str(file)


LINE = re.compile(
    r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} time=\S+ upper=\S+ lower=\S+ gap=\S+ nodes=\d+( status=\w+)?"
)


def test_runs_are_appended_to_a_file(data, tmp_path, capsys):
    log = tmp_path / "run.log"
    for _ in range(2):
        assert main(["solve", data, "--C", "10", "--log", str(log), "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")
    lines = log.read_text().splitlines()
    ends = [line for line in lines if line.endswith("status=optimal")]
    begins = [line for line in lines if "5 samples x 2 features" in line]
    assert len(ends) == len(begins) == 2
    assert all(LINE.fullmatch(line) for line in lines if line not in begins)
    assert (lines[0], lines[-1]) == (begins[0], ends[-1])
    assert LOGGER.handlers == []


def test_standard_error_may_be_the_log(data, capsys):
    assert main(["solve", data, "--log", "-", "--quiet"]) == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert LINE.fullmatch(err.splitlines()[-1])


def test_bad_input_leaves_no_log(data, tmp_path, capsys):
    log = tmp_path / "run.log"
    assert main(["solve", data, "--C", "0", "--log", str(log)]) == 2
    assert not log.exists()
    assert main(["solve", data, "--log", data]) == 2
    assert main(["solve", data, "--log", str(log), "--json", str(log)]) == 2
    assert "--json and --log are both" in capsys.readouterr().err
    assert not log.exists()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_is_one_warning_and_the_search_goes_on(data, tmp_path, capsys):
    model = tmp_path / "model.json"
    assert main(["solve", data, "--log", "/dev/full", "--json", str(model), "--quiet"]) == 0
    assert capsys.readouterr().err == (
        "hardmargin: warning: --log /dev/full: No space left on device; lines are missing there.\n"
    )
    assert model.exists()
