from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import hardmargin.estimator_cv
from hardmargin import HardMarginSVC, HardMarginSVCCV, Status
from hardmargin.data import generate
from hardmargin.penalty import scale_penalty


# The checks fit random labels, for which small values of C give constant models.
@pytest.mark.filterwarnings("ignore::hardmargin.ConstantModelWarning")
@parametrize_with_checks([HardMarginSVCCV(Cs="path", cv=2)])
def test_scikit_learn_checks(estimator, check) -> None:
    check(estimator)


@pytest.fixture(scope="module")
def overlapping() -> tuple[np.ndarray, np.ndarray]:
    data = generate("A", n=60, d=2, seed=2)
    return data.X, data.y


def test_scores_are_those_of_cross_validation(overlapping) -> None:
    X, y = overlapping
    model = HardMarginSVCCV(Cs=[10.0, 0.5, 1.0], cv=3).fit(X, y)
    assert model.Cs_.tolist() == [0.5, 1.0, 10.0]
    for place, C in enumerate(model.Cs_):
        expected = cross_val_score(HardMarginSVC(C=C), X, y, cv=3)
        assert model.scores_[:, place] == pytest.approx(expected)
    assert model.best_score_ == model.scores_.mean(axis=0).max()
    assert model.Cs_[model.best_index_] == model.C_
    assert len(model.paths_) == 3


def test_the_model_is_that_of_the_chosen_penalty(overlapping) -> None:
    X, y = overlapping
    model = HardMarginSVCCV(Cs=4, cv=3).fit(X, y)
    plain = HardMarginSVC(C=model.C_).fit(X, y)
    assert model.coef_.tolist() == plain.coef_.tolist()
    assert (model.objective_, model.lower_bound_, model.optimal_) == (plain.objective_, plain.lower_bound_, True)
    assert model.predict(X).tolist() == plain.predict(X).tolist()
    assert model.decision_function(X) == pytest.approx(plain.decision_function(X))
    assert model.violations_.tolist() == plain.violations_.tolist()
    scale = scale_penalty(X)
    assert model.Cs_[[0, -1]] == pytest.approx([0.01 * scale, 100 * scale])


@pytest.mark.parametrize("Cs", ["path", (0.05, 50.0)])
def test_a_range_compares_all_of_it(overlapping, Cs) -> None:
    X, y = overlapping
    model = HardMarginSVCCV(Cs=Cs, cv=3).fit(X, y)
    inside = sorted({C for path in model.paths_ for C in path.breakpoints})
    assert len(model.Cs_) == len(inside) + 1
    assert all(left < C < right for left, C, right in zip(inside, model.Cs_[1:], inside[1:], strict=False))
    # The chosen C has the best score, and so has every C around it.
    scores = [path.at(model.C_).predict(X[test]) == y[test] for path, (_, test) in folds(model, X, y)]
    assert np.mean([score.mean() for score in scores]) == pytest.approx(model.best_score_)


def folds(model, X, y):
    return zip(model.paths_, StratifiedKFold(3).split(X, y), strict=True)


def test_scoring_cv_weights_and_names(overlapping) -> None:
    X, y = overlapping
    table = pd.DataFrame(X, columns=["length", "width"])
    labels = np.where(y > 0, "yes", "no")
    weights = np.where(np.arange(len(y)) % 5, 1.0, 0.0)
    cv = StratifiedKFold(4, shuffle=True, random_state=1)
    model = HardMarginSVCCV(Cs=[0.5, 5.0], cv=cv, scoring="roc_auc", class_weight="balanced")
    model.fit(table, labels, sample_weight=weights)
    assert model.scores_.shape == (4, 2)
    assert model.feature_names_in_.tolist() == model.result_.feature_names == ["length", "width"]
    assert model.classes_.tolist() == ["no", "yes"]
    assert 0.5 < model.best_score_ <= 1


def test_sparse_samples_and_pipelines(overlapping) -> None:
    X, y = overlapping
    dense = HardMarginSVCCV(Cs=[1.0, 10.0], cv=2).fit(X, y)
    sparse = HardMarginSVCCV(Cs=[1.0, 10.0], cv=2).fit(scipy.sparse.csr_matrix(X), y)
    assert sparse.C_ == dense.C_
    assert sparse.coef_ == pytest.approx(dense.coef_)
    model = clone(make_pipeline(StandardScaler(), HardMarginSVCCV(Cs=2, cv=2))).fit(X, y)
    assert model.score(X, y) > 0.7


def test_without_refit_there_is_a_choice_and_no_model(overlapping) -> None:
    X, y = overlapping
    model = HardMarginSVCCV(Cs=2, cv=2, refit=False).fit(X, y)
    assert model.C_ in model.Cs_
    assert not hasattr(model, "coef_")
    with pytest.raises(NotFittedError, match=r"fitted with refit=False, which chooses C .* leaves no model"):
        model.predict(X)
    with pytest.raises(NotFittedError, match="not fitted yet"):
        HardMarginSVCCV(refit=False).predict(X)
    again = HardMarginSVCCV(Cs=[1.0], cv=2).fit(X, y).set_params(refit=False).fit(X, y)
    assert not hasattr(again, "coef_")
    with pytest.raises(NotFittedError, match="refit=False"):
        again.decision_function(X)


