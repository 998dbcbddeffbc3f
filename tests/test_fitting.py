"""The binary problems of one fit: their shares of the time and of the threads, and Ctrl-C."""

from __future__ import annotations

import math
import signal
import sys
import threading
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

import hardmargin.cores
import hardmargin.fitting
from hardmargin import Result, Status, solve
from hardmargin.binary_problems import binary_problems
from hardmargin.fitting import Job, PlainSamples, combined, solve_all

X = np.array([[0.0], [1.0], [3.0], [4.0], [6.0], [7.0]])
Y = np.array([0, 0, 1, 1, 2, 2])
PROBLEMS = binary_problems(Y, np.unique(Y), "ovo")
SETTINGS = {"C": 10.0, "method": "stub", "gap": 1e-6}


def job(**changes) -> Job:
    return replace(Job(PlainSamples(X, PROBLEMS), None, None, SETTINGS, 30.0, 1, None), **changes)


@pytest.fixture
def slow_clock(monkeypatch) -> SimpleNamespace:
    """The seconds since a fit began, as the test sets them."""
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(Job, "elapsed", lambda _: clock.now)
    return clock


def solved(given: Job, starts=(None, None, None), report=None) -> list[Result]:
    return solve_all(PROBLEMS, starts, given, report)


def test_what_one_problem_does_not_need_is_left_to_the_others(stub_method, slow_clock) -> None:
    stub = stub_method([1.0], 0.0)
    solved(job())
    assert [call.limits.time_limit for call in stub.calls] == [10.0, 15.0, 30.0]


def test_no_limit_is_no_limit_for_each(stub_method) -> None:
    stub = stub_method([1.0], 0.0)
    solved(job(time_limit=None))
    assert [call.limits.time_limit for call in stub.calls] == [math.inf] * 3


def test_problems_out_of_time_start_again_if_there_is_much_more_of_it(stub_method, slow_clock) -> None:
    stub = stub_method([1.0], -0.5, status=Status.TIME_LIMIT)
    results = solved(job(time_limit=1e6))
    assert [call.incumbent is not None for call in stub.calls] == [False] * 3 + [True] * 3
    assert len(results) == 3


def test_problems_out_of_time_do_not_start_again_without_time(stub_method, slow_clock) -> None:
    stub = stub_method([1.0], -0.5, status=Status.TIME_LIMIT)
    slow_clock.now = 30.0 - 1e-7
    solved(job())
    assert len(stub.calls) <= 3


def test_problems_side_by_side_share_the_threads(stub_method, monkeypatch) -> None:
    monkeypatch.setattr(hardmargin.cores, "available_cores", lambda: [0, 1])
    stub = stub_method([1.0], 0.0)
    solved(job(threads=7))
    assert [call.limits.threads for call in stub.calls] == [2, 2, 2]
    stub.calls.clear()
    solved(job(threads=2))
    assert [call.limits.threads for call in stub.calls] == [1, 1, 1]


def test_problems_side_by_side_give_the_same_answers() -> None:
    settings = SETTINGS | {"method": "auto"}
    one, two = (solved(job(settings=settings, threads=threads, time_limit=None)) for threads in (1, 3))
    assert [each.coef for each in one] == [each.coef for each in two]
    assert all(each.optimal for each in two)


@pytest.mark.parametrize("threads", [1, 3])
def test_reports_add_up(threads) -> None:
    reports = []
    settings = SETTINGS | {"method": "auto"}
    given = job(settings=settings, threads=threads, time_limit=None)
    results = solved(given, report=lambda *values: reports.append(values))
    assert math.isinf(reports[0][1])
    assert reports[-1][1:3] == pytest.approx(
        (sum(result.objective for result in results), sum(result.lower_bound for result in results)), rel=1e-6
    )
    assert all(later[1] <= earlier[1] for earlier, later in pairwise(reports))
    assert all(later[2] >= earlier[2] for earlier, later in pairwise(reports))


@pytest.mark.parametrize("threads", [1, 3])
def test_an_error_in_a_report_reaches_the_caller(threads) -> None:
    def fail(*_) -> None:
        raise RuntimeError("full")

    with pytest.raises(RuntimeError, match="full"):
        solved(job(settings=SETTINGS | {"method": "auto"}, threads=threads), report=fail)


def test_ctrl_c_ends_all_problems_and_loses_nothing(stub_method) -> None:
    stub = stub_method([1.0], -2.0, status=Status.INTERRUPTED)
    results = solved(job())
    assert len(stub.calls) == 1
    assert [result.status for result in results] == [Status.INTERRUPTED, Status.TIME_LIMIT, Status.TIME_LIMIT]


def test_ctrl_c_reaches_problems_in_other_threads(stub_method, monkeypatch) -> None:
    """The main thread gets the signal while the others search; they hear of it when they report."""
    stub = stub_method([1.0], -2.0)
    searching, heard = threading.Barrier(3), []

    def run(problem, incumbent, limits, report, options) -> Result:
        if searching.wait() == 0:
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        facts = {"lower_bound": 0.0, "method": "stub", "runtime": 0.0}
        try:
            while True:
                report(0.0, 20.0, 0.0, 1)
        except KeyboardInterrupt:
            heard.append(True)
            return Result.of(problem, np.zeros(problem.m), 1.0, status=Status.INTERRUPTED, **facts)

    stub.run = run
    monkeypatch.setattr(hardmargin.cores, "available_cores", lambda: [0, 1, 2])
    results = solved(job(threads=3, time_limit=None))
    assert len(heard) == 3
    assert {result.status for result in results} == {Status.INTERRUPTED}


def test_starts_reach_their_problems(stub_method) -> None:
    stub = stub_method([1.0], 0.0)
    solved(job(), starts=[(np.array([5.0]), 1.0), None, None])
    assert [call.incumbent is None for call in stub.calls] == [False, True, True]


def test_values_by_sample_are_those_of_the_problem(monkeypatch) -> None:
    asked = []

    def spy(samples, labels, **settings) -> Result:
        asked.append((samples, labels, settings["sample_weight"]))
        return solve(samples, labels, **settings)

    monkeypatch.setattr(hardmargin.fitting, "solve", spy)
    weights = np.arange(1.0, 7.0)
    solved(job(sample_weight=weights, settings=SETTINGS | {"method": "heuristic"}))
    assert [weights.tolist() for _, _, weights in asked] == [[1, 2, 3, 4], [1, 2, 5, 6], [3, 4, 5, 6]]
    assert [samples.ravel().tolist() for samples, _, _ in asked][1] == [0.0, 1.0, 6.0, 7.0]


def test_every_problem_has_a_checkpoint_and_is_resumed(tmp_path) -> None:
    given = job(settings=SETTINGS | {"method": "auto"}, checkpoint=tmp_path / "state.hm")
    first = solved(given)
    assert sorted(path.name for path in tmp_path.glob("*.hm")) == ["state-0.hm", "state-1.hm", "state-2.hm"]
    again = solved(given)
    assert [each.coef for each in again] == [each.coef for each in first]


def test_combined_reports() -> None:
    calls = []
    assert combined(None, None) is None
    one = combined(lambda *values: calls.append(("a", values)), None, lambda *values: calls.append(("b", values)))
    one(1.0, 2.0, 1.5, 3)
    assert calls == [("a", (1.0, 2.0, 1.5, 3)), ("b", (1.0, 2.0, 1.5, 3))]
    assert combined(None, sys.exit) is sys.exit
