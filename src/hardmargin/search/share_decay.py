"""How the open share of all directions and lengths falls with the work, and how much work that leaves.

It falls about exponentially. Nothing that is proven depends on it.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from math import inf, log, log1p, sqrt

# A proof is taken for finished when this share is open.
_FINISHED_SHARE = 1e-3


class ShareDecay:
    """The open shares that were observed.

    Parameters
    ----------
    marks : iterable of (int, float)
        Work and open share, in the order of the work.

    Raises
    ------
    ValueError
        If they are not in this order.

    Attributes
    ----------
    marks : list of (int, float)
        The first one, the last one with at most half of the latest work, and all later ones.

    Examples
    --------
    >>> decay = ShareDecay([(100, 1.0), (200, 0.5)])
    >>> round(decay.remaining_work())
    897
    >>> decay.note(400, 0.25)
    >>> round(decay.remaining_work())
    1380
    """

    def __init__(self, marks: Iterable[tuple[int, float]] = ()) -> None:
        self.marks = [(work, share) for work, share in marks]
        if any(before >= after for (before, _), (after, _) in pairwise(self.marks)):
            raise ValueError("the work does not rise from mark to mark.")

    def note(self, work: int, share: float) -> None:
        """Note the open share after this work.

        Raises
        ------
        ValueError
            If there was more work before.
        """
        if self.marks and self.marks[-1][0] > work:
            raise ValueError(f"the work falls from {self.marks[-1][0]} to {work}.")
        if self.marks and self.marks[-1][0] == work:
            self.marks.pop()
        self.marks.append((work, share))
        while len(self.marks) > 3 and self.marks[2][0] <= work / 2:
            del self.marks[1]

    def remaining_work(self) -> float:
        """The work that the rest is expected to need; infinite if unknown.

        The decay slows down, in most proofs, and pauses now and then. So from its rate since the beginning follows
        too little work, and from its rate in the second half of the work sometimes far too much; this is their
        geometric mean.
        """
        if not self.marks:
            return inf
        work, share = self.marks[-1]
        per_factor = 1.0
        for before, share_before in (self.marks[0], self.marks[min(1, len(self.marks) - 2)]):
            if not 0 < share < share_before:
                return inf
            per_factor *= (work - before) / log1p((share_before - share) / share)
        return sqrt(per_factor) * max(1.0, log(share / _FINISHED_SHARE))
