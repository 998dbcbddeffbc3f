"""Records of the search over directions: regions that are split until no hyperplane in them costs too little.

Suppose that (w, b) is in a region and costs less than the bound of the piece. What is known about it is a cover:
pairs of opposite samples, and must-hit sets, of each of which it gives up a sample. They share out the costs of
their samples, so these shares add up to a lower bound on the cost of the samples given up. What is left of the
bound limits the length of w. Steps add to what is known:

* Pairs that conflict, in the region or in one around it (:meth:`hardmargin.checker.frame.Frame.conflict`).
* A certificate with the sides of the region: a must-hit set, as in :mod:`hardmargin.checker.decisions`.
* A region is divided at a coordinate or at a length; both parts start with what is known before.
* Samples that cost as much as the bound are kept. The norm that these need in the region is known, if a certificate
  proves it.
* It is closed if the shares and the least norm reach the bound.
* Let the slack be what is missing. A sample whose cost exceeds the shares taken from it by at least the slack is
  kept: giving it up would cost too much. So is one that shares at least the slack with a sample that is given up.
  Opponents of kept samples are given up. It is closed if a sample would have to be both, or by a certificate for
  what follows.
* It is closed by cases: a must-hit set, and one case for each of its samples, which is given up, the ones before it
  being kept.
* It is closed by steps of :mod:`hardmargin.checker.decisions`, with the sides of the region.
"""

from __future__ import annotations

import hashlib
import math
import struct
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np

from hardmargin.checker.certificates import Certificate, certificate_of, read_multipliers
from hardmargin.checker.cover import Cover
from hardmargin.checker.decisions import DecisionChecker, Outcome, Steps, run_steps, unit_of
from hardmargin.checker.errors import ProofError, UnreadableProofError
from hardmargin.checker.frame import Frame, Region, RegionRows
from hardmargin.checker.known import Known
from hardmargin.checker.piece import Piece
from hardmargin.checker.reading import Numbers

#: What identifies the regions that together contain all hyperplanes.
ROOT = b"face of the cube"

_UNIT = 2.0**-52
# Parts of a record that wait at a time: no search divides a region as often, and each of them needs memory.
_MOST_LEVELS = 4096


class Step(IntEnum):
    """The kinds of steps."""

    OPEN = 8
    PAIRS = 20
    SET = 21
    SPLIT = 22
    SPLIT_LENGTHS = 23
    CLOSE = 24
    CLOSE_EXACTLY = 25
    CASES = 26
    CASE = 27
    END_CASES = 28
    SAMPLES = 29
    NORM = 30


@dataclass
class Part:
    """A region, what is known about its hyperplanes, and the part of the record that contains it."""

    region: Region
    around: Part | None
    cover: Cover = field(default_factory=Cover)
    # A lower bound on the cost of the samples given up: the largest total of the covers so far.
    cost: int = 0
    # A lower bound on the norm term, besides that from the least length.
    norm: int = 0
    # Whether it is known that it contains no hyperplane to look for.
    dead: bool = False

    def half(self) -> Part:
        """A part of it, still of the same size."""
        return Part(self.region.copy(), self, self.cover.copy(), self.cost, self.norm, self.dead)


