"""Figures of hyperplanes for data with two features; needs matplotlib, the extra ``plot``."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hardmargin.arrays import FloatArray
from hardmargin.extras import how_to_install
from hardmargin.problem import MARGIN_TOLERANCE
from hardmargin.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class Look(NamedTuple):
    """How the samples of one class are drawn."""

    colour: str
    marker: str


# Blue and vermillion of Okabe and Ito's palette, which are distinguishable with any kind of colour vision. The
# markers differ as well, for print in grey.
NEGATIVE = Look("#0072B2", "o")
POSITIVE = Look("#D55E00", "^")
_INK = "#222222"


def plot_hyperplane(
    ax: Axes,
    X: ArrayLike,
    y: ArrayLike,
    coef: ArrayLike,
    intercept: float,
    *,
    classes: Sequence[Any] | None = None,
    violations_label: str = "given up",
) -> NDArray[np.intp]:
    """Draw a hyperplane in the plane: the line, its margins, the samples, and rings around the violated ones.

    Parameters
    ----------
    ax : matplotlib Axes
        Where to draw.
    X : array-like of shape (n, 2)
        Samples.
    y : array-like of shape (n,)
        Labels, two values.
    coef, intercept : array-like of shape (2,), float
        The hyperplane w.x + b = 0.
    classes : sequence of two labels, optional
        The negative side first; by default the sorted labels in ``y``.
    violations_label : str
        Name of the samples with a margin below 1 in the legend.

    Returns
    -------
    violations : ndarray of int
        The rows with rings: those with y (w.x + b) < 1.

    Raises
    ------
    ValueError
        If the samples are not two-dimensional, or there are not two labels.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = Figure().subplots()
    >>> X, y = [[0, 0], [0, 1], [3, 0], [3, 1], [9, 0]], [0, 0, 1, 1, 0]
    >>> plot_hyperplane(ax, X, y, coef=[1.0, 0.0], intercept=-1.5).tolist()
    [4]
    """
    samples, labels = _plane(X), np.asarray(y)
    negative, positive = _two_labels(labels, classes)
    w = np.asarray(coef, dtype=np.float64).ravel()
    margins = np.where(labels == positive, 1.0, -1.0) * (samples @ w + intercept)
    violations = np.flatnonzero(margins < 1 - MARGIN_TOLERANCE)
    _frame(ax, samples)
    _draw_line(ax, w, float(intercept))
    for label, look in ((negative, NEGATIVE), (positive, POSITIVE)):
        across, up = samples[labels == label].T
        ax.scatter(across, up, s=32, c=look.colour, marker=look.marker, lw=0, zorder=3, label=f"class {label}")
    across, up = samples[violations].T
    ax.scatter(across, up, s=90, facecolors="none", edgecolors=_INK, lw=0.9, zorder=4, label=violations_label)
    return violations


def plot_comparison(
    X: ArrayLike,
    y: ArrayLike,
    result: Result,
    hinge: Any,
    path: str | os.PathLike[str],
    *,
    clean: ArrayLike | None = None,
) -> Path:
    """Draw a hard-margin result beside a hinge-loss classifier on the same samples.

    Parameters
    ----------
    X, y : array-like of shape (n, 2) and (n,)
        The training data.
    result : Result
        The result of :func:`hardmargin.solve` for these data.
    hinge : fitted linear classifier
        Anything with ``coef_`` and ``intercept_`` as in scikit-learn, e.g. ``SVC(kernel="linear")``.
    path : str or path
        The figure's file; its suffix determines the format.
    clean : array-like of bool of shape (n,), optional
        The samples that are not outliers, over which the titles give accuracies; by default all.

    Returns
    -------
    path : Path
        The file that was written.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    ValueError
        If the samples are not two-dimensional.
    """
    figure = _new_figure(width=10.0, height=5.2)
    samples, labels = _plane(X), np.asarray(y)
    counted = np.ones(len(samples), dtype=bool) if clean is None else np.asarray(clean, dtype=bool)
    panels = (
        ("Hard-margin loss", np.array(result.coef), result.intercept),
        ("Hinge loss", np.ravel(hinge.coef_), float(np.ravel(hinge.intercept_)[0])),
    )
    axes = figure.subplots(1, 2, sharex=True, sharey=True)
    for ax, (name, coef, intercept) in zip(axes, panels, strict=True):
        plot_hyperplane(
            ax, samples, labels, coef, intercept, classes=result.classes, violations_label="margin below 1"
        )
        sides = np.asarray(result.classes)[(samples @ coef + intercept > 0).astype(np.intp)]
        right, total = int(np.sum(sides[counted] == labels[counted])), int(counted.sum())
        ax.set_title(name, fontsize=14, fontweight="bold", color=_INK, pad=24)
        kind = "samples" if clean is None else "clean samples"
        subtitle = f"{right} of {total} {kind} on their own side ({100 * right / total:.1f} %)"
        ax.text(0.5, 1.02, subtitle, transform=ax.transAxes, ha="center", fontsize=10.5, color=_INK)
    axes[1].set_ylabel("")
    handles, names = axes[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=len(names), frameon=False)
    figure.savefig(path, dpi=160, bbox_inches="tight", pad_inches=0.15)
    return Path(path)


def _new_figure(width: float, height: float) -> Figure:
    """A figure without pyplot, which needs neither a window system nor global state."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError(f"plotting needs matplotlib; {how_to_install('plot')}.") from None
    return Figure(figsize=(width, height), layout="constrained")


