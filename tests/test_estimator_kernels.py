"""HardMarginSVC with kernels."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.datasets import load_iris, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel
from sklearn.model_selection import cross_val_score

from hardmargin import HardMarginSVC, verify
from hardmargin.gram import gram_factor

X, y = make_moons(60, noise=0.15, random_state=0)
y[::10] = 1 - y[::10]
TEST = make_moons(200, noise=0.15, random_state=1)


def test_a_nonlinear_boundary() -> None:
    model = HardMarginSVC(C=10, kernel="rbf", gamma=2.0).fit(X, y)
    assert model.optimal_
    assert model.score(*TEST) > HardMarginSVC(C=10).fit(X, y).score(*TEST) + 0.05
    assert not hasattr(model, "coef_")
    assert model.dual_coef_.shape == (1, len(model.support_))
    np.testing.assert_array_equal(model.support_vectors_, X[model.support_])
    margins = np.where(y == 1, 1, -1) * model.decision_function(X)
    assert np.flatnonzero(margins < 1 - 1e-9).tolist() == model.violations_.tolist()
    norm = model.dual_coef_ @ rbf_kernel(model.support_vectors_, gamma=2.0) @ model.dual_coef_.T
    assert model.objective_ == pytest.approx(norm.item() / 2 + 10 * len(model.violations_))
    assert 0 < model.gram_error_ < 1e-12


def test_the_result_belongs_to_the_factored_problem() -> None:
    model = HardMarginSVC(C=10, kernel="rbf", gamma=2.0).fit(X, y)
    assert verify(model.result_, gram_factor(rbf_kernel(X, gamma=2.0)).rows, y)


def test_the_linear_kernel_as_a_function_is_the_linear_model() -> None:
    linear = HardMarginSVC(C=10).fit(X, y)
    model = HardMarginSVC(C=10, kernel=linear_kernel).fit(X, y)
    assert model.objective_ == pytest.approx(linear.objective_, rel=1e-6)
    np.testing.assert_allclose(model.decision_function(X), linear.decision_function(X), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(model.dual_coef_ @ model.support_vectors_, linear.coef_, rtol=1e-4)


def test_a_precomputed_gram_matrix() -> None:
    direct = HardMarginSVC(C=10, kernel="rbf", gamma=2.0).fit(X, y)
    model = HardMarginSVC(C=10, kernel="precomputed").fit(rbf_kernel(X, gamma=2.0), y)
    values = model.decision_function(rbf_kernel(TEST[0], X, gamma=2.0))
    np.testing.assert_allclose(values, direct.decision_function(TEST[0]))
    assert model.support_.tolist() == direct.support_.tolist()
    assert cross_val_score(model, rbf_kernel(X, gamma=2.0), y, cv=3).mean() > 0.7
    with pytest.raises(ValueError, match="expected a square matrix"):
        HardMarginSVC(kernel="precomputed").fit(X, y)


def test_an_indefinite_kernel_is_refused() -> None:
    with pytest.raises(ValueError, match="not positive semidefinite"):
        HardMarginSVC(kernel="sigmoid", coef0=-1.0).fit(X, y)


@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
def test_more_than_two_classes(multi_class) -> None:
    flowers, species = load_iris(return_X_y=True)
    flowers, species = flowers[::5], species[::5]
    model = HardMarginSVC(C=10, kernel="rbf", multi_class=multi_class).fit(flowers, species)
    assert model.dual_coef_.shape == (3, len(model.support_))
    assert model.decision_function(flowers).shape == (30, 3)
    assert model.score(flowers, species) > 0.9
    assert model.gap_ <= 1e-6


def test_sparse_samples_copies_and_pickles() -> None:
    dense = HardMarginSVC(C=10, kernel="rbf").fit(X, y)
    sparse = HardMarginSVC(C=10, kernel="rbf").fit(scipy.sparse.csr_array(X), y)
    np.testing.assert_allclose(sparse.decision_function(X), dense.decision_function(X), rtol=1e-6)
    assert pickle.loads(pickle.dumps(dense)).predict(X).tolist() == dense.predict(X).tolist()
    assert not hasattr(clone(dense), "dual_coef_")


def test_another_kernel_replaces_the_first() -> None:
    model = HardMarginSVC(C=10, kernel="rbf").fit(X, y)
    model.set_params(kernel="linear").fit(X, y)
    assert model.coef_.shape == (1, 2)
    assert not hasattr(model, "dual_coef_")
    assert not hasattr(model.set_params(kernel="rbf").fit(X, y), "coef_")


def test_a_constant_model() -> None:
    with pytest.warns(UserWarning, match="w = 0, which predicts"):
        model = HardMarginSVC(C=1e-9, kernel="rbf").fit(X, y)
    assert len(model.support_) == 0
    assert len(set(model.predict(X))) == 1


@pytest.mark.parametrize("kernel", ["rbf", "precomputed"])
def test_warm_starts(kernel) -> None:
    samples = rbf_kernel(X) if kernel == "precomputed" else X
    model = HardMarginSVC(C=10, kernel=kernel, gamma=1.0, warm_start=True).fit(samples, y)
    best = model.objective_
    model.set_params(method="heuristic", options={"effort": 1e-3}).fit(samples, y)
    assert model.objective_ <= best * (1 + 1e-6)
    fewer = samples[:5, :5] if kernel == "precomputed" else X[:, :1]
    assert model.fit(fewer, y[: len(fewer)]).n_features_in_ == fewer.shape[1]


def test_rounding_that_weakens_the_bound_is_told() -> None:
    """Values of about 1e10, of which float64 leaves six digits after the point."""
    far = 40 + np.random.default_rng(0).normal(size=(12, 2))
    with pytest.warns(ConvergenceWarning, match="Rounding in the Gram matrix makes the proven bound lower by"):
        model = HardMarginSVC(C=10, kernel="poly", gamma=1.0).fit(far, np.arange(12) % 2)
    assert model.status_ == "heuristic"
    assert model.lower_bound_ < model.result_.lower_bound


def test_trust_that_only_rounding_makes_possible_is_refused() -> None:
    """Two equal samples with different labels: the rows of the factor differ in the last digit."""
    samples, trusted = [[1.0], [0.0], [0.0]], [False, True, True]
    model = HardMarginSVC(C=10, kernel="poly", degree=2, gamma=1, coef0=1)
    with pytest.raises(ValueError, match=r"(trusted samples can only be kept|contradict each other)"):
        model.fit(samples, [0, 0, 1], trusted=trusted)
