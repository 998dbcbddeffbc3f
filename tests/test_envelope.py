"""The envelope of lines, and bounds between proven ones."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardmargin.envelope import Line, ProvenBounds, lower_envelope

NUMBERS = st.one_of(st.integers(0, 12).map(float), st.floats(0, 1e6, allow_subnormal=False))
LINES = st.lists(st.builds(Line, NUMBERS, NUMBERS), min_size=1, max_size=8)
PENALTIES = st.one_of(st.integers(1, 20).map(float), st.floats(1e-3, 1e5))


def exactly(line: Line, C: float) -> Fraction:
    return Fraction(line.norm) + Fraction(C) * Fraction(line.given_up)


@given(LINES, st.lists(PENALTIES, min_size=2, max_size=6, unique=True))
def test_the_envelope_is_the_best_line_everywhere(lines, Cs) -> None:
    low, high = min(Cs), max(Cs)
    best, breakpoints = envelope = lower_envelope(lines, low, high)
    assert len(best) == len(breakpoints) + 1
    assert all(low < left < right < high for left, right in pairwise(breakpoints))
    for C in [*Cs, *breakpoints]:
        smallest = min(line.at(C) for line in lines)
        assert lines[envelope.index_at(C)].at(C) == pytest.approx(smallest, rel=1e-9, abs=1e-12)


def test_lines_that_meet_in_one_point_make_one_breakpoint() -> None:
    lines = [Line(0.0, 3.0), Line(1.0, 2.0), Line(2.0, 1.0)]
    assert lower_envelope(lines, 0.1, 10.0) == ([0, 2], [1.0])
    assert lower_envelope(lines, 1.0, 10.0) == ([2], [])
    assert lower_envelope(lines, 0.1, 1.0) == ([0], [])


@given(LINES, st.dictionaries(PENALTIES, st.floats(0, 1), max_size=6), st.lists(PENALTIES, min_size=1, max_size=6))
def test_no_bound_is_above_the_optimum(lines, proven, Cs) -> None:
    """Even if what was proven at some places is weak, and in whatever order it was proven."""
    bounds = ProvenBounds()
    for C, share in proven.items():
        # A float that is not above the exact value, whatever the rounding of the product.
        bounds.add(C, share * float(min(exactly(line, C) for line in lines)) * (1 - 1e-15))
    for C in [*Cs, *proven]:
        assert Fraction(bounds.at(C)) <= min(exactly(line, C) for line in lines)


def test_bounds_are_as_good_as_chords_allow() -> None:
    bounds = ProvenBounds([(2.0, 6.0), (4.0, 8.0), (3.0, 1.0), (8.0, 5.0)])
    assert bounds.points == [(2.0, 6.0), (4.0, 8.0)]
    assert [bounds.at(C) for C in (1.0, 2.0, 3.0, 4.0, 100.0)] == pytest.approx([3.0, 6.0, 7.0, 8.0, 8.0])
    bounds.add(6.0, 8.1)
    assert bounds.at(5.0) == pytest.approx(8.05)
    assert ProvenBounds().at(3.0) == 0
