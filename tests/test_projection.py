"""Fewer coordinates for dependent features, and the effect of their rounding on the bound."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from brute_force import optimum
from hardmargin import Problem, projection, solve
from hardmargin.exact_product import difference, exact_sum
from hardmargin.presolve import presolve


@pytest.mark.parametrize("seed", range(20))
def test_differences_are_as_exact_as_they_claim(seed) -> None:
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 60))
    A = rng.standard_normal((3, count)) * 10 ** rng.uniform(-9, 3, size=(3, count))
    B = rng.standard_normal((2, count))
    terms = [A @ B.T, rng.standard_normal((1, 2)) * 1e-12]
    value, error = difference(terms, A, B)
    for i, j in np.ndindex(3, 2):
        product = sum(Fraction(a) * Fraction(b) for a, b in zip(A[i].tolist(), B[j].tolist(), strict=True))
        exact = Fraction(float(terms[0][i, j])) + Fraction(float(terms[1][0, j])) - product
        assert abs(exact - Fraction(float(value[i, j]))) <= Fraction(float(error[i, j]))
    assert error.max() <= 1e-14 * (np.abs(A) @ np.abs(B).T).max()


def test_a_sum_and_what_it_lost_are_the_sum() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((2, 200)) * 10 ** rng.uniform(-20, 20, size=(2, 200))
    total, lost = exact_sum(a, b)
    for values in zip(a.tolist(), b.tolist(), total.tolist(), lost.tolist(), strict=True):
        first, second, third, fourth = map(Fraction, values)
        assert first + second == third + fourth


def flat_problem(seed: int, C: float = 10.0) -> Problem:
    """Nine samples in five features that span a plane, away from the origin."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((9, 2)) @ rng.standard_normal((2, 5)) + rng.standard_normal(5)
    return Problem.from_data(X, np.where(rng.random(9) > 0.4, 1, -1) * np.array([1, -1] + [1] * 7), C)


@pytest.mark.parametrize("seed", range(10))
def test_the_optimum_is_that_of_the_samples(seed) -> None:
    problem = flat_problem(seed)
    reduced = presolve(problem)
    assert reduced.problem.m == 2
    assert 1 - 1e-10 < reduced.bound_factor / reduced.objective_factor < 1
    assert optimum(reduced.problem) * reduced.objective_factor == pytest.approx(optimum(problem), rel=1e-9)


@pytest.mark.parametrize("seed", range(60))
def test_the_bound_survives_a_basis_of_few_digits(seed, monkeypatch) -> None:
    """Rounding by a thousandth and more makes the allowance visible."""
    rng = np.random.default_rng(seed)
    digits = 10 ** rng.uniform(-5, -2)

    def coarse(_, samples, basis, __):
        noisy_basis = basis + digits * rng.standard_normal(basis.shape)
        return samples + digits * rng.standard_normal(samples.shape), noisy_basis

    monkeypatch.setattr(projection, "_corrected", coarse)
    monkeypatch.setattr(projection, "_LARGEST_DISTORTION", 0.5)
    monkeypatch.setattr(projection, "SMALLEST_FACTOR", -1.0)
    monkeypatch.setattr(projection, "_NEGLIGIBLE_SHARE", 0.0)
    problem = flat_problem(seed, C=10 ** rng.uniform(-1, 1))
    reduced = presolve(problem)
    if reduced.projection is not None:
        assert reduced.projection.bound_factor < 1 - digits
        assert optimum(reduced.problem) * reduced.bound_factor <= optimum(problem) * (1 + 1e-12)


def test_the_coarse_bases_are_used(monkeypatch) -> None:
    monkeypatch.setattr(projection, "_corrected", lambda _, samples, basis, __: (samples + 1e-4, basis))
    assert presolve(flat_problem(0)).projection is None
    monkeypatch.setattr(projection, "_LARGEST_DISTORTION", 0.5)
    monkeypatch.setattr(projection, "SMALLEST_FACTOR", -1.0)
    monkeypatch.setattr(projection, "_NEGLIGIBLE_SHARE", 0.0)
    assert presolve(flat_problem(0)).projection is not None


def test_more_features_than_samples_become_fewer() -> None:
    rng = np.random.default_rng(1)
    X = rng.standard_normal((8, 300))
    y = np.array([-1, 1] * 4)
    reduced = presolve(Problem.from_data(X, y, 10.0))
    assert reduced.problem.m == 7
    result = solve(X, y, 10.0)
    assert result.optimal
    assert result.presolve == "8 x 300 reduced to 8 x 7: 293 dependent features"
    assert result.objective == pytest.approx(optimum(Problem(presolve_free(X), y.astype(float), np.full(8, 10.0))))


def presolve_free(X: np.ndarray) -> np.ndarray:
    """The same samples up to a rotation, computed in another way than the tested one."""
    centred = X - X.mean(axis=0)
    values, vectors = np.linalg.eigh(centred @ centred.T)
    return vectors[:, 1:] * np.sqrt(values[1:])


def test_costs_too_large_for_the_rounding_leave_the_features() -> None:
    assert presolve(flat_problem(0, C=1e4)).problem.m == 2
    assert presolve(flat_problem(0, C=1e14)).problem.m == 5


def test_a_direction_that_matters_is_not_lost() -> None:
    """The classes differ by 1e-7 in one feature, and C is large enough to use it."""
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1e-7], [1.0, 1e-7]])
    y = [-1, -1, 1, 1]
    assert solve(X, y, C=1e16).n_violations == 0
    assert solve(X, y, C=1.0).n_violations == 2


def test_independent_features_are_left_as_they_are() -> None:
    rng = np.random.default_rng(2)
    assert presolve(Problem.from_data(rng.standard_normal((20, 4)), [-1, 1] * 10)).projection is None


@pytest.mark.parametrize("spread", [0.0, 1e-14, 1.0])
def test_of_many_samples_some_may_show_that_features_are_independent(spread) -> None:
    random = np.random.default_rng(5)
    X = random.standard_normal((5000, 2))
    X = np.column_stack([X, X.sum(axis=1) + spread * random.standard_normal(5000)])
    some = projection._surely_independent(X, np.zeros(3), 100.0)
    assert some == (spread == 1)
    assert (projection.projection(X, np.zeros(3), 100.0) is None) == (spread == 1)


def test_large_data_are_projected_without_repeated_samples(monkeypatch) -> None:
    problem = flat_problem(0)
    X = np.insert(np.tile(problem.X, (2, 1)), 1, 7.0, axis=1)
    monkeypatch.setattr("hardmargin.presolve._LARGE", 10)
    reduced = presolve(Problem(X, np.tile(problem.y, 2), np.tile(problem.costs, 2)))
    assert reduced.problem.X.shape == (9, 2)
    np.testing.assert_array_equal(reduced.problem.y, problem.y)


def test_unreduced_data_are_not_projected() -> None:
    reduced = presolve(flat_problem(0), reduce=False)
    assert reduced.problem.m == 5
    assert reduced.bound_factor == reduced.objective_factor
