"""C = "scale"."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from hardmargin import Problem, solve
from hardmargin.penalty import SCALE_FACTOR, resolved_penalty, scale_penalty


def dense(seed: int = 0, n: int = 50, m: int = 4) -> np.ndarray:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, m)) * [1.0, 10.0, 0.1, 3.0] + [0.0, 5.0, -2.0, 1e3]
    X[rng.random((n, m)) < 0.4] = 0.0
    return X


def test_it_is_the_inverse_of_the_sum_of_the_variances() -> None:
    X = dense()
    assert scale_penalty(X) == pytest.approx(SCALE_FACTOR / X.var(axis=0).sum(), rel=1e-12)


@pytest.mark.parametrize("rows", [1, 7, 10**6])
def test_blocks_change_nothing(monkeypatch, rows) -> None:
    X = dense()
    monkeypatch.setattr("hardmargin.penalty._BLOCK", rows * X.shape[1])
    assert scale_penalty(X) == pytest.approx(SCALE_FACTOR / X.var(axis=0).sum(), rel=1e-12)


@pytest.mark.parametrize("kind", [scipy.sparse.csr_array, scipy.sparse.csr_matrix])
@pytest.mark.parametrize("weighted", [False, True])
def test_sparse_samples(kind, weighted) -> None:
    X = dense()
    weights = np.arange(len(X)) % 4.0 if weighted else None
    assert scale_penalty(kind(X), weights) == pytest.approx(scale_penalty(X, weights), rel=1e-12)


def test_sparse_samples_are_not_made_dense() -> None:
    n, m = 10**6, 10**6
    rows = np.arange(n)
    X = scipy.sparse.csr_array((np.ones(n), (rows, rows)), shape=(n, m))
    assert scale_penalty(X) == pytest.approx(SCALE_FACTOR / (m * (1 / n) * (1 - 1 / n)), rel=1e-9)


def test_a_whole_weight_is_a_repetition() -> None:
    X, counts = dense(), np.arange(50) % 3
    assert scale_penalty(X, counts.astype(float)) == pytest.approx(scale_penalty(np.repeat(X, counts, axis=0)))


@pytest.mark.parametrize("factor", [1e-150, 1e-6, 1e6, 1e145])
def test_the_unit_cancels_out(factor) -> None:
    X = dense()
    assert scale_penalty(factor * X) * factor * factor == pytest.approx(scale_penalty(X), rel=1e-9)


def test_a_distant_sample_does_not_cost_digits() -> None:
    X = np.array([[1e9], [0.0], [1.0], [2.0]])
    assert scale_penalty(X, np.array([0.0, 1.0, 1.0, 1.0])) == pytest.approx(SCALE_FACTOR * 1.5)
    assert scale_penalty(X + 1e8) == pytest.approx(scale_penalty(X))


@pytest.mark.parametrize("value", [0.0, 0.1, -1e150])
def test_nothing_varies(value) -> None:
    X = np.full((7, 3), value)
    assert scale_penalty(X) == 1.0
    assert scale_penalty(scipy.sparse.csr_array(X)) == 1.0


def test_a_penalty_out_of_range_is_refused() -> None:
    with pytest.raises(ValueError, match='C="scale" is inf for the variances of X; expected features of another'):
        scale_penalty(np.array([[0.0], [1e-170]]))


def test_numbers_stay_as_they_are() -> None:
    assert resolved_penalty(np.float32(2), dense()) == 2.0
    with pytest.raises(TypeError, match="expected a positive number or 'scale'"):
        resolved_penalty("auto", dense())


def test_problem_and_result_have_the_number() -> None:
    X, y = dense(), np.arange(50) % 2
    expected = scale_penalty(X)
    problem = Problem.from_data(X, y, "scale")
    assert expected == problem.C
    np.testing.assert_array_equal(problem.costs, np.full(50, expected))
    assert scale_penalty(X[:12]) == solve(X[:12], y[:12], "scale", method="heuristic").C
    assert pytest.approx(expected) == Problem.from_data(scipy.sparse.csr_array(X), y, "scale").C


def test_the_model_does_not_depend_on_the_unit(blobs) -> None:
    X, y = blobs
    first = solve(X, y, "scale")
    second = solve(1000 * X + 3, y, "scale")
    np.testing.assert_allclose(np.multiply(1000, second.coef), first.coef, rtol=1e-6)
    assert second.violations == first.violations
    assert second.objective * 1e6 == pytest.approx(first.objective)
