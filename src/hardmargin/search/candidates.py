"""Hyperplanes that the primal search for many samples finds on parts of the samples."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from hardmargin.arrays import FloatArray

# Directions are close if the cosine of their angle is larger than this.
_CLOSE = 0.98
# The smallest random turn, relative to the largest.
_LEAST_TURN = 0.003


class Candidate(NamedTuple):
    """A hyperplane with the best scale and offset over some part of the samples, and its objective there."""

    objective: float
    weights: FloatArray
    offset: float


class Hinge(NamedTuple):
    """A minimum of the squared hinge loss, its penalty, and its least objective with another scale and offset."""

    objective: float
    penalty: float
    weights: FloatArray
    offset: float


def different(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Without those whose direction is close to that of an earlier one."""
    kept: list[Candidate] = []
    directions: list[FloatArray] = []
    for candidate in candidates:
        length = float(np.linalg.norm(candidate.weights))
        if length > 0:
            direction = candidate.weights / length
            if all(float(direction @ other) < _CLOSE for other in directions):
                kept.append(candidate)
                directions.append(direction)
    return kept


def turned(weights: FloatArray, most: float, random: np.random.Generator) -> FloatArray:
    """Weights turned in a random direction, by a small angle whose order of magnitude is random.

    Parameters
    ----------
    weights : ndarray of shape (m,)
    most : float
        The largest tangent of the angle.
    random : numpy.random.Generator

    Returns
    -------
    ndarray of shape (m,)
        The weights themselves if there is no other direction.

    Examples
    --------
    >>> weights = turned(np.array([3.0, 4.0]), 0.1, np.random.default_rng(0))
    >>> bool(0 < np.linalg.norm(weights - [3, 4]) <= 0.5)
    True
    """
    change = random.standard_normal(len(weights))
    squared = float(weights @ weights)
    if squared > 0:
        change -= float(change @ weights) / squared * weights
    size = float(np.linalg.norm(change))
    if not size > 0:
        return weights
    tangent = most * _LEAST_TURN ** random.random()
    change *= tangent * math.sqrt(squared) / size
    change += weights
    return change
