"""A solve by a portfolio: how much work is expected to fit into the time limit."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from hardmargin import Problem, solve
from hardmargin.methods.packing import PackingProof
from hardmargin.search.portfolio import _speed


def test_more_features_are_more_work_per_second_up_to_a_point() -> None:
    speeds = [_speed(Problem.from_data(np.eye(2, m), [0, 1], C=1.0)) for m in (1, 10, 70, 100, 1000)]
    assert speeds == sorted(speeds)
    assert speeds[2] == 6e9
    assert speeds[3] == speeds[4]


def test_the_features_of_sparse_samples_do_not_count() -> None:
    X = scipy.sparse.random(20_000, 1000, density=1e-4, format="csr", random_state=0)
    problem = Problem.from_data(X, [0, 1] * 10_000, C=1.0)
    assert problem.sparse
    assert _speed(problem) == 3e9


def test_a_proof_knows_the_work_of_all_threads_until_the_time_limit(monkeypatch) -> None:
    limits = []

    def steps(proof: PackingProof):
        limits.append(proof.work_limit)
        proof.stuck = True
        yield

    monkeypatch.setattr(PackingProof, "steps", steps)
    random = np.random.default_rng(0)
    X, y = random.normal(size=(60, 7)), random.integers(0, 2, 60)
    solve(X, y, C=10.0, method="packing", threads=2, time_limit=50)
    assert limits == [pytest.approx(3.3e9 * 2 * 50)]
