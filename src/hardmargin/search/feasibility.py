"""A first hyperplane that keeps the trusted samples, or a proof that there is none.

The methods know no constraints on samples, only costs. So trust becomes a cost: let U be the objective of a
hyperplane that keeps all trusted samples, and give each of them a cost above U. A hyperplane that keeps them costs
as much as before, and one that does not costs more than U, which the optimum does not. So both problems have the
same optimum and the same optimal hyperplanes, every lower bound of one holds for the other, and a method that
starts from that first hyperplane never returns one that violates trust. The core keeps samples whose cost reaches
the objective of the incumbent from the root on, and judges whether costs are equal by the others
(``core/base/samples.h``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardmargin import _core
from hardmargin.arrays import FloatArray
from hardmargin.incumbent import Incumbent
from hardmargin.limits import Limits
from hardmargin.problem import Problem

# Values of the trusted samples that are made dense; and, if they have more, the number of samples whose products
# with each other are.
_DENSE_VALUES = 50_000_000
_PRODUCTS = 4000
# Costs must stay finite.
_LARGEST_EXPONENT = 1023
# Singular directions of these products below this share of the largest one are rounding.
_RANK = 1e-13


class ContradictionError(Exception):
    """No hyperplane keeps these samples together, but one keeps all except any one of them.

    Attributes
    ----------
    rows : list of int
        Of the problem.
    """

    def __init__(self, rows: Sequence[int]) -> None:
        super().__init__(rows)
        self.rows = list(rows)


class UndecidedError(Exception):
    """Rounding errors or the time limit prevented an answer."""


def feasible_hyperplane(problem: Problem, limits: Limits) -> Incumbent:
    """The shortest hyperplane within the bounds on the weights that keeps all trusted samples of a problem.

    Without trusted samples, it keeps the class that costs more.

    Raises
    ------
    ContradictionError
        If there is none.
    UndecidedError
        If the time is up, or rounding errors prevent a decision.
    ValueError
        If there are too many trusted samples in sparse data.
    """
    if problem.trusted is None:
        return _shortest_within_bounds(problem)
    rows = np.flatnonzero(problem.trusted)
    shortest = _Shortest(problem, rows, limits)
    if not shortest.solved(range(len(rows))):
        raise ContradictionError([int(rows[k]) for k in _irreducible(shortest)])
    fitted = problem.fitted(*shortest.hyperplane(), problem.trusted)
    if not math.isfinite(problem.evaluate(*fitted).objective):
        raise UndecidedError
    return Incumbent(*fitted)


def _shortest_within_bounds(problem: Problem) -> Incumbent:
    """The shortest weights within the bounds; the bias keeps the class that costs more."""
    assert problem.bounds is not None
    coef = problem.bounds.clipped(np.zeros(problem.m))
    positives, negatives = (float(problem.costs[problem.y == label].sum()) for label in (1, -1))
    label = 1.0 if positives >= negatives else -1.0
    margins = problem.evaluate(coef, 0.0).margins[problem.y == label]
    return Incumbent(coef, label * (1.0 - float(margins.min(initial=0.0))))


def with_certain_costs(problem: Problem, objective: float) -> Problem:
    """The problem with a cost for every trusted sample that is above the objective of a known hyperplane.

    The cost is a power of two, so that it does not depend on the last digits of the objective.
    """
    if problem.trusted is None:
        return problem
    largest = max(objective, float(problem.costs.max()))
    certain = math.ldexp(1.0, min(math.frexp(largest)[1] + 1, _LARGEST_EXPONENT))
    return replace(problem, costs=np.where(problem.trusted, certain, problem.costs))


def _irreducible(shortest: _Shortest) -> list[int]:
    """From rows that cannot be kept together, an irreducible part: without any one of them, the others can be.

    The proof that they cannot has at most m + 2 rows, by Helly's theorem. Then each of them is left out in turn,
    and for good if the others still cannot be kept together.
    """
    members = shortest.proof
    k = 0
    while k < len(members):
        others = [*members[:k], *members[k + 1 :]]
        if shortest.solved(others):
            k += 1
        else:
            needed = set(shortest.proof)
            # Those before k are needed in a larger set, and so in this one.
            members = [row for j, row in enumerate(members) if j != k and (j < k or row in needed)]
    return sorted(members)


class _Shortest:
    """The max-margin problem over the trusted samples, which are few or have few features."""

    def __init__(self, problem: Problem, rows: NDArray[np.intp], limits: Limits) -> None:
        self._limits = limits
        self._m = problem.m
        self._y = np.ascontiguousarray(problem.y[rows])
        self._X: Any = problem.X[rows]
        self._features: NDArray[np.intp] | None = None
        dense: Any = self._X
        if problem.sparse:
            features = self._features = np.unique(dense.indices)
            small = len(rows) * max(1, len(features)) <= _DENSE_VALUES or problem.bounds is not None
            dense = dense[:, features].toarray() if small else self._coordinates()
        bounds = problem.core_bounds
        # Features without values have the weight nearest to zero.
        self._rest = np.zeros(self._m) if problem.bounds is None else problem.bounds.clipped(np.zeros(self._m))
        if bounds is not None and self._features is not None:
            bounds = (bounds[0][self._features], bounds[1][self._features])
        self._solver = _core.MaxMargin(np.ascontiguousarray(dense), self._y, bounds)
        self._enabled: set[int] = set()

    def _coordinates(self) -> FloatArray:
        """Coordinates of sparse samples that have the same products with each other."""
        if len(self._y) > _PRODUCTS:
            raise ValueError(
                f"trusted names {len(self._y)} samples of sparse data with {len(self._features or ())} features; "
                f"expected at most {_PRODUCTS} of them, or fewer features."
            )
        self._features = None
        values, vectors = np.linalg.eigh((self._X @ self._X.T).toarray())
        used = values > _RANK * max(float(values[-1]), 0.0)
        coordinates: FloatArray = vectors[:, used] * np.sqrt(values[used])
        return coordinates

    def solved(self, rows: Sequence[int]) -> bool:
        """Whether these rows can be kept together; if not, :attr:`proof` has those that prove it."""
        wanted = set(rows)
        for row in self._enabled - wanted:
            self._solver.disable(row)
        for row in wanted - self._enabled:
            self._solver.enable(row)
        self._enabled = wanted
        status = self._solver.solve(seconds=self._limits.remaining())
        if status is _core.MaxMarginStatus.failed:
            # Once more from the beginning, without rounding errors of the way here.
            self._solver.forget()
            status = self._solver.solve(seconds=self._limits.remaining())
        if status is _core.MaxMarginStatus.failed:
            raise UndecidedError
        return status is _core.MaxMarginStatus.optimal

    @property
    def proof(self) -> list[int]:
        """Of rows that cannot be kept together, those that prove it."""
        return sorted(self._solver.proof)

    def hyperplane(self) -> tuple[FloatArray, float]:
        """The shortest one, in the features of the problem."""
        weights = np.array(self._solver.weights)
        if isinstance(self._X, np.ndarray):
            return weights, self._solver.bias
        coef = self._rest
        if self._features is not None:
            coef[self._features] = weights
        else:
            for row, multiplier in self._solver.support:
                coef += multiplier * self._y[row] * self._X[[row]].toarray()[0]
        return coef, self._solver.bias
