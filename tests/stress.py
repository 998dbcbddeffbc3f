"""Runs the test suite repeatedly on a machine that is made busy, slow or different each time.

The result of a test must not depend on how fast or how busy the machine is. This script checks it: ten runs of the
Python and C++ tests under the conditions below, none of which may fail.

    python tests/stress.py                      # all ten, an hour or two on two cores
    python tests/stress.py pinned nice          # some conditions
    python tests/stress.py --list

The output of each run is kept in build/stress. Pinning to one core needs Linux.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
OUTPUT = REPOSITORY / "build" / "stress"
CORES = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else list(range(os.cpu_count() or 1))
BUSY_LOOPS_PER_CORE = 2


@dataclass(frozen=True)
class Condition:
    """The conditions of some runs.

    Attributes
    ----------
    name, text : str
    runs : int
    pinned : bool
        The suite and all processes that it starts share one core.
    niceness : int
    load : str
        What runs in parallel to the suite: "", "loops" or "build".
    environment : dict
        Variables that the suite gets.
    """

    name: str
    text: str
    runs: int
    pinned: bool = False
    niceness: int = 0
    load: str = ""
    environment: dict[str, str] = field(default_factory=dict)


CONDITIONS = (
    Condition("plain", "nothing else", 2),
    Condition("busy", f"{BUSY_LOOPS_PER_CORE} busy loops on every core", 3, load="loops"),
    Condition("pinned", "pinned to a single core", 2, pinned=True),
    Condition("nice", "niceness 19 beside a build", 2, niceness=19, load="build"),
    Condition("baseline", "without AVX2 kernels", 1, environment={"HARDMARGIN_KERNELS": "baseline"}),
)


@dataclass(frozen=True)
class Outcome:
    """How a run ended."""

    condition: Condition
    passed: bool
    seconds: float
    summary: str


@contextmanager
def busy_loops() -> Iterator[None]:
    """Processes with busy loops."""
    loops = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"])
        for _ in range(BUSY_LOOPS_PER_CORE * len(CORES))
    ]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


@contextmanager
def builds() -> Iterator[None]:
    """Builds of the C++ tests from scratch, one after the other, alternately on all cores and on one core."""
    folder = OUTPUT / "build"
    configure = ["cmake", "-G", "Ninja", "-S", str(REPOSITORY), "-B", str(folder)]
    configure += ["-DHARDMARGIN_PYTHON=OFF", "-DHARDMARGIN_TESTS=ON"]
    ended = threading.Event()
    running: list[subprocess.Popen[bytes]] = []

    def run(command: list[str]) -> None:
        with open(OUTPUT / "build.log", "wb") as log:
            # In a session of its own, so that the compilers can be ended with it.
            running[:] = [subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, start_new_session=True)]
        running[0].wait()

    def build() -> None:
        run(configure)
        jobs = len(CORES)
        while not ended.is_set():
            run(
                [
                    "cmake",
                    "--build",
                    str(folder),
                    "--target",
                    "core_tests",
                    "--clean-first",
                    "--parallel",
                    str(jobs),
                ]
            )
            jobs = 1 if jobs > 1 else len(CORES)

    thread = threading.Thread(target=build)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        while thread.is_alive():
            for process in running:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
            thread.join(0.1)


LOADS = {"": nullcontext, "loops": busy_loops, "build": builds}


def prepare(condition: Condition) -> None:
    """In the child, before the suite starts."""
    if condition.pinned:
        os.sched_setaffinity(0, CORES[:1])
    os.nice(condition.niceness)


def run_suite(condition: Condition, log: Path) -> Outcome:
    """One run of the C++ and of the Python tests."""
    commands = [
        ["ctest", "--test-dir", str(REPOSITORY / "build" / "editable"), "--output-on-failure"],
        [sys.executable, "-m", "pytest", "-q", *os.environ.get("PYTEST_ARGUMENTS", "").split()],
    ]
    started = time.monotonic()
    codes = []
    with LOADS[condition.load](), open(log, "w", encoding="utf-8") as output:
        for command in commands:
            codes.append(
                subprocess.run(
                    command,
                    cwd=REPOSITORY,
                    env={**os.environ, **condition.environment},
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    preexec_fn=lambda: prepare(condition),
                    check=False,
                ).returncode
            )
    passed = not any(codes)
    return Outcome(condition, passed, time.monotonic() - started, summary_in(log, codes))


def summary_in(log: Path, codes: list[int]) -> str:
    """The last line of pytest, and the C++ tests if they failed."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    counts = [line.strip("= ") for line in lines if re.search(r"\d+ (passed|failed|error)", line)]
    failed = " ".join(line.split(" - ")[0] for line in lines if line.startswith(("FAILED ", "ERROR ")))
    cpp = "" if codes[0] == 0 else "the C++ tests failed; "
    return f"{cpp}{counts[-1] if counts else 'no result'} {failed}".rstrip()


def main() -> int:
    """Run the selected conditions; 1 if anything failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [condition.name for condition in CONDITIONS]
    parser.add_argument(
        "conditions", nargs="*", metavar="CONDITION", help=f"any of {', '.join(names)}; all if none"
    )
    parser.add_argument("--list", action="store_true", help="say what there is, and end")
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.conditions) - set(names))
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}; expected any of {', '.join(names)}")
    if arguments.list:
        for condition in CONDITIONS:
            print(f"{condition.name:<10} {condition.runs} x {condition.text}")
        return 0
    OUTPUT.mkdir(parents=True, exist_ok=True)
    outcomes: list[Outcome] = []
    for condition in CONDITIONS:
        if arguments.conditions and condition.name not in arguments.conditions:
            continue
        for number in range(1, condition.runs + 1):
            outcome = run_suite(condition, OUTPUT / f"{condition.name}-{number}.log")
            outcomes.append(outcome)
            verdict = "passed" if outcome.passed else "FAILED"
            print(f"{verdict}  {condition.text:<30} {outcome.seconds:6.0f} s  {outcome.summary}", flush=True)
    failures = sum(not outcome.passed for outcome in outcomes)
    print(f"{len(outcomes)} runs of the suite, {failures} failed; their output is in build/stress")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
