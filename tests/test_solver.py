from __future__ import annotations

import math
import signal
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

import hardmargin.methods
from brute_force import optimum
from hardmargin import Problem, Result, Status, solve, verify
from hardmargin.data import generate
from hardmargin.presolve import Presolved
from hardmargin.result import TracePoint

ALL_METHODS = hardmargin.methods.names()
# The others start a solver in a separate process, which takes long for many small problems.
NATIVE_METHODS = [name for name in ALL_METHODS if name not in ("indicator", "benders")]


@pytest.mark.parametrize("method", ALL_METHODS)
def test_an_outlier_is_given_up(line, method) -> None:
    result = solve(*line, C=10, method=method)
    assert result.violations == [4]
    assert result.objective == pytest.approx(10.5, rel=1e-6)
    assert result.method == method
    assert (result.n, result.m, result.C, result.classes) == (5, 1, 10.0, [0, 1])


@pytest.mark.parametrize("method", NATIVE_METHODS)
@settings(max_examples=40)
@given(data=st.data())
def test_bound_and_objective_enclose_the_optimum(small_problems, method, data) -> None:
    problem = data.draw(small_problems)
    result = solve(problem.X, problem.y, problem.C, sample_weight=problem.weights, method=method)
    best = optimum(problem)
    assert result.lower_bound <= best * (1 + 1e-9)
    assert result.objective >= best * (1 - 1e-9)
    assert verify(result, problem.X, problem.y)
    if result.optimal:
        assert result.objective <= best * (1 + 2e-6)


@pytest.mark.parametrize("scale", [1e-140, 1e-100, 1e-6, 1.0, 1e6, 1e100, 1e140])
def test_one_common_factor_scales_w_and_nothing_else(line, scale) -> None:
    X, y = line
    C = 10.0 / scale**2
    result = solve(scale * X, y, C)
    assert result.violations == [4]
    assert result.objective * scale**2 == pytest.approx(10.5, rel=1e-6)
    assert verify(result, scale * X, y)


def test_an_offset_moves_the_intercept_only(line) -> None:
    X, y = line
    result = solve(X + 1e8, y, C=10)
    assert result.violations == [4]
    assert result.objective == pytest.approx(10.5, rel=1e-5)
    assert verify(result, X + 1e8, y)


def test_constant_features_get_no_weight(line) -> None:
    X, y = line
    result = solve(np.hstack([X, np.full_like(X, 3.0)]), y, C=10)
    assert result.coef[1] == 0
    assert result.objective == pytest.approx(10.5, rel=1e-6)


def test_features_that_are_all_constant_leave_a_vote() -> None:
    result = solve(np.ones((3, 2)), ["a", "b", "b"], C=10)
    assert result.coef == [0, 0]
    assert result.objective == 10
    assert result.violations == [0]
    assert result.predict([[5.0, 5.0]]).tolist() == ["b"]


def test_weights_are_repetitions(line) -> None:
    X, y = line
    weighted = solve(X, y, C=2, sample_weight=[1, 0, 2, 1, 3])
    rows = [0, 2, 2, 3, 4, 4, 4]
    repeated = solve(X[rows][::-1], y[rows][::-1], C=2)
    assert weighted.objective == repeated.objective
    assert (weighted.coef, weighted.intercept) == (repeated.coef, repeated.intercept)
    assert weighted.weights == [1, 0, 2, 1, 3]


def test_class_weights_decide_which_side_gives_way() -> None:
    X, y = np.zeros((3, 1)), ["a", "b", "b"]
    assert solve(X, y).violations == [0]
    assert solve(X, y, class_weight={"a": 5}).violations == [1, 2]


def test_containers_do_not_matter(blobs) -> None:
    X, y = blobs
    expected = solve(X, y)
    for same in (X.tolist(), pd.DataFrame(X), scipy.sparse.csr_array(X), np.asfortranarray(X)):
        assert solve(same, y).coef == expected.coef


def test_the_same_seed_gives_the_same_answer(blobs) -> None:
    first, second = solve(*blobs, seed=3), solve(*blobs, seed=3)
    assert (first.coef, first.intercept) == (second.coef, second.intercept)
    assert first.lower_bound == second.lower_bound


def test_the_order_of_rows_does_not_matter(blobs) -> None:
    X, y = blobs
    order = np.random.default_rng(0).permutation(len(y))
    first, second = solve(X, y), solve(X[order], y[order])
    assert (first.coef, first.intercept) == (second.coef, second.intercept)
    assert sorted(order[second.violations].tolist()) == first.violations


