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
from hardmargin.bench.running import execution
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
    monkeypatch.setattr(execution, "CHILD", ["-c", program])


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
