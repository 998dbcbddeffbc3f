"""Figures of gaps: the paper's Figures 3 and 4, and mean gaps over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from hardmargin.bench import published
from hardmargin.bench.aggregate import select
from hardmargin.bench.configurations import PAPER
from hardmargin.bench.figure_style import INK, add_legend, looks, new_figure, tidy
from hardmargin.bench.paper_tables import SETS
from hardmargin.bench.profiles import mean_gaps
from hardmargin.bench.runs import Run, configuration_name, systems_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Of the room for the boxes that stand at one place.
_FILLED = 0.8


def gaps_by_n(runs: Sequence[Run], literature: Sequence[Run] = ()) -> Figure | None:
    """Figure 3: box plots of the gaps by number of samples, Type A and Type B; None if neither has been run.

    The published gaps stand beside, on the same pairs of instance and C.
    """
    sets = [key for key in ("A", "B") if select(runs, set=key)]
    if not sets:
        return None
    shown = [*_beside(runs, literature), *runs]
    systems = systems_of(shown)
    sizes = sorted({run.n for run in runs if run.set in sets})
    figure = new_figure(4.4 * len(sets) + 0.4, 3.9)
    axes = figure.subplots(1, len(sets), sharey=True, squeeze=False)[0]
    for ax, key in zip(axes, sets, strict=True):
        for position, system in enumerate(systems):
            places = np.arange(len(sizes)) + _FILLED * ((position + 0.5) / len(systems) - 0.5)
            gaps = [[run.gap for run in select(shown, system=system, set=key, by="n", row=str(n))] for n in sizes]
            _boxes(ax, gaps, places, 0.85 * _FILLED / len(systems), looks(systems)[system].colour, system)
        ax.set_xticks(range(len(sizes)), [str(n) for n in sizes])
        tidy(ax, title=SETS[key], x="samples n", y="gap (%)" if key == sets[0] else "")
    add_legend(figure, axes[0])
    return figure


def gaps_by_configuration(runs: Sequence[Run], literature: Sequence[Run] = ()) -> Figure | None:
    """Figure 4: box plots of the gaps of the configurations of CB-SVM-HML, with counts of proofs above.

    The published ones, all of them, where the results by instance are at hand; beside them those of the campaign.
    None if there are none of either.
    """
    ours = [run for run in runs if run.shares]
    theirs = [run for run in literature if run.shares]
    rows = [("published", theirs), *((system, select(ours, system=system)) for system in systems_of(ours))]
    if not ours and not theirs:
        return None
    figure = new_figure(11.0, 4.0)
    axes = figure.subplots(1, len(SETS), sharey=True)
    for ax, (key, title) in zip(axes, SETS.items(), strict=True):
        boxes = [
            (configuration, name, chosen)
            for configuration in _configurations([*ours, *theirs])
            for name, row in rows
            if (chosen := [run for run in row if run.shares == configuration and run.set == key])
        ]
        for place, (_, name, chosen) in enumerate(boxes):
            colour = looks([])[published.NAMES[published.REFERENCE]].colour if name == "published" else "#0072B2"
            label = "published, 600 s" if name == "published" else "this campaign"
            _boxes(ax, [[run.gap for run in chosen]], np.array([place]), 0.6, colour, label)
            count = str(sum(run.proven for run in chosen))
            ax.text(place, 103, count, ha="center", va="bottom", fontsize=8, color=INK)
        labels = [configuration_name(configuration) for configuration, _, _ in boxes]
        ax.set_xticks(range(len(boxes)), labels, rotation=60, ha="right", rotation_mode="anchor", fontsize=8)
        ax.set_ylim(-3, 112)
        tidy(ax, title=title, x="T_S, T_B; above: runs proven", y="gap (%)" if ax is axes[0] else "")
    add_legend(figure, next(ax for ax in axes if ax.get_legend_handles_labels()[0]))
    return figure


def _configurations(runs: Sequence[Run]) -> list[str]:
    """Those of the paper in its order, then others."""
    found = dict.fromkeys(run.shares for run in runs)
    return [*(name for name in PAPER if name in found), *(name for name in found if name not in PAPER)]


def gaps_over_time(runs: Sequence[Run]) -> Figure | None:
    """The mean gap over time, over all runs and by set; None if no run tells how its bounds moved."""
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
        tidy(ax, title=title, x="seconds", y="mean gap (%)" if ax is axes[0] else "")
    add_legend(figure, axes[0])
    return figure


def _beside(runs: Sequence[Run], literature: Sequence[Run]) -> list[Run]:
    pairs = {run.pair for run in runs}
    return [run for run in literature if run.system in published.NAMES.values() and run.pair in pairs]


def _boxes(
    ax: Axes, groups: Sequence[Sequence[float]], places: np.ndarray, width: float, colour: str, label: str
) -> None:
    """Boxes of quartiles with whiskers of at most 1.5 times their distance, as in the paper."""
    filled = [(group, place) for group, place in zip(groups, places, strict=True) if len(group)]
    if not filled:
        return
    drawn = ax.boxplot(
        [group for group, _ in filled],
        positions=[float(place) for _, place in filled],
        widths=width,
        whis=1.5,
        manage_ticks=False,
        patch_artist=True,
        medianprops={"color": INK, "lw": 1.4},
        boxprops={"facecolor": colour, "edgecolor": INK, "lw": 0.8, "alpha": 0.9},
        whiskerprops={"color": INK, "lw": 0.8},
        capprops={"color": INK, "lw": 0.8},
        flierprops={"marker": ".", "ms": 3, "mfc": colour, "mec": colour},
    )
    drawn["boxes"][0].set_label(label)
