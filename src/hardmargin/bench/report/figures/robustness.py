"""The figure: test accuracy against the share of bad samples, one panel per setting."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hardmargin.bench.report.figures.style import INK, add_legend, looks, new_figure, tidy
from hardmargin.bench.robustness.protocol import MODELS
from hardmargin.bench.robustness.records import RobustnessRecord
from hardmargin.bench.robustness.summary import Row, summarise

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLUMNS = 3


def check_figure_name(path: str) -> None:
    """Refuse a file name that a figure cannot be saved to, before the work starts.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    ValueError
        If the name does not end in a format that matplotlib writes.
    """
    formats = sorted(new_figure().canvas.get_supported_filetypes())
    if Path(path).suffix.removeprefix(".").lower() not in formats:
        raise ValueError(f"--figure is {path!r}; expected a name that ends in .{', .'.join(formats)}.")


def robustness_figure(records: Iterable[RobustnessRecord]) -> Figure:
    """Draw mean accuracy with its standard error over the share of bad samples.

    Parameters
    ----------
    records : iterable of RobustnessRecord
        The records of one study.

    Returns
    -------
    matplotlib Figure
        Has ``savefig``; not attached to any window.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    ValueError
        If no evaluation has succeeded.
    """
    rows = summarise(records)
    if not rows:
        raise ValueError("there is nothing to draw: no evaluation has succeeded.")
    settings = list(dict.fromkeys(row.setting for row in rows))
    columns = min(_COLUMNS, len(settings))
    lines = math.ceil(len(settings) / columns)
    figure = new_figure(1.2 + 3.2 * columns, 0.8 + 2.7 * lines)
    # The same range for all panels, so that heights can be compared.
    axes = figure.subplots(lines, columns, squeeze=False, sharey=True).ravel()
    for number, (ax, setting) in enumerate(zip(axes, settings, strict=False)):
        _draw_panel(ax, setting, [row for row in rows if row.setting == setting])
        if number % columns == 0:
            ax.set_ylabel("test accuracy (%)")
    for ax in axes[len(settings) :]:
        ax.remove()
    add_legend(figure, axes[0])
    return figure


def _draw_panel(ax: Axes, setting: str, rows: Sequence[Row]) -> None:
    for number, model in enumerate(MODELS):
        mine = [row for row in rows if row.model == model]
        if not mine:
            continue
        look = looks(MODELS)[model]
        # Side by side, because error bars at the same position would hide each other.
        aside = 0.25 * (number - 1)
        ax.errorbar(
            [100 * row.share + aside for row in mine],
            [100 * row.mean for row in mine],
            yerr=[100 * (row.standard_error or 0.0) for row in mine],
            color=look.colour,
            marker=look.marker,
            ls=look.dashes,
            ms=5,
            lw=1.6,
            capsize=3,
            label=model,
        )
    if rows[0].best_possible is not None:
        ax.axhline(100 * rows[0].best_possible, color=INK, lw=0.8, ls=(0, (1, 3)), label="best possible")
    tidy(ax, title=setting, x="bad training samples (%)")
