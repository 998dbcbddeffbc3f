"""The rule that ends a search without progress, by the times of its reports alone."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import hardmargin.methods
from hardmargin import Status, solve, verify
from hardmargin.data import generate
from hardmargin.limits import Limits
from hardmargin.search.watch import Watch
from hardmargin.stopping import Stall, StalledError, parsed_stop, stalling


def end_of(reports, rule: Stall | None = None) -> float | None:
    """The time of the report that ends a search, if one does."""
    report = stalling(rule or Stall())
    for time, upper, lower in reports:
        try:
            report(time, upper, lower, 1)
        except StalledError:
            return time
    return None


def seconds(end: float = 100.0):
    return itertools.takewhile(lambda time: time <= end, (tick / 10 for tick in itertools.count(1)))


def test_nothing_happens() -> None:
    # The first report is progress: two seconds from there.
    assert end_of((time, 10.0, 1.0) for time in seconds()) == pytest.approx(2.1)


def test_it_waits_in_proportion_to_the_time_spent() -> None:
    reports = [(time, 10.0 if time < 20 else 9.0, 1.0) for time in seconds()]
    assert end_of(reports, Stall(seconds=50)) == pytest.approx(70)
    assert end_of(reports[180:], Stall()) == pytest.approx(40)
    assert end_of(reports[180:], Stall(share=0.2)) == pytest.approx(25)


def test_no_hyperplane_is_no_stall() -> None:
    assert end_of((time, np.inf, 0.0) for time in seconds()) is None


@pytest.mark.parametrize(("factor", "progress"), [(1 - 2e-4, True), (1 - 0.5e-4, False)])
def test_a_better_hyperplane(factor, progress) -> None:
    reports = [(1.0, 10.0, 5.0), (2.9, 10.0 * factor, 5.0 * factor), (3.1, 10.0 * factor, 5.0 * factor)]
    assert end_of(reports) == (None if progress else 3.1)


@pytest.mark.parametrize(
    ("before", "after", "progress"),
    [(5.0, 5.101, True), (5.0, 5.09, False), (9.95, 9.956, True), (9.95, 9.954, False), (10.0, 10.0, False)],
)
def test_a_smaller_gap(before, after, progress) -> None:
    reports = [(1.0, 10.0, before), (2.9, 10.0, after), (3.1, 10.0, after)]
    assert end_of(reports) == (None if progress else 3.1)


def test_small_steps_add_up() -> None:
    assert end_of((time, 1000.0 * 0.99999 ** (100 * time), 0.0) for time in seconds()) is None
    assert end_of((time, 10.0, 0.1 * time) for time in seconds(20.0)) is None


@pytest.mark.parametrize("stop", [True, 1, "stalled", ("stall", 0.5)])
def test_other_rules_are_refused(stop) -> None:
    with pytest.raises(ValueError, match=r"expected None, 'stall' or a hardmargin\.stopping\.Stall"):
        parsed_stop(stop)
    with pytest.raises(ValueError, match="stop is "):
        solve([[0.0], [1.0]], [0, 1], stop=stop)


@pytest.mark.parametrize("settings", [{"share": 1.0}, {"share": 0}, {"seconds": np.inf}, {"narrower": "x"}])
def test_settings_out_of_range_are_refused(settings) -> None:
    (name,) = settings
    with pytest.raises(ValueError, match=f"{name} is .*; expected a number above 0 and below"):
        Stall(**settings)


def test_no_rule_by_default() -> None:
    assert parsed_stop(None) is None
    assert parsed_stop("stall") == Stall()


@pytest.fixture
def ticking(monkeypatch):
    """A clock that advances by a second whenever it is looked at, and by nothing else."""
    ticks = itertools.count(1)
    monkeypatch.setattr(Limits, "elapsed", lambda _: float(next(ticks)))
    monkeypatch.setattr(Limits, "remaining", lambda _: np.inf)


@pytest.mark.usefixtures("ticking")
@pytest.mark.parametrize("method", hardmargin.methods.names())
def test_every_method_ends_and_keeps_what_it_has(method) -> None:
    # The search would take hours: only the rule ends it.
    data = generate("A", 400, 10, 1)
    options = {"effort": 1e9} if method == "heuristic" else None
    last = []

    def report(time, upper, lower, nodes) -> None:
        last[:] = [upper, lower]

    rule = Stall(share=0.01, seconds=5)
    result = solve(data.X, data.y, 10.0, method=method, options=options, time_limit=None, report=report, stop=rule)
    assert result.status is Status.STALLED
    assert not result.optimal
    assert result.objective <= last[0] * (1 + 1e-6)
    assert result.lower_bound >= last[1] * (1 - 1e-6)
    assert result.trace
    assert verify(result, data.X, data.y)


@pytest.mark.usefixtures("ticking")
def test_a_stalled_search_can_be_resumed(tmp_path) -> None:
    # The search would take hours: only the rule ends it.
    data, state = generate("A", 400, 10, 1), tmp_path / "state"
    rule = Stall(share=0.01, seconds=5)
    first = solve(data.X, data.y, 10.0, time_limit=None, checkpoint=state, stop=rule)
    second = solve(data.X, data.y, 10.0, time_limit=None, resume=state, stop=rule)
    assert (first.status, second.status) == (Status.STALLED, Status.STALLED)
    assert second.objective <= first.objective * (1 + 1e-9)
    assert second.lower_bound >= first.lower_bound * (1 - 1e-9)
    assert second.nodes >= first.nodes


def test_a_rule_that_is_not_met_changes_nothing(blobs) -> None:
    X, y = blobs
    with_rule = solve(X, y, 10.0, stop=Stall(seconds=1e9))
    without = solve(X, y, 10.0)
    assert (with_rule.coef, with_rule.status, with_rule.nodes) == (without.coef, without.status, without.nodes)


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        ([StalledError()], Status.STALLED),
        ([KeyboardInterrupt()], Status.INTERRUPTED),
        ([StalledError(), KeyboardInterrupt()], Status.INTERRUPTED),
        ([KeyboardInterrupt(), StalledError()], Status.INTERRUPTED),
    ],
    ids=str,
)
def test_ctrl_c_takes_precedence(raised, expected) -> None:
    waiting = list(raised)

    def report(*_) -> None:
        raise waiting.pop(0)

    watch = Watch(Limits(), report)
    for _ in raised:
        assert watch.report(1.0, 0.0, 0) is False
    watch.take_note(None)
    assert watch.ended is expected
    assert watch.interrupted
