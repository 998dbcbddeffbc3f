"""Box plots that stay readable with few runs, or with runs that are all alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from hardmargin.bench.report.figures.style import INK, Look

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Up to this many values, the values themselves say more than a box.
_FEW = 5


def draw_boxes(
    ax: Axes, groups: Sequence[Sequence[float]], places: np.ndarray, width: float, look: Look, label: str
) -> None:
    """Boxes of quartiles with whiskers of at most 1.5 times the interquartile range, as in the paper.

    A few values are drawn as single marks, and a box without height is a line in the colour of its system.

    Parameters
    ----------
    ax : matplotlib Axes
    groups : sequence of sequences of float
        The values of each box; no box is drawn for an empty sequence.
    places : array
        The position of each box.
    width : float
    look : Look
    label : str
        For the legend.
    """
    filled = [(group, float(place)) for group, place in zip(groups, places, strict=True) if len(group)]
    if not filled:
        return
    drawn = ax.boxplot(
        [group for group, _ in filled],
        positions=[place for _, place in filled],
        widths=width,
        whis=1.5,
        manage_ticks=False,
        patch_artist=True,
        medianprops={"color": INK, "lw": 1.4},
        boxprops={"facecolor": look.colour, "edgecolor": INK, "lw": 0.8, "alpha": 0.9},
        whiskerprops={"color": INK, "lw": 0.8},
        capprops={"color": INK, "lw": 0.8},
        flierprops={"marker": ".", "ms": 3, "mfc": look.colour, "mec": look.colour},
    )
    drawn["boxes"][0].set_label(label)
    for median, (group, place) in zip(drawn["medians"], filled, strict=True):
        lower, upper = np.quantile(group, [0.25, 0.75])
        if lower == upper:
            median.set(color=look.colour, lw=4.0, zorder=3, clip_on=False)
        if len(group) <= _FEW:
            (marks,) = ax.plot([place] * len(group), group, ls="none", marker=look.marker, color=look.colour)
            marks.set(mec=INK, mew=0.6, ms=6, zorder=4, clip_on=False)