def _plane(X: ArrayLike) -> FloatArray:
    samples = np.asarray(X, dtype=np.float64)
    if samples.ndim != 2 or samples.shape[1] != 2:
        raise ValueError(f"X has shape {samples.shape}; expected (n, 2): only a plane can be drawn.")
    return samples


def _two_labels(labels: NDArray[Any], classes: Sequence[Any] | None) -> tuple[Any, Any]:
    found = np.unique(labels).tolist() if classes is None else list(classes)
    if len(found) != 2:
        raise ValueError(f"there are {len(found)} classes; expected two.")
    return found[0], found[1]


def _frame(ax: Axes, samples: FloatArray) -> None:
    """Set the axis limits before the line is drawn, so that a distant line cannot stretch them."""
    low, high = samples.min(axis=0), samples.max(axis=0)
    room = 0.06 * np.maximum(high - low, 1e-9)
    ax.set_xlim(low[0] - room[0], high[0] + room[0])
    ax.set_ylim(low[1] - room[1], high[1] + room[1])
    ax.set_xlabel("feature 1")
    ax.set_ylabel("feature 2")
    ax.spines[["top", "right"]].set_visible(False)


def _draw_line(ax: Axes, w: FloatArray, intercept: float) -> None:
    """Draw the two sides as tints, the line, and the margins at w.x + b = -1 and +1."""
    length = float(np.linalg.norm(w))
    if length == 0:
        return
    normal = w / length
    along = np.array([-normal[1], normal[0]])
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    centre = np.array([left + right, bottom + top]) / 2
    distance = float(w @ centre + intercept) / length
    foot = centre - distance * normal
    reach = float(np.hypot(right - left, top - bottom)) + abs(distance)
    for side, look in ((-1, NEGATIVE), (1, POSITIVE)):
        edge = [foot - reach * along, foot + reach * along]
        corners = [*edge, *(corner + side * reach * normal for corner in reversed(edge))]
        ax.fill(*np.transpose(corners), color=look.colour, alpha=0.08, lw=0, zorder=0)
    # A label that begins with an underscore stays out of the legend.
    lines = ((0, "-", 1.8, "hyperplane"), (1, "--", 0.9, "its margins"), (-1, "--", 0.9, "_other margin"))
    for level, dashes, width, label in lines:
        x, y = foot + level / length * normal
        ax.axline((x, y), (x + along[0], y + along[1]), color=_INK, ls=dashes, lw=width, zorder=2, label=label)
