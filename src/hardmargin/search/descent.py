"""L-BFGS for functions of a hyperplane, stopped between two passes over the data whenever the caller wants.

The scores w.x + b of all samples are carried along. A step in a direction changes them linearly, so an iteration
needs two products with the data, one for the direction and one for the gradient. The search along the direction
needs none.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from hardmargin.arrays import FloatArray
from hardmargin.search.scaled_samples import ScaledSamples
from hardmargin.search.smooth_losses import Loss, Slope

# Pairs of steps and changes of the gradient that approximate the Hessian.
_MEMORY = 10
# A step must gain this share of what the slope promises, and leave at most that share of the slope.
_GAIN = 1e-4
_LEFT_SLOPE = 0.9
_TRIALS = 12
# Derivatives this small, relative to the first ones, end the descent.
_FLAT = 1e-5
# Pairs with less curvature than this, relative to their lengths, are left out.
_CURVED = 1e-12
# A value of the loss takes about as much work per sample as this many features.
LOSS_WORK = 15


class Point(NamedTuple):
    """A hyperplane in scaled features, and the scores of all samples."""

    weights: FloatArray
    offset: float
    scores: FloatArray

    @classmethod
    def of(cls, samples: ScaledSamples, weights: FloatArray, offset: float) -> Point:
        """The point of a hyperplane."""
        return cls(weights, offset, samples.scores(weights, offset))

    def scaled(self, factor: float) -> Point:
        """The hyperplane multiplied by a factor."""
        return Point(self.weights * factor, self.offset * factor, self.scores * factor)


def descend(
    samples: ScaledSamples, loss: Loss, start: Point, iterations: int, stop: Callable[[int], bool]
) -> Point:
    """Minimise a loss.

    Parameters
    ----------
    samples : ScaledSamples
    loss : Loss
    start : Point
    iterations : int
        Largest number of iterations.
    stop : callable
        Called between iterations with the work, in multiply-adds, since the last call; True ends the descent.

    Returns
    -------
    Point
    """
    here = start
    slope = loss.at(here.weights, here.scores)
    gradient = _gradient(samples, slope)
    flat = _FLAT * float(np.linalg.norm(gradient))
    pairs: deque[tuple[FloatArray, FloatArray]] = deque(maxlen=_MEMORY)
    work = samples.pass_work + LOSS_WORK * len(samples.y)
    for _ in range(iterations):
        if stop(work) or float(np.linalg.norm(gradient)) <= flat:
            return here
        direction = _direction(gradient, pairs)
        promised = float(direction @ gradient)
        if not promised < 0:
            pairs.clear()
            direction, promised = -gradient, -float(gradient @ gradient)
        slopes = samples.scores(direction[:-1], float(direction[-1]))
        first = 1.0
        if not pairs:
            curved = loss.curvature(here.weights, direction[:-1], slopes)
            first = -promised / curved if curved > 0 else 1.0
        found, trials = _along(loss, here, slope, direction, slopes, promised, first)
        work = 2 * samples.pass_work + LOSS_WORK * len(samples.y) * trials
        if found is None:
            if not pairs:
                break
            pairs.clear()
            continue
        before, gradient_before = here, gradient
        here, slope = found
        gradient = _gradient(samples, slope)
        step = np.append(here.weights - before.weights, here.offset - before.offset)
        change = gradient - gradient_before
        if float(step @ change) > _CURVED * float(np.linalg.norm(step)) * float(np.linalg.norm(change)):
            pairs.append((step, change))
    stop(work)
    return here


def _gradient(samples: ScaledSamples, slope: Slope) -> FloatArray:
    return np.append(slope.weights + samples.pulled_back(slope.scores), slope.scores.sum())


def _direction(gradient: FloatArray, pairs: deque[tuple[FloatArray, FloatArray]]) -> FloatArray:
    """The two-loop recursion: minus the approximate inverse Hessian times the gradient."""
    direction = -gradient
    factors = []
    for step, change in reversed(pairs):
        factor = float(step @ direction) / float(step @ change)
        factors.append(factor)
        direction -= factor * change
    if pairs:
        step, change = pairs[-1]
        direction *= float(step @ change) / float(change @ change)
    for (step, change), factor in zip(pairs, reversed(factors), strict=True):
        direction += (factor - float(change @ direction) / float(step @ change)) * step
    return direction


def _along(
    loss: Loss,
    here: Point,
    slope: Slope,
    direction: FloatArray,
    slopes: FloatArray,
    promised: float,
    first: float,
) -> tuple[tuple[Point, Slope] | None, int]:
    """A point along the direction that gains enough (weak Wolfe conditions), and the number of trials."""
    low, high, step = 0.0, np.inf, first
    best: tuple[Point, Slope] | None = None
    trials = 0
    while trials < _TRIALS:
        trials += 1
        weights = here.weights + step * direction[:-1]
        scores = slopes * step
        scores += here.scores
        there = Point(weights, here.offset + step * float(direction[-1]), scores)
        found = loss.at(weights, scores)
        if not found.value <= slope.value + _GAIN * step * promised:
            high = step
        else:
            if best is None or found.value < best[1].value:
                best = there, found
            if float(found.scores @ slopes) + float(found.weights @ direction[:-1]) >= _LEFT_SLOPE * promised:
                break
            low = step
        step = 2 * step if high == np.inf else 0.5 * (low + high)
    return best, trials
