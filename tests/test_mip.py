"""The integer programming solvers: models, limits, cuts, and the process that they run in."""

from __future__ import annotations

import os
import signal
import threading
import time
from itertools import combinations

import numpy as np
import pytest

from hardmargin import _core, mip
from hardmargin.data import generate
from hardmargin.methods.base import Incumbent
from hardmargin.mip import get_backend, process
from hardmargin.mip.base import Answer, CoverModel, Cut, IndicatorModel, SolverLimits, safe_bound
from hardmargin.mip.cuts import CutMatrix, split_cuts
from hardmargin.problem import Problem

# Enough seconds on any machine, for work that ends by itself in a few.
AMPLE = 600.0
# Seconds that a busy machine may take for something that is due now.
BUSY = 30.0
# A child that does not listen, for much longer than that.
DEAF = ["-c", "import time; time.sleep(3600)"]


def limits(seconds: float = AMPLE, **changes) -> SolverLimits:
    return SolverLimits(**{"seconds": seconds, "gap": 1e-6, "threads": 1, "seed": 0, "node_limit": None} | changes)


def problem_of(kind: str, n: int, d: int, C: float) -> Problem:
    data = generate(kind, n, d, 3)
    return Problem.from_data(data.X, data.y, C)


@pytest.fixture
def backend(backend_name):
    return get_backend(backend_name)


def test_unknown_and_missing_solvers_are_errors_that_say_what_to_do(monkeypatch) -> None:
    with pytest.raises(ValueError, match=r"backend is 'gurobi'; expected one of scip, cplex"):
        get_backend("gurobi")
    monkeypatch.setattr(mip, "find_spec", lambda name: None)
    with pytest.raises(
        ImportError, match=r"needs the package 'cplex', which is not installed; install the extra 'cplex'"
    ):
        get_backend("cplex")


def test_the_indicator_model_has_the_known_optimum(backend, line) -> None:
    X, y = line
    problem = Problem.from_data(X, y, 10.0)
    answer = backend.solve_indicator(IndicatorModel(problem), limits())
    assert answer.ended
    assert answer.lower == pytest.approx(10.5, rel=1e-5)
    assert problem.evaluate(answer.hyperplane.coef, answer.hyperplane.intercept).objective == pytest.approx(
        10.5, rel=1e-4
    )


@pytest.mark.parametrize("cut_use", ["initial", "removable", "lazy", "tight"])
def test_valid_cuts_change_nothing_and_wrong_ones_do(backend, cut_use, line) -> None:
    """A cut that requires giving up all of five samples shows that cuts are used at all."""
    X, y = line
    problem = Problem.from_data(X, y, 10.0)
    valid = [Cut.of([2, 4]), Cut.of([3, 4])]
    answer = backend.solve_indicator(IndicatorModel(problem, cuts=valid, cut_use=cut_use), limits())
    assert answer.lower == pytest.approx(10.5, rel=1e-5)
    wrong = [*valid, Cut(tuple(range(5)), (1.0,) * 5, 5.0)]
    answer = backend.solve_indicator(IndicatorModel(problem, cuts=wrong, cut_use=cut_use), limits())
    assert answer.lower == pytest.approx(50.0, rel=1e-5)


def test_a_start_is_taken_up(backend) -> None:
    """Without time to find anything else, a solver returns the start unchanged, including outliers."""
    problem = problem_of("A", 30, 2, 10.0)
    coef, intercept, _ = _core.soft_margin(problem.X, problem.y, problem.costs, 1e-9, AMPLE, None)
    start = Incumbent(np.array(coef), intercept)
    objective = problem.evaluate(*start).objective
    answer = backend.solve_indicator(IndicatorModel(problem, start=start), limits(node_limit=1))
    assert answer.upper <= objective * (1 + 1e-9)


def test_the_box_is_kept(backend) -> None:
    problem = problem_of("A", 40, 2, 10.0)
    free = backend.solve_indicator(IndicatorModel(problem), limits())
    box = 0.5 * float(np.abs(free.hyperplane.coef).max())
    boxed = backend.solve_indicator(IndicatorModel(problem, box=box), limits())
    assert np.abs(boxed.hyperplane.coef).max() <= box * (1 + 1e-6)
    assert boxed.lower > free.lower


@pytest.mark.parametrize("equal", [True, False], ids=["equal costs", "unequal costs"])
@pytest.mark.parametrize("seed", range(6))
def test_the_cover_is_the_smallest_that_leaves_nothing_impossible(backend, seed, equal) -> None:
    """Equal costs matter: samples that look symmetric in the rows known so far need not be in later ones."""
    n = 12
    data = generate("B", n, 2, seed)
    problem = Problem.from_data(data.X, data.y)
    costs = np.ones(n) if equal else np.random.default_rng(seed).uniform(0.5, 2.0, n)
    oracle = _core.CutOracle(problem.X, problem.y, _core.WeightRegion.box, 1.0)

    def separate(values, most=1):
        return [Cut.of(members) for members in oracle.separate(values, 1e-3, most)[0]]

    def kept_together(given_up) -> bool:
        values = np.zeros(n)
        values[list(given_up)] = 1.0
        return oracle.separate(values, 0.5) == ([], True)

    cheapest = min(
        costs[list(chosen)].sum()
        for size in range(n + 1)
        for chosen in combinations(range(n), size)
        if kept_together(chosen)
    )
    known = separate(np.zeros(n), most=0)
    for cuts in ([], known[:1], known):
        answer = backend.solve_cover(CoverModel(costs, cuts, separate), limits())
        assert answer.lower == pytest.approx(cheapest, rel=1e-6)
        assert answer.upper == pytest.approx(cheapest, rel=1e-6)


