"""What is known about a hyperplane in a part of a subproblem; see :mod:`hardmargin.checker.decisions`."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

from hardmargin.checker.certificates import Certificate

#: Of a sample: not decided yet, kept, or given up.
FREE, KEPT, GIVEN_UP = 0, 1, 2

# Bytes of an entry of a dictionary, approximately.
_ENTRY_BYTES = 100


@dataclass
class Cover:
    """Weights of sets: their value with the samples given up, and how much they load each sample."""

    value: int = 0
    weights: dict[int, int] = field(default_factory=dict)
    loads: dict[int, int] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """Approximately, the bytes that it takes."""
        return _ENTRY_BYTES * (len(self.weights) + len(self.loads))


@dataclass
class Known:
    """What is known about a hyperplane in a part of the subproblem; costs are in the unit of the piece."""

    status: bytearray
    # The cost of the samples given up, by class.
    given_up: list[int] = field(default_factory=lambda: [0, 0])
    cost: int = 0
    sets: int = 0
    shares: dict[int, int] = field(default_factory=dict)
    loads: dict[int, int] = field(default_factory=dict)
    packed: int = 0
    cover: Cover = field(default_factory=Cover)
    norm: Certificate | None = None

    def copy(self) -> Known:
        """The same, for one of two parts."""
        return Known(
            bytearray(self.status),
            list(self.given_up),
            self.cost,
            self.sets,
            dict(self.shares),
            dict(self.loads),
            self.packed,
            self.cover,
            self.norm,
        )

    @property
    def size(self) -> int:
        """Approximately, the bytes that a copy takes, without the cover, which is the same one."""
        return len(self.status) + _ENTRY_BYTES * (len(self.shares) + len(self.loads))

    @property
    def given_up_cost(self) -> int:
        """The cost of all samples given up."""
        return sum(self.given_up)

    def digest(self) -> bytes:
        """Identifies the decisions."""
        return hashlib.blake2b(self.status, digest_size=16).digest()
