"""The default: the best that this version can do, without the caller having to choose.

This version has one method, the primal search with its cheap bounds; auto runs it.
"""

from __future__ import annotations

from dataclasses import replace

from hardmargin.bounds import Report
from hardmargin.methods import heuristic
from hardmargin.methods.base import Incumbent, Limits
from hardmargin.problem import Problem
from hardmargin.result import Result

Options = heuristic.Options


def run(
    problem: Problem, incumbent: Incumbent | None, limits: Limits, report: Report, options: Options | None = None
) -> Result:
    """Solve with the method that suits the problem; see :class:`hardmargin.methods.base.Method`."""
    return replace(heuristic.run(problem, incumbent, limits, report, options), method="auto")
