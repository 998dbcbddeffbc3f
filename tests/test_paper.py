"""The paper's methods ``indicator`` and ``benders``, on both solvers."""

from __future__ import annotations

import csv
from collections import Counter

import numpy as np
import pytest

from brute_force import KINDS, compared, random_case
from hardmargin import Status, data, solve, verify
from hardmargin.data import generate
from hardmargin.literature import benders_cuts, mip_proof
from hardmargin.literature.benders_cuts import CutCollector
from hardmargin.literature.mip_proof import MipProof
from hardmargin.methods import benders, indicator, packing
from hardmargin.methods.base import Limits
from hardmargin.mip import get_backend, process
from hardmargin.mip.base import Answer, IndicatorModel
from hardmargin.problem import Problem

# T_S and T_B of the paper's eight configurations.
CONFIGURATIONS = [(0.2, 0), (0, 0.2), *((share, share) for share in (0.02, 0.05, 0.1, 0.2, 0.3, 0.4))]
# Optima that CPLEX and SCIP prove in a few seconds, and one that takes longer, with a node limit.
KNOWN = [("n60d2ATj0", 1, 500), ("n60d2ATj0", 100, None), ("n60d5ATj0", 1000, None)]

# Enough seconds on any machine, for work that ends by itself in a few.
AMPLE = 600.0
# Shares of these that leave half a second for each phase of step 2, for results that hold with any cuts.
BRIEF = {"T_S": 0.001, "T_B": 0.001}
# Shares that leave step 2 as long as it takes, for tests of its cuts.
LONG = {"T_S": 0.4, "T_B": 0.4}
# Seconds that a busy machine may take for something that is due now.
BUSY = 30.0


@pytest.fixture
def backend(backend_name) -> str:
    return backend_name


@pytest.fixture
def in_this_process(monkeypatch) -> None:
    """Starting a process for each of many tiny problems would take most of the time."""
    monkeypatch.setattr(
        process, "solve_indicator", lambda name, model, limits: get_backend(name).solve_indicator(model, limits)
    )


@pytest.fixture
def impatient(monkeypatch) -> None:
    """Sampling ends by itself, and soon: after few subsets without anything new, not by the clock."""
    monkeypatch.setattr(benders_cuts, "_PATIENCE", 6)


@pytest.mark.filterwarnings("ignore:the sizes of samples:RuntimeWarning")
@pytest.mark.parametrize("method", ["indicator", "benders"])
@pytest.mark.usefixtures("in_this_process", "impatient")
def test_small_problems_against_brute_force(method, backend) -> None:
    options = {"backend": backend} | (LONG if method == "benders" else {})
    settings = {"options": options, "time_limit": AMPLE}
    comparisons = [compared(random_case(2, index), method, **settings) for index in range(5 * len(KINDS))]
    assert {index: case.broken for index, case in enumerate(comparisons) if case.broken} == {}
    unproven = Counter(case.case.kind for case in comparisons if not case.result.optimal)
    # If sizes differ too much, no bound is claimed.
    assert unproven.total() - unproven["far outlier"] - unproven["integer grid"] <= 4, unproven


@pytest.mark.parametrize("method", ["indicator", "benders"])
@pytest.mark.parametrize(("name", "C", "node_limit"), KNOWN)
def test_published_values(method, backend, name, C, node_limit, data_directory) -> None:
    with open(data_directory / "best_known.csv", newline="") as file:
        known = {(row[0], row[1]): float(row[2]) for row in csv.reader(file) if row[3] == "proven"}
    instance = data.load(data_directory / "brooks" / name)
    options = {"backend": backend} | (BRIEF if method == "benders" else {})
    settings = {"method": method, "time_limit": AMPLE, "node_limit": node_limit, "options": options}
    result = solve(instance.X, instance.y, C, **settings)
    assert result.objective >= known[name, str(C)] * (1 - 1e-6)
    assert 0 < result.lower_bound <= known[name, str(C)] * (1 + 1e-6)
    assert result.optimal or node_limit is not None
    assert result.target_gap == 1e-5
    assert verify(result, instance.X, instance.y)


