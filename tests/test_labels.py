"""Labels that are equal although they were read differently."""

from __future__ import annotations

import numpy as np
import pytest

from hardmargin.labels import same_label


@pytest.mark.parametrize(
    ("first", "second"),
    [(1, 1), (1, 1.0), (1, "1"), (1, "1.0"), (-0.5, "-5e-1"), ("a", "a"), (True, 1), (np.float64(2), "2")],
)
def test_the_same(first, second) -> None:
    assert same_label(first, second)
    assert same_label(second, first)


@pytest.mark.parametrize(
    ("first", "second"), [(1, 2), (1, "2"), ("1", "1.0"), ("a", 1), ("a", "b"), (10**400, "1")]
)
def test_not_the_same(first, second) -> None:
    assert not same_label(first, second)
    assert not same_label(second, first)
