"""Lemmas about samples that cannot all be kept at low cost, and the pseudo-Boolean problem over them.

Let x_i = 1 if sample i is given up, 0 if it is kept. Costs are whole multiples m_i of a unit u, and B is the bound
to be proven. Suppose that a hyperplane has an objective below B. Its norm term is not negative, so

    sum m_i x_i <= K,        K = ceil(B / u) - 1.                                                       (objective)

A lemma has a set S of kept samples, a set F of given-up ones, multipliers of their rows and a limit k < K. The
multipliers prove a norm term of at least V for every hyperplane that keeps S and gives up F
(:mod:`hardmargin.checker.certificates`). If V >= B - (k + 1) u, then sum m_i x_i < k + 1 for such a hyperplane, so

    sum m_i x_i <= k + (K - k) (sum over S of x_i + sum over F of (1 - x_i))                            (lemma)

for every hyperplane with an objective below B: if one of the samples is treated differently, the right-hand side is
at least K. If k = -1, the sum in brackets is at least 1. So if no 0-1 vector satisfies all these inequalities, then
there is no hyperplane with an objective below B.

This module and what it imports are all that has to be trusted besides a checker of pseudo-Boolean proofs.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import zip_longest
from math import isfinite
from typing import Any, NamedTuple, TextIO

from hardmargin.checker.certificates import Certificate, certificate_of
from hardmargin.checker.errors import ProofError, UnreadableProofError
from hardmargin.checker.piece import Piece, check_groups
from hardmargin.checker.samples import Samples

#: The first line of a file of lemmas.
MAGIC = "hardmargin lemmas 1"

# Of a number in a file of lemmas.
_MOST_DIGITS = 640


class Lemma(NamedTuple):
    """A lemma: at most ``limit`` units are given up if ``kept`` are kept and ``given_up`` are given up.

    Attributes
    ----------
    limit : int
        -1 if no hyperplane with an objective below the bound treats these samples like this.
    kept, given_up : tuple of (int, int)
        Samples and their multipliers.
    """

    limit: int
    kept: tuple[tuple[int, int], ...]
    given_up: tuple[tuple[int, int], ...]

    def line(self) -> str:
        """Its line in the file."""
        parts = ((" keep", self.kept), (" give", self.given_up))
        listed = (word + "".join(f" {i + 1}:{factor}" for i, factor in part) for word, part in parts if part)
        return f"lemma {self.limit}{''.join(listed)}"


class Subject:
    """What lemmas are about: samples with costs in units, and the bound.

    Parameters
    ----------
    samples : Samples
        The whole data.
    groups : sequence of sequences of int
        The rows of the data that each sample stands for.
    bound, unit : float

    Attributes
    ----------
    piece : Piece
        The samples; its costs are in units of 2^-unit_exponent.
    unit : int
        The unit u, in the same unit.
    multiples : list of int
        The cost of each sample divided by u.
    most : int
        K: what a hyperplane with an objective below the bound gives up, at most.

    Raises
    ------
    ProofError
        If rows that are one sample differ, or a cost is not a multiple of the unit.
    """

    def __init__(self, samples: Samples, groups: Sequence[Sequence[int]], bound: float, unit: float) -> None:
        if unit <= 0:
            raise ProofError(f"the unit of costs is {unit}; expected a positive number.")
        check_groups(samples, groups, set())
        self.groups = groups
        self._given = bound, unit
        self.piece = Piece(samples, groups, {"kind": "samples", "share": 1.0, "bound": bound, "exponent": 0})
        whole, rest = divmod(Fraction(unit) * (1 << self.piece.unit_exponent), 1)
        self.unit = int(whole)
        if rest or any(cost % self.unit for cost in self.piece.costs):
            raise ProofError("the cost of a sample is not a multiple of the unit.")
        self.multiples = [cost // self.unit for cost in self.piece.costs]
        self.most = -(-self.piece.bound // self.unit) - 1

    @property
    def bound(self) -> float:
        """What is to be proven."""
        return self._given[0]

    def lines(self) -> Iterator[str]:
        """The first lines of a file of lemmas."""
        yield MAGIC
        yield f"bound {self._given[0]!r}"
        yield f"unit {self._given[1]!r}"
        yield f"samples {len(self.groups)}"
        for group in self.groups:
            yield "sample" + "".join(f" {row}" for row in group)

    def certificate(self, lemma: Lemma) -> Certificate:
        """What the multipliers of a lemma prove."""
        rows = [(2 * i, factor) for i, factor in lemma.kept] + [(2 * i + 1, factor) for i, factor in lemma.given_up]
        return certificate_of(rows, self.piece.samples, self.piece.rows)

    def check(self, lemma: Lemma) -> None:
        """Check that a lemma holds.

        Raises
        ------
        ProofError
            If it does not, or if its limit is none.
        """
        if not -1 <= lemma.limit < self.most:
            raise ProofError(f"its limit is {lemma.limit}; expected -1 to {self.most - 1}.")
        room = self.piece.bound - (lemma.limit + 1) * self.unit
        if not self.certificate(lemma).reaches(room, self.piece.unit_exponent, (1, 1)):
            raise ProofError("its multipliers prove too small a norm.")

    def objective_line(self) -> str:
        """The first constraint of the problem."""
        return _inequality({i: -multiple for i, multiple in enumerate(self.multiples)}, -self.most)

    def constraint_line(self, lemma: Lemma) -> str:
        """The constraint that a lemma is."""
        clause = lemma.limit < 0
        factor = 1 if clause else self.most - lemma.limit
        coefficients = {} if clause else {i: -multiple for i, multiple in enumerate(self.multiples)}
        least = 1 if clause else -lemma.limit
        for i in {i for i, _ in lemma.kept}:
            coefficients[i] = coefficients.get(i, 0) + factor
        # factor (1 - x) has a constant, which moves to the other side.
        for i in {i for i, _ in lemma.given_up}:
            coefficients[i] = coefficients.get(i, 0) - factor
            least -= factor
        return _inequality(coefficients, least)

    def problem_lines(self, lemmas: Iterable[Lemma]) -> Iterator[str]:
        """The pseudo-Boolean problem, in OPB format without its comments."""
        yield self.objective_line()
        yield from map(self.constraint_line, lemmas)


def _inequality(coefficients: dict[int, int], least: int) -> str:
    terms = (f"{factor:+d} x{i + 1} " for i, factor in sorted(coefficients.items()) if factor)
    return f"{''.join(terms)}>= {least} ;"


@dataclass(frozen=True)
class LemmaVerdict:
    """What was checked, without an error.

    Attributes
    ----------
    bound : float
        No hyperplane has a smaller objective, provided that the problem in the OPB file has no solution.
    lemmas : int
        How many there are.
    """

    bound: float
    lemmas: int

    def summary(self) -> str:
        """What was verified and what is left to be checked, in a few lines."""
        return (
            f"all {self.lemmas} lemmas hold, and the OPB file states them\n"
            f"  if its problem has no solution, no hyperplane has an objective below {self.bound!r}\n"
            "  left to be checked: the refutation, by a checker of pseudo-Boolean proofs"
        )


def check_lemmas(
    lemmas: str | os.PathLike[str], opb: str | os.PathLike[str], X: Any, y: Any, costs: Any
) -> LemmaVerdict:
    """Check lemmas against the data, and that an OPB file is the pseudo-Boolean problem over them.

    Parameters
    ----------
    lemmas, opb : path
        Files that :func:`hardmargin.export_proof` has written.
    X : ndarray or CSR matrix of shape (n, m)
        Samples, float64.
    y : sequence of n numbers
        Labels, -1 and 1.
    costs : sequence of n numbers
        What it costs to violate each sample.

    Returns
    -------
    LemmaVerdict

    Raises
    ------
    ProofError
        If a lemma does not hold, or the OPB file is another problem.
    UnreadableProofError
        If the file of lemmas cannot be read.
    OSError
        If there is no such file.
    """
    count = 0

    def checked(subject: Subject, file: TextIO) -> Iterator[Lemma]:
        nonlocal count
        for count, line in enumerate(file, start=1):
            lemma = _lemma(line, len(subject.groups))
            try:
                subject.check(lemma)
            except ProofError as error:
                raise ProofError(f"lemma {count} does not hold: {error}") from None
            yield lemma

    with _opened(lemmas) as file, _opened(opb) as problem:
        subject = _read_subject(file, Samples(X, y, costs))
        expected = subject.problem_lines(checked(subject, file))
        for place, (line, other) in enumerate(zip_longest(expected, _constraints(problem)), start=1):
            if line != other:
                found, wanted = (each or "missing" for each in (other, line))
                raise ProofError(f"constraint {place} of the OPB file is {found}; by the lemmas, it is {wanted}.")
    return LemmaVerdict(subject.bound, count)


def _opened(path: str | os.PathLike[str]) -> TextIO:
    """A text file; what is no text is found out by what reads its lines."""
    return open(path, encoding="ascii", errors="replace", newline="\n")


def _constraints(opb: TextIO) -> Iterator[str]:
    """The lines of an OPB file that are no comments.

    Other programs need not agree on what ends a line, or on what is a space. So there may be nothing, not even in a
    comment, that one of them could take for the end of it.
    """
    for line in opb:
        text = line.rstrip("\r\n")
        if not (text.isascii() and text.isprintable()):
            raise ProofError("the OPB file has characters that are neither printable nor the end of a line.")
        if not text.startswith("*"):
            yield text


def _read_subject(file: TextIO, samples: Samples) -> Subject:
    """Read everything that precedes the lemmas."""
    if file.readline().rstrip() != MAGIC:
        raise UnreadableProofError("it is not a file of lemmas of this version: its first line differs.")
    bound, unit = _real(_value(file, "bound")), _real(_value(file, "unit"))
    groups = []
    for _ in range(_whole(_value(file, "samples"))):
        word, *rows = file.readline().split() or [""]
        if word != "sample" or not rows:
            raise UnreadableProofError("a line 'sample ...' is missing.")
        groups.append([_whole(row) for row in rows])
    return Subject(samples, groups, bound, unit)


def _value(file: TextIO, name: str) -> str:
    word, *values = file.readline().split() or [""]
    if word != name or len(values) != 1:
        raise UnreadableProofError(f"expected a line '{name} NUMBER'; found '{word}'.")
    return values[0]


def _real(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise UnreadableProofError(f"expected a number; found '{text}'.") from None
    if not isfinite(value) or value < 0:
        raise UnreadableProofError(f"expected a number that is finite and not negative; found '{text}'.")
    return value


def _lemma(line: str, count: int) -> Lemma:
    """A lemma about so many samples."""
    word, *rest = line.split() or [""]
    if word != "lemma" or not rest:
        raise UnreadableProofError(f"expected a line 'lemma ...'; found '{word}'.")
    limit = -1 if rest[0] == "-1" else _whole(rest[0])
    parts: dict[str, list[tuple[int, int]]] = {"keep": [], "give": []}
    part = None
    for item in rest[1:]:
        if item in parts:
            part = parts[item]
            continue
        place, _, factor = item.partition(":")
        sample = _whole(place) - 1
        if part is None or not 0 <= sample < count:
            raise UnreadableProofError(f"a lemma has the unexpected part '{item}'.")
        part.append((sample, _whole(factor)))
    return Lemma(limit, tuple(parts["keep"]), tuple(parts["give"]))


def _whole(text: str) -> int:
    """A number that is written in digits only, so that it is not negative."""
    # Python may refuse to convert longer ones.
    if not (text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS):
        raise UnreadableProofError(f"expected a whole number; found '{text:.60}'.")
    return int(text)
