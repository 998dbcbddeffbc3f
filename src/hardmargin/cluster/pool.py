"""The open subproblems of a search on a cluster: which come next, and the lower bound of all of them."""

from __future__ import annotations

from hardmargin.frontier import Frontier

# Subproblems that are sorted at a time; the others wait behind them.
_FRONT = 4096


class Pool:
    """Open subproblems, those with the smallest bounds first.

    Parameters
    ----------
    frontier : Frontier
        The initial open subproblems.

    Examples
    --------
    >>> from hardmargin import _core
    >>> roots = [Frontier(*_core.packing_root(3, [], [], bound, 9.0)) for bound in (3.0, 1.0, 2.0)]
    >>> pool = Pool(Frontier.joined(roots))
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
        """The number of open subproblems."""
        return self._front.size + sum(part.size for part in self._behind)

    def lower_bound(self) -> float:
        """The smallest bound; infinite if the pool is empty."""
        return min(self._front.lower_bound(), self._behind_bound)

    def add(self, frontier: Frontier) -> None:
        """Add subproblems."""
        if frontier.size > 0:
            self._behind.append(frontier)
            self._behind_bound = min(self._behind_bound, frontier.lower_bound())

    def take(self, count: int, worth: float) -> Frontier:
        """Remove and return the next ones, at most ``count``; those with a bound from ``worth`` on are dropped."""
        if self._front.size == 0 or self._behind_bound < self._front.lower_bound():
            self._sort(worth)
        taken, self._front = self._front.split(count)
        return taken

    def everything(self) -> Frontier:
        """All open subproblems."""
        return Frontier.joined([self._front, *self._behind])

    def _sort(self, worth: float) -> None:
        self._front, rest = self.everything().below(worth).by_bound().split(_FRONT)
        self._behind = [rest]
        self._behind_bound = rest.lower_bound()
