"""The targets of the search over samples: how far they rise, and what they tell about the work."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest

from hardmargin.methods.base import Limits
from hardmargin.methods.packing import Options, PackingProof
from hardmargin.problem import Problem
from hardmargin.result import Result
from hardmargin.status import Status


def rising(*works: int, gap: float = 1e-6) -> PackingProof:
    """A proof whose targets so far have taken so much work each."""
    problem = Problem.from_data(np.arange(80.0)[:, None], [0, 1] * 40, C=1.0)
    facts = {"lower_bound": 0.0, "status": Status.HEURISTIC, "method": "heuristic", "runtime": 0.0}
    found = Result.of(problem, np.zeros(1), 1.0, **facts)
    proof = PackingProof(problem, found, Limits(gap=gap), lambda *_: None, Options())
    for work in works:
        take_target(proof, work)
    return proof


def take_target(proof: PackingProof, work: int, *, proven: bool = True) -> None:
    """Search below the next target with so much work."""

    def search(frontier, settings, target, **limits) -> SimpleNamespace:
        if proven:
            proof.own_bound = target * (1 - proof.limits.gap / 2)
            proof.lower_bound = max(proof.lower_bound, proof.own_bound)
        return SimpleNamespace(work=work, nodes=1, exhausted=proven)

    proof.search = search
    proof._search_below(proof.target)


def test_forecasts_need_two_targets_that_tell_something() -> None:
    assert rising().remaining_work() == np.inf
    assert rising(10**9).remaining_work() == np.inf
    # The first is too easy.
    assert rising(10**6, 3 * 10**9).remaining_work() == np.inf
    assert 9 * 10**9 < rising(10**9, 3 * 10**9).remaining_work() < np.inf


@pytest.mark.parametrize("works", [(), (10**6,)])
def test_a_target_that_takes_long_gives_a_first_forecast(works: tuple[int, ...]) -> None:
    """The one before was easy, so the work grows at least as fast as between an easy target and this one."""
    proof = rising(*works)
    take_target(proof, 10**8, proven=False)
    # This might still be an easy one.
    assert proof.remaining_work() == np.inf
    take_target(proof, 5 * 10**9, proven=False)
    early = proof.remaining_work()
    assert 5 * 10**9 < early < np.inf
    # What was learnt is not forgotten when the target is given up.
    take_target(proof, 10 * 10**9, proven=False)
    assert proof._target is None
    assert early < proof.remaining_work() < np.inf


def test_targets_begin_low_until_there_is_a_forecast_even_if_another_proof_has_proven_more() -> None:
    """Otherwise none of them might be finished, and the forecast would never come."""
    alone, beside = rising(), rising()
    beside.lower_bound = 30.0
    works = (10**9, 3 * 10**9)
    for work in works:
        assert beside.target == alone.target < 30
        for proof in (alone, beside):
            take_target(proof, work)
    assert beside.remaining_work() == alone.remaining_work() < np.inf
    # From now on, only what nobody has proven is of interest.
    assert beside.lower_bound == 30.0
    assert alone.target < 30 < beside.target


@pytest.mark.parametrize("gap", [1e-6, 0.01, 0.05, 0.2])
@pytest.mark.parametrize("share", [0.0, 0.5, 0.9])
def test_no_search_starts_from_a_bound_that_is_not_proven(gap, share) -> None:
    """A target counts as proven a little below it, so it must not be taken for a bound."""
    proof = rising(gap=gap)
    roots, proven = [], [0.0]

    def interrupted(frontier, settings, target, **limits) -> SimpleNamespace:
        roots.append(float(frontier.bounds.min()))
        assert roots[-1] <= max(proven) * (1 + 1e-12)
        # A part of the gap is missing: enough for the target, but less than a complete search proves.
        proven.append(target * (1 - gap + share * gap / 2))
        proof.own_bound = proof.lower_bound = max(proof.lower_bound, proven[-1])
        return SimpleNamespace(work=10**6, nodes=1, exhausted=False)

    proof.search = interrupted
    while len(roots) < 4 and proof.target is not None:
        proof._search_below(proof.target)
    assert len(roots) >= 2


def test_a_target_below_the_bound_of_another_proof_does_not_end_everything() -> None:
    """Rounding may prevent its proof; then the next one is above that bound."""
    proof = rising()
    proof.lower_bound = 30.0
    target = proof.target
    assert target < 30
    proof.search = lambda *_, **__: SimpleNamespace(work=10**6, nodes=1, exhausted=True)
    proof._search_below(target)
    assert not proof.stuck
    assert proof.target > 30
    proof._search_below(proof.target)
    assert proof.stuck


def test_what_the_first_search_proves_is_where_targets_begin() -> None:
    proof = rising()

    def search(*_, **__) -> SimpleNamespace:
        proof.lower_bound = proof.own_bound = 12.0
        return SimpleNamespace(work=10**9, nodes=4000, exhausted=False)

    proof.search = search
    proof._first_search()
    assert proof._first_over
    proof.lower_bound = 30.0
    assert 12 < proof.target < 30
    # A resumed proof goes on from there.
    proof._open = None
    resumed = rising()
    resumed.lower_bound = 30.0
    resumed.restore({**proof.state(), "open": None})
    assert resumed.target == pytest.approx(proof.target, rel=1e-5)


def test_a_target_that_is_easier_than_the_last_changes_no_forecast() -> None:
    proof = rising(10**9, 3 * 10**9)
    rate = proof._growth.rate
    take_target(proof, 2 * 10**9)
    assert proof._growth.rate == rate
    assert proof.remaining_work() < np.inf


def test_a_target_that_is_given_up_makes_the_forecast_worse() -> None:
    proof = rising(10**9, 3 * 10**9)
    before = proof.remaining_work()
    take_target(proof, 10**9, proven=False)
    # It has not taken more than the last one yet.
    assert proof.remaining_work() == before - 10**9
    take_target(proof, 50 * 10**9, proven=False)
    assert proof._target is None
    assert proof.remaining_work() > before


def test_a_target_that_is_hardly_higher_than_the_last_changes_no_forecast() -> None:
    proof = rising(10**9, 3 * 10**9)
    rate = proof._growth.rate
    proof._growth.step = proof._growth.unit / 2
    take_target(proof, 10 * 10**9)
    assert proof._growth.rate == rate


def step_in_time(proof: PackingProof) -> float:
    """The step to its next target."""
    return proof._growth.step_in_time(proof._base, proof.objective, proof.work_left)


def test_targets_that_would_take_too_long_are_lower() -> None:
    """If there is no time for the whole proof, a target should take no more than a part of what is left."""
    proof = rising(10**9, 3 * 10**9)
    step = proof._growth.step
    assert step_in_time(proof) == step
    # The next target would take 3**2 times the work of the last one.
    proof._growth.step = 2 * math.log(3) / proof._growth.rate
    proof.work_limit = 9 * 3 * 10**9 / 0.3
    assert proof.remaining_work() > proof.work_limit
    assert step_in_time(proof) == pytest.approx(proof._growth.step)
    proof.work_limit /= 3
    assert step_in_time(proof) == pytest.approx(proof._growth.step / 2)
    # The next one would be less than a sample higher: then it may take most of what is left, but it is not tiny.
    sample = 3 * 10**9 * math.exp(proof._growth.rate * proof._growth.unit)
    proof.work_limit = proof.work + sample / 0.3 * 0.999
    assert step_in_time(proof) == proof._growth.unit
    proof.work_limit = proof.work + sample**0.75 * (3 * 10**9) ** 0.25 / 0.7
    assert step_in_time(proof) == pytest.approx(0.75 * proof._growth.unit)
    proof.work_limit = 10**9
    assert step_in_time(proof) == proof._growth.unit / 2
    # Enough for everything, or unknown.
    for limit in (2 * proof.remaining_work(), 0):
        proof.work_limit = limit
        assert step_in_time(proof) == proof._growth.step


def test_if_there_is_time_for_the_objective_only_it_is_the_next_target() -> None:
    proof = rising(10**9, 3 * 10**9)
    growth = proof._growth
    objective = proof.lower_bound + 1.9 * growth.unit
    growth.step = growth.unit / 4
    alone = growth.remaining_work(objective) / 1.5
    for share in (0.7, 0.89):
        assert growth.remaining_work(objective) > alone / share
        assert growth.step_in_time(proof.lower_bound, objective, alone / share) == pytest.approx(1.9 * growth.unit)
    assert growth.step_in_time(proof.lower_bound, objective, alone / 0.91) == growth.step
    # Farther away, the forecast is not good enough.
    objective = proof.lower_bound + 2.1 * growth.unit
    alone = growth.remaining_work(objective) / 1.5
    assert growth.step_in_time(proof.lower_bound, objective, alone / 0.8) == growth.step


def test_a_target_that_takes_most_of_the_time_is_given_up_earlier() -> None:
    proof = rising(10**9, 3 * 10**9)
    proof.work_limit = 20 * 10**9
    proof._target, proof._target_work = proof.lower_bound + 3 * proof._growth.unit, 0
    assert proof._most_work() == 0.6 * 20 * 10**9
    # However much of it is done.
    proof._target_work = proof.work = 5 * 10**9
    assert proof._most_work() == 0.6 * 20 * 10**9
    proof.work_limit = math.inf
    assert proof._most_work() == 12 * 3 * 10**9
    # Not if it is the objective itself, or one sample away.
    proof.work_limit = 20 * 10**9
    proof._target = proof.objective
    assert proof._most_work() == 12 * 3 * 10**9
    proof._target = proof.lower_bound + proof._growth.unit
    assert proof._most_work() == 0


def test_after_a_target_is_given_up_the_next_one_is_lower_also_if_another_proof_has_proven_more() -> None:
    proof = rising(10**9, 3 * 10**9)
    proof.lower_bound += 0.5 * (proof.objective - proof.lower_bound)
    proof._growth.step = 8 * proof._growth.unit
    target = proof.target
    while proof._target is not None or proof.target == target:
        take_target(proof, 10**12, proven=False)
    assert proof.lower_bound < proof.target < target
