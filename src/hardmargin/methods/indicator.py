"""The model of Brooks (2011): a mixed-integer quadratic program with indicator constraints.

The solver does all the work; this module hands it the model and checks its answer.
"""

from __future__ import annotations

from dataclasses import dataclass

from hardmargin.bounds import Report
from hardmargin.incumbent import Incumbent
from hardmargin.limits import Limits
from hardmargin.literature.mip_proof import MipProof
from hardmargin.literature.presets import indicator_preset
from hardmargin.methods.base import require_flags
from hardmargin.mip import get_backend
from hardmargin.mip.base import SMALLEST_GAP as SMALLEST_GAP
from hardmargin.mip.base import IndicatorModel
from hardmargin.problem import Problem
from hardmargin.result import Result

HAS_FRONTIER = False
NEEDS_DENSE = True
CERTIFIED = False


@dataclass(frozen=True)
class Options:
    """Settings of Brooks' model.

    Attributes
    ----------
    backend : str
        "scip" or "cplex".
    tuned : bool
        False leaves the solver's default settings and the plain model; True uses what was found best.
    presolve : bool
        Whether to reduce the problem first, as the other methods do.
    heuristic : bool
        Whether to start from our own primal search.
    """

    backend: str = "scip"
    tuned: bool = True
    presolve: bool = False
    heuristic: bool = False

    preset = staticmethod(indicator_preset)

    def __post_init__(self) -> None:
        get_backend(self.backend)
        require_flags(self, "tuned", "presolve", "heuristic")


def run(
    problem: Problem, incumbent: Incumbent | None, limits: Limits, report: Report, options: Options | None = None
) -> Result:
    """Solve Brooks' model; see :class:`hardmargin.methods.base.Method`."""
    options = options or Options()
    proof = MipProof(problem, limits, report, "indicator")
    start = incumbent
    if incumbent is not None:
        proof.offer(incumbent)
    if options.heuristic:
        proof.start_from_heuristic()
        start = proof.incumbent
    if not proof.finished:
        proof.solve_indicator(options.backend, IndicatorModel(problem, start=start, tuned=options.tuned))
    return proof.result()