def test_the_trace_ends_with_the_result_and_reports_are_in_the_callers_units(line, stub_method) -> None:
    X, y = line
    stub_method([4.0], -1.0, lower_bound=0.5)
    reports = []
    result = solve(1000 * X, y, C=10, method="stub", report=lambda *report: reports.append(report))
    assert len(reports) == 1
    seconds, upper, lower, nodes = reports[0]
    assert (seconds, nodes) == (0.25, 17)
    assert upper >= result.objective * (1 - 1e-9)
    assert lower == result.lower_bound
    assert result.trace[0] == TracePoint(result.runtime, max(upper, result.objective), lower)
    assert result.trace[-1] == TracePoint(result.runtime, result.objective, result.lower_bound)
    assert result.nodes == 17


def test_the_trace_is_monotone_and_ends_with_the_result(line, stub_method) -> None:
    """Whatever a method reports: a value that is not a bound must not be in the trace."""
    X, y = line
    stub = stub_method([4.0], 0.0, lower_bound=5.0)
    run = stub.run
    uppers = [math.inf, math.nan, 99, 50, 60, 40, 1, 30]
    lowers = [0, 1, math.nan, -3, 4, 2, 99, -math.inf]

    def reporting(problem, incumbent, limits, report, options) -> Result:
        for upper, lower in zip(uppers, lowers, strict=True):
            report(-1.0, upper, lower, 0)
        return run(problem, incumbent, limits, report, options)

    stub.run = reporting
    trace = solve(X[:4] / 4 - 0.5, y[:4], C=10, method="stub").trace
    assert [point.upper for point in trace] == pytest.approx([99, 50, 50, 40, 8, 8])
    assert [point.lower for point in trace] == [1, 1, 4, 4, 5, 5]
    assert [point.time for point in trace[:-1]] == [0, 0, 0, 0, 0]


@pytest.fixture
def handler():
    """Ctrl-C as outside a test run, and a check that a solve leaves its handler unchanged."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("handler")
@pytest.mark.parametrize("method", ALL_METHODS)
@pytest.mark.parametrize("moment", [1, 2, 5, 10])
def test_ctrl_c_at_a_report_ends_the_search_with_what_it_has(method, moment, data_of_many_reports) -> None:
    reports = []

    def report(*bounds) -> None:
        reports.append(bounds)
        if len(reports) >= moment:
            signal.raise_signal(signal.SIGINT)

    X, y = data_of_many_reports
    options = {"effort": 1e9} if method == "heuristic" else None
    result = solve(X, y, C=1, method=method, options=options, report=report, time_limit=None)
    assert result.status is Status.INTERRUPTED
    assert result.lower_bound <= result.objective <= reports[-1][1] * (1 + 1e-9)
    assert verify(result, X, y)


@pytest.fixture
def data_of_many_reports() -> tuple[np.ndarray, np.ndarray]:
    """Data on which no search finishes soon."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 10))
    return X, np.where(X[:, 0] + 2 * rng.standard_normal(200) > 0, 1, -1)


@pytest.mark.usefixtures("handler")
@pytest.mark.parametrize("place", ["restore", "kept_rows"])
def test_ctrl_c_after_the_search_loses_nothing(line, stub_method, monkeypatch, place) -> None:
    X, y = line
    stub_method([4.0], 0.0, lower_bound=6.0)
    work = getattr(Presolved, place)

    def interrupted(*arguments):
        signal.raise_signal(signal.SIGINT)
        return work(*arguments)

    monkeypatch.setattr(Presolved, place, interrupted)
    result = solve(X[:4] / 4 - 0.5, y[:4], C=10, method="stub")
    assert result.status is Status.INTERRUPTED
    assert result.objective == pytest.approx(8)
    assert result.lower_bound == pytest.approx(6)


@pytest.mark.usefixtures("handler")
def test_ctrl_c_after_a_proof_does_not_take_it_back(line, stub_method) -> None:
    X, y = line
    stub = stub_method([4.0], 0.0, lower_bound=8.0)
    run = stub.run

    def interrupted(*arguments) -> Result:
        result = run(*arguments)
        signal.raise_signal(signal.SIGINT)
        return result

    stub.run = interrupted
    assert solve(X[:4] / 4 - 0.5, y[:4], C=10, method="stub").status is Status.OPTIMAL


@pytest.mark.parametrize(
    "hyperplane", [([1e200], 0.0), ([math.nan], 0.0), ([0.0], math.inf), ([100.0], 0.0)], ids=str
)
def test_no_answer_is_worse_than_none(line, stub_method, hyperplane) -> None:
    """w = 0 needs no arithmetic, so rounding can never make the result worse than that."""
    stub = stub_method([0.0], -1.0)
    run = stub.run
    stub.run = lambda *arguments: replace(run(*arguments), coef=hyperplane[0], intercept=hyperplane[1])
    result = solve(*line, C=10, method="stub")
    assert (result.coef, result.intercept, result.objective) == ([0.0], -1.0, 20.0)
    assert verify(result, *line)