def test_the_time_is_shared(overlapping, monkeypatch) -> None:
    limits = []
    find = hardmargin.estimator_cv.path

    def listening(*arguments, **settings):
        limits.append(settings["time_limit"])
        return find(*arguments, **settings)

    # Seconds at the start, before each of three paths, and before the final fit.
    clock = iter([0.0, 0.0, 10.0, 20.0, 370.0])
    monkeypatch.setattr(hardmargin.estimator_cv, "path", listening)
    monkeypatch.setattr(hardmargin.estimator_cv, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    model = HardMarginSVCCV(Cs=[1.0], cv=3, time_limit=400).fit(*overlapping)
    assert limits == [100, 130, 190]
    assert model.best_estimator_.time_limit == 30
    monkeypatch.undo()
    monkeypatch.setattr(hardmargin.estimator_cv, "path", listening)
    limits.clear()
    HardMarginSVCCV(Cs=[1.0], cv=3, time_limit=None).fit(*overlapping)
    assert limits == [None, None, None]


def test_a_time_limit_warns_and_still_fits(overlapping, stub_method) -> None:
    stub_method([0.4, 0.1], 0.0, status=Status.TIME_LIMIT)
    with pytest.warns(ConvergenceWarning, match=r"^the final model, C = .* s reached at a gap of 100 %"):
        model = HardMarginSVCCV(Cs=[1.0, 2.0], cv=2, method="stub").fit(*overlapping)
    assert model.status_ == "time_limit"
    assert [path.status for path in model.paths_] == [Status.TIME_LIMIT] * 2


def test_ctrl_c_reaches_the_caller(overlapping, stub_method) -> None:
    stub_method([0.4, 0.1], 0.0, status=Status.INTERRUPTED)
    with pytest.raises(KeyboardInterrupt):
        HardMarginSVCCV(Cs=[1.0, 2.0], cv=2, method="stub").fit(*overlapping)


@pytest.mark.parametrize(
    ("Cs", "text"),
    [
        ("scale", r"Cs is 'scale'; expected a number, a list, a range \(low, high\) or 'path'"),
        (0, "expected at least one value"),
        (2.5, "expected a whole number"),
        (None, "Cs is None; expected a number"),
        (["a"], "expected a number, a list"),
        ([1.0, -2.0], "expected a positive finite number"),
        ((2.0, 1.0), "with low < high"),
        ([], "C has no values"),
    ],
)
def test_bad_penalties_are_refused(overlapping, Cs, text) -> None:
    with pytest.raises(ValueError, match=text):
        HardMarginSVCCV(Cs=Cs).fit(*overlapping)


def test_more_than_two_classes_are_refused() -> None:
    with pytest.raises(ValueError, match=r"Only binary classification is supported.*OneVsRestClassifier"):
        HardMarginSVCCV().fit(*load_iris(return_X_y=True))


def test_prior_knowledge_holds_in_all_folds_and_in_the_model(overlapping) -> None:
    X, y = overlapping
    table = pd.DataFrame(X, columns=["length", "width"])
    free = HardMarginSVCCV(Cs=[1.0, 10.0], cv=3).fit(table, y)
    against = -int(np.sign(free.coef_[0, 0])) or 1
    trusted = np.isin(np.arange(len(y)), free.violations_[:1])
    model = HardMarginSVCCV(
        Cs=[1.0, 10.0], cv=3, monotonic_cst={"length": against}, coef_bounds={"width": (-0.5, 0.5)}
    ).fit(table, y, trusted=trusted)
    assert model.result_.trusted == np.flatnonzero(trusted).tolist()
    assert not trusted[model.violations_].any()
    folds = StratifiedKFold(3).split(X, y > 0)
    for found, (train, _) in zip(model.paths_, folds, strict=True):
        for each in found.hyperplanes:
            assert (each.trusted or []) == np.flatnonzero(trusted[train]).tolist()
    for coef in [model.coef_[0], *(np.array(each.coef) for found in model.paths_ for each in found.hyperplanes)]:
        assert against * coef[0] >= 0
        assert abs(coef[1]) <= 0.5 * (1 + 1e-9)


def test_contradictory_trust_names_the_rows_of_the_caller() -> None:
    X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0], [5.0], [6.0]])
    y = [0, 0, 0, 0, 1, 1, 0, 1]
    trusted = np.isin(np.arange(8), [5, 6])
    # The first part trains on the last rows only.
    folds = [([3, 4, 5, 6, 7], [0, 1, 2]), ([0, 1, 2, 3, 4], [5, 6, 7])]
    with pytest.raises(ValueError, match="the rows 5, 6 contradict each other"):
        HardMarginSVCCV(Cs=[1.0], cv=folds).fit(X, y, trusted=trusted)


def test_unusable_trust_is_refused(overlapping) -> None:
    X, y = overlapping
    with pytest.raises(ValueError, match=r"trusted has shape \(2,\); expected \(60,\)"):
        HardMarginSVCCV(cv=2).fit(X, y, trusted=[True, False])
    with pytest.raises(ValueError, match="monotonic_cst is a dict, but X has no feature names"):
        HardMarginSVCCV(cv=2, monotonic_cst={"length": 1}).fit(X, y)
