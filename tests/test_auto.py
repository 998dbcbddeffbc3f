"""The method ``auto``: turns between the exact methods, and what they share."""

from __future__ import annotations

import math
from types import ModuleType, SimpleNamespace

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
from hardmargin.search import portfolio
from hardmargin.search.proof import Proof

# A slice is the shortest turn there is.
STEPS = {"first_nodes": 3, "slice": 2}
TURNS = {**STEPS, "head_start": 1000, "first_turn": 1000}


@pytest.fixture
def had(monkeypatch) -> list[str]:
    """The methods that had turns, in order."""
    kinds: list[str] = []
    take_turn = portfolio.Member.take_turn

    def noted(member, **settings) -> None:
        kinds.append(member.proof.kind)
        take_turn(member, **settings)

    monkeypatch.setattr(portfolio.Member, "take_turn", noted)
    return kinds


@pytest.mark.parametrize(("d", "first"), [(5, "directions"), (10, "packing")])
def test_both_methods_have_turns_and_prove_it_together(d, first, had) -> None:
    data = generate("B", 60 if d == 5 else 40, d, 4)
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


def expecting(work: int, remaining: float) -> portfolio.Member:
    """A member whose proof has done this much work and expects to need this much more."""
    proof = SimpleNamespace(
        work=work, remaining_work=lambda: remaining, steps=lambda: iter(()), only_bounds=False, own_bound=5.0
    )
    return portfolio.Member(proof)


def bounding(work: int, bound: float, insured: float = 0.0) -> portfolio.Member:
    """A member that only provides a bound, expected to be this one."""
    proof = SimpleNamespace(
        work=work, expected_bound=lambda: bound, steps=lambda: iter(()), only_bounds=True, own_bound=0.0
    )
    return portfolio.Member(proof, insured_share=insured)


@pytest.mark.parametrize(
    ("done", "remaining", "chosen"),
    [
        ((99, 0), (math.inf, math.inf), 0),  # its head start is not over
        ((101, 0), (math.inf, math.inf), 1),
        ((101, 0), (101.0, math.inf), 0),  # it is half done
        ((101, 0), (102.0, math.inf), 1),
        ((101, 1), (101.0, math.inf), 0),
        ((102, 1), (102.0, math.inf), 1),  # the other one has begun
        ((100 + 9, 10), (math.inf, math.inf), 0),  # equal shares
        ((100 + 11, 10), (math.inf, math.inf), 1),
        ((100 + 11, 10), (500.0, math.inf), 1),  # until both have a forecast,
        ((100 + 11, 10), (math.inf, 500.0), 1),
        ((1000, 3500), (math.inf, 500.0), 1),  # or one has worked for longer than the other needs:
        ((1000, 3700), (math.inf, 500.0), 0),  # done 1000, against 500: a fifth of the work
        ((100 + 39, 10), (1e3, 2e3), 0),  # half the work, four times the share
        ((100 + 41, 10), (1e3, 2e3), 1),
        ((100 + 10, 39), (2e3, 1e3), 1),
        ((100 + 10, 41), (2e3, 1e3), 0),
        ((100 + 89, 10), (1e3, 1e9), 0),  # and never less than a tenth
        ((100 + 91, 10), (1e3, 1e9), 1),
    ],
)
def test_whose_turn_it_is(done, remaining, chosen) -> None:
    members = [expecting(*each) for each in zip(done, remaining, strict=True)]
    assert portfolio.next_member(members, head_start=100) is members[chosen]


@pytest.mark.parametrize(
    ("done", "remaining", "bound", "chosen"),
    [
        ((99, 0), math.inf, 9.0, 0),  # the head start is not over
        ((101, 0), math.inf, 9.0, 1),
        ((101, 0), 2 * (1000 - 101), 9.0, 0),  # it may still finish
        ((101, 0), 2 * (1000 - 101) + 2, 9.0, 1),
        ((100 + 21, 79), math.inf, 9.0, 1),  # most of the work
        ((100 + 19, 81), math.inf, 9.0, 0),
        ((100 + 91, 9), math.inf, 4.0, 1),  # a tenth if it proves less
        ((100 + 89, 11), math.inf, 4.0, 0),
    ],
)
def test_when_blocks_have_their_turn(done, remaining, bound, chosen) -> None:
    members = [expecting(done[0], remaining), bounding(done[1], bound)]
    assert portfolio.next_member(members, head_start=100, allowed_work=1000) is members[chosen]


@pytest.mark.parametrize(
    ("done", "remaining", "chosen"),
    [
        (0, math.inf, 1),  # it is not known whether it can finish
        (99, math.inf, 1),
        (101, math.inf, 2),  # it has had its trial
        (50, 1e6, 2),  # it knows
    ],
)
def test_a_member_is_tried_before_blocks(done, remaining, chosen) -> None:
    members = [expecting(150 + done, math.inf), expecting(done, remaining), bounding(0, 9.0)]
    assert portfolio.next_member(members, head_start=100, allowed_work=2000) is members[chosen]


@pytest.mark.parametrize(
    ("done", "bound", "insured", "chosen"),
    [
        (29, 9.0, 0.3, 1),
        (31, 9.0, 0.3, 0),
        (0, 9.0, 0.0, 0),
        (0, 4.0, 0.3, 0),  # it proves less
    ],
)
def test_blocks_have_an_insured_share(done, bound, insured, chosen) -> None:
    members = [expecting(100 + 100 - done, 10.0), bounding(done, bound, insured)]
    assert portfolio.next_member(members, head_start=100, allowed_work=1000) is members[chosen]


def test_trials_are_short_if_there_is_little_time() -> None:
    members = [expecting(150, math.inf), expecting(50, math.inf), bounding(0, 9.0)]
    assert portfolio.next_member(members, head_start=100, allowed_work=400) is members[2]
    assert portfolio.next_member(members, head_start=100, allowed_work=600) is members[1]


def test_one_that_is_left_has_all_turns() -> None:
    alone = expecting(0, math.inf)
    assert portfolio.next_member([alone], head_start=100) is alone
    alone = bounding(0, 0.0)
    assert portfolio.next_member([alone], head_start=100) is alone


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


def test_the_search_over_samples_begins_if_bounded_features_depend_on_each_other() -> None:
    rng = np.random.default_rng(0)
    one_hot = np.eye(3)[rng.integers(0, 3, size=20)]
    y = np.where(rng.random(20) < 0.5, -1.0, 1.0)
    bounds = {"coef_bounds": (0.0, None)}
    assert not has_few_features(Problem.from_data(one_hot, y, **bounds))
    assert has_few_features(Problem.from_data(one_hot, y))
    assert has_few_features(Problem.from_data(rng.normal(size=(20, 3)), y, **bounds))
