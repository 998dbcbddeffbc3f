"""Smooth functions of a hyperplane that stand in for the objective while its direction is searched for.

Both are functions of the weights in scaled features (:mod:`hardmargin.search.scaled_samples`) and of the scores
w.x + b of the samples. Given these, a value and its derivatives take a few operations per sample and no pass over
the data.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from scipy.special import expit

from hardmargin.arrays import FloatArray

# The largest second derivative of the logistic function is 1 / (6 sqrt(3)).
_LOGISTIC_CURVATURE = 0.0962


class Slope(NamedTuple):
    """A value and its derivatives.

    Attributes
    ----------
    value : float
    weights : ndarray of shape (m,)
        The derivatives by the weights at fixed scores.
    scores : ndarray of shape (n,)
        The derivatives by the scores.
    """

    value: float
    weights: FloatArray
    scores: FloatArray


class Loss(Protocol):
    """What the descent minimises."""

    def at(self, weights: FloatArray, scores: FloatArray) -> Slope:
        """The value and its derivatives."""

    def curvature(self, weights: FloatArray, direction: FloatArray, slopes: FloatArray) -> float:
        """About the largest second derivative along a direction, in which the scores change by ``slopes``."""


class SquaredHinge:
    """lambda / 2 ||w||^2 + sum of c_i max(0, 1 - y_i (w.x_i + b))^2, the loss of a plain linear SVM.

    Parameters
    ----------
    y, costs : ndarray of shape (n,)
        Labels and costs c_i; samples of cost 0 are ignored.
    inverse_spread : ndarray of shape (m,)
        Weights in the original features are the scaled ones times this. ||w|| is that of the original ones.
    penalty : float
        lambda.
    """

    def __init__(self, y: FloatArray, costs: FloatArray, inverse_spread: FloatArray, penalty: float) -> None:
        self._y = y
        self._costs = costs
        self._penalties = penalty * inverse_spread**2

    def at(self, weights: FloatArray, scores: FloatArray) -> Slope:
        """The value and its derivatives."""
        slack = self._y * scores
        np.subtract(1.0, slack, out=slack)
        np.maximum(slack, 0.0, out=slack)
        pull = self._costs * slack
        value = float(pull @ slack) + 0.5 * float(self._penalties @ weights**2)
        pull *= self._y
        pull *= -2.0
        return Slope(value, self._penalties * weights, pull)

    def curvature(self, weights: FloatArray, direction: FloatArray, slopes: FloatArray) -> float:
        """At most the second derivative along a direction."""
        return 2.0 * float((self._costs * slopes) @ slopes) + float(self._penalties @ direction**2)


class SmoothedObjective:
    """The objective at a fixed length of w, with the steps of the violations replaced by logistic functions.

    The length is that of the scaled weights: (w, b) stands for all its multiples. Without a fixed length, longer
    weights would make any step sharp.

    Parameters
    ----------
    y, costs : ndarray of shape (n,)
    inverse_spread : ndarray of shape (m,)
        As for :class:`SquaredHinge`.
    length : float
        The length of the scaled weights.
    temperature : float
        Width of the steps, in units of the margin.
    """

    def __init__(
        self, y: FloatArray, costs: FloatArray, inverse_spread: FloatArray, length: float, temperature: float
    ) -> None:
        self._y = y
        self._costs = costs
        self._squares = inverse_spread**2
        self._length = length
        self._temperature = temperature

    def at(self, weights: FloatArray, scores: FloatArray) -> Slope:
        """The value and its derivatives."""
        squared = float(weights @ weights)
        factor = self._length / np.sqrt(squared)
        margins = self._y * scores
        margins *= factor
        lost = 1.0 - margins
        lost /= self._temperature
        expit(lost, out=lost)
        pull = self._costs * lost
        norm = factor**2 * float(self._squares @ weights**2)
        value = float(pull.sum()) + 0.5 * norm
        # By the margins.
        np.subtract(1.0, lost, out=lost)
        pull *= lost
        pull /= -self._temperature
        by_length = (float(pull @ margins) + norm) / squared
        pull *= self._y
        pull *= factor
        return Slope(value, factor**2 * self._squares * weights - by_length * weights, pull)

    def curvature(self, weights: FloatArray, direction: FloatArray, slopes: FloatArray) -> float:
        """About the largest second derivative along a direction."""
        factor = self._length / (np.linalg.norm(weights) * self._temperature)
        return float(_LOGISTIC_CURVATURE * factor**2 * float((self._costs * slopes) @ slopes))
