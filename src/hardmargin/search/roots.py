"""The frontiers that searches begin with, made by the core."""

from __future__ import annotations

from collections.abc import Sequence

from hardmargin import _core
from hardmargin.arrays import FloatArray
from hardmargin.frontier import Frontier
from hardmargin.problem import Problem
from hardmargin.search.settings import DirectionSettings


def packing_root(
    problem: Problem, bound: float, upper: float, *, kept: Sequence[int] = (), given_up: Sequence[int] = ()
) -> Frontier:
    """The whole problem as the search over samples has it, or the part of it in which these samples are decided.

    Parameters
    ----------
    problem : Problem
    bound : float
        A bound on its objective.
    upper : float
        What the decisions were derived under: solutions that cost less are all in this part.
    kept, given_up : sequence of int
        The samples.
    """
    return Frontier(*_core.packing_root(problem.n, list(kept), list(given_up), bound, upper))


def direction_root(problem: Problem, settings: DirectionSettings, upper: float) -> Frontier:
    """All directions as the search over them has it, with lengths of solutions that cost less than ``upper``."""
    samples = (problem.X, problem.y, problem.costs)
    return Frontier(*_core.direction_root(*samples, upper, settings.options(), problem.core_bounds))


def direction_axes(problem: Problem, settings: DirectionSettings) -> FloatArray:
    """The axes of the cube that the search over directions divides, one per row."""
    axes: FloatArray = _core.direction_axes(problem.X, problem.y, problem.costs, settings.options())
    return axes
