"""CB-SVM-HML: combinatorial Benders' cuts, by Santana, Serrano, Schiffer and Vidal.

Step 1 finds a first hyperplane from the hinge loss, and with it a bound on the weights of every better one. Step 2
collects cuts: sets of samples that no hyperplane within that bound keeps together. It finds them by branch and cut
on the set-cover problem over them, first for random subsets of the samples, then for all. Step 3 solves Brooks'
model with these cuts and bounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from hardmargin.bounds import Report
from hardmargin.incumbent import Incumbent
from hardmargin.limits import Limits
from hardmargin.literature.benders_cuts import CutCollector
from hardmargin.literature.mip_proof import MipProof
from hardmargin.literature.presets import benders_preset
from hardmargin.methods.base import require_choice, require_flags
from hardmargin.mip import get_backend
from hardmargin.mip.base import SMALLEST_GAP as SMALLEST_GAP
from hardmargin.mip.base import IndicatorModel
from hardmargin.problem import Problem
from hardmargin.result import Result
from hardmargin.validation import is_real, is_whole

# The largest value of cuts_per_round; anything above it would be no limit.
_MOST_CUTS = 1_000_000


HAS_FRONTIER = False
NEEDS_DENSE = True
CERTIFIED = False


@dataclass(frozen=True)
class Options:
    """Settings of CB-SVM-HML.

    Attributes
    ----------
    backend : str
        "scip" or "cplex".
    T_S, T_B : float
        Shares of the time limit for the sampling phase and for the full phase of step 2; together below 1. The
        paper uses 0.05 for both. Without a time limit they are shares of its 600 s.
    subset_size : int or None
        Samples in a subset of the sampling phase; None means min(n / 2, 50).
    stratified : bool
        Whether subsets have the same class proportions as all samples.
    weight_bound : str
        The bound on the weights, from the objective Phi of step 1: "text" is 2 sqrt(Phi), as in the paper's
        text; "code" is sqrt(2 Phi), as in its authors' code; "tightened" is sqrt(2 (Phi - V)) with V the proven
        cost of violations.
    region : str
        The weights for which cuts hold: "box" bounds each of them, as in the paper, "ball" bounds their length.
    sampling_region : str
        The same for the sampling phase: "unbounded" gives cuts that do not depend on the bound, as in the
        authors' code, "bounded" those of `region`, as in the text.
    subset_bounds : bool
        Whether the bounds of the subsets' problems become cuts too, as in the authors' code.
    cuts_per_round : int
        Cuts that are added between two solutions of the relaxation, which have no sample in common; 1 as in the
        paper, 0 for as many as are found.
    cut_use : str or None
        How step 3 gets the cuts: "initial" as rows, "removable" as rows that the solver may drop from its
        relaxation, "lazy" when they are violated, "tight" as rows if they are tight in the relaxation of the cover
        problem and lazily otherwise; None chooses what suits the back end. The community edition of CPLEX accepts
        1000 constraints. Tight cuts beyond that are lazy; of "initial" and "removable" ones the most useful are
        kept, and a warning says how many were left out.
    tuned : bool
        False leaves the solver's default settings in step 3.
    presolve : bool
        Whether to reduce the problem first, as the other methods do.
    heuristic : bool
        Whether to start from our own primal search instead of the hinge loss.
    """

    backend: str = "scip"
    T_S: float = 0.05
    T_B: float = 0.05
    subset_size: int | None = None
    stratified: bool = True
    weight_bound: Literal["text", "code", "tightened"] = "tightened"
    region: Literal["box", "ball"] = "ball"
    sampling_region: Literal["unbounded", "bounded"] = "bounded"
    subset_bounds: bool = True
    cuts_per_round: int = 0
    cut_use: Literal["initial", "removable", "lazy", "tight"] | None = None
    tuned: bool = True
    presolve: bool = False
    heuristic: bool = False

    preset = staticmethod(benders_preset)

    def __post_init__(self) -> None:
        get_backend(self.backend)
        require_flags(self, "stratified", "subset_bounds", "tuned", "presolve", "heuristic")
        require_choice(self, "weight_bound", "text", "code", "tightened")
        require_choice(self, "region", "box", "ball")
        require_choice(self, "sampling_region", "unbounded", "bounded")
        if self.cut_use is not None:
            require_choice(self, "cut_use", "initial", "removable", "lazy", "tight")
        for name in ("T_S", "T_B"):
            share = getattr(self, name)
            if not is_real(share) or not 0 <= share < 1:
                raise ValueError(f"{name} is {share!r}; expected a share of the time limit, from 0 to below 1.")
        if self.T_S + self.T_B >= 1:
            raise ValueError(
                f"T_S + T_B is {self.T_S + self.T_B:g}; expected less than 1, to leave time for step 3."
            )
        size = self.subset_size
        if size is not None and (not is_whole(size) or size < 2):
            raise ValueError(f"subset_size is {size!r}; expected a whole number >= 2, or None.")
        count = self.cuts_per_round
        if not is_whole(count) or not 0 <= count <= _MOST_CUTS:
            raise ValueError(
                f"cuts_per_round is {count!r}; expected a whole number up to {_MOST_CUTS}, 0 for no limit."
            )


def run(
    problem: Problem, incumbent: Incumbent | None, limits: Limits, report: Report, options: Options | None = None
) -> Result:
    """Run the three steps; see :class:`hardmargin.methods.base.Method`."""
    options = options or Options()
    backend = get_backend(options.backend)
    # Step 3 would refuse the problem, but only after all the time of step 2.
    backend.check_size(problem)
    proof = MipProof(problem, limits, report, "benders")
    if incumbent is not None:
        proof.offer(incumbent)
    if options.heuristic:
        proof.start_from_heuristic()
    else:
        proof.start_from_hinge_loss()
    collector = CutCollector(problem, proof, backend, options)
    # If all samples can be kept, the authors skip this.
    if not proof.finished and not proof.separable:
        collector.sample()
        collector.cover_all()
    if not proof.finished:
        model = IndicatorModel(
            problem,
            box=collector.weight_bound,
            cuts=collector.cuts,
            cut_use=options.cut_use or backend.CUT_USE,
            start=proof.incumbent,
            tuned=options.tuned,
        )
        proof.solve_indicator(options.backend, model)
    return proof.result()
