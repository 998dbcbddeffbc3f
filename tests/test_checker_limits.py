"""Files that were forged to crash the checker, to keep it busy for ever or to fill the memory; and odd data."""

from __future__ import annotations

import json
import zlib
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csc_array, csr_array

from forged_proofs import (
    check,
    check_faces,
    check_samples,
    content,
    doubles,
    encoded,
    face_record,
    header_of,
    line,
    parts,
    piece_header,
    write,
)
from hardmargin import solve
from hardmargin.checker import ProofError, UnreadableProofError, check_proof, checking, decisions
from hardmargin.checker.constraints import Constraints
from hardmargin.checker.decisions import Step
from hardmargin.checker.piece import Piece
from hardmargin.checker.reading import MAGIC, Numbers
from hardmargin.checker.regions import Step as RegionStep
from hardmargin.checker.samples import Samples
from hardmargin.search.recording import number_bytes

EACH = [[0], [1], [2]]
# Two that are far enough apart, and three at the same place.
TWO = line(0.0, 1.0, labels=[-1.0, 1.0], costs=[10.0, 10.0])
FAN = line(0.0, 0.0, 0.0, labels=[1.0, -1.0, -1.0], costs=[3.0, 1.0, 1.0])
# Certificates that sample 0 is not kept together with another one.
PAIR = {k: [Step.SET, 2, 0, 1, 2 * k, 1] for k in (1, 2)}
BOTH_PAIRS = [*PAIR[1], *PAIR[2]]
NEW_PAIR = [RegionStep.PAIRS, 0, 1, 1, 0]
CLOSE = [RegionStep.CLOSE]


# ---- crashes, and loops that do not end


def test_a_region_around_that_does_not_exist_is_not_looked_for(tmp_path) -> None:
    for steps in ([*NEW_PAIR, 1 << 62, 0, *CLOSE], [RegionStep.CLOSE_EXACTLY, 1, 1, 1, 0, 1 << 62, 0]):
        with pytest.raises(ProofError, match="does not exist"):
            check_faces(tmp_path, TWO, 3.0, *steps)


def test_directions_need_samples_and_axes(tmp_path) -> None:
    header = header_of(TWO, 1.0, piece_header("directions", 1.0))
    record = face_record(1, 0, 0, *CLOSE)
    for groups, axes, message in (
        ([], np.eye(1), "no samples"),
        (EACH[:2], np.zeros((0, 1)), "no axes"),
        (EACH[:2], np.eye(2), "more axes"),
        (EACH[:2], [[np.nan]], "do not fit"),
        (EACH[:2], [[1e200]], "out of range"),
    ):
        with pytest.raises(ProofError, match=message):
            check(tmp_path, TWO, header, content(groups, [record], axes))


def test_lengths_out_of_range_are_refused(tmp_path) -> None:
    # The longest u is just below the largest number.
    tiny = line(0.0, 1e-160, labels=[-1.0, 1.0], costs=[1.0, 1.0])
    with pytest.raises(ProofError, match="out of range"):
        check_faces(tmp_path, tiny, 8.98846567431157e307, RegionStep.SET, 1, 5, 1, axes=[[1.340780792994e154]])
    # Lengths are multiples of a power of two.
    huge = header_of(TWO, 3.0, piece_header("directions", 3.0, exponent=4000))
    with pytest.raises(ProofError, match="out of range"):
        check(tmp_path, TWO, huge, content(EACH[:2], [face_record(1, 0, 0, *CLOSE)], np.eye(1)))
    # The length of the shortest s times the least length is above it; what the row requires is not.
    plane = Samples(np.array([[0.0, 0.0], [1.0, 0.0]]), [-1.0, 1.0], [10.0, 10.0])
    upper_half = [RegionStep.SPLIT, 2 * 1 + 1]
    steps = [
        *upper_half,
        RegionStep.SPLIT_LENGTHS,
        *doubles(1.79e308),
        RegionStep.SET,
        1,
        4 + 2,
        1,
        *CLOSE,
        *CLOSE,
        *CLOSE,
    ]
    with pytest.raises(ProofError, match=r"too small a norm|below the bound"):
        check_faces(tmp_path, plane, 3.0, *steps)


