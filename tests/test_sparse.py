"""Samples that stay sparse, from a file or an array to the result."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse

from hardmargin import HardMarginSVC, Problem, Result, Status, arrays, data, solve, verify
from hardmargin.checkpoint.file import fingerprint
from hardmargin.cli import main
from hardmargin.limits import default_memory
from hardmargin.methods import blocks
from hardmargin.methods.base import memory_of
from hardmargin.presolve import presolve

N, M = 3000, 4000


@pytest.fixture(scope="module")
def samples() -> tuple[scipy.sparse.csr_array, np.ndarray]:
    """Samples that are sparse and would be large as a dense array; some features decide the label."""
    rng = np.random.default_rng(5)
    columns = np.array([rng.choice(M // 2, 10, replace=False) for _ in range(N)])
    values = rng.standard_normal(columns.shape)
    X = scipy.sparse.csr_array((values.ravel(), columns.ravel(), 10 * np.arange(N + 1)), shape=(N, M))
    X.sort_indices()
    y = np.where(X @ rng.standard_normal(M) > 0, "yes", "no")
    return X, y


@pytest.fixture
def never_dense(monkeypatch) -> None:
    """Makes it an error to turn a sparse matrix into a dense one, except for a small part of the samples."""

    def refusing(convert):
        def converted(self, *arguments, **settings):
            assert self.shape[0] <= N // 4, "made dense"
            return convert(self, *arguments, **settings)

        return converted

    for name in ("toarray", "todense"):
        for kind in (scipy.sparse.csr_array, scipy.sparse.csr_matrix, scipy.sparse.coo_array):
            monkeypatch.setattr(kind, name, refusing(getattr(kind, name)))


@pytest.mark.parametrize("kind", [scipy.sparse.csr_array, scipy.sparse.csr_matrix, scipy.sparse.csc_array])
def test_large_samples_stay_sparse(samples, kind, never_dense) -> None:
    X, y = samples
    problem = Problem.from_data(kind(X), y)
    assert problem.sparse
    assert isinstance(problem.X, scipy.sparse.csr_array)
    assert (problem.n, problem.m, problem.X.dtype) == (N, M, np.float64)
    assert (problem.X != X).nnz == 0


def test_csr_samples_are_taken_as_they_are() -> None:
    """Without scikit-learn, which takes longer to import than some problems to solve, and over 100 MB."""
    program = """
import sys, numpy, scipy.sparse
from hardmargin import Problem, solver
for kind in (scipy.sparse.csr_array, scipy.sparse.csr_matrix):
    X = kind(numpy.eye(3))
    solver.solve(X, [0, 1, 1], method="heuristic")
    assert not Problem.from_data(X, [0, 1, 1]).sparse
assert "sklearn" not in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_proofs_have_the_memory_that_the_stored_values_leave(samples) -> None:
    X, y = samples
    sparse = arrays.sparse_bytes(X)
    memory = memory_of(blocks.Options(), Problem.from_data(X, y))
    assert memory == default_memory(N, M, sparse) == pytest.approx(0.1 + sparse / 1e9)
    assert memory < default_memory(N, M)


def test_small_samples_are_made_dense() -> None:
    problem = Problem.from_data(scipy.sparse.csr_array(np.eye(3)), [0, 1, 1])
    assert not problem.sparse
    np.testing.assert_array_equal(problem.X, np.eye(3))


