from __future__ import annotations

import pickle
import warnings

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import sklearn
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import hardmargin.methods
from hardmargin import ConstantModelWarning, HardMarginSVC, Result, Status, solve, verify
from hardmargin.stopping import Stall


# The checks fit random labels, for which C = 1 is too small.
@pytest.mark.filterwarnings("ignore::hardmargin.ConstantModelWarning")
@parametrize_with_checks(
    [HardMarginSVC(), HardMarginSVC(C=100, class_weight="balanced", multi_class="ovr"), HardMarginSVC(kernel="rbf")]
)
def test_scikit_learn_checks(estimator, check) -> None:
    check(estimator)


def test_fitted_attributes_are_those_of_the_result(line) -> None:
    X, y = line
    model = HardMarginSVC(C=10).fit(X, y)
    result = solve(X, y, C=10)
    assert model.coef_.tolist() == [result.coef]
    assert model.intercept_.tolist() == [result.intercept]
    assert model.classes_.tolist() == [0, 1]
    assert model.n_features_in_ == 1
    assert (model.objective_, model.lower_bound_, model.gap_) == (
        result.objective,
        result.lower_bound,
        result.gap,
    )
    assert (model.optimal_, model.status_) == (result.optimal, result.status.value)
    assert model.violations_.tolist() == result.violations == [4]
    assert model.n_iter_ >= 1
    assert isinstance(model.result_, Result)
    assert verify(model.result_, X, y)


def test_parameters_reach_the_search(line, stub_method) -> None:
    stub = stub_method([16.0], -2.0)
    model = HardMarginSVC(method="stub", time_limit=7, gap=0.5, class_weight={1: 4}, n_jobs=2, random_state=11)
    model.fit(*line, sample_weight=[1, 1, 1, 1, 2])
    limits = stub.calls[0].limits
    assert (limits.time_limit, limits.gap, limits.threads, limits.seed) == (7, 0.5, 2, 11)
    assert model.result_.weights == [1, 1, 4, 4, 2]
    assert model.n_iter_ == 17


@pytest.mark.parametrize(("n_jobs", "expected"), [(None, {1}), (1, {1}), (3, {3}), (-1, range(1, 10**4))])
def test_n_jobs(line, stub_method, n_jobs, expected) -> None:
    stub = stub_method([16.0], -2.0)
    HardMarginSVC(method="stub", n_jobs=n_jobs).fit(*line)
    assert stub.calls[0].limits.threads in expected


def test_random_state(line, stub_method) -> None:
    stub = stub_method([16.0], -2.0)
    global_state = np.random.get_state()[1].tolist()  # noqa: NPY002
    for random_state in (None, None, 5, np.random.RandomState(1), np.random.RandomState(1)):
        HardMarginSVC(method="stub", random_state=random_state).fit(*line)
    seeds = [call.limits.seed for call in stub.calls]
    assert seeds[:3] == [0, 0, 5]
    assert seeds[3] == seeds[4]
    assert np.random.get_state()[1].tolist() == global_state  # noqa: NPY002


def test_verbose_prints_the_bounds_to_standard_output(line, stub_method, capfd) -> None:
    stub_method([16.0], -2.0)
    HardMarginSVC(method="stub").fit(*line)
    assert capfd.readouterr() == ("", "")
    HardMarginSVC(method="stub", verbose=1).fit(*line)
    out, err = capfd.readouterr()
    assert "lower bound" in out
    assert err == ""


def test_a_time_limit_warns_and_loses_nothing(line, stub_method) -> None:
    X, y = line
    X = X[:4] / 4 - 0.5
    stub_method([4.0], 0.0, lower_bound=6.0, status=Status.TIME_LIMIT)
    model = HardMarginSVC(C=10, method="stub", time_limit=12)
    with pytest.warns(ConvergenceWarning, match=r"time_limit of 12 s reached at a gap of 25 %.* raise time_limit"):
        model.fit(X, y[:4])
    assert model.lower_bound_ == pytest.approx(6)
    assert model.objective_ == pytest.approx(8)
    assert (model.optimal_, model.status_) == (False, "time_limit")
    assert model.score(X, y[:4]) == 1