def test_weights_above_the_bound_need_no_more_memory_than_the_bound(tmp_path) -> None:
    piece = Piece(TWO, EACH[:2], piece_header("samples", 3.0, exponent=1 << 16))
    assert piece.weight(1, 1 << 16) == piece.bound
    # They count as the bound: that is not above the cost of samples that cost more, and above that of others.
    steps = [Step.SET, 2, 0, 1, 2, 1, Step.COVER, 1, 0, 1 << 60, Step.CLOSE_COST]
    assert check_samples(tmp_path, TWO, 2.0, *steps).bound == 2.0
    cheap = line(0.0, 1.0, labels=[-1.0, 1.0], costs=[1.0, 1.0])
    with pytest.raises(ProofError, match="more than its cost"):
        check_samples(tmp_path, cheap, 2.0, *steps)


def test_bounds_on_weights_are_listed_once(tmp_path) -> None:
    known = ([1.0], [np.inf])
    hashes = Constraints(TWO.n, TWO.m, coef_bounds=known).stated()
    for bounds, complaint in (([0, 0], "twice"), ([0, 1], "that has none"), ([0, 2], "that has none")):
        piece = piece_header("samples", 0.0, bounds=bounds)
        header = header_of(TWO, 0.0, piece) | {"coef_bounds": hashes["coef_bounds"]}
        path = write(tmp_path / "forged", header, content(EACH[:2], [[0, 0, 0, 0, Step.CLOSE_COST]]))
        with pytest.raises(ProofError, match=complaint):
            check_proof(path, TWO.X, TWO.y, TWO.costs, coef_bounds=known)


ODD_HEADERS = {
    "half a character": ("n", '"\\ud800"'),
    "an escape sequence": ("m", '"\\u001b[2J"'),
    "no whole number": ("n", "2.0"),
    "a truth value": ("m", "true"),
    "many digits": ("n", "9" * 5000),
    "deep lists": ("n", "[" * 980 + "]" * 980),
    "deeper lists": ("n", "[" * 100_000 + "]" * 100_000),
    "a bound without an end": ("bound", "1e999"),
    "a whole bound": ("bound", "2"),
    "no number": ("bound", "NaN"),
    "pieces that are lists": ("pieces", "[[]]"),
    "a kind that is a list": ("pieces", '[{"kind": ' + "[" * 900 + "]" * 900 + "}]"),
    "a kind that is unknown": ("pieces", '[{"kind": "\\ud800"}]'),
    "a share that is text": ("pieces", '[{"kind": "samples", "share": "1", "bound": 1.0, "exponent": 0}]'),
    "a share that is no number": ("pieces", '[{"kind": "samples", "share": NaN, "bound": 1.0, "exponent": 0}]'),
    "an exponent that is true": ("pieces", '[{"kind": "samples", "share": 1.0, "bound": 1.0, "exponent": true}]'),
}


@pytest.mark.parametrize(("key", "value"), ODD_HEADERS.values(), ids=ODD_HEADERS.keys())
def test_odd_headers_are_unreadable(key, value, tmp_path) -> None:
    header = header_of(TWO, 1.0, piece_header("samples", 1.0)) | {key: "HERE"}
    odd = json.dumps(header).replace('"HERE"', value).encode()
    with pytest.raises(UnreadableProofError) as caught:
        check(tmp_path, TWO, odd, content(EACH[:2], []))
    assert str(caught.value).isprintable()


# ---- memory


@pytest.fixture
def few_bytes(monkeypatch) -> None:
    """Small limits, so that what exceeds them is small."""
    monkeypatch.setattr("hardmargin.checker.reading._INFLATED_BYTES", 1 << 12)
    monkeypatch.setattr("hardmargin.checker.reading._DECODED_BYTES", 16)


@pytest.mark.usefixtures("few_bytes")
def test_what_inflates_to_far_more_than_a_proof_is_refused(tmp_path) -> None:
    header = header_of(TWO, 1.0, piece_header("samples", 1.0))
    record = encoded([0, 0, 0, 0]) + bytes([Step.CLOSE_COST]) * (1 << 20)
    body = content(EACH[:2], [])[:-1] + number_bytes(len(record)) + record + b"\0"
    with pytest.raises(UnreadableProofError, match="expands"):
        check(tmp_path, TWO, header, body)


@pytest.mark.usefixtures("few_bytes")
def test_proofs_that_are_larger_than_the_limits_hold(tmp_path) -> None:
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(50, 4)), rng.integers(0, 2, 50)
    for method in ("packing", "directions"):
        result = solve(X, y, 1.0, method=method, proof=tmp_path / "proof")
        assert len(parts(tmp_path / "proof")[1]) > 1 << 12
        assert check_proof(tmp_path / "proof", X, 2.0 * y - 1, np.ones(50)).bound == result.proof_bound


