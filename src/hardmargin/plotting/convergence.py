"""The bounds of a solve over time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hardmargin.bounds import TracePoint, relative_gap
from hardmargin.plotting.look import NEGATIVE, POSITIVE, add_legend, axes_or_new, plain_log, tidy
from hardmargin.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Times before this are drawn there: a logarithmic axis has no zero.
_FIRST_SECONDS = 1e-3
# Objectives up to so many times the last one are shown.
_HIGHEST = 2.5
# Gaps up to this count as closed in the legend.
_SMALL_GAP = 1e-4


class ConvergenceDisplay:
    """Objective and proven bound over time, and the gap between them.

    Use :meth:`from_estimator` to create one.

    Parameters
    ----------
    trace : sequence of TracePoint
        Time, upper bound and lower bound, as in ``Result.trace``.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    lines_ : list of matplotlib Line2D
        The objective and the lower bound.

    Examples
    --------
    >>> from hardmargin import solve
    >>> from hardmargin.plotting import ConvergenceDisplay
    >>> result = solve([[0.0], [1.0], [3.0], [4.0], [9.0]], [0, 0, 1, 1, 0], C=10)
    >>> display = ConvergenceDisplay.from_estimator(result)
    >>> [line.get_label() for line in display.lines_]
    ['best hyperplane', 'proven lower bound']
    """

    def __init__(self, *, trace: Sequence[TracePoint]) -> None:
        if not trace:
            raise ValueError("the trace is empty; expected at least one point.")
        self.trace = trace

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Axes | None = None) -> ConvergenceDisplay:
        """Draw the bounds that were known while a model was trained.

        Parameters
        ----------
        estimator : Result, fitted HardMarginSVC, or pipeline that ends in one
        ax : matplotlib Axes, optional
            Where to draw; by default new axes.

        Returns
        -------
        ConvergenceDisplay
        """
        last = estimator[-1] if hasattr(estimator, "steps") else estimator
        result = last if isinstance(last, Result) else getattr(last, "result_", None)
        if not isinstance(result, Result):
            raise TypeError(f"the model is {type(last).__name__}; expected a Result or a fitted HardMarginSVC.")
        return cls(trace=result.trace).plot(ax)

    def plot(self, ax: Axes | None = None) -> ConvergenceDisplay:
        """Draw both bounds as steps over the logarithm of time.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default new axes.

        Returns
        -------
        ConvergenceDisplay
            The display itself.
        """
        ax = axes_or_new(ax)
        times = [max(_FIRST_SECONDS, point.time) for point in self.trace]
        upper = [point.upper for point in self.trace]
        lower = [point.lower for point in self.trace]
        gap = relative_gap(upper[-1], lower[-1])
        shown = f"gap, {100 * gap:.3g} % at the end" if gap > _SMALL_GAP else "gap, closed at the end"
        ax.fill_between(times, lower, upper, step="post", color="0.5", alpha=0.2, lw=0, label=shown)
        self.lines_ = [
            *ax.step(times, upper, where="post", color=POSITIVE.colour, lw=1.6, label="best hyperplane"),
            *ax.step(
                times, lower, where="post", color=NEGATIVE.colour, lw=1.6, ls="--", label="proven lower bound"
            ),
        ]
        # Whole decades, so that at least two of them have a label.
        ax.set_xlim(10.0 ** math.floor(math.log10(times[0])), 10.0 ** math.ceil(math.log10(1.01 * times[-1])))
        plain_log(ax)
        # The first objectives can be so large that nothing else would be seen.
        ax.set_ylim(0, min(1.05 * upper[0], _HIGHEST * upper[-1]) or 1)
        tidy(ax, "seconds", "objective")
        add_legend(ax, columns=2)
        self.ax_, self.figure_ = ax, ax.figure
        return self
