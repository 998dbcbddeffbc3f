"""The bounds on the optimum as they move: the gap between them, and the record of a solve."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import NamedTuple

#: The finest relative gap that can be asked for: float64 leaves no room for a finer one.
SMALLEST_GAP = 1e-9

#: ``report(time, upper, lower, nodes)`` is called as the bounds move.
Report = Callable[[float, float, float, int], None]


class TracePoint(NamedTuple):
    """The bounds known after some seconds."""

    time: float
    upper: float
    lower: float


def is_possible_gap(gap: float) -> bool:
    """Whether a relative gap can be asked for: every hyperplane reaches 1 without a proof.

    Examples
    --------
    >>> [is_possible_gap(gap) for gap in (1e-9, 0.2, 0.0, 1.0)]
    [True, True, False, False]
    """
    return SMALLEST_GAP <= gap < 1


def relative_gap(objective: float, lower_bound: float) -> float:
    """(objective - lower_bound) / objective; 0 if the objective is 0, and 1 if it is not finite.

    Examples
    --------
    >>> relative_gap(10.0, 8.0)
    0.2
    """
    if objective == 0:
        return 0.0
    return max(0.0, (objective - lower_bound) / objective) if math.isfinite(objective) else 1.0


def monotone_trace(reported: Iterable[TracePoint], last: TracePoint) -> list[TracePoint]:
    """Make a trace of what was reported: finite, upper bounds that only fall, lower bounds that only rise.

    Parameters
    ----------
    reported : iterable of TracePoint
        The reports, in any state: before the first hyperplane an upper bound is infinite, and the rounding
        that the final hyperplane makes good may have left them a little too good.
    last : TracePoint
        What was reached in the end, recomputed over the caller's data. No point claims more than that.

    Returns
    -------
    list of TracePoint

    Examples
    --------
    >>> reports = [TracePoint(0.1, math.inf, 0.0), TracePoint(0.2, 9.0, -1.0), TracePoint(0.3, 4.9, 5.5)]
    >>> for point in monotone_trace(reports, TracePoint(0.4, 5.0, 4.0)):
    ...     print(tuple(point))
    (0.2, 9.0, 0.0)
    (0.3, 5.0, 4.0)
    (0.4, 5.0, 4.0)
    """
    trace: list[TracePoint] = []
    time, upper, lower = 0.0, math.inf, 0.0
    for point in reported:
        # In this order of arguments a bound that is not a number changes nothing.
        time = min(max(time, point.time), last.time)
        upper = max(min(upper, point.upper), last.upper)
        lower = min(max(lower, point.lower), last.lower)
        moved = not trace or (upper, lower) != trace[-1][1:]
        if math.isfinite(upper) and moved:
            trace.append(TracePoint(time, upper, lower))
    return trace if trace and trace[-1] == last else [*trace, last]


class Recorder:
    """The ``report`` that a method is given: passes the bounds on in the caller's units and remembers them.

    Parameters
    ----------
    factor, lower_factor : float
        What the method's upper and lower bounds are multiplied by to become the caller's.
    listeners : callables
        Told of every report, in this order.

    Attributes
    ----------
    reported : list of TracePoint
        The bounds, wherever they moved.
    """

    def __init__(self, factor: float, lower_factor: float, listeners: Iterable[Report]) -> None:
        self._factor = factor
        self._lower_factor = lower_factor
        self._listeners = tuple(listeners)
        self.reported: list[TracePoint] = []

    def __call__(self, time: float, upper: float, lower: float, nodes: int) -> None:
        point = TracePoint(time, upper * self._factor, lower * self._lower_factor)
        if not self.reported or self.reported[-1][1:] != point[1:]:
            self.reported.append(point)
        for listener in self._listeners:
            listener(*point, nodes)
