"""Many cuts, and a solver that accepts only some rows: the best are used, and a warning counts the rest."""

from __future__ import annotations

from importlib.util import find_spec
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.optimize

from hardmargin import Problem, _core, solve
from hardmargin.data import generate
from hardmargin.methods import benders, packing
from hardmargin.methods.base import Limits
from hardmargin.mip import get_backend, process
from hardmargin.mip.base import Answer, CoverModel, Cut, IndicatorModel, SolverLimits
from hardmargin.mip.cuts import CutMatrix, split_cuts

MANY = 10_000
# What the community edition of CPLEX accepts.
SIZE = 1000
# Solves end by themselves, in a few seconds.
LIMITS = SolverLimits(seconds=600.0, gap=1e-6, threads=1, seed=0, node_limit=None)
LEFT_OUT = "cuts were left out: the community edition of CPLEX takes up to 1000 constraints"


@pytest.fixture
def backend(backend_name) -> str:
    return backend_name


@pytest.fixture
def cplex_backend():
    if find_spec("cplex") is None:
        pytest.skip("no cplex")
    return get_backend("cplex")


@pytest.fixture
def community(monkeypatch) -> None:
    """The limit, whichever edition is installed."""
    if find_spec("cplex") is not None:
        monkeypatch.setattr(get_backend("cplex"), "_size_limit", lambda: SIZE)


@pytest.fixture(scope="module")
def problem() -> Problem:
    data = generate("B", 30, 3, 3)
    return Problem.from_data(data.X, data.y, 10.0)


@pytest.fixture(scope="module")
def optimum(problem) -> float:
    best = packing.run(problem, None, Limits(time_limit=LIMITS.seconds), lambda *_: None)
    assert best.gap <= 1e-6
    return best.objective


@pytest.fixture(scope="module")
def cuts(problem, optimum) -> list[Cut]:
    """Minimal sets and supersets of them, in random order; all valid for hyperplanes no worse than the best."""
    random = np.random.default_rng(0)
    oracle = _core.CutOracle(problem.X, problem.y, _core.WeightRegion.ball, 1.001 * np.sqrt(2 * optimum))
    points = (random.random((500, problem.n)) < 0.5).astype(float)
    minimal = sorted({tuple(members) for point in points for members in oracle.separate(point, 1e-3)[0]})
    sets = set(minimal)
    while len(sets) < MANY:
        extended = {*minimal[random.integers(len(minimal))], *random.integers(0, problem.n, 4).tolist()}
        sets.add(tuple(sorted(extended)))
    ordered = sorted(sets)
    return [Cut.of(ordered[k]) for k in random.permutation(MANY)]


@pytest.mark.parametrize("cut_use", ["initial", "removable", "tight", "lazy"])
@pytest.mark.usefixtures("community")
def test_the_optimum_is_right_with_many_cuts(backend, cut_use, problem, optimum, cuts) -> None:
    answer = get_backend(backend).solve_indicator(IndicatorModel(problem, cuts=cuts, cut_use=cut_use), LIMITS)
    assert answer.ended
    assert answer.lower == pytest.approx(optimum, rel=1e-5)
    assert answer.upper == pytest.approx(optimum, rel=1e-5)
    told = backend == "cplex" and cut_use in ("initial", "removable")
    assert (f"9030 of 10000 {LEFT_OUT}" in answer.note) == told
    assert bool(answer.note) == told


@pytest.mark.parametrize("known", [True, False], ids=["known cuts", "found cuts"])
def test_a_cover_takes_many_cuts(backend, known) -> None:
    """One of each pair of 100 cheap variables and 100 expensive ones: the cover is all the cheap ones."""
    side = 100
    pairs = [Cut.of([i, side + j]) for i in range(side) for j in range(side)]
    violated = CutMatrix(pairs, 2 * side)
    handed_over: set[Cut] = set()

    def separate(values) -> list[Cut]:
        shortfalls = violated.bounds - violated.matrix @ values
        found = [pairs[k] for k in np.flatnonzero(shortfalls > 1e-6)]
        handed_over.update(found)
        return found

    costs = np.repeat([1.0, 1.5], side)
    answer = get_backend(backend).solve_cover(CoverModel(costs, pairs if known else [], separate), LIMITS)
    assert answer.ended
    assert answer.lower == pytest.approx(side, rel=1e-6)
    assert answer.upper == pytest.approx(side, rel=1e-6)
    # Cuts that are found during the solve do not count against the community edition's limit.
    assert known or len(handed_over) > SIZE


def test_the_user_is_warned_from_another_process(cplex_backend, problem, optimum, cuts, monkeypatch) -> None:
    if cplex_backend._size_limit() is None:
        pytest.skip("a CPLEX without the limit")
    monkeypatch.setattr(benders.CutCollector, "sample", lambda self: None)
    monkeypatch.setattr(benders.CutCollector, "cover_all", lambda self: None)
    monkeypatch.setattr(benders.CutCollector, "cuts", cuts)
    settings = {"method": "benders", "time_limit": LIMITS.seconds}
    options = {"backend": "cplex", "cut_use": "initial"}
    with pytest.warns(RuntimeWarning) as warned:
        result = solve(problem.X, problem.y, 10.0, options=options, **settings)
    assert [str(warning.message)[: len(LEFT_OUT) + 14] for warning in warned] == [f"9030 of 10000 {LEFT_OUT}"]
    assert result.optimal
    assert result.objective == pytest.approx(optimum, rel=1e-5)