@pytest.mark.parametrize(("T_S", "T_B"), CONFIGURATIONS)
@pytest.mark.usefixtures("in_this_process", "impatient")
def test_all_configurations_run(T_S, T_B) -> None:
    instance = generate("A", 20, 2, 1)
    settings = {"method": "benders", "time_limit": AMPLE, "options": {"T_S": T_S, "T_B": T_B}}
    result = solve(instance.X, instance.y, 1.0, **settings)
    assert result.status is Status.OPTIMAL
    assert 0 < result.lower_bound <= result.objective
    assert verify(result, instance.X, instance.y)


@pytest.mark.parametrize(("T_S", "T_B"), CONFIGURATIONS)
def test_shares_of_the_time_limit_are_what_a_phase_may_take(T_S, T_B, monkeypatch) -> None:
    """A cover of fewer samples than all belongs to the first phase, and a phase never gets more than its share."""
    seconds: dict[str, list[float]] = {"subset": [], "all": []}

    class Recorder:
        CUT_USE = "lazy"

        def check_size(self, problem) -> None:
            pass

        def solve_cover(self, model, limits) -> Answer:
            seconds["all" if len(model.costs) == 40 else "subset"].append(limits.seconds)
            return Answer(ended=True)

    monkeypatch.setattr(benders, "get_backend", lambda name: Recorder())
    monkeypatch.setattr(process, "solve_indicator", lambda *_: Answer(ended=True))
    instance = generate("B", 40, 3, 2)
    options = {"T_S": T_S, "T_B": T_B}
    solve(instance.X, instance.y, 5.0, method="benders", time_limit=1000 * AMPLE, options=options)
    # Sampling stops after this many subsets without anything new, and the full phase has one cover.
    assert len(seconds["subset"]) == (30 if T_S else 0)
    assert len(seconds["all"]) == (1 if T_B else 0)
    for phase, share in (("subset", T_S), ("all", T_B)):
        whole = share * 1000 * AMPLE
        assert all(whole - BUSY < taken <= whole for taken in seconds[phase])
    assert seconds["subset"] == sorted(seconds["subset"], reverse=True)


VARIANTS = [
    {"weight_bound": "text", "region": "box", "sampling_region": "bounded", "cuts_per_round": 1},
    {"weight_bound": "code", "region": "box", "sampling_region": "unbounded", "subset_bounds": True},
    {"region": "ball", "subset_bounds": False, "stratified": False},
    {"subset_size": 10, "cut_use": "initial"},
    {"cut_use": "removable", "tuned": False},
    {"cut_use": "lazy", "presolve": True, "heuristic": True},
]


@pytest.mark.parametrize("options", VARIANTS, ids=lambda options: "-".join(map(str, options.values())))
@pytest.mark.filterwarnings("ignore:.* cuts were left out:RuntimeWarning")
@pytest.mark.usefixtures("in_this_process")
def test_all_variants_agree(options, backend) -> None:
    """Whichever cuts are found in the time, and however many of them the solver accepts."""
    instance = generate("B", 40, 3, 2)
    weights = np.random.default_rng(1).uniform(0.5, 2.0, 40)
    expected = solve(instance.X, instance.y, 5.0, sample_weight=weights, method="packing")
    result = solve(
        instance.X,
        instance.y,
        5.0,
        sample_weight=weights,
        method="benders",
        time_limit=AMPLE,
        options={"backend": backend, **BRIEF, **options},
    )
    assert result.optimal
    assert result.objective == pytest.approx(expected.objective, rel=2e-5)


