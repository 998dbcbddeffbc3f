"""Bounds on the weights of a hyperplane: signs that are known in advance, and ranges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardmargin.arrays import FloatArray

#: A bound on a weight is met up to this share of it; bounds of zero are met exactly.
WEIGHT_TOLERANCE = 1e-9

# Features that an error message names.
_SHOWN = 8


@dataclass(frozen=True, eq=False)
class WeightBounds:
    """A lower and an upper bound for every weight, infinite where open.

    Attributes
    ----------
    lower, upper : ndarray of shape (m,)
    monotonic_cst : ndarray of int of shape (m,) or None
        The signs that are part of them, for the record.
    ranged : bool
        Whether they contain more than these signs.
    """

    lower: FloatArray
    upper: FloatArray
    monotonic_cst: NDArray[np.int8] | None = None
    ranged: bool = False

    def clipped(self, coef: FloatArray) -> FloatArray:
        """The nearest weights within the bounds."""
        nearest: FloatArray = np.clip(coef, self.lower, self.upper)
        return nearest

    def directed(self, coef: FloatArray) -> FloatArray:
        """The weights with zeros where no multiple of them has the sign that the bounds require."""
        against = ((self.lower >= 0) & (coef < 0)) | ((self.upper <= 0) & (coef > 0))
        return np.where(against, 0.0, coef)

    def hold(self, coef: FloatArray) -> bool:
        """Whether weights are within the bounds, up to the tolerance."""
        return len(self.violated(coef)) == 0

    def violated(self, coef: FloatArray) -> list[int]:
        """The features whose weights are outside the bounds by more than the tolerance."""
        sides = (self.lower, self.upper)
        missed = [WEIGHT_TOLERANCE * np.where(np.isfinite(side), np.abs(side), 0.0) for side in sides]
        low, high = self.lower - missed[0], self.upper + missed[1]
        # A weight that is not a number is outside.
        outside: list[int] = np.flatnonzero(~((coef >= low) & (coef <= high))).tolist()
        return outside

    @property
    def exclude_zero(self) -> NDArray[np.bool_]:
        """The features whose weight cannot be zero."""
        excluded: NDArray[np.bool_] = (self.lower > 0) | (self.upper < 0)
        return excluded

    def reduced(self, features: NDArray[np.intp], scale: float) -> WeightBounds:
        """The bounds of some features whose values are multiplied by a power of two."""
        with np.errstate(over="ignore"):
            return WeightBounds(self.lower[features] / scale, self.upper[features] / scale)

    def steps_within(self, coef: FloatArray, change: FloatArray) -> tuple[float, float]:
        """The smallest and the largest t for which the weights ``coef + t change`` are within the bounds.

        Examples
        --------
        >>> bounds = WeightBounds(np.array([0.0, 0.0]), np.array([2.0, np.inf]))
        >>> bounds.steps_within(np.ones(2), np.array([1.0, -1.0]))
        (-1.0, 1.0)
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            first, second = (self.lower - coef) / change, (self.upper - coef) / change
        moved = change != 0
        lows = np.where(change > 0, first, second)[moved]
        highs = np.where(change > 0, second, first)[moved]
        return float(lows.max(initial=-np.inf)), float(highs.min(initial=np.inf))


def feature_names(X: Any) -> list[str] | None:
    """The names of the columns of a DataFrame, if they are text."""
    columns = list(getattr(X, "columns", ()))
    return columns if columns and all(isinstance(name, str) for name in columns) else None


def by_position(monotonic_cst: Any, coef_bounds: Any, names: Sequence[str] | None) -> tuple[Any, Any]:
    """Signs and ranges in the order of the features where they are given by name; as they are otherwise.

    Raises
    ------
    ValueError
        If one of them is given by name and the features have none, or if there is no feature of that name.
    TypeError
        If the range of a feature is not a pair.

    Examples
    --------
    >>> by_position({"dose": 1}, {"age": (0, 2.5)}, ["age", "dose"])
    ([0, 1], ([0, None], [2.5, None]))
    """
    if isinstance(monotonic_cst, Mapping):
        known = _checked_names(monotonic_cst, names, "monotonic_cst")
        monotonic_cst = [monotonic_cst.get(name, 0) for name in known]
    if isinstance(coef_bounds, Mapping):
        known = _checked_names(coef_bounds, names, "coef_bounds")
        for name, ends in coef_bounds.items():
            if not isinstance(ends, (tuple, list)) or len(ends) != 2:
                raise TypeError(f"coef_bounds of {name!r} are {ends!r:.80}; expected a pair (low, high).")
        pairs = [coef_bounds.get(name, (None, None)) for name in known]
        coef_bounds = [low for low, _ in pairs], [high for _, high in pairs]
    return monotonic_cst, coef_bounds


