"""One search for a whole path: compared with exhaustive search, from a poor start and cut short."""

from __future__ import annotations

import numpy as np
import pytest

import hardmargin.path_search
from brute_force import KINDS, random_case
from hardmargin import Problem, Status, path, solve
from hardmargin.data import generate
from hardmargin.envelope import lower_envelope
from hardmargin.limits import Limits
from hardmargin.path_proof import joint_proof
from hardmargin.penalty_path import line_of
from test_path_solver import exact_lines, optimum


@pytest.fixture
def alone(monkeypatch) -> None:
    """No primal search and no single solve: the joint search starts from w = 0, and finds and proves everything.

    A wrong conclusion is hard to notice if the search starts from the optimum.
    """

    def flat(search, _) -> None:
        if not search._hyperplanes:
            search._add(search._evaluated(np.zeros(search._task.problem.m), 1.0))

    monkeypatch.setattr(hardmargin.path_search.PathSearch, "_sweep", flat)
    monkeypatch.setattr(hardmargin.path_search.PathSearch, "_solve", lambda *_: None)
    monkeypatch.setattr(hardmargin.path_search.PathSearch, "_next", lambda _: None)


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("method", ["directions", "packing"])
@pytest.mark.parametrize("index", range(3 * len(KINDS)))
def test_the_envelope_is_found_and_proven_from_nothing(index, method) -> None:
    case = random_case(13, index)
    lines = exact_lines(case)
    low, high = case.C / 100, case.C * 100
    found = path(case.X, case.y, (low, high), method=method, **case.weights)
    places = [low, high, *lower_envelope(lines, low, high).breakpoints, *found.breakpoints]
    for C in [*places, *np.geomspace(low, high, 7)[1:-1]]:
        best, result = optimum(lines, C), found.at(C)
        assert result.lower_bound <= best * (1 + 1e-9)
        assert result.objective >= best * (1 - 1e-8)
        if found.optimal:
            assert result.objective <= best * (1 + 2e-6)
    # Data with constant features only have no direction; rounding may leave a gap far from the origin.
    assert found.optimal or case.kind in ("constant feature", "offset", "far outlier")


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("method", ["directions", "packing"])
@pytest.mark.parametrize("index", range(0, 3 * len(KINDS), 2))
def test_a_search_that_is_cut_short_claims_nothing_wrong(index, method) -> None:
    case = random_case(17, index)
    lines = exact_lines(case)
    low, high = case.C / 100, case.C * 100
    for nodes in (1, 4, 12):
        found = path(case.X, case.y, (low, high), method=method, node_limit=nodes, **case.weights)
        for C in [*np.geomspace(low, high, 9)[1:-1], *found.breakpoints, *(C for C, _ in found.proven)]:
            assert found.at(C).lower_bound <= optimum(lines, C) * (1 + 1e-9)


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("method", ["directions", "packing"])
def test_it_agrees_with_single_solves(method) -> None:
    for seed in range(3):
        data = generate("B", 30, 3, seed)
        found = path(data.X, data.y, (0.5, 500), method=method)
        assert found.optimal
        for C in (0.5, 3.0, 20.0, 500.0, *found.breakpoints):
            assert found.at(C).objective == pytest.approx(solve(data.X, data.y, C).objective, rel=2e-6)


@pytest.mark.usefixtures("alone")
def test_a_list_of_values_is_proven_at_these(blobs) -> None:
    found = path(*blobs, [0.1, 1.0, 10.0])
    assert found.optimal
    assert {C for C, _ in found.proven} <= {0.1, 1.0, 10.0}


@pytest.mark.usefixtures("alone")
def test_interruption_and_node_limit(blobs) -> None:
    def interrupt(state) -> None:
        if not state.done:
            raise KeyboardInterrupt

    assert path(*blobs, (0.01, 100), report=interrupt).status is Status.INTERRUPTED
    assert path(*blobs, (0.01, 100), node_limit=1).status is Status.NODE_LIMIT


def test_a_step_pauses_at_a_better_hyperplane(line) -> None:
    problem = Problem.from_data(*line, C=10.0)
    poor = solve(*line, C=0.01)
    proof = joint_proof(problem, {}, Limits(), poor)
    vertices = [(C, line_of(poor).at(C)) for C in (0.1, 10.0)]
    step = proof.step(vertices, 60.0, lambda *_: None)
    assert step.hyperplane is not None
    assert step.share < 1
    better = problem.evaluate(*step.hyperplane)
    assert better.objective < vertices[-1][1]


@pytest.mark.parametrize(
    "settings", [{"method": "blocks"}, {"method": "heuristic"}, {"options": {"slice": 4}}, {"cluster": "local"}]
)
def test_what_it_does_not_understand_is_left_to_single_solves(line, settings) -> None:
    assert joint_proof(Problem.from_data(*line, C=10.0), settings, Limits(), solve(*line, C=1.0)) is None
