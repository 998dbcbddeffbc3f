"""The comparison of ways to find wrong labels: its draws, and its measure."""

from __future__ import annotations

import numpy as np
import pytest

from scripts import loaded


@pytest.fixture(scope="module")
def study():
    return loaded("benchmarks/label_errors.py")


@pytest.mark.parametrize(
    "kind", ["flipped", "overlapping", "near", "far", "cluster", "breast-cancer", "iris", "wine"]
)
def test_draws_are_repeatable_and_have_some_wrong_labels(study, kind):
    draw, again = (study.KINDS[kind](np.random.default_rng(3)) for _ in range(2))
    assert all(map(np.array_equal, draw, again))
    assert set(draw.y) == {-1, 1}
    assert len(draw.X) == len(draw.y) == len(draw.wrong)
    assert 0.04 < draw.wrong.mean() < 0.13


def test_precision_is_the_share_of_wrong_labels_among_the_first(study):
    wrong = np.array([True, False, True, False, False])
    assert study.precision(np.array([2, 0, 1, 3, 4]), wrong) == 1
    assert study.precision(np.array([2, 1, 0, 3, 4]), wrong) == 0.5


def test_every_ranking_gets_its_figures(study):
    generator = np.random.default_rng(0)
    draw = study.flipped(*study.gaussian(40, 2, generator, apart=6.0), 0.1, generator)
    figures = {**study.price_ranking(draw, 1.0, 60.0), **study.other_rankings(draw)}
    assert figures["price"] == figures["margin"] == 1
    assert figures["given up"] == 4
    assert figures["exact"] == 1
    assert 0 <= figures["hinge"] <= 1
    assert 0 <= figures["logistic"] <= 1
