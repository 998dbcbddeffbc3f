"""Translates records of the search over samples into cutting planes over lemmas.

Everything that is known in a subproblem holds under its decisions. So what is derived here is a constraint that
also contains the negations of decisions, "or a decision is not made": a must-hit set {1, 2} is the clause
x1 + x2 + (negations) >= 1, a sample 3 that has to be given up is x3 + (negations) >= 1, and a subproblem without a
better hyperplane is (negations) >= 1. Which negations a constraint contains need not be known: a last division
makes all coefficients 1. Let m_i, K and k be as in :mod:`hardmargin.refutation.lemmas`, and D the known cost in
units.

* Cost: sum m_i x_i + (negations) >= D, from must-hit sets with weights (:mod:`hardmargin.refutation.costs`) and the
  clauses of samples that have to be given up.
* Set: cost + lemma is (K - k) (samples kept in the lemma + negations) >= D - k. If D > k, the division makes it a
  clause.
* Close: cost + objective is (negations) >= D - K. Or the clause of a set, without its samples, if all are kept.
* Branch: the sum of the clauses of both parts cancels the sample.

The steps are checked before they are translated. What this module writes need not be trusted: it is checked again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from hardmargin.checker.certificates import Certificate, certificate_of, read_multipliers
from hardmargin.checker.decisions import DecisionChecker, read_start
from hardmargin.checker.errors import ProofError
from hardmargin.checker.known import KEPT, Known
from hardmargin.checker.piece import Piece
from hardmargin.checker.reading import Numbers
from hardmargin.refutation.costs import Costs, Evidence, without_kept
from hardmargin.refutation.derivation import OBJECTIVE, Derivation, given_up, kept, multiple, resolved, total
from hardmargin.refutation.lemmas import Lemma, Subject


class Proven(NamedTuple):
    """Multipliers, and what they prove."""

    multipliers: list[tuple[int, int]]
    certificate: Certificate


class LemmaPool:
    """The lemmas that a refutation uses, each one once.

    Parameters
    ----------
    subject : Subject

    Attributes
    ----------
    lemmas : list of Lemma
    """

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._names: dict[tuple[int, frozenset[int], frozenset[int]], str] = {}
        self.lemmas: list[Lemma] = []

    def limit(self, certificate: Certificate) -> int:
        """The least limit that a certificate proves; the objective has it too if it is ``subject.most``."""
        piece, unit = self._subject.piece, self._subject.unit
        if certificate.numerator == 0:
            return self._subject.most
        if certificate.denominator == 0:
            return -1
        room = piece.bound * certificate.denominator - (certificate.numerator << piece.unit_exponent)
        return max(0, -(-room // (unit * certificate.denominator))) - 1

    def name(self, proven: Proven) -> str:
        """What the constraint of a certificate is called; the objective if the certificate proves no more."""
        rows, certificate = proven
        limit = self.limit(certificate)
        if limit >= self._subject.most:
            return OBJECTIVE
        key = limit, frozenset(certificate.kept), frozenset(certificate.given_up)
        if key not in self._names:
            parts = (tuple((row >> 1, factor) for row, factor in rows if row & 1 == odd) for odd in (0, 1))
            self.lemmas.append(Lemma(limit, *parts))
            # The objective is the first constraint.
            self._names[key] = str(1 + len(self.lemmas))
        return self._names[key]


@dataclass
class State:
    """What is derived in a part of a subproblem, besides what the checker knows about it.

    Attributes
    ----------
    cost : Evidence
        The best known one.
    reasons : dict
        The clauses of samples that are decided by necessity, not by a branch.
    cover : Evidence or None
        The last cover.
    norm : Proven or None
        The last certificate of the norm.
    conflict : str
        The clause that says that there is no better hyperplane; empty if there is none yet.
    """

    cost: Evidence
    reasons: dict[int, str] = field(default_factory=dict)
    cover: Evidence | None = None
    norm: Proven | None = None
    conflict: str = ""


@dataclass
class Branch:
    """A branch: its sample, the state before, the clause of its first part, and what was derived before."""

    sample: int
    state: State
    mark: int
    first: str = ""


class Translator(DecisionChecker):
    """Checks and translates the steps of one record.

    Parameters
    ----------
    piece : Piece
        The piece of the proof.
    subject : Subject
        The same samples and bound, for lemmas.
    lemmas : LemmaPool
    derivation : Derivation
    certain : dict
        The clauses of samples that cost more than the bound: they are kept.
    closed : dict
        The clauses of the records translated so far, by number.
    numbers, known, unit
        As in the checker.
    """

    def __init__(
        self,
        piece: Piece,
        subject: Subject,
        lemmas: LemmaPool,
        derivation: Derivation,
        certain: dict[int, str],
        closed: dict[int, str],
        numbers: Numbers,
        known: Known,
        unit: int,
    ) -> None:
        super().__init__(piece, numbers, known, unit)
        self._subject = subject
        self._lemmas = lemmas
        self._derivation = derivation
        self._certain = certain
        self._closed = closed
        # Not below any right-hand side: all coefficients that were saturated become 1.
        self._large = 4 * sum(subject.multiples) + 4
        self._clauses: list[str] = []
        self._costs = Costs(subject, derivation, certain, self._sets, self._clauses)
        self._branches: list[Branch] = []
        self._number = 0
        self._proven: Proven | None = None
        given_up_units = known.given_up_cost // subject.unit
        self._state = State(Evidence(given_up_units, {}, bytes(known.status), {}))

    # ---- what the steps of the checker are made of

    def _set_number(self) -> int:
        self._number = super()._set_number()
        return self._number

    def _certificate(self) -> Certificate:
        multipliers = read_multipliers(self._numbers)
        self._proven = Proven(multipliers, certificate_of(multipliers, self._piece.samples, self._piece.rows))
        return self._proven.certificate

    def _derive(self, expression: str) -> str:
        return self._derivation.derive(expression)

    def _clause(self, expression: str) -> str:
        return f"{expression} s {self._large} d"

    # ---- costs

    def _evidence(self, weights: dict[int, int]) -> Evidence:
        known = self._known
        units = self._costs.rounded(sum(weights.values())) + known.given_up_cost // self._subject.unit
        return Evidence(units, dict(weights), bytes(known.status), dict(self._state.reasons))

    def _note_packing(self) -> None:
        """Remember the packed sets if they show more than what is known."""
        known = self._known
        units = self._costs.rounded(known.packed) + known.given_up_cost // self._subject.unit
        if not self._dead and units > self._state.cost.units:
            self._state.cost = self._evidence(known.shares)

    def _cost(self) -> str:
        """The constraint (cost) that is the best known one."""
        evidence = self._state.cost
        if not self._derivation.knows(evidence.constraint):
            evidence.constraint = self._derive(self._costs.at_least(evidence))
        return evidence.constraint

    def _with_lemma(self, cost: str, name: str) -> str:
        return self._clause(total([cost, name]) if cost else name)

    # ---- steps

    def _violated(self) -> str:
        """The clause of a set whose samples are all kept."""
        clause, members = self._clauses[self._number], self._sets[self._number]
        return self._derive(without_kept(clause, members, self._state.reasons))

    def _exceeded(self) -> str:
        """The clause that says that the cost exceeds the bound."""
        return self._derive(self._with_lemma(self._cost(), OBJECTIVE))

    def _set(self) -> None:
        was_dead = self._dead
        super()._set()
        self._number = len(self._sets) - 1
        self._clauses.append("")
        members = self._sets[-1]
        if was_dead or self._is_hit(members):
            return
        assert self._proven is not None
        certificate, name = self._proven.certificate, self._lemmas.name(self._proven)
        if name == OBJECTIVE:
            self._dead, self._state.conflict = True, self._exceeded()
            return
        clause = name if self._lemmas.limit(certificate) < 0 else self._with_lemma(self._cost(), name)
        for sample in set(certificate.given_up):
            if sample in self._state.reasons:
                clause = resolved(clause, kept(sample), self._state.reasons[sample])
        self._clauses[-1] = self._derive(clause)
        if self._dead:
            self._state.conflict = self._violated()

    def _pack(self) -> None:
        was_dead = self._dead
        super()._pack()
        if self._dead and not was_dead:
            self._state.conflict = self._violated()
        self._note_packing()

    def _unit_set(self) -> None:
        before = bytes(self._known.status)
        super()._unit_set()
        for sample in self._sets[self._number]:
            if self._known.status[sample] != before[sample]:
                self._state.reasons[sample] = self._violated()
        self._note_packing()

    def _branch(self) -> None:
        super()._branch()
        sample = self._waiting[-1][1]
        state = replace(self._state, reasons=dict(self._state.reasons))
        self._branches.append(Branch(sample, state, self._derivation.mark))
        self._note_packing()

    def _close_set(self) -> None:
        super()._close_set()
        if not self._dead:
            self._state.conflict = self._violated()

    def _close_cost(self) -> None:
        super()._close_cost()
        if not self._dead:
            self._state.conflict = self._exceeded()

    def _open(self) -> None:
        super()._open()
        if self._dead:
            return
        number, _ = self.open[-1]
        if number not in self._closed:
            raise ProofError(f"subproblem {number} is left open: no record deals with it.")
        clause = self._closed[number]
        for sample, reason in self._state.reasons.items():
            is_kept = self._known.status[sample] == KEPT
            clause = resolved(clause, given_up(sample) if is_kept else kept(sample), reason)
        self._state.conflict = self._derive(clause)

    def _cover(self) -> None:
        super()._cover()
        if self._dead:
            return
        self._state.cover = self._evidence(self._known.cover.weights)
        if self._state.cover.units > self._state.cost.units:
            self._state.cost = self._state.cover

    def _norm(self) -> None:
        super()._norm()
        if not self._dead:
            self._state.norm = self._proven

    def _dear(self) -> None:
        before = bytes(self._known.status)
        super()._dear()
        for sample, status in enumerate(before):
            if self._known.status[sample] != status:
                self._state.reasons[sample] = self._certain.get(sample) or self._too_dear(sample)

    def _too_dear(self, sample: int) -> str:
        """The clause of a sample that is kept because giving it up costs too much."""
        evidence, norm = self._state.cover, self._state.norm
        if evidence is None:
            evidence = Evidence(0, {}, bytes(len(self._known.status)), {})
        cost = self._costs.at_least(evidence, sample)
        if norm is None or self._costs.units(evidence, sample) > self._subject.most:
            return self._derive(self._with_lemma(cost, OBJECTIVE))
        certificate, name = norm.certificate, self._lemmas.name(norm)
        clause = name if self._lemmas.limit(certificate) < 0 else self._with_lemma(cost, name)
        for i in {*certificate.kept, *certificate.given_up}:
            if i in self._state.reasons:
                literal = given_up(i) if self._known.status[i] == KEPT else kept(i)
                clause = resolved(clause, literal, self._state.reasons[i])
        return self._derive(clause)

    def _next_part(self) -> bool:
        conflict = self._state.conflict
        while self._branches and self._branches[-1].first:
            branch = self._branches.pop()
            conflict = self._joined(branch, conflict)
            self._derivation.forget(branch.mark, conflict)
        if not self._branches:
            self._state.conflict = conflict
            return super()._next_part()
        branch = self._branches[-1]
        self._derivation.forget(branch.mark, conflict)
        branch.first, self._state = conflict, branch.state
        more = super()._next_part()
        del self._clauses[len(self._sets) :]
        self._note_packing()
        return more

    def _joined(self, branch: Branch, second: str) -> str:
        """The clause of a branch from those of its parts."""
        if branch.first == second:
            return second
        with_sample = f"{branch.first} {kept(branch.sample)} + s"
        return self._derive(f"{with_sample} {second} {given_up(branch.sample)} + s + s")

    def translated(self) -> str:
        """Check and translate all steps; the clause that says that the record has no better hyperplane."""
        self.run()
        return self._state.conflict


def refute(
    piece: Piece, subject: Subject, records: Iterable[bytes], derivation: Derivation
) -> tuple[list[Lemma], str]:
    """Derive a contradiction from lemmas.

    Parameters
    ----------
    piece : Piece
        The piece of the proof.
    subject : Subject
        The same samples and bound, for lemmas.
    records : iterable of bytes
        All records of the piece, which together leave nothing open.
    derivation : Derivation
        Gets the steps.

    Returns
    -------
    lemmas : list of Lemma
        What is assumed.
    contradiction : str
        The constraint that has no solution.
    """
    lemmas = LemmaPool(subject)
    certain = {
        i: _kept_as_certain(subject, i, derivation)
        for i in range(len(subject.multiples))
        if subject.multiples[i] > subject.most >= 0
    }
    closed: dict[int, str] = {}
    # A record relies only on those with larger numbers.
    for record in sorted(records, key=lambda record: Numbers(record).next(), reverse=True):
        numbers = Numbers(record)
        number, unit, known = read_start(piece, numbers)
        mark = derivation.mark
        translator = Translator(piece, subject, lemmas, derivation, certain, closed, numbers, known, unit)
        closed[number] = translator.translated()
        derivation.forget(mark, closed[number])
    return lemmas.lemmas, closed[0]


def _kept_as_certain(subject: Subject, sample: int, derivation: Derivation) -> str:
    """The clause of a sample that costs more than the bound."""
    others = [multiple(given_up(i), m) for i, m in enumerate(subject.multiples) if m and i != sample]
    return derivation.derive(f"{total([OBJECTIVE, *others])} s {4 * sum(subject.multiples) + 4} d")
