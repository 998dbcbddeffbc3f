"""Proofs of false bounds within limits on violations, forged by hand: every rule about limits refuses one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from forged_proofs import content, face_record, header_of, line, piece_header, write
from hardmargin.checker import ProofError, UnreadableProofError, Verdict, check_proof
from hardmargin.checker.decisions import Step
from hardmargin.checker.limits import Limits
from hardmargin.checker.regions import Step as RegionStep
from hardmargin.checker.samples import Samples


def check(path: Path, samples: Samples, bound: float, body: bytes, limits: Any, *pieces: dict[str, Any]) -> Verdict:
    header = header_of(samples, bound, *pieces) | {"limits": Limits(limits).stated}
    file = write(path / "forged", header, body)
    return check_proof(file, samples.X, samples.y, samples.costs, max_violations=limits)


def check_samples(
    path: Path,
    samples: Samples,
    bound: float,
    limits: Any,
    *steps: int,
    prices: Any = (1.0,),
    limited: Any = True,
    proven: float | None = None,
) -> Verdict:
    """Check one record over all samples; ``proven`` is what the piece claims."""
    body = content([[row] for row in range(samples.n)], [[0, 0, 0, 0, *steps]])
    of_piece = {"prices": list(prices), "limited": limited}
    piece = piece_header("samples", bound if proven is None else proven, **of_piece)
    return check(path, samples, bound, body, limits, piece)


# Two places, each with a sample of both classes: two samples are given up at least. The width between them is 10.
TWICE = line(0.0, 0.0, 10.0, 10.0, labels=[1.0, -1.0, 1.0, -1.0], costs=[1.0] * 4)
# Certificates that the samples of a place cannot both be kept.
PLACES = [*(Step.SET, 2, 0, 1, 2, 1), *(Step.SET, 2, 4, 1, 6, 1)]
PACKED = [*PLACES, Step.PACK, 0, 0, Step.PACK, 1, 0]


def test_too_many_sets_are_beyond_a_limit(tmp_path) -> None:
    # There is no hyperplane within the limit, so every bound is true.
    for limit in (1, 1.9, {-1: 1, 1: 0}):
        prices = [1.0] * (2 if isinstance(limit, dict) else 1)
        steps = [*PACKED, Step.CLOSE_COST]
        assert check_samples(tmp_path, TWICE, 1e9, limit, *steps, prices=prices).bound == 1e9
    # The optimum is 0.02 if one sample of each class may be given up, and otherwise 0.
    for limit in (2, 2.5, {-1: 2, 1: 0}, {-1: 1, 1: 1}, {-1: 1, 1: 2}):
        prices = [1.0] * (2 if isinstance(limit, dict) else 1)
        with pytest.raises(ProofError, match="below the bound"):
            check_samples(tmp_path, TWICE, 0.5, limit, *PACKED, Step.CLOSE_COST, prices=prices)


def test_a_limit_may_be_exceeded_by_rounding(tmp_path) -> None:
    with pytest.raises(ProofError, match="below the bound"):
        check_samples(tmp_path, TWICE, 1e-3, 2 * (1 - 1e-10), *PACKED, Step.CLOSE_COST)
    # The weight is what solve allows, which is a little more than 1 + 1e-9 in exact arithmetic.
    samples = line(0.0, 0.0, 2.0, -1.0, labels=[1.0, -1.0, -1.0, 1.0], costs=[1 + 1e-9, 5.0, 5.0, 5.0])
    steps = [Step.SET, 2, 0, 1, 2, 1, Step.DEAR, 0, Step.UNIT, 0, Step.CLOSE_COST]
    with pytest.raises(ProofError):
        check_samples(tmp_path, samples, 1e9, 1, *steps)


# At most one positive sample, and negative ones cost 1: the optimum is 1.02, one sample of each class.
ONE = {1: 1}
# What is negative is kept, and what is positive is given up; the parts in which it is not cost 1 or more.
BY_CLASS = [*PLACES, Step.BRANCH, 1, Step.CLOSE_COST, Step.BRANCH, 3, Step.CLOSE_COST]


@pytest.mark.parametrize("price", [0.5, 1.0, 7.0])
def test_sets_of_one_class_are_beyond_its_limit(price, tmp_path) -> None:
    steps = [*BY_CLASS, Step.PACK, 0, 0, Step.PACK, 1, 0, Step.CLOSE_COST]
    assert check_samples(tmp_path, TWICE, 1.0, ONE, *steps, prices=[price]).bound == 1


@pytest.mark.parametrize("price", [0.5, 1.0, 7.0])
def test_a_sample_that_does_not_fit_is_kept(price, tmp_path) -> None:
    steps = [*PLACES, Step.BRANCH, 0, Step.DEAR, 2, Step.UNIT, 1, Step.CLOSE_COST, Step.UNIT, 0, Step.CLOSE_COST]
    assert check_samples(tmp_path, TWICE, 1.0, ONE, *steps, prices=[price]).bound == 1


# The same with a negative sample that is too expensive: the optimum is still 1.02, without samples 1 and 2.
DEAR = line(0.0, 0.0, 10.0, 10.0, labels=[1.0, -1.0, 1.0, -1.0], costs=[1.0, 1.0, 1.0, 10.0])
# Sample 3 is kept; the part in which it is not costs 10.
WITH_3 = [*PLACES, Step.BRANCH, 3, Step.CLOSE_COST]
# Sample 2 is kept, so sample 3 is not.
WITH_2 = [Step.DEAR, 2, Step.UNIT, 1, Step.CLOSE_COST]
FALSE = {
    "the cost of one that is not limited": [
        *(*PLACES, Step.BRANCH, 1, Step.CLOSE_COST, Step.BRANCH, 3, Step.CLOSE_COST),
        *(Step.PACK, 0, 0, Step.PACK, 1, 0, Step.CLOSE_COST),
    ],
    "sets of both classes": [*PACKED, Step.CLOSE_COST],
    "a set of the class and one of both": [*WITH_3, Step.PACK, 0, 0, Step.PACK, 1, 0, Step.CLOSE_COST],
    "no more than the limit": [*WITH_3, Step.UNIT, 1, Step.CLOSE_COST],
    "a sample that fits": [*PLACES, *WITH_2],
    "a sample that fits, and its set": [*WITH_3, Step.PACK, 1, 0, Step.DEAR, 2, Step.CLOSE_SET, 1],
    "a sample that is not limited": [*PLACES, Step.DEAR, 1, Step.UNIT, 0, *WITH_2],
    "samples of the other class": [*PLACES, Step.BRANCH, 1, *WITH_2, Step.UNIT, 0, *WITH_2],
    "samples of the other part": [*PLACES, Step.BRANCH, 0, *WITH_2, Step.UNIT, 0, *WITH_2],
}


@pytest.mark.parametrize("price", [0.5, 1.0, 4.0])
@pytest.mark.parametrize("steps", FALSE.values(), ids=FALSE.keys())
def test_false_bounds_are_refused(steps, price, tmp_path) -> None:
    with pytest.raises(ProofError):
        check_samples(tmp_path, DEAR, 5.0, ONE, *steps, prices=[price])


def test_what_is_limited_leaves_as_much_room_for_the_norm(tmp_path) -> None:
    # Within a limit of 2 there is w = 0.
    steps = [*PLACES, Step.BRANCH, 0, Step.CLOSE_COST, Step.UNIT, 0, Step.CLOSE_COST]
    with pytest.raises(ProofError, match="below the bound"):
        check_samples(tmp_path, TWICE, 0.5, 2, *steps)


# The optimum is 2 if both are kept, and 0 if one may be given up.
PAIR = line(0.0, 1.0, labels=[-1.0, 1.0], costs=[1.0, 1.0])
KEEP_BOTH = [Step.SET, 2, 0, 1, 2, 1]


@pytest.mark.parametrize("price", [0.0, 1.0, 1e3])
def test_norms_are_below_the_bound_within_limits(price, tmp_path) -> None:
    steps = [*KEEP_BOTH, Step.PACK, 0, 0, Step.CLOSE_COST]
    kept = [Step.DEAR, 0, Step.DEAR, 1, *KEEP_BOTH, Step.CLOSE_SET, 0]
    if price > 0:
        for true in (steps, kept):
            assert check_samples(tmp_path, PAIR, 2.0, 0, *true, prices=[price]).bound == 2
    for bound, limit in ((2.5, 0), (0.5, 1)):
        for false in (steps, kept):
            with pytest.raises(ProofError):
                check_samples(tmp_path, PAIR, bound, limit, *false, prices=[price])


def test_what_is_not_limited_leaves_less_room_for_the_norm(tmp_path) -> None:
    # Sample 0 does not fit into the limit. Keeping it and sample 1 takes a norm term of 2, and sample 2 costs 1.
    # Sample 3 would fit, but giving it up is of no use: the optimum is 3.
    four = line(0.0, 1.0, -5.0, -20.0, labels=[-1.0, 1.0, 1.0, -1.0], costs=[2.0, 5.0, 1.0, 1.0])
    without_2 = [*KEEP_BOTH, Step.UNIT, 0, Step.CLOSE_COST]
    with_2 = [Step.SET, 3, 0, 6, 2, 5, 4, 1, Step.UNIT, 0, Step.CLOSE_COST]
    steps = [Step.DEAR, 0, Step.BRANCH, 2, *without_2, *with_2]
    assert check_samples(tmp_path, four, 3.0, {-1: 1}, *steps).bound == 3
    with pytest.raises(ProofError, match="too small a norm"):
        check_samples(tmp_path, four, 3.5, {-1: 1}, *steps)


# ---- prices


def test_the_worth_of_limits_is_subtracted(tmp_path) -> None:
    # At a price of 2, giving up one of the two is as good as keeping both: 2, less 2 times the limit.
    steps = [*KEEP_BOTH, Step.PACK, 0, 0, Step.CLOSE_COST]

    def claimed(bound: float, limit: float, **others: Any) -> float:
        settings = {"prices": [2.0], "limited": False, "proven": 2.0} | others
        return check_samples(tmp_path, PAIR, bound, limit, *steps, **settings).bound

    assert claimed(2.0, 0) == 2
    assert claimed(1.0 - 2e-9, 0.5) == 1 - 2e-9
    for bound, limit in ((2.1, 0), (1.0, 0.5), (0.1, 1)):
        with pytest.raises(ProofError, match="add up to"):
            claimed(bound, limit)
    with pytest.raises(ProofError):
        claimed(2.0, 0, prices=[1.0])
    with pytest.raises(ProofError):
        # The limit is not subtracted if the records know it.
        claimed(2.0, 1, limited=True)
    for prices in ([], [2.0, 2.0], [-2.0]):
        with pytest.raises(ProofError, match="price"):
            claimed(2.0, 0, prices=prices)


@pytest.mark.parametrize(
    "changes", [{"prices": "2"}, {"prices": [2]}, {"prices": [None]}, {"limited": 1}, {"limited": "yes"}], ids=str
)
def test_odd_pieces_are_unreadable(changes, tmp_path) -> None:
    piece = piece_header("samples", 0.0, prices=[2.0], limited=False) | changes
    with pytest.raises(UnreadableProofError):
        check(tmp_path, PAIR, 0.0, content([[0], [1]], [[0, 0, 0, 0, Step.CLOSE_COST]]), 1, piece)


def test_limits_and_their_worth_are_used_once(tmp_path) -> None:
    halves = line(0.0, 1.0, 0.0, 1.0, labels=[-1.0, 1.0] * 2, costs=[1.0] * 4)
    record = [0, 0, 0, 0, *KEEP_BOTH, Step.PACK, 0, 0, Step.CLOSE_COST]
    body = content([[0], [1]], [record]) + content([[2], [3]], [record])

    def checked(*pieces: dict[str, Any]) -> float:
        return check(tmp_path, halves, 0.9, body, 0, *pieces).bound

    first = piece_header("samples", 1.0, share=0.5, prices=[2.0], limited=False)
    assert checked(first, first) == 0.9
    with pytest.raises(ProofError, match="several pieces"):
        checked(first, first | {"limited": True})
    with pytest.raises(ProofError, match="different prices"):
        checked(first, first | {"prices": [3.0]})


def test_without_limits_there_are_no_prices(tmp_path) -> None:
    body = content([[0], [1]], [[0, 0, 0, 0, *KEEP_BOTH, Step.PACK, 0, 0, Step.CLOSE_COST]])
    for changes in ({"limited": True}, {"prices": [1.0]}, {"prices": [1.0], "limited": True}):
        with pytest.raises(ProofError):
            check(tmp_path, PAIR, 0.5, body, None, piece_header("samples", 0.5, **changes))


# ---- directions


def check_faces(path: Path, samples: Samples, bound: float, limit: float, price: float, *steps: int) -> Verdict:
    records = [face_record(1, 0, sign, *steps) for sign in range(2)]
    body = content([[row] for row in range(samples.n)], records, np.eye(1))
    piece = piece_header("directions", bound, prices=[price], limited=True)
    return check(path, samples, bound, body, limit, piece)


def test_pairs_are_beyond_a_limit(tmp_path) -> None:
    pairs = [RegionStep.PAIRS, 0, 2, *(0, 1, 0, 0), *(2, 3, 0, 0), RegionStep.CLOSE]
    # Nothing is within a limit of 1; with 2 there is w = 0.
    assert check_faces(tmp_path, TWICE, 3.0, 1, 4.0, *pairs).bound == 3
    for bound, limit, price in ((3.0, 2, 4.0), (1e-3, 2, 1e9), (5.0, 1, 4.0)):
        with pytest.raises(ProofError, match="below the bound"):
            check_faces(tmp_path, TWICE, bound, limit, price, *pairs)


def test_lengths_are_limited_by_the_bound_and_not_by_what_limits_are_worth(tmp_path) -> None:
    # The optimum is 2 if both are kept. Below it, the two conflict, however much may be given up.
    pairs = [RegionStep.PAIRS, 0, 1, *(1, 0, 0, 0), RegionStep.CLOSE]
    assert check_faces(tmp_path, PAIR, 1.9, 0, 4.0, *pairs).bound == 1.9
    for bound, limit in ((2.1, 0), (1.9, 1)):
        with pytest.raises(ProofError):
            check_faces(tmp_path, PAIR, bound, limit, 4.0, *pairs)
