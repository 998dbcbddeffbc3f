"""The bounds on the optimum over time: the gap between them, and the trace of a solve."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import NamedTuple

#: The smallest relative gap that can be requested: float64 does not allow a smaller one.
SMALLEST_GAP = 1e-9

#: ``report(time, upper, lower, nodes)`` is called when the bounds change.
Report = Callable[[float, float, float, int], None]


class TracePoint(NamedTuple):
    """The bounds known after a number of seconds."""

    time: float
    upper: float
    lower: float


def is_possible_gap(gap: float) -> bool:
    """Whether a relative gap is a valid target: every hyperplane has a gap of at most 1, without any proof.

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
    """Turn reports into a trace: finite, with upper bounds that only fall and lower bounds that only rise.

    Parameters
    ----------
    reported : iterable of TracePoint
        The raw reports. Upper bounds are infinite before the first hyperplane, and rounding, which the final
        hyperplane corrects, may have made bounds slightly too good.
    last : TracePoint
        The final bounds, recomputed over the caller's data. No point of the trace claims more.

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
        # With the arguments in this order, NaN changes nothing.
        time = min(max(time, point.time), last.time)
        upper = max(min(upper, point.upper), last.upper)
        lower = min(max(lower, point.lower), last.lower)
        moved = not trace or (upper, lower) != trace[-1][1:]
        if math.isfinite(upper) and moved:
            trace.append(TracePoint(time, upper, lower))
    return trace if trace and trace[-1] == last else [*trace, last]


class Recorder:
    """The ``report`` that a method gets: converts the bounds to the caller's units, stores and forwards them.

    Parameters
    ----------
    factor, lower_factor : float
        Factors that convert the method's upper and lower bounds to the caller's units.
    listeners : callables
        Called for every report, in this order.

    Attributes
    ----------
    reported : list of TracePoint
        One point for each change of the bounds.
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
