"""The optimum as a function of C: lines from hyperplanes above it, chords between proven bounds below it.

A hyperplane with norm term N = 1/2 ||w||^2 that gives up samples of total weight k costs N + C k: a straight line
in C. The optimum phi(C) is the smallest of all these lines: it is concave, it never falls, and phi(0) >= 0. Hence:

* Every known line is an upper bound at every C, and the lower envelope of the known lines is the best of them.
* If L1 <= phi(C1) and L2 <= phi(C2), then, because phi is concave, every point of the chord between (C1, L1) and
  (C2, L2) is a lower bound too. The bounds themselves need not lie on a concave curve: any two of them will do.
* (0, 0) is such a point, so L / C is a lower bound on phi(C') / C' for every C' < C.
* phi never falls, so L stays a lower bound for every C' > C.

The best of these bounds form a concave curve. Where one line is best, the ratio of this curve to the line is
smallest at an end. So the relative gap is largest where two lines meet, or at the ends of the range.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

# A chord is a sum of two products of positive numbers, each of them rounded a few times; and the costs C * weight
# that a bound was proven for are rounded too. This factor is below 1 by more than all of that.
_ROUNDED_DOWN = 1 - 16 * float(np.finfo(np.float64).eps)


class Line(NamedTuple):
    """What a hyperplane costs at any C.

    Attributes
    ----------
    norm : float
        1/2 ||w||^2.
    given_up : float
        Total weight of the samples that it gives up; their number if there are no weights.
    """

    norm: float
    given_up: float

    def at(self, C: float) -> float:
        """Its objective at this C."""
        return self.norm + C * self.given_up


class Envelope(NamedTuple):
    """The best line at every C of a range.

    Attributes
    ----------
    best : list of int
        The indices of the lines that are best somewhere, from small C to large.
    breakpoints : list of float
        Where the best line changes: one fewer than there are lines.
    """

    best: list[int]
    breakpoints: list[float]

    def index_at(self, C: float) -> int:
        """The index of the line that is best at this C; at a breakpoint, that of the line that gives up less."""
        return self.best[bisect_right(self.breakpoints, C)]


def lower_envelope(lines: Sequence[Line], low: float, high: float) -> Envelope:
    """The lower envelope of lines between two values of C.

    Parameters
    ----------
    lines : sequence of Line
        At least one.
    low, high : float
        The range; breakpoints lie strictly inside.

    Returns
    -------
    Envelope

    Examples
    --------
    >>> lower_envelope([Line(0.0, 5.0), Line(8.0, 1.0), Line(6.0, 4.0)], 0.1, 100.0)
    Envelope(best=[0, 1], breakpoints=[2.0])
    """
    current = min(range(len(lines)), key=lambda index: (lines[index].at(low), lines[index].given_up))
    best: list[int] = [current]
    breakpoints: list[float] = []
    while True:
        here = lines[current]
        meetings = [
            ((line.norm - here.norm) / (here.given_up - line.given_up), line.given_up, index)
            for index, line in enumerate(lines)
            if line.given_up < here.given_up
        ]
        if not meetings:
            break
        meeting, _, current = min(meetings)
        if meeting >= high:
            break
        if meeting <= (breakpoints[-1] if breakpoints else low):
            # Up to rounding, several lines meet in one point: only the last of them is best beyond it.
            best[-1] = current
        else:
            best.append(current)
            breakpoints.append(meeting)
    return Envelope(best, breakpoints)


class ProvenBounds:
    """Lower bounds proven at some values of C, and what follows from them everywhere.

    Parameters
    ----------
    points : iterable of (C, bound)

    Examples
    --------
    >>> proven = ProvenBounds([(1.0, 4.0), (3.0, 6.0)])
    >>> [round(proven.at(C), 9) for C in (0.5, 2.0, 3.0, 10.0)]
    [2.0, 5.0, 6.0, 6.0]
    """

    def __init__(self, points: Iterable[tuple[float, float]] = ()) -> None:
        self._proven: dict[float, float] = {}
        self._hull: list[tuple[float, float]] = [(0.0, 0.0)]
        for C, bound in points:
            self.add(C, bound)

    @property
    def points(self) -> list[tuple[float, float]]:
        """What was proven, from small C to large; without what follows from the rest."""
        return [point for point in self._hull if point[0] > 0]

    def add(self, C: float, bound: float) -> None:
        """Take note that no hyperplane costs less than ``bound`` at ``C``."""
        self._proven[C] = max(bound, self._proven.get(C, 0.0))
        self._hull = _upper_hull([(0.0, 0.0), *sorted(self._proven.items())])
        self._proven = dict(self.points)

    def at(self, C: float) -> float:
        """The best lower bound at this C that follows from what was proven."""
        right = bisect_right(self._hull, (C, np.inf))
        C1, bound1 = self._hull[right - 1]
        if C1 == C or right == len(self._hull):
            return bound1
        C2, bound2 = self._hull[right]
        width = C2 - C1
        return ((C2 - C) / width * bound1 + (C - C1) / width * bound2) * _ROUNDED_DOWN


def _upper_hull(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The points that no chord between two others, and no point before them, is above of.

    Which points are left out is decided with rounding. That may cost a little of a bound and never makes one wrong,
    because every chord is valid.
    """
    hull: list[tuple[float, float]] = []
    for C, bound in points:
        if hull and bound <= hull[-1][1] and C > 0:
            continue
        while len(hull) >= 2:
            (C1, bound1), (C2, bound2) = hull[-2:]
            if (bound2 - bound1) * (C - C1) > (bound - bound1) * (C2 - C1):
                break
            hull.pop()
        hull.append((C, bound))
    return hull
