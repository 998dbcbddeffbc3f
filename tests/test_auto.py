"""The method ``auto``: turns between the exact methods, and what they share."""

from __future__ import annotations

import numpy as np
import pytest

from brute_force import KINDS, case_and_optimum, compared
from hardmargin import Status, _core, solve, verify
from hardmargin.data import generate
from hardmargin.frontier import Frontier
from hardmargin.methods import auto, heuristic
from hardmargin.methods.base import Limits
from hardmargin.problem import Problem
from hardmargin.search import portfolio

# A slice is the shortest turn there is.
STEPS = {"first_nodes": 3, "slice": 2}


@pytest.fixture
def many_turns(monkeypatch) -> list[str]:
    """Turns so short that small problems take many; the methods that had them, in order."""
    for name in ("_HEAD_START", "_SHORT_HEAD_START", "_FIRST_TRY"):
        monkeypatch.setattr(auto, name, 1000)
    monkeypatch.setattr(portfolio, "_FIRST_TURN", 1000)
    monkeypatch.setattr(portfolio, "_TURN_SHARE", 0.0)
    for name in ("_SHARE_OF_SAMPLES", "_SHARE_OF_DIRECTIONS", "_LARGE_SHARE_OF_DIRECTIONS"):
        monkeypatch.setattr(auto, name, 0.5)
    had: list[str] = []
    take_turn = portfolio.Member.take_turn

    def noted(member, *, alone) -> None:
        had.append(member.proof.kind)
        take_turn(member, alone=alone)

    monkeypatch.setattr(portfolio.Member, "take_turn", noted)
    return had


@pytest.mark.parametrize(("d", "first"), [(5, "directions"), (10, "packing")])
def test_both_methods_have_turns_and_prove_it_together(d, first, many_turns) -> None:
    data = generate("B", 60 if d == 5 else 40, d, 4)
    result = solve(data.X, data.y, 10.0, options=STEPS)
    assert result.optimal
    assert result.method == "auto"
    assert verify(result, data.X, data.y)
    assert many_turns[0] == first
    assert set(many_turns) == {"directions", "packing"}
    assert result.objective == pytest.approx(
        solve(data.X, data.y, 10.0, options=STEPS, method="packing").objective, rel=1e-6
    )
    lowers = [point.lower for point in result.trace]
    assert lowers == sorted(lowers)


@pytest.mark.parametrize(("C", "first"), [(1.0, "packing"), (1000.0, "directions")])
def test_directions_start_where_many_of_few_samples_are_given_up_and_lengths_hardly_count(
    C, first, many_turns, monkeypatch
) -> None:
    monkeypatch.setattr(auto, "_MANY_GIVEN_UP", 3)
    monkeypatch.setattr(auto, "_LARGE_SHARE_GIVEN_UP", 0.0)
    data = generate("B", 40, 10, 4)
    result = solve(data.X, data.y, C, options=STEPS)
    assert result.optimal
    assert result.n_violations >= 3
    assert many_turns[0] == first


def test_directions_follow_soon_where_many_of_many_samples_are_given_up(many_turns, monkeypatch) -> None:
    monkeypatch.setattr(auto, "_MANY_GIVEN_UP", 3)
    monkeypatch.setattr(auto, "_LARGE_SHARE_GIVEN_UP", 0.0)
    monkeypatch.setattr(auto, "_FEW_SAMPLES", 30)
    monkeypatch.setattr(auto, "_HEAD_START", 10**15)
    data = generate("B", 40, 10, 4)
    assert solve(data.X, data.y, 1000.0, options=STEPS).optimal
    assert many_turns[0] == "packing"
    assert "directions" in many_turns
    many_turns.clear()
    # Where lengths count, packing keeps its whole head start.
    assert solve(data.X, data.y, 1.0, options=STEPS).optimal
    assert set(many_turns) == {"packing"}


@pytest.mark.parametrize(
    ("kind", "n", "d", "C", "first", "share", "head_start"),
    [
        ("B", 300, 8, 1000.0, "directions", 0.12, 400e9),
        ("B", 200, 10, 1000.0, "directions", 0.12, 400e9),
        ("B", 200, 10, 1.0, "packing", 0.6, 400e9),
        ("B", 300, 10, 1000.0, "packing", 0.88, 200e9),
        ("A", 300, 10, 1.0, "packing", 0.25, 400e9),
        ("B", 300, 11, 1000.0, "packing", 0.25, 400e9),
    ],
)
def test_shares_of_the_work(kind, n, d, C, first, share, head_start) -> None:
    data = generate(kind, n, d, 4)
    problem = Problem.from_data(data.X, data.y, C)
    found = heuristic.run(problem, None, Limits(), lambda *_: None, heuristic.Options(0.01))
    members = auto._members(problem, found, Limits(), lambda *_: None, auto.Options())
    assert members[0].proof.kind == first
    ahead, other = members
    # Beyond its first turn the other one is due when the head start is over, and then by its share.
    ahead.proof.work, other.proof.work = int(head_start), portfolio._FIRST_TURN
    assert other.due == pytest.approx(ahead.due + portfolio._FIRST_TURN / share)
    ahead.proof.work += int((1 - share) * 1e12)
    other.proof.work = int(share * 1e12)
    assert other.due == pytest.approx(ahead.due)


