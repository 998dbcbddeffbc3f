"""Means over runs: counts of proofs, gaps, times and shifted geometric means."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from hardmargin.bench.analysis.runs import SystemRun

#: Seconds added before the geometric mean of times, and subtracted after it.
SHIFT = 1.0


class Summary(NamedTuple):
    """What a table shows for a system on a group of runs.

    Attributes
    ----------
    proven, runs : int
        Runs proven optimal, and all.
    gap, seconds : float
        Arithmetic means; gaps in percent, times with the limit for runs without a proof.
    shifted : float
        Shifted geometric mean of the times, with a shift of one second.
    """

    proven: int
    runs: int
    gap: float
    seconds: float
    shifted: float


def summary(runs: Iterable[SystemRun]) -> Summary | None:
    """Summarise runs; None if there are none."""
    chosen = list(runs)
    if not chosen:
        return None
    times = [run.seconds for run in chosen]
    return Summary(
        proven=sum(run.proven for run in chosen),
        runs=len(chosen),
        gap=mean(run.gap for run in chosen),
        seconds=mean(times),
        shifted=shifted_geometric_mean(times),
    )


def mean(values: Iterable[float]) -> float:
    """The arithmetic mean of at least one value."""
    chosen = list(values)
    return math.fsum(chosen) / len(chosen)


def shifted_geometric_mean(values: Sequence[float], shift: float = SHIFT) -> float:
    """The geometric mean of the values plus ``shift``, minus ``shift``.

    Unlike the arithmetic mean it is not dominated by the few longest times, and unlike the plain geometric mean not
    by the shortest.

    Examples
    --------
    >>> round(shifted_geometric_mean([0.0, 3.0]), 6)
    1.0
    """
    return math.exp(mean(math.log(value + shift) for value in values)) - shift


def select(
    runs: Iterable[SystemRun], *, system: str | None = None, set: str = "", by: str = "", row: str = ""
) -> list[SystemRun]:
    """The runs of one cell of a table; "" selects all.

    Parameters
    ----------
    runs : iterable of SystemRun
    system : str, optional
    set : str
        "UCI", "A" or "B".
    by, row : str
        The attribute that the rows of the table are grouped by ("n", "m", "group"), and its value as text.
    """
    tests: list[Callable[[SystemRun], bool]] = []
    if system is not None:
        tests.append(lambda run: run.system == system)
    if set:
        tests.append(lambda run: run.set == set)
    if by and row:
        tests.append(lambda run: str(getattr(run, by)) == row)
    return [run for run in runs if all(test(run) for test in tests)]
