"""The margins of all samples: sorted, or as a histogram of their projections on w."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from hardmargin.arrays import FloatArray
from hardmargin.plotting.fitted import Sides, classes_of, sides
from hardmargin.plotting.look import INK, NEGATIVE, POSITIVE, add_legend, axes_or_new, draw_samples, plain_log, tidy
from hardmargin.validation import sorted_classes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_KINDS = ("histogram", "sorted")
# Bars wider than this need no edges at the margins.
_WIDE = 4.0
_NUDGE = 1e-6


class MarginsDisplay:
    """Where the samples lie across the decision boundary, and which of them were given up.

    Use :meth:`from_estimator` or :meth:`from_predictions` to create one.

    Parameters
    ----------
    sides : Sides
        Decision function and class of every sample.
    classes : pair of labels
        The negative side first.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    samples_ : list of matplotlib PathCollection
        Of a histogram: the negative and the positive samples given up. Else: the negative samples, the positive
        samples, and the rings around those given up.

    Examples
    --------
    >>> from hardmargin.plotting import MarginsDisplay
    >>> display = MarginsDisplay.from_predictions(["no", "no", "yes", "no"], [-1.0, -2.0, 1.5, 3.0])
    >>> display.sides.margins.tolist()
    [1.0, 2.0, 1.5, -3.0]
    >>> display.sides.given_up.tolist()
    [False, False, False, True]
    """

    def __init__(self, *, sides: Sides, classes: tuple[Any, Any]) -> None:
        self.sides = sides
        self.classes = classes

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        y: ArrayLike,
        *,
        kind: str = "histogram",
        bins: int = 40,
        ax: Axes | None = None,
    ) -> MarginsDisplay:
        """Evaluate a model on samples and draw the margins.

        Parameters
        ----------
        estimator : Result or fitted classifier
            Anything for two classes with a ``decision_function``, pipelines included.
        X, y : array-like of shape (n, m) and (n,)
            Samples and labels.
        kind, bins, ax
            As in :meth:`plot`.

        Returns
        -------
        MarginsDisplay
        """
        classes = classes_of(estimator)
        display = cls(sides=sides(estimator.decision_function(X), y, classes), classes=classes)
        return display.plot(ax, kind=kind, bins=bins)

    @classmethod
    def from_predictions(
        cls,
        y: ArrayLike,
        decision: ArrayLike,
        *,
        kind: str = "histogram",
        bins: int = 40,
        ax: Axes | None = None,
    ) -> MarginsDisplay:
        """Draw the margins of known values of a decision function.

        Parameters
        ----------
        y : array-like of shape (n,)
            Labels, two values; the smaller one is the negative side.
        decision : array-like of shape (n,)
            The values w.x + b.
        kind, bins, ax
            As in :meth:`plot`.

        Returns
        -------
        MarginsDisplay
        """
        found = sorted_classes(np.asarray(y)).tolist()
        if len(found) != 2:
            raise ValueError(f"y has {len(found)} classes; expected two.")
        classes = (found[0], found[1])
        return cls(sides=sides(decision, y, classes), classes=classes).plot(ax, kind=kind, bins=bins)

    def plot(self, ax: Axes | None = None, *, kind: str = "histogram", bins: int = 40) -> MarginsDisplay:
        """Draw the margins.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default new axes.
        kind : "histogram" or "sorted"
            "histogram": how many samples of each class have which value w.x + b. Below, those given up.
            "sorted": the margins y (w.x + b) in ascending order, with rings around those given up.
        bins : int
            About how many bars a histogram has.

        Returns
        -------
        MarginsDisplay
            The display itself.
        """
        if kind not in _KINDS:
            raise ValueError(f"kind is {kind!r}; expected one of {', '.join(map(repr, _KINDS))}.")
        ax = axes_or_new(ax)
        self.samples_ = self._draw_histogram(ax, bins) if kind == "histogram" else self._draw_sorted(ax)
        add_legend(ax, columns=2 if kind == "histogram" else 3)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw_histogram(self, ax: Axes, bins: int) -> list[Any]:
        decision, positive, given_up = self.sides.decision, self.sides.positive, self.sides.given_up
        edges = _edges(decision, bins)
        looks = ((~positive, NEGATIVE, self.classes[0]), (positive, POSITIVE, self.classes[1]))
        for rows, look, label in looks:
            ax.hist(decision[rows], edges.tolist(), color=look.colour, alpha=0.35, label=f"class {label}")
        highest = ax.get_ylim()[1]
        drawn: list[Any] = []
        for level, (rows, look, label) in enumerate(looks, start=1):
            values = decision[rows & given_up]
            heights = np.full(len(values), -0.05 * level * highest)
            name = f"class {label}, given up"
            drawn.append(
                ax.scatter(values, heights, s=24, c=look.colour, marker=look.marker, lw=0, zorder=3, label=name)
            )
        for level, style, width in ((0, "-", 1.8), (-1, "--", 0.9), (1, "--", 0.9)):
            ax.axvline(level, color=INK, ls=style, lw=width, zorder=2)
        ax.axhline(0, color=INK, lw=0.9)
        ax.set_ylim(-0.15 * highest, highest)
        # There are no numbers of samples below zero.
        ax.set_yticks([tick for tick in ax.get_yticks() if 0 <= tick <= highest and tick == int(tick)])
        tidy(ax, "w·x + b", "number of samples")
        return drawn

    def _draw_sorted(self, ax: Axes) -> list[Any]:
        margins = self.sides.margins
        order = np.argsort(margins, kind="stable")
        points = np.column_stack([np.arange(1, len(order) + 1), margins[order]])
        drawn = draw_samples(
            ax, points, self.sides.positive[order], self.sides.given_up[order], self.classes, "given up"
        )
        ax.axhline(1, color=INK, ls="--", lw=0.9, zorder=2, label="margin 1")
        ax.axhline(0, color=INK, ls="-", lw=1.2, zorder=2, label="boundary")
        # The few samples at the lower end are those that matter.
        plain_log(ax)
        tidy(ax, "rank by margin", "margin y (w·x + b)")
        return drawn


def _edges(decision: FloatArray, bins: int) -> FloatArray:
    """The edges of about so many bars; the boundary and the margins are among them unless the bars are wide."""
    low, high = min(-1.0, float(decision.min())), max(1.0, float(decision.max()))
    width = (high - low) / max(1, bins)
    if width > _WIDE:
        return np.linspace(low, high, max(1, bins) + 1)
    width = 1 / max(1.0, np.floor(1 / width))
    edges = np.arange(np.floor(low / width) - 1, np.ceil(high / width) + 2) * width
    # Samples on a margin are kept: they belong into the bar beyond it, on either side.
    nudged: FloatArray = edges - np.sign(edges) * _NUDGE
    return nudged
