"""Hyperplanes with their margins over all samples."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from hardmargin import _core
from hardmargin.arrays import FloatArray
from hardmargin.problem import MARGIN_TOLERANCE, Problem


class Place(NamedTuple):
    """A hyperplane, with its objective and its margins over all samples."""

    coef: FloatArray
    intercept: float
    objective: float
    margins: FloatArray


def placed(problem: Problem, coef: FloatArray, intercept: float, margins: FloatArray) -> Place:
    """A hyperplane with these margins, scaled so that kept samples pass; the margins are scaled in place."""
    kept = margins >= 1 - MARGIN_TOLERANCE
    smallest = float(np.min(margins, where=kept, initial=1.0))
    lost = float(np.sum(problem.costs, where=~kept))
    margins /= smallest
    coef, intercept = coef / smallest, intercept / smallest
    feasible = problem.bounds is None or problem.bounds.hold(coef)
    return Place(coef, intercept, 0.5 * float(coef @ coef) + lost if feasible else math.inf, margins)


def cheaper_class(problem: Problem) -> Place:
    """The hyperplane with w = 0 that gives up the class that costs less; its objective may be infinite."""
    lost = [float(np.sum(problem.costs, where=problem.y == label)) for label in (-1.0, 1.0)]
    kept = 1.0 if lost[1] >= lost[0] else -1.0
    coef = np.zeros(problem.m)
    possible = not problem.constrained or math.isfinite(problem.evaluate(coef, kept).objective)
    return Place(coef, kept, min(lost) if possible else math.inf, kept * problem.y)


def best_on_line(
    problem: Problem, place: Place, coef: FloatArray, intercept: float, projections: FloatArray
) -> Place:
    """The best place on the line through a place.

    Parameters
    ----------
    problem : Problem
    place : Place
    coef, intercept : ndarray of shape (m,), float
        The direction of the line.
    projections : ndarray of shape (n,)
        The samples times ``coef``; overwritten.

    Returns
    -------
    Place
        The given one if no other is better.
    """
    slopes = projections
    slopes += intercept
    slopes *= problem.y
    step, objective = _core.line_minimum(
        place.margins,
        slopes,
        problem.costs,
        float(place.coef @ place.coef),
        float(place.coef @ coef),
        float(coef @ coef),
        place.objective,
    )
    if not objective < place.objective or not math.isfinite(step):
        return place
    if problem.bounds is not None:
        least, most = problem.bounds.steps_within(place.coef, coef)
        step = min(max(step, least), most)
    slopes *= step
    slopes += place.margins
    found = placed(problem, place.coef + step * coef, place.intercept + step * intercept, slopes)
    return found if found.objective < place.objective else place


def best_offset_of(scores: FloatArray, y: FloatArray, costs: FloatArray) -> float:
    """The b with which the samples with y (score + b) < 1 cost least together.

    Examples
    --------
    >>> best_offset_of(np.array([0.0, 1.0, 3.0, 4.0]), np.array([-1.0, -1.0, 1.0, 1.0]), np.ones(4))
    -2.0
    """
    # A positive sample is kept from its own b on, a negative one up to it.
    tight = y - scores
    order = np.argsort(tight, kind="stable")
    ends, signs, weights = tight[order], y[order], costs[order]
    gained = np.cumsum(np.where(signs > 0, weights, 0.0))
    lost = np.concatenate([[0.0], np.cumsum(np.where(signs < 0, weights, 0.0))[:-1]])
    # At the last one of equal ends, all positives there are kept, and all negatives there still are.
    first = np.searchsorted(ends, ends, side="left")
    last = np.searchsorted(ends, ends, side="right") - 1
    return float(ends[np.argmax(gained[last] - lost[first])])
