"""HardMarginSVC with more than two classes."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier

import hardmargin.fitting
from hardmargin import BudgetError, ConstantModelWarning, HardMarginSVC, Result, Status, solve, verify

X, y = load_iris(return_X_y=True)
X, y = X[::5], np.array(["setosa", "versicolor", "virginica"])[y[::5]]
WRAPPERS = {"ovr": OneVsRestClassifier, "ovo": OneVsOneClassifier}


@pytest.mark.parametrize("multi_class", WRAPPERS)
def test_the_models_are_those_of_the_wrappers_of_scikit_learn(multi_class) -> None:
    model = HardMarginSVC(C=10, multi_class=multi_class, time_limit=None).fit(X, y)
    wrapped = WRAPPERS[multi_class](HardMarginSVC(C=10, time_limit=None)).fit(X, y)
    np.testing.assert_allclose(model.coef_, np.vstack([each.coef_ for each in wrapped.estimators_]))
    np.testing.assert_allclose(model.decision_function(X), wrapped.decision_function(X))
    assert model.predict(X).tolist() == wrapped.predict(X).tolist()
    assert model.coef_.shape == (3, 4)
    assert model.intercept_.shape == (3,)
    assert model.decision_function(X).shape == (30, 3)


@pytest.mark.parametrize("multi_class", WRAPPERS)
def test_bounds_and_violations_of_all_problems(multi_class) -> None:
    model = HardMarginSVC(C=10, multi_class=multi_class, time_limit=None).fit(X, y)
    assert model.objective_ == pytest.approx(sum(result.objective for result in model.results_))
    assert model.lower_bound_ == pytest.approx(sum(result.lower_bound for result in model.results_))
    assert model.gap_ <= 1e-6
    assert (model.optimal_, model.status_) == (True, "optimal")
    assert not hasattr(model, "result_")
    assert model.C_ == 10
    given_up = set()
    for index, result in enumerate(model.results_):
        if multi_class == "ovr":
            rows, labels = np.arange(len(y)), y == model.classes_[index]
        else:
            rows = np.flatnonzero(np.isin(y, result.classes))
            labels = y[rows]
        assert verify(result, X[rows], labels)
        given_up |= set(rows[result.violations])
    assert model.violations_.tolist() == sorted(given_up)


def test_weights_of_samples_and_labels() -> None:
    weights = np.linspace(0.5, 2.0, len(y))
    model = HardMarginSVC(C=10, class_weight={"setosa": 3.0}, method="heuristic").fit(X, y, sample_weight=weights)
    pair = y != "virginica"
    expected = weights[pair] * np.where(y[pair] == "setosa", 3.0, 1.0)
    assert model.results_[0].weights == pytest.approx(expected.tolist())
    rest = HardMarginSVC(C=10, class_weight="balanced", multi_class="ovr", method="heuristic").fit(X, y)
    sides = np.array(rest.results_[0].weights)
    assert sides[y == "setosa"].sum() == pytest.approx(sides[y != "setosa"].sum())
    with pytest.raises(
        ValueError, match="names 'rose', which is not a label in y; expected 'setosa', 'versicolor'"
    ):
        HardMarginSVC(class_weight={"rose": 2}).fit(X, y)


def test_a_class_without_weight_is_refused() -> None:
    with pytest.raises(ValueError, match="y has no class 'setosa' once rows of weight zero are left out"):
        HardMarginSVC(C="scale").fit(X, y, sample_weight=(y != "setosa").astype(float))
    with pytest.raises(ValueError, match="no class 'virginica'"):
        HardMarginSVC(class_weight={"virginica": 0}).fit(X, y)


def test_one_penalty_for_all_problems() -> None:
    model = HardMarginSVC(C="scale", method="heuristic").fit(X, y)
    assert pytest.approx(10 / X.var(axis=0).sum()) == model.C_
    assert {result.C for result in model.results_} == {model.C_}


@pytest.mark.parametrize("status", [Status.TIME_LIMIT, Status.STALLED])
def test_one_warning_sums_up(stub_method, status) -> None:
    stub_method(np.zeros(4), 1.0, status=status)
    with pytest.warns(ConvergenceWarning) as told:
        model = HardMarginSVC(C=10, method="stub", time_limit=30).fit(X, y)
    (warning,) = told
    text = str(warning.message)
    assert (
        "at a gap of 100 %: 3 of 3 binary problems are not proven optimal. Their objectives add up to 300" in text
    )
    assert "3 of 3 binary problems (of 'setosa' against 'versicolor', of " in text
    assert model.status_ == status.value


def test_one_warning_about_constant_models() -> None:
    with pytest.warns(
        ConstantModelWarning, match="3 of 3 binary problems .* no better than a constant one"
    ) as told:
        HardMarginSVC(C=1e-3).fit(X, y)
    assert len(told) == 1


def test_time_limits_are_checked() -> None:
    with pytest.raises(ValueError, match="time_limit is 0; expected a positive number"):
        HardMarginSVC(time_limit=0).fit(X, y)


def test_ctrl_c_is_passed_on_and_the_estimator_is_fitted(stub_method) -> None:
    stub_method(np.zeros(4), 1.0, status=Status.INTERRUPTED)
    model = HardMarginSVC(C=10, method="stub")
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.status_ == "interrupted"
    assert len(model.predict(X)) == len(y)


def test_a_second_fit_replaces_the_first() -> None:
    model = HardMarginSVC(C=10).fit(X, y)
    two = y != "virginica"
    model.fit(X[two], y[two])
    assert model.coef_.shape == (1, 4)
    assert len(model.results_) == 1
    assert model.result_.coef == solve(X[two], y[two], C=10).coef
    assert model.fit(X, y).coef_.shape == (3, 4)
    assert not hasattr(model, "result_")


def test_a_split_that_was_changed_after_the_fit_changes_no_prediction() -> None:
    model = HardMarginSVC(C=10).fit(X, y)
    before = model.decision_function(X)
    model.set_params(multi_class="ovr", kernel="rbf")
    np.testing.assert_array_equal(model.decision_function(X), before)


def test_warm_starts(monkeypatch) -> None:
    given = []

    def spy(*data, **settings) -> Result:
        given.append(settings["start"] is not None)
        return solve(*data, **settings)

    monkeypatch.setattr(hardmargin.fitting, "solve", spy)
    model = HardMarginSVC(C=10, method="heuristic", warm_start=True)
    model.fit(X, y).fit(X, y)
    model.fit(X[:, :3], y)
    model.set_params(multi_class="ovr").fit(X[:, :3], y)
    assert given == [False] * 3 + [True] * 3 + [False] * 6


def test_a_warm_start_is_never_worse() -> None:
    model = HardMarginSVC(C=10, warm_start=True).fit(X, y)
    best = model.objective_
    model.set_params(options={"effort": 1e-3}, method="heuristic").fit(X, y)
    assert model.objective_ <= best * (1 + 1e-9)


def test_grid_search_over_both() -> None:
    search = GridSearchCV(HardMarginSVC(C=10, method="heuristic"), {"multi_class": ["ovr", "ovo"]}, cv=2).fit(X, y)
    assert search.best_params_["multi_class"] == "ovo"


@pytest.mark.parametrize("multi_class", WRAPPERS)
def test_trusted_samples_are_kept_in_all_their_problems(multi_class) -> None:
    free = HardMarginSVC(C=10, multi_class=multi_class).fit(X, y)
    trusted = np.isin(np.arange(len(y)), free.violations_[:1])
    model = HardMarginSVC(C=10, multi_class=multi_class).fit(X, y, trusted=trusted)
    assert not trusted[model.violations_].any()
    assert model.lower_bound_ >= free.lower_bound_ * (1 - 1e-6)
    with pytest.raises(ValueError, match=r"trusted has shape \(2,\); expected \(30,\)"):
        HardMarginSVC().fit(X, y, trusted=[True, False])


def test_a_contradiction_names_its_problem() -> None:
    samples = np.array([[0.0], [1.0], [2.0], [2.0], [3.0]])
    labels, trusted = ["a", "a", "b", "c", "c"], [False, False, True, True, False]
    with pytest.raises(ValueError, match=r"the rows 2, 3 contradict.* is about 'b' against 'c'\.$"):
        HardMarginSVC(C=10).fit(samples, labels, trusted=trusted)


def test_ctrl_c_with_trusted_samples(stub_method) -> None:
    stub_method(np.zeros(4), 1.0, status=Status.INTERRUPTED)
    with pytest.raises(KeyboardInterrupt):
        HardMarginSVC(C=10, method="stub").fit(X, y, trusted=y == "setosa")


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_a_callback_may_end_the_fit(n_jobs) -> None:
    def enough(*_) -> None:
        raise KeyboardInterrupt

    # Without a gap that the first report closes.
    rng = np.random.default_rng(0)
    noise, labels = rng.normal(size=(60, 5)), rng.integers(0, 3, size=60)
    model = HardMarginSVC(C=10, n_jobs=n_jobs, callback=enough)
    with pytest.raises(KeyboardInterrupt):
        model.fit(noise, labels)
    assert model.status_ == "interrupted"
    assert model.predict(noise).shape == (60,)


@pytest.mark.parametrize("multi_class", WRAPPERS)
def test_a_budget_is_for_every_problem_by_itself(multi_class) -> None:
    model = HardMarginSVC(max_violations=5, multi_class=multi_class, time_limit=None)
    if multi_class == "ovo":
        assert all(result.n_violations <= 5 for result in model.fit(X, y).results_)
    model.set_params(max_violations=0)
    clash = [*X, X[0]], [*y, "virginica"]
    about = {"ovo": "'setosa' against 'virginica'", "ovr": "'setosa' against the rest"}[multi_class]
    with pytest.raises(BudgetError, match=f"proven .* This is about {about}: .* every binary problem") as refused:
        model.fit(*clash)
    assert refused.value.proven


@pytest.mark.parametrize("multi_class", WRAPPERS)
@pytest.mark.parametrize("labels", [["setosa", "versicolor", "virginica"], [0, 1, 2]])
def test_limits_by_label_are_for_two_classes(multi_class, labels) -> None:
    by_label = dict.fromkeys(labels[:2], 3)
    renamed = np.array(labels)[np.unique(y, return_inverse=True)[1]]
    given = rf"max_violations is \{{{labels[0]!r}: 3, .*3 classes \({labels[0]!r}, .*Expected a number"
    with pytest.raises(ValueError, match=given):
        HardMarginSVC(max_violations=by_label, multi_class=multi_class).fit(X, renamed)