@pytest.mark.parametrize("spread", [1e-150, 1e-200, 1e-300])
def test_differences_too_small_for_any_margin_leave_a_vote(spread) -> None:
    X, y = np.array([[0.0], [spread], [2 * spread]]), [0, 1, 1]
    result = solve(X, y, C=1)
    assert result.objective == 1
    assert verify(result, X, y)


EXTREMES = {
    "costs and lengths whose product vanishes": ([[0, 0], [1e-300, 2e-300]], [0, 1], 1e-60),
    "the smallest numbers": ([[0, 0], [5e-324, 1e-323], [5e-324, 0]], [0, 1, 1], 5e-324),
    "the largest numbers": ([[-1e150, 1e150], [1e150, 2e149], [1e149, -1e150]], [0, 1, 1], 1e300),
    "large samples and small costs": ([[-1e150, 1e150], [1e150, 2e149], [1e149, -1e150]], [0, 1, 1], 5e-324),
    "costs for which no distortion is small": (
        [[-1e-87, -4e116, 0, 0], [2e-87, 9e116, 4e-58, 0], [-2e-87, -9e116, 8e-58, -1e83], [0, -4e116, 1e-57, 0]],
        [0, 1, 0, 1],
        1e300,
    ),
    "a feature that vanishes beside another": (
        [[-1e-320, -8e91, -1e12], [1e-320, 2e92, -2e12], [-1e-320, -2e92, -1e12], [-3e-320, -1e92, 2e12]],
        [0, 1, 0, 1],
        3e-94,
    ),
    "a feature 1e248 times as large as another": (
        [[1e-200, 2e-100, 0], [2e-200, 3e-100, -3e148], [-3e-200, 3e-100, -3e148], [-2e-200, 1e-100, 6e148]],
        [0, 1, 0, 1],
        1e-21,
    ),
}


def check_extreme_problem(X, y, C, method, **arguments) -> None:
    # These tests are about arithmetic, not about how long a proof takes.
    result = solve(X, y, C, method=method, time_limit=None, node_limit=20, **arguments)
    problem = Problem.from_data(X, y, C)
    vote = min(problem.costs[problem.y > 0].sum(), problem.costs[problem.y < 0].sum())
    assert 0 <= result.lower_bound <= vote * (1 + 1e-9)
    assert result.objective <= vote * (1 + 1e-9)
    assert verify(Result.from_json(result.to_json()), X, y)


@pytest.mark.parametrize("method", NATIVE_METHODS)
@pytest.mark.parametrize(("X", "y", "C"), EXTREMES.values(), ids=EXTREMES.keys())
def test_extreme_numbers_do_no_harm(X, y, C, method) -> None:
    X = np.array(X, dtype=float)
    check_extreme_problem(X, y, C, method)
    check_extreme_problem(X, y, C, method, start=(np.full(X.shape[1], 1e200), -1e300))


@pytest.mark.parametrize("method", NATIVE_METHODS)
@pytest.mark.parametrize("seed", range(8))
def test_any_scales_may_meet(seed, method) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(5):
        n, m = int(rng.integers(2, 7)), int(rng.integers(1, 5))
        scales = 10.0 ** rng.uniform(-320, 149, size=m if rng.random() < 0.5 else 1)
        X = rng.integers(-3, 4, size=(n, m)) * scales
        y = np.array([0, 1, *rng.integers(0, 2, n - 2)])
        check_extreme_problem(X, y, 10.0 ** rng.uniform(-320, 300), method)


@pytest.mark.parametrize("method", NATIVE_METHODS)
def test_no_time_limit(blobs, method) -> None:
    X, y = blobs
    result = solve(X, y, C=0.5, method=method, time_limit=None)
    assert result.status in (Status.OPTIMAL, Status.HEURISTIC)
    assert result.objective == solve(X, y, C=0.5, method=method, time_limit=3600).objective


@pytest.fixture
def flat_samples() -> tuple[np.ndarray, np.ndarray]:
    """Samples in five features that span a plane: presolve projects them."""
    rng = np.random.default_rng(3)
    return rng.standard_normal((30, 2)) @ rng.standard_normal((2, 5)), np.arange(30) % 2


