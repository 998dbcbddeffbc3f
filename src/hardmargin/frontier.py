"""Open subproblems as plain data: the one mechanism behind threads, clusters, checkpoints and resuming.

A frontier is a list of subproblems that together hold every solution better than the best one known. Whoever has
the problem and a frontier can go on with the proof, in another thread, another process, on another machine or on
another day. It is three arrays, so that millions of subproblems are written, sent and sorted in moments;
``core/packing/frontier.h`` and ``core/directions/frontier.h`` tell what the methods have in them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

#: Rises with every change of what the numbers of a subproblem mean, or of what else a checkpoint holds: those of
#: another format are of no use.
FORMAT = 6


class Frontier(NamedTuple):
    """Open subproblems.

    Attributes
    ----------
    integers : ndarray of uint32
        Those of all subproblems, one after the other.
    ends : ndarray of uint64 of shape (size,)
        Where those of each subproblem end.
    numbers : ndarray of shape (size, width)
        Of each subproblem; the last two are its bound and the objective that it was derived under.

    Examples
    --------
    >>> whole = Frontier.whole(0.0, 10.0)
    >>> both = Frontier.joined([whole, Frontier.whole(2.0, 10.0)])
    >>> both.size, both.lower_bound()
    (2, 0.0)
    >>> both.selected(both.bounds > 1).lower_bound()
    2.0
    """

    integers: NDArray[np.uint32]
    ends: NDArray[np.uint64]
    numbers: NDArray[np.float64]

    @classmethod
    def empty(cls) -> Frontier:
        """No subproblem; the search over directions takes it for all directions."""
        return cls(np.empty(0, np.uint32), np.empty(0, np.uint64), np.empty((0, 0)))

    @classmethod
    def decided(cls, kept: Sequence[int], given_up: Sequence[int], bound: float, upper: float) -> Frontier:
        """One subproblem of the search over samples, in which these are decided."""
        integers = np.array([len(kept), *kept, *given_up], np.uint32)
        return cls(integers, np.array([len(integers)], np.uint64), np.array([[bound, upper]]))

    @classmethod
    def whole(cls, bound: float, upper: float) -> Frontier:
        """The whole problem as the search over samples has it: none is decided."""
        return cls.decided([], [], bound, upper)

    @classmethod
    def joined(cls, parts: Sequence[Frontier]) -> Frontier:
        """The subproblems of several frontiers."""
        parts = [part for part in parts if part.size > 0]
        if len(parts) <= 1:
            return parts[0] if parts else cls.empty()
        before = np.cumsum([0] + [len(part.integers) for part in parts[:-1]]).astype(np.uint64)
        return cls(
            np.concatenate([part.integers for part in parts]),
            np.concatenate([part.ends + start for part, start in zip(parts, before, strict=True)]),
            np.concatenate([part.numbers for part in parts]),
        )

    @property
    def size(self) -> int:
        """How many subproblems there are."""
        return len(self.ends)

    @property
    def bounds(self) -> NDArray[np.float64]:
        """No solution of a subproblem costs less than this."""
        if self.size == 0:
            return np.empty(0)
        smaller: NDArray[np.float64] = self.numbers[:, -2:].min(axis=1)
        return smaller

    def lower_bound(self) -> float:
        """The smallest bound; infinite if there is no subproblem."""
        return float(self.bounds.min(initial=np.inf))

    def selected(self, which: NDArray[np.bool_] | NDArray[np.intp]) -> Frontier:
        """The subproblems of a mask, or of these places in their order."""
        places = np.flatnonzero(which) if which.dtype == np.bool_ else which
        starts = np.concatenate([[0], self.ends[:-1]]).astype(np.int64)[places]
        sizes = self.ends.astype(np.int64)[places] - starts
        ends = np.cumsum(sizes)
        # Where every integer comes from: its place in the selection, moved by where its subproblem began.
        origin = np.arange(ends[-1] if len(ends) else 0) + np.repeat(starts - (ends - sizes), sizes)
        return Frontier(self.integers[origin], ends.astype(np.uint64), self.numbers[places])
