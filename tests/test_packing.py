"""The method ``packing``: proofs, limits, and open subproblems as plain data."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

from hardmargin import Result, Status, _core, solve, verify
from hardmargin.data import generate
from hardmargin.frontier import Frontier
from hardmargin.methods import heuristic
from hardmargin.methods.base import Limits
from hardmargin.methods.packing import Options, PackingProof
from hardmargin.presolve import presolve
from hardmargin.problem import Problem
from hardmargin.search.roots import packing_root

SMALL = [("A", 60, 2, 1, 10.0), ("B", 60, 5, 2, 1.0), ("A", 60, 10, 3, 100.0)]


@pytest.mark.parametrize(("kind", "n", "d", "seed", "C"), SMALL)
def test_small_problems_are_solved(kind, n, d, seed, C) -> None:
    data = generate(kind, n, d, seed)
    result = solve(data.X, data.y, C, method="packing")
    assert result.status is Status.OPTIMAL
    assert result.gap <= 1e-6
    assert verify(result, data.X, data.y)


def test_the_finest_gap_is_reached() -> None:
    data = generate("A", 60, 2, 1)
    result = solve(data.X, data.y, 10.0, method="packing", gap=1e-9)
    assert result.optimal
    assert result.gap <= 1e-9


def test_threads_do_not_change_the_answer() -> None:
    data = generate("B", 60, 5, 4)
    alone = solve(data.X, data.y, 1.0, method="packing", threads=1)
    together = solve(data.X, data.y, 1.0, method="packing", threads=2)
    assert alone.optimal
    assert together.optimal
    assert together.objective == pytest.approx(alone.objective, rel=1e-6)


def test_one_thread_repeats_itself() -> None:
    data = generate("B", 60, 5, 5)
    first, second = (solve(data.X, data.y, 1.0, method="packing", seed=3) for _ in range(2))
    assert first.coef == second.coef
    assert first.nodes == second.nodes


def test_weights_are_costs() -> None:
    data = generate("A", 40, 2, 6)
    weights = np.random.default_rng(0).integers(1, 4, size=40)
    weighted = solve(data.X, data.y, 2.0, sample_weight=weights, method="packing")
    repeated = solve(np.repeat(data.X, weights, axis=0), np.repeat(data.y, weights), 2.0, method="packing")
    assert weighted.optimal
    assert weighted.objective == pytest.approx(repeated.objective, rel=1e-9)


def test_a_time_limit_leaves_a_bound_that_has_risen(fake_clock) -> None:
    data = generate("A", 120, 10, 1)
    positive = []

    def end_time(time, upper, lower, nodes) -> None:
        positive.extend([lower] if lower > 0 else [])
        if nodes > 0 and positive and lower > 1.01 * positive[0]:
            fake_clock.end()

    result = solve(data.X, data.y, 1.0, method="packing", report=end_time)
    assert result.status is Status.TIME_LIMIT
    first = next(point.lower for point in result.trace if point.lower > 0)
    assert 1.01 * first < result.lower_bound < 0.9 * result.objective
    lowers = [point.lower for point in result.trace]
    assert lowers == sorted(lowers)


def test_an_interrupt_in_the_tree_keeps_hyperplane_and_bound() -> None:
    data = generate("A", 200, 10, 1)
    nodes_seen = []

    def interrupt(time: float, upper: float, lower: float, nodes: int) -> None:
        nodes_seen.append((lower, nodes))
        if lower > 0 and len(nodes_seen) > 20:
            raise KeyboardInterrupt

    result = solve(data.X, data.y, 1.0, method="packing", report=interrupt, time_limit=None)
    assert result.status is Status.INTERRUPTED
    assert 0 < result.lower_bound < result.objective
    assert verify(result, data.X, data.y)


@pytest.mark.parametrize(
    "options",
    [
        {"cover_distance": -1},
        {"cover_distance": float("nan")},
        {"cover_distance": "often"},
        {"memory": 0},
        {"heuristic_effort": -1.0},
        {"efort": 1},
    ],
)
def test_bad_options_are_refused(options) -> None:
    with pytest.raises(ValueError, match=r"expected"):
        solve([[0.0], [1.0]], [0, 1], method="packing", options=options)


def test_unequal_costs_do_not_pile_up_sets() -> None:
    data = generate("B", 60, 3, 5)
    weights = np.random.default_rng(5).uniform(0.2, 3.0, 60)
    result = solve(data.X, data.y, 5.0, method="packing", sample_weight=weights)
    assert result.optimal
    assert result.nodes < 500


def test_the_cover_bound_saves_subproblems_and_changes_nothing_else() -> None:
    data = generate("B", 80, 8, 3)
    presolved = presolve(Problem.from_data(data.X, data.y, 100.0))
    problem = presolved.problem
    upper = solve(data.X, data.y, 100.0, method="heuristic").objective / presolved.objective_factor
    found = {}
    for distance in (0.0, np.inf):
        options = _core.PackingOptions()
        options.cover_distance = distance
        found[distance] = _core.packing_search(
            problem.X,
            problem.y,
            problem.costs,
            packing_root(problem, 0.0, upper),
            upper,
            options,
            _core.SearchLimits(),
            np.inf,
            None,
        )
        assert Frontier(*found[distance].open).size == 0
    assert found[0.0].lower_bound == pytest.approx(found[np.inf].lower_bound, rel=1e-9)
    assert found[0.0].nodes < 0.5 * found[np.inf].nodes


def test_open_subproblems_can_be_carried_on_elsewhere() -> None:
    data = generate("B", 60, 5, 7)
    problem = presolve(Problem.from_data(data.X, data.y, 1.0)).problem
    options, limits = _core.PackingOptions(), _core.SearchLimits()
    whole = solve(data.X, data.y, 1.0, method="packing")

    def search(frontier, upper, node_limit):
        limits.slice, limits.node_limit = 5, node_limit
        return _core.packing_search(
            problem.X, problem.y, problem.costs, frontier, upper, options, limits, 60.0, None
        )

    upper = float(problem.costs.sum())
    frontier = packing_root(problem, 0.0, upper)
    parts = 0
    while frontier.size:
        part = search(frontier, upper, 20)
        # Only plain numbers are passed.
        frontier = Frontier(*(array.copy() for array in part.open))
        upper = min(upper, part.objective)
        parts += 1
    factor = presolve(Problem.from_data(data.X, data.y, 1.0)).objective_factor
    assert parts > 1
    assert upper * factor == pytest.approx(whole.objective, rel=1e-6)


def test_below_a_target_that_none_reaches_better_hyperplanes_are_kept() -> None:
    data = generate("B", 60, 5, 7)
    problem = presolve(Problem.from_data(data.X, data.y, 1.0)).problem
    optimum = solve(problem.X, problem.y, 1.0, sample_weight=problem.costs).objective
    limits = _core.SearchLimits()
    target = 0.8 * optimum

    def search(keep_below):
        limits.keep_below = keep_below
        return _core.packing_search(
            problem.X,
            problem.y,
            problem.costs,
            packing_root(problem, 0.0, target),
            target,
            _core.PackingOptions(),
            limits,
            60.0,
            None,
        )

    without, found = search(0.0), search(10 * optimum)
    assert not without.weights
    assert without.objective == target
    assert found.weights
    assert optimum * (1 - 1e-9) <= found.objective < 10 * optimum
    assert problem.evaluate(found.weights, found.bias).objective == pytest.approx(found.objective, rel=1e-7)
    # What is proven is the same.
    assert found.upper == without.upper == target
    assert found.lower_bound == without.lower_bound <= target


@pytest.mark.parametrize("gap", [1e-6, 0.05])
@pytest.mark.parametrize("samples_for_ten_times_the_work", [3.0, 6.0, 12.0])
def test_every_target_needs_three_times_the_work_of_the_last(
    samples_for_ten_times_the_work, gap, monkeypatch
) -> None:
    """If the work grows as assumed, and a step is neither below one sample nor the last one."""
    problem = Problem(np.zeros((400, 2)), np.repeat([1.0, -1.0], 200), np.ones(400))
    found = Result.of(
        problem, [0.0, 0.0], 1.0, lower_bound=0.0, status=Status.HEURISTIC, method="heuristic", runtime=0.0, nodes=0
    )
    proof = PackingProof(problem, found, Limits(gap=gap), lambda *_: None, Options())
    # So many that the next one is far away.
    proof.primal_searches = 10**6
    works = []

    def search(_, settings, upper, *, nodes=None, work=0, records=None):
        if nodes is None:
            works.append(10.0 ** (upper / samples_for_ten_times_the_work))
            proof.lower_bound = proof.own_bound = upper * (1 - gap / 2)
        work_done = works[-1] if works else 0.0
        return SimpleNamespace(work=work_done, nodes=nodes or 1 + int(work_done / 1e3), exhausted=True)

    monkeypatch.setattr(proof, "search", search)
    monkeypatch.setattr("hardmargin.methods.packing.reduction", lambda _: None)
    monkeypatch.setattr("hardmargin.search.target_growth._EASY_WORK", 1e3)
    for _ in proof.steps():
        pass
    assert proof.proven
    growth = [after / before for before, after in pairwise(works) if before > 1e4]
    assert len(growth) >= 5
    assert growth[2:-1] == pytest.approx([3.0] * len(growth[2:-1]), rel=0.01)


def test_a_target_that_takes_too_long_is_given_up_for_a_lower_one(monkeypatch) -> None:
    """If the work suddenly grows faster than before, as long as a lower target is at least one sample away."""
    problem = Problem(np.zeros((400, 2)), np.repeat([1.0, -1.0], 200), np.ones(400))
    found = Result.of(
        problem, [0.0, 0.0], 1.0, lower_bound=0.0, status=Status.HEURISTIC, method="heuristic", runtime=0.0, nodes=0
    )
    proof = PackingProof(problem, found, Limits(), lambda *_: None, Options())
    # So many that the next one is far away.
    proof.primal_searches = 10**6
    proven, given_up = [], []

    def search(_, settings, upper, *, nodes=None, work=0, records=None):
        if nodes is not None:
            return SimpleNamespace(work=0, nodes=nodes, exhausted=True)
        # Cheap up to 100 samples, and then ten times as expensive for each further one.
        needed = int(1e9 * 10.0 ** max(0.0, upper - 100))
        if 0 < work < needed:
            given_up.append(upper)
            return SimpleNamespace(work=work, nodes=10, exhausted=False)
        proven.append(upper)
        proof.lower_bound = proof.own_bound = upper * (1 - proof.limits.gap / 2)
        return SimpleNamespace(work=needed, nodes=10, exhausted=True)

    monkeypatch.setattr(proof, "search", search)
    monkeypatch.setattr("hardmargin.methods.packing.reduction", lambda _: None)
    for _ in proof.steps():
        if proof.lower_bound > 105:
            break
    assert given_up
    assert all(target > 100 for target in given_up)
    # Every abandoned target was followed by a lower one, and steps never fall below one sample.
    assert proven == sorted(proven)
    beyond = [target for target in proven if target > 100]
    assert beyond[0] < given_up[0]
    assert all(after - before > 1 - 1e-3 for before, after in pairwise(beyond))


def test_what_is_learnt_below_a_target_helps_with_the_next() -> None:
    data = generate("B", 100, 10, 3)
    presolved = presolve(Problem.from_data(data.X, data.y, 100.0))
    problem = presolved.problem
    objective = solve(data.X, data.y, 100.0, method="heuristic").objective / presolved.objective_factor

    def search(share, knowledge):
        options = _core.PackingOptions()
        options.cover_distance = 0.0
        options.knowledge = knowledge
        target = share * objective
        found = _core.packing_search(
            problem.X,
            problem.y,
            problem.costs,
            packing_root(problem, 0.0, target),
            target,
            options,
            _core.SearchLimits(),
            600.0,
            None,
        )
        assert found.lower_bound == pytest.approx(target, rel=1e-5)
        return found.work

    knowledge = _core.PackingKnowledge(problem.X, problem.y, problem.costs)
    search(0.85, knowledge)
    assert knowledge.sets > 0
    assert search(0.9, knowledge) < search(0.9, None)


def test_knowledge_of_other_samples_is_refused() -> None:
    X, y = np.array([[0.0], [1.0], [2.0]]), np.array([1.0, -1.0, 1.0])
    options = _core.PackingOptions()
    options.knowledge = _core.PackingKnowledge(X + 1, y, np.ones(3))
    with pytest.raises(ValueError, match="other samples"):
        _core.packing_search(
            X,
            y,
            np.ones(3),
            _core.packing_root(3, [], [], 0.0, 3.0),
            3.0,
            options,
            _core.SearchLimits(),
            1.0,
            None,
        )


@pytest.mark.parametrize(
    ("integers", "ends"),
    [([1, 99], [2]), ([1, 0, 0], [3]), ([2, 0, 0], [3]), ([2, 0], [2]), ([0], [2]), ([0], [0])],
)
def test_a_frontier_that_does_not_fit_is_refused(integers, ends) -> None:
    X, y = np.zeros((3, 1)), np.array([1.0, -1.0, 1.0])
    frontier = Frontier(np.array(integers, np.uint32), np.array(ends, np.uint64), np.array([[0.0, 1.0]]))
    with pytest.raises(ValueError, match="frontier"):
        _core.packing_search(
            X, y, np.ones(3), frontier, 3.0, _core.PackingOptions(), _core.SearchLimits(), 1.0, None
        )


def test_a_search_needs_something_open() -> None:
    """If nothing was open, everything would count as closed, which would prove any bound."""
    X, y, costs = np.array([[0.0], [1.0], [2.0]]), np.array([1.0, -1.0, 1.0]), np.ones(3)
    options, limits = _core.PackingOptions(), _core.SearchLimits()
    empty = Frontier(np.empty(0, np.uint32), np.empty(0, np.uint64), np.empty((0, 2)))
    for nothing in (Frontier.empty(), empty):
        with pytest.raises(ValueError, match="frontier"):
            _core.packing_search(X, y, costs, nothing, 3.0, options, limits, 1.0, None)
    root = _core.packing_root(3, [], [], 0.0, 3.0)
    closed = _core.packing_search(X, y, costs, root, 3.0, options, limits, np.inf, None)
    assert Frontier(*closed.open).size == 0
    with pytest.raises(ValueError, match="frontier"):
        _core.packing_search(X, y, costs, closed, 3.0, options, limits, 1.0, None)


@pytest.mark.parametrize(("kept", "given_up"), [([3], []), ([0], [0]), ([], [1, 1])])
def test_a_root_decides_samples_that_exist_and_each_of_them_once(kept, given_up) -> None:
    with pytest.raises(ValueError, match="root"):
        _core.packing_root(3, kept, given_up, 0.0, 3.0)


@pytest.mark.parametrize("ending", [KeyboardInterrupt, ZeroDivisionError])
def test_a_search_that_ends_early_leaves_the_settings_alone(ending, monkeypatch) -> None:
    """The first search runs without the cover bound, those below targets with it."""
    data = generate("B", 100, 10, 3)
    problem = presolve(Problem.from_data(data.X, data.y, 10.0)).problem
    found = heuristic.run(problem, None, Limits(), lambda *_: None, heuristic.Options(0.01))
    proof = PackingProof(problem, found, Limits(), lambda *_: None, Options(cover_distance=5.0))
    distances = []

    def search(_, settings, upper, **ends):
        distances.append(settings.cover_distance)
        raise ending

    monkeypatch.setattr(proof, "search", search)
    with pytest.raises(ending):
        proof._first_search()
    with pytest.raises(ending):
        proof._search_below(found.lower_bound + 1.0)
    assert distances == [np.inf, 5.0]
