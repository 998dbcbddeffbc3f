"""Limits on what may be given up: ``budget``, ``methods/budget`` and how ``solve`` treats them."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from brute_force import Case, random_case
from budget_cases import NARROW, optimum, problem_of, random_limits
from hardmargin import BudgetError, HardMarginSVC, Problem, Result, Status, outliers, path, solve, verify
from hardmargin.budget import BUDGET_TOLERANCE, Budget
from hardmargin.data import generate
from hardmargin.limits import Limits
from hardmargin.methods import directions, get_method
from hardmargin.methods.budget_proofs import BudgetDirections, suits_directions
from hardmargin.presolve import presolve
from hardmargin.search import primal
from hardmargin.search.budget_primal import BudgetPrimal
from hardmargin.search.context import Context
from hardmargin.search.engine import LocalEngine, Search
from hardmargin.search.roots import packing_root
from hardmargin.search.settings import PackingSettings
from hardmargin.search.turns import Member, turns

# Separable with a narrow margin: every sample that is given up widens it.
X = [[0.0], [1.0], [2.0], [2.5], [4.0], [8.0]]
Y = [0, 0, 0, 1, 1, 1]


def silent(*_: float) -> None:
    """Report nothing."""


def result_of(problem: Problem) -> Result:
    facts = {"lower_bound": 0.0, "status": Status.HEURISTIC, "method": "heuristic", "runtime": 0.0}
    return Result.of(problem, np.zeros(problem.m), 1.0, **facts)


def solved(case: Case, limits: Any, method: str) -> Result | BudgetError:
    """The result for a case, or why there is none."""
    options = {"effort": 0.05} if method == "heuristic" else None
    settings = {"method": method, "options": options, "max_violations": limits}
    try:
        return solve(case.X, case.y, case.C, **case.weights, **settings)
    except BudgetError as error:
        return error


@pytest.mark.parametrize("method", ["auto", "packing", "heuristic"])
def test_no_promise_is_broken(method) -> None:
    kinds = {"optimal": 0, "impossible": 0, "within": 0}
    for index in range(56):
        case = random_case(21, index)
        limits = random_limits(21, index, case)
        best = optimum(problem_of(case, limits))
        result = solved(case, limits, method)
        if isinstance(result, BudgetError):
            size = float(np.abs(case.X - np.median(case.X, axis=0)).max())
            assert not result.proven or math.isinf(best) or best * size**2 > NARROW
            kinds["impossible"] += result.proven
            continue
        kinds["within"] += 1
        kinds["optimal"] += result.optimal
        assert result.lower_bound <= best * (1 + 1e-9)
        assert result.objective >= best * (1 - 1e-9)
        assert not result.optimal or result.objective <= best * (1 + 1.01e-6)
        assert verify(result, case.X, case.y)
    assert kinds["within"] >= 35
    if method != "heuristic":
        assert kinds["optimal"] == kinds["within"]
        assert kinds["impossible"] >= 3


@pytest.mark.parametrize("cover_distance", [0.0, math.inf, None])
def test_the_search_over_samples_proves_it_alone(cover_distance) -> None:
    """From an objective that nothing exceeds, and below targets, whatever the limited costs are multiplied by."""
    nodes = 0
    for index in range(60):
        rng = np.random.default_rng([22, index])
        samples = rng.standard_normal((int(rng.integers(10, 25)), 2))
        labels = np.where(samples @ [1, 0.5] + rng.standard_normal(len(samples)) > 0, 1, -1)
        if len(set(labels.tolist())) < 2:
            continue
        case = Case("gaussian", samples, labels, 10 ** rng.uniform(-1, 2), {})
        problem = presolve(problem_of(case, random_limits(22, index, case))).problem
        assert problem.budget is not None
        if not math.isfinite(problem.budget.total):
            # The same problem: the limit of a class is in the unit of its costs.
            negatives, positives = 10 ** rng.uniform(-2, 2, size=2)
            factors = np.where(problem.y > 0, positives, negatives)
            costs = np.where(problem.budget.limited(problem.y), factors, 1.0) * problem.costs
            budget = Budget(problem.budget.negatives * negatives, problem.budget.positives * positives)
            problem = replace(problem, costs=costs, budget=budget)
        best = optimum(problem)
        for upper in (1e20, best * 1.1, best * 0.6):
            if not 0 < upper < math.inf:
                continue
            settings = PackingSettings(1e-7, cover_distance, budget=problem.budget.relaxed())
            found = LocalEngine().search(
                problem, packing_root(problem, 0.0, upper), Search(settings, upper, math.inf, slice=7), None
            )
            nodes += found.nodes
            assert found.exhausted
            assert found.lower_bound <= best * (1 + 1e-9)
            assert found.lower_bound >= min(best, upper) * (1 - 1e-6)
            assert bool(found.weights) == (best < upper)
            if found.weights:
                assert found.objective == pytest.approx(best, rel=1e-6, abs=1e-12)
    assert nodes > 300


def test_the_search_over_directions_proves_it_alone() -> None:
    nodes = 0
    for index in range(60):
        rng = np.random.default_rng([23, index])
        samples = rng.standard_normal((int(rng.integers(10, 25)), int(rng.integers(1, 4))))
        if index % 3 == 0:
            samples = np.round(samples)
        labels = np.where(samples[:, 0] + rng.standard_normal(len(samples)) > 0, 1, -1)
        case = Case("gaussian", samples, labels, 1.0, {})
        if len(set(labels.tolist())) < 2:
            continue
        problem = presolve(problem_of(case, int(rng.integers(0, 7)))).problem
        best = optimum(problem)
        if not 0 < best < math.inf:
            continue
        assert suits_directions(problem)
        for upper in (best * 2, best * 1.001, best * 0.6):
            # From a hyperplane that is not within the budget, so that every better one has to be found.
            found = replace(result_of(problem), objective=upper)
            known = (problem, found, Limits(), silent, directions.Options(), Context())
            proof = BudgetDirections(*known, BudgetPrimal(problem, Limits()))
            for _ in proof.steps():
                pass
            nodes += proof.nodes
            assert proof.lower_bound <= best * (1 + 1e-9)
            assert proof.lower_bound >= min(best, upper) * (1 - 1e-6)
            assert proof.objective == pytest.approx(min(best, upper), rel=1e-6)
    assert nodes > 300


@pytest.mark.parametrize(
    ("limits", "objective", "violations"),
    [
        (0, 8.0, []),
        (1, 0.5 * (2 / 2) ** 2, [3]),
        (2, 0.5 * (2 / 6) ** 2, [3, 4]),
        (3, 0.0, [0, 1, 2]),
        ({0: 1, 1: 0}, 0.5 * (2 / 1.5) ** 2, [2]),
        ({0: 0, 1: 1}, 0.5, [3]),
        ({0: 0}, 0.0, [3, 4, 5]),
    ],
)
def test_known_optima(limits, objective, violations) -> None:
    result = solve(X, Y, 1e-6, max_violations=limits)
    assert result.optimal
    paid = 3e-6 if limits == {0: 0} else 0.0
    assert result.objective == pytest.approx(objective + paid, rel=1e-6)
    assert result.violations in (violations, [3, 4, 5] if violations == [0, 1, 2] else violations)


def test_a_class_that_is_not_named_has_a_penalty() -> None:
    cheap, dear = (solve(X, Y, C, max_violations={0: 1}) for C in (0.01, 100.0))
    assert cheap.C == 0.01
    assert cheap.n_violations == 3
    assert cheap.coef == [0.0]
    assert dear.violations == [2]
    assert dear.objective == pytest.approx(0.5 * (2 / 1.5) ** 2, rel=1e-6)


def test_weights_count_towards_the_limits() -> None:
    heavy = solve(X, Y, max_violations=1, sample_weight=[1, 1, 1, 1.5, 1, 1])
    assert heavy.violations == [2]
    nothing = solve(X, Y, max_violations=0, sample_weight=[1, 1, 1, 0, 1, 1])
    assert nothing.violations == [3]
    thirds = solve(X, Y, max_violations=0.3, sample_weight=[1, 1, 0.1, 0.2, 1, 1])
    assert thirds.violations == [2, 3]


def test_duplicates_count_one_by_one() -> None:
    one, two = (solve([*X, X[3]], [*Y, 1], max_violations={0: 0, 1: limit}) for limit in (1, 2))
    assert one.objective == pytest.approx(8.0, rel=1e-6)
    assert two.violations == [3, 6]


@pytest.mark.parametrize("limits", [0, 1, {0: 0, 1: 1}, {0: 1, 1: 0}])
def test_an_impossible_budget_is_refused_with_a_proof(limits) -> None:
    with pytest.raises(BudgetError, match="it is proven that every hyperplane gives up more") as refused:
        solve([[0.0], [1.0], [1.0], [2.0], [3.0], [0.5]], [0, 0, 1, 1, 0, 1], max_violations=limits)
    assert refused.value.proven
    assert isinstance(refused.value, ValueError)


def test_conflicting_duplicates_are_impossible_to_keep() -> None:
    with pytest.raises(BudgetError, match="proven"):
        solve([[0.0, 1.0], [0.0, 1.0], [2.0, 3.0]], [0, 1, 1], max_violations=0)


def test_without_features_only_whole_classes_can_be_given_up() -> None:
    constant, labels = [[1.0]] * 5, [0, 0, 0, 1, 1]
    assert solve(constant, labels, max_violations=2).violations == [3, 4]
    with pytest.raises(BudgetError, match="proven"):
        solve(constant, labels, max_violations=1)


def test_a_limit_before_any_hyperplane_is_no_proof() -> None:
    data = generate("A", 60, 3, 1)
    with pytest.raises(BudgetError, match="though there may be one; the closest one found gives up") as refused:
        solve(data.X, data.y, max_violations=3, time_limit=1e-9)
    assert not refused.value.proven


def test_a_node_limit_keeps_the_bound() -> None:
    data = generate("B", 60, 3, 2)
    best = solve(data.X, data.y, max_violations=22)
    short = solve(data.X, data.y, max_violations=22, node_limit=2)
    assert best.optimal
    assert short.status in (Status.NODE_LIMIT, Status.OPTIMAL)
    assert short.lower_bound <= best.objective <= short.objective * (1 + 1e-6)
    assert short.n_violations <= 22


def test_an_interruption_keeps_the_hyperplane() -> None:
    data = generate("B", 60, 3, 2)

    def report(_: float, upper: float, __: float, ___: int) -> None:
        if math.isfinite(upper):
            raise KeyboardInterrupt

    result = solve(data.X, data.y, max_violations=22, report=report)
    assert result.status is Status.INTERRUPTED
    assert result.n_violations <= 22


def test_an_interruption_before_any_hyperplane_raises() -> None:
    def report(*_: float) -> None:
        raise KeyboardInterrupt

    data = generate("A", 60, 3, 1)
    with pytest.raises(KeyboardInterrupt):
        solve(data.X, data.y, max_violations=3, report=report)


def test_more_violations_than_a_search_over_samples_can_give_up() -> None:
    data = generate("A", 300, 2, 1)
    result = solve(data.X, data.y, max_violations=60)
    assert result.optimal
    assert result.n_violations == 60
    assert verify(result, data.X, data.y)


@pytest.mark.parametrize("method", ["auto", "packing"])
def test_problems_with_penalties_are_solved_with_the_callers_options(monkeypatch, method) -> None:
    module = get_method(method)
    run, seen = module.run, []

    def noting(*arguments: Any, options: Any) -> Result:
        seen.append(options)
        return run(*arguments, options=options)

    monkeypatch.setattr(module, "run", noting)
    data = generate("B", n=40, d=3, seed=1)
    given = {"heuristic_effort": 0.05, "slice": 8, "first_nodes": 50, "memory": 0.5}
    assert solve(data.X, data.y, max_violations=8, method=method, options=given).optimal
    assert seen
    assert all(options == module.Options(**given) for options in seen)


@pytest.mark.parametrize("limits", [0, 4])
def test_too_little_memory_for_the_method_is_refused_before_the_start(limits) -> None:
    data = generate("B", n=40, d=3, seed=1)
    reports: list[float] = []
    with pytest.raises(ValueError, match=r"method 'packing' needs .* its option memory allows 1e-09 GB"):
        solve(
            data.X,
            data.y,
            max_violations=limits,
            method="packing",
            options={"memory": 1e-9},
            report=lambda *row: reports.append(row[0]),
        )
    assert reports == []


def test_searches_that_know_the_budget_take_turns_as_the_options_say(monkeypatch) -> None:
    seen: list[Any] = []

    def noted_member(proof: Any, first_turn: int) -> Member:
        seen.append(first_turn)
        return Member(proof, first_turn)

    def noted_turns(members: Any, head_start: int, nodes: int) -> Any:
        seen.append(head_start)
        return turns(members, head_start, nodes)

    monkeypatch.setattr("hardmargin.methods.budget.Member", noted_member)
    monkeypatch.setattr("hardmargin.methods.budget.turns", noted_turns)
    data = generate("A", n=60, d=2, seed=3)
    given = {"head_start": 1e6, "first_turn": 2e6}
    assert solve(data.X, data.y, max_violations=8, options=given).optimal
    assert seen == [2_000_000, 2_000_000, 1_000_000]


@pytest.mark.parametrize("limit", [4, 16])
def test_too_many_samples_for_exact_searches_leave_everything_to_penalties(monkeypatch, limit) -> None:
    auto = get_method("auto")
    run, seen = auto.run, []

    def noting(problem: Problem, incumbent: Any, limits: Limits, *others: Any, options: Any) -> Result:
        seen.append(limits.node_limit)
        return run(problem, incumbent, limits, *others, options=options)

    def unwanted(*_: Any) -> None:
        raise AssertionError

    monkeypatch.setattr(auto, "run", noting)
    monkeypatch.setattr("hardmargin.methods.budget.suits_exact_methods", lambda *_: False)
    monkeypatch.setattr("hardmargin.methods.budget.BudgetSamples", unwanted)
    data = generate("B", n=60, d=3, seed=1)
    if limit == 4:
        with pytest.raises(BudgetError, match="it is proven"):
            solve(data.X, data.y, max_violations=limit, time_limit=None)
    else:
        result = solve(data.X, data.y, max_violations=limit, time_limit=None)
        assert result.n_violations <= limit
        assert result.lower_bound > 0
    # Nothing else needs the subproblems, so these have no limit.
    assert 1 <= len(seen) <= 4
    assert set(seen) == {None}


@pytest.mark.parametrize("method", ["auto", "packing", "heuristic"])
def test_first_searches_leave_time_for_the_method(monkeypatch, method) -> None:
    search, ends = primal.search, []

    def noting(problem: Problem, incumbent: Any, limits: Limits, *others: Any) -> Result:
        ends.append(limits.time_limit)
        return search(problem, incumbent, limits, *others)

    for name in ("decide", "bound", "prove"):
        monkeypatch.setattr(f"hardmargin.methods.budget._BudgetSearch.{name}", lambda *_: None)
    monkeypatch.setattr("hardmargin.methods.budget.primal.search", noting)
    # A clock by which every search takes 100 s.
    monkeypatch.setattr(Limits, "elapsed", lambda _: 100.0 * len(ends))
    data = generate("B", n=40, d=3, seed=1)
    solve(data.X, data.y, max_violations=8, method=method, time_limit=1000.0)
    assert ends == ([1000.0] * 10 if method == "heuristic" else [400.0] * 4)


def test_one_thread_repeats_itself() -> None:
    data = generate("A", 60, 3, 1)
    first, second = (solve(data.X, data.y, max_violations={-1: 7, 1: 7}) for _ in range(2))
    assert first.coef == second.coef
    assert first.nodes == second.nodes


def test_the_budget_survives_as_json(tmp_path) -> None:
    for limits, labels in ((1, Y), ({0: 1, 1: 0}, Y), ({"a": 1.5}, ["a", "a", "a", "b", "b", "b"])):
        result = solve(X, labels, 100.0, max_violations=limits)
        result.save(tmp_path / "model.json")
        read = Result.load(tmp_path / "model.json")
        assert read == result
        assert read.max_violations == limits
        assert (read.C is None) == (limits != {"a": 1.5})
        assert verify(read, X, labels)


def test_verification_counts_the_violations() -> None:
    result = solve(X, Y, max_violations=2)
    checks = {check.name: check.holds for check in verify(replace(result, max_violations=1.0), X, Y).checks}
    assert not checks["budget"]


def test_a_start_beyond_the_budget_is_no_answer() -> None:
    wide = solve(X, Y, max_violations=3)
    result = solve(X, Y, max_violations=1, start=wide, method="heuristic")
    assert result.n_violations == 1


def test_the_estimator_passes_it_on() -> None:
    model = HardMarginSVC(max_violations={0: 0, 1: 1}).fit(X, Y)
    assert model.violations_.tolist() == [3]
    assert model.C_ is None
    assert model.objective_ == pytest.approx(0.5, rel=1e-6)


def test_a_budget_for_a_whole_class_gives_a_constant_model_and_a_warning() -> None:
    from hardmargin import ConstantModelWarning

    with pytest.warns(ConstantModelWarning, match="max_violations = 3.0 allows to give up the whole other class"):
        HardMarginSVC(max_violations=3).fit(X, Y)


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        (-1, "max_violations is -1; expected a finite number >= 0"),
        (math.inf, "max_violations is inf"),
        (math.nan, "max_violations is nan"),
        (True, "max_violations is True"),
        ("3", "max_violations is '3'"),
        ({}, "empty dict"),
        ({2: 1}, "names 2, which is not a label in y; expected 0 and 1"),
        ({0: -1}, "max_violations of 0 is -1"),
    ],
)
def test_bad_limits_are_refused(limits, message) -> None:
    with pytest.raises(ValueError, match=message):
        solve(X, Y, max_violations=limits)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"method": "directions"}, "'directions' does not support max_violations; .* use auto, packing, heuristic"),
        ({"method": "blocks"}, "does not support max_violations"),
        ({"method": "indicator"}, "does not support max_violations"),
        ({"checkpoint": "state.hm"}, "checkpoint cannot be combined with max_violations"),
        ({"resume": "state.hm"}, "resume cannot be combined with max_violations"),
        ({"cluster": "local"}, "cluster cannot be combined with max_violations"),
        ({"trusted": [True] * 6}, "trusted cannot be combined with max_violations"),
        ({"monotonic_cst": [1]}, "monotonic_cst cannot be combined with max_violations"),
        ({"coef_bounds": (0.0, None)}, "coef_bounds cannot be combined with max_violations"),
    ],
)
def test_what_cannot_be_combined_is_refused(setting, message) -> None:
    with pytest.raises(ValueError, match=message):
        solve(X, Y, max_violations=1, **setting)


def test_a_path_over_c_has_no_budget() -> None:
    with pytest.raises(TypeError, match="path\\(\\) has no parameter 'max_violations'"):
        path(X, Y, C=(1.0, 10.0), max_violations=1)


def test_violations_within_a_budget_have_no_price() -> None:
    with pytest.raises(ValueError, match="trained with max_violations, so that violations have no price"):
        outliers(solve(X, Y, max_violations=1), X, Y)


def test_a_kernel_has_the_same_budget() -> None:
    model = HardMarginSVC(max_violations=1, kernel="poly", degree=1, coef0=0.0, gamma=1.0).fit(X, Y)
    assert model.violations_.tolist() == [3]
    assert model.objective_ == pytest.approx(0.5, rel=1e-6)


def test_sums_may_be_rounded() -> None:
    y, costs = np.array([1.0, 1.0, 1.0]), np.array([0.1, 0.1, 0.1])
    assert costs.sum() > 0.3
    assert Budget(total=0.3).cost(y, costs) == 0.0
    assert Budget(total=0.3 * (1 - 10 * BUDGET_TOLERANCE)).cost(y, costs) == math.inf


def test_only_classes_without_a_limit_cost_something() -> None:
    y, costs = np.array([1.0, -1.0, -1.0]), np.array([2.0, 3.0, 4.0])
    assert Budget(positives=2.0).cost(y, costs) == 7.0
    assert Budget(positives=1.0).cost(y, costs) == math.inf
    assert Budget(negatives=7.0).cost(y, costs) == 2.0
    assert Budget(total=9.0).cost(y, costs) == 0.0