class RegionChecker:
    """Checks the steps of one record."""

    def __init__(self, piece: Piece, frame: Frame, numbers: Numbers, unit: int, region: Region) -> None:
        self._piece = piece
        self._frame = frame
        self._numbers = numbers
        self._unit = unit
        self._part = Part(region, None)
        self._waiting: list[Part] = []
        self.open: list[tuple[int, bytes]] = []
        self.steps = 0
        self._shorten(self._part)

    def run(self) -> None:
        """Check all steps, up to the one that closes the last part.

        Raises
        ------
        ProofError
            If one of them is not justified.
        """
        going_on: Steps = {
            Step.PAIRS: self._pairs,
            Step.SET: self._set,
            Step.NORM: self._certain_norm,
            Step.SPLIT: self._split,
            Step.SPLIT_LENGTHS: self._split_lengths,
        }
        closing: Steps = {
            Step.OPEN: self._open,
            Step.CLOSE: self._close,
            Step.CLOSE_EXACTLY: self._close_region_exactly,
            Step.CASES: self._cases,
            Step.SAMPLES: self._samples,
        }
        self.steps += run_steps(self._numbers, going_on, closing, self._next_part)

    def _next_part(self) -> bool:
        """Go on with the part that waits; False if nothing is left."""
        if not self._waiting:
            return False
        self._part = self._waiting.pop()
        return True

    # ---- what is known

    def _norm(self) -> int:
        """A lower bound on the norm term of the region's hyperplanes, in the unit of the piece."""
        # share / 2 (shortest / sigma)^2 without rounding, because products of small numbers have no relative error.
        share, shortest = self._piece.share, self._part.region.shortest.as_integer_ratio()
        sigma = self._frame.sigma.as_integer_ratio()
        numerator = share[0] * (shortest[0] * sigma[1]) ** 2 << self._piece.unit_exponent
        return max(self._part.norm, numerator // (2 * share[1] * (shortest[1] * sigma[0]) ** 2))

    def _shorten(self, part: Part) -> None:
        """Limit the length of u by what is left of the bound: 1/2 share ||w||^2 is less than that."""
        part.cost = max(part.cost, part.cover.total)
        left = self._piece.room(part.cost)
        if left <= 0:
            part.dead = True
            return
        part.region.longest = min(part.region.longest, longest_of(self._piece, left) * self._frame.sigma)
        if part.region.longest < part.region.shortest * (1 - 8 * _UNIT):
            part.dead = True

    def _sample(self) -> int:
        sample = self._numbers.next()
        if sample >= len(self._piece.rows):
            raise ProofError(f"sample {sample} does not exist.")
        return sample

    def _changed(self, cover: Cover) -> None:
        """Read changes of the pairs of a cover, and examine new ones."""
        numbers, piece = self._numbers, self._piece
        touched: set[int] = set()
        for _ in range(numbers.next()):
            cover.set_pair((self._sample(), self._sample()), 0)
        new: dict[int, list[tuple[int, int]]] = {}
        for _ in range(numbers.next()):
            pair = self._sample(), self._sample()
            depth, written = numbers.next(), numbers.next()
            if pair not in cover.pairs:
                new.setdefault(depth, []).append(pair)
            full = min(piece.costs[pair[0]], piece.costs[pair[1]])
            cover.set_pair(pair, piece.weight(written - 1, self._unit) if written else full)
            touched.update(pair)
        for depth, pairs in new.items():
            self._examine(depth, pairs)
        costs = piece.costs
        # One that is certain is kept: its opponents are given up, however many they are.
        touched = {sample for sample in touched if not piece.is_certain(sample)}
        if any(cover.load(sample) > costs[sample] for sample in touched):
            cover.drop_sets(frozenset(sample for sample in touched if cover.load(sample) > costs[sample]))
            if any(cover.load(sample) > costs[sample] for sample in touched):
                raise ProofError("pairs take more than the cost of a sample.")

    def _examine(self, depth: int, pairs: list[tuple[int, int]]) -> None:
        """Check that pairs conflict in the region that is this many levels around the current one."""
        part: Part | None = self._part
        while depth and part is not None:
            part, depth = part.around, depth - 1
        if self._part.dead:
            return
        if part is None:
            raise ProofError("a pair refers to a region around that does not exist.")
        listed = np.array(pairs, dtype=np.intp)
        if not self._frame.conflict(part.region, listed[:, 0], listed[:, 1]):
            raise ProofError("a pair of samples may not conflict in its region.")

    def _certificate(self) -> Certificate:
        rows = RegionRows(self._frame, self._part.region)
        multipliers = read_multipliers(self._numbers)
        return certificate_of(multipliers, self._piece.samples, self._piece.rows, rows, self._frame.extra_exponent)

    def _reaches(self, certificate: Certificate, cost: int) -> bool:
        piece = self._piece
        return certificate.reaches(piece.room(cost), piece.unit_exponent, piece.share)

    # ---- steps

    def _pairs(self) -> None:
        self._changed(self._part.cover)
        self._shorten(self._part)

    def _certain_norm(self) -> None:
        certificate, piece = self._certificate(), self._piece
        if self._part.dead:
            return
        if certificate.given_up or not all(piece.is_certain(sample) for sample in certificate.kept):
            raise ProofError("a certificate of the norm of a region relies on samples that may be given up.")
        numerator = piece.share[0] * certificate.numerator << piece.unit_exponent
        denominator = piece.share[1] * certificate.denominator
        norm = numerator // denominator if denominator else piece.bound if numerator else 0
        self._part.norm = max(self._part.norm, norm)

    def _must_hit_set(self) -> frozenset[int]:
        certificate = self._certificate()
        if not self._part.dead:
            if certificate.given_up:
                raise ProofError("a must-hit set of a region relies on samples that are given up.")
            if not self._reaches(certificate, self._part.cost):
                raise ProofError("a certificate in a region proves too small a norm.")
        members = frozenset(sample for sample in certificate.kept if not self._piece.is_certain(sample))
        self._part.dead = self._part.dead or not members
        return members

    def _set(self) -> None:
        members, part = self._must_hit_set(), self._part
        if part.dead:
            return
        part.cover.drop_sets(members)
        share = min(self._piece.costs[sample] - part.cover.load(sample) for sample in members)
        if share > 0:
            part.cover.add_set(members, share)
        self._shorten(part)

    def _split(self) -> None:
        number = self._numbers.next()
        k, high_first = number >> 1, number & 1
        part = self._part
        if k >= self._frame.r or k == part.region.face:
            raise ProofError("a region is divided at a coordinate that it does not have.")
        middle = 0.5 * (part.region.low[k] + part.region.high[k])
        low, high = part.half(), part.half()
        low.region.high[k] = middle
        high.region.low[k] = middle
        self._divide(*((high, low) if high_first else (low, high)))

    def _split_lengths(self) -> None:
        middle = self._length()
        longer, shorter = self._part.half(), self._part.half()
        longer.region.shortest = max(longer.region.shortest, middle)
        shorter.region.longest = min(shorter.region.longest, middle)
        self._divide(longer, shorter)

    def _divide(self, first: Part, second: Part) -> None:
        """Go on with one part, and then with another one."""
        if len(self._waiting) == _MOST_LEVELS:
            raise ProofError(f"a region is divided {_MOST_LEVELS} times within its parts.")
        self._part = first
        self._waiting.append(second)

    def _length(self) -> float:
        return length(self._numbers, self._piece)

    def _open(self) -> None:
        number, longest = self._numbers.next(), self._length()
        if self._part.dead:
            return
        region = self._part.region
        if not region.longest <= longest:
            raise ProofError("an open region has shorter lengths than it must have.")
        region.longest = longest
        self.open.append((number, digest(region)))

    def _close(self) -> None:
        if not self._part.dead and self._norm() < self._piece.room(self._part.cost):
            raise ProofError("a region is closed whose cost is below the bound.")

    def _close_region_exactly(self) -> None:
        self._close_exactly(self._part.cover, None, set())

    def _close_exactly(self, cover: Cover, chosen: int | None, assumed: set[int]) -> None:
        """Check that no hyperplane costs hardly more than a cover and a sample that is given up beside it.

        Parameters
        ----------
        cover : Cover
            Without the chosen sample.
        chosen : int or None
            A sample that is given up. Its cost counts, so nothing follows from what giving it up would cost.
        assumed : set of int
            Samples that are kept.
        """
        piece = self._piece
        cost = cover.total + (0 if chosen is None else piece.costs[chosen])
        slack = piece.bound - self._norm() - cost
        closed = self._part.dead or slack <= 0
        given_up: set[int] = set() if chosen is None else {chosen}

        def is_kept(sample: int) -> bool:
            return sample != chosen and (
                sample in assumed
                or piece.is_certain(sample)
                or piece.costs[sample] - cover.load(sample) >= slack
                or any(cover.shared(sample, other) >= slack for other in given_up if other != sample)
            )

        for _ in range(self._numbers.next()):
            positive_is_kept = self._numbers.next()
            pair = self._sample(), self._sample()
            depth = self._numbers.next()
            if closed:
                continue
            self._examine(depth, [pair])
            keeper, loser = pair if positive_is_kept else pair[::-1]
            if not is_kept(keeper):
                raise ProofError("a sample is given up because of another one that may not be kept.")
            closed = is_kept(loser)
            given_up.add(loser)
        certificate = self._certificate()
        if closed:
            return
        if not all(is_kept(sample) for sample in certificate.kept):
            raise ProofError("a certificate in a region relies on a sample that may not be kept.")
        if not all(sample in given_up for sample in certificate.given_up):
            raise ProofError("a certificate in a region relies on a sample that may not be given up.")
        if not self._reaches(certificate, cost):
            raise ProofError("a certificate in a region proves too small a norm.")

    def _cases(self) -> None:
        members = self._must_hit_set()
        handled: set[int] = set()
        while True:
            kind = self._numbers.next()
            self.steps += 1
            if kind == Step.END_CASES:
                break
            if kind != Step.CASE:
                raise UnreadableProofError("a case is missing.")
            sample = self._sample()
            cover = self._part.cover.copy()
            self._changed(cover)
            cover.without(sample)
            if self._numbers.next() != Step.CLOSE_EXACTLY:
                raise UnreadableProofError("a case is not closed.")
            self._close_exactly(cover, sample, handled - {sample})
            handled.add(sample)
        if not self._part.dead and not members <= handled:
            raise ProofError("a case is missing: not every sample of the set is given up in one.")

    def _samples(self) -> None:
        numbers = self._numbers
        numbers.next()
        unit, decided = unit_of(numbers.next()), numbers.take(2)
        if decided != [0, 0]:
            raise ProofError("a search over the samples of a region does not start with all of them.")
        known = Known(bytearray(len(self._piece.rows)))
        rows = RegionRows(self._frame, self._part.region)
        checker = DecisionChecker(self._piece, numbers, known, unit, rows, self._frame.extra_exponent)
        checker.run()
        self.steps += checker.steps
        if checker.open and not self._part.dead:
            raise ProofError("a search over the samples of a region leaves something open.")


def longest_of(piece: Piece, left: int) -> float:
    """An upper bound on ||w|| if its norm term is at most this, in the unit of the piece."""
    try:
        value = 2 * left * piece.share[1] / (piece.share[0] << piece.unit_exponent)
    except OverflowError:
        return math.inf
    # The next number is not below the exact value, also if that is too small for a relative rounding error.
    return math.sqrt(math.nextafter(value, math.inf)) * (1 + 8 * _UNIT)


def digest(region: Region) -> bytes:
    """Identifies a region."""
    numbers = struct.pack("<qqdd", region.face, region.sign, region.shortest, region.longest)
    return hashlib.blake2b(numbers + region.low.tobytes() + region.high.tobytes(), digest_size=16).digest()


def double(numbers: Numbers) -> float:
    """A number in double precision, written as two halves of its bits."""
    high, low = numbers.take(2)
    if high >= 1 << 32 or low >= 1 << 32:
        raise UnreadableProofError("a record has a number that is not one.")
    value: float = struct.unpack("<d", struct.pack("<Q", high << 32 | low))[0]
    if not math.isfinite(value):
        raise UnreadableProofError("a record has a number that is not finite.")
    return value


def length(numbers: Numbers, piece: Piece) -> float:
    """A length, in the unit of the data."""
    value = double(numbers)
    try:
        scaled = math.ldexp(value, piece.exponent // 2)
    except OverflowError:
        raise ProofError("a length is out of range.") from None
    if scaled < 0:
        raise ProofError("a length is negative.")
    return scaled


def check_record(piece: Piece, frame: Frame, record: bytes) -> Outcome:
    """Check a record of the search over directions.

    Raises
    ------
    ProofError
        If a step is not justified.
    UnreadableProofError
        If it is not a record.
    """
    numbers = Numbers(record)
    number, unit = numbers.next(), unit_of(numbers.next())
    face, negative = numbers.next(), numbers.next()
    if face >= frame.r or negative > 1:
        raise ProofError("a region is on no face of the cube.")
    sides = np.array([double(numbers) for _ in range(2 * frame.r)]).reshape(-1, 2)
    region = Region(
        face, -1 if negative else 1, sides[:, 0].copy(), sides[:, 1].copy(), length(numbers, piece), 0.0
    )
    region.longest = length(numbers, piece)
    if not (region.low[face] == region.high[face] == region.sign and (np.abs(sides) <= 1).all()):
        raise ProofError("a region is not a box on its face.")
    start = digest(region)
    if number == 2 * face + negative + 1:
        others = np.arange(frame.r) != face
        if region.shortest != 0 or (region.low[others] != -1).any() or (region.high[others] != 1).any():
            raise ProofError("a face of the cube is not whole.")
        region.longest = math.inf
        start = ROOT
    with np.errstate(all="ignore"):
        checker = RegionChecker(piece, frame, numbers, unit, region)
        checker.run()
    if not numbers.over:
        raise UnreadableProofError("something follows the last step of a record.")
    return Outcome(number, start, checker.open, checker.steps)
