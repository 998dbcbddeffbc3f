"""Checksums of data: equal for the same data, different for others."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from hardmargin import Problem, solve
from hardmargin.fingerprint import data_fingerprint, fingerprint

X = np.arange(12.0).reshape(6, 2)
Y = [0, 1, 0, 1, 0, 1]


def test_penalties_and_weights_are_not_data():
    plain = Problem.from_data(X, Y, C=1)
    others = [Problem.from_data(X, Y, C=7), Problem.from_data(X, Y, sample_weight=[1, 2, 3, 4, 5, 6])]
    assert {data_fingerprint(problem) for problem in others} == {data_fingerprint(plain)}
    assert len({fingerprint(problem) for problem in (plain, *others)}) == 3


def test_labels_count_by_their_side():
    assert data_fingerprint(Problem.from_data(X, ["no", "yes"] * 3)) == data_fingerprint(Problem.from_data(X, Y))
    assert data_fingerprint(Problem.from_data(X, Y[::-1])) != data_fingerprint(Problem.from_data(X, Y))


@pytest.mark.parametrize("other", [X[::-1], X[:, ::-1], X + 1e-13, X.reshape(6, 2)[:, :1]])
def test_other_samples_have_another_one(other):
    assert data_fingerprint(Problem.from_data(other, Y)) != data_fingerprint(Problem.from_data(X, Y))


def test_large_data_are_read_in_blocks(monkeypatch):
    whole = data_fingerprint(Problem.from_data(X, Y))
    monkeypatch.setattr("hardmargin.fingerprint._BLOCK", 4)
    assert data_fingerprint(Problem.from_data(X, Y)) == whole


def test_results_know_their_data_and_seed():
    result = solve(X, Y, method="heuristic", seed=3)
    assert result.fingerprint == data_fingerprint(Problem.from_data(X, Y))
    assert result.seed == 3
    assert solve(scipy.sparse.csr_array(X), Y, method="heuristic").fingerprint == result.fingerprint