@pytest.mark.parametrize(("C", "optimum"), [(1e-9, 2e-9), (1e9, 1e9 + 0.5)])
def test_costs_of_any_size(backend, C, optimum, line) -> None:
    """With costs this small or large, absolute tolerances would decide."""
    X, y = line
    answer = backend.solve_indicator(IndicatorModel(Problem.from_data(X, y, C)), limits())
    assert answer.lower == pytest.approx(optimum, rel=1e-5)
    assert answer.upper == pytest.approx(optimum, rel=1e-5)


def test_what_a_callback_raises_comes_out(backend) -> None:
    def separate(values):
        raise ZeroDivisionError("in a callback")

    with pytest.raises(ZeroDivisionError, match="in a callback"):
        backend.solve_cover(CoverModel(np.ones(4), [], separate), limits())


def test_cut_matrices_find_what_is_violated_and_what_is_tight() -> None:
    cuts = [Cut.of([0, 1]), Cut.of([1, 2]), Cut((0, 1, 2), (1.0, 1.0, 2.0), 2.0)]
    matrix = CutMatrix(cuts, 3)
    assert matrix.violated(np.array([0.0, 1.0, 0.0])) == [cuts[2]]
    assert matrix.violated(np.array([1.0, 1.0, 0.0])) == []
    # The cheapest cover takes the second and half of the third.
    order, tight = matrix.ranked(np.array([5.0, 1.0, 1.0]), AMPLE)
    assert (set(order[:tight]), order[tight:]) == ({0, 2}, [1])
    model = IndicatorModel(Problem.from_data(np.eye(3), [0, 1, 1]), cuts=cuts, cut_use="lazy")
    assert split_cuts(model, AMPLE, room=0) == ([], cuts, 0)


def test_bounds_leave_room_for_tolerances() -> None:
    assert safe_bound(-5.0) == 0.0
    assert 0 < 100.0 - safe_bound(100.0) < 1e-3


def test_a_process_of_its_own_gives_the_same_answer(backend_name, line) -> None:
    X, y = line
    problem = Problem.from_data(X, y, 10.0)
    seen: list[Answer] = []
    answer = process.solve_indicator(
        backend_name, IndicatorModel(problem), limits(observe=lambda answer: not seen.append(answer))
    )
    assert answer.ended
    assert answer.lower == pytest.approx(10.5, rel=1e-5)
    assert seen


def test_the_time_limit_is_kept_whatever_the_solver_does(monkeypatch) -> None:
    """A child that does not listen is killed."""
    monkeypatch.setattr(process, "CHILD", DEAF)
    started = time.monotonic()
    answer = process.solve_indicator("scip", IndicatorModel(problem_of("A", 20, 2, 1.0)), limits(0.5))
    assert time.monotonic() - started < BUSY
    assert not answer.ended


def test_a_crash_is_told_and_costs_nothing(monkeypatch) -> None:
    monkeypatch.setattr(process, "CHILD", ["-c", "import os; os.abort()"])
    with pytest.warns(RuntimeWarning, match=r"scip ended unexpectedly \(exit status -6\)"):
        answer = process.solve_indicator("scip", IndicatorModel(problem_of("A", 20, 2, 1.0)), limits())
    assert answer == Answer()


def test_a_model_that_nobody_reads_is_no_reason_to_wait(monkeypatch) -> None:
    """Larger than a pipe can hold."""
    large = problem_of("A", 1000, 50, 1.0)
    monkeypatch.setattr(process, "CHILD", DEAF)
    started = time.monotonic()
    assert not process.solve_indicator("scip", IndicatorModel(large), limits(0.5)).ended
    assert time.monotonic() - started < BUSY
    monkeypatch.setattr(process, "CHILD", ["-c", "raise SystemExit(3)"])
    with pytest.warns(RuntimeWarning, match="exit status 3"):
        assert not process.solve_indicator("scip", IndicatorModel(large), limits()).ended


@pytest.mark.parametrize("said", ["print('hello')", "import pickle, sys; pickle.dump('lost', sys.stdout.buffer)"])
def test_what_makes_no_sense_ends_the_solve_and_is_told(said, monkeypatch) -> None:
    monkeypatch.setattr(process, "CHILD", ["-c", said])
    with pytest.warns(RuntimeWarning, match="scip ended unexpectedly"):
        answer = process.solve_indicator("scip", IndicatorModel(problem_of("A", 20, 2, 1.0)), limits())
    assert answer == Answer()


def test_what_was_said_before_a_crash_is_kept(monkeypatch) -> None:
    said = "import os, pickle, sys; from hardmargin.mip.base import Answer; "
    said += "pickle.dump(Answer(9.0, 2.0, 5), sys.stdout.buffer); sys.stdout.flush(); os.abort()"
    monkeypatch.setattr(process, "CHILD", ["-c", said])
    with pytest.warns(RuntimeWarning, match="exit status -6"):
        answer = process.solve_indicator("scip", IndicatorModel(problem_of("A", 20, 2, 1.0)), limits())
    assert (answer.upper, answer.lower, answer.nodes) == (9.0, 2.0, 5)


def test_ctrl_c_is_heard_while_a_solver_works(backend) -> None:
    """Both solvers would otherwise handle it themselves."""
    heard = threading.Event()
    heard_in_time = []

    def separate(values):
        os.kill(os.getpid(), signal.SIGINT)
        heard_in_time.append(heard.wait(BUSY))
        return []

    before = signal.signal(signal.SIGINT, lambda *_: heard.set())
    try:
        backend.solve_cover(CoverModel(np.ones(4), [], separate), limits())
    finally:
        signal.signal(signal.SIGINT, before)
    assert heard_in_time[0]
