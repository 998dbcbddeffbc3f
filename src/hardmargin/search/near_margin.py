"""The compiled search on the samples next to the margin of a hyperplane, where there are many samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from hardmargin import _core
from hardmargin.incumbent import Incumbent
from hardmargin.limits import Limits
from hardmargin.problem import MARGIN_TOLERANCE, Problem
from hardmargin.search.place import Place
from hardmargin.search.watch import Watch

# Samples next to the margin, and the work of a search: a share of what is left, within this range.
_SAMPLES = 2000
_VALUES = 1_000_000
_LEAST_SAMPLES = 200
_WORK = (100_000_000, 1_000_000_000)
_WORK_SHARE = 0.05
_TRIES = 2


class NearMargin:
    """Searches on the samples next to the margin.

    Parameters
    ----------
    problem : Problem
    limits : Limits
    watch : Watch
        Is told when a limit is reached.
    random : numpy.random.Generator
        Draws the samples and the seeds.

    Attributes
    ----------
    work : int
        Multiply-adds of all searches.
    """

    def __init__(self, problem: Problem, limits: Limits, watch: Watch, random: np.random.Generator) -> None:
        self._problem = problem
        self._limits = limits
        self._watch = watch
        self._random = random
        self.work = 0

    def search(
        self, place: Place, work_left: float, report: Callable[[], bool], *, only_nearest: bool
    ) -> Incumbent | None:
        """Search from a place.

        Parameters
        ----------
        place : Place
        work_left : float
            Multiply-adds that are left for all searches.
        report : callable
            Called now and then; False ends the search.
        only_nearest : bool
            Whether to use the nearest samples, or a random half of twice as many.

        Returns
        -------
        Incumbent or None
            The best hyperplane for these samples; None if the samples have too many features.
        """
        problem = self._problem
        count = min(_SAMPLES, _VALUES // problem.m, problem.n)
        if count < _LEAST_SAMPLES:
            return None
        pool = nearest(place, min(count if only_nearest else 2 * count, problem.n))
        rows = np.sort(self._random.choice(pool, count, replace=False))
        X: Any = problem.X[rows]
        X = X.toarray() if scipy.sparse.issparse(X) else X
        seed = int(self._random.integers(2**63))
        search = _core.PrimalSearch(
            np.ascontiguousarray(X),
            problem.y[rows],
            problem.costs[rows],
            seed,
            problem.certain_cost,
            problem.core_bounds,
        )
        work = int(np.clip(_WORK_SHARE * work_left, *_WORK))
        remaining = self._limits.remaining
        self._watch.run(lambda: search.offer(place.coef, place.intercept, work, remaining()))
        self._watch.run(lambda: search.walk(remaining(), work, _TRIES, 0.0, 0.0, lambda *_: report()))
        self.work += search.work
        return Incumbent(np.array(search.weights), search.bias)


def nearest(place: Place, count: int) -> NDArray[np.intp]:
    """The samples next to the margin; those that are given up count as next to it if they are few."""
    distances = np.abs(place.margins - 1)
    given_up = place.margins < 1 - MARGIN_TOLERANCE
    if 2 * np.count_nonzero(given_up) <= count:
        distances[given_up] = 0.0
    return np.argpartition(distances, count - 1)[:count]