@pytest.mark.parametrize(
    ("method", "advice"),
    [("stub", 'raise time_limit or use method="auto",'), ("auto", "raise time_limit or n_jobs,")],
)
def test_the_warning_advises_what_helps(line, stub_method, monkeypatch, method, advice) -> None:
    X, y = line
    stub = stub_method([4.0], 0.0, lower_bound=6.0, status=Status.TIME_LIMIT)
    stub.HAS_FRONTIER = method == "auto"
    monkeypatch.setitem(hardmargin.methods._MODULES, method, "stub_method")
    with pytest.warns(ConvergenceWarning, match=rf"The model is usable; for a smaller gap {advice}"):
        HardMarginSVC(C=10, method=method).fit(X[:4] / 4 - 0.5, y[:4])


@pytest.mark.parametrize(("intercept", "label"), [(-1.0, "'low'"), (1.0, "'top'")])
def test_the_warning_tells_a_constant_model(stub_method, intercept, label) -> None:
    stub_method([0.0], intercept, status=Status.TIME_LIMIT)
    with pytest.warns(ConvergenceWarning, match=rf"constant one, w = 0, which predicts {label} for every sample"):
        HardMarginSVC(method="stub").fit([[0.0], [1.0]], ["low", "top"])


def test_no_time_limit(line, stub_method) -> None:
    stub = stub_method([16.0], -2.0)
    HardMarginSVC(method="stub", time_limit=None).fit(*line)
    assert stub.calls[0].limits.remaining() == np.inf


@pytest.mark.parametrize("status", [Status.HEURISTIC, Status.NODE_LIMIT])
def test_only_a_time_limit_warns(line, stub_method, status) -> None:
    stub_method([16.0], -2.0, status=status)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = HardMarginSVC(method="stub").fit(*line)
    assert (model.status_, model.optimal_) == (status.value, False)


def test_a_stall_warns_and_loses_nothing(line, stub_method) -> None:
    X, y = line
    stub_method([4.0], 0.0, lower_bound=6.0, status=Status.STALLED)
    model = HardMarginSVC(C=10, method="stub")
    with pytest.warns(
        ConvergenceWarning, match=r"no progress .* gap of 25 %.*usable; for a smaller gap use stop=None"
    ):
        model.fit(X[:4] / 4 - 0.5, y[:4])
    assert (model.optimal_, model.status_) == (False, "stalled")
    assert model.objective_ == pytest.approx(8)


@pytest.mark.parametrize("stop", ["stall", None, Stall(share=0.25)])
def test_the_stop_rule_reaches_the_search(line, monkeypatch, stop) -> None:
    asked = []

    def spy(*arguments, **settings) -> Result:
        asked.append(settings["stop"])
        return solve(*arguments, **settings)

    monkeypatch.setattr("hardmargin.fitting.solve", spy)
    clone(HardMarginSVC(C=10, stop=stop)).fit(*line)
    assert asked == [stop]


def test_fits_stop_at_a_stall_by_default() -> None:
    assert HardMarginSVC().stop == "stall"


# Samples from 0 to 1 that are separable; at C = 1 giving up four of them costs less than any margin.
UNIT = [[0.0], [0.1], [0.2], [0.3], [0.7], [0.8], [0.9], [1.0]], [0] * 4 + [1] * 4


def test_a_constant_model_is_told_and_which_c_would_do() -> None:
    with pytest.warns(
        ConstantModelWarning, match=r"w = 0, which predicts . for every sample.*proven optimal"
    ) as told:
        model = HardMarginSVC().fit(*UNIT)
    assert model.optimal_
    assert model.score(*UNIT) == 0.5
    assert "from C = 2.67 on, a hyperplane that gives up 1 of 8 samples costs less" in str(told[0].message)
    assert HardMarginSVC(C=3.2).fit(*UNIT).score(*UNIT) == 1.0


@pytest.mark.parametrize("status", [Status.TIME_LIMIT, Status.STALLED])
def test_a_constant_model_is_never_called_usable(stub_method, status) -> None:
    stub_method([0.0], 1.0, status=status)
    with pytest.warns(ConvergenceWarning, match=r"from C = 2\.67 on") as told:
        HardMarginSVC(method="stub").fit(*UNIT)
    assert [("usable" in str(one.message), one.category) for one in told] == [(False, ConvergenceWarning)]


def test_a_penalty_by_scale() -> None:
    X, y = np.array(UNIT[0]), UNIT[1]
    model = HardMarginSVC(C="scale").fit(X, y)
    assert model.C == "scale"
    assert model.C_ == model.result_.C == pytest.approx(10 / X.var())
    assert model.score(X, y) == 1.0
    for factor, shift in ((1e-3, 0.0), (1.0, 50.0), (1e6, -7.0)):
        other = HardMarginSVC(C="scale").fit(factor * X + shift, y)
        np.testing.assert_allclose(other.coef_ * factor, model.coef_, rtol=1e-6)
    sparse = HardMarginSVC(C="scale").fit(scipy.sparse.csr_array(X), y)
    assert pytest.approx(model.C_) == sparse.C_


