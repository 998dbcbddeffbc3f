"""Directions from part of the samples that need no annealing: plain linear SVMs, also without outliers."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from hardmargin.arrays import FloatArray
from hardmargin.search.descent import Point, descend
from hardmargin.search.scaled_samples import ScaledSamples, trimmed_classes
from hardmargin.search.smooth_losses import SquaredHinge

# Penalties of the squared hinge loss, relative to the cost of all samples and the spread of the features. Each
# descent starts from the previous one.
_PENALTIES = (1e-3, 1e-1, 1e-2, 1e-5, 1e-7)
_TRIMMED_PENALTIES = (1e-3, 1e-5)
# Iterations of a descent, and of one that starts close to its minimum.
_ITERATIONS = 30
_LATER_ITERATIONS = 15
# Without the samples far on the wrong side.
_RAMP_PENALTY = 1e-3
_RAMPS = 3
_FAR_MARGIN = -1.0

#: Counts work, in multiply-adds; True ends the descent.
Stop = Callable[[int], bool]


def starting_points(part: ScaledSamples, stop: Stop) -> Iterator[tuple[Point, float | None]]:
    """Points whose directions are worth trying, the plain linear SVM first; with its penalty if it is one."""
    origin = Point.of(part, np.zeros(part.X.shape[1]), 0.0)
    hinge = origin
    for penalty in _PENALTIES:
        hinge = hinge_minimum(part, part.costs, penalty, hinge, stop)
        yield hinge, penalty
    yield _ramp(part, part.costs, hinge, stop), None
    (negative, positive), counted = trimmed_classes(part)
    trimmed = part.costs * counted
    hinge = origin
    for penalty in _TRIMMED_PENALTIES:
        hinge = hinge_minimum(part, trimmed, penalty, hinge, stop)
        yield hinge, None
    yield _ramp(part, trimmed, hinge, stop), None
    difference = positive - negative
    yield Point.of(part, difference, -0.5 * float(difference @ (positive + negative))), None


def hinge_minimum(
    part: ScaledSamples, costs: FloatArray, penalty: float, start: Point, stop: Stop, *, later: bool = False
) -> Point:
    """Descend to the minimum of the squared hinge loss.

    Parameters
    ----------
    part : ScaledSamples
    costs : ndarray
        Costs of the samples, which replace those of the part.
    penalty : float
        Of the norm, relative to the cost of all samples and the spread of the features.
    start : Point
    stop : callable
    later : bool
        Whether the start is close to the minimum.
    """
    inverse_spread = part.scaling.inverse_spread
    strength = penalty * float(costs.sum()) / float(np.median(inverse_spread)) ** 2
    loss = SquaredHinge(part.y, costs, inverse_spread, strength)
    return descend(part, loss, start, _LATER_ITERATIONS if later else _ITERATIONS, stop)


def _ramp(part: ScaledSamples, costs: FloatArray, start: Point, stop: Stop) -> Point:
    """The squared hinge loss, repeated without the samples that are far on the wrong side."""
    point = start
    for _ in range(_RAMPS):
        near = part.y * point.scores >= _FAR_MARGIN
        point = hinge_minimum(part, costs * near, _RAMP_PENALTY, point, stop, later=True)
    return point
