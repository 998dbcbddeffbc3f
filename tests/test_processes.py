"""Child processes: started with a request, watched, and ended from outside or when nobody waits."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hardmargin.processes import WatchedProcess, descendants
from waiting import NEVER, until

needs_proc = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")

# It reports when it listens, and ends when its input does.
LISTENING = """
import os, sys, time
from hardmargin.processes import take_output, when_input_ends
answers = take_output()
sys.stdin.buffer.readline()
when_input_ends(lambda: os._exit(7))
answers.write(b"listening\\n")
answers.flush()
time.sleep(3600)
"""
DEAF = "import time; print('started', flush=True); time.sleep(3600)"


@pytest.fixture
def start():
    """Starts a program, which is ended in any case."""
    started = []

    def process(program: str, request: bytes = b"\n", **settings) -> WatchedProcess:
        settings = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, **settings}
        started.append(WatchedProcess(["-c", program], request, **settings))
        return started[-1]

    yield process
    for process in started:
        process.kill()
        if process._process.stdout is not None:
            process.stdout.close()


def gone(pid: int) -> bool:
    """Whether a process has ended, even if its parent has not collected it yet."""
    status = Path(f"/proc/{pid}/status")
    try:
        return "zombie" in status.read_text()
    except (FileNotFoundError, ProcessLookupError):
        return True


def test_a_request_is_answered(start) -> None:
    process = start("import sys; print(sys.stdin.readline().upper(), end='')", b"hello\n")
    assert process.stdout.read() == b"HELLO\n"
    assert process.ended(within=NEVER)
    assert process.status == 0


def test_further_requests_are_answered_until_nobody_waits(start) -> None:
    program = """
import os
from hardmargin.processes import requests_of_parent, take_output
answers = take_output()
requests = requests_of_parent(lambda: os._exit(7))
while True:
    answers.write(requests.get().upper())
    answers.flush()
"""
    process = start(program, b"one\n")
    assert process.stdout.readline() == b"ONE\n"
    process.send(b"two\n")
    assert process.stdout.readline() == b"TWO\n"
    process.end_input()
    assert process.ended(within=NEVER)
    assert process.status == 7


def test_it_is_known_how_it_ended(start) -> None:
    failed, crashed = start("raise SystemExit(3)"), start("import os; os.abort()")
    assert failed.ended(within=NEVER)
    assert crashed.ended(within=NEVER)
    assert (failed.status, crashed.status) == (3, -signal.SIGABRT)


def test_files_take_what_it_says(start, tmp_path) -> None:
    with (tmp_path / "out").open("w+b") as out, (tmp_path / "err").open("w+b") as err:
        process = start("import sys; print(1); print(2, file=sys.stderr)", stdout=out, stderr=err)
        assert process.ended(within=NEVER)
    assert [(tmp_path / name).read_bytes() for name in ("out", "err")] == [b"1\n", b"2\n"]


def test_it_has_our_environment_and_our_modules(start, monkeypatch, tmp_path) -> None:
    (tmp_path / "only_here.py").write_text("VALUE = 17\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("HARDMARGIN_TEST_OURS", "kept")
    program = """
import json, only_here, os
print(json.dumps([only_here.VALUE, os.environ["HARDMARGIN_TEST_OURS"], os.environ["HARDMARGIN_TEST_MORE"]]))
"""
    process = start(program, variables={"HARDMARGIN_TEST_MORE": "added"})
    assert json.loads(process.stdout.read()) == [17, "kept", "added"]


@pytest.mark.skipif(sys.version_info < (3, 11), reason="earlier versions always look in the current folder")
def test_modules_of_the_current_folder_do_not_get_in_between(start, monkeypatch, tmp_path) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('the wrong one')\n")
    monkeypatch.chdir(tmp_path)
    process = start("import json")
    assert process.ended(within=NEVER)
    assert process.status == 0


def test_ctrl_c_is_for_the_parent_alone(start) -> None:
    process = start("import os; print(os.getsid(0), os.getpgid(0))")
    assert process.stdout.read().split() == 2 * [str(process.pid).encode()]


def test_one_that_runs_has_not_ended(start) -> None:
    process = start(DEAF)
    assert process.stdout.readline() == b"started\n"
    assert not process.ended()
    assert process.status is None


def test_one_that_does_not_listen_is_killed(start) -> None:
    process = start(DEAF)
    assert process.stdout.readline() == b"started\n"
    process.end_input()
    assert not process.ended()
    process.kill()
    assert process.ended()
    assert process.status == -signal.SIGKILL


def test_killing_twice_or_too_late_changes_nothing(start) -> None:
    process = start("raise SystemExit(3)")
    assert process.ended(within=NEVER)
    process.kill()
    process.kill()
    assert process.status == 3


@needs_proc
def test_what_it_has_started_is_killed_with_it(start) -> None:
    """Even in a session of its own."""
    program = f"""
import subprocess, sys
nothing = subprocess.DEVNULL
other = subprocess.Popen([sys.executable, "-c", {DEAF!r}], stdin=nothing, stdout=nothing, start_new_session=True)
print(other.pid, flush=True)
other.wait()
"""
    process = start(program)
    other = int(process.stdout.readline())
    assert descendants(process.pid) == [other]
    process.kill()
    until(lambda: gone(other))


def test_the_end_of_its_input_ends_one_that_listens(start) -> None:
    process = start(LISTENING)
    assert process.stdout.readline() == b"listening\n"
    process.end_input()
    assert process.ended(within=NEVER)
    assert process.status == 7


@needs_proc
def test_it_does_not_survive_its_parent() -> None:
    program = f"""
import os, signal, subprocess
from hardmargin.processes import WatchedProcess
process = WatchedProcess(["-c", {LISTENING!r}], b"\\n", stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
assert process.stdout.readline() == b"listening\\n"
print(process.pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=NEVER, check=False)
    assert done.returncode == -signal.SIGKILL
    until(lambda: gone(int(done.stdout)))


@pytest.mark.parametrize("program", [DEAF, "raise SystemExit(3)"])
def test_a_request_that_nobody_reads_holds_nobody_up(start, program) -> None:
    """Larger than a pipe can hold."""
    process = start(program, bytes(10**7))
    process.kill()
    assert process.ended()


def test_answers_are_apart_from_what_is_printed(start) -> None:
    program = """
import os
from hardmargin.processes import take_output
answers = take_output()
print("a solver that talks", flush=True)
os.system("echo and one that does not ask Python")
answers.write(b"answer")
answers.flush()
"""
    assert start(program).stdout.read() == b"answer"


def test_a_deadline_is_told_and_may_be_moved(start) -> None:
    process = start(DEAF)
    assert process.deadline == math.inf
    assert not process.overdue
    process.deadline = time.monotonic() - 1.0
    assert process.overdue
    assert not process.ended()
    process.deadline = time.monotonic() + NEVER
    assert not process.overdue


@needs_proc
def test_descendants_of_descendants_count(start) -> None:
    program = f"""
import subprocess, sys
inner = "import subprocess, sys; subprocess.run([sys.executable, '-c', " + repr({DEAF!r}) + "])"
subprocess.run([sys.executable, "-c", inner])
"""
    process = start(program)
    assert process.stdout.readline() == b"started\n"
    assert len(descendants(process.pid)) == 2
    assert descendants(os.getpid()) != []