@pytest.mark.usefixtures("few_bytes")
@pytest.mark.parametrize("size", [1, 2, 9])
def test_numbers_are_decoded_in_parts(size) -> None:
    values = [(1 << 7 * size) - 1 - k for k in range(40)]
    numbers = Numbers(encoded(values))
    assert [numbers.next(), *numbers.take(30), numbers.next(), *numbers.take(8)] == values
    assert numbers.over
    for reading in (numbers.next, lambda: numbers.take(1), lambda: Numbers(b"\x81" * 20 + b"\1").next()):
        with pytest.raises(UnreadableProofError):
            reading()
    with pytest.raises(UnreadableProofError, match="too early"):
        Numbers(encoded(values)).take(1 << 62)


def test_counts_that_exceed_the_data_are_refused_at_once(tmp_path) -> None:
    samples = header_of(TWO, 1.0, piece_header("samples", 1.0))
    directions = header_of(TWO, 1.0, piece_header("directions", 1.0))
    face = face_record(1, 0, 0, *CLOSE)
    for header, body, message in (
        (samples, encoded([1 << 60]), "more samples than there are rows"),
        (samples, encoded([2, 2, 0, 1, 2, 0, 1]), "more than there are"),
        (samples, encoded([1, 1 << 60]), "more than there are"),
        (samples, encoded([2, 1, 0, 1, 1, 1 << 60]), "too long"),
        (samples, encoded([2, 1, 0, 1, 1, 1 << 30, 0]), "too early"),
        (directions, content(EACH[:2], [face], np.eye(1), [1, 1 << 20]), "too many"),
        (directions, content(EACH[:2], [face], np.eye(1), [1, 0]), "no copy"),
    ):
        with pytest.raises((ProofError, UnreadableProofError), match=message):
            check(tmp_path, TWO, header, body)


def test_parts_within_each_other_are_limited(tmp_path) -> None:
    # Nothing is examined where nothing is left to examine: but what waits needs memory.
    both_kept = [
        *BOTH_PAIRS,
        Step.BRANCH,
        0,
        Step.CLOSE_COST,
        Step.BRANCH,
        1,
        Step.UNIT,
        1,
        Step.CLOSE_COST,
        *PAIR[1],
    ]
    with pytest.raises(ProofError, match="more branches"):
        check_samples(tmp_path, FAN, 2.0, *both_kept, *PAIR[1], *[Step.BRANCH, 0] * 9)
    halves = [RegionStep.SPLIT_LENGTHS, *doubles(1.0)] * 5000
    with pytest.raises(ProofError, match="divided 4096 times"):
        check_faces(tmp_path, TWO, 3.0, *halves)


# ---- data


def test_what_waits_is_limited_by_its_size(tmp_path, monkeypatch) -> None:
    samples = line(*[0.0] * 30, labels=[1.0, -1.0] * 15, costs=[1.0] * 30)
    sets = [number for k in range(15) for number in (Step.SET, 2, 4 * k, 1, 4 * k + 2, 1, Step.PACK, k, 0)]
    branches = [number for k in range(10) for number in (Step.BRANCH, k)]
    steps = [*sets, *branches, *[Step.CLOSE_COST] * 11]
    assert check_samples(tmp_path, samples, 15.0, *steps).bound == 15
    # Every branch copies the statuses of 30 samples, up to 15 sets and 30 loads.
    monkeypatch.setattr(decisions, "_WAITING_BYTES", 10 * (30 + 100 * 45))
    assert check_samples(tmp_path, samples, 15.0, *steps).bound == 15
    monkeypatch.setattr(decisions, "_WAITING_BYTES", 8 * (30 + 100 * 30))
    with pytest.raises(ProofError, match="fill the memory"):
        check_samples(tmp_path, samples, 15.0, *steps)
    # What no longer waits does not count.
    one_by_one = [number for k in range(10) for number in (Step.BRANCH, k, Step.CLOSE_COST)]
    monkeypatch.setattr(decisions, "_WAITING_BYTES", 30 + 100 * 45)
    assert check_samples(tmp_path, samples, 15.0, *sets, *one_by_one, Step.CLOSE_COST).bound == 15


