"""Hyperplanes that are shifted so that they keep one more sample."""

from __future__ import annotations

import numpy as np
import pytest

from brute_force import random_case
from hardmargin import Problem
from hardmargin.search.shifting import shifted


@pytest.mark.parametrize("index", range(28))
def test_the_sample_is_kept_at_no_more_than_the_cost_of_the_constant_model(index):
    case = random_case(31, index)
    problem = Problem.from_data(case.X, case.y, case.C, **case.weights)
    coef = np.random.default_rng(index).standard_normal(problem.m)
    found = list(shifted(problem, coef, range(problem.n)))
    assert len(found) == problem.n
    for row, (weights, intercept) in enumerate(found):
        evaluation = problem.evaluate(weights, intercept)
        assert row not in evaluation.violations
        flat = problem.evaluate(np.zeros(problem.m), problem.y[row])
        assert evaluation.objective <= flat.objective * (1 + 1e-9)


def test_the_best_shift_is_found():
    # Everything is kept, with the hyperplane between 5 and 9.
    problem = Problem.from_data([[0.0], [1.0], [4.0], [5.0], [9.0]], [0, 0, 0, 0, 1], C=1.0)
    (weights, intercept), *_ = shifted(problem, np.array([7.0]), [4])
    assert weights.tolist() == pytest.approx([0.5])
    assert intercept == pytest.approx(-3.5)
    assert problem.evaluate(weights, intercept).objective == pytest.approx(0.125)


def test_without_a_direction_the_constant_model_is_left():
    problem = Problem.from_data([[0.0], [1.0]], [0, 1])
    assert [(w.tolist(), b) for w, b in shifted(problem, np.zeros(1), [0, 1])] == [([0.0], -1.0), ([0.0], 1.0)]
