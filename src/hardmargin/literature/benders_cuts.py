"""Step 2 of CB-SVM-HML: cuts from random subsets of the samples, then from all of them."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hardmargin import _core
from hardmargin.arrays import FloatArray
from hardmargin.literature.mip_proof import MipProof
from hardmargin.mip.base import (
    Answer,
    Backend,
    CoverModel,
    Cut,
    Separator,
    SolverLimits,
    costs_and_limits,
    safe_bound,
)
from hardmargin.problem import Problem

# Values of the relaxation below this count as zero, as in the authors' code.
_ZERO = 1e-3
# The paper's time limit, used for the shares if there is no limit.
_REFERENCE_SECONDS = 600.0
_LARGEST_SUBSET = 50
# The smallest number of violations for which the bound of a subset becomes a cut.
_SMALLEST_SUBSET_BOUND = 2
# A bound that exceeds a whole number of violations by less than this counts as that number.
_WHOLE = 1e-4
# Sampling ends early if this many subsets in a row have brought nothing new.
_PATIENCE = 30
# The bound on the weights is enlarged by this, relatively, so that rounding cannot make it wrong.
_WEIGHT_ALLOWANCE = 1e-6

Rows = NDArray[np.intp]


class CutOptions(Protocol):
    """The options of the method ``benders`` that step 2 depends on."""

    @property
    def T_S(self) -> float: ...  # noqa: N802
    @property
    def T_B(self) -> float: ...  # noqa: N802
    @property
    def subset_size(self) -> int | None: ...
    @property
    def stratified(self) -> bool: ...
    @property
    def weight_bound(self) -> str: ...
    @property
    def region(self) -> str: ...
    @property
    def sampling_region(self) -> str: ...
    @property
    def subset_bounds(self) -> bool: ...
    @property
    def cuts_per_round(self) -> int: ...


class CutCollector:
    """The cuts found so far.

    Attributes
    ----------
    cuts : list of Cut
        In the order in which they were found, without repetition.
    """

    def __init__(self, problem: Problem, proof: MipProof, backend: Backend, options: CutOptions) -> None:
        self._problem = problem
        self._proof = proof
        self._backend = backend
        self._options = options
        self._random = np.random.default_rng(proof.limits.seed)
        self._proven_cost = 0.0
        self._believed = True
        self._cuts: dict[Cut, None] = {}

    @property
    def cuts(self) -> list[Cut]:
        """The cuts."""
        return list(self._cuts)

    @property
    def weight_bound(self) -> float:
        """W_UB: an upper bound on the weights of every hyperplane that is at least as good as the incumbent."""
        objective = self._proof.objective
        squared = {
            "text": 4 * objective,
            "code": 2 * objective,
            "tightened": 2 * (objective - self._proven_cost),
        }[self._options.weight_bound]
        return math.sqrt(max(squared, _WEIGHT_ALLOWANCE * objective)) * (1 + _WEIGHT_ALLOWANCE)

    def sample(self) -> None:
        """The sampling phase: one subset after the other, until the time is up or they bring nothing new."""
        deadline = self._deadline(self._options.T_S)
        useless = 0
        while time.monotonic() < deadline and useless < _PATIENCE and not self._proof.finished:
            rows = self._subset()
            seconds = deadline - time.monotonic()
            bound, found = self._cover(rows, [], self._sampling_region, max(0.0, seconds))
            # Before starting anything else, because the user may have asked to stop.
            self._proof.note_end()
            if not self._prove(bound):
                return
            useless = useless + 1 if found.keys() <= self._cuts.keys() else 0
            self._cuts.update(found)
            self._add_subset_bound(rows, safe_bound(bound))

    def cover_all(self) -> None:
        """The full phase: all samples, starting with the cuts known so far."""
        deadline = self._deadline(self._options.T_B)
        seconds = deadline - time.monotonic()
        if seconds <= 0 or self._proof.finished or not self._believed:
            return
        rows = np.arange(self._problem.n)
        bound, found = self._cover(rows, self.cuts, self._region, seconds)
        if self._prove(bound):
            self._cuts.update(found)
        self._proof.note_end()

    @property
    def _region(self) -> _core.WeightRegion:
        return _core.WeightRegion.ball if self._options.region == "ball" else _core.WeightRegion.box

    @property
    def _sampling_region(self) -> _core.WeightRegion:
        unbounded = self._options.sampling_region == "unbounded"
        return _core.WeightRegion.unbounded if unbounded else self._region

    def _deadline(self, share: float) -> float:
        limits = self._proof.limits
        whole = limits.time_limit if math.isfinite(limits.time_limit) else _REFERENCE_SECONDS
        return time.monotonic() + min(share * whole, limits.remaining())

    def _subset(self) -> Rows:
        """Random rows in ascending order."""
        problem, options = self._problem, self._options
        size = options.subset_size or max(2, min(problem.n // 2, _LARGEST_SUBSET))
        size = min(size, problem.n)
        if not options.stratified:
            return np.sort(self._random.permutation(problem.n)[:size])
        negative, positive = np.flatnonzero(problem.y < 0), np.flatnonzero(problem.y > 0)
        share = round(size * len(negative) / problem.n)
        count = min(max(share, 1, size - len(positive)), len(negative), size - 1)
        chosen = [self._random.permutation(negative)[:count], self._random.permutation(positive)[: size - count]]
        return np.sort(np.concatenate(chosen))

    def _cover(
        self, rows: Rows, known: list[Cut], region: _core.WeightRegion, seconds: float
    ) -> tuple[float, dict[Cut, None]]:
        """Branch and cut on the cover model of some samples: the solver's bound, and cuts on the problem's rows."""
        problem = self._problem
        oracle = _core.CutOracle(
            np.ascontiguousarray(problem.X[rows]),
            np.ascontiguousarray(problem.y[rows]),
            region,
            self.weight_bound,
        )
        found: dict[Cut, None] = {}
        costs, largest = costs_and_limits(problem)
        model = CoverModel(costs[rows], known, self._separator(oracle, rows, found), largest[rows])
        limits = _stopping(oracle, self._proof.solver_limits(seconds))
        answer = self._backend.solve_cover(model, limits)
        self._proof.nodes += answer.nodes
        return answer.lower, found

    def _separator(self, oracle: _core.CutOracle, rows: Rows, found: dict[Cut, None]) -> Separator:
        names = rows.tolist()

        def separate(values: FloatArray) -> list[Cut]:
            sets, _ = oracle.separate(values, _ZERO, self._options.cuts_per_round)
            found.update((Cut.of([names[i] for i in members]), None) for members in sets)
            return [Cut.of(members) for members in sets]

        return separate

    def _add_subset_bound(self, rows: Rows, bound: float) -> None:
        costs, largest = (values[rows] for values in costs_and_limits(self._problem))
        if not largest.any():
            return
        cheapest = float(costs[largest > 0].min())
        # What the variables of trusted samples are multiplied by does not matter: they are fixed at 0.
        costs = np.where(largest > 0, costs, cheapest)
        equal = cheapest == float(costs.max())
        # A whole number of violations, if they all cost the same.
        needed = math.ceil(bound / cheapest - _WHOLE) if equal else bound / cheapest
        if self._options.subset_bounds and needed >= _SMALLEST_SUBSET_BOUND:
            factors = (costs / cheapest).tolist()
            self._cuts[Cut(tuple(rows.tolist()), tuple(factors), float(needed))] = None

    def _prove(self, solvers_bound: float) -> bool:
        """Remember a lower bound on the cost of violations of every hyperplane that is at least as good.

        False if that is impossible: then nothing that was collected is trusted.
        """
        if not self._proof.claim(solvers_bound):
            self._cuts.clear()
            self._proven_cost = 0.0
            self._believed = False
            return False
        # Not the proof's own bound, which may include the weights.
        self._proven_cost = max(self._proven_cost, min(self._proof.believed(solvers_bound), self._proof.objective))
        return True


def _stopping(oracle: _core.CutOracle, limits: SolverLimits) -> SolverLimits:
    """The limits of a solver, which also stop the search for cuts: with many samples a round of it takes long."""
    deadline, observe = time.monotonic() + limits.seconds, limits.observe

    def observed(answer: Answer) -> bool:
        go_on = observe is None or observe(answer)
        if not go_on or time.monotonic() > deadline:
            oracle.stop()
        return go_on

    return replace(limits, observe=observed)
