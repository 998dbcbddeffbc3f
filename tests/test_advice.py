"""What is said about constant models."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse

import hardmargin.advice
from hardmargin import Problem, Result, Status, solve
from hardmargin.advice import constant_model_text

X = np.array([[0.0], [0.1], [0.2], [0.3], [0.7], [0.8], [0.9], [1.0]])
y = np.array(["low"] * 4 + ["top"] * 4)


def model(coef: float, intercept: float, C: float = 1.0, status: Status = Status.HEURISTIC) -> Result:
    problem = Problem.from_data(X, y, C)
    return Result.of(problem, [coef], intercept, lower_bound=0.0, status=status, method="auto", runtime=0.5)


def test_a_model_that_is_better_is_not_talked_about() -> None:
    assert constant_model_text(X, y, solve(X, y, 10.0), 60.0) is None


@pytest.mark.parametrize(("intercept", "label"), [(-1.0, "'low'"), (1.0, "'top'")])
def test_a_model_without_direction(intercept, label) -> None:
    text = constant_model_text(X, y, model(0.0, intercept), 60.0)
    assert text.startswith(
        f"The model is the constant one, w = 0, which predicts {label} for every sample. C = 1 is"
    )
    assert "too small for the scale of these data: from C = 2.67 on" in text
    assert "a hyperplane that gives up 1 of 8 samples costs less than the constant model" in text


def test_the_smallest_useful_c_may_be_what_scale_means() -> None:
    """C = "scale" is recommended only where it is well above the smallest useful C."""
    text = constant_model_text(X, y, model(0.0, 1.0), None)
    assert text.endswith('Try C = "scale", which is 74.1 here.')
    others = np.vstack([X, 20 * np.ones((1, 1))])
    labels = np.append(y, "low")
    result = solve(others, labels, 1.0)
    assert constant_model_text(others, labels, result, None).endswith("Try several times that.")


def test_a_proof_is_told() -> None:
    assert " At C = 1, this is proven optimal. " in constant_model_text(X, y, solve(X, y, 1.0), 60.0)


def test_one_label_for_all_samples() -> None:
    text = constant_model_text(X, y, model(1e-9, -1.0), 60.0)
    assert text.startswith("The model predicts 'low' for every training sample. ")


def test_hardly_better_than_the_constant_model() -> None:
    result = solve(X, y, 2.69)
    assert any(result.coef)
    text = constant_model_text(X, y, result, 60.0)
    assert text.startswith("The model is hardly better than the constant one, which predicts one label for")
    assert "its objective is 10.69, that of the constant one 10.76." in text
    assert "from C = 2.67 on" in text
    assert constant_model_text(X, y, solve(X, y, 2.8), 60.0) is None


def test_a_search_that_missed_the_best_one() -> None:
    text = constant_model_text(X, y, model(0.0, 1.0, C=100.0), 60.0)
    assert (
        "It is not the best one: a hyperplane that gives up 1 of 8 samples costs 108, the constant model 400."
        in text
    )


def test_c_is_not_the_reason() -> None:
    samples, labels = np.array([[-1.0], [0.0], [1.0]]), np.array([0, 1, 0])
    text = constant_model_text(samples, labels, solve(samples, labels, 1.0), 60.0)
    assert "C is not the reason: with a much larger C, too, no hyperplane was found" in text


@pytest.mark.parametrize(
    ("status", "limit"), [(Status.TIME_LIMIT, 0.5), (Status.STALLED, 0.25), (Status.INTERRUPTED, None)]
)
def test_nothing_is_searched_for_when_time_is_up(status, limit, monkeypatch) -> None:
    monkeypatch.setattr(hardmargin.advice, "useful_hyperplane", None)
    text = constant_model_text(X, y, model(0.0, 1.0, status=status), limit)
    assert text.endswith(
        "Either C = 1 is too small for the scale of these data, or the search was too short: use a larger C, for "
        'instance C = "scale", which is 74.1 here, or search longer.'
    )


@pytest.mark.parametrize(
    ("limit", "expected"), [(None, 5.0), (1000.0, 5.0), (100.0, 2.0), (60.0, 1.2), (10.0, 1.0), (1.2, 0.7)]
)
def test_the_search_is_short(limit, expected, monkeypatch) -> None:
    seconds = []

    def search(*_, time_limit: float, **__):
        seconds.append(time_limit)
        raise ValueError("out of range")

    monkeypatch.setattr(hardmargin.advice, "useful_hyperplane", search)
    constant_model_text(X, y, model(0.0, 1.0), limit)
    assert seconds == [pytest.approx(expected)]


def test_weights_count() -> None:
    weights = np.array([1.0, 1, 1, 1, 2, 2, 2, 0])
    result = solve(X, y, 1.0, sample_weight=weights)
    assert result.optimal
    assert "from C = 2.67 on, a hyperplane that gives up 1 of 8" in constant_model_text(X, y, result, 60.0)
    # The cheaper class weighs 4, so at C = 3.2 the hyperplane is better.
    assert constant_model_text(X, y, solve(X, y, 3.2, sample_weight=weights), 60.0) is None


def test_sparse_samples() -> None:
    text = constant_model_text(scipy.sparse.csr_array(X), y, model(1e-9, -1.0), 60.0)
    assert text == constant_model_text(X, y, model(1e-9, -1.0), 60.0)


def test_samples_out_of_range_are_no_error() -> None:
    tiny = 1e-170 * X
    result = replace(model(0.0, 1.0), C=1.0)
    assert "use a larger C, or search longer" in constant_model_text(tiny, y, result, 60.0)