def test_a_solver_without_a_limit_gets_all_cuts_as_rows(cplex_backend, problem, cuts, monkeypatch) -> None:
    """That is, a licensed CPLEX; here only the model is examined."""
    rows = []

    def record(solver, factor, plane, answer, limits, callbacks) -> Answer:
        rows.append(solver.linear_constraints.get_num())
        solver.end()
        return answer

    monkeypatch.setattr(cplex_backend, "_size_limit", lambda: None)
    monkeypatch.setattr(cplex_backend, "_run", record)
    for cut_use in ("initial", "removable"):
        answer = cplex_backend.solve_indicator(IndicatorModel(problem, cuts=cuts, cut_use=cut_use), LIMITS)
        assert answer == Answer()
    assert rows == [MANY, MANY]


def test_the_limit_is_found_out_by_trying(cplex_backend, monkeypatch) -> None:
    cplex = pytest.importorskip("cplex")

    def refuse(code):
        def solve(self) -> None:
            raise cplex.exceptions.CplexSolverError(f"CPLEX Error {code}", None, code)

        return solve

    monkeypatch.setattr(cplex.Cplex, "solve", lambda self: None)
    assert cplex_backend._size_limit() is None
    monkeypatch.setattr(cplex.Cplex, "solve", refuse(1016))
    assert cplex_backend._size_limit() == SIZE
    # Any other error is raised by the model itself.
    monkeypatch.setattr(cplex.Cplex, "solve", refuse(1001))
    assert cplex_backend._size_limit() is None


@pytest.mark.usefixtures("community")
@pytest.mark.parametrize("method", ["indicator", "benders"])
def test_a_problem_that_is_too_large_without_cuts_is_refused_at_once(cplex_backend, method, monkeypatch) -> None:
    """And not only after the time of the second step."""
    data = generate("A", 999, 2, 3)
    monkeypatch.setattr(
        process, "solve_indicator", lambda name, model, limits: get_backend(name).solve_indicator(model, limits)
    )
    monkeypatch.setattr(benders.CutCollector, "sample", lambda self: pytest.fail("too late"))
    with pytest.raises(ValueError, match=r"1002 variables and 999 constraints.*up to 1000.*backend='scip'"):
        solve(data.X, data.y, 1.0, method=method, options={"backend": "cplex"})


def test_what_the_solver_refuses_for_its_size_is_an_error(cplex_backend, monkeypatch) -> None:
    """If the limit turns out to be different."""
    cplex = pytest.importorskip("cplex")
    refusal = cplex.exceptions.CplexSolverError("CPLEX Error 1016: Community Edition.", None, 1016)

    def refuse(self) -> None:
        raise refusal

    monkeypatch.setattr(cplex_backend, "_size_limit", lambda: None)
    monkeypatch.setattr(cplex.Cplex, "solve", refuse)
    data = generate("A", 1200, 2, 3)
    problem = Problem.from_data(data.X, data.y, 1.0)
    with pytest.raises(ValueError, match=r"1203 variables and 1200 constraints.*up to 1000.*backend='scip'"):
        cplex_backend.solve_indicator(IndicatorModel(problem), LIMITS)


def bound_of(cuts: list[Cut], costs: np.ndarray) -> float:
    """The cheapest fractional cover, by another model than the one that ranks."""
    rows = np.zeros((len(cuts), len(costs)))
    for row, cut in zip(rows, cuts, strict=True):
        row[list(cut.members)] = cut.factors
    return float(scipy.optimize.linprog(costs, A_ub=-rows, b_ub=[-cut.bound for cut in cuts], bounds=(0, 1)).fun)


def test_the_cuts_that_are_kept_give_the_bound_of_all(problem, cuts) -> None:
    model = IndicatorModel(problem, cuts=cuts, cut_use="initial")
    rows, lazy, left_out = split_cuts(model, LIMITS.seconds, room=problem.n)
    assert (len(rows), lazy, left_out) == (problem.n, [], MANY - problem.n)
    assert bound_of(rows, problem.costs) == pytest.approx(bound_of(cuts, problem.costs), rel=1e-9)
    # Any other selection does not.
    assert bound_of(cuts[: problem.n], problem.costs) < 0.9 * bound_of(rows, problem.costs)


def test_cuts_in_excess_of_the_room_are_lazy_where_cuts_may_be(problem, cuts) -> None:
    tight = split_cuts(IndicatorModel(problem, cuts=cuts, cut_use="tight"), LIMITS.seconds)
    fewer = split_cuts(IndicatorModel(problem, cuts=cuts, cut_use="tight"), LIMITS.seconds, room=10)
    assert len(tight.rows) > 10
    assert (len(fewer.rows), fewer.left_out) == (10, 0)
    assert set(fewer.rows) < set(tight.rows)
    assert {*fewer.rows, *fewer.lazy} == set(cuts)


def test_no_room_leaves_no_rows(problem, cuts) -> None:
    assert split_cuts(IndicatorModel(problem, cuts=cuts), LIMITS.seconds, room=0) == ([], [], MANY)
    assert split_cuts(IndicatorModel(problem, cuts=cuts[:9]), LIMITS.seconds, room=9) == (cuts[:9], [], 0)


def test_without_the_relaxation_cuts_that_ask_most_of_their_members_come_first(monkeypatch) -> None:
    """It takes too long. Then the order is: one of one, two of three, one of two, one of three."""
    monkeypatch.setattr(scipy.optimize, "linprog", lambda *_, **__: SimpleNamespace(status=1, x=None))
    cuts = [Cut.of([0, 1, 2]), Cut((0, 1, 2), (1.0, 1.0, 1.0), 2.0), Cut.of([1]), Cut.of([1, 2])]
    assert CutMatrix(cuts, 3).ranked(np.ones(3), 1.0) == ([2, 1, 3, 0], 0)
