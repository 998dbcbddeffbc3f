"""Prices of keeping samples: exact on tiny problems, honest intervals everywhere, and what is refused."""

from __future__ import annotations

import json
import math
import pickle
from dataclasses import replace

import numpy as np
import pytest

from brute_force import candidates, optimum, random_case, violated, with_constraints
from hardmargin import HardMarginSVC, Outliers, Problem, Status, explanation, outliers, solve

X = np.array([[0.0], [1.0], [3.0], [4.0], [9.0]])
y = np.array(["low", "low", "high", "high", "low"])


@pytest.fixture(scope="module")
def result():
    return solve(X, y, C=10)


@pytest.fixture(scope="module")
def table(result):
    return outliers(result, X, y, samples="all")


def optima_keeping(problem):
    """The smallest objective of the hyperplanes that keep each sample: some candidate of the search is one."""
    best = np.full(problem.n, np.inf)
    for half_norms, margins in candidates(problem):
        lost = violated(margins)
        objectives = half_norms + lost @ problem.costs
        best = np.minimum(best, np.where(lost, np.inf, objectives[:, None]).min(axis=0))
    return best


def solved(index):
    case = random_case(23, index)
    return (
        case,
        solve(case.X, case.y, case.C, **case.weights),
        Problem.from_data(case.X, case.y, case.C, **case.weights),
    )


@pytest.mark.parametrize("index", range(42))
def test_prices_are_those_of_exhaustive_search(index):
    case, model, problem = solved(index)
    best, keeping = optimum(problem), optima_keeping(problem)
    within = (0.0, 0.05, 0.5)[index % 3]
    table = outliers(model, case.X, case.y, samples="all", within=within, time_limit=None)
    assert table.status is Status.OPTIMAL
    assert sorted(row.row for row in table) == list(range(problem.n))
    for row in table:
        price = keeping[row.row] - best
        slack = 1e-8 * keeping[row.row]
        assert row.price_low - slack <= price <= row.price_high + slack
        assert row.price_high - row.price_low <= 1e-5 * (best + keeping[row.row])
        assert row.exact
        if row.row not in model.violations:
            assert row.price_low == 0
        if row.always_given_up is not None:
            assert row.always_given_up == (keeping[row.row] > (1 + within) * best * (1 + 1e-9))
        else:
            # Too close to the limit for a proof up to the gap.
            assert keeping[row.row] == pytest.approx((1 + within) * best, rel=1e-5)


@pytest.mark.parametrize("index", range(28))
def test_prices_among_hyperplanes_that_respect_constraints(index):
    case = with_constraints(random_case(29, index), 29, index)
    problem = Problem.from_data(case.X, case.y, case.C, **case.weights)
    best = optimum(problem)
    if best == np.inf:
        with pytest.raises(ValueError, match=r"no hyperplane|contradict"):
            solve(case.X, case.y, case.C, **case.weights)
        return
    masks = problem.must_keep | np.eye(problem.n, dtype=bool)
    keeping = [optimum(replace(problem, trusted=mask)) for mask in masks]
    model = solve(case.X, case.y, case.C, **case.weights)
    for row in outliers(model, case.X, case.y, samples="all", time_limit=None):
        assert row.exact == (keeping[row.row] < np.inf)
        if row.exact:
            slack = 1e-8 * keeping[row.row]
            assert row.price_low - slack <= keeping[row.row] - best <= row.price_high + slack
        else:
            assert row.price_high == np.inf
            assert row.always_given_up


@pytest.mark.parametrize("index", range(0, 42, 3))
@pytest.mark.parametrize("steps", [0, 1, 2, 5])
def test_intervals_hold_whenever_the_search_ends(index, steps):
    """Also for a model that is neither optimal nor proven to be good."""
    case, model, problem = solved(index)
    best, keeping = optimum(problem), optima_keeping(problem)
    flat = solve(case.X, case.y, case.C, **case.weights, method="heuristic", options={"effort": 1e-9})
    model = replace(flat, lower_bound=0.3 * model.lower_bound)

    def stop(exact, total):
        nonlocal steps
        steps -= 1
        if steps < 0:
            raise KeyboardInterrupt

    table = outliers(model, case.X, case.y, samples="all", report=stop)
    for row in table:
        price = keeping[row.row] - best
        slack = 1e-8 * keeping[row.row]
        assert row.price_low - slack <= price <= row.price_high + slack
        if row.always_given_up is not None:
            assert row.always_given_up == (keeping[row.row] > 1.01 * best)


