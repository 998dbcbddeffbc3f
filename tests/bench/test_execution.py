"""One process per run: its limits are kept whatever it does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hardmargin.bench.instances.catalogue import Instance
from hardmargin.bench.running import child, execution, local, memory, worker
from hardmargin.bench.running.execution import RunProcess, task_of
from hardmargin.bench.running.plan import Job, RunLimits
from hardmargin.cores import available_cores
from hardmargin.data import generate
from waiting import NEVER, until

needs_proc = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")


def task(n=40, method="auto", options=None, **limits):
    job = Job(Instance(f"gen{n}d2A0", n, 2), 10.0, method, "default", options or {}, 0, RunLimits(**limits))
    return task_of(job, generate("A", n, 2))


def outcome_of(request, cores=None):
    process = RunProcess(request, cores)
    try:
        while (outcome := process.poll()) is None:
            time.sleep(0.02)
    finally:
        process.kill()
    return outcome


def child_that(monkeypatch, program):
    monkeypatch.setattr(worker, "CHILD", ["-c", program])


def test_a_run_comes_back_with_its_result():
    outcome = outcome_of(task(time_limit=NEVER), available_cores()[:1])
    assert outcome.status is None
    assert outcome.result["status"] == "optimal"
    assert outcome.wall >= outcome.result["runtime"]


@needs_proc
def test_what_it_uses_is_known():
    assert 10**7 < outcome_of(task(time_limit=NEVER)).peak_memory < 10**10


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="needs affinities")
def test_it_is_pinned_to_its_cores(monkeypatch):
    program = """
import json, os, sys
from hardmargin.bench.running import child
child._solved = lambda *_: sorted(os.sched_getaffinity(0))
child.main()
"""
    child_that(monkeypatch, program)
    core = available_cores()[-1]
    assert outcome_of(task(), [core]).result == [core]


@needs_proc
def test_too_much_memory_ends_it():
    outcome = outcome_of(task(memory_limit=5 * 10**6))
    assert outcome.status == "memory_limit"
    assert "0.005 GB were allowed" in outcome.error


@needs_proc
def test_the_memory_of_its_own_processes_counts(monkeypatch):
    program = """
import subprocess, sys
subprocess.run([sys.executable, "-c", "import sys; block = bytearray(200_000_000); sys.stdin.read()"])
"""
    child_that(monkeypatch, program)
    assert outcome_of(task(memory_limit=150 * 10**6)).status == "memory_limit"


def test_too_much_time_ends_it(monkeypatch):
    monkeypatch.setattr(execution, "wall_limit", lambda _: 0.2)
    child_that(monkeypatch, "import sys; print('{}', flush=True); sys.stdin.read()")
    outcome = outcome_of(task())
    assert (outcome.status, outcome.result) == ("killed", None)
    assert outcome.error == "did not end within 0.2 s, time limit and grace"


def test_a_process_that_does_not_get_to_the_solve_is_ended(monkeypatch):
    monkeypatch.setattr(execution, "_START_LIMIT", 0.2)
    child_that(monkeypatch, "import sys; sys.stdin.read()")
    assert outcome_of(task()).error == "did not begin to solve within 0.2 s"


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("print('{}', flush=True); import os; os.abort()", "ended with status"),
        ("raise SystemExit('no library')", "ended with status 1: no library"),
        ("print('nonsense')", "ended with status 0"),
    ],
)
def test_a_crash_is_a_run_that_failed(monkeypatch, program, message):
    child_that(monkeypatch, program)
    outcome = outcome_of(task())
    assert outcome.status == "failed"
    assert message in outcome.error


def test_what_a_method_refuses_is_a_run_that_failed():
    outcome = outcome_of(task(method="packing", options={"colour": 1}))
    assert outcome.status == "failed"
    assert "no option 'colour'" in outcome.error


@needs_proc
def test_a_run_does_not_survive_its_campaign():
    program = """
import os, signal, time
from hardmargin.bench.running.execution import RunProcess
from hardmargin.bench.instances.catalogue import Instance
from hardmargin.bench.running.plan import Job, RunLimits
from hardmargin.bench.running.execution import task_of
from hardmargin.data import generate
job = Job(Instance("gen400d10A0", 400, 10), 10.0, "auto", "default", {}, 0, RunLimits())
child = RunProcess(task_of(job, generate("A", 400, 10)), None)
while not child.begun:
    child.poll()
    time.sleep(0.02)
print(child.pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=NEVER, check=False
    )
    assert done.returncode == -signal.SIGKILL
    status = Path(f"/proc/{int(done.stdout)}/status")
    until(lambda: not status.exists() or "zombie" in status.read_text())


