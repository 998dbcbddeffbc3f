"""The picture of a path: objective and proven bound over C, and what is given up."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hardmargin.plotting.look import NEGATIVE, POSITIVE, axes_or_new, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from hardmargin.penalty_path import Path

_OBJECTIVE, _GIVEN_UP = NEGATIVE.colour, POSITIVE.colour
# Points of the curves besides the breakpoints: lines in C are curved on a logarithmic axis.
_POINTS = 200


def plot_path(path: Path, ax: Axes | None = None) -> Axes:
    """Draw a path; see :meth:`hardmargin.penalty_path.Path.plot`.

    The objective is divided by C, so that a range of several powers of ten fits into the picture: it is then what
    is given up plus 1/2 ||w||^2 / C. The band below it, if there is one, is what is not proven. What is given up is
    a line of steps, one at each breakpoint.
    """
    ax = axes_or_new(ax)
    # Rounding may put points outside.
    grid = np.clip(np.geomspace(path.low, path.high, _POINTS), path.low, path.high)
    at = np.array(sorted({*grid.tolist(), *path.breakpoints}))
    results = [path.at(C) for C in at]
    upper = np.array([result.objective for result in results]) / at
    lower = np.array([result.lower_bound for result in results]) / at
    if not path.optimal:
        ax.fill_between(at, lower, upper, color=_OBJECTIVE, alpha=0.25, lw=0, label="not proven")
    ax.plot(at, upper, color=_OBJECTIVE, lw=1.6, label="objective / C")
    edges = [path.low, *path.breakpoints, path.high]
    given_up = [part.given_up for part in path.segments]
    # Without a baseline: a line down to zero at the end of the range would be one more step.
    ax.stairs(given_up, edges, baseline=None, color=_GIVEN_UP, lw=1.2, label="given up")
    for C in path.breakpoints:
        ax.axvline(C, color="#999999", lw=0.5, zorder=0)
    if path.low < path.high:
        ax.set_xlim(path.low, path.high)
    ax.set_xscale("log")
    ax.set_ylim(bottom=0)
    tidy(ax, "C", "samples" if path.hyperplanes[0].weights is None else "weight of samples")
    ax.legend(frameon=False)
    return ax
