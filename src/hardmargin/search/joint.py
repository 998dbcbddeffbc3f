"""One search for many values of C: a proof of the whole envelope at once.

Let U(C) be a concave, piecewise linear function with U > 0, for instance the lower envelope of known lines, with
vertices at C_1, ..., C_k. A hyperplane with norm term N that gives up the weight K lies below it at some C between
C_1 and C_k if and only if it does at a vertex, because N + C K - U(C) is linear between vertices. So it is enough
to minimise the smallest of (N + C_j K) / U(C_j) over all j, which is an objective of the core
(``core/base/objective.h``). A bound b on that proves b U(C_j) at every vertex, and so b U(C) everywhere in between.

The tree of this search is the union of the trees for all C_j, which overlap. That is far less work than one search
after the other.

If the search finds a hyperplane below U by more than the gap, it pauses, and the caller continues with a lower U.
What was closed stays closed: no hyperplane in it is below the old U, so none is below the new one. Bounds carry
over as well: N + C K >= b U(C) for the old U implies the same for the new one. (Where vertices move, U between them
is known up to rounding only; callers subtract more than that.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hardmargin.frontier import Frontier
from hardmargin.incumbent import Incumbent
from hardmargin.limits import Limits, default_memory
from hardmargin.problem import Problem
from hardmargin.search.engine import LocalEngine, Observer, Search, SearchResult, knowledge_of
from hardmargin.search.roots import direction_root, packing_root
from hardmargin.search.settings import DirectionSettings, PackingSettings
from hardmargin.units import GIGABYTE

# What a hyperplane has to cost less than, relative to the envelope.
_UPPER = 1.0
# Shares of the memory, as in the methods of the same names.
_PATH_SHARE = 0.5
_POOL_SHARE = 0.25


class JointSearch:
    """A search for hyperplanes below an envelope, over directions or over samples.

    Parameters
    ----------
    problem : Problem
        The reduced problem, with costs at the largest C.
    incumbent : Incumbent
        A good hyperplane at some C in the middle.
    limits : Limits
    by_directions : bool
        Whether to search over directions; otherwise over the samples to give up.
    """

    def __init__(self, problem: Problem, incumbent: Incumbent, limits: Limits, *, by_directions: bool) -> None:
        self._problem = problem
        self._limits = limits
        self._engine = LocalEngine()
        self._open: Frontier | SearchResult | None = None
        memory = default_memory(problem.n, problem.m) * GIGABYTE
        threads = limits.threads
        self._settings: DirectionSettings | PackingSettings
        if by_directions:
            self._memory = int((1 - _PATH_SHARE) * memory)
            self._knowledge = None
            self._settings = DirectionSettings(
                gap=limits.gap / 2,
                first_axis=tuple(incumbent.coef.tolist()),
                path_memory=int(_PATH_SHARE * memory / threads),
            )
        else:
            self._memory = int((1 - _POOL_SHARE) * memory)
            self._knowledge = knowledge_of(problem)
            self._settings = PackingSettings(
                gap=limits.gap / 2, pool_memory=int(_POOL_SHARE * memory / (threads + 1))
            )

    def search(
        self, vertices: Sequence[tuple[float, float]], seconds: float, observe: Observer, *, nodes: int, work: int
    ) -> SearchResult:
        """Search below an envelope, which is nowhere above that of the last call, for what is still open.

        Parameters
        ----------
        vertices : sequence of (rate, value)
            C as a multiple of the C of the problem's costs, and the value of the envelope there.
        seconds : float
            Time limit.
        observe : callable
            See :data:`hardmargin.search.engine.Observer`; its bounds are shares of the envelope.
        nodes, work : int
            Numbers of subproblems and of multiply-adds after which to end; 0 means no limit.

        Returns
        -------
        SearchResult
            ``lower_bound`` times the envelope is a lower bound. If there are ``weights``, that hyperplane is below
            the envelope.
        """
        terms = tuple((1 / value, rate) for rate, value in vertices)
        settings = self._settings = replace(self._settings, terms=terms)
        if self._open is None:
            self._open = (
                direction_root(self._problem, settings, _UPPER)
                if isinstance(settings, DirectionSettings)
                else packing_root(self._problem, 0.0, _UPPER)
            )
        search = Search(
            settings,
            _UPPER,
            seconds,
            threads=self._limits.threads,
            memory=self._memory,
            node_limit=nodes,
            work_limit=work,
            knowledge=self._knowledge,
        )
        self._open = self._engine.search(self._problem, self._open, search, observe)
        return self._open
