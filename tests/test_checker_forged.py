"""Proofs of false bounds, forged by hand: every rule of the checker refuses one."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from forged_proofs import (
    check,
    check_faces,
    check_samples,
    content,
    doubles,
    face_record,
    header_of,
    line,
    piece_header,
)
from hardmargin.checker import ProofError, UnreadableProofError, Verdict, regions
from hardmargin.checker.certificates import certificate_of
from hardmargin.checker.decisions import Step
from hardmargin.checker.regions import Step as RegionStep
from hardmargin.checker.samples import Samples

EACH = [[0], [1], [2]]
CLOSE = [RegionStep.CLOSE]


# ---- the search over samples

# All three are at the same place. Sample 0 is worth more than the others: the optimum is 2, without them.
FAN = line(0.0, 0.0, 0.0, labels=[1.0, -1.0, -1.0], costs=[3.0, 1.0, 1.0])
# A certificate that samples 0 and k cannot both be kept.
PAIR = {k: [Step.SET, 2, 0, 1, 2 * k, 1] for k in (1, 2)}
BOTH_PAIRS = [*PAIR[1], *PAIR[2]]
GIVEN_UP_0 = [*BOTH_PAIRS, Step.BRANCH, 0]


def test_what_is_true_is_proven(tmp_path) -> None:
    packed = [Step.PACK, 0, 0, Step.PACK, 1, 0]
    assert check_samples(tmp_path, FAN, 2.0, *BOTH_PAIRS, *packed, Step.CLOSE_COST).bound == 2
    units = [Step.CLOSE_COST, Step.UNIT, 0, Step.UNIT, 1, Step.CLOSE_COST]
    assert check_samples(tmp_path, FAN, 2.0, *GIVEN_UP_0, *units).steps == 7


FALSE_OVER_SAMPLES = {
    "less than the bound": [*BOTH_PAIRS, Step.PACK, 0, 0, Step.PACK, 1, 0, Step.CLOSE_COST],
    "a set packed twice": [*PAIR[1], Step.PACK, 0, 0, Step.PACK, 0, 0, Step.PACK, 0, 0, Step.CLOSE_COST],
    "the same set again": [*PAIR[1], *PAIR[1], Step.PACK, 0, 2, Step.PACK, 1, 2, Step.CLOSE_COST],
    "a share above the cost": [*PAIR[1], Step.PACK, 0, 4, Step.CLOSE_COST],
    "weights above the cost": [*BOTH_PAIRS, Step.COVER, 2, 0, 2, 1, 1, Step.CLOSE_COST],
    "a set twice in a cover": [*BOTH_PAIRS, Step.COVER, 3, 0, 1, 1, 1, 0, 1, Step.CLOSE_COST],
    "a set of the other part": [*GIVEN_UP_0, Step.SET, 1, 0, 0, Step.CLOSE_COST, Step.CLOSE_SET, 2],
    "the cost of the other part": [*GIVEN_UP_0, Step.CLOSE_COST, Step.CLOSE_COST],
    "the cover of the other part": [*GIVEN_UP_0, Step.COVER, 0, Step.CLOSE_COST, Step.DEAR, 1, Step.CLOSE_SET, 0],
    "the norm of the other part": [
        *GIVEN_UP_0,
        *(Step.NORM, 0, Step.CLOSE_COST),
        *(Step.UNIT, 0, Step.DEAR, 2, Step.CLOSE_SET, 1),
    ],
    "the end of the other part": [*GIVEN_UP_0, Step.SET, 0, Step.CLOSE_COST, Step.CLOSE_COST],
    "packed sets and their samples": [
        *(*BOTH_PAIRS, Step.PACK, 0, 0, Step.PACK, 1, 0, Step.BRANCH, 0, Step.CLOSE_COST),
        *(Step.UNIT, 0, Step.CLOSE_COST),
    ],
    "packed sets and a cover": [
        *BOTH_PAIRS,
        Step.PACK,
        0,
        0,
        Step.PACK,
        1,
        0,
        Step.COVER,
        1,
        0,
        1,
        Step.CLOSE_COST,
    ],
    "a dear sample and what loads it": [
        *(*BOTH_PAIRS, Step.COVER, 2, 0, 1, 1, 1, Step.DEAR, 0, Step.DEAR, 1, Step.CLOSE_SET, 0),
    ],
    "a part without reason": [*BOTH_PAIRS, Step.UNIT, 0, Step.CLOSE_COST],
    "a sample decided again": [*GIVEN_UP_0, Step.CLOSE_COST, Step.BRANCH, 0, Step.CLOSE_COST, Step.CLOSE_COST],
    "a set that is not violated": [*BOTH_PAIRS, Step.CLOSE_SET, 0],
    "a set that is hit": [*GIVEN_UP_0, Step.CLOSE_SET, 0, Step.UNIT, 0, Step.UNIT, 1, Step.CLOSE_SET, 1],
    "a certificate that is not balanced": [Step.SET, 1, 0, 1, Step.PACK, 0, 0, Step.CLOSE_COST],
    "a certificate without rows": [Step.SET, 0, Step.CLOSE_SET, 0],
    "a norm of free samples": [Step.NORM, 2, 0, 1, 2, 1, Step.DEAR, 0, Step.DEAR, 1, *PAIR[1], Step.CLOSE_SET, 0],
    "a sample that does not exist": [Step.BRANCH, 3, Step.CLOSE_COST, Step.CLOSE_COST],
    "left open": [Step.OPEN, 0],
    "left open for nobody": [Step.OPEN, 1],
    "steps after the last": [*BOTH_PAIRS, Step.CLOSE_COST, Step.CLOSE_COST],
}


@pytest.mark.parametrize("steps", FALSE_OVER_SAMPLES.values(), ids=FALSE_OVER_SAMPLES.keys())
def test_false_bounds_over_samples_are_refused(steps, tmp_path) -> None:
    with pytest.raises((ProofError, UnreadableProofError)):
        check_samples(tmp_path, FAN, 2.5, *steps)


def test_a_set_that_is_packed_again_counts_once(tmp_path) -> None:
    halves = [Step.PACK, 0, 2, Step.PACK, 0, 2]
    units = [Step.UNIT, 0, Step.UNIT, 1, Step.CLOSE_COST]
    with pytest.raises(ProofError, match="below the bound"):
        check_samples(
            tmp_path, FAN, 2.5, *BOTH_PAIRS, *halves, *GIVEN_UP_0[-2:], Step.CLOSE_COST, *units, halvings=1
        )


def test_whole_samples_are_counted_by_the_largest_cost_and_paid_by_the_least(tmp_path) -> None:
    # All are at the same place. The optimum is 2: one of each pair, at least.
    pairs = line(0.0, 0.0, 0.0, 0.0, labels=[1.0, 1.0, -1.0, -1.0], costs=[1.0, 1.0, 1.4, 1.4])
    sets = [*(Step.SET, 2, 0, 1, 4, 1), *(Step.SET, 2, 2, 1, 6, 1)]
    cover = [*sets, Step.COVER, 2, 0, 1, 1, 1, Step.CLOSE_COST]
    assert check_samples(tmp_path, pairs, 2.0, *cover).bound == 2
    with pytest.raises(ProofError, match="below the bound"):
        check_samples(tmp_path, pairs, 2.5, *cover)
    # The optimum is 1.5, without sample 0.
    fan = line(0.0, 0.0, 0.0, labels=[1.0, -1.0, -1.0], costs=[1.5, 1.0, 1.0])
    with pytest.raises(ProofError, match="below the bound"):
        check_samples(tmp_path, fan, 1.75, *BOTH_PAIRS, Step.COVER, 2, 0, 3, 1, 3, Step.CLOSE_COST, halvings=2)
    # One sample and a half are two.
    equal = line(0.0, 0.0, 0.0, 0.0, labels=[1.0, 1.0, -1.0, -1.0], costs=[1.0] * 4)
    assert (
        check_samples(tmp_path, equal, 2.0, *sets, Step.COVER, 2, 0, 2, 1, 1, Step.CLOSE_COST, halvings=1).bound
        == 2
    )


def test_pieces_share_the_norm(tmp_path) -> None:
    # The optimum is 2, with w = 2: each half needs the whole norm.
    twice = line(0.0, 1.0, 0.0, 1.0, labels=[-1.0, 1.0, -1.0, 1.0], costs=[10.0] * 4)
    record = [0, 0, 0, 0, Step.SET, 2, 0, 1, 2, 1, Step.PACK, 0, 0, Step.CLOSE_COST]
    body = content([[0], [1]], [record]) + content([[2], [3]], [record])
    whole, half = piece_header("samples", 2.0), piece_header("samples", 1.0, share=0.5)
    for bound, piece, holds in ((2.0, whole, True), (2.1, whole, False), (2.0, half, True), (2.1, half, False)):
        header = header_of(twice, bound, piece, piece)
        if holds:
            assert check(tmp_path, twice, header, body).bound == bound
        else:
            with pytest.raises(ProofError, match="add up to 2"):
                check(tmp_path, twice, header, body)


def test_nothing_follows_from_a_demand_that_is_negative() -> None:
    flips = certificate_of([(1, 1), (3, 1)], FAN, [0, 1, 2])
    assert (flips.given_up, flips.numerator, flips.denominator) == ([0, 1], 0, 0)
    assert not flips.reaches(1, 0, (1, 1))


def test_every_number_of_a_record_has_a_meaning(tmp_path) -> None:
    packed = [*BOTH_PAIRS, Step.PACK, 0, 0, Step.PACK, 1, 0, Step.CLOSE_COST]
    with pytest.raises(ProofError, match="a row that does not exist"):
        check_samples(tmp_path, FAN, 2.0, Step.SET, 3, 0, 1, 2, 1, 6, 1, *packed)
    for steps, message in (
        ([12, *packed], "unknown step 12"),
        ([*packed, Step.CLOSE_COST], "follows the last step"),
    ):
        with pytest.raises(UnreadableProofError, match=message):
            check_samples(tmp_path, FAN, 2.0, *steps)


GROUPS = {
    "a row twice in a sample": ([[0, 0], [1], [2]], [[0, 0]], "used twice|more than there are"),
    "a row in two samples": ([[0], [1], [1]], [[0, 0]], "used twice"),
    "a row in two pieces": ([[0], [1], [2]], [[0], [1], [2]], "used twice"),
    "opposite labels": ([[0, 1], [2]], [], "not identical"),
    "no such row": ([[0], [1], [3]], [], "does not exist"),
    "a sample without rows": ([[0], [1], []], [], "no row"),
}


@pytest.mark.parametrize(("first", "second", "message"), GROUPS.values(), ids=GROUPS.keys())
def test_rows_count_once_and_only_with_their_like(first, second, message, tmp_path) -> None:
    piece = piece_header("samples", 2.0, share=0.5)
    record = [0, 0, 0, 0, *BOTH_PAIRS, Step.PACK, 0, 0, Step.PACK, 1, 0, Step.CLOSE_COST]
    header = header_of(FAN, 3.0, piece, piece)
    with pytest.raises((ProofError, UnreadableProofError), match=message):
        check(tmp_path, FAN, header, content(first, [record]) + content(second, [record]))


# ---- the search over directions

# The optimum is 2, with w = 2: giving one up costs more.
TWO = line(0.0, 1.0, labels=[-1.0, 1.0], costs=[10.0, 10.0])
NEW_PAIR = [RegionStep.PAIRS, 0, 1, 1, 0]


def lengths(middle: float) -> list[int]:
    return [RegionStep.SPLIT_LENGTHS, *doubles(middle)]


def test_what_is_true_is_proven_by_directions(tmp_path) -> None:
    bound = 2 * (1 - 1e-9)
    steps = [*lengths(2 * (1 - 1e-10)), *CLOSE, *NEW_PAIR, 0, 0, *CLOSE]
    assert check_faces(tmp_path, TWO, bound, *steps).bound == bound


FALSE_BY_DIRECTIONS = {
    "a pair that does not conflict": [*NEW_PAIR, 0, 0, *CLOSE],
    "a pair that conflicts in a part": [*lengths(1.9), *NEW_PAIR, 0, 0, *CLOSE, *NEW_PAIR, 0, 0, *CLOSE],
    "a pair around": [*lengths(1.9), *CLOSE, *NEW_PAIR, 1, 0, *CLOSE],
    "a pair the wrong way round": [RegionStep.PAIRS, 0, 1, 0, 1, 0, 0, *CLOSE],
    "a pair of one sample": [RegionStep.PAIRS, 0, 1, 1, 1, 0, 0, *CLOSE],
    "the other part": [*lengths(2.6), *CLOSE, *CLOSE],
    "lengths that are left out": [*lengths(1.9), *NEW_PAIR, 0, 0, *CLOSE, *CLOSE],
    "norm of samples that may be given up": [RegionStep.NORM, 2, 0, 1, 2, 1, *CLOSE],
    "a set without a case": [RegionStep.CASES, 2, 0, 1, 2, 1, RegionStep.END_CASES],
    "a search that leaves something open": [RegionStep.SAMPLES, 0, 0, 0, 0, Step.OPEN, 9],
    "a search that starts in the middle": [RegionStep.SAMPLES, 0, 0, 0, 1, 0, Step.CLOSE_COST],
    "no coordinate to divide": [RegionStep.SPLIT, 0, *CLOSE, *CLOSE],
    "left open with shorter lengths": [RegionStep.OPEN, 7, *doubles(1.0)],
    "left open for nobody": [RegionStep.OPEN, 7, *doubles(5.0)],
}


@pytest.mark.parametrize("steps", FALSE_BY_DIRECTIONS.values(), ids=FALSE_BY_DIRECTIONS.keys())
def test_false_bounds_by_directions_are_refused(steps, tmp_path) -> None:
    with pytest.raises(ProofError):
        check_faces(tmp_path, TWO, 3.0, *steps)


# At the same place, for 1 each: the optimum is 1.
SAME = line(0.0, 0.0, labels=[1.0, -1.0], costs=[1.0, 1.0])
BOTH_KEPT = [2, 0, 1, 2, 1]
PAIR_OF_SAME = [RegionStep.PAIRS, 0, 1, 0, 1, 0, 0]
NO_CHANGES = [0, 0]
FALSE_AT_ONE_PLACE = {
    "a pair": [*PAIR_OF_SAME, *CLOSE],
    "a pair twice": [*PAIR_OF_SAME, *PAIR_OF_SAME, *CLOSE],
    "a pair twice at once": [RegionStep.PAIRS, 0, 2, *(0, 1, 0, 0), *(0, 1, 0, 0), *CLOSE],
    "a share above the cost": [RegionStep.PAIRS, 0, 1, 0, 1, 0, 3, *CLOSE],
    "a set": [RegionStep.SET, *BOTH_KEPT, *CLOSE],
    "a pair beside a set": [RegionStep.SET, *BOTH_KEPT, *PAIR_OF_SAME, *CLOSE],
    "a set beside a pair": [*PAIR_OF_SAME, RegionStep.SET, *BOTH_KEPT, *CLOSE],
    "norm of samples that may be given up": [RegionStep.NORM, *BOTH_KEPT, *CLOSE],
    "a certificate of samples that may be given up": [RegionStep.CLOSE_EXACTLY, 0, *BOTH_KEPT],
    "a deduction from a sample that may be given up": [
        *PAIR_OF_SAME,
        *(RegionStep.CLOSE_EXACTLY, 2, *(1, 0, 1, 0), *(0, 0, 1, 0), 0),
    ],
    "what a case shares with the cover": [
        *(*PAIR_OF_SAME, RegionStep.CASES, *BOTH_KEPT),
        *(RegionStep.CASE, 0, *NO_CHANGES, RegionStep.CLOSE_EXACTLY, 0, 0),
        *(RegionStep.CASE, 1, *NO_CHANGES, RegionStep.CLOSE_EXACTLY, 0, 0, RegionStep.END_CASES),
    ],
    "a set without cases": [RegionStep.CASES, *BOTH_KEPT, RegionStep.END_CASES],
    "a sample that does not exist": [RegionStep.PAIRS, 0, 1, 0, 2, 0, 0, *CLOSE],
    "a coordinate that does not exist": [RegionStep.SPLIT, 2, *CLOSE, *CLOSE],
    "a case of a sample that does not exist": [RegionStep.CASES, *BOTH_KEPT, RegionStep.CASE, 2, *NO_CHANGES],
    "what was packed in a search over samples": [
        *(RegionStep.SAMPLES, 0, 0, 0, 0, Step.SET, *BOTH_KEPT, Step.PACK, 0, 0, Step.CLOSE_COST),
    ],
}


@pytest.mark.parametrize("steps", FALSE_AT_ONE_PLACE.values(), ids=FALSE_AT_ONE_PLACE.keys())
def test_false_bounds_by_directions_at_one_place_are_refused(steps, tmp_path) -> None:
    assert check_faces(tmp_path, SAME, 1.0, *PAIR_OF_SAME, *CLOSE).bound == 1
    with pytest.raises(ProofError):
        check_faces(tmp_path, SAME, 1.5, *steps)


def test_a_case_assumes_only_what_is_before_it(tmp_path) -> None:
    one_is_given_up = [RegionStep.CASES, 3, 0, 2, 2, 1, 4, 1]

    def case(sample: int, *deductions: int) -> list[int]:
        return [
            RegionStep.CASE,
            sample,
            *NO_CHANGES,
            RegionStep.CLOSE_EXACTLY,
            len(deductions) // 4,
            *deductions,
            0,
        ]

    # Sample 0 is kept, so another one is given up: but both others may be.
    cases = [*case(0), *case(1, 1, 0, 2, 0), *case(2, 1, 0, 1, 0)]
    with pytest.raises(ProofError, match="too small a norm"):
        check_faces(tmp_path, FAN, 2.5, *one_is_given_up, *cases, RegionStep.END_CASES)


def test_copies_divide_the_cost(tmp_path) -> None:
    pairs = [RegionStep.PAIRS, 0, 2, *(0, 2, 0, 0), *(1, 3, 0, 0), *CLOSE]
    assert check_faces(tmp_path, SAME, 1.0, *pairs, copies=[2, 2]).bound == 1
    with pytest.raises(ProofError, match="below the bound"):
        check_faces(tmp_path, SAME, 1.5, *pairs, copies=[2, 2])


def test_pairs_share_the_cost_of_a_sample(tmp_path) -> None:
    # The optimum is 1, without sample 0.
    fan = line(0.0, 0.0, 0.0, labels=[1.0, -1.0, -1.0], costs=[1.0, 3.0, 3.0])
    with pytest.raises(ProofError, match="more than the cost"):
        check_faces(tmp_path, fan, 1.5, RegionStep.PAIRS, 0, 2, *(0, 1, 0, 0), *(0, 2, 0, 0), *CLOSE)


def test_flips_count_only_if_they_are_given_up(tmp_path) -> None:
    # With w = 2, all are kept. If the first and the last are, the one in the middle cannot be given up.
    row = line(0.0, 1.0, -1.0, labels=[1.0, 1.0, -1.0], costs=[10.0, 10.0, 10.0])
    contradiction = [3, 0, 2, 4, 1, 3, 1]
    with pytest.raises(ProofError, match="not given up"):
        check_samples(tmp_path, row, 3.0, Step.SET, *contradiction, Step.PACK, 0, 0, Step.CLOSE_COST)
    with pytest.raises(ProofError, match="given up"):
        check_faces(tmp_path, row, 3.0, RegionStep.SET, *contradiction, *CLOSE)
    with pytest.raises(ProofError, match="may not be given up"):
        check_faces(tmp_path, row, 3.0, RegionStep.CLOSE_EXACTLY, 0, *contradiction)
    # Of samples that are certain, those that may be needed.
    with pytest.raises(ProofError, match="too small a norm"):
        check_faces(tmp_path, row, 3.0, RegionStep.SET, 2, 0, 1, 4, 1, *CLOSE)
    with pytest.raises(ProofError, match="too small a norm"):
        check_faces(tmp_path, row, 3.0, RegionStep.CLOSE_EXACTLY, 0, 2, 0, 1, 4, 1)


# A record of a face: number, exponent, face, sign, sides, least and greatest length.
STARTS = {
    "a least length": [1, 0, 0, 0, *doubles(1.0, 1.0, -1.0, 1.0, 100.0, 200.0)],
    "a part of a face": [1, 0, 0, 0, *doubles(1.0, 1.0, 0.0, 1.0, 0.0, 200.0)],
    "a box outside of the cube": [1, 0, 0, 0, *doubles(1.0, 1.0, -1.0, 2.0, 0.0, 200.0)],
    "a face on the other side": [1, 0, 0, 0, *doubles(-1.0, -1.0, -1.0, 1.0, 0.0, 200.0)],
    "a face inside": [1, 0, 0, 0, *doubles(0.5, 0.5, -1.0, 1.0, 0.0, 200.0)],
    "a negative length": [1, 0, 0, 0, *doubles(1.0, 1.0, -1.0, 1.0, -1.0, 200.0)],
    "no such face": [5, 0, 2, 0, *doubles(1.0, 1.0, -1.0, 1.0, 0.0, 200.0)],
    "no such sign": [3, 0, 0, 2, *doubles(1.0, 1.0, -1.0, 1.0, 0.0, 200.0)],
    "the number of another face": [2, 0, 0, 0, *doubles(1.0, 1.0, -1.0, 1.0, 100.0, 200.0)],
    "an infinite length": [1, 0, 0, 0, *doubles(1.0, 1.0, -1.0, 1.0, 0.0, np.inf)],
    "a side that is no number": [1, 0, 0, 0, *doubles(1.0, 1.0, np.nan, 1.0, 0.0, 200.0)],
    "a side of too many bits": [1, 0, 0, 0, 1 << 40, 0, *doubles(1.0, -1.0, 1.0, 0.0, 200.0)],
    "too large an exponent": [1, 1 << 40, 0, 0, *doubles(1.0, 1.0, -1.0, 1.0, 0.0, 200.0)],
}


@pytest.mark.parametrize("start", STARTS.values(), ids=STARTS.keys())
def test_records_start_from_whole_faces(start, tmp_path) -> None:
    plane = Samples(np.array([[0.0, 0.0], [0.0, 0.0]]), [1.0, -1.0], [1.0, 1.0])
    header = header_of(plane, 1.0, piece_header("directions", 1.0))
    steps = [*PAIR_OF_SAME, *CLOSE]
    whole = [face_record(2, face, sign, *steps) for face in range(2) for sign in range(2)]
    assert check(tmp_path, plane, header, content(EACH[:2], whole, np.eye(2))).records == 4
    others = [record for record in whole[1:] if record[0] != start[0]]
    with pytest.raises((ProofError, UnreadableProofError)):
        check(tmp_path, plane, header, content(EACH[:2], [[*start, *steps], *others], np.eye(2)))


def test_a_region_is_left_open_with_all_its_lengths(tmp_path) -> None:
    backward = face_record(1, 0, 1, *NEW_PAIR, 0, 0, *CLOSE)

    def check_open(bound: float, longest: float, *steps: int) -> Verdict:
        forward = face_record(1, 0, 0, RegionStep.OPEN, 7, *doubles(longest))
        left_open = [7, 0, 0, 0, *doubles(1.0, 1.0, 0.0, longest), *steps]
        header = header_of(TWO, bound, piece_header("directions", bound))
        return check(tmp_path, TWO, header, content(EACH[:2], [forward, backward, left_open], np.eye(1)))

    bound = 2 * (1 - 1e-9)
    assert check_open(bound, 5.0, *lengths(2 * (1 - 1e-10)), *CLOSE, *NEW_PAIR, 0, 0, *CLOSE).bound == bound
    with pytest.raises(ProofError, match="shorter lengths"):
        check_open(3.0, 1.9, *NEW_PAIR, 0, 0, *CLOSE)


def test_norms_are_not_rounded_up_where_numbers_have_few_digits(tmp_path) -> None:
    """The smallest positive number has one digit: 1.55 of it must not become 2 of it."""
    least = 5e-324
    place = float(np.sqrt(2 / 1.75)) * 2.0**537
    samples = line(0.0, place, labels=[-1.0, 1.0], costs=[4 * least, 4 * least])
    # Keeping both takes w = 2 / place.
    assert Fraction(2) / Fraction(place) ** 2 < Fraction(7, 4) * Fraction(least)
    middle = float(np.sqrt(2 * 1.55)) * 2.0**-537
    with pytest.raises(ProofError, match="below the bound"):
        check_faces(tmp_path, samples, 2 * least, *lengths(middle), *CLOSE, *NEW_PAIR, 0, 0, *CLOSE)


@pytest.mark.parametrize("left", [1, 3 << 80, 5 << 75])
def test_lengths_are_not_rounded_down_where_numbers_have_few_digits(left) -> None:
    samples = line(0.0, 1.0, labels=[-1.0, 1.0], costs=[5e-324, 1.0])
    piece = regions.Piece(samples, EACH[:2], piece_header("directions", 5e-324, share=0.7))
    exact = Fraction(2 * left, 1 << piece.unit_exponent) / Fraction(*piece.share)
    assert Fraction(regions.longest_of(piece, left)) ** 2 >= exact
