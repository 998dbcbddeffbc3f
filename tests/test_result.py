from __future__ import annotations

import copy
import json
import math
import os
import stat
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from hardmargin import Problem, Result, Status
from hardmargin.result import TracePoint, relative_gap


def example(**changes) -> Result:
    problem = Problem.from_data([[0.0], [1.0], [3.0], [4.0]], ["a", "a", "b", "a"], C=3, sample_weight=[1, 1, 1, 2])
    result = Result.of(
        problem,
        [1.0],
        -2.0,
        lower_bound=5.0,
        status=Status.TIME_LIMIT,
        method="auto",
        runtime=0.125,
        nodes=3,
        trace=[TracePoint(0.1, 9.0, 0.0), TracePoint(0.125, 6.5, 5.0)],
        target_gap=1e-6,
    )
    return replace(result, **changes)


def test_a_result_evaluates_its_hyperplane() -> None:
    result = example()
    assert result.objective == 6.5
    assert result.gap == pytest.approx(1.5 / 6.5)
    assert (result.violations, result.n_violations) == ([3], 1)
    assert (result.n, result.m, result.C, result.weights) == (4, 1, 3.0, [1, 1, 1, 2])
    assert result.classes == ["a", "b"]
    assert not result.optimal
    assert str(result.status) == "time_limit"


def test_rows_of_weight_zero_are_listed_but_cost_nothing() -> None:
    problem = Problem.from_data([[0.0], [2.0], [9.0]], [0, 1, 0], C=4, sample_weight=[1, 1, 0])
    result = Result.of(problem, [1.0], -1.0, lower_bound=0, status=Status.HEURISTIC, method="auto", runtime=0)
    assert result.violations == [2]
    assert result.objective == 0.5


@pytest.mark.parametrize(
    ("objective", "bound", "gap"),
    [
        (10, 8, 0.2),
        (10, 0, 1),
        (10, 10, 0),
        (0, 0, 0),
        (10, 10.000001, 0),
        (math.inf, 5, 1),
        (math.nan, 5, 1),
    ],
)
def test_relative_gap(objective, bound, gap) -> None:
    assert relative_gap(objective, bound) == pytest.approx(gap, abs=1e-15)


def of_bound(bound: float) -> Result:
    problem = Problem.from_data([[0.0], [2.0]], [0, 1])
    return Result.of(problem, [1.0], -1.0, lower_bound=bound, status="optimal", method="auto", runtime=0)


def test_a_bound_above_the_objective_by_rounding_is_clamped() -> None:
    result = of_bound(0.5 * (1 + 5e-9))
    assert (result.lower_bound, result.gap) == (0.5, 0)
    assert of_bound(-3.0).lower_bound == 0


@pytest.mark.parametrize("bound", [0.5 * (1 + 2e-8), 7.0, math.inf, math.nan])
def test_a_bound_above_the_objective_is_an_internal_error(bound) -> None:
    with pytest.raises(RuntimeError, match=r"proven bound .* above the objective 0\.5 .* please report"):
        of_bound(bound)


def test_predictions() -> None:
    result = example()
    assert result.decision_function([[2.0], [5.0]]).tolist() == [0, 3]
    assert result.predict([[2.0], [5.0]]).tolist() == ["a", "b"]
    assert result.predict(pd.DataFrame({"x": [5.0]})).tolist() == ["b"]
    assert result.predict(scipy.sparse.csr_array([[5.0]])).tolist() == ["b"]
    with pytest.raises(ValueError, match="X has 2 features; expected 1"):
        result.predict([[1.0, 2.0]])


def test_summary_says_what_is_proven() -> None:
    text = str(example())
    assert "objective    6.5" in text
    assert "proven bound 5 (gap 23.1 %)" in text
    assert "margin       2 (2 / ||w||)" in text
    assert "given up     1 of 4 samples: 3" in text
    assert "proven minimal" in example(status=Status.OPTIMAL, gap=1e-7).summary()
    assert "..., " not in text
    assert "(8 more)" in example(violations=list(range(20))).summary()
    assert "margin       inf" in example(coef=[0.0]).summary()


