from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import hardmargin.methods
from hardmargin import HardMarginSVC, Problem, Result, Status, model_json, solve, verify
from hardmargin import verification as verification_module
from hardmargin.bounds import TracePoint
from hardmargin.checker import Verdict
from hardmargin.data import generate

X = np.array([[0.0], [1.0], [3.0], [4.0], [9.0], [8.0]])
Y = np.array([0, 0, 1, 1, 0, 0])
WEIGHTS = [1.0, 1.0, 1.0, 2.0, 1.0, 0.0]


@pytest.fixture
def model() -> Result:
    """A valid model: it gives up row 4, which costs 10, and row 5, which has no weight."""
    return Result.of(
        Problem.from_data(X, Y, C=10, sample_weight=WEIGHTS),
        [1.0],
        -2.0,
        lower_bound=9.0,
        status=Status.HEURISTIC,
        method="auto",
        runtime=0.5,
        target_gap=1e-6,
        trace=[TracePoint(0.1, 30.0, 0.0), TracePoint(0.2, 10.5, 4.0)],
    )


def failures(model, X=X, Y=Y) -> set[str]:
    return {check.name for check in verify(model, X, Y).checks if not check.holds}


def test_a_true_model_holds(model, tmp_path) -> None:
    model.save(tmp_path / "model.json")
    for form in (model, model.to_dict(), tmp_path / "model.json", str(tmp_path / "model.json")):
        verification = verify(form, X, Y)
        assert verification
        assert verification.objective == 10.5
        assert verification.violations == [4, 5]
        assert verification.smallest_kept_margin == 1
        assert str(verification).endswith("all claims that can be recomputed hold")
        assert "lower bound            not above the objective; not proven again: claimed 9.0" in str(verification)


TAMPERED = {
    "objective lowered": ({"objective": 10.4}, {"objective"}),
    "objective raised": ({"objective": 10.6}, {"objective"}),
    "objective off by 1e-8": ({"objective": 10.5 * (1 + 1e-8)}, {"objective"}),
    "bound above the objective": ({"lower_bound": 11.0, "gap": 0.0}, {"lower bound"}),
    "bound raised": ({"lower_bound": 10.0}, {"gap"}),
    "bound negative": ({"lower_bound": -1.0, "gap": 11.5 / 10.5}, {"lower bound"}),
    "gap lowered": ({"gap": 0.01}, {"gap"}),
    "status raised": ({"status": "optimal"}, {"status"}),
    "a violation hidden": (
        {"violations": [4], "n_violations": 1},
        {"violations", "number of violations", "smallest kept margin"},
    ),
    "a violation invented": (
        {"violations": [0, 4, 5], "n_violations": 3},
        {"violations", "number of violations"},
    ),
    "violations out of order": ({"violations": [5, 4]}, {"violations"}),
    "a violation of no row": ({"violations": [4, 5, 99]}, {"violations"}),
    "number of violations": ({"n_violations": 1}, {"number of violations"}),
    "number of violations not a number": ({"n_violations": "2"}, {"number of violations"}),
    "w changed": ({"coef": [0.9]}, {"objective", "violations", "number of violations", "gap"}),
    "w out of range": ({"coef": [1e300]}, {"objective", "violations", "number of violations", "gap"}),
    "b changed": ({"intercept": -1.5}, {"objective", "violations", "number of violations", "gap"}),
    "C changed": ({"C": 20.0}, {"objective", "gap"}),
    "weight of a violation changed": ({"weights": [1, 1, 1, 2, 3, 0]}, {"objective", "gap"}),
    "number of violations a bool": ({"n_violations": True}, {"number of violations"}),
    "bound above w = 0": ({"C": 0.1, "lower_bound": 0.5}, {"lower bound"}),
    "a violation trusted": ({"trusted": [3, 4]}, {"trusted"}),
    "a weight of another sign": ({"monotonic_cst": [-1]}, {"bounds on weights"}),
    "a weight out of range": ({"coef_bounds": [[None], [0.5]]}, {"bounds on weights"}),
    "optimal without a bound": (
        {"status": "optimal", "lower_bound": 0.0, "gap": 1.0, "target_gap": 0.99},
        {"status"},
    ),
    "optimal, gap asked for missing": ({"status": "optimal", "target_gap": None}, {"status"}),
    "optimal, gap asked for 1": ({"status": "optimal", "target_gap": 1.0}, {"status", "gap asked for"}),
    "optimal, gap asked for 5": ({"status": "optimal", "target_gap": 5.0}, {"status", "gap asked for"}),
    "gap asked for 0": ({"target_gap": 0.0}, {"gap asked for"}),
    "gap asked for negative": ({"target_gap": -1e-6}, {"gap asked for"}),
    "gap asked for too fine": ({"target_gap": 1e-10}, {"gap asked for"}),
    "method unknown": ({"method": "magic"}, {"method"}),
    "runtime negative": ({"runtime": -1.0}, {"runtime", "trace"}),
    "runtime before the last bound": ({"runtime": 0.1}, {"trace"}),
    "trace: bound above the objective": ({"trace": [[0.1, 10.5, 1e9], [0.5, 10.5, 9.0]]}, {"trace"}),
    "trace: bound above the objective at the end": ({"trace": [[0.5, 10.5, 1e9]]}, {"trace"}),
    "trace: bound above its own objective": ({"trace": [[0.1, 10.5, 10.6], [0.5, 10.5, 10.6]]}, {"trace"}),
    "trace: bound above the final one": ({"trace": [[0.1, 10.5, 9.5], [0.5, 10.5, 9.0]]}, {"trace"}),
    "trace: bound negative": ({"trace": [[0.1, 10.5, -1.0], [0.5, 10.5, 9.0]]}, {"trace"}),
    "trace: objective below the final one": ({"trace": [[0.1, 10.0, 0.0], [0.5, 10.5, 9.0]]}, {"trace"}),
    "trace: objective rises": ({"trace": [[0.1, 11.0, 0], [0.2, 12.0, 0], [0.5, 10.5, 9.0]]}, {"trace"}),
    "trace: time goes back": ({"trace": [[0.4, 11.0, 0], [0.2, 11.0, 1], [0.5, 10.5, 9.0]]}, {"trace"}),
    "trace: time negative": ({"trace": [[-0.1, 10.5, 0.0], [0.5, 10.5, 9.0]]}, {"trace"}),
    "budget exceeded": ({"max_violations": 0.5, "C": None}, {"budget", "objective", "gap"}),
    "trace: another end": ({"trace": [[0.5, 10.5, 8.0]]}, {"trace"}),
    "proof of more than the bound": ({"proof_bound": 10.4}, {"proof bound"}),
    "proof of a negative bound": ({"proof_bound": -1.0}, {"proof bound"}),
}