@pytest.mark.filterwarnings("ignore:the sizes of samples:RuntimeWarning")
@pytest.mark.parametrize("weight_bound", ["text", "code", "tightened"])
@pytest.mark.parametrize("region", ["box", "ball"])
@pytest.mark.parametrize("sampling_region", ["bounded", "unbounded"])
@pytest.mark.usefixtures("impatient")
def test_an_optimum_violates_no_cut(weight_bound, region, sampling_region, monkeypatch) -> None:
    """Neither a cut, with equal or unequal costs, nor the bound on the weights."""
    models: list[IndicatorModel] = []

    def record(name, model, limits) -> Answer:
        models.append(model)
        return Answer(ended=True)

    monkeypatch.setattr(process, "solve_indicator", record)
    options = {**LONG, "weight_bound": weight_bound, "region": region, "subset_size": 8}
    for index in range(2 * len(KINDS)):
        case = random_case(7, index)
        settings = {"options": options | {"sampling_region": sampling_region}, "time_limit": AMPLE}
        solve(case.X, case.y, case.C, **case.weights, method="benders", **settings)
    checked = 0
    for model in models:
        best = packing.run(model.problem, None, Limits(), lambda *_: None)
        assert best.gap <= 1e-6
        given_up = np.zeros(model.problem.n)
        given_up[best.violations] = 1.0
        assert np.abs(best.coef).max() <= model.box * (1 + 1e-9)
        for cut in model.cuts:
            assert given_up[list(cut.members)] @ np.array(cut.factors) >= cut.bound - 1e-9
            checked += 1
    assert checked > 20


def test_a_bound_on_the_whole_objective_does_not_tighten_the_weights() -> None:
    """Only the cost of violations does; with ``heuristic=True`` the proof's first bound includes the weights."""
    instance = generate("B", 40, 3, 2)
    problem = Problem.from_data(instance.X, instance.y, 5.0)
    # Sampling ends at the node limit.
    proof = MipProof(problem, Limits(time_limit=AMPLE, node_limit=100), lambda *_: None, "benders")
    proof.start_from_hinge_loss()
    proof.lower_bound = 0.999 * proof.objective
    collector = CutCollector(problem, proof, get_backend("scip"), benders.Options(**LONG))
    collector.sample()
    best = packing.run(problem, None, Limits(), lambda *_: None)
    assert collector.cuts
    assert np.abs(best.coef).max() <= collector.weight_bound
    assert collector.weight_bound**2 > proof.objective


def test_a_bound_that_cannot_be_true_is_dropped_with_all_that_rests_on_it(monkeypatch) -> None:
    """A solver that claims too much for the cover: step 3 gets neither its cuts nor a box that is too small."""
    models: list[IndicatorModel] = []

    class Liar:
        CUT_USE = "lazy"

        def check_size(self, problem) -> None:
            pass

        def solve_cover(self, model, limits) -> Answer:
            model.separate(np.zeros(len(model.costs)))
            return Answer(upper=1e6, lower=1e6, ended=True)

    def record(name, model, limits) -> Answer:
        models.append(model)
        return Answer(ended=True)

    monkeypatch.setattr(benders, "get_backend", lambda name: Liar())
    monkeypatch.setattr(process, "solve_indicator", record)
    instance = generate("B", 40, 3, 2)
    with pytest.warns(RuntimeWarning, match="the solver's bounds are not used"):
        result = solve(instance.X, instance.y, 5.0, method="benders", time_limit=AMPLE)
    assert result.lower_bound == 0
    assert not result.optimal
    assert models[0].cuts == []
    assert models[0].box == pytest.approx(np.sqrt(2 * result.objective), rel=1e-3)


WIDE = {
    "costs": ([[1.2570949], [0.7669098], [0.8487304], [0.1964980], [0.9001515]], [1, -1, -1, 1, 1], 2.3e10),
    "features": ([[-9755.0, 0.121], [-27444.0, -0.171], [33196.0, 0.066], [-8489.0, -0.032]], [1, -1, 1, -1], 2e3),
    "samples": ([[0.1, 1.0], [1.0, 0.2], [-3e4, 5.0], [0.5, 0.4], [7e4, 2.0]], [1, -1, 1, 1, -1], 10.0),
}


@pytest.mark.parametrize("kind", WIDE)
@pytest.mark.parametrize("method", ["indicator", "benders"])
@pytest.mark.usefixtures("in_this_process")
def test_no_bound_is_claimed_where_tolerances_could_decide(kind, method, backend) -> None:
    X, y, C = WIDE[kind]
    with pytest.warns(RuntimeWarning, match="so far apart"):
        result = solve(X, y, C, method=method, time_limit=5, options={"backend": backend})
    assert result.lower_bound == 0
    assert not result.optimal


