"""The figure: test accuracy against the share of bad samples, a panel a setting."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from hardmargin.bench.robustness.models import MODELS
from hardmargin.bench.robustness.records import Record
from hardmargin.bench.robustness.summary import Row, summarise

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLUMNS = 3
_INK = "#222222"


class _Look(NamedTuple):
    colour: str
    marker: str
    dashes: str


# Okabe and Ito's palette; markers and dashes differ too, for print in grey.
_LOOKS = dict(
    zip(MODELS, (_Look("#0072B2", "o", "-"), _Look("#D55E00", "^", "--"), _Look("#009E73", "s", ":")), strict=True)
)


def robustness_figure(records: Iterable[Record]) -> Figure:
    """Draw mean accuracy with its standard error over the share of bad samples.

    Parameters
    ----------
    records : iterable of Record
        Those of one study.

    Returns
    -------
    matplotlib Figure
        Has ``savefig``; belongs to no window.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    ValueError
        If no evaluation has succeeded.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError('figures need matplotlib; install it with: pip install "hardmargin[bench]"') from None
    rows = summarise(records)
    if not rows:
        raise ValueError("there is nothing to draw: no evaluation has succeeded.")
    settings = list(dict.fromkeys(row.setting for row in rows))
    columns = min(_COLUMNS, len(settings))
    lines = math.ceil(len(settings) / columns)
    figure = Figure(figsize=(1.2 + 3.2 * columns, 0.8 + 2.7 * lines), layout="constrained")
    axes = figure.subplots(lines, columns, squeeze=False).ravel()
    for ax, setting in zip(axes, settings, strict=False):
        _draw_panel(ax, setting, [row for row in rows if row.setting == setting])
    for ax in axes[len(settings) :]:
        ax.remove()
    handles, names = axes[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=len(names), frameon=False)
    return figure


def _draw_panel(ax: Axes, setting: str, rows: Sequence[Row]) -> None:
    for model, look in _LOOKS.items():
        mine = [row for row in rows if row.model == model]
        if mine:
            ax.errorbar(
                [100 * row.share for row in mine],
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
        ax.axhline(100 * rows[0].best_possible, color=_INK, lw=0.8, ls=(0, (1, 3)), label="best possible")
    ax.set_title(setting, fontsize=11, color=_INK)
    ax.set_xlabel("bad training samples [%]")
    ax.set_ylabel("test accuracy [%]")
    ax.spines[["top", "right"]].set_visible(False)
