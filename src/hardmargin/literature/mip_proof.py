"""What the methods that use integer programming solvers share: turning the solver's bounds into ours."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from hardmargin import _core
from hardmargin.bounds import Report
from hardmargin.incumbent import Incumbent
from hardmargin.limits import Limits
from hardmargin.mip import process
from hardmargin.mip.base import Answer, IndicatorModel, SolverLimits, safe_bound, within_tolerances
from hardmargin.problem import Problem
from hardmargin.result import Result
from hardmargin.search import primal
from hardmargin.search.proof import Proof
from hardmargin.status import Status

# A solver's solution keeps the samples whose margins miss 1 by less than this.
_KEPT = 1e-6
# Relative accuracy of the hinge-loss solution, and the slack up to which it counts a sample as kept.
_HINGE_TOLERANCE = 1e-10
_SLACK = 1e-5
# A solver gets this share of the requested gap; the rest is for its tolerances.
_GAP_SHARE = 0.25
# Effort and time limit, in seconds, of the primal search that tests a bound.
_TEST_EFFORT = 0.05
_TEST_SECONDS = 0.3
# If a solver's bound exceeds the objective of a hyperplane by more than this, relatively, it is wrong.
_CONTRADICTION = 1e-6


class MipProof(Proof):
    """A proof by an integer programming solver."""

    def __init__(self, problem: Problem, limits: Limits, report: Report, method: str) -> None:
        super().__init__(problem, _flat(problem, limits, method), limits, report)
        self.kind = method
        self._believes = within_tolerances(problem)
        self._noted = ""
        if not self._believes:
            warnings.warn(
                "the sizes of samples, features or costs are so far apart that a solver's tolerances could decide; "
                "its bounds are not used. method='auto' has no such limits.",
                RuntimeWarning,
                stacklevel=2,
            )

    def solve_indicator(self, backend: str, model: IndicatorModel) -> None:
        """Let a solver solve the whole problem."""
        answer = process.solve_indicator(backend, model, self.solver_limits(self.limits.remaining()))
        if answer.hyperplane is not None:
            self.offer(answer.hyperplane)
        self._pass_on_note(answer)
        self.nodes += answer.nodes
        self.claim(answer.lower)
        self.note_end()

    def solver_limits(self, seconds: float) -> SolverLimits:
        """Limits for a solver that may take this many seconds."""
        return SolverLimits(
            seconds=seconds,
            gap=_GAP_SHARE * self.limits.gap,
            threads=self.limits.threads,
            seed=self.limits.seed,
            node_limit=None if self.limits.node_limit is None else self.nodes_allowed(),
            observe=self._observe_solver,
        )

    def believed(self, solvers_bound: float) -> float:
        """A solver's bound minus its tolerances; 0 if its bounds cannot be trusted."""
        return safe_bound(solvers_bound) if self._believes else 0.0

    def claim(self, solvers_bound: float) -> bool:
        """Use a solver's bound, minus its tolerances; False if a hyperplane is better than it allows.

        Then the bound is wrong, and earlier claims of the solver may be too, so no bound is left.
        """
        bound = self.believed(solvers_bound)
        if bound > self.objective * (1 + _CONTRADICTION):
            self._disbelieve(self.objective)
            return False
        self.lower_bound = max(self.lower_bound, min(bound, self.objective))
        self.watch.report(self.objective, self.lower_bound, self.nodes)
        return True

    def result(self) -> Result:
        """The best hyperplane, with the best bound if that passes a test by our own primal search.

        The search only looks for a hyperplane that contradicts the bound; the answer remains the solver's.
        """
        if self.lower_bound > 0:
            limits = replace(self.limits, time_limit=self.limits.elapsed() + _TEST_SECONDS)
            found = primal.search(self.problem, None, limits, lambda *_: None, _TEST_EFFORT)
            if found.objective < self.lower_bound:
                self._disbelieve(found.objective)
        return super().result()

    def _disbelieve(self, objective: float) -> None:
        warnings.warn(
            f"the solver claims a lower bound of {self.lower_bound:g} or more, but a hyperplane costs "
            f"{objective:g}; the solver's bounds are not used.",
            RuntimeWarning,
            stacklevel=3,
        )
        self._believes = False
        self.lower_bound = 0.0

    def note_end(self) -> None:
        """Remember whether the time limit or the user ended the last phase."""
        self.watch.take_note(None)

    def offer(self, hyperplane: Incumbent) -> None:
        """Use a hyperplane, or the shortest one that keeps the same samples, if it is better than the incumbent."""
        margins = self.problem.evaluate(hyperplane.coef, hyperplane.intercept).margins
        self.offer_kept(np.flatnonzero(margins >= 1 - _KEPT))
        self._take(hyperplane)

    def offer_kept(self, kept: NDArray[np.intp]) -> None:
        """Use the shortest hyperplane that keeps these samples, if it is better than the incumbent."""
        shortest = self._shortest(kept)
        if shortest is not None:
            keeps = np.zeros(self.problem.n, dtype=bool)
            keeps[kept] = True
            self._take(Incumbent(*self.problem.fitted(*shortest, keeps)))

    def start_from_hinge_loss(self) -> None:
        """Step 1 of the paper: give up the samples inside the margin of the hinge-loss solution, keep the rest."""
        problem = self.problem
        coef, intercept, outcome = _core.soft_margin(
            problem.X, problem.y, problem.costs, _HINGE_TOLERANCE, self.limits.remaining(), self.observe
        )
        self.watch.take_note(outcome)
        margins = problem.evaluate(coef, intercept).margins
        self.offer_kept(np.flatnonzero(margins >= 1 - _SLACK))

    def start_from_heuristic(self) -> None:
        """Use our own primal search, which is not part of these methods."""
        self.improve(primal.DEFAULT_EFFORT)

    @property
    def separable(self) -> bool:
        """Whether some hyperplane keeps all samples."""
        return self._shortest(np.arange(self.problem.n)) is not None

    def _shortest(self, kept: NDArray[np.intp]) -> Incumbent | None:
        """The shortest hyperplane that keeps these samples, if there is one."""
        solver = _core.MaxMargin(self.problem.X, self.problem.y, self.problem.core_bounds)
        for row in kept.tolist():
            solver.enable(row)
        if solver.solve() is not _core.MaxMarginStatus.optimal:
            return None
        return Incumbent(np.array(solver.weights), solver.bias)

    def _take(self, hyperplane: Incumbent) -> None:
        self.learn(hyperplane, self.problem.evaluate(*hyperplane).objective)

    def _pass_on_note(self, answer: Answer) -> None:
        """Show the note of a solver's answer as a warning, once."""
        if answer.note and answer.note != self._noted:
            self._noted = answer.note
            warnings.warn(answer.note, RuntimeWarning, stacklevel=3)

    def _observe_solver(self, answer: Answer) -> bool:
        self._pass_on_note(answer)
        upper = min(self.objective, answer.upper) if answer.hyperplane is not None else self.objective
        lower = max(self.lower_bound, min(self.believed(answer.lower), upper))
        return self.watch.report(upper, lower, self.nodes + answer.nodes)


def _flat(problem: Problem, limits: Limits, method: str) -> Result:
    """The hyperplane w = 0, which gives up the cheaper class."""
    flat = np.zeros(problem.m)
    bias = min((-1.0, 1.0), key=lambda sign: problem.evaluate(flat, sign).objective)
    return Result.of(
        problem, flat, bias, lower_bound=0.0, status=Status.HEURISTIC, method=method, runtime=limits.elapsed()
    )
