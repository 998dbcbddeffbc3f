"""Open subproblems as plain data: the one mechanism behind threads, clusters, checkpoints and resuming.

A frontier is a list of subproblems that together contain every solution that the search still looks for. Anything
that has the problem and a frontier can continue the proof: another thread, another process, another machine or a
later run. A frontier is three arrays, so millions of subproblems can be written, sent and sorted quickly.
``core/packing/frontier.h`` and ``core/directions/frontier.h`` say what the methods store in them.

The core makes the frontier that a search starts with (``search/roots.py``). An empty frontier means that nothing is
left open, never that everything is: searches refuse it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hardmargin.arrays import FloatArray

#: Rises with every change in the meaning of a subproblem's numbers, or in what else a checkpoint contains:
#: checkpoints of another format cannot be used.
FORMAT = 11

# Columns of the numbers that all kinds of subproblems have.
_BOUND, _DERIVED_UNDER = -2, -1
# Numbers of a region of directions besides its two corners.
_OTHER_NUMBERS = 5


class Frontier(NamedTuple):
    """Open subproblems.

    Attributes
    ----------
    integers : ndarray of uint32
        The integers of all subproblems, concatenated.
    ends : ndarray of uint64 of shape (size,)
        Where the integers of each subproblem end.
    numbers : ndarray of shape (size, width)
        One row per subproblem; the last two numbers are its bound and the objective that it was derived under.

    Examples
    --------
    >>> from hardmargin import _core
    >>> low = Frontier(*_core.packing_root(3, kept=[0], given_up=[], bound=1.0, upper=10.0))
    >>> high = Frontier(*_core.packing_root(3, kept=[], given_up=[0], bound=2.0, upper=9.0))
    >>> both = Frontier.joined([high, low])
    >>> both.size, both.lower_bound(), both.derived_under()
    (2, 1.0, 9.0)
    >>> first, rest = both.by_bound().split(1)
    >>> first.lower_bound(), rest.lower_bound()
    (1.0, 2.0)
    """

    integers: NDArray[np.uint32]
    ends: NDArray[np.uint64]
    numbers: FloatArray

    @classmethod
    def empty(cls) -> Frontier:
        """No subproblem: nothing is left open."""
        return cls(np.empty(0, np.uint32), np.empty(0, np.uint64), np.empty((0, 0)))

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
        """The number of subproblems."""
        return len(self.ends)

    @property
    def starts(self) -> NDArray[np.int64]:
        """Where the integers of each subproblem start."""
        return np.concatenate([np.zeros(min(self.size, 1), np.int64), self.ends[:-1].astype(np.int64)])

    @property
    def lengths(self) -> NDArray[np.int64]:
        """How many integers each subproblem has."""
        return self.ends.astype(np.int64) - self.starts

    @property
    def bounds(self) -> FloatArray:
        """One lower bound per subproblem: none of its solutions costs less."""
        if self.size == 0:
            return np.empty(0)
        smaller: FloatArray = self.numbers[:, [_BOUND, _DERIVED_UNDER]].min(axis=1)
        return smaller

    def lower_bound(self) -> float:
        """The smallest bound; infinite if there is no subproblem."""
        return float(self.bounds.min(initial=np.inf))

    def derived_under(self) -> float:
        """No closed part outside these subproblems has a solution below this value; infinite if there are none."""
        return float(self.numbers[:, _DERIVED_UNDER].min()) if self.size else np.inf

    def closed_beside(self, upper: float) -> Frontier:
        """The same subproblems, after others were closed only for solutions better than ``upper``."""
        if self.size == 0:
            return self
        numbers = self.numbers.copy()
        numbers[:, _DERIVED_UNDER] = np.minimum(numbers[:, _DERIVED_UNDER], upper)
        return self._replace(numbers=numbers)

    def selected(self, which: NDArray[np.bool_] | NDArray[np.intp]) -> Frontier:
        """The subproblems that a mask selects, or those at these positions, in their order."""
        places = np.flatnonzero(which) if which.dtype == np.bool_ else which
        starts, sizes = self.starts[places], self.lengths[places]
        ends = np.cumsum(sizes)
        # The source of every integer: its position in the selection, shifted by where its subproblem starts.
        origin = np.arange(ends[-1] if len(ends) else 0) + np.repeat(starts - (ends - sizes), sizes)
        return Frontier(self.integers[origin], ends.astype(np.uint64), self.numbers[places])

    def split(self, count: int) -> tuple[Frontier, Frontier]:
        """The first ``count`` subproblems, and the others."""
        places = np.arange(self.size)
        return self.selected(places[:count]), self.selected(places[count:])

    def by_bound(self) -> Frontier:
        """The same subproblems, those with the smallest bounds first."""
        return self.selected(np.argsort(self.bounds, kind="stable"))

    def below(self, cutoff: float) -> Frontier:
        """The subproblems that may contain a solution that costs less than the cutoff."""
        return self.selected(self.numbers[:, _BOUND] < cutoff) if self.size else self

    def required(self) -> Frontier:
        """The frontier itself.

        Raises
        ------
        ValueError
            If it is empty, because a search needs something to start with.
        """
        if self.size == 0:
            raise ValueError(
                "the frontier is empty; expected the root of a search, or what a search has left open."
            )
        return self


class Regions(NamedTuple):
    """The columns of a frontier of the search over directions.

    Attributes
    ----------
    faces : ndarray of uint32 of shape (size,)
        The feature whose axis the region's face of the cube lies on.
    signs : ndarray of shape (size,)
        The side of the cube, -1 or 1.
    low, high : ndarray of shape (size, m)
        The corners of the boxes.
    shortest, longest : ndarray of shape (size,)
        The range of the lengths.
    """

    faces: NDArray[np.uint32]
    signs: FloatArray
    low: FloatArray
    high: FloatArray
    shortest: FloatArray
    longest: FloatArray

    @classmethod
    def of(cls, frontier: Frontier) -> Regions:
        """The regions of a frontier, as views of its arrays."""
        numbers = frontier.numbers
        m = (numbers.shape[1] - _OTHER_NUMBERS) // 2
        low, high = numbers[:, 1 : m + 1], numbers[:, m + 1 : 2 * m + 1]
        return cls(frontier.integers, numbers[:, 0], low, high, numbers[:, 2 * m + 1], numbers[:, 2 * m + 2])

    @staticmethod
    def width(m: int) -> int:
        """How many numbers a region of m features has."""
        return 2 * m + _OTHER_NUMBERS

    @staticmethod
    def open_share(frontier: Frontier) -> float:
        """The share of all directions and lengths that is still open.

        Directions are measured on the surface of the cube, and lengths up to the longest one that the objective
        allows.

        Examples
        --------
        One of the four sides of the square, with the longer half of all lengths:

        >>> longest = np.sqrt(2 * 8.0)
        >>> side = [1.0, 1.0, -1.0, 1.0, 1.0, longest / 2, longest, 0.0, 8.0]
        >>> Regions.open_share(Frontier(np.array([0], np.uint32), np.array([1], np.uint64), np.array([side])))
        0.125
        """
        if frontier.size == 0:
            return 0.0
        regions = Regions.of(frontier)
        # The coordinate that is fixed on a face does not count. The others run from -1 to 1, on 2 m faces.
        widths = (regions.high - regions.low) / 2
        widths[np.arange(frontier.size), regions.faces] = 1.0
        lengths = (regions.longest - regions.shortest) / np.sqrt(2 * frontier.numbers[:, _DERIVED_UNDER].max())
        return float(np.sum(widths.prod(axis=1) * lengths) / (2 * widths.shape[1]))
