"""More than two classes as binary problems."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.utils.multiclass import _ovr_decision_function

from hardmargin.binary_problems import binary_problems, class_pairs, votes


def test_two_classes_are_one_problem() -> None:
    y = np.array(["b", "a", "b"])
    for multi_class in ("ovr", "ovo"):
        (problem,) = binary_problems(y, np.unique(y), multi_class)
        assert problem.rows.tolist() == [0, 1, 2]
        assert problem.labels is y
        assert problem.name == "'a' against 'b'"


def test_every_class_against_the_rest() -> None:
    y = np.array([5, 7, 6, 7])
    problems = binary_problems(y, np.unique(y), "ovr")
    assert [problem.labels.tolist() for problem in problems] == [
        [True, False, False, False],
        [False, False, True, False],
        [False, True, False, True],
    ]
    assert all(problem.rows.tolist() == [0, 1, 2, 3] for problem in problems)


def test_every_pair_of_classes() -> None:
    y = np.array([5, 7, 6, 7])
    problems = binary_problems(y, np.unique(y), "ovo")
    assert [problem.labels.tolist() for problem in problems] == [[5, 6], [5, 7, 7], [7, 6, 7]]
    assert [problem.name for problem in problems] == ["5 against 6", "5 against 7", "6 against 7"]


def test_other_splits_are_refused() -> None:
    with pytest.raises(ValueError, match="multi_class is 'crammer_singer'; expected 'ovr' or 'ovo'"):
        binary_problems(np.array([0, 1]), np.array([0, 1]), "crammer_singer")


@pytest.mark.parametrize("count", [3, 4, 7])
def test_votes_are_those_of_scikit_learn(count) -> None:
    values = np.random.default_rng(0).normal(size=(50, len(class_pairs(count))))
    expected = _ovr_decision_function((values > 0).astype(int), values, count)
    np.testing.assert_allclose(votes(values, count), expected)
