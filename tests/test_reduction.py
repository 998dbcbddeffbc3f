"""Samples decided before the search, and separable data, which need no search."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pytest

import hardmargin.methods
from brute_force import candidates, optimum, random_case, violated
from hardmargin import Problem, Status, solve
from hardmargin.data import generate
from hardmargin.methods import heuristic
from hardmargin.methods.base import Limits
from hardmargin.methods.packing import Options, PackingProof
from hardmargin.presolve import presolve
from hardmargin.search.reduction import Reduction, reduction

NATIVE_METHODS = [name for name in hardmargin.methods.names() if name not in ("indicator", "benders")]


def ignore(*_: object) -> None:
    """A report that nobody reads."""


def proof_of(problem: Problem, effort: float = 0.2, options: Options | None = None) -> PackingProof:
    limits = Limits()
    found = heuristic.run(problem, None, limits, ignore, heuristic.Options(effort))
    return PackingProof(problem, found, limits, ignore, options or Options())


def reduced_cases(count: int) -> Iterator[tuple[Problem, Reduction]]:
    """Random problems, and what is decided in advance when little is known about the optimum."""
    for index in range(count):
        case = random_case(5, index)
        problem = presolve(Problem.from_data(case.X, case.y, case.C, **case.weights)).problem
        yield problem, reduction(proof_of(problem, effort=1e-6))


def test_nothing_better_keeps_a_sample_that_is_given_up_in_advance() -> None:
    """A sample that costs more than everything else must be kept."""
    count = 0
    for problem, found in reduced_cases(150):
        for sample in found.given_up:
            costs = problem.costs.copy()
            costs[sample] = 10 * costs.sum()
            assert optimum(Problem(problem.X, problem.y, costs)) >= found.derived_under * (1 - 1e-9)
            count += 1
    assert count > 30


def test_nothing_better_gives_up_a_sample_that_is_kept_in_advance() -> None:
    """The best hyperplane that has a sample at or inside its margin is among those that brute force tries."""
    count = 0
    for problem, found in reduced_cases(300):
        for half_norms, margins in candidates(problem):
            for sample in found.kept:
                given_up = violated(margins)
                given_up[:, sample] = True
                inside = margins[:, sample] <= 1 + 1e-9
                least = np.min((half_norms + given_up @ problem.costs)[inside], initial=np.inf)
                assert least >= found.derived_under * (1 - 1e-9)
        count += len(found.kept)
    assert count > 100


def test_no_step_of_a_proof_claims_too_much_after_a_poor_start() -> None:
    """Decisions are made from the first, poor hyperplane, while better ones are found later."""
    short_first_search = Options(first_nodes=2, later_effort=1e-6)
    decided = improved = 0
    for index in range(200):
        case = random_case(6, index)
        problem = presolve(Problem.from_data(case.X, case.y, case.C, **case.weights)).problem
        proof = proof_of(problem, effort=1e-6, options=short_first_search)
        least, start = optimum(problem), proof.objective
        for _ in proof.steps():
            assert proof.lower_bound <= least * (1 + 1e-9)
        assert proof.objective == pytest.approx(least, rel=1e-6)
        assert proof.proven
        decided += bool(proof.reduced)
        improved += start > least * (1 + 1e-6)
    assert decided > 50
    assert improved > 5


def test_decisions_for_better_hyperplanes_than_there_are_do_no_harm() -> None:
    data = generate("B", 60, 2, 3)
    problem = presolve(Problem.from_data(data.X, data.y, 10.0)).problem
    proof = proof_of(problem)
    state = proof.state()
    # As if they came from a hyperplane that was lost.
    state["reduction"] = {"given_up": [0, 1], "kept": [2, 3], "derived_under": 0.3 * proof.objective}
    proof.restore(state)
    for _ in proof.steps():
        pass
    assert proof.proven
    assert proof.objective == pytest.approx(solve(problem.X, problem.y, sample_weight=problem.costs).objective)


def test_a_resumed_search_knows_what_was_decided(tmp_path) -> None:
    data, path = generate("A", 200, 3, 1), tmp_path / "state"
    whole = solve(data.X, data.y, 10.0, method="packing", options={"slice": 1})
    first = solve(data.X, data.y, 10.0, method="packing", options={"slice": 1}, checkpoint=path, node_limit=1)
    assert first.status is Status.NODE_LIMIT
    assert first.presolve == whole.presolve != ""
    again = solve(data.X, data.y, 10.0, method="packing", options={"slice": 1}, resume=path)
    assert again.optimal
    assert (again.presolve, again.objective) == (whole.presolve, pytest.approx(whole.objective))


def test_deciding_takes_a_bounded_number_of_tries(monkeypatch) -> None:
    """If the given-up samples cost as much as the objective, keeping the others is certain, and costs nothing."""
    tries = 0
    attempt = hardmargin.search.reduction._try

    def counted(*arguments):
        nonlocal tries
        tries += 1
        return attempt(*arguments)

    monkeypatch.setattr(hardmargin.search.reduction, "_try", counted)
    rng = np.random.default_rng(0)
    y = np.repeat([1.0, -1.0], 2000)
    X = 3 * y[:, None] + rng.uniform(-1, 1, (4000, 2))
    y[[0, 2000]] *= -1
    result = solve(X, y, 1e4, method="packing")
    assert result.optimal
    assert result.n_violations == 2
    assert tries < 300


@pytest.mark.parametrize("method", ["packing", "auto"])
def test_what_is_decided_in_advance_is_told_and_true(method: str) -> None:
    data = generate("B", 100, 2, 1)
    # So small that they are useless, but so many that auto starts with the search over samples.
    more_features = 1e-3 * np.random.default_rng(0).standard_normal((100, 9))
    result = solve(np.hstack([data.X, more_features]), data.y, 10.0, method=method)
    assert result.optimal
    told = re.fullmatch(r"samples decided in advance: (\d+) given up, (\d+) kept", result.presolve)
    assert told is not None
    assert 0 < int(told[1]) <= result.n_violations
    assert 0 < int(told[2]) <= result.n - result.n_violations


@pytest.mark.parametrize("method", NATIVE_METHODS)
@pytest.mark.parametrize(("n", "m"), [(12, 2), (300, 10), (40, 120)])
def test_separable_data_need_no_search(method, n, m) -> None:
    rng = np.random.default_rng(n)
    normal, X = rng.standard_normal(m), rng.standard_normal((n, m))
    y = np.sign(X @ normal)
    X += 0.2 * np.outer(y, normal)
    result = solve(X, y, 1e4, method=method)
    assert result.optimal
    assert result.n_violations == 0
    assert result.nodes == 0