def test_weights_count_as_repetitions_for_the_scale_too(blobs) -> None:
    X, y = blobs
    counts = np.arange(len(y)) % 3
    weighted = HardMarginSVC(C="scale").fit(X, y, sample_weight=counts)
    repeated = HardMarginSVC(C="scale").fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    assert pytest.approx(repeated.C_) == weighted.C_
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-6)


def test_ctrl_c_is_passed_on_and_loses_nothing(line, stub_method) -> None:
    X, y = line
    stub_method([4.0], 0.0, lower_bound=6.0, status=Status.INTERRUPTED)
    model = HardMarginSVC(C=10, method="stub")
    with pytest.raises(KeyboardInterrupt):
        model.fit(X[:4] / 4 - 0.5, y[:4])
    assert model.status_ == "interrupted"
    assert model.lower_bound_ == pytest.approx(6)
    assert model.predict([[0.4]]).tolist() == [1]


def test_ctrl_c_ends_a_grid_search(blobs, stub_method) -> None:
    stub = stub_method([0.0, 0.0], 1.0, status=Status.INTERRUPTED)
    with pytest.raises(KeyboardInterrupt):
        GridSearchCV(HardMarginSVC(method="stub"), {"C": [1, 10]}).fit(*blobs)
    assert len(stub.calls) == 1


REFUSED = {
    "C": ({"C": -1}, ValueError, "C is -1.0; expected a positive"),
    "C text": ({"C": "big"}, TypeError, "C is 'big'"),
    "C another word": ({"C": "Scale"}, TypeError, "C is 'Scale'; expected a positive number or 'scale'"),
    "stop": ({"stop": "soon"}, ValueError, "stop is 'soon'; expected None, 'stall' or"),
    "C a number as text": ({"C": "1"}, TypeError, "C is '1'"),
    "method": ({"method": "magic"}, ValueError, "method is 'magic'; expected one of auto"),
    "time_limit": ({"time_limit": 0}, ValueError, "time_limit is 0"),
    "gap": ({"gap": 2}, ValueError, "gap is 2"),
    "class_weight": ({"class_weight": "fair"}, ValueError, "class_weight is 'fair'"),
    "n_jobs": ({"n_jobs": 0}, ValueError, "n_jobs is 0; expected None, a whole number >= 1, or -1"),
    "n_jobs half": ({"n_jobs": 0.5}, ValueError, "n_jobs is 0.5"),
    "random_state": ({"random_state": -1}, ValueError, "random_state is -1; expected"),
    "random_state text": ({"random_state": "x"}, ValueError, "'x' cannot be used to seed"),
}


@pytest.mark.parametrize(("parameters", "kind", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_parameters_are_checked_in_fit(line, parameters, kind, message) -> None:
    model = HardMarginSVC(**parameters)
    assert model.get_params().items() >= parameters.items()
    with pytest.raises(kind, match=message):
        model.fit(*line)
    with pytest.raises(NotFittedError):
        model.predict(line[0])


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([0.1, 0.2, 0.3, 0.4, 0.5], "Unknown label type"),
        ([1, 1, 1, 1, 1], "y has 1 class"),
        ([0, 0, 1, 1], "inconsistent numbers of samples"),
        (pd.Series([0, 1, None, 0, 1], dtype="Int64"), "y contains NaN"),
    ],
)
def test_labels_are_checked(line, labels, message) -> None:
    with pytest.raises(ValueError, match=message):
        HardMarginSVC().fit(line[0], labels)


MISSING = {
    "None among text": pd.Series(["a", "b", None, "a", "b"], dtype=object),
    "NA among text": pd.Series(["a", "b", None, "a", "b"], dtype="string"),
    "NaN in a list of text": ["a", "b", np.nan, "a", "b"],
    "missing category": pd.Series(["a", "b", None, "a", "b"], dtype="category"),
}


@pytest.mark.parametrize("labels", MISSING.values(), ids=MISSING.keys())
def test_missing_labels_are_refused_as_solve_does(line, labels) -> None:
    for train in (HardMarginSVC().fit, solve):
        with pytest.raises(ValueError, match="y contains missing labels; expected one label for every row of X"):
            train(line[0], labels)


