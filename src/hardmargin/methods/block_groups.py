"""A round of ``blocks``: groups of blocks that may be replaced by larger ones, and what is proven about these."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np

from hardmargin.methods.block import BlockAnswer
from hardmargin.problem import Problem
from hardmargin.search.blocks import Block, contribution, plain, proves_more, restored
from hardmargin.search.recording import Piece

T = TypeVar("T")


class Group:
    """Blocks that are replaced by others of the same samples once these are bounded.

    Larger blocks prove more as a rule. If some were not solved to the end and prove less, the old ones stay.
    """

    def __init__(self, before: list[Block], after: list[Block]) -> None:
        self.before = before
        self.after = after
        # The places of the new blocks that nothing is known about, and of those that are not done.
        self._unknown = set(range(len(after)))
        self._open = set(range(len(after)))
        self._cut = False
        # Proofs that are not needed.
        self.dropped: list[Piece] = []

    def take(self, place: int, answer: BlockAnswer, whole: Problem) -> None:
        """Take over what was proven about one of the new blocks of a problem."""
        block = self.after[place]
        norm = 0.5 * float(answer.coef @ answer.coef)
        # A block that was interrupted is searched again, and may then be interrupted earlier.
        bound = max(block.bound, contribution(block.share, answer.lower_bound))
        pieces = tuple(piece.part(block.rows(whole), block.share) for piece in answer.pieces)
        best = max((block.pieces, pieces), key=lambda each: sum(piece.bound for piece in each))
        self.dropped += pieces if best is block.pieces else block.pieces
        self.after[place] = replace(block, bound=bound, norm=norm, pieces=best)
        self._unknown.discard(place)
        if not answer.interrupted:
            self._open.discard(place)
            self._cut = self._cut or answer.cut

    def state(self) -> dict[str, Any]:
        """What the group looks like, as plain data; the blocks before are part of those that wait."""
        return {
            "before": len(self.before),
            "after": plain(self.after),
            "unknown": sorted(self._unknown),
            "open": self.open,
            "cut": self._cut,
        }

    @classmethod
    def of(cls, before: list[Block], state: dict[str, Any]) -> Group:
        """The inverse of :meth:`state`."""
        group = cls(before, restored(state["after"]))
        group._unknown, group._open, group._cut = set(state["unknown"]), set(state["open"]), state["cut"]
        return group

    @property
    def open(self) -> list[int]:
        """The places of the new blocks that are not done."""
        return sorted(self._open)

    def is_replaced(self, share_value: float) -> bool:
        """Whether the new blocks are to be used."""
        if self._unknown:
            return False
        solved = not (self._open or self._cut)
        return solved or proves_more(self.after, self.before, share_value)

    def best(self, share_value: float) -> list[Block]:
        """The blocks to be used."""
        return self.after if self.is_replaced(share_value) else self.before

    def not_needed(self, share_value: float) -> list[Piece]:
        """The proofs of the blocks that are not used."""
        unused = self.before if self.is_replaced(share_value) else self.after
        return [*self.dropped, *(piece for block in unused for piece in block.pieces)]


@dataclass
class Round:
    """A round so far: its work, how many blocks were bounded, how many of them not to the end, and its success."""

    work: int = 0
    blocks: int = 0
    cut: int = 0
    improved: bool = False

    def take(self, answer: BlockAnswer) -> None:
        """Count a block."""
        self.work += answer.work
        self.blocks += 1
        self.cut += answer.cut


def consecutive(items: Sequence[T], sizes: Iterable[int]) -> list[Sequence[T]]:
    """Parts of these sizes, one after the other.

    Examples
    --------
    >>> consecutive("abcde", [2, 3])
    ['ab', 'cde']
    """
    ends = np.cumsum(list(sizes), dtype=np.intp).tolist()
    return [items[begin:end] for begin, end in pairwise([0, *ends])]


def restored_groups(states: list[dict[str, Any]], waiting: list[Block]) -> list[Group]:
    """The groups of a state, of the blocks that wait."""
    parts = consecutive(waiting, (state["before"] for state in states))
    return [Group.of(list(before), state) for before, state in zip(parts, states, strict=True)]
