"""What multipliers prove about the length of w, in exact integer arithmetic.

A row requires a.w + c b >= d. A sample (x, y) that is kept has the row a = y x, c = y, d = 1. One that is given up
has the margin y (w.x + b) < 1, so the negated row holds: a = -y x, c = -y, d = -1. For multipliers lambda >= 0 with
sum lambda c = 0, every (w, b) that satisfies the rows has g.w >= s with g = sum lambda a and s = sum lambda d. So
if s > 0, then ||w|| >= s / ||g||, and

    1/2 ||w||^2 >= s^2 / (2 ||g||^2);        if g = 0, no (w, b) satisfies the rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from hardmargin.checker.errors import ProofError
from hardmargin.checker.reading import Numbers
from hardmargin.checker.samples import Samples


class ExtraRow(NamedTuple):
    """A row a.w >= d in addition to those of the samples, times 2^exponent of the samples.

    Attributes
    ----------
    normal : list of (int, int)
        Columns and values of a times 2^(exponent + extra), which are not zero.
    demand : int
        d times 2^extra.
    """

    normal: list[tuple[int, int]]
    demand: int


class ExtraRows(Protocol):
    """Extra rows by number."""

    def __len__(self) -> int: ...
    def __getitem__(self, number: int, /) -> ExtraRow: ...


class Certificate(NamedTuple):
    """Samples that are kept and given up, and what follows: 1/2 ||w||^2 >= numerator / denominator.

    Attributes
    ----------
    kept, given_up : list of int
        Places of samples in the piece of the proof.
    numerator, denominator : int
        A denominator of 0 means that there is no such w; a numerator of 0 that nothing follows.
    """

    kept: list[int]
    given_up: list[int]
    numerator: int
    denominator: int

    def reaches(self, cost: int, unit_exponent: int, share: tuple[int, int]) -> bool:
        """Whether ``share`` times 1/2 ||w||^2 is at least ``cost`` times 2^-unit_exponent."""
        if cost <= 0:
            return True
        if self.numerator == 0:
            return False
        # share * numerator / denominator >= cost / 2^unit_exponent; true if the denominator is 0.
        return (share[0] * self.numerator << unit_exponent) >= cost * self.denominator * share[1]


def read_multipliers(numbers: Numbers) -> list[tuple[int, int]]:
    """The rows of a certificate by number, and their multipliers: a count, and two numbers for every row."""
    entries = numbers.take(2 * numbers.next())
    return list(zip(entries[::2], entries[1::2], strict=True))


def certificate_of(
    multipliers: Iterable[tuple[int, int]],
    samples: Samples,
    rows: Sequence[int],
    extra: ExtraRows = (),
    extra_exponent: int = 0,
) -> Certificate:
    """Compute what multipliers prove.

    Parameters
    ----------
    multipliers : iterable of (int, int)
        Rows by number, and their multipliers, which are not negative. Row 2 i keeps sample i of the piece, row
        2 i + 1 has it given up, and the extra rows follow.
    samples : Samples
    rows : sequence of int
        The rows of the data that are the samples of the piece.
    extra : ExtraRows
    extra_exponent : int
        The ``extra`` of these rows: they are integers times 2^-extra, relative to those of the samples.
    """
    kept: list[int] = []
    given_up: list[int] = []
    balance = demand = 0
    gradient: dict[int, int] = {}
    for number, multiplier in multipliers:
        place = number >> 1
        if place < len(rows):
            sign = -1 if number & 1 else 1
            (given_up if number & 1 else kept).append(place)
            row = rows[place]
            signed = sign * samples.label(row) * multiplier
            balance += signed
            demand += sign * multiplier << extra_exponent
            factor = signed << extra_exponent
            for column, value in samples.whole_row(row):
                gradient[column] = gradient.get(column, 0) + factor * value
        elif number - 2 * len(rows) < len(extra):
            normal, bound = extra[number - 2 * len(rows)]
            demand += multiplier * bound
            for column, value in normal:
                gradient[column] = gradient.get(column, 0) + multiplier * value
        else:
            raise ProofError("a certificate uses a row that does not exist.")
    if balance != 0:
        raise ProofError("the multipliers of a certificate do not cancel the offset b.")
    squared = sum(value * value for value in gradient.values())
    # g is gradient / 2^(exponent + extra), s is demand / 2^extra.
    numerator = demand * demand << 2 * samples.exponent if demand > 0 else 0
    return Certificate(kept, given_up, numerator, 2 * squared)
