"""The method ``directions``: proofs, limits, and open regions as plain data."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from brute_force import random_case
from hardmargin import Result, Status, _core, solve, verify
from hardmargin.data import generate
from hardmargin.frontier import Frontier, Regions
from hardmargin.methods import auto, directions, heuristic
from hardmargin.methods.base import Limits
from hardmargin.presolve import presolve
from hardmargin.problem import Problem
from hardmargin.search import primal
from hardmargin.search.context import Context
from hardmargin.search.engine import frontier_of
from hardmargin.search.roots import direction_root
from hardmargin.search.settings import DirectionSettings

SMALL = [("A", 200, 2, 1, 10.0), ("B", 100, 3, 2, 1.0), ("A", 60, 5, 3, 100.0)]


@pytest.mark.parametrize(("kind", "n", "d", "seed", "C"), SMALL)
def test_small_problems_are_solved(kind, n, d, seed, C) -> None:
    data = generate(kind, n, d, seed)
    result = solve(data.X, data.y, C, method="directions")
    assert result.status is Status.OPTIMAL
    assert result.gap <= 1e-6
    assert verify(result, data.X, data.y)


def test_lengths_are_reduced_although_one_feature_varies_far_more_than_the_others() -> None:
    # Their effect is small beside that of the largest feature; without them, millions of regions do not suffice.
    case = random_case(seed=912, index=5566)
    result = solve(case.X, case.y, case.C, **case.weights, method="directions", node_limit=90_000)
    assert result.optimal
    assert result.nodes < 100_000


def test_both_exact_methods_agree_with_weights() -> None:
    data = generate("B", 60, 3, 5)
    weights = np.random.default_rng(5).uniform(0.2, 3.0, 60)
    results = {
        method: solve(data.X, data.y, 5.0, method=method, sample_weight=weights)
        for method in ("directions", "packing")
    }
    assert all(result.optimal for result in results.values())
    assert results["directions"].objective == pytest.approx(results["packing"].objective, rel=1e-6)


def test_the_finest_gap_is_reached() -> None:
    data = generate("A", 100, 2, 1)
    result = solve(data.X, data.y, 10.0, method="directions", gap=1e-9)
    assert result.optimal
    assert result.gap <= 1e-9


def test_one_thread_does_the_same_every_time_and_two_prove_the_same() -> None:
    data = generate("B", 120, 4, 4)
    first, second = (solve(data.X, data.y, 10.0, method="directions", threads=1) for _ in range(2))
    parallel = solve(data.X, data.y, 10.0, method="directions", threads=2)
    assert (first.nodes, first.objective, list(first.coef)) == (second.nodes, second.objective, list(second.coef))
    assert parallel.optimal
    assert parallel.objective == pytest.approx(first.objective, rel=1e-6)


def test_the_bound_rises_and_the_time_limit_is_kept(fake_clock) -> None:
    """The time is over in the first step of the proof. The second has no limit of its own, and examines nothing."""
    data = generate("B", 200, 10, 6)

    def end_time(time, upper, lower, nodes) -> None:
        if nodes > 0:
            fake_clock.end()

    result = solve(data.X, data.y, 10.0, method="directions", report=end_time, options={"first_nodes": 300})
    assert result.status is Status.TIME_LIMIT
    # The step ends after the slice that exceeds its limit.
    assert 0 < result.nodes < 1500
    lowers = [point.lower for point in result.trace]
    assert lowers == sorted(lowers)
    assert lowers[0] < result.lower_bound < result.objective


def test_a_search_without_time_looks_at_next_to_nothing() -> None:
    data = generate("B", 200, 10, 6)
    problem = presolve(Problem.from_data(data.X, data.y, 10.0)).problem
    options, limits = _core.DirectionOptions(), _core.SearchLimits()
    upper = float(problem.costs.sum())
    root = direction_root(problem, DirectionSettings(), upper)
    arguments = (problem.X, problem.y, problem.costs, root, upper, options, limits)
    found = _core.direction_search(*arguments, 0.0, None)
    assert found.outcome.timed_out
    assert found.nodes <= 1
    assert Frontier(*found.open).size > 0
    # The whole search would take hours: the test is that it returns.
    for limits.threads in (1, 2):
        found = _core.direction_search(*arguments, 0.05, None)
        assert found.outcome.timed_out
        assert Frontier(*found.open).size > 0


def test_a_node_limit_ends_the_search() -> None:
    data = generate("B", 200, 5, 6)
    result = solve(data.X, data.y, 10.0, method="directions", node_limit=300, time_limit=None)
    assert result.status is Status.NODE_LIMIT
    assert 300 <= result.nodes < 1500
    assert result.lower_bound <= result.objective


@pytest.mark.parametrize(
    "options",
    [
        {"memory": 0},
        {"heuristic_effort": -1.0},
        {"memory": True},
        {"efort": 1},
        {"slice": 0},
        {"slice": None},
        {"first_nodes": 1.5},
        {"later_effort": 0},
    ],
)
def test_bad_options_are_refused(options) -> None:
    with pytest.raises(ValueError, match=r"expected"):
        solve([[0.0], [1.0]], [0, 1], method="directions", options=options)


def test_open_regions_can_be_carried_on_elsewhere() -> None:
    data = generate("B", 80, 3, 7)
    presolved = presolve(Problem.from_data(data.X, data.y, 1.0))
    problem = presolved.problem
    options, limits = _core.DirectionOptions(), _core.SearchLimits()
    whole = solve(data.X, data.y, 1.0, method="directions")
    upper = float(problem.costs.sum())
    frontier = direction_root(problem, DirectionSettings(), upper)
    for _ in range(10_000):
        limits.slice, limits.node_limit = 5, 50
        part = _core.direction_search(
            problem.X, problem.y, problem.costs, frontier, upper, options, limits, 60.0, None
        )
        upper = min(upper, part.objective)
        # Only plain numbers are passed.
        frontier = Frontier(*(array.copy() for array in part.open))
        if frontier.size == 0:
            break
    assert part.lower_bound * presolved.objective_factor == pytest.approx(whole.objective, rel=1e-5)


def test_searches_over_samples_are_made_longer_before_rounding_is_blamed() -> None:
    lengths = []

    class Engine:
        """Leaves the same region open in any case."""

        def search(self, problem, frontier, search, observe):
            lengths.append(search.settings.sample_nodes)
            return SimpleNamespace(
                weights=[],
                bias=0.0,
                objective=search.upper,
                upper=search.upper,
                lower_bound=0.0,
                nodes=1,
                work=1,
                exhausted=True,
                open=frontier_of(frontier),
                outcome=SimpleNamespace(timed_out=False, interrupted=False, error=None),
            )

    data = generate("B", 60, 3, 4)
    problem = presolve(Problem.from_data(data.X, data.y, 10.0)).problem
    result = directions.run(problem, None, Limits(), lambda *_: None, context=Context(Engine()))
    assert lengths == [2000, 20_000, 200_000, 2_000_000]
    assert result.status is Status.HEURISTIC
    assert 0 < result.lower_bound < result.objective


@pytest.mark.parametrize("ratio", [1.0, 1e3, 1e6])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_feature_that_varies_far_more_than_the_others_does_no_harm(ratio, place) -> None:
    random = np.random.default_rng(3)
    y = np.repeat([-1, 1], 30)
    X = np.column_stack([y + random.normal(0, 0.45, 60), random.normal(0, 1, 60)])
    X = np.insert(X, place, ratio * random.normal(0, 1, 60), axis=1)
    result = solve(X, y, 10.0, method="directions", time_limit=None)
    assert result.optimal
    assert result.nodes < 1000
    assert result.objective == pytest.approx(solve(X, y, 10.0, method="packing").objective, rel=1e-6)


@pytest.mark.parametrize(
    ("face", "numbers"),
    [
        (9, [1.0, 1.0, -1.0, 1.0, 1.0, 0.0, 1.0, 0.0, 1.0]),
        (0, [1.0, -1.0, -1.0, 1.0, 1.0, 0.0, 1.0, 0.0, 1.0]),
        (0, [1.0, 1.0, -2.0, 1.0, 1.0, 0.0, 1.0, 0.0, 1.0]),
        (0, [1.0, 1.0, -1.0, 1.0, 1.0, 2.0, 1.0, 0.0, 1.0]),
        (0, [1.0, 1.0, 1.0, 0.0, 1.0, 0.0, 1.0]),
        (0, [1.0, 1.0, -1.0, 1.0, 1.0, 0.0, 1.0, float("nan"), 1.0]),
    ],
)
def test_regions_that_are_none_are_refused(face, numbers) -> None:
    X, y, costs = np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([1.0, -1.0]), np.ones(2)
    options, limits = _core.DirectionOptions(), _core.SearchLimits()
    region = Frontier(np.array([face], np.uint32), np.array([1], np.uint64), np.array([numbers]))
    with pytest.raises(ValueError, match="frontier"):
        _core.direction_search(X, y, costs, region, 1.0, options, limits, 1.0, None)


def test_a_search_needs_something_open() -> None:
    """If nothing was open, everything would count as closed."""
    X, y, costs = np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([1.0, -1.0]), np.ones(2)
    options, limits = _core.DirectionOptions(), _core.SearchLimits()
    empty = Frontier(np.empty(0, np.uint32), np.empty(0, np.uint64), np.empty((0, 9)))
    for nothing in (Frontier.empty(), empty):
        with pytest.raises(ValueError, match="frontier"):
            _core.direction_search(X, y, costs, nothing, 1.0, options, limits, 1.0, None)
    root = _core.direction_root(X, y, costs, 1.0, options)
    closed = _core.direction_search(X, y, costs, root, 1.0, options, limits, np.inf, None)
    assert Frontier(*closed.open).size == 0
    with pytest.raises(ValueError, match="frontier"):
        _core.direction_search(X, y, costs, closed, 1.0, options, limits, 1.0, None)


def test_the_root_holds_all_directions() -> None:
    X, y, costs = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.array([1.0, -1.0, 1.0]), np.full(3, 2.0)
    root = Frontier(*_core.direction_root(X, y, costs, 100.0, _core.DirectionOptions()))
    regions = Regions.of(root)
    assert sorted(zip(regions.faces.tolist(), regions.signs.tolist(), strict=True)) == [
        (0, -1.0),
        (0, 1.0),
        (1, -1.0),
        (1, 1.0),
    ]
    # Giving up the cheaper class costs 2, so nothing better is longer than that allows.
    assert regions.longest == pytest.approx(2.0, rel=1e-8)
    assert root.derived_under() == 2.0


def test_a_resumed_proof_goes_on_with_its_longer_searches_over_samples() -> None:
    data = generate("B", 60, 3, 4)
    problem = presolve(Problem.from_data(data.X, data.y, 10.0)).problem
    found = heuristic.run(problem, None, Limits(), lambda *_: None, heuristic.Options(0.01))
    proof, resumed = (
        directions.DirectionProof(problem, found, Limits(), lambda *_: None, directions.Options()) for _ in range(2)
    )
    state = proof.state()
    assert state["open"] is None, "nothing has been searched"
    assert state["sample_nodes"] == DirectionSettings.sample_nodes
    resumed.restore({**state, "sample_nodes": 20_000})
    assert resumed.state()["sample_nodes"] == 20_000


@pytest.mark.parametrize("method", [directions, auto])
def test_without_features_the_cheaper_class_is_given_up(method, monkeypatch) -> None:
    problem = Problem(np.zeros((3, 0)), np.array([1.0, -1.0, -1.0]), np.array([5.0, 2.0, 2.0]))
    facts = {"lower_bound": 0.0, "status": Status.HEURISTIC, "method": "heuristic", "runtime": 0.0}
    # As if the primal search had found nothing but the dearer class.
    monkeypatch.setattr(primal, "search", lambda problem, *_: Result.of(problem, [], -1.0, **facts))
    result = method.run(problem, None, Limits(), lambda *_: None)
    assert result.optimal
    assert result.objective == 4.0
    assert result.lower_bound == pytest.approx(4.0, rel=1e-6)
    assert result.lower_bound <= 4.0
