"""Figures of times: proofs over time, performance profiles, time against n and m, primal-dual integrals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from hardmargin.bench.analysis import published
from hardmargin.bench.analysis.aggregate import select, shifted_geometric_mean
from hardmargin.bench.analysis.profiles import performance_profile, primal_dual_integral, proven_over_time
from hardmargin.bench.analysis.runs import SystemRun, common, on_same_pairs, systems_of
from hardmargin.bench.report.figures.style import add_legend, looks, new_figure, plain_log, tidy, whole_decades

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Smaller times are drawn here, because the axes are logarithmic.
_SHORTEST = 0.01

# Space beside the smallest and the largest size, as a ratio.
_MARGIN = 1.3

# With fewer systems than this there is nothing to compare.
_SEVERAL = 2


def proofs_over_time(runs: Sequence[SystemRun], literature: Sequence[SystemRun] = ()) -> Figure:
    """The percentage of runs proven optimal within a time; published ones on the same pairs of instance and C."""
    names = published.NAMES.values()
    shown = [*(run for run in on_same_pairs(literature, runs) if run.system in names), *runs]
    figure = new_figure(7.2, 4.2)
    ax = figure.subplots()
    systems = systems_of(shown)
    for system in systems:
        chosen = select(shown, system=system)
        times, fractions = proven_over_time(chosen)
        end = max(run.time_limit for run in chosen)
        x = np.concatenate([[_SHORTEST], np.maximum(times, _SHORTEST), [end]])
        y = 100 * np.concatenate([[0.0], fractions, [fractions[-1] if len(fractions) else 0.0]])
        look = looks(systems)[system]
        ax.step(x, y, where="post", color=look.colour, ls=look.dashes, lw=1.8, label=system)
    ax.set_xscale("log")
    ax.set_ylim(0, 102)
    plain_log(ax.xaxis)
    tidy(ax, x="seconds", y="runs proven optimal (%)")
    add_legend(figure, ax)
    return figure


def profiles(runs: Sequence[SystemRun]) -> Figure | None:
    """Dolan and Moré's performance profile of the times to a proof; None with fewer than two systems."""
    curves = performance_profile(runs)
    if len(curves) < _SEVERAL:
        return None
    figure = new_figure(7.2, 4.2)
    ax = figure.subplots()
    longest = max([2.0, *(ratios[-1] for ratios, _ in curves.values() if len(ratios))])
    for system, (ratios, fractions) in curves.items():
        x = np.concatenate([[1.0], ratios, [1.1 * longest]])
        y = 100 * np.concatenate([[0.0], fractions, [fractions[-1] if len(fractions) else 0.0]])
        look = looks(list(curves))[system]
        ax.step(x, y, where="post", color=look.colour, ls=look.dashes, lw=1.8, label=system)
    ax.set_xscale("log")
    ax.set_xlim(1.0, 1.1 * longest)
    ax.set_ylim(0, 102)
    count = len({run.pair for run in common(runs)})
    plain_log(ax.xaxis)
    tidy(ax, x="time, as a multiple of the fastest system's", y=f"problems proven within it (% of {count})")
    add_legend(figure, ax)
    return figure


def times_by_size(runs: Sequence[SystemRun]) -> Figure:
    """Times against n and m: one dot per run, hollow without a proof, and lines through means.

    The means are shifted geometric means over Types A and B; UCI sets differ in more than their size.
    """
    figure = new_figure(7.8, 4.4)
    axes = figure.subplots(1, 2, sharey=True)
    systems = systems_of(runs)
    for ax, attribute, title in zip(axes, ("n", "m"), ("samples n", "features m"), strict=True):
        for position, system in enumerate(systems):
            look = looks(systems)[system]
            chosen = select(runs, system=system)
            aside = 1.03 ** (position - (len(systems) - 1) / 2)
            for proven in (True, False):
                part = [run for run in chosen if run.proven == proven]
                ax.scatter(
                    [getattr(run, attribute) * aside for run in part],
                    [max(run.seconds, _SHORTEST) for run in part],
                    s=14,
                    marker=look.marker,
                    facecolors=look.colour if proven else "none",
                    edgecolors=look.colour,
                    linewidths=0.7,
                    alpha=0.55,
                )
            alike = [run for run in chosen if run.set != "UCI"]
            sizes = sorted({getattr(run, attribute) for run in alike})
            means = [
                shifted_geometric_mean([run.seconds for run in alike if getattr(run, attribute) == size])
                for size in sizes
            ]
            ax.plot(
                np.array(sizes) * aside,
                np.maximum(means, _SHORTEST),
                color=look.colour,
                ls=look.dashes,
                marker=look.marker,
                ms=5,
                label=system,
            )
        ax.set(xscale="log", yscale="log")
        regular, others = (
            sorted({getattr(run, attribute) for run in runs if (run.set == "UCI") == uci}) for uci in (False, True)
        )
        marks = _apart([*regular, *others])
        ax.set_xlim(min(regular + others) / _MARGIN, max(regular + others) * _MARGIN)
        ax.set_xticks(marks, [str(mark) for mark in marks])
        ax.xaxis.minorticks_off()
        times = [max(run.seconds, _SHORTEST) for run in runs]
        ax.set_ylim(*whole_decades(min(times), max(times)))
        plain_log(ax.yaxis)
        tidy(ax, x=title, y="seconds" if ax is axes[0] else "")
    add_legend(figure, axes[0])
    return figure


def _apart(sizes: Sequence[int]) -> list[int]:
    """The sizes that have space for their labels on a logarithmic axis, starting with the first."""
    kept: list[int] = []
    for size in sizes:
        if all(max(size, other) >= 1.4 * min(size, other) for other in kept):
            kept.append(size)
    return kept


def integrals(runs: Sequence[SystemRun]) -> Figure | None:
    """Primal-dual integrals, sorted, in percent of the time limit; None if no run has a trace of its bounds."""
    if not any(run.trace for run in runs):
        return None
    figure = new_figure(7.2, 4.2)
    ax = figure.subplots()
    systems = systems_of(runs)
    for system in systems:
        chosen = select(runs, system=system)
        shares = np.sort([100 * primal_dual_integral(run) / run.time_limit for run in chosen])
        look = looks(systems)[system]
        x = 100 * np.arange(len(shares) + 1) / len(shares)
        ax.step(x, [shares[0], *shares], where="pre", color=look.colour, ls=look.dashes, lw=1.8, label=system)
    ax.set(xlim=(0, 100), ylim=(0, 102))
    tidy(ax, x="runs, sorted (%)", y="primal-dual integral (% of the time limit)")
    add_legend(figure, ax)
    return figure