def test_they_are_dense_if_that_is_hardly_larger(samples, monkeypatch) -> None:
    X, y = samples
    monkeypatch.setattr(arrays, "_SMALL_BYTES", 0)
    narrow = X[:, : M // 100]
    assert Problem.from_data(narrow, y).sparse
    assert not Problem.from_data(scipy.sparse.csr_array(np.ones((N, 3))), y).sparse


def test_duplicate_entries_are_added_and_the_callers_matrix_is_left_alone(samples) -> None:
    X, y = samples
    twice = scipy.sparse.csr_array(
        (np.repeat(X.data / 2, 2)[::-1], np.repeat(X.indices, 2)[::-1], 2 * X.indptr), shape=X.shape
    )
    indices, values = twice.indices.copy(), twice.data.copy()
    problem = Problem.from_data(twice, y)
    assert problem.X.has_canonical_format
    assert problem.X.nnz == X.nnz
    np.testing.assert_array_equal(twice.indices, indices)
    np.testing.assert_array_equal(twice.data, values)


def test_values_out_of_range_are_refused(samples) -> None:
    X, y = samples
    for value, words in ((np.nan, "X contains NaN"), (np.inf, "X contains infinity"), (2e150, "magnitude 2e")):
        bad = X.copy()
        bad.data[17] = value
        with pytest.raises(ValueError, match=words):
            Problem.from_data(bad, y)


def test_they_are_evaluated_like_dense_ones(samples) -> None:
    X, y = samples
    sparse = Problem.from_data(X, y, C=3.0)
    dense = Problem(X.toarray(), sparse.y, sparse.costs)
    coef, intercept = np.random.default_rng(1).standard_normal(M), 0.3
    found, wanted = (problem.evaluate(coef, intercept) for problem in (sparse, dense))
    assert found.objective == pytest.approx(wanted.objective)
    np.testing.assert_allclose(found.margins, wanted.margins, atol=1e-12)
    np.testing.assert_array_equal(found.violations, wanted.violations)
    kept = sparse.kept_up_to_rounding(coef, intercept)
    np.testing.assert_array_equal(kept, dense.kept_up_to_rounding(coef, intercept))
    positive = found.margins > 0
    for problem in (sparse, dense):
        fitted = problem.fitted(coef, intercept, positive)
        assert problem.evaluate(*fitted).margins[positive].min() >= 1
        np.testing.assert_allclose(fitted[0], sparse.fitted(coef, intercept, positive)[0], rtol=1e-9)


def test_presolve_drops_what_costs_and_decides_nothing(samples, never_dense) -> None:
    X, y = samples
    rows = np.append(np.arange(N), [7, 7, 9])
    weights = np.ones(N + 3)
    weights[100:120] = 0
    problem = Problem.from_data(X[rows], y[rows], C=2.0, sample_weight=weights)
    reduced = presolve(problem)
    used = np.unique(X[np.delete(np.arange(N), np.arange(100, 120))].indices)
    assert reduced.problem.sparse
    assert (reduced.problem.n, reduced.problem.m) == (N - 20, len(used))
    np.testing.assert_array_equal(reduced.features, used)
    assert (reduced.representative[100:120] == -1).all()
    assert reduced.representative[N] == reduced.representative[N + 1] == reduced.representative[7]
    assert reduced.problem.costs[reduced.representative[7]] * reduced.objective_factor == pytest.approx(6)
    assert reduced.problem.costs.sum() * reduced.objective_factor == pytest.approx(problem.costs.sum())
    assert 0.5 <= abs(reduced.problem.X.data).max() < 1
    assert reduced.problem.X.has_canonical_format
    coef = np.random.default_rng(2).standard_normal(reduced.problem.m)
    outer = problem.evaluate(*reduced.restore(coef, 0.1)).margins
    inner = reduced.problem.evaluate(coef, 0.1).margins
    costly = reduced.representative >= 0
    np.testing.assert_allclose(inner[reduced.representative[costly]], outer[costly], atol=1e-12)
    back, intercept = reduced.reduce(*reduced.restore(coef, 0.1))
    np.testing.assert_allclose(back, coef)
    assert intercept == pytest.approx(0.1)


def test_presolve_copies_nothing_if_there_is_nothing_to_change(samples, monkeypatch) -> None:
    X, y = samples
    monkeypatch.setattr(arrays, "_SMALL_BYTES", 0)
    scaled = X[:, : M // 2].copy()
    scaled.data *= 0.75 / abs(scaled.data).max()
    problem = Problem.from_data(scaled, y)
    assert np.shares_memory(presolve(problem).problem.X.data, scaled.data)


@pytest.mark.parametrize(("method", "status"), [("auto", Status.NODE_LIMIT), ("heuristic", Status.HEURISTIC)])
def test_solve_verify_and_predict(samples, method, status, tmp_path, never_dense) -> None:
    X, y = samples
    settings = {"C": 1.0, "method": method, "time_limit": None, "node_limit": 1}
    result = solve(X, y, **settings)
    assert result.method == method
    assert result.status is status
    assert (result.n, result.m) == (N, M)
    assert result.objective < 0.8 * min(np.count_nonzero(y == label) for label in ("yes", "no"))
    assert verify(result, X, y)
    result.save(tmp_path / "model.json")
    assert Result.load(tmp_path / "model.json") == result
    assert (result.predict(X) == y).mean() > 0.8
    assert solve(X, y, **settings).coef == result.coef


def test_a_start_is_not_lost(samples) -> None:
    X, y = samples
    best = solve(X, y, C=1.0, method="heuristic", time_limit=None)
    again = solve(X, y, C=1.0, method="heuristic", start=best, time_limit=1e-9)
    assert again.objective <= best.objective
    assert again.status is Status.TIME_LIMIT
    assert solve(X, y, C=1.0, method="heuristic", start=best, time_limit=None).objective <= best.objective


@pytest.mark.parametrize("method", ["packing", "directions", "indicator", "benders"])
def test_methods_that_need_dense_samples_say_so_at_once(samples, method) -> None:
    X, y = samples
    words = rf"method '{method}' needs dense samples, and 3000 x 4000 .* take 0.096 GB .*use auto, heuristic"
    with pytest.raises(ValueError, match=words):
        solve(X, y, method=method)


def test_a_proof_for_sparse_samples_can_be_resumed(samples, tmp_path) -> None:
    X, y = samples
    path = tmp_path / "state"
    settings = {"options": {"heuristic_effort": 0.001}, "time_limit": None}
    first = solve(X, y, checkpoint=path, node_limit=1, **settings)
    result = solve(X, y, checkpoint=path, resume=path, node_limit=first.nodes + 1, **settings)
    assert 0 <= first.lower_bound <= result.lower_bound <= result.objective <= first.objective


def test_the_fingerprint_tells_sparse_samples_apart(samples) -> None:
    X, y = samples
    one = Problem.from_data(X, y)
    changed, moved = X.copy(), X.copy()
    changed.data[5] += 1
    moved.indices[9] = M - 1
    prints = {fingerprint(Problem.from_data(samples, y)) for samples in (X, X.copy(), changed, moved)}
    assert len(prints) == 3
    assert fingerprint(one) in prints
    assert fingerprint(Problem(X.toarray(), one.y, one.costs)) not in prints


def test_the_estimator_keeps_them_sparse(samples, never_dense) -> None:
    X, y = samples
    model = HardMarginSVC(method="heuristic", time_limit=None).fit(X, y)
    assert model.coef_.shape == (1, M)
    assert model.score(X, y) > 0.8
    assert model.result_.objective == solve(X, y, method="heuristic", time_limit=None).objective


def test_files_and_the_command_line(samples, tmp_path, capsys, never_dense) -> None:
    X, y = samples
    file, model = str(tmp_path / "train.svm"), str(tmp_path / "model.json")
    dataset = data.Dataset(X, np.where(y == "yes", 1, -1), format="libsvm")
    data.save(dataset, file, "libsvm")
    loaded = data.load(file)
    assert isinstance(loaded.X, scipy.sparse.csr_array)
    assert loaded.X.shape == (N, M)
    assert (loaded.X != X).nnz == 0
    assert main(["solve", file, "--method", "heuristic", "--json", model, "--quiet"]) == 0
    assert main(["verify", model, file]) == 0
    capsys.readouterr()
    # The last features do not occur in a shorter file.
    (tmp_path / "few.svm").write_text("1 3:0.5\n-1 7:1\n")
    assert main(["predict", model, str(tmp_path / "few.svm")]) == 0
    assert main(["predict", model, file]) == 0
    assert len(capsys.readouterr().out.split()) == 2 + N
    assert main(["solve", file, "--method", "packing"]) == 2
    assert "needs dense samples" in capsys.readouterr().err


@pytest.mark.parametrize("format", ["brooks", "csv"])
def test_only_libsvm_files_are_sparse(samples, format) -> None:
    X, _ = samples
    with pytest.raises(ValueError, match="they are sparse"):
        data.dumps(data.Dataset(X, np.arange(N) % 2), format)
