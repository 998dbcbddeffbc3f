"""Prior knowledge: which hyperplanes a proof is about.

A hyperplane is admissible if it keeps all trusted samples, and if its weights are within their bounds. Then

* z_i = 0 for every trusted sample. So its cost may be any number in a proof, and it may be in several pieces.
* w_k >= lower_k and -w_k >= -upper_k are rows a.w >= d that certificates may use in addition to those of samples.

If there are limits on what is given up (:mod:`hardmargin.checker.limits`), it is within them, too.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardmargin.checker.certificates import ExtraRow
from hardmargin.checker.errors import ProofError, UnreadableProofError
from hardmargin.checker.limits import Limits
from hardmargin.checker.samples import exponent_of, numbers_hash, scaled


class Constraints:
    """What admissible hyperplanes have in common.

    Parameters
    ----------
    n, m : int
        Numbers of samples and features.
    trusted : sequence of n booleans, optional
        The samples that must be kept.
    monotonic_cst : sequence of m numbers, optional
        1 if a weight must not be negative, -1 if it must not be positive, 0 otherwise.
    coef_bounds : pair of sequences of m numbers, optional
        The least and the greatest value of every weight, infinite where there is none.
    limits : Limits, optional
        Limits on what is given up.
    """

    def __init__(
        self,
        n: int,
        m: int,
        trusted: Any = None,
        monotonic_cst: Any = None,
        coef_bounds: Any = None,
        limits: Limits | None = None,
    ) -> None:
        mask = np.zeros(n, dtype=bool) if trusted is None else np.asarray(trusted)
        if mask.shape != (n,) or mask.dtype != np.bool_:
            raise ValueError("trusted must be a mask, True or False for every sample.")
        signs = np.zeros(m) if monotonic_cst is None else np.asarray(monotonic_cst, dtype=np.float64)
        if signs.shape != (m,) or not np.isin(signs, (-1, 0, 1)).all():
            raise ValueError("monotonic_cst must be -1, 0 or 1 for every feature.")
        given = (np.full(m, -np.inf), np.full(m, np.inf)) if coef_bounds is None else coef_bounds
        lower, upper = (np.asarray(side, dtype=np.float64) for side in given)
        if lower.shape != (m,) or upper.shape != (m,):
            raise ValueError("coef_bounds must be a pair: the least and the greatest value of every weight.")
        lower = np.where(signs > 0, np.maximum(lower, 0.0), lower)
        upper = np.where(signs < 0, np.minimum(upper, 0.0), upper)
        if not ((lower <= upper) & (lower < np.inf) & (upper > -np.inf)).all():
            raise ValueError("no weight is within its bounds.")
        self.trusted = frozenset(np.flatnonzero(mask).tolist())
        # Without negative zeros, which would have another hash.
        self.lower, self.upper = lower + 0.0, upper + 0.0
        self.limits = Limits() if limits is None else limits

    @property
    def bounded(self) -> bool:
        """Whether a weight is bounded."""
        return bool(np.isfinite(self.lower).any() or np.isfinite(self.upper).any())

    @property
    def names(self) -> tuple[str, ...]:
        """What is constrained, in words."""
        named = (
            ("keep the trusted samples", self.trusted),
            ("respect the bounds on weights", self.bounded),
            ("are within the limits on violations", self.limits.stated),
        )
        return tuple(name for name, given in named if given)

    def stated(self) -> dict[str, Any]:
        """What the header of a proof says about the constraints; None for those that are not there."""
        bounds = np.concatenate([self.lower, self.upper])
        return {
            "trusted": numbers_hash(sorted(self.trusted)) if self.trusted else None,
            "coef_bounds": numbers_hash(bounds) if self.bounded else None,
            "limits": self.limits.stated,
        }

    def keep(self, group: Iterable[int]) -> bool:
        """Whether admissible hyperplanes keep a sample that stands for these identical rows of the data."""
        return not self.trusted.isdisjoint(group)

    def rows(self, numbers: Any, exponent: int, scale_exponent: int) -> tuple[list[ExtraRow], int]:
        """Rows of bounds on weights, and the ``extra`` of their integers (see :class:`ExtraRow`).

        Parameters
        ----------
        numbers : list of int
            2 k is the lower bound of weight k, 2 k + 1 the upper one.
        exponent : int
            Of the samples.
        scale_exponent : int
            Rows are divided by 2^scale_exponent, because multipliers refer to w divided by that.
        """
        if not isinstance(numbers, list) or not all(type(number) is int for number in numbers):
            raise UnreadableProofError("a piece has no list of bounds on weights.")
        # So there are no more than the problem has, however long the list is.
        if len(set(numbers)) < len(numbers):
            raise ProofError("a piece lists a bound on a weight twice.")
        sides: list[tuple[int, int, float]] = []
        for number in numbers:
            column, sign = number >> 1, -1 if number & 1 else 1
            bound = _at(self.upper if number & 1 else self.lower, column)
            sides.append((column, sign, sign * bound))
        demands = exponent_of([demand for _, _, demand in sides])
        extra = max(0, scale_exponent + demands, scale_exponent - exponent)
        one = 1 << exponent + extra - scale_exponent
        rows = [
            ExtraRow([(column, sign * one)], scaled(demand, extra - scale_exponent))
            for column, sign, demand in sides
        ]
        return rows, extra


def _at(side: NDArray[np.float64], column: int) -> float:
    bound = float(side[column]) if 0 <= column < len(side) else np.inf
    if not np.isfinite(bound):
        raise ProofError("a piece refers to a bound on a weight that has none.")
    return bound
