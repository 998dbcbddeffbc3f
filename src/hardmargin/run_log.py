"""The logger ``hardmargin``: what a search reports, for runs without a terminal.

At level INFO, ``solve`` logs a line when the bounds change, not more than two a second, and one when it ends.
Nothing is logged unless the program asks for it, for instance with ``logging.basicConfig(level=logging.INFO)``.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable

from hardmargin.bounds import Report
from hardmargin.report_rows import Bounds, RowFilter

#: The logger of the whole package.
LOGGER = logging.getLogger("hardmargin")


def logged_reports() -> list[Report]:
    """A listener that logs the reports of one search; none if the logger does not want them."""
    return [_LoggedReports()] if LOGGER.isEnabledFor(logging.INFO) else []


def log_end(status: object, time: float, upper: float, lower: float, nodes: int) -> None:
    """Log how a search ended."""
    LOGGER.info("%s status=%s", _line(Bounds(time, upper, lower, nodes)), status)


class _LoggedReports:
    def __init__(self) -> None:
        self._rows = RowFilter()

    def __call__(self, time: float, upper: float, lower: float, nodes: int) -> None:
        bounds = Bounds(time, upper, lower, nodes)
        if self._rows.due(bounds):
            LOGGER.info("%s", _line(bounds))
            self._rows.printed(bounds)


def _line(bounds: Bounds) -> str:
    """The bounds as words that both people and programs can read.

    Examples
    --------
    >>> _line(Bounds(1.25, 20.0, 18.0, 250))
    'time=1.2 upper=20 lower=18 gap=0.1 nodes=250'
    """
    values: Iterable[tuple[str, float]] = (
        ("upper", bounds.upper),
        ("lower", bounds.lower),
        ("gap", bounds.gap if math.isfinite(bounds.gap) else math.inf),
    )
    numbers = " ".join(f"{name}={value:.9g}" for name, value in values)
    return f"time={bounds.time:.1f} {numbers} nodes={bounds.nodes}"
