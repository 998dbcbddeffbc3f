"""Ctrl-C at any moment of any method: answered at once, with what is known by then."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest

import hardmargin.methods
from hardmargin import Status, solve
from hardmargin.data import generate

# Half a second is promised; the rest is for machines that do other things too.
LATEST = 1.5


@pytest.fixture(autouse=True)
def _listening():
    """A process in the background of a script ignores SIGINT, and rightly so, but not in a test of it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("moment", [0.15, 1.1])
@pytest.mark.parametrize("method", hardmargin.methods.names())
def test_ctrl_c_is_answered_at_once(method, moment) -> None:
    data = generate("A", 400, 10, 1)
    pressed: list[float] = []

    def press() -> None:
        pressed.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    options = {"effort": 1000.0} if method == "heuristic" else None
    # Not while packages are imported: there is nothing to answer with by then.
    solve([[0.0], [1.0]], [0, 1], method=method)
    timer = threading.Timer(moment, press)
    timer.start()
    result = solve(data.X, data.y, 10.0, method=method, threads=2, options=options)
    answered = time.monotonic()
    timer.join()
    assert result.status is Status.INTERRUPTED
    assert result.lower_bound <= result.objective
    assert answered - pressed[0] < LATEST
