"""Primal search only: a very good hyperplane, and a first lower bound that is cheap to prove.

The search is in ``search/primal.py``.
"""

from __future__ import annotations

from dataclasses import dataclass

from hardmargin.bounds import SMALLEST_GAP as SMALLEST_GAP
from hardmargin.bounds import Report
from hardmargin.incumbent import Incumbent
from hardmargin.limits import Limits
from hardmargin.methods.base import require_positive
from hardmargin.problem import Problem
from hardmargin.result import Result
from hardmargin.search import primal

HAS_FRONTIER = False


@dataclass(frozen=True)
class Options:
    """Settings of the primal search.

    Attributes
    ----------
    effort : float
        How long to search, in units of work. One unit takes about a second on a current core for some hundreds
        of samples, and more for many thousands. The search ends earlier when its hyperplane is proven optimal,
        and at the time limit in any case.
    """

    effort: float = primal.DEFAULT_EFFORT

    def __post_init__(self) -> None:
        require_positive(self, "effort")


def run(
    problem: Problem, incumbent: Incumbent | None, limits: Limits, report: Report, options: Options | None = None
) -> Result:
    """Search and bound; see :class:`hardmargin.methods.base.Method`."""
    return primal.search(problem, incumbent, limits, report, (options or Options()).effort)
