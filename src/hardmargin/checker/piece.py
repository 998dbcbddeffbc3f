"""A piece of a proof: some samples, a share of the norm, and the bound that its records prove."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import isfinite
from typing import Any

from hardmargin.checker.constraints import Constraints
from hardmargin.checker.errors import ProofError, UnreadableProofError
from hardmargin.checker.samples import Samples, row_values

# Bits of the unit of costs below what the costs themselves need: weights are rounded down to it.
_SPARE_BITS = 80
# A trusted sample is given up by no admissible hyperplane, so its cost may be any number. This one, as a power of
# two, is above all that records contain.
_TRUSTED_COST = 2000


class Piece:
    """What the records of a piece refer to.

    The claim: with z_i = 1 for samples with y (w.x + b) < 1 and 0 for others, every admissible (w, b) has

        share / 2 ||w||^2 + sum cost_i z_i >= bound,        summed over the samples of the piece.

    Identical rows of the data are one sample, whose cost is the sum of theirs: a hyperplane treats them alike.

    If there are limits on what is given up, cost_i is what a sample costs at the prices of the piece
    (:mod:`hardmargin.checker.limits`). The records of most pieces know nothing else about the limits. If those of a
    piece do, its bound is another one: no hyperplane within the limits has an objective below it. If one had, then

        share / 2 ||w||^2 + sum cost_i z_i < bound + credit.

    So records have to show that every hyperplane within the limits reaches the sum on the right, as for any other
    piece. They may use in addition that it gives up no more than the limits allow, and that its norm term would be
    below the bound minus the cost of given-up samples that are not limited.

    Parameters
    ----------
    samples : Samples
        The whole data.
    groups : sequence of sequences of int
        The rows of the data that each sample stands for.
    header : dict
        The piece in the header of the proof: "kind", "share", "bound", and "exponent", the power of two by which
        weights in records are multiplied. With limits on what is given up, also "prices", and "limited": whether
        the records know the limits.
    copies : sequence of int
        How many samples of the records each sample is; each has an equal part of its cost. One each if empty.
    constraints : Constraints, optional
        Which hyperplanes are admissible; all if there are none.

    Attributes
    ----------
    costs : list of int
        In units of 2^-unit_exponent.
    bound : int
        In the same unit: what records have to reach.
    classes : list of int
        The class of each sample by number, as in :mod:`hardmargin.checker.limits`.
    """

    def __init__(
        self,
        samples: Samples,
        groups: Sequence[Sequence[int]],
        header: dict[str, Any],
        copies: Sequence[int] = (),
        constraints: Constraints | None = None,
    ) -> None:
        known = Constraints(samples.n, samples.m) if constraints is None else constraints
        self.samples = samples
        self.kind = header.get("kind")
        exponent, share, bound = header.get("exponent"), header.get("share"), header.get("bound")
        if type(exponent) is not int or abs(exponent) > 1 << 16:
            raise UnreadableProofError("a piece has no exponent.")
        self.exponent: int = exponent
        if not (isinstance(share, float) and isinstance(bound, float) and isfinite(share) and isfinite(bound)):
            raise UnreadableProofError("a piece has no share or no bound.")
        if not 0 < share <= 1 or bound < 0:
            raise ProofError(f"a piece has the share {share} and the bound {bound}.")
        self.share = Fraction(share).as_integer_ratio()
        self.exact_bound = Fraction(bound)
        priced = known.limits.priced(header.get("prices", []))
        #: Whether the records know the limits on what is given up.
        self.limited = header.get("limited", False)
        if type(self.limited) is not bool:
            raise UnreadableProofError("a piece does not say whether its records know the limits.")
        if self.limited and not priced.limits:
            raise ProofError("the records of a piece know limits, and there are none.")
        weights = [sum((Fraction(float(samples.costs[row])) for row in group), Fraction(0)) for group in groups]
        classes = [int(samples.label(group[0]) > 0) for group in groups]
        costs = [priced.rates[k] * weight for k, weight in zip(classes, weights, strict=True)]
        credits = priced.credits(zip(classes, weights, strict=True)) if self.limited else []
        credit = sum((most for _, most in credits), Fraction(0))
        counts = copies or [1] * len(groups)
        self.rows = [group[0] for group, count in zip(groups, counts, strict=True) for _ in range(count)]
        self.classes = [int(samples.label(row) > 0) for row in self.rows]
        denominators = [self.exact_bound.denominator, *(cost.denominator for cost in costs)]
        denominators += [most.denominator for _, most in credits]
        self.unit_exponent = max(denominators).bit_length() - 1 + _SPARE_BITS
        unit = 1 << self.unit_exponent
        whole = [
            unit << _TRUSTED_COST if known.keep(group) else int(cost * unit)
            for group, cost in zip(groups, costs, strict=True)
        ]
        self.costs = [cost // count for cost, count in zip(whole, counts, strict=True) for _ in range(count)]
        self.bound = int((self.exact_bound + credit) * unit)
        # With limits: the bound itself, and the most that may be given up of these classes.
        self._target = int(self.exact_bound * unit)
        self._unlimited = priced.unlimited if self.limited else ()
        self._most = [(classes, int(most * unit)) for classes, most in credits]
        # Samples that cost as much as the bound are given up by no hyperplane that costs less.
        affordable = [cost for cost in self.costs if cost < self.bound]
        self.least_cost = min(affordable, default=0)
        self.largest_cost = max(affordable, default=0)
        #: Rows that every admissible hyperplane satisfies, and the ``extra`` of their integers.
        self.extra, self.extra_exponent = known.rows(header.get("bounds", []), samples.exponent, exponent // 2)

    def room(self, cost: int, given_up: Sequence[int] = (0, 0)) -> int:
        """What the norm term of a hyperplane is below, given that it costs less than the bound.

        Parameters
        ----------
        cost : int
            A lower bound on the cost of the samples that are given up.
        given_up : sequence of int
            The same for each class, without anything that is not decided.
        """
        return min(self.bound - cost, self._target - sum(given_up[k] for k in self._unlimited))

    def exceeds(self, cost: int, by_class: Sequence[int]) -> bool:
        """Whether a hyperplane that gives up samples of this cost, and of these by class, is beyond a limit."""
        if not self.limited:
            return False
        total = not self._unlimited and cost > sum(most for _, most in self._most)
        return total or any(sum(by_class[k] for k in classes) > most for classes, most in self._most)

    def weight(self, number: int, unit: int) -> int:
        """A weight of a record, a multiple of 2^unit in its own unit of costs, rounded down.

        A smaller weight proves less, so any is allowed here. One above the bound proves no more than the bound, and
        could fill the memory.
        """
        shift = unit + self.exponent + self.unit_exponent
        numerator, denominator = number * self.share[0], self.share[1]
        weight = (numerator << shift) // denominator if shift >= 0 else numerator // (denominator << -shift)
        return min(weight, self.bound)

    def rounded_up(self, cost: int) -> int:
        """A cost that must be reached, given that samples are given up as a whole.

        If samples of at least ``cost`` are given up, these are at least cost / largest_cost samples, rounded up; or
        one of them costs as much as the bound.
        """
        if self.largest_cost == 0:
            return cost
        return max(cost, min(self.bound, -(-cost // self.largest_cost) * self.least_cost))

    def is_certain(self, sample: int) -> bool:
        """Whether every hyperplane that costs less than the bound keeps a sample: it costs as much alone."""
        return self.costs[sample] >= self.bound


def check_groups(
    samples: Samples, groups: Sequence[Sequence[int]], used: set[int], constraints: Constraints | None = None
) -> None:
    """Check that the samples of a piece are rows of the data that no piece has used, and alike in each group.

    Samples that admissible hyperplanes keep may be in several pieces: they add nothing to any sum of costs.
    """
    for group in groups:
        again = constraints is not None and constraints.keep(group)
        for row in group:
            if not 0 <= row < samples.n or (row in used and not again):
                raise ProofError(f"row {row} of the data does not exist, or is used twice.")
            used.add(row)
        first = row_values(samples.X, group[0]) if len(group) > 1 else None
        for row in group[1:]:
            if samples.label(row) != samples.label(group[0]) or row_values(samples.X, row) != first:
                raise ProofError(f"rows {group[0]} and {row} of the data are not identical.")
