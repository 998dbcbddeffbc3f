"""Settings of the core's searches as plain, typed data. Their defaults are those of the core."""

from __future__ import annotations

from dataclasses import dataclass

from hardmargin import _core
from hardmargin.budget import NO_BUDGET, Budget

_PACKING = _core.PackingOptions()
_DIRECTIONS = _core.DirectionOptions()


@dataclass(frozen=True)
class PackingSettings:
    """How a search over samples bounds its subproblems and branches on them.

    Attributes
    ----------
    gap : float
        By which share of the incumbent's objective a solution must be better to count.
    cover_distance : float or None
        The distance between bound and incumbent, in samples, from which the cover bound is used; None: where it
        pays off.
    pool_memory : int
        Bytes of certified sets, in each thread and once more for all of them.
    terms : tuple of (scale, rate)
        The search minimises the smallest of scale * (norm + rate * cost); by default norm + cost.
    budget : Budget
        Limits on the costs that may be given up, instead of their price; the search then needs a finite objective
        to begin with.
    """

    gap: float = _PACKING.gap
    cover_distance: float | None = _PACKING.cover_distance
    pool_memory: int = _PACKING.pool_memory
    terms: tuple[tuple[float, float], ...] = tuple(_PACKING.terms)
    budget: Budget = NO_BUDGET

    def options(
        self,
        knowledge: _core.PackingKnowledge | None = None,
        proof: _core.ProofSink | None = None,
        proof_number: int = 0,
    ) -> _core.PackingOptions:
        """The same for the core, with what it has learnt in earlier searches over the same samples.

        It writes the records of a proof, if one is wanted; the root of the search has this number in it.
        """
        options = _core.PackingOptions()
        options.gap = self.gap
        options.cover_distance = self.cover_distance
        options.pool_memory = self.pool_memory
        options.terms = list(self.terms)
        options.budget = _core_budget(self.budget)
        options.knowledge = knowledge
        options.proof = proof
        options.proof_number = proof_number
        return options


@dataclass(frozen=True)
class DirectionSettings:
    """How a search over directions bounds its regions and splits them.

    Attributes
    ----------
    gap : float
        By which share of the incumbent's objective a solution must be better to count.
    first_axis : tuple of float
        The middle of the face of the cube that is searched first; without numbers the first feature's axis.
    mirrored : int
        The feature whose axis is replaced by it.
    path_memory : int
        Bytes of the regions on the path to the current one, in each thread.
    sample_nodes : int
        Subproblems of a search over the samples of one region that cannot be split.
    terms : tuple of (scale, rate)
        The search minimises the smallest of scale * (norm + rate * cost); by default norm + cost.
    budget : Budget
        A limit on what may be given up in total, instead of its price; the search then needs a finite objective to
        begin with. Regions close early if samples cost more than that.
    """

    gap: float = _DIRECTIONS.gap
    first_axis: tuple[float, ...] = ()
    mirrored: int = _DIRECTIONS.mirrored
    path_memory: int = _DIRECTIONS.path_memory
    sample_nodes: int = _DIRECTIONS.sample_nodes
    terms: tuple[tuple[float, float], ...] = tuple(_DIRECTIONS.terms)
    budget: Budget = NO_BUDGET

    def options(self, proof: _core.ProofSink | None = None) -> _core.DirectionOptions:
        """The same for the core, which writes the records of a proof, if one is wanted."""
        options = _core.DirectionOptions()
        options.gap = self.gap
        options.first_axis = list(self.first_axis)
        options.mirrored = self.mirrored
        options.path_memory = self.path_memory
        options.sample_nodes = self.sample_nodes
        options.terms = list(self.terms)
        options.budget = _core_budget(self.budget)
        options.proof = proof
        return options


def _core_budget(budget: Budget) -> _core.Budget:
    limits = _core.Budget()
    limits.negatives, limits.positives, limits.total = budget.negatives, budget.positives, budget.total
    return limits


#: The settings of either search.
Settings = PackingSettings | DirectionSettings