def test_the_time_may_be_over_anywhere_in_presolve(flat_samples, stub_method, fake_clock) -> None:
    X, y = flat_samples
    stub = stub_method([0.0, 0.0], -1.0)
    solve(X, y, method="stub")
    looks = fake_clock.looks
    assert looks >= 12
    for last in range(looks):
        fake_clock.end(after_looks=last)
        stub.calls.clear()
        reports = []
        result = solve(X, y, method="stub", report=lambda *bounds, reports=reports: reports.append(bounds))
        # The search does not start, and the clock is not checked again.
        assert not stub.calls
        assert fake_clock.looks == last + 1
        assert result.status is Status.TIME_LIMIT
        assert (result.coef, result.objective, result.lower_bound, result.nodes) == ([0.0] * 5, 15.0, 0.0, 0)
        assert (result.method, result.target_gap) == ("stub", 1e-6)
        assert [bounds[1:] for bounds in reports] == [(15.0, 0.0, 0)]
        assert verify(result, X, y)


def test_a_start_is_not_lost_where_the_time_is_over_in_presolve(line, fake_clock) -> None:
    X, y = line
    fake_clock.end()
    result = solve(X, y, C=10, start=([1.0], -2.0))
    assert (result.coef, result.intercept, result.objective) == ([1.0], -2.0, 10.5)
    assert result.status is Status.TIME_LIMIT
    assert verify(result, X, y)


def test_a_checkpoint_is_written_though_the_time_is_over_at_once(flat_samples, tmp_path, fake_clock) -> None:
    X, y = flat_samples
    fake_clock.end()
    assert solve(X, y, checkpoint=tmp_path / "state").status is Status.TIME_LIMIT
    fake_clock.start()
    assert solve(X, y, resume=tmp_path / "state").optimal


def test_limits_and_options_reach_the_method(line, stub_method) -> None:
    stub = stub_method([0.0], -1.0)
    solve(*line, method="stub", time_limit=5, gap=0.01, threads=2, node_limit=4, seed=9, options={"number": 7})
    limits = stub.calls[0].limits
    assert (limits.time_limit, limits.gap, limits.threads, limits.node_limit, limits.seed) == (5, 0.01, 2, 4, 9)
    assert stub.calls[0].incumbent is None
    assert stub.calls[0].options == stub.Options(7)
    solve(*line, method="stub", threads=-1, options=stub.Options(8))
    assert stub.calls[1].limits.threads >= 1
    assert stub.calls[1].options.number == 8


def test_a_start_reaches_the_method_in_its_own_coordinates(stub_method) -> None:
    stub = stub_method([0.0], -1.0)
    X = np.array([[5.0, 1000.0], [5.0, 1004.0], [5.0, 1001.0], [5.0, 1006.0]])
    y = [0, 1, 0, 1]
    given = np.array([7.0, 0.8]), -0.8 * 1002.5 - 35.0
    solve(X, y, method="stub", start=given)
    call = stub.calls[0]
    margins = call.problem.y * (call.problem.X @ call.incumbent.coef + call.incumbent.intercept)
    assert margins == pytest.approx(Problem.from_data(X, y).evaluate(*given).margins)


@pytest.mark.parametrize("method", ALL_METHODS)
def test_no_answer_is_worse_than_the_start(method, blobs) -> None:
    # With both samples on the wrong side.
    X, y = blobs[0][::3], blobs[1][::3]
    good = solve(X, y, C=0.5)
    assert good.n_violations == 2
    for start in (good, (good.coef, good.intercept)):
        again = solve(X, y, C=0.5, method=method, start=start, node_limit=1, time_limit=None)
        assert again.objective <= good.objective * (1 + 1e-9)
    flat = solve(X, y, C=0.5, method=method, start=(np.zeros(X.shape[1]), 1.0), time_limit=None)
    assert flat.objective == pytest.approx(good.objective, rel=1e-5)


@pytest.mark.parametrize("method", ["auto", "packing", "directions"])
def test_a_node_limit_ends_the_search(method) -> None:
    data = generate("B", 100, 5, 6)
    result = solve(data.X, data.y, 10.0, method=method, node_limit=20, time_limit=None)
    assert result.status is Status.NODE_LIMIT
    assert 20 <= result.nodes < 400
    assert 0 < result.lower_bound <= solve(data.X, data.y, 10.0).objective


@pytest.mark.parametrize("status", list(Status))
def test_optimal_is_what_the_gap_says(line, stub_method, status) -> None:
    """A method's own status counts only if the recomputed gap leaves it open."""
    X, y = line
    X = X[:4] / 4 - 0.5
    stub_method([4.0], 0.0, lower_bound=7.9, status=status)
    tight = solve(X, y[:4], C=10, method="stub", gap=0.1)
    assert tight.status is Status.OPTIMAL
    loose = solve(X, y[:4], C=10, method="stub", gap=1e-3)
    assert loose.status is (Status.HEURISTIC if status is Status.OPTIMAL else status)
    assert loose.gap == pytest.approx(0.0125, rel=1e-6)


