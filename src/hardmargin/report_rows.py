"""Which of the many reports of a search are worth a line.

A search may report thousands of times a second, so most reports get no line. A line is due if a better hyperplane
was found, if the gap has fallen by a tenth of its value, or if nothing was printed for a while, but never less than
half a second after the previous line. The times come from the reports, not from a clock: the same reports always
give the same lines.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from hardmargin.bounds import relative_gap

_SHORTEST_PAUSE = 0.5
_LONGEST_PAUSE = 5.0
_NOTICEABLE = 0.9


class Bounds(NamedTuple):
    """One report of a search."""

    time: float
    upper: float
    lower: float
    nodes: int

    @property
    def gap(self) -> float:
        """The relative gap; infinite while no hyperplane is known."""
        return relative_gap(self.upper, self.lower) if math.isfinite(self.upper) else math.inf


class RowFilter:
    """Decides which reports get a row in the table.

    Examples
    --------
    >>> rows = RowFilter()
    >>> rows.printed(Bounds(time=0.0, upper=10.0, lower=0.0, nodes=1))
    >>> rows.due(Bounds(time=0.1, upper=9.0, lower=5.0, nodes=2))
    False
    >>> rows.due(Bounds(time=0.6, upper=9.0, lower=5.0, nodes=3))
    True
    """

    def __init__(self) -> None:
        self._last: Bounds | None = None

    def due(self, bounds: Bounds) -> bool:
        """Whether the table needs a row for these bounds now."""
        if self._last is None:
            return True
        pause = bounds.time - self._last.time
        if pause < _SHORTEST_PAUSE:
            return False
        # A long search does not need a row every few seconds; a twentieth of its time keeps the table readable.
        silent = pause >= max(_LONGEST_PAUSE, bounds.time / 20)
        return silent or self.is_new_best(bounds) or bounds.gap <= _NOTICEABLE * self._last.gap

    def is_new_best(self, bounds: Bounds) -> bool:
        """Whether a better hyperplane was found since the last row."""
        if self._last is None or not math.isfinite(self._last.upper):
            return math.isfinite(bounds.upper)
        return bounds.upper < self._last.upper

    def is_news(self, bounds: Bounds) -> bool:
        """Whether a bound differs from that of the last row."""
        return self._last is None or bounds[1:3] != self._last[1:3]

    def printed(self, bounds: Bounds) -> None:
        """Remember the row that was printed."""
        self._last = bounds
