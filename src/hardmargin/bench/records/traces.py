"""The bounds over time, short enough for a record."""

from __future__ import annotations

import math
from collections.abc import Sequence

from hardmargin.bench.records.record import finite

_MOST_POINTS = 200
# Times below this many seconds are not distinguished.
_FIRST = 1e-3


def thinned(trace: Sequence[Sequence[float]], most: int = _MOST_POINTS) -> list[list[float | None]]:
    """The points of a trace, at most ``most`` of them.

    Of a long trace, the last point in each of equally long intervals of the logarithm of time is kept. So at any
    time the bounds are at most one interval old. The first and the last point are kept.

    Examples
    --------
    >>> len(thinned([[0.01 * k, 100.0 - k, float(k)] for k in range(50)], most=10)) <= 10
    True
    """
    points = [[round(time, 6), finite(upper), finite(lower)] for time, upper, lower in trace]
    if len(points) <= most:
        return points
    end = math.log(max(trace[-1][0], 2 * _FIRST) / _FIRST)
    last_of = {}
    for k, (time, _, _) in enumerate(trace):
        share = math.log(max(time, _FIRST) / _FIRST) / end
        last_of[int(share * (most - 2))] = k
    kept = sorted({0, *last_of.values(), len(trace) - 1})
    return [points[k] for k in kept]
