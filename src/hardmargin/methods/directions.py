"""Branch and bound over hyperplane directions, bounded by matchings of conflicting pairs.

``core/directions/tree.h``, ``core/directions/pair_conflicts.h`` and ``core/directions/region_closing.h`` explain
what a region is and why its bound holds; ``core/tree/search.h`` has the queue of open regions. This module gives
the search its incumbent, whose direction is the middle of the face of the cube that is searched first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hardmargin.arrays import FloatArray
from hardmargin.bounds import Report
from hardmargin.frontier import Frontier, Regions
from hardmargin.incumbent import Incumbent
from hardmargin.limits import Limits
from hardmargin.methods.base import SMALLEST_GAP as SMALLEST_GAP
from hardmargin.methods.base import ProofOptions, memory_of, require_memory_limit, require_room
from hardmargin.problem import Problem
from hardmargin.result import Result
from hardmargin.search.context import Context
from hardmargin.search.engine import SearchResult, frontier_of, numbered, numbers_of, plain_open, restored_open
from hardmargin.search.portfolio import prove_alone
from hardmargin.search.proof import Proof
from hardmargin.search.recording import DirectionRecords, ProofRecorder
from hardmargin.search.roots import direction_axes, direction_root
from hardmargin.search.settings import DirectionSettings
from hardmargin.search.share_decay import ShareDecay
from hardmargin.units import GIGABYTE

HAS_FRONTIER = True
NEEDS_DENSE = True

# Regions of the first search; if it leaves some open, a better incumbent is worth searching for.
_FIRST_NODES = 20_000
# An axis may vary at most this many times as much as its feature.
_TURNED = 30.0
# Share of the memory that all threads together may use for the pairs; the rest is for open regions.
_PATH_SHARE = 0.5
# A search needs the pairs of this many regions at a time: one bit per pair that says whether it conflicts, and 16
# bytes for every 64 pairs as long as none is decided. Unless there are many, it stores a number of 4 bytes for each
# of them.
_LEAST_REGIONS = 3
_BYTES_PER_PAIR = 1 / 8 + 16 / 64
_BYTES_PER_NUMBER = 4
_MOST_BYTES_OF_NUMBERS = 1 << 20
# Subproblems of the final, longer searches over the samples of a region that cannot be split.
_MOST_SAMPLE_NODES = 2_000_000


@dataclass(frozen=True)
class Options(ProofOptions):
    """Settings of the search over hyperplane directions, in addition to those of :class:`ProofOptions`.

    Attributes
    ----------
    memory : float or None
        Gigabytes of open regions and of the pairs on the path to them. If the open regions exceed their part, the
        search goes depth first. None means :func:`hardmargin.limits.default_memory`.
    """

    memory: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        require_memory_limit(self)


def run(
    problem: Problem,
    incumbent: Incumbent | None,
    limits: Limits,
    report: Report,
    options: Options | None = None,
    context: Context | None = None,
) -> Result:
    """Search for a hyperplane and prove it optimal; see :class:`hardmargin.methods.base.Method`."""
    settings = options or Options()
    require_room(problem, "directions", settings, _least_memory(problem, limits.threads))
    return prove_alone(DirectionProof, problem, incumbent, limits, report, settings, context)


def fits(problem: Problem, memory: float, threads: int = 1) -> bool:
    """Whether this many gigabytes have room for the pairs of a region, its parent and its part."""
    return _least_memory(problem, threads) <= memory


def _least_memory(problem: Problem, threads: int) -> float:
    """Gigabytes of which the part that is for pairs holds those of the fewest regions."""
    positives = int(np.count_nonzero(problem.y > 0))
    pairs = positives * (problem.n - positives)
    of_region = _BYTES_PER_PAIR * pairs + min(_BYTES_PER_NUMBER * pairs, _MOST_BYTES_OF_NUMBERS)
    return _LEAST_REGIONS * of_region * threads / _PATH_SHARE / GIGABYTE


def _mirrored(X: FloatArray, coef: FloatArray) -> int:
    """The feature whose axis is replaced by the direction of the best hyperplane.

    Regions have that direction as one axis, and approximately the features' own axes as the others. All other axes
    contain a part of the axis that was replaced. If its feature varies far more than the rest, regions cannot be
    narrow in it without being narrow in all: then another axis should be replaced.
    """
    length = float(np.linalg.norm(coef))
    mirrored = 0
    if length > 0 and len(coef) > 1:
        spreads = np.abs(X - np.median(X, axis=0)).mean(axis=0)
        # Scaling may have reduced a feature to zero: nothing may be divided by its spread.
        spreads = np.maximum(spreads, max(1e-200 * spreads.max(), np.finfo(np.float64).tiny))
        # How much the axis of feature k, turned towards that of feature j, varies relative to its own feature.
        turned = np.abs(coef / length) * (spreads[:, None] / spreads)
        np.fill_diagonal(turned, 0.0)
        worst = turned.max(axis=1)
        mirrored = 0 if worst[0] < _TURNED else int(worst.argmin())
    return mirrored


class DirectionProof(Proof):
    """A proof that carries its open regions from one search to the next."""

    kind = "directions"

    def __init__(
        self,
        problem: Problem,
        found: Result,
        limits: Limits,
        report: Report,
        options: Options,
        context: Context | None = None,
    ) -> None:
        super().__init__(problem, found, limits, report, context)
        self._effort = options.later_effort * options.heuristic_effort
        self._first_nodes = options.first_nodes or _FIRST_NODES
        self.slice = options.slice
        # The records of a proof in a file, if one is wanted.
        self._records: DirectionRecords | None = None
        # What the last search left open; None if the next one starts with all directions.
        self._open: Frontier | SearchResult | None = None
        # The shares of all directions and lengths that were open, and whether what is open now was noted.
        self._decay = ShareDecay()
        self._share_is_noted = False
        memory = memory_of(options, problem) * GIGABYTE
        self.memory = int((1 - _PATH_SHARE) * memory)
        self._settings = DirectionSettings(
            # Half of the requested gap is left for rounding.
            gap=limits.gap / 2,
            first_axis=tuple(self.coef.tolist()),
            mirrored=_mirrored(problem.X, self.coef),
            path_memory=int(_PATH_SHARE * memory / limits.threads),
        )

    def state(self) -> dict[str, Any]:
        """See :class:`Proof`."""
        return {
            **super().state(),
            "axes": {"first_axis": list(self._settings.first_axis), "mirrored": self._settings.mirrored},
            "sample_nodes": self._settings.sample_nodes,
            "open_shares": [list(mark) for mark in self._decay.marks],
            "open": plain_open(self._open),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """See :class:`Proof`."""
        super().restore(state)
        self._settings = replace(
            self._settings,
            first_axis=tuple(state["axes"]["first_axis"]),
            mirrored=state["axes"]["mirrored"],
            sample_nodes=state["sample_nodes"],
        )
        self._decay = ShareDecay((work, share) for work, share in state["open_shares"])
        self._share_is_noted = False
        self._open = restored_open(state["open"])
        if self.context.recorder is not None:
            self._restore_records(self.context.recorder, self.context.recorder.saved[self.kind])

    def recorded(self) -> Any:
        """See :class:`Proof`."""
        return {
            "records": None if self._records is None else self._records.state(),
            "numbers": numbers_of(self._open),
        }

    def _restore_records(self, recorder: ProofRecorder, recorded: dict[str, Any]) -> None:
        """The inverse of :meth:`recorded`."""
        if recorded["records"] is not None:
            self._records = DirectionRecords.resumed(recorder, self.problem, recorded["records"])
        if self._open is not None:
            self._open = numbered(self.problem, self.kind, frontier_of(self._open), recorded["numbers"])

    def remaining_work(self) -> float:
        """See :class:`Proof`."""
        if not self._share_is_noted and self._decay.marks:
            self._note_share()
        return self._decay.remaining_work()

    def _note_share(self) -> None:
        """Note the open share, which takes a while: there may be millions of regions."""
        self._decay.note(self.work, Regions.open_share(plain_open(self._open) or Frontier.empty()))
        self._share_is_noted = True

    def steps(self) -> Iterator[None]:
        """See :class:`Proof`."""
        if self.problem.m == 0:
            self._give_up_a_class()
        while self.nodes < self._first_nodes and not (self.finished or self.stuck):
            self._go_on(nodes=self._first_nodes - self.nodes)
            yield
        if not self.stuck:
            self.improve(self._effort)
        while not (self.finished or self.stuck):
            self._go_on()
            yield

    def _give_up_a_class(self) -> None:
        """Without features there are no directions: w = 0 is all there is, and the cheaper class is given up."""
        positives, negatives = (float(self.problem.costs[self.problem.y == label].sum()) for label in (1, -1))
        objective = min(positives, negatives)
        # Half of the gap asked for is left to rounding.
        bound = objective * (1 - self._settings.gap)
        self.learn(Incumbent(np.zeros(0), 1.0 if positives >= negatives else -1.0), objective, bound)
        self.watch.report(self.objective, self.lower_bound, self.all_nodes)

    @property
    def _certain_cost(self) -> float:
        """What a sample costs at least if every hyperplane that is searched for keeps it."""
        return self.objective

    def _has_same_samples(self, records: DirectionRecords) -> bool:
        """See :class:`Proof`."""
        return records.fit(self._certain_cost)

    def _go_on(self, nodes: int | None = None) -> None:
        """Search the open regions until ``nodes`` of them and their parts have been examined."""
        if self._open is None:
            self._open = direction_root(self.problem, self._settings, self.objective)
            if self.context.recorder is not None:
                axes = direction_axes(self.problem, self._settings)
                self._records = DirectionRecords(self.context.recorder, self.problem, axes, self._certain_cost)
        if self._records is not None and not self._has_same_samples(self._records):
            self._records.drop()
            self._records = None
        self._open = self.search(self._open, self._settings, self.objective, nodes=nodes, records=self._records)
        if self._records is not None:
            self._records.mark()
            if self._open.exhausted and frontier_of(self._open).size == 0:
                self._records.complete(self._open.lower_bound)
                self._records = None
        self._share_is_noted = False
        if not self._decay.marks:
            self._note_share()
        if self._open.exhausted and not self.proven:
            # What is left cannot be split any further, and was not closed by searching over its samples: either
            # that search was too short, or rounding errors prevent it.
            sample_nodes = self._settings.sample_nodes
            self.stuck = sample_nodes >= _MOST_SAMPLE_NODES
            self._settings = replace(self._settings, sample_nodes=10 * sample_nodes)
            if self._records is None:
                self._open = plain_open(self._open)