FIXED_KEYS = {
    *("status", "objective", "lower_bound", "gap", "coef", "intercept", "classes", "violations"),
    *("n_violations", "runtime", "nodes", "method", "C", "weights", "n", "m", "trace", "version"),
}


def test_json_has_the_promised_keys() -> None:
    values = json.loads(example().to_json())
    assert set(values) >= FIXED_KEYS
    assert values["status"] == "time_limit"
    assert values["trace"] == [[0.1, 9.0, 0.0], [0.125, 6.5, 5.0]]


def test_the_promised_keys_are_enough_to_read_a_model() -> None:
    values = {name: value for name, value in example().to_dict().items() if name in FIXED_KEYS}
    assert Result.from_dict(values) == example(target_gap=None)


finite = st.floats(allow_nan=False, allow_infinity=False)
label_pairs = st.sampled_from([["a", "b"], [0, 1], [False, True], [-0.5, 2**70], ["ä\n", "\u2028"]])


@given(finite, finite, finite, label_pairs, st.lists(finite, min_size=4, max_size=4))
def test_json_round_trip_is_exact(value, intercept, coef, classes, weights) -> None:
    result = example(objective=value, intercept=intercept, coef=[coef], classes=classes, weights=weights)
    again = Result.from_json(result.to_json())
    assert again == result
    assert [type(label) for label in again.classes] == [type(label) for label in classes]
    assert again.to_json() == result.to_json()


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just(10**400),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


def mutated(values, data: st.DataObject):
    """A JSON value with one random entry replaced or removed."""
    if isinstance(values, (dict, list)) and values and data.draw(st.integers(0, 3)):
        keys = sorted(values) if isinstance(values, dict) else range(len(values))
        key = data.draw(st.sampled_from(keys))
        changed = copy.copy(values)
        if data.draw(st.booleans()):
            changed[key] = mutated(values[key], data)
        else:
            del changed[key]
        return changed
    return data.draw(json_values)


def read_or_refused(text: str) -> Result | None:
    """The result, or None if the text is refused in the one way that callers expect."""
    try:
        return Result.from_json(text)
    except ValueError as error:
        if not str(error).startswith("not a hardmargin model"):
            raise
        return None


@given(st.data())
def test_tampered_json_is_read_or_refused_with_a_value_error(data) -> None:
    result = read_or_refused(json.dumps(mutated(example().to_dict(), data)))
    if result is not None:
        assert Result.from_json(result.to_json()) == result
        assert result.summary()
        if result.m:
            assert result.predict(np.zeros((1, result.m)))[0] in result.classes


@given(st.data())
def test_damaged_text_is_read_or_refused_with_a_value_error(data) -> None:
    text = example().to_json()
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 9)))
    damaged = text[:start] + data.draw(st.text(max_size=4)) + text[end:]
    result = read_or_refused(damaged)
    assert result is None or Result.from_json(result.to_json()) == result


REFUSED = {
    "status": ("solved", "'status': 'solved' is not a valid Status"),
    "objective": (math.nan, "'objective': nan is not a finite number"),
    "gap": ("0", "'gap': '0' is not a finite number"),
    "runtime": (10**400, "'runtime'"),
    "coef": ([1.0, 2.0], "'coef' has 2 values but 'm' is 1"),
    "intercept": (True, "'intercept': True is not a finite number"),
    "violations": ([0.5], "'violations': 0.5 is not a whole number"),
    "nodes": (-1, "'nodes': -1 is not a whole number"),
    "n": (math.inf, "'n'"),
    "method": (None, "'method': None is not text"),
    "weights": ([1.0], "'weights' has 1 values but 'n' is 4"),
    "feature_names": (["a", "b"], "'feature_names' has 2 values but 'm' is 1"),
    "presolve": (None, "'presolve': None is not text"),
    "trace": ([[1.0, 2.0]], "'trace'"),
    "classes": (["a", "a"], "'classes': .* is not a list of two different labels"),
}