# Answers every task with how many it has had, and complains about it.
PATIENT = """
import json, sys
for number, line in enumerate(sys.stdin):
    print("{}", flush=True)
    print("complaint", number, file=sys.stderr, flush=True)
    if json.loads(line)["seed"] == 13:
        raise SystemExit(3)
    print(json.dumps({"result": number, "peak_memory": 5, "ready": True}), flush=True)
"""


@pytest.fixture
def finished():
    """Makes a run to its end; what it leaves is ended after the test."""
    made = []

    def run(request, left=None):
        process = RunProcess(request, None, left)
        made.append(process)
        while (outcome := process.poll()) is None:
            time.sleep(0.02)
        return process, outcome

    yield run
    for process in made:
        process._worker.end()


def test_a_process_that_is_ready_takes_the_next_task(monkeypatch, finished):
    child_that(monkeypatch, PATIENT)
    first, outcome = finished(task())
    assert outcome.result == 0
    second, outcome = finished(task(), first.pass_on())
    assert (second.pid, outcome.result) == (first.pid, 1)
    # The first run has given it away, and must not end it.
    first.kill()
    third, outcome = finished(task(), second.pass_on())
    assert (third.pid, outcome.result) == (first.pid, 2)


def test_a_process_that_crashes_later_fails_only_that_run(monkeypatch, finished):
    child_that(monkeypatch, PATIENT)
    first, _ = finished(task())
    second, outcome = finished({**task(), "seed": 13}, first.pass_on())
    assert (outcome.status, outcome.error) == ("failed", "the process ended with status 3: complaint 1")
    assert second.pass_on() is None


def test_one_that_has_ended_while_it_waited_is_replaced(monkeypatch, finished):
    child_that(monkeypatch, PATIENT)
    first, _ = finished(task())
    left = first.pass_on()
    left.process.kill()
    second, outcome = finished(task(), left)
    assert second.pid != first.pid
    assert outcome.result == 0


def test_one_that_was_killed_is_not_passed_on(monkeypatch, finished):
    monkeypatch.setattr(execution, "wall_limit", lambda _: 0.2)
    child_that(monkeypatch, "import sys; print('{}', flush=True); sys.stdin.read()")
    process, outcome = finished(task())
    assert outcome.status == "killed"
    assert process.pass_on() is None


def test_a_run_that_failed_passes_nothing_on(finished):
    process, outcome = finished(task(method="packing", options={"colour": 1}))
    assert outcome.status == "failed"
    assert process.pass_on() is None


@needs_proc
def test_runs_in_one_process_are_like_runs_in_their_own(finished):
    first, alone = finished(task(time_limit=NEVER))
    left = first.pass_on()
    if left is None:
        pytest.skip("the peak of the memory cannot be reset here")
    second, outcome = finished(task(time_limit=NEVER), left)
    assert second.pid == first.pid
    assert outcome.result["nodes"] == alone.result["nodes"]
    assert outcome.result["objective"] == alone.result["objective"]
    assert outcome.peak_memory < 1.2 * alone.peak_memory


@pytest.mark.parametrize(
    ("before", "processes", "reset", "now", "ready"),
    [
        (100, [], True, 105, True),
        (100, [], True, 120, False),
        (100, [7], True, 100, False),
        (100, [], False, 100, False),
        (None, [], True, 100, False),
        (100, [], True, None, False),
    ],
)
def test_a_process_is_ready_only_if_nothing_is_left(monkeypatch, before, processes, reset, now, ready):
    monkeypatch.setattr(child, "descendants", lambda _: processes)
    monkeypatch.setattr(memory, "reset_peak_memory", lambda: reset)
    monkeypatch.setattr(child, "_peak_memory", lambda: now)
    assert child._as_before(before) is ready


def test_the_runner_keeps_processes_with_their_cores(monkeypatch):
    """A run that fails passes nothing on, and at the end nothing is left."""
    log, ended = [], []

    class Left:
        def __init__(self, name):
            self.name = name

        def end(self):
            ended.append(self.name)

    class Run:
        def __init__(self, request, cores, left):
            self.request = request
            log.append((request, cores, left and left.name))

        def poll(self):
            return self.request

        def pass_on(self):
            return None if self.request == "bad" else Left(self.request)

        def kill(self):
            raise AssertionError("no run is under way")

    monkeypatch.setattr(local, "RunProcess", Run)
    monkeypatch.setattr(local, "available_cores", lambda: [4, 6])
    made = list(local.LocalRunner(2, 1).outcomes(["a", "b", "bad", "c", "d", "e"], lambda job: job))
    assert sorted(job for job, _ in made) == ["a", "b", "bad", "c", "d", "e"]
    cores = {request: place for request, place, _ in log}
    used = [left for _, _, left in log if left]
    assert "bad" not in used
    assert len(set(used)) == len(used) == 3
    assert all(left is None or cores[left] == place for _, place, left in log)
    assert sorted([*used, *ended]) == ["a", "b", "c", "d", "e"]
