"""Regions of directions in floating point, compared with exact arithmetic."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest

from hardmargin.checker.errors import ProofError
from hardmargin.checker.frame import Frame, Region, RegionRows
from hardmargin.checker.samples import Samples

LABELS = [1.0, -1.0, 1.0, -1.0]


def random_axes(rng: random.Random) -> np.ndarray:
    """Two axes: orthonormal, nearly so, or any."""
    angle = rng.random() * 6.28
    rotation = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    others = np.array([[rng.gauss(0, 1) for _ in range(2)] for _ in range(2)])
    return rng.choice([rotation, np.eye(2), rotation * (1 + rng.choice([1e-15, 1e-12, 1e-2, -1e-2])), others])


def frames(rng: random.Random, count: int) -> Iterator[tuple[Frame, Region, np.ndarray, np.ndarray, float]]:
    """Frames of four samples, far from the origin and of any size, with a region."""
    while count:
        scale = 10.0 ** rng.choice([0, 0, 3, -3, 100, -100, 150, -150])
        offset = rng.choice([0, 0, 1, 1e3, 1e8, 1e12, 1e15])
        X = scale * (np.array([[rng.gauss(0, 1) for _ in range(2)] for _ in range(4)]) + offset)
        axes, longest = random_axes(rng), rng.choice([1, 3, 10, 100, 1e4, 1e14]) / scale
        face, sign = rng.randrange(2), rng.choice([-1, 1])
        low, high = np.full(2, float(sign)), np.full(2, float(sign))
        low[1 - face] = rng.uniform(-1, 1)
        high[1 - face] = min(1.0, low[1 - face] + rng.choice([1, 1e-3, 1e-9]) * rng.random())
        try:
            frame = Frame(Samples(X, LABELS, [1.0] * 4), range(4), axes, longest, 0)
        except ProofError:
            continue
        count -= 1
        yield frame, Region(face, sign, low, high, 0.0, 0.0), X, axes, longest


def exact(values: np.ndarray) -> list[Fraction]:
    return [Fraction(float(value)) for value in values]


def directions_of(region: Region) -> Iterator[list[Fraction]]:
    """Some s of a region."""
    low, high = exact(region.low), exact(region.high)
    for part in (Fraction(0), Fraction(1, 3), Fraction(1)):
        yield [a + (b - a) * part for a, b in zip(low, high, strict=True)]


def product(first: list[Fraction], second: list[Fraction]) -> Fraction:
    return sum((a * b for a, b in zip(first, second, strict=True)), Fraction(0))


def weights_of(axes: np.ndarray, u: list[Fraction]) -> list[Fraction]:
    """The w with these coordinates."""
    (a, b), (c, d) = exact(axes[0]), exact(axes[1])
    return [(d * u[0] - b * u[1]) / (a * d - b * c), (a * u[1] - c * u[0]) / (a * d - b * c)]


def test_no_hyperplane_up_to_the_greatest_length_keeps_a_pair_that_conflicts() -> None:
    close = 0
    for frame, region, X, axes, longest in frames(random.Random(1), 250):

        def conflicts(length: float, frame: Frame = frame, region: Region = region) -> bool:
            region.longest = length
            with np.errstate(all="ignore"):
                return frame.conflict(region, np.array([0]), np.array([1]))

        accepted, refused = 0.0, 2 * longest * frame.sigma
        if not conflicts(accepted) or conflicts(refused):
            continue
        while accepted < (middle := (accepted + refused) / 2) < refused:
            accepted, refused = (middle, refused) if conflicts(middle) else (accepted, middle)
        difference = [a - b for a, b in zip(exact(X[0]), exact(X[1]), strict=True)]
        for s in directions_of(region):
            w = weights_of(axes, s)
            gain = product(w, difference)
            if gain <= 0:
                continue
            # The shortest multiple that keeps both.
            factor = 2 / gain
            if factor**2 * product(w, w) <= Fraction(longest) ** 2:
                squared = factor**2 * product(s, s)
                assert squared > Fraction(accepted) ** 2
                close += squared < Fraction(accepted) ** 2 * Fraction(1 + 1e-6)
    assert close > 50


@pytest.mark.parametrize("scale_exponent", [-7, 0, 300])
def test_the_rows_of_a_region_hold_in_it(scale_exponent) -> None:
    rng = random.Random(2)
    for frame, region, X, axes, _ in frames(rng, 60):
        frame = Frame(Samples(X, LABELS, [1.0] * 4), range(4), axes, 1.0, scale_exponent)
        region.shortest, region.longest = sorted(10.0 ** rng.uniform(-300, 300) for _ in range(2))
        if rng.random() < 0.2:
            region.shortest = region.longest = rng.choice([5e-324, 1e-323, 1.5e-323, 1e308])
        rows = RegionRows(frame, region)
        for s in directions_of(region):
            for length in (region.shortest, region.longest):
                # The length of u is between these, and as near to it as a square root in double precision.
                root = Fraction(float(product(s, s)) ** 0.5)
                above = length == region.shortest
                factor = Fraction(length) / root * (1 + Fraction(1, 10**14) * (1 if above else -1))
                w = weights_of(axes, [factor * value for value in s])
                for number in range(len(rows)):
                    if number == (3 if above else 2):
                        # The row of the other length need not hold for what is just outside.
                        continue
                    normal, demand = rows[number]
                    unit = frame.extra_exponent + Samples(X, LABELS, [1.0] * 4).exponent
                    reached = sum((w[column] * value for column, value in normal), Fraction(0)) / 2**unit
                    assert reached >= Fraction(demand, 2**frame.extra_exponent)