def test_labels_without_order_are_refused(line) -> None:
    with pytest.raises(TypeError, match="y mixes labels of types int, str, which have no order"):
        HardMarginSVC().fit(line[0], np.array([1, "a", 1, "a", 1], dtype=object))


@pytest.mark.parametrize(
    "pair", [("b", "a"), (True, False), (0.75, 0.25), (7, -7)], ids=["text", "bool", "fractions", "numbers"]
)
def test_labels_may_be_any_two_values(line, pair) -> None:
    X, _ = line
    y = np.array([pair[1], pair[1], pair[0], pair[0], pair[1]])
    model = HardMarginSVC(C=10).fit(X, y)
    predicted = model.predict(X)
    assert predicted.tolist() == [pair[1], pair[1], pair[0], pair[0], pair[0]]
    assert predicted.dtype == y.dtype


def test_the_hyperplane_itself_is_the_negative_side(line) -> None:
    model = HardMarginSVC(C=10).fit(*line)
    model.coef_, model.intercept_ = np.array([[1.0]]), np.array([-2.0])
    assert model.decision_function([[2.0]]).tolist() == [0.0]
    assert model.predict([[2.0]]).tolist() == [0]


def test_names_of_features_are_kept_and_checked(blobs) -> None:
    X, y = blobs
    frame = pd.DataFrame(X, columns=["length", "width"])
    model = HardMarginSVC().fit(frame, pd.Series(y))
    assert model.feature_names_in_.tolist() == ["length", "width"]
    assert model.result_.feature_names == ["length", "width"]
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["width", "length"]])
    with pytest.raises(ValueError, match="X has 3 features, but HardMarginSVC is expecting 2"):
        HardMarginSVC().fit(X, y).predict(np.zeros((1, 3)))


def test_sparse_samples(blobs) -> None:
    X, y = blobs
    dense = HardMarginSVC().fit(X, y)
    sparse = HardMarginSVC().fit(scipy.sparse.csc_array(X), y)
    np.testing.assert_array_equal(sparse.coef_, dense.coef_)
    np.testing.assert_allclose(sparse.decision_function(scipy.sparse.coo_array(X)), dense.decision_function(X))


def test_pickle_joblib_and_clone(blobs, tmp_path) -> None:
    X, y = blobs
    model = HardMarginSVC(C=5, class_weight="balanced").fit(X, y)
    joblib.dump(model, tmp_path / "model.joblib")
    for copied in (pickle.loads(pickle.dumps(model)), joblib.load(tmp_path / "model.joblib")):
        np.testing.assert_array_equal(copied.predict(X), model.predict(X))
        assert copied.result_ == model.result_
    assert clone(model).get_params() == model.get_params()
    assert not hasattr(clone(model), "coef_")


