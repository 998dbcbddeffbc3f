"""Budgets: limits on how many samples may be given up, which take the place of the penalty C.

With a budget, :func:`hardmargin.solve` looks for the widest margin among the hyperplanes that stay within it. A
class whose samples are limited costs nothing in the objective; one without a limit costs C per sample, as always.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardmargin.arrays import FloatArray
from hardmargin.validation import is_real

#: Weights may add up to ``1 + BUDGET_TOLERANCE`` times a limit, because sums are rounded.
BUDGET_TOLERANCE = 1e-9


class BudgetError(ValueError):
    """No hyperplane within the budget is known.

    Attributes
    ----------
    proven : bool
        Whether it is proven that there is none. Otherwise the search ended before it had found one.
    """

    def __init__(self, message: str, *, proven: bool) -> None:
        super().__init__(message)
        self.proven = proven


@dataclass(frozen=True)
class Budget:
    """Limits on the total weight of the samples that may be given up; infinity means no limit.

    Attributes
    ----------
    negatives, positives : float
        Of each class.
    total : float
        Of both together.
    """

    negatives: float = math.inf
    positives: float = math.inf
    total: float = math.inf

    @classmethod
    def of(cls, max_violations: Any, classes: tuple[Any, Any]) -> Budget:
        """The caller's ``max_violations`` as limits.

        Parameters
        ----------
        max_violations : float or dict
            A limit on all samples, or limits by label.
        classes : tuple
            The two labels, the negative side first.

        Raises
        ------
        ValueError
            If a limit is not a number >= 0, or a label is not in the data.

        Examples
        --------
        >>> Budget.of(3, ("ill", "well"))
        Budget(negatives=inf, positives=inf, total=3.0)
        >>> Budget.of({"ill": 0}, ("ill", "well"))
        Budget(negatives=0.0, positives=inf, total=inf)
        """
        if not isinstance(max_violations, Mapping):
            return cls(total=_limit(max_violations, "max_violations"))
        if not max_violations:
            raise ValueError("max_violations is an empty dict; expected a limit for a label, a number or None.")
        for label in max_violations:
            if label not in classes:
                raise ValueError(
                    f"max_violations names {label!r}, which is not a label in y; "
                    f"expected {classes[0]!r} and {classes[1]!r}."
                )
        limits = {label: _limit(value, f"max_violations of {label!r}") for label, value in max_violations.items()}
        return cls(*(limits.get(label, math.inf) for label in classes))

    @property
    def limits_all(self) -> bool:
        """Whether both classes are limited, so that C is not used."""
        return math.isfinite(self.total) or (math.isfinite(self.negatives) and math.isfinite(self.positives))

    def limited(self, y: FloatArray) -> NDArray[np.bool_]:
        """Which samples are limited; the others cost C times their weight."""
        positive, negative = (math.isfinite(min(self.total, each)) for each in (self.positives, self.negatives))
        return np.where(y > 0, positive, negative)

    def groups(self, y: FloatArray) -> list[tuple[NDArray[np.bool_], float]]:
        """The samples of each limit, and the limit."""
        limits = ((np.ones(len(y), dtype=bool), self.total), (y < 0, self.negatives), (y > 0, self.positives))
        return [(samples, limit) for samples, limit in limits if math.isfinite(limit)]

    def scaled(self, factor: float) -> Budget:
        """The limits for weights that were multiplied by a factor."""
        return Budget(self.negatives * factor, self.positives * factor, self.total * factor)

    def relaxed(self) -> Budget:
        """The limits that sums of weights are compared with."""
        return self.scaled(1 + BUDGET_TOLERANCE)

    def cost(self, y: FloatArray, costs: FloatArray) -> float:
        """What it costs to give up samples: those that are not limited cost something; infinity beyond a limit.

        Parameters
        ----------
        y, costs : ndarray of shape (n_given_up,)
            Of the given-up samples.
        """
        if any(float(costs[samples].sum()) > limit for samples, limit in self.relaxed().groups(y)):
            return math.inf
        return float(costs[~self.limited(y)].sum())

    def as_argument(self, classes: tuple[Any, Any]) -> float | dict[Any, float]:
        """The inverse of :meth:`of`."""
        if math.isfinite(self.total):
            return self.total
        both = zip(classes, (self.negatives, self.positives), strict=True)
        return {label: limit for label, limit in both if math.isfinite(limit)}

    def text(self, classes: tuple[Any, Any]) -> str:
        """The limits in words.

        Examples
        --------
        >>> Budget(total=3.0).text((0, 1)), Budget(negatives=0.0, positives=2.5).text((0, 1))
        ('at most 3', 'at most 0 of label 0 and at most 2.5 of label 1')
        """
        given = self.as_argument(classes)
        if not isinstance(given, dict):
            return f"at most {given:g}"
        return " and ".join(f"at most {limit:g} of label {label!r}" for label, limit in given.items())


#: Limits nothing.
NO_BUDGET = Budget()


def _limit(value: Any, name: str) -> float:
    if not is_real(value) or not 0 <= value < math.inf:
        raise ValueError(f"{name} is {value!r}; expected a finite number >= 0.")
    return float(value)