def test_every_key_is_tampered_with_or_named_as_unchecked(model) -> None:
    tampered = {key for changes, _ in TAMPERED.values() for key in changes}
    # Data of other sizes or labels are refused; see below.
    refused = {"n", "m", "classes"}
    # A later version is refused, and other data are noted.
    told = {"schema_version", "fingerprint"}
    named = set(verify(replace(model, feature_names=["x"], label_column="y", seed=0), X, Y).unchecked)
    assert tampered | refused | told | named == model_json.KEYS


def test_other_data_than_in_training_are_noted(line) -> None:
    X, y = line
    result = hardmargin.solve(X, y, C=10)
    assert verify(result, X, y).notes == ()
    others = verify(result, np.array([[0.5], *X[1:]]), y)
    assert others
    assert len(others.notes) == 1
    assert "another fingerprint" in others.summary()
    assert verify(replace(result, fingerprint=None), np.array([[0.5], *X[1:]]), y).notes == ()


@pytest.mark.parametrize(("changes", "caught"), TAMPERED.values(), ids=TAMPERED.keys())
def test_tampering_is_caught(model, tmp_path, changes, caught) -> None:
    values = model.to_dict() | changes
    assert caught <= failures(values)
    verification = verify(values, X, Y)
    assert not verification
    assert "DOES NOT HOLD" in verification.summary()
    assert verification.summary().endswith("the model's claims do not hold")


def test_tampering_with_a_file_is_caught(model, tmp_path) -> None:
    path = tmp_path / "model.json"
    text = model.to_json()
    assert '"n_violations": 2' in text
    path.write_text(text.replace('"n_violations": 2', '"n_violations": 1'))
    assert failures(path) == {"number of violations"}


def test_changed_data_are_caught(model) -> None:
    changed = X.copy()
    changed[1] = 1.5
    assert "violations" in failures(model, changed)
    assert "violations" in failures(model, X, [0, 1, 1, 1, 0, 0])


def test_optimal_is_judged_by_the_gap_asked_for(model) -> None:
    assert verify(replace(model, status=Status.OPTIMAL, target_gap=0.2), X, Y)
    assert not verify(replace(model, status=Status.OPTIMAL, target_gap=0.1), X, Y)


def test_a_gap_that_is_not_recorded_is_one_that_all_methods_reach(model) -> None:
    for bound, holds in ((10.5 * (1 - 9e-6), True), (10.5 * (1 - 2e-5), False), (0.0, False)):
        values = replace(
            model, status=Status.OPTIMAL, lower_bound=bound, gap=(10.5 - bound) / 10.5, trace=[]
        ).to_dict()
        assert bool(verify(values | {"target_gap": None}, X, Y)) is holds
        del values["target_gap"]
        assert bool(verify(values, X, Y)) is holds
    assert verify(replace(model, target_gap=None), X, Y)


