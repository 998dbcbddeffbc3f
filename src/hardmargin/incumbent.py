"""The best hyperplane known so far."""

from __future__ import annotations

from typing import NamedTuple

from hardmargin.arrays import FloatArray


class Incumbent(NamedTuple):
    """A hyperplane to improve on: the best one known before a method, or a part of it, starts."""

    coef: FloatArray
    intercept: float
