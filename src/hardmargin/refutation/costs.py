"""Derives how much is given up at least, from must-hit sets with weights.

Let w_j be weights of sets such that no free sample i has more than its cost, m_i u, in sets that contain it. Then
the sum of w_j times the clauses of the sets, plus multiples of x_i >= 0, is

    sum m_i u x_i + (negations of decisions) >= sum w_j        over the free samples i.

Division by u rounds the right-hand side up. So does division by the largest cost of a sample, after which the
inequality counts samples. Weights are written with few digits if this does not change what is rounded.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from hardmargin.checker.known import FREE, GIVEN_UP, KEPT
from hardmargin.refutation.derivation import Derivation, given_up, kept, multiple, resolved, total
from hardmargin.refutation.lemmas import Subject

# Bits of weights relative to the unit of costs, as long as they are enough.
_FEW_BITS = (0, 4, 8, 12, 20, 30)


@dataclass
class Evidence:
    """Why at least so much is given up.

    Attributes
    ----------
    units : int
        How much, in units of the costs.
    weights : dict
        Weights of sets by number, in the unit of the piece.
    status : bytes
        What was decided when this became known.
    reasons : dict
        The clauses of the samples that had to be kept or given up.
    constraint : str
        What says it, or said it before it was forgotten; empty if it was not needed yet.
    sums : dict
        The same for sums of weighted clauses, by the unit of the weights.
    """

    units: int
    weights: dict[int, int]
    status: bytes
    reasons: dict[int, str]
    constraint: str = ""
    sums: dict[int, str] = field(default_factory=dict)


def without_kept(clause: str, members: Iterable[int], reasons: Mapping[int, str]) -> str:
    """A clause without those of its samples that have to be kept, for these reasons."""
    for sample in members:
        if sample in reasons:
            clause = resolved(clause, given_up(sample), reasons[sample])
    return clause


class Costs:
    """What must-hit sets with weights prove.

    Parameters
    ----------
    subject : Subject
    derivation : Derivation
    certain : dict
        The clauses of samples that cost more than the bound: they are kept.
    sets : list of list of int
        Must-hit sets, and
    clauses : list of str
        their clauses. Both grow and shrink with the part of the tree that is translated.
    """

    def __init__(
        self,
        subject: Subject,
        derivation: Derivation,
        certain: Mapping[int, str],
        sets: Sequence[Sequence[int]],
        clauses: Sequence[str],
    ) -> None:
        self._multiples = subject.multiples
        self._unit = subject.unit
        self._derivation = derivation
        self._certain = certain
        self._sets = sets
        self._clauses = clauses
        self._largest = subject.piece.largest_cost // subject.unit
        self._least = subject.piece.least_cost // subject.unit

    def rounded(self, weight: int) -> int:
        """What is given up, in units, if sets of this weight are hit."""
        return self._rounded(weight, self._unit)

    def _rounded(self, weight: int, unit: int) -> int:
        return max(-(-weight // unit), self._in_samples(weight, unit))

    def _in_samples(self, weight: int, unit: int) -> int:
        """What is given up at least because samples are given up as a whole."""
        return -(-weight // (unit * self._largest)) * self._least if self._largest else 0

    def units(self, evidence: Evidence, sample: int) -> int:
        """What is given up, in units, if a free sample is."""
        free = self.rounded(self._weight(evidence.weights, sample))
        decided = sum(m for m, status in zip(self._multiples, evidence.status, strict=True) if status == GIVEN_UP)
        return free + decided + self._multiples[sample]

    def _weight(self, weights: Mapping[int, int], sample: int | None) -> int:
        """The weight of sets that do not contain a sample."""
        return sum(weight for number, weight in weights.items() if sample not in self._sets[number])

    def at_least(self, evidence: Evidence, sample: int | None = None) -> str:
        """Derive that evidence holds, or what it says if a free sample is given up; empty if that is nothing.

        The sample is not in the inequality.
        """
        stays = {i: reason for i, reason in evidence.reasons.items() if evidence.status[i] == KEPT}
        stays |= {i: reason for i, reason in self._certain.items() if evidence.status[i] == FREE}
        free = [i for i, at in enumerate(evidence.status) if at == FREE and i not in stays and i != sample]
        terms = self._free_terms(evidence, stays, free, sample)
        for i, status in enumerate(evidence.status):
            if self._multiples[i] and (status == KEPT or i in stays):
                terms.append(multiple(given_up(i), self._multiples[i]))
            elif self._multiples[i] and status == GIVEN_UP and i in evidence.reasons:
                terms.append(multiple(evidence.reasons[i], self._multiples[i]))
        return total(terms) if terms else ""

    def _free_terms(
        self, evidence: Evidence, stays: Mapping[int, str], free: Sequence[int], sample: int | None
    ) -> list[str]:
        """Constraints that add up to what free samples cost."""
        unit, weights = self._short(evidence.weights, sample)
        multiples = self._multiples
        if not weights:
            return [multiple(given_up(i), multiples[i]) for i in free if multiples[i]]
        loads: dict[int, int] = {}
        for number, weight in weights.items():
            for i in self._sets[number]:
                loads[i] = loads.get(i, 0) + weight
        left = {i: unit * multiples[i] - loads.get(i, 0) for i in free}
        terms = [self._sum(evidence, unit, weights, stays, again=sample is not None)]
        terms += [multiple(given_up(i), share) for i, share in left.items() if share]
        if sample in loads:
            terms.append(multiple(kept(sample), loads[sample]))
        weight = self._weight(weights, sample)
        if self._in_samples(weight, unit) <= -(-weight // unit):
            return [f"{total(terms)} {unit} d"]
        counted = multiple(f"{total(terms)} {unit * self._largest} d", self._least)
        more = (i for i in free if multiples[i] > self._least)
        return [counted, *(multiple(given_up(i), multiples[i] - self._least) for i in more)]

    def _sum(
        self, evidence: Evidence, unit: int, weights: Mapping[int, int], stays: Mapping[int, str], *, again: bool
    ) -> str:
        """The sum of weighted clauses, without samples that have to be kept; it is named if it is used again."""
        known = evidence.sums.get(unit, "")
        if self._derivation.knows(known):
            return known
        clauses = ((without_kept(self._clauses[j], self._sets[j], stays), weight) for j, weight in weights.items())
        expression = total(multiple(clause, weight) for clause, weight in clauses)
        if again:
            evidence.sums[unit] = expression = self._derivation.derive(expression)
        return expression

    def _short(self, weights: Mapping[int, int], sample: int | None) -> tuple[int, dict[int, int]]:
        """The unit of costs and weights, as small whole numbers that prove the same."""
        wanted = self._rounded(self._weight(weights, sample), self._unit)
        for bits in _FEW_BITS:
            unit = 1 << bits
            short = {j: weight * unit // self._unit for j, weight in weights.items()}
            if self._rounded(self._weight(short, sample), unit) == wanted:
                return unit, {j: weight for j, weight in short.items() if weight}
        return self._unit, {j: weight for j, weight in weights.items() if weight}
