"""Models of kernel problems: evaluated with the Gram matrix, and bounded for it."""

from __future__ import annotations

import numpy as np
import pytest

import brute_force
import hardmargin.binary_model
from hardmargin import Problem, Result, Status, solve
from hardmargin.binary_model import BinaryModel, kernel_model, total_status
from hardmargin.binary_problems import binary_problems
from hardmargin.gram import GramFactor, gram_factor

CASES = 210


def fitted(matrix: np.ndarray, case: brute_force.Case, **settings) -> tuple[BinaryModel, Result, GramFactor]:
    factor = gram_factor((matrix + matrix.T) / 2)
    result = solve(factor.rows, case.y, case.C, **case.weights, **settings)
    (problem,) = binary_problems(case.y, np.unique(case.y), "ovo")
    return kernel_model(problem, result, factor), result, factor


def test_the_linear_kernel_against_brute_force() -> None:
    """Inner products of degenerate samples: the bound is valid, and the model is what it claims to be."""
    proven = 0
    for index in range(CASES):
        case = brute_force.random_case(31, index)
        best = brute_force.optimum(Problem.from_data(case.X, case.y, case.C, **case.weights))
        model, _, _ = fitted(case.X @ case.X.T, case)
        assert model.lower_bound <= best * (1 + 1e-9), (index, case.kind)
        # The squares of large offsets leave few digits for the rest.
        if case.kind not in ("offset", "far outlier"):
            assert model.objective >= best * (1 - 1e-6), (index, case.kind)
            assert model.status is not Status.OPTIMAL or model.objective <= best * (1 + 1e-5), (index, case.kind)
        proven += model.status is Status.OPTIMAL
    assert proven > CASES / 2


def test_trusted_samples_against_brute_force() -> None:
    kept = 0
    for index in range(0, CASES, 3):
        case = brute_force.random_case(41, index)
        trusted = np.random.default_rng([41, index]).random(len(case.y)) < 0.2
        case = case._replace(weights=case.weights | {"trusted": trusted})
        x = np.clip(case.X, -3, 3)
        best = brute_force.optimum(Problem.from_data(x, case.y, case.C, **case.weights))
        if not np.isfinite(best):
            continue
        model, _, _ = fitted(x @ x.T, case)
        assert not trusted[model.violations].any()
        assert best * (1 - 1e-6) <= model.objective
        assert model.lower_bound <= best * (1 + 1e-9)
        kept += 1
    assert kept > CASES / 6


def test_the_polynomial_kernel_against_brute_force() -> None:
    """(x z + 1)^2 on a line is the inner product of (1, sqrt(2) x, x^2)."""
    for index in range(0, CASES, 4):
        case = brute_force.random_case(37, index)
        x = np.clip(case.X[:, :1], -3, 3)
        explicit = np.hstack([np.sqrt(2) * x, x * x])
        best = brute_force.optimum(Problem.from_data(explicit, case.y, case.C, **case.weights))
        model, _, _ = fitted((x @ x.T + 1) ** 2, case)
        assert model.lower_bound <= best * (1 + 1e-9), index
        assert model.objective >= best * (1 - 1e-6), index


def moons(n: int = 60) -> brute_force.Case:
    from sklearn.datasets import make_moons

    X, y = make_moons(n, noise=0.15, random_state=0)
    y[::10] = 1 - y[::10]
    return brute_force.Case("moons", X, y, 10.0, {})


def rbf(X: np.ndarray) -> np.ndarray:
    return np.exp(-2 * np.sum((X[:, None] - X[None]) ** 2, axis=2))


def test_a_model_is_a_combination_of_support_vectors() -> None:
    case = moons()
    model, result, factor = fitted(rbf(case.X), case)
    signs = np.where(case.y == 1, 1.0, -1.0)
    margins = signs * (factor.matrix @ model.weights + model.intercept)
    assert np.flatnonzero(margins < 1 - 1e-9).tolist() == model.violations.tolist() == result.violations
    support = model.weights != 0
    np.testing.assert_allclose(margins[support], 1.0, atol=1e-9)
    assert np.all(signs[support] * model.weights[support] > 0)
    norm = 0.5 * model.weights @ factor.matrix @ model.weights
    assert model.objective == pytest.approx(norm + 10 * len(model.violations))
    assert model.objective == pytest.approx(result.objective, rel=1e-9)
    assert 0 < result.lower_bound - model.lower_bound < 1e-9 * model.objective
    assert model.status is Status.OPTIMAL


def test_without_multipliers_the_hyperplane_of_the_search_is_used(monkeypatch) -> None:
    case = moons()
    best, _, _ = fitted(rbf(case.X), case)
    monkeypatch.setattr(hardmargin.binary_model, "separation", lambda *_: None)
    model, _, _ = fitted(rbf(case.X), case)
    assert model.violations.tolist() == best.violations.tolist()
    assert model.objective == pytest.approx(best.objective, rel=1e-6)


def test_an_error_that_is_too_large_for_the_gap_is_told() -> None:
    case = moons()
    model, result, factor = fitted(rbf(case.X), case)
    coarse = GramFactor(factor.matrix, factor.rows, 1e-7, factor.pivots)
    (problem,) = binary_problems(case.y, np.unique(case.y), "ovo")
    worse = kernel_model(problem, result, coarse)
    assert result.status is Status.OPTIMAL
    assert worse.status is Status.HEURISTIC
    assert worse.objective == model.objective
    assert worse.gap > 1e-6


def test_a_constant_model_has_no_support_vectors() -> None:
    case = moons()._replace(C=1e-6)
    model, _, _ = fitted(rbf(case.X), case)
    assert not model.weights.any()
    assert model.objective == pytest.approx(1e-6 * min(np.bincount(case.y)))


def test_why_a_fit_ended() -> None:
    def models(*statuses: Status) -> list[BinaryModel]:
        return [BinaryModel(np.zeros(1), 0.0, 1.0, 1.0, np.zeros(0, dtype=int), status) for status in statuses]

    assert total_status(models(Status.OPTIMAL, Status.STALLED, Status.TIME_LIMIT)) is Status.TIME_LIMIT
    assert total_status(models(Status.TIME_LIMIT, Status.INTERRUPTED)) is Status.INTERRUPTED
    assert total_status(models(Status.OPTIMAL, Status.HEURISTIC)) is Status.HEURISTIC
    assert total_status(models(Status.OPTIMAL, Status.OPTIMAL)) is Status.OPTIMAL
