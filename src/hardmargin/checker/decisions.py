"""Records of the search over samples: which ones are kept or given up.

A record starts with decisions: some samples are kept, some given up. Its steps show that no hyperplane that makes
them costs less than the bound of the piece, except perhaps in subproblems that other records deal with.

Suppose that (w, b) is such a hyperplane. What is known about it are its decisions, must-hit sets (of each of which
it gives up a sample) and a lower bound on the cost of all samples that it gives up. Steps add to what is known:

* A certificate proves that keeping some samples and giving up others takes a norm of at least v. If the others are
  given up and share * v is not below the bound minus the known cost, one of the samples is given up.
* Packed sets share out the costs of their samples, no sample more than its cost. The cost is at least that of the
  samples given up plus the shares of the sets that contain none of these.
* If all samples of a set but one are kept, that one is given up. If all are kept, or if the known cost reaches the
  bound, there is no such hyperplane.
* A sample of which it is known that giving it up would cost too much is kept.
* If the records know limits on what is given up, a sample that does not fit into one of them is kept, and there is
  no such hyperplane if the known costs exceed one. Sets whose free samples are of one class count for the limit of
  that class.
* A sample is given up or kept: each of the two parts starts with what is known before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import IntEnum
from typing import NamedTuple

from hardmargin.checker.certificates import Certificate, ExtraRows, certificate_of, read_multipliers
from hardmargin.checker.errors import ProofError, UnreadableProofError
from hardmargin.checker.known import FREE, GIVEN_UP, KEPT, Cover, Known
from hardmargin.checker.piece import Piece
from hardmargin.checker.reading import Numbers

# Bytes of what is known in parts that wait, at most.
_WAITING_BYTES = 1 << 31


class Step(IntEnum):
    """The kinds of steps."""

    SET = 1
    PACK = 2
    UNPACK = 3
    UNIT = 4
    BRANCH = 5
    CLOSE_SET = 6
    CLOSE_COST = 7
    OPEN = 8
    COVER = 9
    NORM = 10
    DEAR = 11


class Outcome(NamedTuple):
    """What a record has shown: its own subproblem is closed except for those that are left open.

    Attributes
    ----------
    number : int
        Of the subproblem.
    start : bytes
        Identifies what the record starts from.
    open : list of (int, bytes)
        The numbers of the subproblems that are left open, and what identifies them.
    steps : int
    """

    number: int
    start: bytes
    open: list[tuple[int, bytes]]
    steps: int


#: What checks each kind of step.
Steps = Mapping[int, Callable[[], None]]


def run_steps(numbers: Numbers, going_on: Steps, closing: Steps, next_part: Callable[[], bool]) -> int:
    """Check steps up to the one that closes the last part, and return how many they are.

    ``next_part`` turns to the next part, and says whether there is one.
    """
    count = 0
    while True:
        kind = numbers.next()
        count += 1
        if kind in going_on:
            going_on[kind]()
        elif kind in closing:
            closing[kind]()
            if not next_part():
                return count
        else:
            raise UnreadableProofError(f"a record has the unknown step {kind}.")


class DecisionChecker:
    """Checks the steps of one record.

    Parameters
    ----------
    piece : Piece
    numbers : Numbers
        What is left of the record.
    known : Known
        What its decisions are.
    extra : ExtraRows
        Rows that hold in addition to those of the samples.
    extra_exponent : int
        See :func:`hardmargin.checker.certificates.certificate_of`.
    unit : int
        Weights are multiples of 2^unit.
    """

    def __init__(
        self,
        piece: Piece,
        numbers: Numbers,
        known: Known,
        unit: int,
        extra: ExtraRows = (),
        extra_exponent: int = 0,
    ) -> None:
        self._piece = piece
        self._numbers = numbers
        self._known = known
        self._unit = unit
        self._extra = extra
        self._extra_exponent = extra_exponent
        self._sets: list[list[int]] = []
        # Branches of which the part with the sample kept is still to come.
        self._waiting: list[tuple[Known, int, bool]] = []
        self._waiting_bytes = 0
        # Whether it is known that there is no hyperplane in the present part: what follows cannot be wrong.
        self._dead = False
        self.open: list[tuple[int, bytes]] = []
        self.steps = 0

    def run(self) -> None:
        """Check all steps, up to the one that closes the last part.

        Raises
        ------
        ProofError
            If one of them is not justified.
        """
        going_on: Steps = {
            Step.SET: self._set,
            Step.PACK: self._pack,
            Step.UNPACK: self._unpack,
            Step.UNIT: self._unit_set,
            Step.BRANCH: self._branch,
            Step.COVER: self._cover,
            Step.NORM: self._norm,
            Step.DEAR: self._dear,
        }
        closing: Steps = {
            Step.CLOSE_SET: self._close_set,
            Step.CLOSE_COST: self._close_cost,
            Step.OPEN: self._open,
        }
        self.steps += run_steps(self._numbers, going_on, closing, self._next_part)

    def _next_part(self) -> bool:
        """Go on with the part of the last branch in which the sample is kept; False if nothing is left."""
        if not self._waiting:
            return False
        self._known, sample, self._dead = self._waiting.pop()
        self._waiting_bytes -= self._size()
        del self._sets[self._known.sets :]
        self._decide(sample, KEPT)
        return True

    def _sample(self, place: int) -> int:
        if place >= len(self._piece.rows):
            raise ProofError(f"sample {place} does not exist.")
        return place

    def _set_number(self) -> int:
        number = self._numbers.next()
        if number >= len(self._sets):
            raise ProofError(f"set {number} does not exist.")
        return number

    def _decide(self, sample: int, decision: int) -> None:
        known = self._known
        if known.status[sample] != FREE:
            # The other decision would contradict this one.
            self._dead = self._dead or known.status[sample] != decision
            return
        known.status[sample] = decision
        if decision == GIVEN_UP:
            known.given_up[self._piece.classes[sample]] += self._piece.costs[sample]
            for number in [number for number in known.shares if sample in self._sets[number]]:
                self._drop(number)
        self._raise_cost(known.given_up_cost + known.packed)

    def _raise_cost(self, cost: int) -> None:
        self._known.cost = max(self._known.cost, cost)

    def _drop(self, number: int) -> None:
        known = self._known
        share = known.shares.pop(number)
        known.packed -= share
        for sample in self._sets[number]:
            known.loads[sample] -= share

    def _is_hit(self, members: list[int]) -> bool:
        """Whether a sample of a set is given up."""
        status = self._known.status
        return any(status[sample] == GIVEN_UP for sample in members)

    def _free(self, members: list[int]) -> list[int]:
        status = self._known.status
        return [sample for sample in members if status[sample] == FREE]

    def _certificate(self) -> Certificate:
        multipliers = read_multipliers(self._numbers)
        return certificate_of(multipliers, self._piece.samples, self._piece.rows, self._extra, self._extra_exponent)

    def _reaches_room(self, certificate: Certificate, cost: int) -> bool:
        """Whether no hyperplane that fulfils the certificate and costs this much is better than the bound."""
        piece = self._piece
        return certificate.reaches(piece.room(cost, self._known.given_up), piece.unit_exponent, piece.share)

    def _set(self) -> None:
        certificate = self._certificate()
        known = self._known
        members = sorted(set(certificate.kept))
        self._sets.append(members)
        known.sets = len(self._sets)
        if self._dead or self._is_hit(members):
            return
        if any(known.status[sample] != GIVEN_UP for sample in certificate.given_up):
            raise ProofError("a certificate relies on a sample that is not given up.")
        if not self._reaches_room(certificate, known.cost):
            raise ProofError("a certificate proves too small a norm.")
        self._dead = not self._free(members)

    def _pack(self) -> None:
        number, written = self._set_number(), self._numbers.next()
        known, costs = self._known, self._piece.costs
        members = self._sets[number]
        if self._dead or number in known.shares or self._is_hit(members):
            return
        free = self._free(members)
        if not free:
            self._dead = True
            return
        left = min(costs[sample] - known.loads.get(sample, 0) for sample in free)
        share = self._piece.weight(written - 1, self._unit) if written else left
        if share > left:
            raise ProofError("packed sets take more than the cost of a sample.")
        known.shares[number] = share
        known.packed += share
        for sample in members:
            # Those that are kept have no limit: they are not given up.
            known.loads[sample] = known.loads.get(sample, 0) + share
        self._raise_cost(known.given_up_cost + known.packed)

    def _unpack(self) -> None:
        number = self._set_number()
        if number in self._known.shares:
            self._drop(number)

    def _unit_set(self) -> None:
        members = self._sets[self._set_number()]
        if self._dead or self._is_hit(members):
            return
        free = self._free(members)
        if len(free) != 1:
            raise ProofError("a sample is given up without need: its set has other free samples.")
        self._decide(free[0], GIVEN_UP)

    def _branch(self) -> None:
        sample = self._sample(self._numbers.next())
        if not self._dead and self._known.status[sample] != FREE:
            raise ProofError("a record branches on a sample that is decided.")
        if len(self._waiting) == len(self._piece.rows):
            raise ProofError("a record has more branches within each other than there are samples.")
        self._waiting_bytes += self._size()
        if self._waiting_bytes > _WAITING_BYTES:
            raise ProofError("a record has branches within each other that would fill the memory.")
        self._waiting.append((self._known.copy(), sample, self._dead))
        self._decide(sample, GIVEN_UP)

    def _size(self) -> int:
        """Bytes that the present part takes if it waits, in addition to those that do."""
        cover = self._known.cover
        shared = bool(self._waiting) and self._waiting[-1][0].cover is cover
        return self._known.size + (0 if shared else cover.size)

    def _close_set(self) -> None:
        members = self._sets[self._set_number()]
        if not self._dead and (self._is_hit(members) or self._free(members)):
            raise ProofError("a part is closed by a set that is not violated.")

    def _close_cost(self) -> None:
        known, piece = self._known, self._piece
        if self._dead or piece.room(known.cost, known.given_up) <= 0:
            return
        if not (piece.limited and piece.exceeds(known.cost, self._costs_by_class())):
            raise ProofError("a part is closed whose cost is below the bound.")

    def _costs_by_class(self) -> list[int]:
        """Lower bounds on the cost of each class: its samples given up, and sets with no others left free."""
        known, classes = self._known, self._piece.classes
        costs = list(known.given_up)
        for number, share in known.shares.items():
            of = {classes[sample] for sample in self._free(self._sets[number])}
            if len(of) == 1:
                costs[of.pop()] += share
        return costs

    def _open(self) -> None:
        number = self._numbers.next()
        if not self._dead:
            self.open.append((number, self._known.digest()))

    def _cover(self) -> None:
        known = self._known
        cover = Cover(known.given_up_cost)
        for _ in range(self._numbers.next()):
            number, written = self._set_number(), self._numbers.next()
            weight = self._piece.weight(written, self._unit)
            members = self._sets[number]
            if not self._is_hit(members):
                cover.value += weight
                cover.weights[number] = cover.weights.get(number, 0) + weight
                for sample in self._free(members):
                    cover.loads[sample] = cover.loads.get(sample, 0) + weight
        if self._dead:
            return
        if any(load > self._piece.costs[sample] for sample, load in cover.loads.items()):
            raise ProofError("the weights of sets load a sample with more than its cost.")
        known.cover = cover
        self._raise_cost(self._piece.rounded_up(cover.value))

    def _norm(self) -> None:
        certificate = self._certificate()
        status = self._known.status
        if self._dead:
            return
        if any(status[sample] != KEPT for sample in certificate.kept) or any(
            status[sample] != GIVEN_UP for sample in certificate.given_up
        ):
            raise ProofError("a certificate of the norm relies on a sample that is not decided.")
        self._known.norm = certificate

    def _dear(self) -> None:
        sample = self._sample(self._numbers.next())
        known = self._known
        if self._dead or known.status[sample] == KEPT:
            return
        # If it were given up: the weights of the sets that contain it would not count, but its whole cost would.
        cost = known.cover.value + self._piece.costs[sample] - known.cover.loads.get(sample, 0)
        cost = self._piece.rounded_up(cost)
        enough = cost >= self._piece.bound or (known.norm is not None and self._reaches_room(known.norm, cost))
        by_class = list(known.given_up)
        by_class[self._piece.classes[sample]] += self._piece.costs[sample]
        if known.status[sample] != FREE or not (enough or self._piece.exceeds(cost, by_class)):
            raise ProofError("a sample is kept although giving it up might not cost too much.")
        self._decide(sample, KEPT)


def check_record(piece: Piece, record: bytes) -> Outcome:
    """Check a record of the search over samples.

    Raises
    ------
    ProofError
        If a step is not justified.
    UnreadableProofError
        If it is not a record.
    """
    numbers = Numbers(record)
    number, unit, known = read_start(piece, numbers)
    start = known.digest()
    checker = DecisionChecker(piece, numbers, known, unit, piece.extra, piece.extra_exponent)
    checker.run()
    if not numbers.over:
        raise UnreadableProofError("something follows the last step of a record.")
    return Outcome(number, start, checker.open, checker.steps)


def read_start(piece: Piece, numbers: Numbers) -> tuple[int, int, Known]:
    """The number of a record, the unit of its weights as a power of two, and the decisions that it starts with."""
    number, unit = numbers.next(), unit_of(numbers.next())
    count = len(piece.rows)
    kept, given_up = numbers.ascending(count), numbers.ascending(count)
    known = Known(bytearray(count))
    for samples, decision in ((kept, KEPT), (given_up, GIVEN_UP)):
        for sample in samples:
            if known.status[sample] != FREE:
                raise ProofError("a record starts with a sample that is decided twice.")
            known.status[sample] = decision
    for sample in given_up:
        known.given_up[piece.classes[sample]] += piece.costs[sample]
    known.cost = known.given_up_cost
    return number, unit, known


def unit_of(zigzag: int) -> int:
    """A signed number from one whose lowest bit is the sign."""
    unit = -(zigzag + 1 >> 1) if zigzag & 1 else zigzag >> 1
    if abs(unit) > 1 << 16:
        raise UnreadableProofError("a record has weights out of range.")
    return unit
