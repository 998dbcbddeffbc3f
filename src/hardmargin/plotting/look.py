"""What all pictures share: colours and markers that all readers can tell apart, axes, samples with rings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hardmargin.arrays import FloatArray
from hardmargin.extras import how_to_install

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Look(NamedTuple):
    """How the samples of one class are drawn."""

    colour: str
    marker: str


# Blue and vermillion of Okabe and Ito's palette, which are distinguishable with any kind of colour vision. The
# markers differ as well, for print in grey.
NEGATIVE = Look("#0072B2", "o")
POSITIVE = Look("#D55E00", "^")
INK = "#222222"

# Samples up to this number are drawn in full size; more of them get smaller markers, so that they do not merge.
_FEW = 500
_SIZE = 32.0
_WIDTH = 6.4
_SMALLEST = 4.0


def axes_or_new(ax: Axes | None, *, height: float = 4.8) -> Axes:
    """The axes to draw into: those given, or new ones of pyplot, which a notebook shows by itself.

    Parameters
    ----------
    ax : matplotlib Axes or None
    height : float
        Height of a new figure, in inches.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError(f"pictures need matplotlib; {how_to_install('plot')}.") from None
    return pyplot.subplots(figsize=(_WIDTH, height), layout="constrained")[1]


def tidy(ax: Axes, x: str, y: str) -> None:
    """Label the axes and remove the lines that mean nothing."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_xlabel(x)
    ax.set_ylabel(y)


def plain_log(ax: Axes) -> None:
    """Make the horizontal axis logarithmic, with labels such as 0.1 at the powers of ten."""
    from matplotlib.ticker import NullFormatter

    ax.set_xscale("log")
    ax.xaxis.set_major_formatter("{x:g}")
    ax.xaxis.set_minor_formatter(NullFormatter())


def add_legend(ax: Axes, columns: int = 3) -> None:
    """A legend above the axes, where it hides nothing."""
    ax.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=columns, frameon=False, borderaxespad=0.2)


def draw_samples(
    ax: Axes,
    points: FloatArray,
    positive: NDArray[np.bool_],
    given_up: NDArray[np.bool_],
    classes: tuple[Any, Any],
    name: str,
) -> list[Any]:
    """Draw both classes, and rings around the samples given up.

    Parameters
    ----------
    ax : matplotlib Axes
    points : ndarray of shape (n, 2)
    positive, given_up : ndarray of bool of shape (n,)
    classes : pair of labels
        The negative side first.
    name : str
        Name of the samples with rings in the legend.

    Returns
    -------
    list of matplotlib PathCollection
        Negative samples, positive samples, rings.
    """
    size = max(_SMALLEST, _SIZE * min(1.0, _FEW / max(1, len(points))))
    drawn: list[Any] = []
    for rows, look, label in ((~positive, NEGATIVE, classes[0]), (positive, POSITIVE, classes[1])):
        across, up = points[rows].T
        drawn.append(
            ax.scatter(
                across, up, s=size, c=look.colour, marker=look.marker, lw=0, zorder=3, label=f"class {label}"
            )
        )
    x, y = points[given_up].T
    ring = ax.scatter(
        x, y, s=2.8 * size, facecolors="none", edgecolors=INK, lw=0.9 * (size / _SIZE) ** 0.5, zorder=4, label=name
    )
    return [*drawn, ring]