def test_covers_of_what_waits_count_once(tmp_path, monkeypatch) -> None:
    samples = line(*[0.0] * 40, labels=[1.0, -1.0] * 20, costs=[1.0] * 40)
    # A set of 20 samples, so every cover has one weight and 20 loads; branches are on the other samples.
    of_half = [Step.SET, 20, *(number for k in range(20) for number in (2 * k, 1))]
    cover = [Step.COVER, 1, 0, 1]
    branches = [[Step.BRANCH, k] for k in range(20, 30)]
    closed = [Step.CLOSE_COST] * 11
    one = [*of_half, *cover, *(number for branch in branches for number in branch), *closed]
    many = [*of_half, *(number for branch in branches for number in (*cover, *branch)), *closed]
    monkeypatch.setattr(decisions, "_WAITING_BYTES", 10 * 40 + 100 * 21)
    assert check_samples(tmp_path, samples, 1.0, *one).bound == 1
    with pytest.raises(ProofError, match="fill the memory"):
        check_samples(tmp_path, samples, 1.0, *many)
    monkeypatch.setattr(decisions, "_WAITING_BYTES", 10 * (40 + 100 * 21))
    assert check_samples(tmp_path, samples, 1.0, *many).bound == 1


def test_samples_are_those_of_the_caller_in_any_form() -> None:
    dense = np.array([[1.0, 0.0], [3.0, 2.0]])
    labels, costs = [1.0, -1.0], [1.0, 1.0]
    repeated = csr_array(
        (np.array([2.0, 1.0, 1.0, 2.0]), np.array([0, 0, 0, 1]), np.array([0, 0, 4])), shape=(2, 2)
    )
    for X in (dense.astype(np.int64), dense.astype(np.float32), csr_array(dense.astype(np.int32))):
        samples = Samples(X, labels, costs)
        assert samples.X.dtype == np.float64
        assert samples.whole_row(1) == [(0, 3), (1, 2)]
    assert Samples(repeated, labels, costs).whole_row(1) == [(0, 4), (1, 2)]
    assert repeated.nnz == 4
    with pytest.raises(ValueError, match="CSR"):
        Samples(csc_array(dense), labels, costs)


# ---- processes


def test_a_process_that_ends_is_told(tmp_path, monkeypatch) -> None:
    class BrokenPool(ThreadPoolExecutor):
        def __init__(self, *_: Any) -> None:
            super().__init__(1)

        def submit(self, *_: Any) -> Future[Any]:
            future: Future[Any] = Future()
            future.set_exception(BrokenProcessPool())
            return future

    monkeypatch.setattr(checking, "ProcessPoolExecutor", BrokenPool)
    file = write(
        tmp_path / "file", header_of(FAN, 1.0, piece_header("samples", 1.0)), content(EACH, [[0, 0, 0, 0, 7]])
    )
    with pytest.raises(OSError, match="has ended"):
        check_proof(file, FAN.X, FAN.y, FAN.costs, processes=2)


# ---- the file


def test_every_beginning_of_a_file_is_unreadable(tmp_path) -> None:
    header = header_of(FAN, 2.0, piece_header("samples", 2.0))
    packed = [0, 0, 0, 0, *BOTH_PAIRS, Step.PACK, 0, 0, Step.PACK, 1, 0, Step.CLOSE_COST]
    whole = write(tmp_path / "whole", header, content(EACH, [packed])).read_bytes()
    assert check_proof(tmp_path / "whole", FAN.X, FAN.y, FAN.costs).bound == 2
    cut = tmp_path / "cut"
    for end in range(len(whole)):
        cut.write_bytes(whole[:end])
        with pytest.raises(UnreadableProofError):
            check_proof(cut, FAN.X, FAN.y, FAN.costs)


def test_nothing_follows_the_compressed_part(tmp_path) -> None:
    header = json.dumps(header_of(FAN, 2.0)).encode()
    file = tmp_path / "file"
    for line_of_header in (header, header.replace(b"2.0", b"0.0")):
        for stream in (zlib.compress(b"") * 2, zlib.compress(b"") + b"\0", zlib.compress(b"\0"), b""):
            file.write_bytes(MAGIC + line_of_header + b"\n" + stream)
            with pytest.raises(UnreadableProofError):
                check_proof(file, FAN.X, FAN.y, FAN.costs)
    # Nothing proves that nothing is negative, and no more.
    file.write_bytes(MAGIC + header.replace(b"2.0", b"0.0") + b"\n" + zlib.compress(b""))
    assert check_proof(file, FAN.X, FAN.y, FAN.costs).bound == 0
    file.write_bytes(MAGIC + header + b"\n" + zlib.compress(b""))
    with pytest.raises(ProofError, match="add up to 0"):
        check_proof(file, FAN.X, FAN.y, FAN.costs)