def test_rows_are_sorted_by_price(table):
    assert isinstance(table, Outliers)
    assert len(table) == 5
    prices = [row.price_high for row in table]
    assert prices == sorted(prices, reverse=True)
    first = table[0]
    assert (first.row, first.label, first.always_given_up, first.exact) == (4, "low", True, True)
    # w = 1 and b = -2, so y (w.x + b) = -7; with w = 0, two samples of cost 10 are given up instead of one.
    assert first.margin == pytest.approx(-7)
    assert first.distance == pytest.approx(-7)
    assert first.price_low == pytest.approx(20 - 10.5, rel=1e-5)
    assert {row.row for row in table if row.always_given_up is False} == {0, 1, 2, 3}


def test_only_samples_given_up_are_listed_unless_all_are_wanted(result):
    assert [row.row for row in outliers(result, X, y)] == [4]


def test_nothing_given_up_is_an_empty_table():
    model = solve(X[:4], y[:4], C=10)
    empty = outliers(model, X[:4], y[:4])
    assert len(empty) == 0
    assert empty.status is Status.OPTIMAL
    assert "0 of 4 samples given up" in str(empty)
    everything = outliers(model, X[:4], y[:4], samples="all")
    assert [row.price_high for row in everything] == pytest.approx([0, 0, 0, 0], abs=1e-5)


def test_identical_samples_are_solved_once(monkeypatch):
    twice, labels = np.vstack([X, X]), np.concatenate([y, y])
    rows = []

    def recorded(*data, **settings):
        rows.extend(np.flatnonzero(settings.get("trusted", np.zeros(10))))
        return solve(*data, **settings)

    monkeypatch.setattr(explanation, "solve", recorded)
    table = outliers(solve(twice, labels, C=10), twice, labels)
    assert [row.row for row in table] == [4, 9]
    assert table[0].price_low == table[1].price_low
    assert set(rows) == {4}


def test_ctrl_c_returns_what_is_known(result, monkeypatch):
    def interrupted(*data, **settings):
        return replace(solve(*data, **settings), status=Status.INTERRUPTED, lower_bound=0.0)

    monkeypatch.setattr(explanation, "solve", interrupted)
    table = outliers(result, X, y)
    assert table.status is Status.INTERRUPTED
    assert table[0].price_low <= 9.5 <= table[0].price_high


def test_the_time_limit_is_for_the_whole_table(result, monkeypatch):
    limits = []

    def unsuccessful(*data, **settings):
        limits.append(settings["time_limit"])
        clock.append(clock[-1] + settings["time_limit"])
        return replace(solve(*data, **{**settings, "time_limit": None}), status=Status.TIME_LIMIT, lower_bound=0.0)

    clock = [0.0]
    monkeypatch.setattr(explanation.time, "monotonic", lambda: clock[-1])
    monkeypatch.setattr(explanation, "solve", unsuccessful)
    table = outliers(result, X, y, time_limit=8.0)
    assert table.status is Status.TIME_LIMIT
    assert sum(limits) == pytest.approx(8.0)


def test_a_solve_without_time_for_a_hyperplane_is_no_error(result, monkeypatch):
    """The search over trusted samples may not even begin."""
    clock = [0.0]

    def too_late(*data, **settings):
        if "trusted" in settings and settings["trusted"] is not None:
            clock.append(clock[-1] + settings["time_limit"])
            raise ValueError("the time limit was reached before a hyperplane was found")
        return solve(*data, **{**settings, "time_limit": None})

    monkeypatch.setattr(explanation.time, "monotonic", lambda: clock[-1])
    monkeypatch.setattr(explanation, "solve", too_late)
    table = outliers(result, X, y, time_limit=8.0)
    assert table.status is Status.TIME_LIMIT
    assert table[0].price_low <= 9.5 <= table[0].price_high


def test_settings_that_solve_refuses_are_refused(result):
    with pytest.raises(ValueError, match="threads is -3"):
        outliers(result, X, y, threads=-3)


def test_exact_prices_are_reported(result):
    reports = []
    outliers(result, X, y, report=lambda *counts: reports.append(counts))
    assert reports[0] == (0, 1)
    assert reports[-1] == (1, 1)


