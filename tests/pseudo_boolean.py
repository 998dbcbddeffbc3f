"""A small checker of pseudo-Boolean proofs, of exactly the rules that exports use; shares no code with them.

The rules are those of VeriPB's format, version 2.0: ``f``, ``pol`` with addition, multiplication, division,
saturation and literals, ``del id``, ``output NONE`` and ``conclusion UNSAT``.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple


class RefutationError(Exception):
    """A refutation does not hold."""


class Constraint(NamedTuple):
    """sum of |coefficient| times literal >= degree; the literal is negated if the coefficient is negative."""

    terms: dict[str, int]
    degree: int

    def plus(self, other: Constraint) -> Constraint:
        terms, degree = dict(self.terms), self.degree + other.degree
        for name, added in other.terms.items():
            old = terms.pop(name, 0)
            if old * added < 0:
                # x + ~x = 1.
                degree -= min(abs(old), abs(added))
            if old + added:
                terms[name] = old + added
        return Constraint(terms, degree)

    def times(self, factor: int) -> Constraint:
        return Constraint({name: factor * value for name, value in self.terms.items()}, factor * self.degree)

    def divided(self, divisor: int) -> Constraint:
        def up(value: int) -> int:
            return -(-value // divisor)

        return Constraint({name: up(v) if v > 0 else -up(-v) for name, v in self.terms.items()}, up(self.degree))

    def saturated(self) -> Constraint:
        most = max(0, self.degree)
        terms = {name: max(-most, min(most, value)) for name, value in self.terms.items()}
        return Constraint({name: value for name, value in terms.items() if value}, self.degree)

    @property
    def contradicts(self) -> bool:
        return sum(map(abs, self.terms.values())) < self.degree


def constraints_of(opb: Path) -> list[Constraint]:
    """The constraints of a file in OPB format."""
    found = []
    for line in opb.read_text(encoding="ascii").splitlines():
        if line.startswith("*"):
            continue
        left, relation, right = line.partition(">=")
        least, end = right.split()
        assert (relation, end) == (">=", ";")
        words = left.split()
        terms = {name: int(value) for value, name in zip(words[::2], words[1::2], strict=True)}
        degree = int(least) - sum(value for value in terms.values() if value < 0)
        found.append(Constraint(terms, degree))
    return found


def check_refutation(opb: Path, refutation: Path) -> None:
    """Check that a problem has no solution.

    Raises
    ------
    RefutationError
        If a line is not allowed, or the last constraint can be satisfied.
    """
    database = dict(enumerate(constraints_of(opb), start=1))
    last = len(database)
    header, count, *lines = refutation.read_text(encoding="ascii").splitlines()
    if header != "pseudo-Boolean proof version 2.0" or count != f"f {last}":
        raise RefutationError(f"{header}, {count}")
    *lines, output, conclusion, end = lines
    for line in lines:
        rule, *words = line.split()
        if rule == "pol":
            last += 1
            database[last] = _polish(words, database)
        elif line.startswith("del id "):
            for word in words[1:]:
                del database[int(word)]
        else:
            raise RefutationError(line)
    if (output, end) != ("output NONE", "end pseudo-Boolean proof"):
        raise RefutationError(f"{output}, {end}")
    said, _, number = conclusion.partition(" : ")
    if said != "conclusion UNSAT" or not database[int(number)].contradicts:
        raise RefutationError(conclusion)


def _polish(words: list[str], database: dict[int, Constraint]) -> Constraint:
    stack: list[Constraint] = []
    position = 0
    while position < len(words):
        word = words[position]
        following = words[position + 1] if position + 1 < len(words) else ""
        if word == "+":
            stack.append(stack.pop().plus(stack.pop()))
        elif word == "s":
            stack.append(stack.pop().saturated())
        elif word.startswith(("x", "~x")):
            stack.append(Constraint({word.lstrip("~"): -1 if word.startswith("~") else 1}, 0))
        elif following in ("*", "d"):
            if int(word) <= 0:
                raise RefutationError(f"{word} {following}")
            stack.append(stack.pop().times(int(word)) if following == "*" else stack.pop().divided(int(word)))
            position += 1
        elif int(word) in database:
            stack.append(database[int(word)])
        else:
            raise RefutationError(f"constraint {word} does not exist")
        position += 1
    (result,) = stack
    return result
