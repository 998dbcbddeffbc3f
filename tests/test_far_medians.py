"""Medians of features far from zero."""

from __future__ import annotations

import numpy as np
import pytest

from hardmargin import far_medians as module
from hardmargin.far_medians import far_medians


@pytest.mark.parametrize("n", [4001, 5000, 20_000])
@pytest.mark.parametrize("digits", [0, 1, 15])
def test_counting_changes_nothing(n, digits, monkeypatch) -> None:
    random = np.random.default_rng([n, digits])
    centres = np.concatenate([[0.0], 10 ** np.linspace(-3, 2, 30)]) * random.choice([-1, 1], 31)
    normal = random.standard_normal((31, n)) + centres[:, None]
    values = np.round(np.vstack([normal, random.standard_t(1.0, (3, n)), random.exponential(1.0, (3, n))]), digits)
    counted = far_medians(values)
    monkeypatch.setattr(module, "_MANY_SAMPLES", n)
    np.testing.assert_array_equal(counted, far_medians(values))
    # Both answers occur.
    assert 0 < np.count_nonzero(counted) < len(values)


def test_samples_in_a_misleading_order_are_noticed() -> None:
    values = np.full((1, 5000), 7.0)
    # All that is looked at first.
    values[0, ::5] = np.linspace(-1, 1, 1000)
    assert far_medians(values).tolist() == [7.0]


def test_counting_saves_medians(monkeypatch) -> None:
    monkeypatch.setattr(module, "_by_medians", None)
    assert far_medians(np.random.default_rng(0).standard_normal((3, 10_000))).tolist() == [0, 0, 0]
