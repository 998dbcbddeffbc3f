"""The weights of a linear model, with the names of its features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hardmargin.arrays import FloatArray
from hardmargin.plotting.fitted import classes_of, linear_part
from hardmargin.plotting.look import INK, NEGATIVE, POSITIVE, axes_or_new, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Inches per bar; new axes grow with the number of bars.
_BAR = 0.24
_FRAME = 1.0


class WeightsDisplay:
    """The weights of a linear model as bars, the largest ones first.

    Use :meth:`from_estimator` to create one.

    Parameters
    ----------
    coef : ndarray of shape (m,)
    feature_names : list of str
    classes : pair of labels
        The negative side first.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    bars_ : matplotlib BarContainer

    Examples
    --------
    >>> from hardmargin import HardMarginSVC
    >>> from hardmargin.plotting import WeightsDisplay
    >>> model = HardMarginSVC(C=10).fit([[0, 5], [1, 5], [3, 5], [4, 6]], ["low", "low", "high", "high"])
    >>> display = WeightsDisplay.from_estimator(model, feature_names=["length", "width"])
    >>> [label.get_text() for label in display.ax_.get_yticklabels()]
    ['length', 'width']
    """

    def __init__(self, *, coef: FloatArray, feature_names: list[str], classes: tuple[Any, Any]) -> None:
        self.coef = coef
        self.feature_names = feature_names
        self.classes = classes

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        feature_names: list[str] | None = None,
        max_features: int = 20,
        ax: Axes | None = None,
    ) -> WeightsDisplay:
        """Draw the weights of a model.

        Parameters
        ----------
        estimator : Result or fitted linear classifier for two classes
            Of a pipeline, the last step counts: its weights belong to the transformed features.
        feature_names : list of str, optional
            Names of the features; by default those that the model knows.
        max_features, ax
            As in :meth:`plot`.

        Returns
        -------
        WeightsDisplay
        """
        part = linear_part(estimator)
        names = part.feature_names if feature_names is None else [str(name) for name in feature_names]
        if len(names) != len(part.coef):
            raise ValueError(f"there are {len(names)} feature_names; expected {len(part.coef)}, one per weight.")
        display = cls(coef=part.coef, feature_names=names, classes=classes_of(estimator))
        return display.plot(ax, max_features=max_features)

    def plot(self, ax: Axes | None = None, *, max_features: int = 20) -> WeightsDisplay:
        """Draw one bar per feature.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default new axes, as high as the bars need.
        max_features : int
            Only so many bars are drawn, for the features with the largest weights.

        Returns
        -------
        WeightsDisplay
            The display itself.
        """
        rows = np.argsort(-np.abs(self.coef), kind="stable")[: max(1, max_features)]
        ax = axes_or_new(ax, height=_FRAME + _BAR * max(3, len(rows)))
        weights = self.coef[rows]
        colours = [POSITIVE.colour if weight > 0 else NEGATIVE.colour for weight in weights]
        self.bars_ = ax.barh(np.arange(len(rows)), weights, color=colours, height=0.7)
        ax.axvline(0, color=INK, lw=0.9)
        ax.set_yticks(np.arange(len(rows)), [self.feature_names[row] for row in rows])
        # The largest weight on top.
        ax.set_ylim(len(rows) - 0.4, -0.6)
        ax.tick_params(axis="y", length=0)
        left = len(self.coef) - len(rows)
        below = f"\n({left} features with smaller weights not shown)" if left else ""
        tidy(ax, f"weight: < 0 for class {self.classes[0]}, > 0 for class {self.classes[1]}{below}", "")
        ax.spines["left"].set_visible(False)
        self.ax_, self.figure_ = ax, ax.figure
        return self
