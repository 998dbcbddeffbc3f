"""Random parts of the samples, each larger than the one before, for a search that begins with few of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from hardmargin.arrays import FloatArray
from hardmargin.problem import Problem
from hardmargin.search.scaled_samples import ScaledSamples, Scaling, robust_scaling

# The first part of the samples: rows, and values unless these are too few rows.
_PART_ROWS = 10_000
_PART_VALUES = 4_000_000
_LEAST_ROWS = 2000
# The smaller class makes up at least this share of a part.
_LEAST_CLASS_SHARE = 0.25
# Each part has this many times the rows of the one before, and at most this share of all rows.
_GROWTH = 8
_LARGEST_FIRST = 0.5
_LARGEST_LATER = 0.1


class SampleParts:
    """Parts of the samples of a problem.

    Parameters
    ----------
    problem : Problem
    costs : ndarray of shape (n,)
        Costs of the samples, which need not be those of the problem.
    random : numpy.random.Generator
        Draws the parts.
    """

    def __init__(self, problem: Problem, costs: FloatArray, random: np.random.Generator) -> None:
        self._problem = problem
        self._costs = costs
        self._random = random
        self._first: ScaledSamples | None = None

    @property
    def first(self) -> ScaledSamples:
        """The first part, which is drawn only once."""
        if self._first is None:
            X, y, costs = self._drawn(self._rows_of(0))
            self._first = ScaledSamples(X, y, costs, robust_scaling(X))
        return self._first

    @property
    def whole(self) -> ScaledSamples:
        """All samples; the first part itself if it has them all."""
        first = self.first
        if self.is_whole(first):
            return first
        return ScaledSamples(self._problem.X, self._problem.y, self._costs, first.scaling)

    @property
    def scaling(self) -> Scaling:
        """The scaling of the features, which all parts share."""
        return self.first.scaling

    def later(self, index: int) -> ScaledSamples:
        """The part with this index, from 1 on; each is larger than the one before, up to all samples."""
        return ScaledSamples(*self._drawn(self._rows_of(index)), self.scaling)

    def is_whole(self, part: ScaledSamples) -> bool:
        """Whether a part has all samples."""
        return part.X is self._problem.X

    def _rows_of(self, index: int) -> int:
        """How many rows a part has; all if it would be too large a copy."""
        n = self._problem.n
        values_per_row = max(1.0, self._problem.stored_values / n)
        count = int(np.clip(_PART_VALUES / values_per_row, _LEAST_ROWS, _PART_ROWS)) * _GROWTH**index
        return count if count <= n * (_LARGEST_FIRST if index == 0 else _LARGEST_LATER) else n

    def _drawn(self, count: int) -> tuple[Any, FloatArray, FloatArray]:
        """Random samples with enough of both classes, whose costs add up to those of all samples."""
        problem = self._problem
        if count >= problem.n:
            return problem.X, problem.y, self._costs
        smaller, larger = sorted((np.flatnonzero(problem.y == label) for label in (-1.0, 1.0)), key=len)
        share = max(len(smaller) / problem.n, _LEAST_CLASS_SHARE)
        few = min(len(smaller), int(share * count))
        rows = [
            self._random.choice(members, min(len(members), size), replace=False)
            for members, size in ((smaller, few), (larger, count - few))
        ]
        costs = [
            self._costs[drawn] * (float(self._costs[members].sum()) / float(self._costs[drawn].sum()))
            for members, drawn in zip((smaller, larger), rows, strict=True)
            if len(drawn) > 0
        ]
        drawn = np.concatenate(rows)
        order = np.argsort(drawn)
        drawn = drawn[order]
        return problem.X[drawn], problem.y[drawn], np.concatenate(costs)[order]
