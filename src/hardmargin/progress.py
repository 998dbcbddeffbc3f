"""Progress display of a running search: a table of its bounds, as MIP solvers print it, and a status line.

A search may report thousands of times a second, so most reports get no row. A row is due if a better hyperplane
was found, if the gap has fallen by a tenth of its value, or if nothing was printed for a while, but never less
than half a second after the previous row. The times come from the reports, not from a clock: the same reports
always give the same rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from types import TracebackType
from typing import Literal, NamedTuple, TextIO

from rich.console import Console
from rich.live import Live
from rich.text import Text

from hardmargin.bounds import relative_gap

Style = Literal["auto", "live", "log", "quiet"]

_SHORTEST_PAUSE = 0.5
_LONGEST_PAUSE = 5.0
_NOTICEABLE = 0.9
_HEADER = f"  {'time':>8} {'nodes':>11} {'upper bound':>14} {'lower bound':>14} {'gap':>9}"


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


def row(bounds: Bounds, mark: str = "") -> str:
    """One line of the table.

    Examples
    --------
    >>> row(Bounds(1.25, 20.0, 18.0, 250), mark="*")
    '*     1.2s         250             20             18    10.00%'
    """
    upper = _number(bounds.upper)
    gap = f"{100 * bounds.gap:.2f}%" if math.isfinite(bounds.gap) else "-"
    seconds = _seconds(bounds.time)
    return f"{mark:<1} {seconds:>8} {bounds.nodes:>11} {upper:>14} {_number(bounds.lower):>14} {gap:>9}"


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


class Progress:
    """Shows the bounds of a search as they change; pass an instance to ``solve`` as ``report``.

    Parameters
    ----------
    file : text stream, optional
        Where to print; by default standard error.
    style : {"auto", "live", "log", "quiet"}
        "live" prints the table above a ticking status line, "log" prints only the table, "quiet" prints nothing.
        "auto" is "live" on a terminal that supports it, "log" on one that does not, and "quiet" elsewhere.

    Examples
    --------
    >>> import sys
    >>> with Progress(sys.stdout, style="log") as report:
    ...     report(0.1, 25.0, 0.0, 0)
    ...     report(0.2, 20.0, 5.0, 90)
    ...     report(1.3, 20.0, 18.0, 250)
          time       nodes    upper bound    lower bound       gap
    *     0.1s           0             25              0   100.00%
    *     1.3s         250             20             18    10.00%
    """

    def __init__(self, file: TextIO | None = None, *, style: Style = "auto") -> None:
        self._console = Console(file=file, stderr=file is None, highlight=False, markup=False, emoji=False)
        self._style = _chosen_style(self._console) if style == "auto" else style
        self._rows = RowFilter()
        self._has_header = False
        self._latest: Bounds | None = None
        self._seen = monotonic()
        self._live: Live | None = None

    def __enter__(self) -> Progress:
        self._seen = monotonic()
        self._start()
        return self

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Remove the status line while something else is printed to the terminal."""
        self._stop()
        try:
            yield
        finally:
            self._start()

    def _start(self) -> None:
        if self._style == "live":
            # Redirection would send standard output to the console's stream.
            self._live = Live(
                self,
                console=self._console,
                refresh_per_second=4,
                transient=True,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            self._live.start()

    def _stop(self) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stop()
        if self._latest is not None and self._rows.is_news(self._latest):
            self._print_row(self._latest)

    def __call__(self, time: float, upper: float, lower: float, nodes: int) -> None:
        """Take one report; prints a row if one is due."""
        self._latest = Bounds(time, upper, lower, nodes)
        self._seen = monotonic()
        if self._rows.due(self._latest):
            self._print_row(self._latest)

    def say(self, line: str) -> None:
        """Print a line of text where the table goes."""
        if self._style != "quiet":
            self._console.print(line, soft_wrap=True)

    def __rich__(self) -> Text:
        """The status line; its clock ticks between reports."""
        waited = monotonic() - self._seen
        if self._latest is None:
            line = f"  {_seconds(waited):>8} searching"
        else:
            line = row(self._latest._replace(time=self._latest.time + waited))
        return Text(f"{line}  Ctrl-C stops", style="dim", no_wrap=True, overflow="crop")

    def _print_row(self, bounds: Bounds) -> None:
        if not self._has_header:
            self.say(_HEADER)
            self._has_header = True
        mark = "*" if self._rows.is_new_best(bounds) else ""
        self.say(row(bounds, mark))
        self._rows.printed(bounds)


def _chosen_style(console: Console) -> Style:
    # Ask the stream and not rich: with FORCE_COLOR, rich sees a terminal in every build log.
    if not console.file.isatty():
        return "quiet"
    return "log" if console.is_dumb_terminal else "live"


def _seconds(value: float) -> str:
    return f"{value:.1f}s" if value < 1000 else f"{value:.0f}s"


def _number(value: float) -> str:
    return f"{value:.7g}" if math.isfinite(value) else "-"