def test_what_is_not_checked_is_named(model) -> None:
    verification = verify(model.to_dict() | {"blessed": True}, X, Y)
    assert verification
    assert verification.given == ("C", "weights", "target_gap")
    told = "lower_bound (needs a proof), method, nodes, presolve, runtime, version, status, blessed"
    assert f"  taken as given         C, weights, target_gap\n  not checked            {told}\n" in str(
        verification
    )
    assert "status                 claims no proof: claimed heuristic" in verification.summary()
    assert verify(replace(model, weights=None, target_gap=None), X, Y).given == ("C",)
    assert "status" not in verify(replace(model, status=Status.OPTIMAL, target_gap=0.2), X, Y).unchecked


def test_names_of_features_are_checked_if_the_data_have_them(model) -> None:
    named = replace(model, feature_names=["length"])
    assert "feature_names" in verify(named, X, Y).unchecked
    for column, holds in (("length", True), ("width", False)):
        for verification in (
            verify(named, pd.DataFrame(X, columns=[column]), Y),
            verify(named, X, Y, feature_names=[column]),
        ):
            assert bool(verification) is holds
            assert "feature_names" not in verification.unchecked
    assert verify(model, pd.DataFrame(X, columns=["width"]), Y)


@pytest.mark.parametrize("method", hardmargin.methods.names())
@pytest.mark.parametrize(
    "settings",
    [
        {"gap": 0.2},
        {"gap": 0.99},
        {"gap": 1e-9},
        {"node_limit": 1},
        {"sample_weight": np.arange(12) % 3},
        {"class_weight": "balanced"},
    ],
    ids=str,
)
def test_models_of_all_methods_hold(method, settings) -> None:
    data = generate("A", 12, 2, 2)
    samples = np.column_stack([data.X, np.ones(12), data.X[:, 0]])
    result = solve(samples, data.y, 10.0, method=method, time_limit=None, **settings)
    assert verify(Result.from_json(result.to_json()), samples, data.y)


def test_a_key_given_twice_is_refused(model) -> None:
    text = model.to_json().replace('"gap":', '"gap": 0.0,\n "gap":', 1)
    with pytest.raises(ValueError, match="the key 'gap' occurs 2 times; expected each key once"):
        Result.from_json(text)


def test_tiny_objectives_are_compared_relatively() -> None:
    wide = 1e100 * X[:4]
    problem = Problem.from_data(wide, Y[:4])
    model = Result.of(problem, [1e-100], -2.0, lower_bound=0, status="heuristic", method="auto", runtime=0)
    assert verify(model, wide, Y[:4])
    assert failures(replace(model, objective=3 * model.objective), wide, Y[:4]) == {"objective"}


@pytest.mark.parametrize(
    ("data", "labels", "message"),
    [
        (X[:5], Y[:5], "the data are 5 x 1 but the model was trained on 6 x 1; expected the training data"),
        (np.hstack([X, X]), Y, "the data are 6 x 2 but the model was trained on 6 x 1"),
        (X, Y + 1, r"the data have the labels \[1, 2\] but the model \[0, 1\]"),
        (X, Y * 0, "y has 1 class"),
    ],
)
def test_other_data_are_refused(model, data, labels, message) -> None:
    with pytest.raises(ValueError, match=message):
        verify(model, data, labels)


@pytest.mark.parametrize("labels", [Y.astype(float), Y.astype(str), Y.astype(float).astype(str), Y.astype(bool)])
def test_labels_may_have_been_read_as_another_type(model, labels) -> None:
    assert verify(model, X, labels)


def test_other_kinds_of_model_are_refused(model) -> None:
    with pytest.raises(TypeError, match=r"model is HardMarginSVC; expected a Result .* result_"):
        verify(HardMarginSVC(), X, Y)
    with pytest.raises(ValueError, match="'coef' is missing"):
        verify({name: value for name, value in model.to_dict().items() if name != "coef"}, X, Y)


def test_a_proof_without_a_budget_proves_nothing_about_one(blobs, tmp_path) -> None:
    X, y = blobs
    file = tmp_path / "proof"
    priced = solve(X, y, C=1.0, proof=file)
    limited = solve(X, y, max_violations=priced.n_violations + 2)
    # The costs are the same: 1 per sample.
    assert limited.objective < priced.lower_bound
    found = verify(limited, X, y, proof=file)
    assert not found
    assert found.proof is None
    assert "lower_bound" in found.unchecked
    assert [check.name for check in found.checks if not check.holds] == ["proof"]
    assert verify(limited, X, y)


def test_a_proof_above_the_objective_is_a_contradiction(blobs, tmp_path, monkeypatch) -> None:
    X, y = blobs
    file = tmp_path / "model.proof"
    model = solve(X, y, C=1.0, proof=file)
    assert verify(model, X, y, proof=file)
    monkeypatch.setattr(
        verification_module, "check_proof", lambda *_, **__: Verdict(2 * model.objective, 1, 1, 1, ())
    )
    found = verify(model, X, y, proof=file)
    assert not found
    assert "above the objective" in found.summary()
