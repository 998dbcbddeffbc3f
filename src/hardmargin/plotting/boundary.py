"""The decision boundary of a model with two features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from hardmargin.arrays import FloatArray
from hardmargin.plotting.fitted import Sides, classes_of, sides
from hardmargin.plotting.look import INK, NEGATIVE, POSITIVE, add_legend, axes_or_new, draw_samples, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Room around the samples, in parts of their range.
_ROOM = 0.06


class BoundaryDisplay:
    """Decision boundary of a model with two features, its margins, the samples, and those given up.

    Use :meth:`from_estimator` to create one.

    Parameters
    ----------
    xx, yy : ndarray of shape (grid, grid)
        The points of a grid, as made by ``numpy.meshgrid``.
    response : ndarray of shape (grid, grid)
        The decision function at these points.
    samples : ndarray of shape (n, 2)
    sides : Sides
        Decision function and class of every sample.
    classes : pair of labels
        The negative side first.
    feature_names : pair of str
        Labels of the axes.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    lines_ : matplotlib QuadContourSet or None
        The boundary and its margins, as far as they lie among the samples.
    samples_ : list of matplotlib PathCollection
        Negative samples, positive samples, and the rings around the samples given up.

    Examples
    --------
    >>> from hardmargin import HardMarginSVC
    >>> from hardmargin.plotting import BoundaryDisplay
    >>> X, y = [[0, 0], [0, 1], [3, 0], [3, 1], [9, 0]], [0, 0, 1, 1, 0]
    >>> display = BoundaryDisplay.from_estimator(HardMarginSVC(C=10).fit(X, y), X, y)
    >>> display.sides.given_up.nonzero()[0].tolist()
    [4]
    """

    def __init__(
        self,
        *,
        xx: FloatArray,
        yy: FloatArray,
        response: FloatArray,
        samples: FloatArray,
        sides: Sides,
        classes: tuple[Any, Any],
        feature_names: tuple[str, str],
    ) -> None:
        self.xx = xx
        self.yy = yy
        self.response = response
        self.samples = samples
        self.sides = sides
        self.classes = classes
        self.feature_names = feature_names

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        y: ArrayLike,
        *,
        ax: Axes | None = None,
        grid_resolution: int = 200,
        given_up_label: str = "given up",
    ) -> BoundaryDisplay:
        """Evaluate a model around some samples and draw it.

        Parameters
        ----------
        estimator : Result or fitted classifier
            Anything for two classes with a ``decision_function``, pipelines included.
        X, y : array-like of shape (n, 2) and (n,)
            Samples and labels.
        ax : matplotlib Axes, optional
            Where to draw; by default new axes.
        grid_resolution : int
            Points of the grid in each direction. A straight boundary is exact on any grid.
        given_up_label : str
            Name of the samples with a margin below 1 in the legend.

        Returns
        -------
        BoundaryDisplay

        Raises
        ------
        ValueError
            If the samples do not have two features, or there are not two classes.
        """
        classes = classes_of(estimator)
        samples = np.asarray(X, dtype=np.float64)
        if samples.ndim != 2 or samples.shape[1] != 2:
            raise ValueError(
                f"X has shape {samples.shape}; expected (n, 2). For more features use ProjectionDisplay."
            )
        low, high = samples.min(axis=0), samples.max(axis=0)
        room = _ROOM * np.where(high > low, high - low, 1.0)
        ticks = np.linspace(low - room, high + room, grid_resolution)
        xx, yy = np.meshgrid(ticks[:, 0], ticks[:, 1])
        points: Any = np.column_stack([xx.ravel(), yy.ravel()])
        columns = getattr(X, "columns", None)
        if hasattr(X, "iloc"):
            # A model that was trained on named columns warns if they have no names.
            frame: Any = type(X)
            points = frame(points, columns=columns)
        names = ["feature 1", "feature 2"] if columns is None else [str(name) for name in columns]
        display = cls(
            xx=xx,
            yy=yy,
            response=np.reshape(estimator.decision_function(points), xx.shape),
            samples=samples,
            sides=sides(estimator.decision_function(X), y, classes),
            classes=classes,
            feature_names=(names[0], names[1]),
        )
        return display.plot(ax, given_up_label=given_up_label)

    def plot(self, ax: Axes | None = None, *, given_up_label: str = "given up") -> BoundaryDisplay:
        """Draw the two sides as tints, the boundary, its margins, and the samples.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default new axes.
        given_up_label : str
            Name of the samples with a margin below 1 in the legend.

        Returns
        -------
        BoundaryDisplay
            The display itself.
        """
        ax = axes_or_new(ax)
        lowest, highest = float(self.response.min()), float(self.response.max())
        tints = [min(lowest, 0.0) - 1, 0.0, max(highest, 0.0) + 1]
        colours = [NEGATIVE.colour, POSITIVE.colour]
        ax.contourf(self.xx, self.yy, self.response, tints, colors=colours, alpha=0.08)
        levels = [level for level in (-1.0, 0.0, 1.0) if lowest < level < highest]
        self.lines_ = None
        if levels:
            self.lines_ = ax.contour(
                self.xx,
                self.yy,
                self.response,
                levels,
                colors=INK,
                linestyles=["-" if level == 0 else "--" for level in levels],
                linewidths=[1.8 if level == 0 else 0.9 for level in levels],
            )
        # Contours have no entry in a legend.
        for style, width, level, name in (("-", 1.8, {0.0}, "boundary"), ("--", 0.9, {-1.0, 1.0}, "its margins")):
            if level & set(levels):
                ax.plot([], [], ls=style, lw=width, color=INK, label=name)
        given_up = self.sides.given_up
        self.samples_ = draw_samples(ax, self.samples, self.sides.positive, given_up, self.classes, given_up_label)
        ax.set_xlim(float(self.xx.min()), float(self.xx.max()))
        ax.set_ylim(float(self.yy.min()), float(self.yy.max()))
        tidy(ax, *self.feature_names)
        add_legend(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self
