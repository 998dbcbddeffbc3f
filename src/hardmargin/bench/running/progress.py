"""Progress of a running campaign: one line that is updated, or an occasional line."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from types import TracebackType

from rich.console import Console
from rich.live import Live
from rich.text import Text

from hardmargin.bench.records.record import Record
from hardmargin.bench.running.checking import Contradiction, described


class Tally:
    """Counts the runs of a campaign, and estimates how long the rest takes.

    Examples
    --------
    >>> tally = Tally(total=4, at_once=1)
    >>> tally.line()
    '0 of 4 runs'
    """

    def __init__(self, total: int, at_once: int) -> None:
        self.total = total
        self.done = 0
        self.proven = 0
        self.unanswered = 0
        self._gaps = 0.0
        self._walls = 0.0
        self._made = 0
        self._at_once = at_once

    def skip(self, record: Record) -> None:
        """Count a run that was already done."""
        self.done += 1
        self.proven += record.optimal
        self.unanswered += not record.answered
        self._gaps += record.gap or 0.0

    def count(self, record: Record) -> None:
        """Count a run that has just ended."""
        self.skip(record)
        self._made += 1
        self._walls += record.wall

    @property
    def mean_gap(self) -> float | None:
        """The mean gap of the runs with an answer; None if there are none."""
        answered = self.done - self.unanswered
        return self._gaps / answered if answered else None

    @property
    def seconds_left(self) -> float | None:
        """Estimated from the mean of the runs so far; None before the first has ended."""
        if not self._made:
            return None
        rounds = math.ceil((self.total - self.done) / self._at_once)
        return rounds * self._walls / self._made

    def counts(self) -> str:
        """The counts so far."""
        parts = [f"{self.done} of {self.total} runs"]
        if self.done:
            parts.append(f"{self.proven} proven")
        if self.mean_gap is not None:
            parts.append(f"mean gap {100 * self.mean_gap:.3g} %")
        if self.unanswered:
            parts.append(f"{self.unanswered} without an answer")
        return ", ".join(parts)

    def line(self) -> str:
        """The counts and the estimate, while the campaign runs."""
        if self.done == self.total or self.seconds_left is None:
            return self.counts()
        return f"{self.counts()}, about {duration(self.seconds_left)} left"


class CampaignProgress:
    """Watches a campaign.

    Parameters
    ----------
    verbose : bool
        Whether to print an occasional line if there is no terminal.
    """

    def __init__(self, verbose: bool = False) -> None:
        self._console = Console(stderr=True, highlight=False, markup=False, emoji=False)
        on_terminal = self._console.file.isatty() and not self._console.is_dumb_terminal
        self._live = _live(self._console, self) if on_terminal else None
        self._lines = verbose and not on_terminal
        self.tally = Tally(0, 1)
        self.made = 0

    def __enter__(self) -> CampaignProgress:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def begin(self, total: int, skipped: Sequence[Record], at_once: int) -> None:
        """The campaign starts: ``total`` runs belong to it, and ``skipped`` are already done."""
        self.tally = Tally(total, at_once)
        for record in skipped:
            self.tally.skip(record)
        if self._live is not None:
            self._live.refresh()
        if self._lines:
            self._say(f"{self.tally.line()} are there already" if skipped else self.tally.line())

    def ended(self, record: Record) -> None:
        """A run has ended."""
        self.tally.count(record)
        self.made += 1
        every = max(1, self.tally.total // 100)
        if self._lines and (self.made % every == 0 or self.tally.done == self.tally.total):
            self._say(self.tally.line())

    def contradiction(self, contradiction: Contradiction) -> None:
        """A claim has turned out to be wrong."""
        self._say(f"hardmargin: CONTRADICTION: {described(contradiction)}")

    def _say(self, line: str) -> None:
        if self._live is not None:
            self._console.print(line, soft_wrap=True)
        else:
            print(line, file=sys.stderr, flush=True)

    def __rich__(self) -> Text:
        """The line that is updated."""
        return Text(f"{self.tally.line()}  Ctrl-C stops", style="dim", no_wrap=True, overflow="crop")


def _live(console: Console, shown: CampaignProgress) -> Live:
    # Redirecting would send text for standard output to the console's stream.
    return Live(
        shown, console=console, refresh_per_second=2, transient=True, redirect_stdout=False, redirect_stderr=False
    )


def duration(seconds: float) -> str:
    """A duration in readable form.

    Examples
    --------
    >>> duration(70.0), duration(600.0), duration(525_000.0)
    ('70 s', '10 min', '145 h 50 min')
    """
    minutes = round(seconds / 60)
    if minutes < 2:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60:02} min"
