"""The open subproblems of a search on a cluster: which are next, and what is proven of all of them."""

from __future__ import annotations

import math

import numpy as np

from hardmargin.frontier import Frontier

# Subproblems that are sorted at a time; the others wait behind them.
_FRONT = 4096


class Pool:
    """Open subproblems, those with the smallest bounds first.

    Parameters
    ----------
    frontier : Frontier
        What is open at first.

    Examples
    --------
    >>> pool = Pool(Frontier.joined([Frontier.whole(bound, 9.0) for bound in (3.0, 1.0, 2.0)]))
    >>> pool.take(2, worth=9.0).bounds.tolist()
    [1.0, 2.0]
    >>> pool.size, pool.lower_bound()
    (1, 3.0)
    """

    def __init__(self, frontier: Frontier) -> None:
        self._front = Frontier.empty()
        self._behind = [frontier]
        self._behind_bound = frontier.lower_bound()

    @property
    def size(self) -> int:
        """How many there are."""
        return self._front.size + sum(part.size for part in self._behind)

    def lower_bound(self) -> float:
        """The smallest bound; infinite if there is none."""
        return min(self._front.lower_bound(), self._behind_bound)

    def add(self, frontier: Frontier) -> None:
        """Put subproblems in."""
        if frontier.size > 0:
            self._behind.append(frontier)
            self._behind_bound = min(self._behind_bound, frontier.lower_bound())

    def take(self, count: int, worth: float) -> Frontier:
        """Take out the next ones, at most so many; those with a bound of ``worth`` or more are dropped."""
        if self._front.size == 0 or self._behind_bound < self._front.lower_bound():
            self._sort(worth)
        taken = self._front.selected(np.arange(min(count, self._front.size)))
        self._front = self._front.selected(np.arange(taken.size, self._front.size))
        return taken

    def everything(self) -> Frontier:
        """All that is open."""
        return Frontier.joined([self._front, *self._behind])

    def _sort(self, worth: float) -> None:
        frontier = self.everything()
        frontier = frontier.selected(frontier.numbers[:, -2] < worth) if frontier.size else frontier
        order = np.argsort(frontier.bounds, kind="stable")
        self._front = frontier.selected(order[:_FRONT])
        rest = frontier.selected(order[_FRONT:])
        self._behind = [rest]
        self._behind_bound = rest.lower_bound() if rest.size else math.inf