def test_a_bound_that_a_hyperplane_denies_is_dropped(monkeypatch) -> None:
    """Our own search finds the hyperplane; the answer remains the solver's."""
    instance = generate("A", 40, 2, 2)
    # The search ends by its effort.
    monkeypatch.setattr(mip_proof, "_TEST_SECONDS", AMPLE)
    monkeypatch.setattr(process, "solve_indicator", lambda *_: Answer(lower=1e6, ended=True))
    with pytest.warns(RuntimeWarning, match="the solver's bounds are not used"):
        result = solve(instance.X, instance.y, 5.0, method="indicator", time_limit=AMPLE)
    assert result.lower_bound == 0

    flat = min((instance.y == label).sum() for label in set(instance.y)) * 5.0
    monkeypatch.setattr(process, "solve_indicator", lambda *_: Answer(lower=flat, ended=True))
    with pytest.warns(RuntimeWarning, match="the solver's bounds are not used"):
        result = solve(instance.X, instance.y, 5.0, method="indicator", time_limit=AMPLE)
    assert (result.objective, result.lower_bound) == (flat, 0)


@pytest.mark.usefixtures("in_this_process")
def test_separable_data_need_no_cuts(backend, monkeypatch) -> None:
    monkeypatch.setattr(get_backend(backend), "solve_cover", lambda *_: pytest.fail("there is nothing to cover"))
    X = np.array([[0.0, 0.0], [1.0, 0.0], [3.0, 1.0], [4.0, 0.0]])
    settings = {"method": "benders", "time_limit": AMPLE, "options": {"backend": backend}}
    result = solve(X, [0, 0, 1, 1], 100.0, **settings)
    assert result.optimal
    assert result.violations == []


@pytest.mark.parametrize("method", ["indicator", "benders"])
def test_an_interrupt_keeps_what_is_known(method, backend) -> None:
    """The problem takes hours."""
    instance = generate("B", 100, 10, 3)
    interrupted_at: list[float] = []

    def interrupt(time, upper, lower, nodes) -> None:
        # In the sampling phase of one method, during the solver's work of the other.
        if lower > 0:
            interrupted_at.append(time)
            raise KeyboardInterrupt

    settings = {"method": method, "time_limit": AMPLE, "options": {"backend": backend}, "report": interrupt}
    result = solve(instance.X, instance.y, 1.0, **settings)
    assert result.status is Status.INTERRUPTED
    assert result.runtime < interrupted_at[0] + BUSY
    assert 0 < result.lower_bound < result.objective
    assert verify(result, instance.X, instance.y)


@pytest.mark.parametrize("method", ["indicator", "benders"])
def test_the_time_limit_is_kept(method, backend) -> None:
    """The problem takes hours."""
    instance = generate("B", 300, 10, 3)
    result = solve(instance.X, instance.y, 1.0, method=method, time_limit=2.0, options={"backend": backend})
    assert result.status is Status.TIME_LIMIT
    assert 2.0 <= result.runtime < 2.0 + BUSY
    lowers = [point.lower for point in result.trace]
    assert lowers == sorted(lowers)


BAD = [
    (indicator.Options, {"backend": "gurobi"}, "backend is 'gurobi'"),
    (indicator.Options, {"tuned": "yes"}, "tuned is 'yes'; expected True or False"),
    (benders.Options, {"T_S": 1.0}, "T_S is 1.0"),
    (benders.Options, {"T_S": 0.5, "T_B": 0.5}, r"T_S \+ T_B is 1"),
    (benders.Options, {"T_B": True}, "T_B is True"),
    (benders.Options, {"subset_size": 1}, "subset_size is 1"),
    (benders.Options, {"cuts_per_round": -1}, "cuts_per_round is -1"),
    (benders.Options, {"weight_bound": "small"}, "weight_bound is 'small'; expected one of text, code, tightened"),
    (benders.Options, {"region": "cone"}, "region is 'cone'"),
    (benders.Options, {"sampling_region": "none"}, "sampling_region is 'none'"),
    (benders.Options, {"cut_use": "never"}, "cut_use is 'never'"),
]


@pytest.mark.parametrize(("kind", "values", "message"), BAD)
def test_bad_options_are_refused(kind, values, message) -> None:
    with pytest.raises(ValueError, match=message):
        kind(**values)