def test_a_constant_model_has_no_distances():
    model = solve(X, y, C=1e-3)
    assert not any(model.coef)
    table = outliers(model, X, y)
    assert all(math.isnan(row.distance) for row in table)
    assert json.loads(table.to_json())["rows"][0]["distance"] is None


def test_the_table_as_data(table, tmp_path):
    pytest.importorskip("pandas")
    frame = table.to_frame()
    assert list(frame.columns) == [
        "row",
        "label",
        "margin",
        "distance",
        "price_low",
        "price_high",
        "exact",
        "always_given_up",
    ]
    assert frame["row"].tolist() == [row.row for row in table]
    table.save(tmp_path / "table.json")
    values = json.loads((tmp_path / "table.json").read_text())
    assert values["status"] == "optimal"
    assert (values["n"], values["given_up"], values["within"]) == (5, 1, 0.01)
    assert values["rows"][0]["label"] == "low"
    assert values["rows"][0]["always_given_up"] is True


def test_the_table_as_text(table):
    lines = str(table).splitlines()
    assert lines[0].startswith("1 of 5 samples given up, objective 10.5 (proven to be at least 10.")
    assert lines[1].split()[:4] == ["row", "label", "margin", "distance"]
    assert lines[2].split() == ["4", "low", "-7", "-7", "9.5", "yes"]
    assert lines[-1] == "prices: 5 of 5 exact"


def test_intervals_as_text(table):
    low, high = replace(table[0], exact=False), replace(table[0], exact=False, price_low=0.0, always_given_up=None)
    text = str(replace(table, rows=(low, high) + 50 * (high,), status=Status.TIME_LIMIT))
    assert "9.5 to 9.5" in text
    assert "at most 9.5" in text
    assert "unknown" in text
    assert text.endswith("  ... (12 more)\nprices: 0 of 52 exact (time_limit)")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"samples": "some"}, "samples is 'some'; expected one of 'given-up', 'all'"),
        ({"within": -0.1}, "within is -0.1; expected a share of the optimum, at least 0"),
        ({"within": math.nan}, "within is nan"),
        ({"time_limit": 0}, "time_limit is 0; expected a positive number of seconds, or None"),
    ],
)
def test_settings_that_make_no_sense_are_refused(result, change, message):
    with pytest.raises(ValueError, match=message):
        outliers(result, X, y, **change)


def test_other_data_are_refused(result):
    with pytest.raises(ValueError, match="the data are 4 x 1 but the model was trained on 5 x 1"):
        outliers(result, X[:4], y[:4])
    with pytest.raises(ValueError, match=r"has the objective .* expected the data that it was trained on"):
        outliers(result, 3 * X, y)


def test_other_models_are_refused():
    with pytest.raises(TypeError, match="model is dict; expected a Result, or a fitted HardMarginSVC"):
        outliers({}, X, y)


class TestEstimator:
    def test_it_uses_the_data_of_the_fit(self):
        model = HardMarginSVC(C=10).fit(X, y)
        table = model.outliers(time_limit=60)
        assert [(row.row, row.label) for row in table] == [(4, "low")]
        assert model.outliers(X, y, samples="all").to_dict() == model.outliers(samples="all").to_dict()

    def test_a_stored_model_needs_the_data(self):
        model = pickle.loads(pickle.dumps(HardMarginSVC(C=10).fit(X, y)))
        with pytest.raises(ValueError, match="pickled or copied, without its data; pass X and y"):
            model.outliers()
        assert len(model.outliers(X, y)) == 1

    def test_with_a_kernel_it_prices_the_problem_of_the_kernel(self):
        # The outer samples are of one class and the inner ones of the other, except for one of each.
        angles = np.arange(16)
        circles = np.column_stack([np.cos(angles), np.sin(angles)]) * np.where(angles < 8, 1.0, 3.0)[:, None]
        labels = np.where(angles < 8, "inner", "outer")
        labels[[2, 11]] = "outer", "inner"
        model = HardMarginSVC(C=10, kernel="poly", degree=2).fit(circles, labels)
        table = model.outliers(circles, labels)
        assert {row.row for row in table} == {2, 11} == set(model.violations_)
        assert all(row.always_given_up for row in table)

    def test_more_than_two_classes_are_refused(self):
        model = HardMarginSVC(C=10).fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 2, 2])
        with pytest.raises(ValueError, match=r"the model has 3 classes; expected two.*results_"):
            model.outliers()
