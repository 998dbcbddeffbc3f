"""What the exact methods share: when a proof searches for a better hyperplane."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from hardmargin import Problem, Result, Status
from hardmargin.frontier import Frontier
from hardmargin.methods.base import Limits
from hardmargin.methods.packing import Options, PackingProof
from hardmargin.search import primal
from hardmargin.search.context import Context

EFFORT = 2.0
# The work of a proof until the second primal search: ten times that of the first one.
INTERVAL = 10 * primal.work_of(EFFORT)


@pytest.fixture
def problem(line) -> Problem:
    return Problem.from_data(*line, C=10.0)


def flat(problem: Problem, status: Status = Status.HEURISTIC) -> Result:
    """The result of w = 0, with nothing proven."""
    facts = {"lower_bound": 0.0, "status": status, "method": "heuristic", "runtime": 0.0}
    return Result.of(problem, np.zeros(problem.m), 1.0, **facts)


@pytest.fixture
def seeds(problem, monkeypatch) -> list[int]:
    """The seeds of the primal searches, which find nothing."""
    used: list[int] = []

    def search(_, incumbent, limits, report, effort, recorder) -> Result:
        assert effort == EFFORT
        used.append(limits.seed)
        return flat(problem)

    monkeypatch.setattr(primal, "search", search)
    return used


def proof_of(problem: Problem, threads: int = 1) -> PackingProof:
    limits = Limits(seed=2**64 - 1, threads=threads)
    return PackingProof(problem, flat(problem), limits, lambda *_: None, Options())


def test_a_proof_searches_at_first_and_then_again_after_so_much_work(problem, seeds) -> None:
    proof = proof_of(problem)
    proof.improve(EFFORT)
    proof.improve(EFFORT)
    assert seeds == [2**64 - 1]
    assert proof.work_until_primal_search(EFFORT) == INTERVAL
    proof.work = INTERVAL - 1
    proof.improve(EFFORT)
    assert len(seeds) == 1
    proof.work = INTERVAL
    proof.improve(EFFORT)
    # Another seed finds other hyperplanes.
    assert seeds == [2**64 - 1, 0]
    # Later ones are less frequent.
    assert proof.work_until_primal_search(EFFORT) == pytest.approx((2**1.5 - 1) * INTERVAL)


def test_searches_are_less_frequent_if_other_threads_wait_for_them(problem, seeds) -> None:
    proof = proof_of(problem, threads=4)
    proof.improve(EFFORT)
    assert proof.work_until_primal_search(EFFORT) == 4 * INTERVAL


def test_searches_are_counted_in_the_state_and_for_all_proofs_of_a_solve(problem, seeds) -> None:
    proof, resumed, other = (proof_of(problem) for _ in range(3))
    proof.improve(EFFORT)
    resumed.restore(proof.state())
    other.take_over(proof)
    for one in (resumed, other):
        one.improve(EFFORT)
    assert len(seeds) == 1


def test_a_search_that_is_cut_short_is_not_counted(problem, monkeypatch) -> None:
    monkeypatch.setattr(primal, "search", lambda *_: flat(problem, Status.TIME_LIMIT))
    proof = proof_of(problem)
    proof.improve(EFFORT)
    assert proof.primal_searches == 0
    assert proof.watch.ended is Status.TIME_LIMIT


def test_what_a_later_search_finds_is_the_new_incumbent(problem, monkeypatch) -> None:
    proof = proof_of(problem)
    better = Result.of(problem, [1.0], -2.0, lower_bound=0.0, status="heuristic", method="heuristic", runtime=0.0)
    assert better.objective < proof.objective
    monkeypatch.setattr(primal, "search", lambda *_: better)
    proof.primal_searches, proof.work = 1, INTERVAL
    proof.improve(EFFORT)
    assert proof.objective == better.objective


class ScriptedEngine:
    """Reaches the gap with a better hyperplane in the first search, and closes everything in the second one."""

    def __init__(self, better: float) -> None:
        self.better = better
        self.searches: list[tuple[Any, Any]] = []

    def search(self, _, frontier, search, __) -> Any:
        self.searches.append((frontier, search))
        return SimpleNamespace(
            weights=[0.0],
            bias=1.0,
            objective=self.better,
            lower_bound=self.better * (1 - 1e-7),
            nodes=10,
            work=100,
            exhausted=len(self.searches) > 1,
            outcome=None,
        )


RECORDS = cast("Any", SimpleNamespace(sink=None, number=0))


def proof_with(problem: Problem, engine: ScriptedEngine, **limits: Any) -> PackingProof:
    """A proof whose searches are scripted, and with a checkpoint that is due."""
    keeper = SimpleNamespace(seconds_until_due=lambda: 0.0)
    context = Context(engine=cast("Any", engine), keeper=cast("Any", keeper))
    return PackingProof(problem, flat(problem), Limits(gap=1e-6, **limits), lambda *_: None, Options(), context)


@pytest.mark.parametrize("records", [None, RECORDS], ids=["no records", "records"])
def test_a_search_with_records_is_completed_after_the_gap_is_reached(problem, records) -> None:
    engine = ScriptedEngine(better=0.5 * flat(problem).objective)
    proof = proof_with(problem, engine)
    start, upper = Frontier.empty(), proof.objective
    found = proof.search(start, proof._settings, upper, nodes=10, work=100, records=records)
    assert found.exhausted == (records is not None)
    (frontier, first), *others = engine.searches
    assert frontier is start
    assert (first.upper, first.node_limit, first.work_limit, first.pause) == (upper, 10, 100, 0.0)
    assert len(others) == (records is not None)
    for frontier, second in others:
        # From what is left open, below the better hyperplane, however long a checkpoint has been due.
        assert frontier is not start
        assert (second.upper, second.node_limit, second.pause) == (engine.better, 0, np.inf)
        assert second.work_limit > 0


@pytest.mark.parametrize("limit", ["nodes", "report"])
def test_a_search_with_records_ends_at_a_limit_although_the_gap_is_reached(problem, limit) -> None:
    engine = ScriptedEngine(better=0.5 * flat(problem).objective)
    proof = proof_with(problem, engine, node_limit=5 if limit == "nodes" else None)
    if limit == "report":
        proof.watch.ended = Status.INTERRUPTED
    assert not proof.search(Frontier.empty(), proof._settings, proof.objective, records=RECORDS).exhausted
    assert len(engine.searches) == 1
