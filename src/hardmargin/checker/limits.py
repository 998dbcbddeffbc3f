"""Limits on what hyperplanes may give up: which hyperplanes a proof is about, and what a violation is worth in it.

A hyperplane is within the limits if the weights of the samples that it gives up add up to no more than each limit,
apart from a relative 1e-9. A limit is on all samples, or on those of a class. A sample that is limited costs
nothing in the objective; one that is not has its usual cost. Weights and costs are given in one array.

Let V be the weight that a hyperplane gives up of the samples of a limit L, and f its objective. For prices p >= 0

    f  >=  f + sum p (V - L)  =  1/2 ||w||^2 + sum c_i z_i - credit,        credit = sum p L,

summed over the limits, where c_i is p times the weight of a sample that is limited, and the cost of any other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from math import gcd, isfinite, lcm
from typing import Any, NamedTuple

from hardmargin.checker.errors import ProofError, UnreadableProofError

# Sums of weights may exceed a limit by this share: 1e-9, and the rounding of a limit that is relaxed by as much.
_TOLERANCE = Fraction(1, 10**9) + Fraction(1, 2**50)
#: The classes, by number.
NEGATIVE, POSITIVE = 0, 1
_CLASSES = {"all": (NEGATIVE, POSITIVE), "-1": (NEGATIVE,), "1": (POSITIVE,)}


class Limit(NamedTuple):
    """The most weight that may be given up of some classes, and its price."""

    classes: tuple[int, ...]
    most: Fraction
    price: Fraction


class Priced(NamedTuple):
    """Limits with their prices.

    Attributes
    ----------
    limits : tuple of Limit
    rates : tuple of Fraction
        By class: the factor from weights, or costs, to costs at these prices.
    unlimited : tuple of int
        The classes that have their usual cost.
    """

    limits: tuple[Limit, ...]
    rates: tuple[Fraction, Fraction]
    unlimited: tuple[int, ...]

    @property
    def credit(self) -> Fraction:
        """What limited samples that are given up cost at most."""
        return sum((limit.price * limit.most for limit in self.limits), Fraction(0))

    def credits(self, weights: Iterable[tuple[int, Fraction]]) -> list[tuple[tuple[int, ...], Fraction]]:
        """For each limit, its classes, and what samples of these weights cost at most if it is kept.

        What is given up is a sum of some of the weights, so a limit can be rounded down to a multiple of a number
        of which all of them are multiples.

        Parameters
        ----------
        weights : iterable of (int, Fraction)
            The class and the weight of each sample.
        """
        distinct = set(weights)
        found = []
        for classes, most, price in self.limits:
            unit = common_unit(weight for k, weight in distinct if k in classes)
            found.append((classes, price * (most // unit * unit if unit else 0)))
        return found


class Limits:
    """The limits of a problem; there are none if ``max_violations`` is None.

    Parameters
    ----------
    max_violations : number or mapping, optional
        The limit on all samples, or the limits of the labels -1 and 1.
    """

    def __init__(self, max_violations: Any = None) -> None:
        #: As the header of a proof has them; None if there are none.
        self.stated = _stated(max_violations)

    def priced(self, prices: Any) -> Priced:
        """What follows from prices, one for each limit in the order of ``stated``.

        Raises
        ------
        UnreadableProofError
            If they are not a list of numbers.
        ProofError
            If there is not one for each limit, or if one is negative.
        """
        if not isinstance(prices, list) or not all(
            isinstance(price, float) and isfinite(price) for price in prices
        ):
            raise UnreadableProofError("a piece has no list of prices.")
        stated = self.stated or {}
        if len(prices) != len(stated) or min(prices, default=0.0) < 0:
            raise ProofError("a piece does not have one price for each limit, or a negative one.")
        limits = tuple(
            Limit(_CLASSES[name], Fraction(most) * (1 + _TOLERANCE), Fraction(price))
            for (name, most), price in zip(stated.items(), prices, strict=True)
        )
        # There is one limit on all samples, or one for each of some classes.
        rates = {k: limit.price for limit in limits for k in limit.classes}
        one = Fraction(1)
        unlimited = tuple(k for k in (NEGATIVE, POSITIVE) if k not in rates)
        return Priced(limits, (rates.get(NEGATIVE, one), rates.get(POSITIVE, one)), unlimited)


def _stated(max_violations: Any) -> dict[str, float] | None:
    if max_violations is None:
        return None
    given = max_violations if isinstance(max_violations, Mapping) else {"all": max_violations}
    if isinstance(max_violations, Mapping) and not (given and set(given) <= {-1, 1}):
        raise ValueError("max_violations must be a number, or have limits for the labels -1 and 1.")
    limits = {str(int(key)) if key != "all" else "all": float(given[key]) for key in sorted(given)}
    if not all(isfinite(limit) and limit >= 0 for limit in limits.values()):
        raise ValueError("limits on violations must be finite and not negative.")
    return limits


def common_unit(weights: Iterable[Fraction]) -> Fraction:
    """The largest number of which all weights are multiples; 0 if they are zero.

    Examples
    --------
    >>> common_unit([Fraction(3), Fraction(9, 2)])
    Fraction(3, 2)
    """
    exact = list(weights)
    denominator = lcm(*(weight.denominator for weight in exact))
    return Fraction(gcd(*(int(weight * denominator) for weight in exact)), denominator)


def same_prices(pieces: Sequence[Mapping[str, Any]]) -> list[float]:
    """The prices of all pieces of a proof.

    Raises
    ------
    ProofError
        If they differ.
    """
    prices = [piece.get("prices", []) for piece in pieces]
    if any(other != prices[0] for other in prices):
        raise ProofError("pieces have different prices.")
    return list(prices[0])
