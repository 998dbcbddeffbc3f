"""The solver against the optimum found by exhaustive search."""

from __future__ import annotations

from collections import Counter
from functools import cache

import numpy as np
import pytest

import hardmargin.methods
from brute_force import KINDS, Comparison, case_and_optimum, compared, optimum, random_case
from hardmargin import Problem

COUNT = 40 * len(KINDS)
EXACT_METHODS = ["packing", "directions", "auto"]


@cache
def comparisons_with(method: str) -> list[Comparison]:
    """Several hundred problems of all kinds, solved by one method and by brute force."""
    cases = [case_and_optimum(1, index) for index in range(COUNT)]
    return [compared(case, method, best=best) for case, best in cases]


# The paper's methods have their own test, on fewer problems, because a solver takes long to start.
NATIVE_METHODS = [name for name in hardmargin.methods.names() if name not in ("indicator", "benders")]


@pytest.fixture(params=NATIVE_METHODS)
def comparisons(request) -> list[Comparison]:
    return comparisons_with(request.param)


def test_no_promise_is_broken(comparisons) -> None:
    broken = {index: comparison.broken for index, comparison in enumerate(comparisons) if comparison.broken}
    assert broken == {}


def test_the_optimum_is_found_almost_always(comparisons) -> None:
    missed = Counter(comparison.case.kind for comparison in comparisons if not comparison.reached)
    assert missed.total() <= 0.01 * COUNT, missed


@pytest.mark.parametrize("method", EXACT_METHODS)
def test_an_exact_method_proves_almost_all(method: str) -> None:
    results = [(comparison.case.kind, comparison.result) for comparison in comparisons_with(method)]
    unproven = Counter(kind for kind, result in results if not result.optimal)
    assert unproven.total() <= 0.01 * COUNT, unproven


def test_the_cases_are_not_too_easy(comparisons) -> None:
    """In every kind except the separable one, some optima are neither w = 0 nor free of violations."""
    mixed = Counter(
        comparison.case.kind
        for comparison in comparisons
        if any(comparison.result.coef) and comparison.result.n_violations
    )
    assert {kind for kind in KINDS if mixed[kind] < 3} <= {"separable"}


def test_the_same_seed_gives_the_same_case() -> None:
    first, second, other = random_case(3, 5), random_case(3, 5), random_case(4, 5)
    assert np.array_equal(first.X, second.X)
    assert first.C == second.C != other.C


KNOWN = {
    "an outlier on a line": ([[0], [1], [3], [4], [9]], [0, 0, 1, 1, 0], 10.0, 10.5),
    "separable, margin 4": ([[0, 0], [0, 3], [4, 0], [4, 3]], [0, 0, 1, 1], 10.0, 0.125),
    "a support of three": ([[0, 0], [2, 2], [2, -2]], [0, 1, 1], 10.0, 0.5),
    "exclusive or": ([[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1], 10.0, 14.0),
    "giving up is cheaper": ([[0], [1], [3], [4]], [0, 0, 1, 1], 0.1, 0.2),
    "two classes on one point": ([[5, 5], [5, 5], [5, 5]], [0, 1, 1], 3.0, 3.0),
}


@pytest.mark.parametrize(("X", "y", "C", "expected"), KNOWN.values(), ids=KNOWN.keys())
def test_the_optimum_of_known_problems(X, y, C, expected) -> None:
    assert optimum(Problem.from_data(X, y, C)) == pytest.approx(expected, rel=1e-12)
