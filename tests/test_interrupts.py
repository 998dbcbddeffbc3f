"""Ctrl-C at any time in any method: the solve returns at once, with what is known by then."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest

import hardmargin.methods
from hardmargin import Status, solve
from hardmargin.data import generate

# Half a second is promised, in which two threads may be busy. Measured in processor time, which other work on the
# machine does not affect, and doubled for counting it in ticks and for the way back.
MOST_PROCESSOR_TIME = 2.0
# Seconds on the clock, for a machine that has a hundred times as much to do.
LATEST = 60.0
# Reports that may have been under way when the signal arrived, and the one that raises it. The solvers of the
# literature's methods are separate processes, which are given time to end.
MOST_REPORTS = 2
SOLVERS = ("indicator", "benders")


@pytest.fixture(autouse=True)
def _listening():
    """A process in the background of a script ignores SIGINT, which is right, but not for these tests."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("moment", ["first report", "tenth report", "between two reports"])
@pytest.mark.parametrize("method", hardmargin.methods.names())
def test_ctrl_c_is_answered_at_once(method, moment) -> None:
    # The search would take hours: only the signal ends it.
    data = generate("A", 400, 10, 1)
    options = {"effort": 1e9} if method == "heuristic" else None
    reports, pressed, may_press = 0, [], threading.Event()

    def press() -> None:
        os.kill(os.getpid(), signal.SIGINT)
        # Afterwards, because this thread may have to wait for its turn before the signal is sent.
        pressed.append((reports, time.process_time(), time.monotonic()))

    def press_when_told() -> None:
        may_press.wait()
        press()

    def report(time, upper, lower, nodes) -> None:
        nonlocal reports
        reports += 1
        if reports == {"first report": 1, "tenth report": 10}.get(moment):
            press()
        may_press.set()

    other = threading.Thread(target=press_when_told) if moment == "between two reports" else None
    if other is not None:
        other.start()
    result = solve(data.X, data.y, 10.0, method=method, threads=2, options=options, time_limit=None, report=report)
    answered = time.process_time(), time.monotonic()
    if other is not None:
        other.join()
    assert result.status is Status.INTERRUPTED
    assert result.lower_bound <= result.objective
    ((before, processor_time, clock),) = pressed
    assert reports - before <= MOST_REPORTS or method in SOLVERS
    assert answered[0] - processor_time < MOST_PROCESSOR_TIME
    assert answered[1] - clock < LATEST


@pytest.mark.parametrize("kind", [StopIteration, RuntimeError, GeneratorExit])
@pytest.mark.parametrize("method", hardmargin.methods.names())
def test_what_a_report_raises_comes_out_as_it_is(method, kind) -> None:
    data, error = generate("A", 60, 5, 1), kind("enough")
    deep = method in hardmargin.methods.with_frontier()

    def report(time, upper, lower, nodes) -> None:
        # Inside the tree, if there is one.
        if nodes > 0 or not deep:
            raise error

    with pytest.raises(kind) as raised:
        solve(data.X, data.y, 10.0, method=method, report=report)
    assert raised.value is error
    assert error.__cause__ is None
