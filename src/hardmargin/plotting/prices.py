"""The prices of keeping samples, as intervals."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from hardmargin.outlier_table import Outliers
from hardmargin.plotting.look import INK, NEGATIVE, POSITIVE, add_legend, axes_or_new, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Inches per row; new axes grow with the number of rows.
_LINE = 0.24
_FRAME = 1.4

# Whether the sample is always given up: colour, marker and words.
_VERDICTS = (
    (True, POSITIVE.colour, "D", "always given up"),
    (None, "#999999", "s", "not known"),
    (False, NEGATIVE.colour, "o", "not always given up"),
)


class PricesDisplay:
    """What it would cost to keep each of the samples that a model gives up.

    Use :meth:`from_table` to create one.

    Parameters
    ----------
    table : Outliers
        As :func:`hardmargin.outliers` returns it.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    intervals_ : list of matplotlib ErrorbarContainer
        One for each verdict that occurs: always given up, not known, not always given up.

    Examples
    --------
    >>> from hardmargin import outliers, solve
    >>> from hardmargin.plotting import PricesDisplay
    >>> X, y = [[0.0], [1.0], [3.0], [4.0], [9.0]], ["low", "low", "high", "high", "low"]
    >>> display = PricesDisplay.from_table(outliers(solve(X, y, C=10), X, y))
    >>> [label.get_text() for label in display.ax_.get_yticklabels()]
    ['4: low']
    """

    def __init__(self, *, table: Outliers) -> None:
        self.table = table

    @classmethod
    def from_table(cls, table: Outliers, *, max_rows: int = 40, ax: Axes | None = None) -> PricesDisplay:
        """Draw the prices of a table.

        Parameters
        ----------
        table : Outliers
            As :func:`hardmargin.outliers` returns it.
        max_rows, ax
            As in :meth:`plot`.

        Returns
        -------
        PricesDisplay
        """
        return cls(table=table).plot(ax, max_rows=max_rows)

    def plot(self, ax: Axes | None = None, *, max_rows: int = 40) -> PricesDisplay:
        """Draw one interval per sample, the highest price on top.

        The marker is at the upper end, where the best known hyperplane that keeps the sample is. The line ends at
        the proven lower bound; a marker alone is an exact price.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default new axes, as high as the rows need.
        max_rows : int
            Only so many samples are drawn, those with the highest prices.

        Returns
        -------
        PricesDisplay
            The display itself.
        """
        rows = self.table.rows[: max(1, max_rows)]
        ax = axes_or_new(ax, height=_FRAME + _LINE * max(3, len(rows)))
        finite = [row.price_high for row in rows if math.isfinite(row.price_high)]
        # An interval without an end reaches the edge.
        edge = 1.05 * max([*finite, *(2 * row.price_low for row in rows), self.table.within * self.table.objective])
        self.intervals_: list[Any] = []
        for verdict, colour, marker, name in _VERDICTS:
            places = [place for place, row in enumerate(rows) if row.always_given_up is verdict]
            if not places:
                continue
            low = np.array([rows[place].price_low for place in places])
            high = np.array([min(rows[place].price_high, edge) for place in places])
            style: dict[str, Any] = {"fmt": marker, "color": colour, "ms": 5, "lw": 2, "capsize": 3, "label": name}
            self.intervals_.append(ax.errorbar(high, places, xerr=[high - low, 0 * high], **style))
        ax.axvline(
            self.table.within * self.table.objective,
            color=INK,
            ls="--",
            lw=0.9,
            label=f"{100 * self.table.within:g} % of the objective",
        )
        ax.set_yticks(np.arange(len(rows)), [f"{row.row}: {row.label}" for row in rows])
        ax.set_ylim(max(len(rows), 1) - 0.4, -0.6)
        ax.set_xlim(0, edge or 1)
        left = len(self.table) - len(rows)
        below = f"\n({left} samples with lower prices not shown)" if left else ""
        tidy(ax, f"price of keeping the sample{below}", "row: label")
        add_legend(ax, columns=2)
        self.ax_, self.figure_ = ax, ax.figure
        return self
