"""The method ``auto``: turns between the exact methods, and what they share."""

from __future__ import annotations

import math
from types import ModuleType

import numpy as np
import pytest

from brute_force import KINDS, case_and_optimum, compared
from hardmargin import Status, _core, solve, verify
from hardmargin.data import generate
from hardmargin.frontier import Frontier
from hardmargin.methods import directions, heuristic, packing
from hardmargin.methods.base import Limits
from hardmargin.methods.pair import has_few_features
from hardmargin.problem import Problem
from hardmargin.search import turns
from hardmargin.search.proof import Proof

# A slice is the shortest turn there is.
STEPS = {"first_nodes": 3, "slice": 2}
TURNS = {**STEPS, "head_start": 1000, "first_turn": 1000}


@pytest.fixture
def had(monkeypatch) -> list[str]:
    """The methods that had turns, in order."""
    kinds: list[str] = []
    take_turn = turns.Member.take_turn

    def noted(member, **settings) -> None:
        kinds.append(member.proof.kind)
        take_turn(member, **settings)

    monkeypatch.setattr(turns.Member, "take_turn", noted)
    return kinds


@pytest.mark.parametrize(("n", "d", "first"), [(60, 4, "directions"), (40, 10, "packing")])
def test_both_methods_have_turns_and_prove_it_together(n, d, first, had) -> None:
    data = generate("B", n, d, 4)
    result = solve(data.X, data.y, 10.0, options=TURNS)
    assert result.optimal
    assert result.method == "auto"
    assert verify(result, data.X, data.y)
    assert had[0] == first
    assert set(had) == {"directions", "packing"}
    assert result.objective == pytest.approx(
        solve(data.X, data.y, 10.0, options=STEPS, method="packing").objective, rel=1e-6
    )
    lowers = [point.lower for point in result.trace]
    assert lowers == sorted(lowers)


FORECASTERS = [(directions, "B", 150, 6, 5_000_000), (packing, "A", 140, 10, 200_000_000)]


def proof_in_steps(method: ModuleType, kind: str, n: int, d: int, step_work: int) -> Proof:
    data = generate(kind, n, d, 4)
    problem = Problem.from_data(data.X, data.y, 10.0)
    found = heuristic.run(problem, None, Limits(), lambda *_: None, heuristic.Options(0.05))
    proofs = {directions: directions.DirectionProof, packing: packing.PackingProof}
    options = method.Options(first_nodes=50)
    proof = proofs[method](problem, found, Limits(time_limit=math.inf), lambda *_: None, options)
    proof.step_work = step_work
    return proof


@pytest.mark.parametrize("arguments", FORECASTERS, ids=["directions", "packing"])
def test_forecasts_are_of_the_right_size(arguments) -> None:
    proof = proof_in_steps(*arguments)
    told = [(proof.work, proof.remaining_work()) for _ in proof.steps()]
    assert proof.proven
    # The last step has nothing left to report.
    factors = [remaining / (proof.work - work) for work, remaining in told[:-1] if remaining < math.inf]
    assert len(factors) >= 3
    assert 1 / 5 < np.median(factors) < 5


@pytest.mark.parametrize("arguments", FORECASTERS, ids=["directions", "packing"])
def test_forecasts_outlive_a_pause(arguments) -> None:
    proof = proof_in_steps(*arguments)
    for _ in proof.steps():
        if proof.remaining_work() < math.inf:
            break
    again = proof_in_steps(*arguments)
    again.restore(proof.state())
    again.learn(proof.incumbent, proof.objective, proof.lower_bound)
    assert again.remaining_work() == proof.remaining_work() < math.inf


def test_many_features_are_for_packing_alone(had) -> None:
    data = generate("A", 40, 14, 4)
    assert solve(data.X, data.y, 10.0, options=TURNS).optimal
    assert set(had) <= {"packing"}


def test_both_methods_share_a_node_limit(had) -> None:
    data = generate("B", 110, 8, 3)
    reported: list[int] = []
    result = solve(
        data.X,
        data.y,
        10.0,
        options=TURNS,
        node_limit=40,
        time_limit=None,
        report=lambda *values: reported.append(values[3]),
    )
    assert set(had) == {"directions", "packing"}
    assert result.status is Status.NODE_LIMIT
    assert 40 <= result.nodes < 50
    assert reported == sorted(reported)
    assert reported[-1] == result.nodes


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.usefixtures("had")
def test_turns_break_no_promise(threads) -> None:
    cases = [case_and_optimum(9, index) for index in range(20 * len(KINDS))]
    comparisons = [compared(case, "auto", best=best, threads=threads, options=TURNS) for case, best in cases]
    assert {index: case.broken for index, case in enumerate(comparisons) if case.broken} == {}
    assert sum(not case.result.optimal for case in comparisons) <= 3


def test_one_thread_does_the_same_every_time(had) -> None:
    data = generate("B", 60, 5, 2)
    first = solve(data.X, data.y, 10.0, options=TURNS)
    turns = had.copy()
    had.clear()
    second = solve(data.X, data.y, 10.0, options=TURNS)
    assert had == turns
    assert (first.nodes, first.objective, first.coef) == (second.nodes, second.objective, second.coef)


@pytest.mark.usefixtures("had")
def test_the_time_limit_and_an_interrupt_keep_the_bound(fake_clock) -> None:
    data = generate("B", 100, 10, 6)

    def end_time(time, upper, lower, nodes) -> None:
        if nodes >= 20 and lower > 0:
            fake_clock.end()

    limited = solve(data.X, data.y, 10.0, options=TURNS, report=end_time)
    assert limited.status is Status.TIME_LIMIT
    assert limited.nodes >= 20
    assert limited.lower_bound > 0
    fake_clock.start()

    def interrupt(time, upper, lower, nodes) -> None:
        if nodes >= 20 and lower > 0:
            raise KeyboardInterrupt

    interrupted = solve(data.X, data.y, 10.0, options=TURNS, report=interrupt)
    assert interrupted.status is Status.INTERRUPTED
    assert interrupted.lower_bound > 0


@pytest.mark.parametrize("method", ["packing", "directions"])
def test_a_search_goes_on_from_what_another_left_open(method) -> None:
    """Without converting open subproblems to Python objects."""
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


@pytest.mark.parametrize(("n", "first"), [(75, "directions"), (74, "packing")])
def test_the_search_over_samples_begins_with_few_samples_per_feature(n, first, had) -> None:
    data = generate("B", n, 5, 4)
    assert solve(data.X, data.y, 10.0, options=TURNS).optimal
    assert had[0] == first


def test_the_search_over_samples_begins_if_bounded_features_depend_on_each_other() -> None:
    rng = np.random.default_rng(0)
    one_hot = np.eye(3)[rng.integers(0, 3, size=20)]
    y = np.where(rng.random(20) < 0.5, -1.0, 1.0)
    bounds = {"coef_bounds": (0.0, None)}
    assert not has_few_features(Problem.from_data(one_hot, y, **bounds))
    assert has_few_features(Problem.from_data(one_hot, y))
    assert has_few_features(Problem.from_data(rng.normal(size=(20, 3)), y, **bounds))
