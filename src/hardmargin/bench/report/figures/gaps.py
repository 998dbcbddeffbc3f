"""Figures of gaps: the paper's Figures 3 and 4, and mean gaps over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from hardmargin.bench.analysis import published
from hardmargin.bench.analysis.aggregate import select
from hardmargin.bench.analysis.profiles import mean_gaps
from hardmargin.bench.analysis.runs import SystemRun, configuration_name, on_same_pairs, systems_of
from hardmargin.bench.report.figures.boxes import draw_boxes
from hardmargin.bench.report.figures.style import INK, add_legend, looks, new_figure, plain_log, tidy
from hardmargin.bench.report.tables.paper import SETS
from hardmargin.bench.running.configurations import PAPER

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Share of the space at one position that the boxes take.
_FILLED = 0.8


def gaps_by_n(runs: Sequence[SystemRun], literature: Sequence[SystemRun] = ()) -> Figure | None:
    """Figure 3: box plots of the gaps by number of samples, Type A and Type B; None if neither has been run.

    The published gaps are drawn beside ours, on the same pairs of instance and C.
    """
    sets = [key for key in ("A", "B") if select(runs, set=key)]
    if not sets:
        return None
    theirs = [run for run in on_same_pairs(literature, runs) if run.system in published.NAMES.values()]
    shown = [run for run in (*theirs, *runs) if run.set in sets]
    systems = systems_of(shown)
    sizes = sorted({run.n for run in shown})
    figure = new_figure(4.4 * len(sets) + 0.4, 3.9)
    axes = figure.subplots(1, len(sets), sharey=True, squeeze=False)[0]
    for ax, key in zip(axes, sets, strict=True):
        for position, system in enumerate(systems):
            places = np.arange(len(sizes)) + _FILLED * ((position + 0.5) / len(systems) - 0.5)
            gaps = [_gaps(select(shown, system=system, set=key, by="n", row=str(n))) for n in sizes]
            draw_boxes(ax, gaps, places, 0.85 * _FILLED / len(systems), looks(systems)[system], system)
        ax.set_xticks(range(len(sizes)), [str(n) for n in sizes])
        ax.set_xlim(-0.6, len(sizes) - 0.4)
        tidy(ax, title=SETS[key], x="samples n", y="gap (%)" if key == sets[0] else "")
    axes[0].set_ylim(0, max(1.0, 1.05 * max(_gaps(shown))))
    add_legend(figure, *axes)
    return figure


def gaps_by_configuration(runs: Sequence[SystemRun], literature: Sequence[SystemRun] = ()) -> Figure | None:
    """Figure 4: box plots of the gaps of the configurations of CB-SVM-HML, with counts of proofs above.

    If the results by instance are available, all eight published ones are drawn too, on the pairs of instance and C
    that were run with one of them. None if no configuration has been run.
    """
    ours = [run for run in runs if run.shares]
    if not ours:
        return None
    theirs = [run for run in on_same_pairs(literature, ours) if run.shares]
    variants = list(dict.fromkeys(map(_variant, ours)))
    rows = [("published, 600 s", theirs)]
    rows += [(variant, [run for run in ours if _variant(run) == variant]) for variant in variants]
    styles = looks(variants)
    styles["published, 600 s"] = styles[published.NAMES[published.REFERENCE]]
    sets = {key: title for key, title in SETS.items() if select(ours, set=key)}
    figure = new_figure(3.6 * len(sets) + 0.6, 4.2)
    axes = figure.subplots(1, len(sets), sharey=True, squeeze=False)[0]
    for ax, (key, title) in zip(axes, sets.items(), strict=True):
        boxes = [
            (configuration, name, chosen)
            for configuration in _configurations([*ours, *theirs])
            for name, row in rows
            if (chosen := [run for run in row if run.shares == configuration and run.set == key])
        ]
        for place, (_, name, chosen) in enumerate(boxes):
            draw_boxes(ax, [_gaps(chosen)], np.array([place]), 0.6, styles[name], name)
            count = f"{sum(run.proven for run in chosen)}/{len(chosen)}"
            ax.text(place, 104, count, ha="center", va="bottom", rotation=90, fontsize=8, color=INK)
        labels = [configuration_name(configuration) for configuration, _, _ in boxes]
        ax.set_xticks(range(len(boxes)), labels, rotation=60, ha="right", rotation_mode="anchor", fontsize=8)
        ax.set_xlim(-0.8, len(boxes) - 0.2)
        ax.set_ylim(0, 128)
        ax.set_yticks(range(0, 101, 20))
        tidy(ax, title=title, x="T_S, T_B; above: runs proven, of all", y="gap (%)" if ax is axes[0] else "")
    add_legend(figure, *axes)
    return figure


def _gaps(runs: Sequence[SystemRun]) -> list[float]:
    """The gaps to draw: what a proof leaves for rounding counts as zero."""
    return [0.0 if run.proven else run.gap for run in runs]


def _variant(run: SystemRun) -> str:
    """The system without its shares, e.g. "benders cplex"."""
    return " ".join(run.system.replace(configuration_name(run.shares), "").split()).replace(" ,", ",")


def _configurations(runs: Sequence[SystemRun]) -> list[str]:
    """The paper's configurations in its order, then others."""
    found = dict.fromkeys(run.shares for run in runs)
    return [*(name for name in PAPER if name in found), *(name for name in found if name not in PAPER)]


def gaps_over_time(runs: Sequence[SystemRun]) -> Figure | None:
    """The mean gap over time, over all runs and by set; None if no run has a trace of its bounds."""
    if not any(run.trace for run in runs):
        return None
    panels = [("", "All"), *((key, title) for key, title in SETS.items() if select(runs, set=key))]
    panels = panels[1:] if len(panels) == 2 else panels
    figure = new_figure(2.9 * len(panels) + 1.0, 3.7)
    axes = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    systems = systems_of(runs)
    for ax, (key, title) in zip(axes, panels, strict=True):
        for system in systems:
            chosen = select(runs, system=system, set=key)
            if not chosen:
                continue
            times = np.geomspace(0.01, max(run.time_limit for run in chosen), 120)
            gaps = [np.nan if gap is None else gap for gap in mean_gaps(chosen, times.tolist())]
            look = looks(systems)[system]
            ax.plot(times, gaps, color=look.colour, ls=look.dashes, lw=1.8, label=system)
        ax.set_xscale("log")
        ax.set_ylim(0, 102)
        plain_log(ax.xaxis)
        tidy(ax, title=title, x="seconds", y="mean gap (%)" if ax is axes[0] else "")
    add_legend(figure, axes[0])
    return figure