@pytest.mark.filterwarnings("ignore::hardmargin.ConstantModelWarning")
def test_pipeline_and_grid_search(blobs) -> None:
    X, y = blobs
    pipeline = make_pipeline(StandardScaler(), HardMarginSVC())
    pipeline.set_output(transform="pandas")
    search = GridSearchCV(pipeline, {"hardmarginsvc__C": [0.1, 10]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.9
    assert search.best_estimator_[-1].feature_names_in_.tolist() == ["x0", "x1"]
    assert cross_val_score(pipeline, X, y, cv=4).shape == (4,)


def test_weights_are_routed(blobs) -> None:
    X, y = blobs
    weights = np.where(np.arange(len(y)) % 2, 2.0, 0.0)
    with sklearn.config_context(enable_metadata_routing=True):
        model = HardMarginSVC().set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        search = GridSearchCV(model, {"C": [1.0]}, cv=2).fit(X, y, sample_weight=weights)
    assert search.best_estimator_.result_.weights == weights.tolist()


def test_trusted_samples_are_kept_and_routed(line) -> None:
    X, y = line
    trusted = np.array([False, False, False, False, True])
    with pytest.warns(ConstantModelWarning, match=r"proven optimal\. Use a larger C, or loosen the constraints"):
        model = HardMarginSVC(C=10).fit(X, y, trusted=trusted)
    assert model.result_.trusted == [4]
    assert model.violations_.tolist() == [2, 3]
    trusted = ~trusted
    with sklearn.config_context(enable_metadata_routing=True):
        model = HardMarginSVC(C=10).set_fit_request(trusted=True, sample_weight=False)
        assert make_pipeline(StandardScaler(), model).fit(X, y, trusted=trusted)[-1].result_.trusted == [0, 1, 2, 3]


def test_options_reach_the_method(line, stub_method) -> None:
    stub = stub_method([16.0], -2.0)
    HardMarginSVC(method="stub", options={"number": 7.0}).fit(*line)
    assert stub.calls[0].options.number == 7.0
    with pytest.raises(ValueError, match="'wrong'"):
        HardMarginSVC(method="stub", options={"wrong": 1}).fit(*line)


def test_a_callback_gets_the_bounds(line) -> None:
    calls = []
    model = HardMarginSVC(C=10, callback=lambda *values: calls.append(values)).fit(*line)
    assert calls[-1][1:3] == pytest.approx((model.objective_, model.lower_bound_), rel=1e-6)
    with pytest.raises(TypeError, match="callback is 'print'; expected a function of time, upper, lower and nodes"):
        HardMarginSVC(callback="print").fit(*line)


def test_an_error_in_a_callback_reaches_the_caller(line) -> None:
    def fail(*_) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        HardMarginSVC(C=10, callback=fail).fit(*line)


def test_a_checkpoint_is_written_and_resumed(blobs, tmp_path) -> None:
    X, y = blobs
    path = tmp_path / "state.hm"
    first = HardMarginSVC(C=10, checkpoint=path).fit(X, y)
    assert path.exists()
    again = HardMarginSVC(C=10, checkpoint=path).fit(X, y)
    assert again.optimal_
    np.testing.assert_array_equal(again.coef_, first.coef_)
    with pytest.raises(ValueError, match=r"state\.hm"):
        HardMarginSVC(C=11, checkpoint=path).fit(X, y)


def test_constraints_on_the_weights_reach_the_search(blobs) -> None:
    X, y = blobs
    free = HardMarginSVC(C=10).fit(X, y)
    opposite = -np.sign(free.coef_[0, 1]).astype(int)
    model = HardMarginSVC(C=10, monotonic_cst=[0, opposite]).fit(X, y)
    assert opposite * model.coef_[0, 1] >= 0
    assert model.result_.monotonic_cst == [0, opposite]
    assert model.objective_ >= free.objective_ * (1 - 1e-6)
    bounded = HardMarginSVC(C=10, coef_bounds=(-0.5, 0.5)).fit(X, y)
    assert np.abs(bounded.coef_).max() <= 0.5 + 1e-8


def test_signs_by_the_names_of_features(blobs) -> None:
    X, y = blobs
    frame = pd.DataFrame(X, columns=["length", "width"])
    assert HardMarginSVC(C=10, monotonic_cst={"width": -1}).fit(frame, y).result_.monotonic_cst == [0, -1]
    with pytest.raises(ValueError, match="monotonic_cst names 'weight'; expected features of X: length, width"):
        HardMarginSVC(monotonic_cst={"weight": 1}).fit(frame, y)
    with pytest.raises(ValueError, match="monotonic_cst is a dict, but X has no feature names"):
        HardMarginSVC(monotonic_cst={"width": 1}).fit(X, y)


def test_ranges_by_the_names_of_features(blobs) -> None:
    X, y = blobs
    frame = pd.DataFrame(X, columns=["length", "width"])
    model = HardMarginSVC(C=10, coef_bounds={"width": (None, 0.5)}).fit(frame, y)
    assert model.result_.coef_bounds == [[None, None], [None, 0.5]]
    with pytest.raises(ValueError, match="coef_bounds names 'weight'; expected features of X: length, width"):
        HardMarginSVC(coef_bounds={"weight": (0, 1)}).fit(frame, y)


def test_constraints_on_the_weights_need_weights(line) -> None:
    X, y = line
    for name, value in (("monotonic_cst", [1]), ("coef_bounds", (0, 1))):
        with pytest.raises(ValueError, match=f"{name} is given with 2 classes and kernel='rbf'; expected"):
            HardMarginSVC(kernel="rbf", **{name: value}).fit(X, y)
        with pytest.raises(ValueError, match=f"{name} is given with 3 classes and kernel='linear'; expected"):
            HardMarginSVC(**{name: value}).fit(X, [0, 0, 1, 1, 2])


def test_repr_shows_what_was_changed() -> None:
    assert repr(HardMarginSVC(C=3)) == "HardMarginSVC(C=3)"
