"""Only one run at a time writes a checkpoint, and a killed run does not block others."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from hardmargin import solve
from hardmargin.atomic import beside, replace_file
from hardmargin.checkpoint import CheckpointWarning
from hardmargin.checkpoint.lock import held_lock
from hardmargin.cli import main

fcntl = pytest.importorskip("fcntl")

# No process of a test takes a second on an idle machine; one that takes this many hangs.
PATIENCE = 900

X, y = np.array([[0.0], [1.0], [3.0], [4.0], [9.0]]), np.array([0, 0, 1, 1, 0])


def during_a_run(path, action):
    """Do something once while a search holds a checkpoint, and return the result."""
    found = []

    def report(time, upper, lower, nodes) -> None:
        if not found:
            found.append(action())

    solve(X, y, 10.0, checkpoint=path, report=report)
    return found[0]


@pytest.mark.parametrize("name", ["state", "link"])
def test_a_second_run_is_refused_before_it_starts(name, tmp_path) -> None:
    path = tmp_path / "state"
    (tmp_path / "link").symlink_to(path)

    def second() -> None:
        with pytest.raises(ValueError, match=r"is in use by another run; wait until that has ended"):
            solve(X, y, 10.0, checkpoint=tmp_path / name)

    during_a_run(path, second)
    assert sorted(os.listdir(tmp_path)) == ["link", "state"]
    assert solve(X, y, 10.0, checkpoint=path, resume=path).optimal


def test_another_process_is_refused_in_one_line(tmp_path) -> None:
    table, path = tmp_path / "data.csv", tmp_path / "state"
    np.savetxt(table, np.column_stack([X, y]), delimiter=",")
    words = ["solve", str(table), "--checkpoint", str(path), "--json", str(tmp_path / "model.json")]
    command = [sys.executable, "-m", "hardmargin", *words]
    done = during_a_run(
        path, lambda: subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == (
        f"hardmargin: error: checkpoint {path} is in use by another run; wait until that has ended, or name "
        "another checkpoint.\n"
    )
    assert sorted(os.listdir(tmp_path)) == ["data.csv", "state"]


def test_reading_a_state_that_another_run_goes_on_with_is_no_conflict(tmp_path) -> None:
    path, other = tmp_path / "state", tmp_path / "other"
    solve(X, y, 10.0, checkpoint=path)

    def second() -> bool:
        return solve(X, y, 10.0, resume=path, checkpoint=other).optimal

    with held_lock(path):
        assert second()


KILLED = """
import os, signal, sys
import numpy as np
from hardmargin import solve
os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
solve(np.array([[0.0], [1.0]]), [0, 1], checkpoint=sys.argv[1])
"""


def test_what_a_killed_run_leaves_is_in_nobodys_way_and_removed(tmp_path) -> None:
    path, other = tmp_path / "state", beside(tmp_path / "other", "1234.partial")
    other.touch()
    done = subprocess.run([sys.executable, "-c", KILLED, str(path)], timeout=PATIENCE, check=False)
    assert done.returncode == -signal.SIGKILL
    left = set(os.listdir(tmp_path)) - {other.name}
    assert beside(path, "lock").name in left
    assert sum(name.endswith(".partial") for name in left) == 1
    assert not path.exists()
    solve(X, y, 10.0, checkpoint=path)
    # Files that may belong to another file are left alone.
    assert sorted(os.listdir(tmp_path)) == sorted([other.name, "state"])


def test_a_lock_that_loses_its_name_while_it_is_taken_is_taken_anew(tmp_path, monkeypatch) -> None:
    """The run that held it has ended in between, and a third run may have created the file again."""
    path, flock, tries = tmp_path / "state", fcntl.flock, []

    def late(descriptor, operation) -> None:
        if not tries:
            beside(path, "lock").unlink()
        tries.append(operation)
        flock(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", late)
    with held_lock(path):
        monkeypatch.undo()
        assert len(tries) == 2
        with pytest.raises(ValueError, match="in use by another run"), held_lock(path):
            pass
    with held_lock(path):
        pass
    assert os.listdir(tmp_path) == []


def test_without_locks_a_warning_says_so_and_the_search_goes_on(tmp_path, monkeypatch) -> None:
    def unsupported(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    path = tmp_path / "state"
    monkeypatch.setattr(fcntl, "flock", unsupported)
    expected = r"no locks in this folder \(No locks available\); nothing keeps"
    with pytest.warns(CheckpointWarning, match=expected) as warned:
        assert solve(X, y, 10.0, checkpoint=path).optimal
    assert warned[0].filename == __file__
    assert os.listdir(tmp_path) == ["state"]


def test_what_is_refused_leaves_nothing_behind(tmp_path, capsys) -> None:
    table, path = tmp_path / "data.csv", tmp_path / "state"
    np.savetxt(table, np.column_stack([X, y]), delimiter=",")
    assert main(["solve", str(table), "--checkpoint", str(path), "--gap", "7"]) == 2
    assert "gap is 7" in capsys.readouterr().err
    assert os.listdir(tmp_path) == ["data.csv"]


def test_names_of_the_greatest_length_have_locks_too(tmp_path) -> None:
    path = tmp_path / ("x" * 255)
    with held_lock(path):
        replace_file(path, b"content")
    assert os.listdir(tmp_path) == [path.name]
