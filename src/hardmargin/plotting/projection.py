"""A model with any number of features, seen along its hyperplane."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from hardmargin.arrays import FloatArray, SampleArray
from hardmargin.plotting.fitted import Sides, classes_of, linear_part, sides, transformed
from hardmargin.plotting.look import INK, add_legend, axes_or_new, draw_samples, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class ProjectionDisplay:
    """Samples with many features in a plane: across the hyperplane, and along it.

    The horizontal axis is the signed distance from the hyperplane. The vertical one is the direction inside the
    hyperplane in which the samples vary most: the first principal component of what is left of them without w. Both
    are orthogonal directions of unit length, so the picture is a view of the samples that distorts no distance in
    its plane.

    Use :meth:`from_estimator` to create one.

    Parameters
    ----------
    along : ndarray of shape (n,)
        Coordinates along the hyperplane.
    explained : float
        The share of the variance inside the hyperplane that they explain.
    length : float
        ||w||, which is positive.
    sides : Sides
        Decision function and class of every sample.
    classes : pair of labels
        The negative side first.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    samples_ : list of matplotlib PathCollection
        Negative samples, positive samples, and the rings around the samples given up.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hardmargin import HardMarginSVC
    >>> from hardmargin.plotting import ProjectionDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> X, y = X[50:], y[50:]
    >>> model = HardMarginSVC(C=10, method="heuristic").fit(X, y)
    >>> display = ProjectionDisplay.from_estimator(model, X, y)
    >>> display.ax_.get_xlabel()
    'distance from the hyperplane'
    """

    def __init__(
        self, *, along: FloatArray, explained: float, length: float, sides: Sides, classes: tuple[Any, Any]
    ) -> None:
        self.along = along
        self.explained = explained
        self.length = length
        self.sides = sides
        self.classes = classes

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: ArrayLike, y: ArrayLike, *, ax: Axes | None = None
    ) -> ProjectionDisplay:
        """Project samples and draw them.

        Parameters
        ----------
        estimator : Result or fitted linear classifier for two classes
            Of a pipeline, the last step counts: the samples are shown as it gets them.
        X, y : array-like of shape (n, m) and (n,)
            Samples and labels, with at least two features.
        ax : matplotlib Axes, optional
            Where to draw; by default new axes.

        Returns
        -------
        ProjectionDisplay

        Raises
        ------
        ValueError
            If there is only one feature, or if w = 0.
        """
        classes = classes_of(estimator)
        part = linear_part(estimator)
        length = float(np.linalg.norm(part.coef))
        if length == 0:
            raise ValueError("the model is constant (w = 0); expected one with a direction to look at.")
        samples = transformed(estimator, X)
        if samples.shape[1] < 2:
            raise ValueError("the model has one feature; expected at least two. MarginsDisplay can draw it.")
        along, explained = _along(samples, part.coef / length)
        display = cls(
            along=along,
            explained=explained,
            length=length,
            sides=sides(samples @ part.coef + part.intercept, y, classes),
            classes=classes,
        )
        return display.plot(ax)

    def plot(self, ax: Axes | None = None) -> ProjectionDisplay:
        """Draw the samples, the hyperplane and its margins.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default new axes.

        Returns
        -------
        ProjectionDisplay
            The display itself.
        """
        ax = axes_or_new(ax)
        ax.axvline(0, color=INK, lw=1.8, zorder=2, label="hyperplane")
        ax.axvline(-1 / self.length, color=INK, ls="--", lw=0.9, zorder=2, label="its margins")
        ax.axvline(1 / self.length, color=INK, ls="--", lw=0.9, zorder=2)
        points = np.column_stack([self.sides.decision / self.length, self.along])
        given_up = self.sides.given_up
        self.samples_ = draw_samples(ax, points, self.sides.positive, given_up, self.classes, "given up")
        share = f"{100 * self.explained:.0f} % of the variance inside the hyperplane"
        tidy(ax, "distance from the hyperplane", f"first principal component of the rest\n({share})")
        add_legend(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _along(samples: SampleArray, normal: FloatArray) -> tuple[FloatArray, float]:
    """Coordinates in the direction of the largest variance orthogonal to the normal, and its share of the rest."""
    from scipy.sparse.linalg import LinearOperator, svds

    n, m = samples.shape
    centre = np.asarray(samples.mean(axis=0)).ravel()
    across = samples @ normal - centre @ normal

    # The centred samples without their component along the normal, never stored: sparse samples stay sparse.
    def forward(vector: FloatArray) -> FloatArray:
        vector = np.ravel(vector)
        values: FloatArray = samples @ vector - centre @ vector - across * (normal @ vector)
        return values

    def backward(values: FloatArray) -> FloatArray:
        values = np.ravel(values)
        vector: FloatArray = samples.T @ values - centre * values.sum() - normal * (across @ values)
        return vector

    squares = samples.multiply(samples) if hasattr(samples, "multiply") else samples * samples
    total = float(squares.sum()) - n * float(centre @ centre) - float(across @ across)
    scale = float(squares.sum()) + 1e-300
    if total <= 1e-12 * scale:
        return np.zeros(n), 1.0
    rest = LinearOperator((n, m), matvec=forward, rmatvec=backward, dtype=np.float64)
    start = np.random.default_rng(0).normal(size=min(n, m))
    _, values, rows = svds(rest, k=1, v0=start)
    direction = rows[0] if rows[0][np.abs(rows[0]).argmax()] > 0 else -rows[0]
    return forward(direction), min(1.0, float(values[0]) ** 2 / total)
