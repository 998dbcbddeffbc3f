"""Progress display of a running search: a table of its bounds, as MIP solvers print it, and a status line."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from types import TracebackType
from typing import Literal, TextIO

from rich.console import Console
from rich.live import Live
from rich.text import Text

from hardmargin.report_rows import Bounds, RowFilter

Style = Literal["auto", "live", "log", "quiet"]

_HEADER = f"  {'time':>8} {'nodes':>11} {'upper bound':>14} {'lower bound':>14} {'gap':>9}"


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
