"""Coordinates for directions, and regions of them, in floating point with bounds on all rounding errors.

A proof by directions has a matrix B with r rows. A hyperplane (w, b) has the coordinates u = B w. Its direction s
is u divided by its absolutely largest coordinate, so s lies on the surface of the cube [-1, 1]^r, and u = tau s
with tau >= 0. (If u = 0, it is in every region that has no least length.) A region is a box on a face of the cube,
with lengths t_lo <= ||u|| <= t_hi.

Nothing is assumed about B. With sigma >= ||B||, ||u|| <= sigma ||w||. With coordinates z_i of the samples and any
point c, let e_i = x_i - c - B^T z_i. Then w.(x_i - x_j) = u.(z_i - z_j) + w.(e_i - e_j), and the last term is at
most ||w|| (delta_i + delta_j), where delta_i >= ||e_i||. If B has orthonormal rows that span the differences of the
samples, sigma is 1 and delta is 0, up to rounding.

||w|| is bounded by the objective to beat. If B is square, it is also at most ||u|| / sqrt(1 - d), where d < 1 is a
bound on the norm of B B^T - I: then ||u||^2 = w^T B^T B w, and B^T B has the eigenvalues of B B^T.

Rounding: all operations are IEEE double precision, with a relative error of at most 2^-53 each; sums of k terms in
any order have an error of at most k 2^-53 times the sum of their absolute values, up to a factor of 1 + k 2^-53.
All bounds here use 2^-52 and several terms more than there are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardmargin.checker.certificates import ExtraRow
from hardmargin.checker.errors import ProofError
from hardmargin.checker.samples import Samples, exponent_of

_UNIT = 2.0**-52
#: Boxes and lengths are widened by this share in the rows of a region, which covers the rounding of their numbers.
WIDENING = 1e-11
# The numbers of a region's rows are multiples of 2^-_ROW_BITS, rounded to the safe side.
_ROW_BITS = 80
# More axes than this, and WIDENING may not cover the rounding of a unit vector.
_MOST_AXES = 4096
# Products that are not below this have a relative rounding error.
_SMALLEST = 2.0**-1000


@dataclass
class Region:
    """A box on a face of the cube, and lengths.

    Attributes
    ----------
    face, sign : int
        s[face] = sign.
    low, high : ndarray of shape (r,)
        low <= s <= high.
    shortest, longest : float
        Of u.
    """

    face: int
    sign: int
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    shortest: float
    longest: float

    def copy(self) -> Region:
        """The same region, for changes."""
        return Region(self.face, self.sign, self.low.copy(), self.high.copy(), self.shortest, self.longest)

    @property
    def nearest(self) -> NDArray[np.float64]:
        """The shortest s in the box."""
        return np.minimum(np.maximum(0.0, self.low), self.high)


class Frame:
    """The coordinates of a piece.

    Parameters
    ----------
    samples : Samples
    rows : sequence of int
        The rows of the data that are the samples of the piece.
    axes : ndarray of shape (r, m)
        The matrix B.
    longest : float
        An upper bound on ||w||.
    scale_exponent : int
        Multipliers of a region's rows refer to w divided by 2^scale_exponent.
    first_rows : sequence of ExtraRow
        Rows that hold in all regions. They come before those of a region.
    first_exponent : int
        The ``extra`` of their integers.

    Attributes
    ----------
    sigma : float
    """

    def __init__(
        self,
        samples: Samples,
        rows: Sequence[int],
        axes: NDArray[np.float64],
        longest: float,
        scale_exponent: int,
        first_rows: Sequence[ExtraRow] = (),
        first_exponent: int = 0,
    ) -> None:
        self.r = len(axes)
        if not 0 < self.r <= _MOST_AXES or axes.shape[1] != samples.m or not np.isfinite(axes).all():
            raise ProofError("the axes of a piece do not fit the data.")
        if len(rows) == 0:
            raise ProofError("a piece with axes has no samples.")
        X = _dense(samples.X, rows)
        # A sample in the middle: it lies in every affine subspace that contains all samples.
        differences = X - X[np.abs(X - np.median(X, axis=0)).sum(axis=1).argmin()]
        coordinates = differences @ axes.T
        sizes = np.abs(differences) + np.abs(coordinates) @ np.abs(axes)
        errors = np.abs(differences - coordinates @ axes) + (self.r + 8) * _UNIT * sizes
        delta = errors.max(axis=1, initial=0.0) * math.sqrt(samples.m) * (1 + 8 * _UNIT)
        deviation = np.abs(axes @ axes.T - np.eye(self.r))
        deviation += (samples.m + 8) * _UNIT * (np.abs(axes) @ np.abs(axes).T + 1)
        largest = float(deviation.sum(axis=1).max()) * (1 + self.r * _UNIT)
        self.sigma = math.sqrt(1 + largest) * (1 + 4 * _UNIT)
        self.coordinates = coordinates
        # What rounding can change w.x by is this times ||w||, which is bounded in two ways.
        self._delta = delta * (1 + 4 * _UNIT)
        self._longest = longest
        invertible = self.r == samples.m and largest < 0.5
        self._stretch = (1 + 8 * _UNIT) / math.sqrt(1 - largest) if invertible else math.inf
        self.positive = samples.y[list(rows)] > 0
        slack = self._delta * longest
        if not (np.isfinite(coordinates).all() and np.isfinite(slack).all() and math.isfinite(self.sigma)):
            raise ProofError("the coordinates of the samples are out of range.")
        self._axes = axes
        self._scale_exponent = scale_exponent
        self._axes_exponent = exponent_of(axes)
        self._whole_axes: list[list[int]] = [
            [int(value * 2**53) << shift if shift >= 0 else int(value * 2**53) >> -shift for value, shift in row]
            for row in _mantissas(axes, self._axes_exponent)
        ]
        # Rows are integers times 2^-(exponent of the samples + extra).
        wanted = self._axes_exponent + _ROW_BITS + max(0, scale_exponent)
        enough = _ROW_BITS + 40 + max(0, scale_exponent)
        self.extra_exponent = max(enough, wanted - samples.exponent, first_exponent)
        more = self.extra_exponent - first_exponent
        self.first_rows = [
            ExtraRow([(column, value << more) for column, value in normal], demand << more)
            for normal, demand in first_rows
        ]
        self._shift = samples.exponent + self.extra_exponent - self._axes_exponent - _ROW_BITS - scale_exponent

    def conflict(self, region: Region, i: NDArray[np.intp], j: NDArray[np.intp]) -> bool:
        """Whether no hyperplane of the region keeps both samples of any of these pairs, i positive and j negative.

        Keeping both needs w.(x_i - x_j) >= 2. Let q = 2 - ||w|| (delta_i + delta_j) > 0. If l <= ||s|| <= h for all
        s of the box, then (||s|| - l) (h - ||s||) >= 0, so that ||s|| >= (l h + ||s||^2) / (l + h). Because
        ||u|| <= t_hi, keeping both is impossible if s.t_hi (z_i - z_j) - k (l h + ||s||^2) < 0 for all s of the
        box, where k = q / (l + h). That is a sum of one concave function of each coordinate of s.
        """
        if not (self.positive[i].all() and not self.positive[j].any()):
            return False
        least, greatest = _lengths(region)
        longest = min(self._longest, region.longest * self._stretch) * (1 + 4 * _UNIT)
        needed = (2 - longest * (self._delta[i] + self._delta[j]) * (1 + 4 * _UNIT)) * (1 - 4 * _UNIT)
        if not (needed > 0).all():
            return False
        curvature = (needed / (least + greatest))[:, None] * (1 - 4 * _UNIT)
        of_i, of_j = region.longest * self.coordinates[i], region.longest * self.coordinates[j]
        values = of_i - of_j
        best = np.clip(values / (2 * curvature), region.low, region.high)
        largest = (best * (values - curvature * best)).sum(axis=1) - curvature[:, 0] * least * greatest
        sizes = (np.abs(of_i) + np.abs(of_j)).sum(axis=1) + 8 * math.sqrt(self.r)
        return bool((largest + (self.r + 16) * _UNIT * sizes < 0).all())


class RegionRows:
    """The sides of a region and its lengths as rows that all its hyperplanes satisfy, made when they are used.

    With f the face: (high_k + WIDENING) sign u_f - u_k >= 0 and u_k - (low_k - WIDENING) sign u_f >= 0 for every
    other coordinate k. And with the unit vector a along the shortest s of the box: a.u >= t_lo l / (l + d) and
    -a.u >= -t_hi, where l is the length of the shortest s, and ||s|| <= a.s + d for all s of the box; d is the
    largest squared distance of the box from its shortest s, divided by 2 l.
    """

    def __init__(self, frame: Frame, region: Region) -> None:
        self._frame = frame
        self._region = region

    def __len__(self) -> int:
        return len(self._frame.first_rows) + 2 * self._frame.r

    def __getitem__(self, number: int, /) -> ExtraRow:
        frame, region = self._frame, self._region
        if number < len(frame.first_rows):
            return frame.first_rows[number]
        number -= len(frame.first_rows)
        if number < 2 * frame.r - 2:
            k = number // 2
            k += k >= region.face
            if number % 2 == 0:
                share = _up(float(region.high[k]) + WIDENING)
                return self._row({region.face: region.sign * share, k: -_ONE}, 0.0)
            share = -_up(-(float(region.low[k]) - WIDENING))
            return self._row({region.face: -region.sign * share, k: _ONE}, 0.0)
        nearest = region.nearest
        least = math.sqrt(float(nearest @ nearest))
        sign = 1 if number == 2 * frame.r - 2 else -1
        direction = {k: sign * int(nearest[k] / least * 2.0**_ROW_BITS) for k in range(frame.r) if nearest[k]}
        if sign < 0:
            return self._row(direction, -math.nextafter(region.longest * (1 + WIDENING), math.inf))
        distances = np.maximum(region.high - nearest, nearest - region.low)
        bulge = float(distances @ distances) / (2 * least)
        demand = region.shortest * (least / (least + bulge)) * (1 - WIDENING)
        return self._row(direction, demand if demand >= _SMALLEST else 0.0)

    def _row(self, shares: dict[int, int], demand: float) -> ExtraRow:
        """A combination of axes, whose shares are multiples of 2^-_ROW_BITS."""
        frame = self._frame
        if not math.isfinite(demand):
            raise ProofError("the lengths of a region are out of range.")
        axes = [(share, frame._whole_axes[k]) for k, share in shares.items()]
        normal = []
        for column in range(len(frame._whole_axes[0])):
            value = sum(share * axis[column] for share, axis in axes)
            if value:
                normal.append((column, value << frame._shift))
        scaled = math.frexp(demand)
        exponent = scaled[1] - 53 + frame.extra_exponent - frame._scale_exponent
        whole = int(scaled[0] * 2**53)
        return ExtraRow(normal, whole << exponent if exponent >= 0 else whole >> -exponent)


_ONE = 1 << _ROW_BITS


def _lengths(region: Region) -> tuple[float, float]:
    """Bounds on the length of every s of the box."""
    nearest, farthest = region.nearest, np.maximum(np.abs(region.low), np.abs(region.high))
    share = (len(nearest) + 8) * _UNIT
    return (
        math.sqrt(float(nearest @ nearest)) * (1 - share),
        math.sqrt(float(farthest @ farthest)) * (1 + share),
    )


def _up(value: float) -> int:
    """A multiple of 2^-_ROW_BITS that is not below a number."""
    return math.ceil(value * 2.0**_ROW_BITS)


def _mantissas(axes: NDArray[np.float64], exponent: int) -> list[list[tuple[float, int]]]:
    """Every entry as a mantissa and the power of two that makes it an integer times 2^-exponent."""
    mantissas, exponents = np.frexp(axes)
    return [
        [(float(value), int(shift) - 53 + exponent) for value, shift in zip(row, shifts, strict=True)]
        for row, shifts in zip(mantissas, exponents, strict=True)
    ]


def _dense(X: Any, rows: Sequence[int]) -> NDArray[np.float64]:
    part = X[list(rows)]
    return np.asarray(part if isinstance(part, np.ndarray) else part.toarray(), dtype=np.float64)
