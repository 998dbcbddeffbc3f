"""Lines of a pseudo-Boolean proof: cutting planes in reverse polish notation, as VeriPB reads them.

Constraints are referred to by number. The problem has the first ones, but how many these are is known only at the
end, so derived constraints are called ``#1``, ``#2``, ... until then.

All clauses here have coefficients of 1 and the right-hand side 1.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TextIO

#: The constraint (objective) of :mod:`hardmargin.refutation.lemmas`, the first one of the problem.
OBJECTIVE = "1"

_DERIVED = re.compile(r"#(\d+)")


def kept(sample: int) -> str:
    """The literal that is true if a sample is kept."""
    return f"~x{sample + 1}"


def given_up(sample: int) -> str:
    """The literal that is true if a sample is given up."""
    return f"x{sample + 1}"


def multiple(constraint: str, factor: int) -> str:
    """A constraint, or a literal >= 0, times a positive factor."""
    return constraint if factor == 1 else f"{constraint} {factor} *"


def total(constraints: Iterable[str]) -> str:
    """The sum of constraints."""
    first, *others = constraints
    return " ".join([first, *(f"{other} +" for other in others)])


def resolved(clause: str, literal: str, other: str) -> str:
    """A clause without a literal, by another clause that contains the opposite literal.

    The first two operations make sure that the clause contains the literal.
    """
    return f"{clause} {literal} + s {other} + s"


class Derivation:
    """Writes the lines of a proof to a file.

    Parameters
    ----------
    file : file
        Gets one line per step. :func:`final_line` completes them.
    """

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._count = 0
        # Derived constraints in use, in order; and the same as a set.
        self._derived: list[str] = []
        self._known: set[str] = set()

    def derive(self, expression: str) -> str:
        """Add a constraint, unless the expression just names one, and return what it is called."""
        if " " not in expression:
            return expression
        self._count += 1
        self._file.write(f"pol {expression}\n")
        name = f"#{self._count}"
        self._derived.append(name)
        self._known.add(name)
        return name

    @property
    def mark(self) -> int:
        """How many derived constraints are in use; later ones can be forgotten together."""
        return len(self._derived)

    def forget(self, mark: int, but: str) -> None:
        """Delete constraints that were derived after a mark, except one."""
        names = [name for name in self._derived[mark:] if name != but]
        if names:
            self._file.write(f"del id {' '.join(names)}\n")
        self._derived[mark:] = [name for name in self._derived[mark:] if name == but]
        self._known.difference_update(names)

    def knows(self, name: str) -> bool:
        """Whether a derived constraint is still in use."""
        return name in self._known


def final_line(line: str, constraints: int) -> str:
    """A line with the numbers that constraints have if the problem has so many.

    Examples
    --------
    >>> final_line("pol #1 3 + #2 +", 10)
    'pol 11 3 + 12 +'
    """
    return _DERIVED.sub(lambda match: str(int(match[1]) + constraints), line)
