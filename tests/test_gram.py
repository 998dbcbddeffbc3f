"""Kernels: the factored Gram matrix, and the bound that follows from it."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel, sigmoid_kernel
from sklearn.svm import SVC

import brute_force
import hardmargin.memory
from hardmargin import Problem
from hardmargin.binary_problems import binary_problems
from hardmargin.gram import (
    FactoredGram,
    GramFactor,
    _difference,
    factored_gram,
    gram_factor,
    gram_matrix,
    parsed_kernel,
)
from hardmargin.penalty import scale_penalty

RNG = np.random.default_rng(3)
X = RNG.normal(size=(40, 3))
MATRICES = {
    "rbf": rbf_kernel(X, gamma=0.5),
    "nearly constant": rbf_kernel(X, gamma=1e-6),
    "polynomial": polynomial_kernel(X, degree=2, coef0=1),
    "linear": X @ X.T,
    "duplicates": rbf_kernel(np.repeat(X[:10], 3, axis=0)),
    "constant": np.ones((5, 5)),
    "zero": np.zeros((4, 4)),
    "large": 1e12 * rbf_kernel(X),
    "small": 1e-12 * rbf_kernel(X),
}


@pytest.mark.parametrize("name", MATRICES)
def test_the_factor_is_as_exact_as_it_claims(name) -> None:
    matrix = MATRICES[name]
    factor = gram_factor(matrix)
    exact = factor.rows.astype(np.longdouble)
    assert np.abs(matrix - exact @ exact.T).max() <= factor.error
    assert factor.error <= 1e-12 * np.abs(matrix).max()


@pytest.mark.parametrize("name", MATRICES)
def test_combinations_of_samples_and_their_coordinates(name) -> None:
    factor = gram_factor(MATRICES[name])
    v = factor.rows.T @ np.linspace(-1, 1, len(factor.rows))
    multiples, size = factor.combination(v), 1e-6 * factor.matrix.max()
    np.testing.assert_allclose(factor.matrix @ multiples, factor.rows @ v, rtol=1e-6, atol=size)
    again = factor.coordinates(factor.rows[factor.pivots] @ v)
    np.testing.assert_allclose(factor.rows @ again, factor.rows @ v, rtol=1e-6, atol=size)


@pytest.mark.parametrize(
    "matrix",
    [sigmoid_kernel(X, gamma=1.0, coef0=-1.0), np.array([[0.0, 1.0], [1.0, 0.0]]), -np.eye(3)],
    ids=["sigmoid", "zero diagonal", "negative"],
)
def test_a_matrix_that_is_not_positive_semidefinite_is_refused(matrix) -> None:
    with pytest.raises(ValueError, match=r"not positive semidefinite: its smallest eigenvalue is -.*rbf"):
        gram_factor(matrix)


@pytest.mark.parametrize("name", ["rbf", "nearly constant", "polynomial", "duplicates"])
def test_a_matrix_with_single_precision_has_a_larger_error(name) -> None:
    matrix = MATRICES[name].astype(np.float32).astype(np.float64)
    factor = gram_factor(matrix)
    exact = factor.rows.astype(np.longdouble)
    assert np.abs(matrix - exact @ exact.T).max() <= factor.error <= 1e-5 * matrix.max()


def half_change(problem: Problem, other: Problem) -> tuple[float, float]:
    """How much more the second problem costs, and what the claim allows."""
    error = float(np.abs(problem.X @ problem.X.T - other.X @ other.X.T).max())
    first, second = brute_force.optimum(problem), brute_force.optimum(other)
    return second - first, _difference(first, error)


def test_the_claim_holds_for_perturbed_samples() -> None:
    said = 0
    for index in range(150):
        case = brute_force.random_case(23, index)
        if case.kind in ("offset", "huge", "tiny", "far outlier"):
            continue
        rng = np.random.default_rng(index)
        moved = case.X + 10 ** rng.uniform(-9, -3) * rng.standard_normal(case.X.shape)
        problem = Problem.from_data(case.X, case.y, case.C, **case.weights)
        change, allowed = half_change(problem, Problem.from_data(moved, case.y, case.C, **case.weights))
        assert change <= allowed + 1e-9 * problem.costs.sum()
        said += bool(1e-9 * problem.costs.sum() < allowed < np.inf)
    assert said > 50


def test_the_claim_is_not_much_too_weak() -> None:
    problem = Problem.from_data([[-1.0], [1.0]], [0, 1], C=10)
    change, allowed = half_change(problem, Problem.from_data([[-0.9999], [0.9999]], [0, 1], C=10))
    assert allowed / 4 < change <= allowed


def test_the_bound_says_nothing_if_the_error_is_too_large() -> None:
    factor = gram_factor(np.eye(2))
    assert GramFactor(factor.matrix, factor.rows, 0.1, factor.pivots).proven(10.0, 9.0) == 0.0
    assert GramFactor(factor.matrix, factor.rows, 0.0, factor.pivots).proven(10.0, 9.0) == 9.0


@pytest.mark.parametrize("gamma", ["scale", "auto", 0.3])
@pytest.mark.parametrize("name", ["rbf", "poly", "sigmoid"])
def test_kernels_are_those_of_svc(name, gamma) -> None:
    y = (X[:, 0] > 0).astype(int)
    model = SVC(kernel=name, gamma=gamma, degree=2, coef0=0.5).fit(X, y)
    kernel = parsed_kernel(name, gamma, 2, 0.5, X)
    decision = kernel.combination(X, model.support_vectors_, model.dual_coef_)[:, 0] + model.intercept_
    np.testing.assert_allclose(decision, model.decision_function(X), rtol=1e-6, atol=1e-9)
    sparse = scipy.sparse.csr_array(X)
    assert parsed_kernel(name, gamma, 2, 0.5, sparse).gamma == pytest.approx(kernel.gamma)


def test_weights_count_as_repetitions_for_the_scale() -> None:
    counts = np.arange(len(X)) % 3
    repeated = parsed_kernel("rbf", "scale", 3, 0.0, np.repeat(X, counts, axis=0))
    for samples in (X, scipy.sparse.csr_array(X)):
        weighted = parsed_kernel("rbf", "scale", 3, 0.0, samples, counts.astype(float))
        assert weighted.gamma == pytest.approx(repeated.gamma)


REFUSED = {
    "name": (("rbff", "scale", 3, 0.0), "kernel is 'rbff'; expected one of linear, rbf"),
    "gamma": (("rbf", 0.0, 3, 0.0), "gamma is 0.0; expected a positive number, 'scale' or 'auto'"),
    "gamma text": (("sigmoid", "big", 3, 0.0), "gamma is 'big'"),
    "degree": (("poly", "scale", 0, 0.0), "degree is 0; expected a whole number >= 1"),
    "coef0": (("poly", "scale", 3, np.inf), "coef0 is inf; expected a finite number"),
}


@pytest.mark.parametrize(("arguments", "message"), REFUSED.values(), ids=REFUSED)
def test_parameters_are_checked(arguments, message) -> None:
    with pytest.raises(ValueError, match=message):
        parsed_kernel(*arguments, X)


def matrix_of(name, samples=X) -> np.ndarray:
    return gram_matrix(parsed_kernel(name, "scale", 3, 0.0, samples), samples)


def test_gram_matrices_are_checked() -> None:
    with pytest.raises(ValueError, match=r'shape \(40, 3\); with kernel="precomputed" expected a square'):
        matrix_of("precomputed")
    with pytest.raises(ValueError, match="not symmetric"):
        matrix_of("precomputed", np.array([[1.0, 2.0], [0.0, 1.0]]))
    with pytest.raises(ValueError, match=r"shape \(3,\) for 40 and 40 samples; expected \(40, 40\)"):
        matrix_of(lambda A, B: np.ones(3))
    with pytest.raises(ValueError, match="value of magnitude nan; expected finite"):
        matrix_of(lambda A, B: np.full((len(A), len(B)), np.nan))
    np.testing.assert_array_equal(matrix_of(lambda A, B: A @ B.T), X @ X.T)


def test_a_gram_matrix_that_does_not_fit_is_refused_before_it_is_formed(monkeypatch) -> None:
    monkeypatch.setattr(hardmargin.memory, "available_memory", lambda: 1_000_000_000)
    samples = np.zeros((20_000, 1))
    with pytest.raises(MemoryError, match=r"Gram matrix of 20000 samples, which has 3.2 GB; .*Nystroem"):
        matrix_of("rbf", samples)


def test_a_gram_matrix_that_takes_too_long_is_refused_before_it_is_formed() -> None:
    def factored(samples, y, multi_class, time_limit) -> FactoredGram:
        problems = binary_problems(y, np.unique(y), multi_class)
        return factored_gram(parsed_kernel("rbf", "scale", 3, 0.0, samples), samples, problems, time_limit)

    samples, y = np.zeros((20_000, 1)), np.arange(20_000) % 4
    with pytest.raises(ValueError, match=r"20000 samples takes about 8e\+02 s, and time_limit is 60; .*Nystroem"):
        factored(samples, y, "ovr", 60.0)
    with pytest.raises(ValueError, match=r"takes about 6e\+02 s"):
        factored(samples, y, "ovo", 60.0)
    assert len(factored(X, y[:40], "ovr", 1e-9).factors) == 4
    assert [factor.matrix.shape for factor in factored(X, y[:40], "ovo", 1e-9).factors] == [(20, 20)] * 6


def test_the_scale_of_a_penalty_is_that_of_the_samples() -> None:
    weights = np.arange(len(X)) % 3 + 0.5
    gram = FactoredGram(X @ X.T, [gram_factor(X @ X.T)])
    for given in (None, weights):
        assert gram.penalty("scale", given) == pytest.approx(scale_penalty(X, given))
    assert gram.penalty(3, None) == 3.0
    assert FactoredGram(np.ones((2, 2)), []).penalty("scale", None) == 1.0
    with pytest.raises(TypeError, match="C is 'big'"):
        gram.penalty("big", None)
