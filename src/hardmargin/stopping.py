"""When a search has done enough, though its proof is not complete and no limit is reached.

The bounds of a search move fast in the beginning and ever more slowly later. A search *stalls* if for a while it
finds neither a better hyperplane nor a gap that is noticeably smaller. How long "a while" is grows with the time
already spent: a search that made progress after 20 seconds is given 20 more.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from hardmargin.bounds import Report, relative_gap
from hardmargin.validation import is_real

#: The name of the rule with its default settings.
STALL = "stall"

# A gap that is smaller by this share of itself is progress too: a small gap cannot fall by a percentage point.
_NOTICEABLE = 0.9


class StalledError(KeyboardInterrupt):
    """Ends a search from its report, as Ctrl-C does, with the status "stalled".

    A method that returns after Ctrl-C returns after this too.
    """


@dataclass(frozen=True)
class Stall:
    """Stop if there was no progress for a while.

    Progress is a hyperplane whose objective is lower by the share ``better``, or a gap that is lower by
    ``narrower`` or by a tenth of itself.

    Attributes
    ----------
    share : float
        The search ends if there was no progress in this share of the time since it began, below 1.
    seconds : float
        It goes on for at least this long after the last progress.
    better : float
        The least relative improvement of the objective that counts.
    narrower : float
        The least reduction of the gap that counts; 0.01 is a percentage point.

    Raises
    ------
    ValueError
        If a setting is out of range.

    Examples
    --------
    >>> from hardmargin import solve
    >>> from hardmargin.stopping import Stall
    >>> solve([[0.0], [1.0], [3.0], [4.0], [9.0]], [0, 0, 1, 1, 0], C=10, stop=Stall(share=0.3)).status.value
    'optimal'
    """

    share: float = 0.5
    seconds: float = 2.0
    better: float = 1e-4
    narrower: float = 0.01

    def __post_init__(self) -> None:
        for name, most in (("share", 1.0), ("seconds", math.inf), ("better", 1.0), ("narrower", 1.0)):
            value = getattr(self, name)
            if not is_real(value) or not 0 < value < most:
                raise ValueError(f"{name} is {value!r}; expected a number above 0 and below {most:g}.")

    def pause(self, time: float) -> float:
        """Seconds without progress after which a search of this age ends."""
        return max(self.seconds, self.share * time)


def parsed_stop(stop: Any) -> Stall | None:
    """The rule that the caller's ``stop`` asks for.

    Raises
    ------
    ValueError
        If it is neither None, nor "stall", nor a :class:`Stall`.

    Examples
    --------
    >>> parsed_stop("stall")
    Stall(share=0.5, seconds=2.0, better=0.0001, narrower=0.01)
    """
    if stop is None or isinstance(stop, Stall):
        return stop
    if isinstance(stop, str) and stop == STALL:
        return Stall()
    raise ValueError(f"stop is {stop!r}; expected None, 'stall' or a hardmargin.stopping.Stall.")


def stalling(rule: Stall) -> Report:
    """A report that raises :class:`StalledError` when the reported bounds have stalled.

    The times are those of the reports: the same reports always end at the same one.

    Examples
    --------
    >>> report = stalling(Stall())
    >>> report(0.1, 20.0, 10.0, 1)
    >>> report(2.0, 20.0, 10.1, 2)
    >>> try:
    ...     report(2.1, 20.0, 10.1, 3)
    ... except StalledError as stalled:
    ...     print(stalled)
    no progress in 2.0 s
    """
    known_upper, known_gap, since = math.inf, math.inf, 0.0

    def report(time: float, upper: float, lower: float, nodes: int) -> None:
        nonlocal known_upper, known_gap, since
        if not math.isfinite(upper):
            return
        gap = relative_gap(upper, lower)
        smaller = gap <= max(known_gap - rule.narrower, _NOTICEABLE * known_gap) and gap < known_gap
        if smaller or upper < known_upper * (1 - rule.better):
            known_upper, known_gap, since = upper, gap, time
        elif time - since >= rule.pause(time):
            raise StalledError(f"no progress in {time - since:.1f} s")

    return report