def test_a_wrong_bound_is_an_internal_error(line, stub_method) -> None:
    X, y = line
    stub_method([4.0], 0.0, lower_bound=9.0)
    with pytest.raises(RuntimeError, match=r"proven bound .* please report"):
        solve(X[:4] / 4 - 0.5, y[:4], C=10, method="stub")


REFUSED = {
    "time_limit zero": (
        {"time_limit": 0},
        ValueError,
        "time_limit is 0; expected a positive number of seconds",
    ),
    "time_limit NaN": ({"time_limit": math.nan}, ValueError, "time_limit is nan"),
    "time_limit text": ({"time_limit": "5"}, ValueError, "time_limit is '5'"),
    "gap zero": ({"gap": 0}, ValueError, "gap is 0; expected a number from 1e-09 to below 1"),
    "gap one": ({"gap": 1.0}, ValueError, "gap is 1.0"),
    "gap text": ({"gap": "1e-6"}, ValueError, "gap is '1e-6'"),
    "threads zero": ({"threads": 0}, ValueError, "threads is 0; expected a whole number >= 1, or -1"),
    "threads half": ({"threads": 1.5}, ValueError, "threads is 1.5"),
    "node_limit zero": ({"node_limit": 0}, ValueError, "node_limit is 0; expected a whole number >= 1, or None"),
    "node_limit half": ({"node_limit": 2.5}, ValueError, "node_limit is 2.5"),
    "start text": ({"start": "model.json"}, TypeError, "start is 'model.json'; expected a Result, or a pair"),
    "start too long": ({"start": ([1.0, 2.0], 0.0)}, ValueError, r"start has weights of shape .2,.; expected .1,."),
    "start infinite": ({"start": ([1.0], math.inf)}, ValueError, "not finite"),
    "start and resume": ({"start": ([1.0], 0.0), "resume": "state"}, ValueError, "both given"),
    "seed negative": ({"seed": -1}, ValueError, "seed is -1; expected a whole number"),
    "seed too large": ({"seed": 2**64}, ValueError, "seed is 18446744073709551616"),
    "seed bool": ({"seed": True}, ValueError, "seed is True"),
    "method unknown": ({"method": "magic"}, ValueError, "method is 'magic'; expected one of auto"),
    "method not text": ({"method": None}, ValueError, "method is None"),
    "option unknown": ({"options": {"magic": 1}}, ValueError, "has no option 'magic'"),
    "options not a dict": ({"options": 5}, TypeError, "options is 5; expected a dict"),
    "C negative": ({"C": -1}, ValueError, "C is -1.0"),
    "C too large": ({"C": 1e308}, ValueError, r"C = 1e\+308.* overflows"),
    "C text": ({"C": "1"}, TypeError, "C is '1'; expected a positive number"),
}


@pytest.mark.parametrize(("arguments", "kind", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_refusals_say_what_was_expected(line, arguments, kind, message) -> None:
    with pytest.raises(kind, match=message):
        solve(*line, **arguments)


@pytest.mark.parametrize("name", ["checkpoint", "resume", "cluster"])
def test_what_a_method_does_not_support_is_refused(line, name, tmp_path) -> None:
    with pytest.raises(ValueError, match=f"does not support {name}; leave it out"):
        solve(*line, method="heuristic", **{name: str(tmp_path / "file")})


@pytest.mark.parametrize("name", ["n60d2ATj1", "n60d2BTj0"])
def test_benchmark_instances(data_directory, name) -> None:
    """No objective is below a proven optimum, and no bound is above the best known value."""
    rows = np.loadtxt(data_directory / "brooks" / name, skiprows=2)
    known = pd.read_csv(data_directory / "best_known.csv").query("instance == @name and C == 10").iloc[0]
    result = solve(rows[:, 1:], rows[:, 0], C=10)
    assert result.lower_bound <= known.value * (1 + 1e-6)
    assert known.status == "proven"
    assert result.objective >= known.value * (1 - 1e-6)
    problem = Problem.from_data(rows[:, 1:], rows[:, 0], C=10)
    assert problem.evaluate(result.coef, result.intercept).objective == result.objective


def test_few_samples_with_very_many_features_need_little_memory() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 100_000))
    result = solve(X, np.arange(20) % 2, 1.0, time_limit=None)
    assert result.optimal
    assert result.n_violations == 0