def test_shares_outlive_a_better_hyperplane(tmp_path, many_turns, monkeypatch) -> None:
    """What is resumed goes on with the shares it had, whatever the rules would say now."""
    data, path = generate("B", 100, 10, 3), tmp_path / "state"

    def interrupt(time, upper, lower, nodes) -> None:
        if nodes > 0:
            raise KeyboardInterrupt

    interrupted = solve(data.X, data.y, 10.0, options=STEPS, checkpoint=path, report=interrupt, time_limit=None)
    assert interrupted.status is Status.INTERRUPTED
    shares = []
    monkeypatch.setattr(auto, "_SHARE_OF_DIRECTIONS", 0.125)
    monkeypatch.setattr(auto, "_LARGE_SHARE_OF_DIRECTIONS", 0.125)
    take_turn = portfolio.Member.take_turn

    def noted(member, *, alone) -> None:
        shares.append(member._share)
        take_turn(member, alone=alone)

    monkeypatch.setattr(portfolio.Member, "take_turn", noted)
    solve(data.X, data.y, 10.0, options=STEPS, resume=path, node_limit=100, time_limit=None)
    assert set(shares) == {0.5}


def test_many_features_are_for_packing_alone(many_turns) -> None:
    data = generate("A", 40, 14, 4)
    assert solve(data.X, data.y, 10.0, options=STEPS).optimal
    assert set(many_turns) <= {"packing"}


def test_both_methods_share_a_node_limit(many_turns) -> None:
    data = generate("B", 110, 8, 3)
    reported: list[int] = []
    result = solve(
        data.X,
        data.y,
        10.0,
        options=STEPS,
        node_limit=40,
        time_limit=None,
        report=lambda *values: reported.append(values[3]),
    )
    assert set(many_turns) == {"directions", "packing"}
    assert result.status is Status.NODE_LIMIT
    assert 40 <= result.nodes < 50
    assert reported == sorted(reported)
    assert reported[-1] == result.nodes


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.usefixtures("many_turns")
def test_turns_break_no_promise(threads) -> None:
    cases = [case_and_optimum(9, index) for index in range(20 * len(KINDS))]
    comparisons = [compared(case, "auto", best=best, threads=threads, options=STEPS) for case, best in cases]
    assert {index: case.broken for index, case in enumerate(comparisons) if case.broken} == {}
    assert sum(not case.result.optimal for case in comparisons) <= 3


def test_one_thread_does_the_same_every_time(many_turns) -> None:
    data = generate("B", 60, 5, 2)
    first = solve(data.X, data.y, 10.0, options=STEPS)
    turns = many_turns.copy()
    many_turns.clear()
    second = solve(data.X, data.y, 10.0, options=STEPS)
    assert many_turns == turns
    assert (first.nodes, first.objective, first.coef) == (second.nodes, second.objective, second.coef)


@pytest.mark.usefixtures("many_turns")
def test_the_time_limit_and_an_interrupt_keep_the_bound(fake_clock) -> None:
    data = generate("B", 100, 10, 6)

    def end_time(time, upper, lower, nodes) -> None:
        if nodes >= 20 and lower > 0:
            fake_clock.end()

    limited = solve(data.X, data.y, 10.0, options=STEPS, report=end_time)
    assert limited.status is Status.TIME_LIMIT
    assert limited.nodes >= 20
    assert limited.lower_bound > 0
    fake_clock.start()

    def interrupt(time, upper, lower, nodes) -> None:
        if nodes >= 20 and lower > 0:
            raise KeyboardInterrupt

    interrupted = solve(data.X, data.y, 10.0, options=STEPS, report=interrupt)
    assert interrupted.status is Status.INTERRUPTED
    assert interrupted.lower_bound > 0


@pytest.mark.parametrize("method", ["packing", "directions"])
def test_a_search_goes_on_from_what_another_left_open(method) -> None:
    """Without turning open subproblems into Python's objects."""
    data = generate("B", 60, 3, 4)
    X, y, costs = np.asarray(data.X), np.where(data.y == max(data.y), 1.0, -1.0), np.full(60, 10.0)
    search, options = {
        "packing": (_core.packing_search, _core.PackingOptions()),
        "directions": (_core.direction_search, _core.DirectionOptions()),
    }[method]
    upper = 119.0
    whole = (
        _core.packing_root(60, [], [], 0.0, upper)
        if method == "packing"
        else _core.direction_root(X, y, costs, upper, options)
    )
    limits = _core.SearchLimits()
    reference = search(X, y, costs, whole, upper, options, limits, 60.0, None)
    limits.slice, limits.work_limit = {"packing": 2, "directions": 50}[method], 1
    found, best, steps = whole, upper, 0
    while steps == 0 or Frontier(*found.open).size:
        found = search(X, y, costs, found, best, options, limits, 60.0, None)
        best = min(best, found.objective)
        steps += 1
    assert steps > 1
    assert best == pytest.approx(reference.objective, rel=1e-6)
    assert found.lower_bound == pytest.approx(reference.lower_bound, rel=1e-5)
