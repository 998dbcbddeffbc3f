"""path(): compared with exhaustive search, interrupted, limited and resumed."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

import hardmargin.path_search
from brute_force import KINDS, candidates, random_case, violated
from hardmargin import Path, Problem, Result, Status, path, solve, verify
from hardmargin.data import generate
from hardmargin.envelope import Line, lower_envelope

# The case of every kind twice: with index % len(KINDS), and once more with other random numbers.
CASES = range(2 * len(KINDS))


def exact_lines(case) -> list[Line]:
    """The norm and the weight given up, for hyperplanes of which one is optimal at every C."""
    problem = Problem.from_data(case.X, case.y, 1.0, **case.weights)
    lines = [
        Line(float(norm), float(given_up))
        for norms, margins in candidates(problem)
        for norm, given_up in zip(norms, violated(margins) @ problem.costs, strict=True)
    ]
    # Of lines that give up the same, only one can be best.
    best: dict[float, Line] = {}
    for line in lines:
        key = round(line.given_up, 9)
        best[key] = min(best.get(key, line), line)
    return list(best.values())


def optimum(lines: list[Line], C: float) -> float:
    return min(line.at(C) for line in lines)


def test_the_default_is_what_the_page_says(line) -> None:
    found = path(*line, C=(0.1, 1000))
    assert (found.status, found.C, found.low, found.high) == (Status.OPTIMAL, (0.1, 1000.0), 0.1, 1000.0)
    assert found.breakpoints == [pytest.approx(0.5)]
    assert [part.violations for part in found.segments] == [[2, 3], [4]]
    assert [part.given_up for part in found.segments] == [2, 1]


@pytest.mark.parametrize("index", CASES)
def test_the_envelope_is_exact(index) -> None:
    """Every value, every bound and every breakpoint, for data of all kinds and with weights."""
    case = random_case(5, index)
    lines = exact_lines(case)
    low, high = case.C / 100, case.C * 100
    found = path(case.X, case.y, (low, high), gap=1e-7, **case.weights)
    assert found.optimal
    exact = lower_envelope(lines, low, high)
    for C in [low, high, *exact.breakpoints, *found.breakpoints, *np.geomspace(low, high, 7)[1:-1]]:
        best, result = optimum(lines, C), found.at(C)
        assert result.lower_bound <= best * (1 + 1e-9)
        assert best * (1 - 1e-8) <= result.objective <= best * (1 + 2e-7)
        assert result.optimal
        assert verify(result, case.X, case.y)
    # Breakpoints can be compared if no stretch of the exact envelope is so short that the gap hides it.
    ends = [low, *exact.breakpoints, high]
    if all(right > left * (1 + 1e-3) for left, right in pairwise(ends)):
        assert found.breakpoints == pytest.approx(exact.breakpoints, rel=1e-4)


@pytest.mark.parametrize("index", range(0, 2 * len(KINDS), 3))
def test_an_unfinished_path_claims_nothing_wrong(index, monkeypatch) -> None:
    """With bounds far from the optimum, as after a time limit: a fake solve proves only a part of what is true."""
    case = random_case(7, index)
    lines = exact_lines(case)
    low, high = case.C / 100, case.C * 100
    shares = iter(np.random.default_rng(index).uniform(0, 1, size=1000))

    def weak(X, y, C, **settings) -> Result:
        result = solve(X, y, C, **settings)
        bound = next(shares) * min(result.lower_bound, optimum(lines, C))
        return replace(result, lower_bound=bound, gap=1 - bound / result.objective, status=Status.STALLED)

    monkeypatch.setattr(hardmargin.path_search, "solve", weak)
    found = path(case.X, case.y, (low, high), options={}, **case.weights)
    assert found.status is Status.STALLED
    gaps = []
    for C in [*np.geomspace(low, high, 60)[1:-1], *found.breakpoints, *(C for C, _ in found.proven)]:
        result = found.at(C)
        assert result.lower_bound <= optimum(lines, C) * (1 + 1e-9)
        assert result.objective >= optimum(lines, C) * (1 - 1e-8)
        gaps.append(result.gap)
    assert max(gaps) <= found.gap * (1 + 1e-9)


def test_a_list_has_these_values_only(blobs) -> None:
    X, y = blobs
    found = path(X, y, [10.0, 0.5, 2.0])
    assert (found.optimal, found.C) == (True, [10.0, 0.5, 2.0])
    for C in found.C:
        assert found.at(C).objective == pytest.approx(solve(X, y, C).objective, rel=2e-6)
    assert str(found).splitlines()[0].endswith("path from C = 0.5 to 10: optimal, proven at the 3 values of C")
    assert path(X, y, [3.0]).at(3.0).optimal
    assert path(X, y, [3.0, 4.0, 3]).C == [3.0, 4.0]
    assert str(path(X, y, [3.0, 3.0])).splitlines()[0].endswith("optimal, proven at C = 3")
    assert path(X, y, np.array([3.0, 4.0])).C == [3.0, 4.0]


def test_proofs_of_single_solves_are_needed_at_ends_and_breakpoints_only(blobs, monkeypatch) -> None:
    """With options of a method, which the joint proof does not have: primal searches first, then single proofs."""
    expected = path(*blobs, (0.01, 100)).breakpoints
    asked = []

    def listening(X, y, C, **settings) -> Result:
        asked.append(settings.get("method", "auto"))
        return solve(X, y, C, **settings)

    monkeypatch.setattr(hardmargin.path_search, "solve", listening)
    found = path(*blobs, (0.01, 100), options={"later_effort": 10.0})
    assert found.optimal
    assert found.breakpoints == pytest.approx(expected)
    first = asked.index("auto")
    assert set(asked[:first]) == {"heuristic"}
    assert set(asked[first:]) == {"auto"}
    assert len(asked) - first <= 2 + len(found.breakpoints)


def test_a_node_limit_holds_for_all_solves_together() -> None:
    data = generate("B", 60, 5, 1)
    found = path(data.X, data.y, (0.1, 1000), node_limit=40, options={"first_nodes": 10, "slice": 1})
    assert found.status is Status.NODE_LIMIT
    assert 0 < found.gap < 1
    assert found.nodes < 200


def test_ctrl_c_keeps_what_is_known(blobs) -> None:
    def report(state) -> None:
        if state.done and state.solves == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        path(*blobs, (0.01, 100), report=report)

    def interrupt(state) -> None:
        if not state.done and state.solves == 2:
            raise KeyboardInterrupt

    found = path(*blobs, (0.01, 100), report=interrupt)
    assert found.status is Status.INTERRUPTED
    assert found.solves == 3
    assert found.at(100.0).lower_bound > 0


def test_progress(blobs) -> None:
    states = []
    found = path(*blobs, (0.01, 100), report=states.append)
    ends = [state for state in states if state.done]
    assert [state.solves for state in ends] == list(range(1, found.solves + 1))
    assert ends[-1].breakpoints == len(found.breakpoints)
    assert ends[-1].gap == found.gap <= 1e-6
    assert all(left.gap >= right.gap * (1 - 1e-9) for left, right in pairwise(ends))


def test_checkpoint_and_resume(blobs, tmp_path) -> None:
    file = tmp_path / "path.json"
    whole = path(*blobs, (0.01, 100), checkpoint=file)
    assert Path.load(file).breakpoints == whole.breakpoints
    with pytest.raises(ValueError, match="resume"):
        path(*blobs, (0.01, 100), checkpoint=file)
    again = path(*blobs, (0.01, 100), checkpoint=file, resume=file)
    assert (again.solves, again.nodes, again.status) == (whole.solves, whole.nodes, Status.OPTIMAL)
    assert again.breakpoints == whole.breakpoints
    # A part of the range needs nothing new, a larger range a few solves more.
    assert path(*blobs, (0.1, 10), resume=whole).solves == whole.solves
    larger = path(*blobs, (0.01, 1000), resume=whole)
    assert larger.optimal
    assert larger.breakpoints == pytest.approx(path(*blobs, (0.01, 1000)).breakpoints)


@pytest.mark.parametrize("weaker", ["indicator", "benders", "of a later version"])
def test_bounds_that_are_not_certified_are_not_mixed_with_others(line, weaker, tmp_path) -> None:
    X, y = line
    known = path(X, y, [1.0])
    unsure = replace(known, hyperplanes=[replace(each, method=weaker) for each in known.hyperplanes])
    file = tmp_path / "path.json"
    unsure.save(file)
    message = "method '{}', whose bounds are not certified, .* method 'auto' .* method indicator or benders"
    with pytest.raises(ValueError, match="^resume is a path of " + message.format(weaker)):
        path(X, y, [1.0], resume=unsure)
    with pytest.raises(ValueError, match="path.json is a path of " + message.format(weaker)):
        path(X, y, [1.0], resume=file)
    continued = path(X, y, [1.0], resume=unsure, method="benders")
    assert (continued.method, continued.solves) == ("benders", known.solves)


def test_a_path_has_the_name_of_the_method_with_weaker_bounds(line) -> None:
    X, y = line
    known = path(X, y, [1.0])
    mixed = path(X, y, [1.0], resume=known, method="indicator")
    assert (known.method, mixed.method) == ("auto", "indicator")
    with pytest.raises(ValueError, match="not certified"):
        path(X, y, [1.0], resume=mixed)


@pytest.mark.parametrize("change", [{"sample_weight": np.full(40, 2.0)}, {"class_weight": {1: 2.0}}])
def test_a_path_of_other_data_is_refused(blobs, change) -> None:
    X, y = blobs
    known = path(X, y, [1.0])
    with pytest.raises(ValueError, match="40 samples x 2 features that differ"):
        path(X, y, [1.0], resume=known, **change)
    with pytest.raises(ValueError, match="expected the same data"):
        path(X + 1, y, [1.0], resume=known)


def test_a_checkpoint_that_cannot_be_written_is_a_warning(blobs, tmp_path, monkeypatch) -> None:
    def full(*_) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "save", full)
    with pytest.warns(hardmargin.path_search.CheckpointWarning, match="No space left on device") as warned:
        found = path(*blobs, (0.1, 10), checkpoint=tmp_path / "path.json")
    assert len(warned) == 1
    assert found.optimal


@pytest.mark.parametrize(
    ("C", "settings", "error", "text"),
    [
        (1.0, {}, TypeError, r"expected a tuple \(low, high\) or a list of numbers; for one value use solve"),
        ("scale", {}, TypeError, "expected a tuple"),
        ((2.0, 1.0), {}, ValueError, r"expected \(low, high\) with low < high"),
        ((1.0, 2.0, 3.0), {}, ValueError, r"expected \(low, high\)"),
        ([], {}, ValueError, "C has no values"),
        ([1.0, -1.0], {}, ValueError, "expected a positive finite number"),
        (["a"], {}, TypeError, "C contains 'a'; expected positive numbers only"),
        ((1.0, "scale"), {}, TypeError, "C contains 'scale'; expected positive numbers only"),
        (
            (1e-300, 1e300),
            {},
            ValueError,
            r"from 1e-300 to 1e\+300; .* at most 1e\+300 times the smallest",
        ),
        ([1e300, 1e-300], {}, ValueError, "times the smallest"),
        ((1.0, 2.0), {"start": None}, TypeError, r"path\(\) has no parameter 'start'"),
        ((1.0, 2.0), {"time_limit": 0}, ValueError, "time_limit is 0"),
        ((1.0, 2.0), {"method": "guess"}, ValueError, "method is 'guess'"),
        ((1.0, 2.0), {"options": {"guess": 1}}, ValueError, "no option 'guess'"),
    ],
)
def test_bad_parameters_are_refused(line, C, settings, error, text) -> None:
    with pytest.raises(error, match=text):
        path(*line, C, **settings)


def test_a_bound_above_an_objective_is_an_error(line, monkeypatch) -> None:
    def wrong(X, y, C, **settings) -> Result:
        return replace(solve(X, y, C, **settings), lower_bound=2 * C)

    monkeypatch.setattr(hardmargin.path_search, "solve", wrong)
    with pytest.raises(RuntimeError, match="please report this"):
        path(*line, (0.1, 100))


def test_an_instance_of_the_literature(data_directory) -> None:
    values = {1: 51.283220, 10: 397.319153, 100: 3371.995406, 1000: 32028.596314, 10000: 311028.596314}
    data = hardmargin.data.load(data_directory / "brooks" / "n200d5ATj0")
    found = path(data.X, data.y, (1, 10000), time_limit=None)
    assert found.optimal
    for C, value in values.items():
        assert found.at(C).objective == pytest.approx(value, rel=1e-6)
    assert json.loads(found.to_json())["breakpoints"] == found.breakpoints


@pytest.mark.parametrize("C", [(0.1, 10.0), [0.1, 1.0, 10.0]])
@pytest.mark.parametrize("method", ["auto", "heuristic"])
def test_without_time_there_is_a_path_with_a_gap(line, C, method: str) -> None:
    found = path(*line, C=C, method=method, time_limit=1e-9)
    assert found.status in (Status.TIME_LIMIT, Status.OPTIMAL)
    assert found.at(1.0).lower_bound <= solve(*line, C=1.0).objective


def test_a_path_that_is_resumed_has_the_labels_of_now(line) -> None:
    X, y = line
    labels = np.where(np.asarray(y) == np.max(y), "yes", "no")
    found = path(X, labels, C=(0.1, 100), resume=path(X, y, C=(0.1, 10)))
    assert {tuple(each.classes) for each in found.hyperplanes} == {("no", "yes")}
    assert verify(found.at(10.0), X, labels)


def test_signs_and_ranges_by_the_names_of_features(line) -> None:
    X, y = line
    frame = pd.DataFrame({"dose": np.ravel(X), "age": np.arange(len(y), dtype=float)})
    named = path(frame, y, (0.1, 10), monotonic_cst={"dose": -1}, coef_bounds={"age": (None, 0.5)})
    plain = path(frame.to_numpy(), y, (0.1, 10), monotonic_cst=[-1, 0], coef_bounds=(None, [None, 0.5]))
    assert named.optimal
    assert named.breakpoints == plain.breakpoints
    assert named.data == plain.data
    assert all(each.coef[0] <= 0 and each.coef[1] <= 0.5 for each in named.hyperplanes)


@pytest.mark.parametrize(
    ("constraints", "as_arrays"),
    [
        ({"coef_bounds": ([0.0, -1.0], None)}, {"coef_bounds": ([0.0, -1.0], [np.inf, np.inf])}),
        ({"monotonic_cst": {"b": 1}}, {"monotonic_cst": [0, 1]}),
        ({"monotonic_cst": {"b": 1}, "coef_bounds": (None, 0.5)}, {"coef_bounds": ([-np.inf, 0.0], 0.5)}),
    ],
)
def test_constraints_may_have_any_form_that_a_solve_takes(blobs, constraints, as_arrays) -> None:
    pandas = pytest.importorskip("pandas")
    X, y = blobs
    frame = pandas.DataFrame(X, columns=["a", "b"])
    found = path(frame, y, [0.1, 1.0], **constraints)
    for C in (0.1, 1.0):
        assert found.at(C).objective == pytest.approx(solve(X, y, C, **as_arrays).objective)
    assert path(X, y, [0.1, 1.0], resume=found, **as_arrays).solves == found.solves
    # The same words about columns in another order are another constraint.
    if "monotonic_cst" in constraints:
        with pytest.raises(ValueError, match="a constraint"):
            path(frame.set_axis(["b", "a"], axis=1), y, [0.1, 1.0], resume=found, **constraints)
