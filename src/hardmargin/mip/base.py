"""The two models that the paper's methods consist of, and what a solver must do with them.

The indicator model (equations BC-second of the paper, without cuts and box Brooks' model) is

    min 1/2 ||w||^2 + sum_i costs_i z_i   with   z_i = 0  =>  y_i (w.x_i + b) >= 1,   |w_j| <= box,   cuts,

and the cover model, the Benders master problem,

    min sum_i costs_i z_i   with cuts that are found while it is solved.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np

from hardmargin.arrays import FloatArray
from hardmargin.incumbent import Incumbent
from hardmargin.problem import Problem

#: The solvers' tolerance on constraints and on integrality, the smallest that both accept.
FEASIBILITY = 1e-9

#: The smallest relative gap that these methods claim.
SMALLEST_GAP = 1e-5

# Subtracted from a solver's bound, relatively: more than its tolerances can amount to on data of common scale.
_BOUND_ALLOWANCE = 1e-6

# Objectives of models are multiplied by a factor if costs are outside this range, because tolerances are absolute.
_SMALLEST_COST = 1e-3
_LARGEST_COST = 1e6

# How much the sizes of samples, the widths of features and the costs may differ so that a solver's tolerances are
# negligible, and which costs are allowed if the features are of the order of 1.
_LARGEST_RANGE = 1e3
_LARGEST_COST_RANGE = 1e6
_BELIEVED_COSTS = (1e-6, 1e7)


class Cut(NamedTuple):
    """sum of ``factors[k] * z[members[k]]`` is at least ``bound``."""

    members: tuple[int, ...]
    factors: tuple[float, ...]
    bound: float

    @classmethod
    def of(cls, members: Sequence[int]) -> Cut:
        """At least one of these samples is violated."""
        return cls(tuple(members), (1.0,) * len(members), 1.0)


class Separator(Protocol):
    """Finds cuts."""

    def __call__(self, values: FloatArray) -> list[Cut]:
        """Cuts that a point violates, which may be fractional."""


@dataclass(frozen=True)
class IndicatorModel:
    """The indicator model, and how the solver gets it.

    Attributes
    ----------
    problem : Problem
    box : float or None
        Bound on every |w_j|.
    cuts : sequence of Cut
    cut_use : str
        "initial": rows from the start; "removable": rows that the solver may drop from its relaxation; "lazy": rows
        that it gets when they are violated; "tight": rows from the start if they are tight in the relaxation of the
        cover model, otherwise lazy. A solver that accepts only a limited number of rows gets the most useful ones;
        see :func:`hardmargin.mip.cuts.split_cuts`.
    start : Incumbent or None
        A hyperplane to start from.
    tuned : bool
        Whether to use the best settings and form of the model found for this solver, or the plain ones.
    """

    problem: Problem
    box: float | None = None
    cuts: Sequence[Cut] = ()
    cut_use: str = "initial"
    start: Incumbent | None = None
    tuned: bool = True


@dataclass(frozen=True)
class CoverModel:
    """The cover model.

    Attributes
    ----------
    costs : ndarray
        Of the variables.
    cuts : sequence of Cut
        The cuts known in advance.
    separate : Separator
        Finds more.
    limits : ndarray or None
        Upper bounds of the variables, 1 or 0; None if all are 1.
    """

    costs: FloatArray
    cuts: Sequence[Cut]
    separate: Separator
    limits: FloatArray | None = None


@dataclass
class Answer:
    """What a solver reports, at the end and on the way there.

    Attributes
    ----------
    upper, lower : float
        Its own bounds.
    nodes : int
    ended : bool
        Whether this is the final answer.
    hyperplane : Incumbent or None
        For the indicator model: the solver's solution.
    note : str
        What the user should know about the model that is solved, if it differs from the requested one.
    """

    upper: float = float("inf")
    lower: float = 0.0
    nodes: int = 0
    ended: bool = False
    hyperplane: Incumbent | None = field(default=None, repr=False)
    note: str = ""


@dataclass(frozen=True)
class SolverLimits:
    """When a solver must stop.

    Attributes
    ----------
    seconds : float
    gap : float
        Relative gap at which it may stop.
    threads : int
    seed : int
    node_limit : int or None
    observe : callable or None
        ``observe(answer)``, called several times per second; False ends the solve. For the cover model it is called
        from the caller's thread.
    """

    seconds: float
    gap: float
    threads: int
    seed: int
    node_limit: int | None
    observe: Callable[[Answer], bool] | None = None


@dataclass(frozen=True)
class Refusal:
    """Why a back end refuses a model."""

    text: str


class Backend(Protocol):
    """A module of this folder.

    Attributes
    ----------
    CUT_USE : str
        How the indicator model's cuts are best passed to the solver.
    """

    CUT_USE: str

    def check_size(self, problem: Problem) -> None:
        """Check that the indicator model of a problem is not too large for the solver, even without cuts.

        Raises
        ------
        ValueError
            If it is.
        """

    def solve_indicator(self, model: IndicatorModel, limits: SolverLimits) -> Answer:
        """Solve the indicator model."""

    def solve_cover(self, model: CoverModel, limits: SolverLimits) -> Answer:
        """Solve the cover model by branch and cut."""


def within_tolerances(problem: Problem) -> bool:
    """Whether a solver's tolerances are small beside a problem's numbers, so that its bounds can be trusted."""
    sizes = np.abs(problem.X).max(axis=1, initial=0.0)
    sizes = sizes[sizes > 0]
    if len(sizes) == 0:
        return True
    widths = np.ptp(problem.X, axis=0)
    typical = float(np.median(sizes))
    natural_costs = (problem.costs if problem.trusted is None else problem.costs[~problem.trusted]) * typical**2
    if len(natural_costs) == 0:
        return True
    least, most = _BELIEVED_COSTS
    return bool(
        sizes.max() <= _LARGEST_RANGE * typical
        and widths.max() <= _LARGEST_RANGE * widths[widths > 0].min(initial=np.inf)
        and natural_costs.max() <= _LARGEST_COST_RANGE * natural_costs.min()
        and least <= natural_costs.min()
        and natural_costs.max() <= most
    )


def weight_ranges(model: IndicatorModel) -> tuple[FloatArray, FloatArray]:
    """The lower and the upper bounds of the variables of the weights: the model's box, and those of the problem."""
    box = np.inf if model.box is None else model.box
    lower, upper = np.full(model.problem.m, -box), np.full(model.problem.m, box)
    bounds = model.problem.bounds
    return (lower, upper) if bounds is None else (np.maximum(lower, bounds.lower), np.minimum(upper, bounds.upper))


def costs_and_limits(problem: Problem) -> tuple[FloatArray, FloatArray]:
    """The cost of each binary variable, and its upper bound: those of trusted samples are fixed at 0.

    The cost of a trusted sample, which is larger than all others, would only strain the solver's tolerances.
    """
    if problem.trusted is None:
        return problem.costs, np.ones(problem.n)
    return np.where(problem.trusted, 0.0, problem.costs), np.where(problem.trusted, 0.0, 1.0)


def objective_factor(costs: FloatArray) -> float:
    """The factor by which the objective of a model with these costs is multiplied before a solver gets it."""
    typical = float(np.median(costs[costs > 0])) if costs.any() else 1.0
    return 1.0 if _SMALLEST_COST <= typical <= _LARGEST_COST else 1 / typical


def safe_bound(solvers_bound: float) -> float:
    """A solver's lower bound, minus what its tolerances may have added to it."""
    return max(0.0, solvers_bound * (1 - _BOUND_ALLOWANCE))