def _checked_names(given: Mapping[Any, Any], names: Sequence[str] | None, parameter: str) -> Sequence[str]:
    if names is None:
        raise ValueError(
            f"{parameter} is a dict, but X has no feature names; expected values by position, or a DataFrame X."
        )
    for name in given:
        if name not in names:
            shown = ", ".join(names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")
            raise ValueError(f"{parameter} names {name!r}; expected features of X: {shown}.")
    return names


def validated_bounds(
    monotonic_cst: Any, coef_bounds: Any, m: int, names: Sequence[str] | None
) -> WeightBounds | None:
    """The bounds that signs and ranges define together; None if all weights are free.

    Raises
    ------
    ValueError
        If they have another shape, or no weight satisfies both.
    TypeError
        If they are not numbers.

    Examples
    --------
    >>> bounds = validated_bounds([1, 0, -1], (None, 5.0), 3, None)
    >>> bounds.lower.tolist(), bounds.upper.tolist()
    ([0.0, -inf, -inf], [5.0, 5.0, 0.0])
    """
    monotonic_cst, coef_bounds = by_position(monotonic_cst, coef_bounds, names)
    signs = None if monotonic_cst is None else _validated_signs(monotonic_cst, m)
    lower, upper = (np.full(m, -np.inf), np.full(m, np.inf))
    if coef_bounds is not None:
        lower, upper = _validated_range(coef_bounds, m, names)
    ranged = bool(np.isfinite(lower).any() or np.isfinite(upper).any())
    if signs is not None:
        lower = np.where(signs > 0, np.maximum(lower, 0.0), lower)
        upper = np.where(signs < 0, np.minimum(upper, 0.0), upper)
        signs = signs if signs.any() else None
    if (lower > upper).any():
        feature = int(np.flatnonzero(lower > upper)[0])
        raise ValueError(
            f"no weight of feature {_shown(feature, names)} satisfies both monotonic_cst and coef_bounds: it would "
            f"have to be at least {lower[feature]:g} and at most {upper[feature]:g}."
        )
    return WeightBounds(lower, upper, signs, ranged) if ranged or signs is not None else None


def _validated_signs(given: Any, m: int) -> NDArray[np.int8]:
    signs = np.asarray(given)
    if signs.shape != (m,):
        raise ValueError(f"monotonic_cst has shape {signs.shape}; expected ({m},), one sign per feature.")
    if signs.dtype.kind not in "iuf" or not np.isin(signs, (-1, 0, 1)).all():
        raise ValueError(
            "monotonic_cst has other values than 1 (increasing), -1 (decreasing) and 0 (no constraint); "
            "expected only these."
        )
    return signs.astype(np.int8)


def _validated_range(given: Any, m: int, names: Sequence[str] | None) -> tuple[FloatArray, FloatArray]:
    refusal = f"coef_bounds is {given!r:.80}; expected a pair (lower, upper) of numbers, arrays or None."
    if isinstance(given, (str, bytes)):
        raise TypeError(refusal)
    try:
        given = list(given)
        if len(given) != 2:
            raise ValueError(refusal)
        lower, upper = _validated_side(given[0], m, -np.inf), _validated_side(given[1], m, np.inf)
    except TypeError:
        raise TypeError(refusal) from None
    if np.isnan(lower).any() or np.isnan(upper).any():
        raise ValueError("coef_bounds contains NaN; expected numbers, and None or infinity where a weight is free.")
    wrong = ~(lower <= upper) | (lower == np.inf) | (upper == -np.inf)
    if wrong.any():
        feature = int(np.flatnonzero(wrong)[0])
        raise ValueError(
            f"coef_bounds of feature {_shown(feature, names)} are {lower[feature]:g} and {upper[feature]:g}; "
            "expected a lower bound that is at most the upper one, both finite or open."
        )
    return lower, upper


def _validated_side(side: Any, m: int, open_at: float) -> FloatArray:
    if side is None:
        return np.full(m, open_at)
    given = np.asarray(side, dtype=object)
    if any(isinstance(value, (str, bytes)) for value in given.ravel().tolist()):
        raise TypeError
    values = np.array([open_at if value is None else float(value) for value in given.ravel().tolist()])
    if given.ndim == 0:
        return np.full(m, values[0])
    if given.shape != (m,):
        raise ValueError(f"coef_bounds has a side of shape {given.shape}; expected ({m},), one bound per feature.")
    return values


def _shown(feature: int, names: Sequence[str] | None) -> str:
    return str(feature) if names is None else repr(names[feature])