@pytest.mark.parametrize(("name", "value", "message"), [(name, *rest) for name, rest in REFUSED.items()])
def test_refusals_name_the_key(name, value, message) -> None:
    with pytest.raises(ValueError, match=f"not a hardmargin model: {message}"):
        Result.from_dict(example().to_dict() | {name: value})


@pytest.mark.parametrize("classes", [["a"], ["a", 1], [[], {}], "ab", {"a": 1, "b": 2}, [None, 1], [1, 1.0]])
def test_classes_must_be_two_labels(classes) -> None:
    with pytest.raises(ValueError, match="'classes'"):
        Result.from_dict(example().to_dict() | {"classes": classes})


@pytest.mark.parametrize("names", [None, ["length"]])
def test_names_of_features_are_kept(names) -> None:
    assert Result.from_json(example(feature_names=names).to_json()).feature_names == names
    values = example().to_dict()
    del values["feature_names"]
    assert Result.from_dict(values) == example()


def test_what_presolve_did_is_kept_and_told() -> None:
    result = example(presolve="4 x 3 reduced to 4 x 1: 2 constant features")
    assert Result.from_json(result.to_json()) == result
    assert "  presolve     4 x 3 reduced to 4 x 1: 2 constant features\n" in result.summary()
    assert "presolve" not in example().summary()
    values = result.to_dict()
    del values["presolve"]
    assert Result.from_dict(values).presolve == ""


def test_a_missing_key_is_named() -> None:
    values = example().to_dict()
    del values["coef"]
    with pytest.raises(ValueError, match="the key 'coef' is missing"):
        Result.from_dict(values)


@pytest.mark.parametrize("text", ["", "[]", "1", "nonsense", "[" * 100_000, "9" * 5000])
def test_other_text_is_no_model(text) -> None:
    with pytest.raises(ValueError, match="not a hardmargin model"):
        Result.from_json(text)


def test_files(tmp_path) -> None:
    path = tmp_path / "model.json"
    example().save(path)
    example(nodes=99).save(str(path))
    assert Result.load(path).nodes == 99
    assert os.listdir(tmp_path) == ["model.json"]
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match=r"model\.json: not a hardmargin model: not text"):
        Result.load(path)
    path.write_text('{"status": "optimal"}')
    with pytest.raises(ValueError, match=r"model\.json: not a hardmargin model: the key 'objective' is missing"):
        Result.load(path)
    with pytest.raises(FileNotFoundError):
        Result.load(tmp_path / "none.json")


def test_a_file_name_may_have_the_greatest_length(tmp_path) -> None:
    path = tmp_path / ("x" * (os.pathconf(tmp_path, "PC_NAME_MAX") - 5) + ".json")
    example().save(path)
    assert Result.load(path) == example()
    assert os.listdir(tmp_path) == [path.name]


def test_a_failed_save_leaves_the_old_file(tmp_path) -> None:
    path = tmp_path / "model.json"
    example().save(path)
    with pytest.raises(ValueError, match="not JSON compliant"):
        example(objective=math.inf).save(path)
    assert Result.load(path) == example()
    assert os.listdir(tmp_path) == ["model.json"]


def test_saving_through_a_link_keeps_the_link(tmp_path) -> None:
    (tmp_path / "link.json").symlink_to(tmp_path / "model.json")
    example().save(tmp_path / "link.json")
    assert (tmp_path / "link.json").is_symlink()
    assert Result.load(tmp_path / "model.json") == example()


def test_a_device_is_written_to_and_never_replaced(tmp_path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    example().save(pipe)
    text = os.read(reader, 1 << 16).decode()
    os.close(reader)
    assert Result.from_json(text) == example()
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_gap_that_was_asked_for_is_told() -> None:
    loose = replace(example(status=Status.OPTIMAL), gap=0.25)
    assert "(gap 25 %, as requested)" in loose.summary()
