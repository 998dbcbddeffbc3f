"""Runs over time: gaps at a given time, primal-dual integrals, proofs over time, performance profiles."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from hardmargin.arrays import FloatArray
from hardmargin.bench.analysis.aggregate import mean
from hardmargin.bench.analysis.runs import SystemRun, common, systems_of

# Times below this differ more by chance than by method.
_SHORTEST = 0.01


def gap_at(run: SystemRun, seconds: float) -> float | None:
    """The gap in percent after this many seconds: 100 while nothing is known, None beyond the time limit.

    The end of the run counts as its last point, so that a proof, whose gap is the final one, stays proven.
    """
    if seconds > run.time_limit * (1 + 1e-9) and not run.proven:
        return None
    if seconds >= run.seconds:
        return run.gap
    gap = 100.0
    for time, upper, lower in run.trace:
        if time > seconds:
            break
        gap = _gap(upper, lower)
    return gap


def mean_gaps(runs: Sequence[SystemRun], times: Iterable[float]) -> list[float | None]:
    """The mean gap in percent at each time; None where the time limit of one of the runs was shorter."""
    means: list[float | None] = []
    for time in times:
        gaps = [gap_at(run, time) for run in runs]
        known = [gap for gap in gaps if gap is not None]
        means.append(mean(known) if known and len(known) == len(gaps) else None)
    return means


def primal_dual_integral(run: SystemRun) -> float:
    """The gap, as a fraction, integrated from the start to the time limit, in seconds; smaller is better.

    It is 0 for an immediate proof, and the time limit if no bounds were ever known.
    """
    total, reached, gap = 0.0, 0.0, 100.0
    end = min(run.seconds, run.time_limit)
    for time, upper, lower in run.trace:
        moment = min(max(time, reached), end)
        total += gap * (moment - reached)
        reached, gap = moment, _gap(upper, lower)
    total += gap * (end - reached) + run.gap * (run.time_limit - end)
    return total / 100.0


def _gap(upper: float | None, lower: float | None) -> float:
    if upper is None or lower is None or not math.isfinite(upper):
        return 100.0
    return 100.0 * max(0.0, upper - lower) / upper if upper > 0 else 0.0


def proven_over_time(runs: Sequence[SystemRun]) -> tuple[FloatArray, FloatArray]:
    """The times at which proofs were found, and the fraction of all runs that were proven by then."""
    times = np.sort([run.seconds for run in runs if run.proven])
    return times, np.arange(1, len(times) + 1) / max(len(runs), 1)


def performance_profile(runs: Sequence[SystemRun]) -> dict[str, tuple[FloatArray, FloatArray]]:
    """Dolan and Moré's profile: for each system, time ratios and the fraction of problems solved within them.

    The ratio of a run is its time over that of the fastest system on the same problem. Problems are the pairs of
    instance and C that all systems have run; with several seeds the mean time counts. Runs without a proof are not
    within any ratio. Times below 10 ms count as 10 ms.
    """
    shared = common(runs)
    systems = systems_of(shared)
    times = {system: _solve_times([run for run in shared if run.system == system]) for system in systems}
    problems = sorted({run.pair for run in shared})
    profile = {}
    for system in systems:
        ratios = []
        for problem in problems:
            best = min(times[other][problem] for other in systems)
            if math.isfinite(times[system][problem]):
                ratios.append(times[system][problem] / best)
        ordered = np.sort(np.array(ratios, dtype=np.float64))
        profile[system] = (ordered, np.arange(1, len(ordered) + 1) / max(len(problems), 1))
    return profile


def _solve_times(runs: Iterable[SystemRun]) -> dict[tuple[str, float], float]:
    """The mean time over the seeds of each pair; infinite if one of them has no proof."""
    found: dict[tuple[str, float], list[float]] = {}
    for run in runs:
        found.setdefault(run.pair, []).append(max(run.seconds, _SHORTEST) if run.proven else math.inf)
    return {pair: mean(values) if all(map(math.isfinite, values)) else math.inf for pair, values in found.items()}
