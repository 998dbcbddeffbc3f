"""SCIP, through PySCIPOpt."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from pyscipopt import SCIP_EVENTTYPE, SCIP_PARAMSETTING, Eventhdlr, Model, quicksum

from hardmargin.arrays import FloatArray
from hardmargin.incumbent import Incumbent
from hardmargin.mip.base import (
    FEASIBILITY,
    Answer,
    CoverModel,
    IndicatorModel,
    SolverLimits,
    costs_and_limits,
    objective_factor,
    weight_ranges,
)
from hardmargin.mip.cuts import CutMatrix, split_cuts
from hardmargin.mip.running import Callbacks, WatchedSolver
from hardmargin.mip.scip_cuts import add_found_cuts, add_rows
from hardmargin.problem import Problem

CUT_USE = "tight"

_LARGEST_SECONDS = 1e20


def check_size(problem: Problem) -> None:
    """See :class:`hardmargin.mip.base.Backend`: SCIP has no limit."""


def solve_indicator(model: IndicatorModel, limits: SolverLimits) -> Answer:
    """See :class:`hardmargin.mip.base.Backend`."""
    scip = _new_model(limits)
    built = _BuiltIndicator(scip, model)
    callbacks = Callbacks()
    rows, lazy, _ = split_cuts(model, limits.seconds)
    add_rows(scip, rows, built.given_up, removable=model.cut_use == "removable")
    if lazy:
        add_found_cuts(scip, built.given_up, CutMatrix(lazy, model.problem.n).violated, callbacks)
    if model.tuned:
        scip.setParam("constraints/indicator/sepaalternativelp", True)
        # Heuristics for nonlinear programs can take most of the time, and do not check the clock.
        scip.setParam("nlp/disable", True)
    if model.start is not None:
        built.offer(model.start)
    return _run(scip, built.factor, built.plane, limits, callbacks)


def solve_cover(model: CoverModel, limits: SolverLimits) -> Answer:
    """See :class:`hardmargin.mip.base.Backend`."""
    scip = _new_model(limits)
    # Branching is what finds cuts; everything else would only delay it.
    scip.setPresolve(SCIP_PARAMSETTING.OFF)
    scip.setHeuristics(SCIP_PARAMSETTING.OFF)
    scip.setSeparating(SCIP_PARAMSETTING.OFF)
    factor = objective_factor(model.costs)
    given_up = _binaries(scip, factor * model.costs, model.limits)
    callbacks = Callbacks()
    add_rows(scip, model.cuts, given_up)
    add_found_cuts(scip, given_up, model.separate, callbacks)
    return _run(scip, factor, [], limits, callbacks)


def _binaries(scip: Any, costs: FloatArray, limits: FloatArray | None) -> list[Any]:
    """One variable per sample, that says whether it is given up."""
    largest = [1.0] * len(costs) if limits is None else limits.tolist()
    numbers = zip(costs.tolist(), largest, strict=True)
    return [scip.addVar(f"z{i}", "B", obj=cost, ub=limit) for i, (cost, limit) in enumerate(numbers)]


def _new_model(limits: SolverLimits) -> Any:
    scip = Model()
    scip.hideOutput()
    # Ctrl-C is handled by the caller.
    scip.setParam("misc/catchctrlc", False)
    scip.setParam("numerics/feastol", FEASIBILITY)
    scip.setParam("numerics/dualfeastol", FEASIBILITY)
    scip.setParam("limits/gap", limits.gap)
    scip.setParam("limits/time", min(limits.seconds, _LARGEST_SECONDS))
    scip.setParam("randomization/randomseedshift", limits.seed % 2**31)
    if limits.node_limit is not None:
        scip.setParam("limits/totalnodes", limits.node_limit)
    return scip


def _run(scip: Any, factor: float, plane: Sequence[Any], limits: SolverLimits, callbacks: Callbacks) -> Answer:
    """Solve; ``plane`` are the variables of the hyperplane, if any, and objectives include the factor."""
    answer = Answer()
    listener = _Listener(answer, factor, plane, callbacks)
    scip.includeEventhdlr(listener, "hardmargin_progress", "keeps the answer up to date")
    watched = WatchedSolver(scip.optimizeNogil, scip.interruptSolve, answer, limits, callbacks)
    if plane:
        # The automatic differentiation in SCIP's nonlinear part supports only some dozens of threads.
        watched.watcher_apart()
    else:
        watched.solver_apart()
    _update_bounds(answer, scip, factor)
    _update_hyperplane(answer, scip, plane)
    answer.ended = True
    return answer


class _Listener(Eventhdlr):
    """Keeps an answer up to date."""

    _EVENTS = (SCIP_EVENTTYPE.NODESOLVED, SCIP_EVENTTYPE.BESTSOLFOUND)

    def __init__(self, answer: Answer, factor: float, plane: Sequence[Any], callbacks: Callbacks) -> None:
        self._answer = answer
        self._factor = factor
        self._plane = plane
        self._callbacks = callbacks

    def eventinit(self) -> None:
        for event in self._EVENTS:
            self.model.catchEvent(event, self)

    def eventexit(self) -> None:
        for event in self._EVENTS:
            self.model.dropEvent(event, self)

    def eventexec(self, event: Any) -> None:
        self._callbacks.guarded(lambda: _update_bounds(self._answer, self.model, self._factor))
        if event.getType() == SCIP_EVENTTYPE.BESTSOLFOUND:
            self._callbacks.guarded(lambda: _update_hyperplane(self._answer, self.model, self._plane))


def _update_bounds(answer: Answer, scip: Any, factor: float) -> None:
    upper, lower = scip.getPrimalbound(), scip.getDualbound()
    answer.upper = upper / factor if upper < scip.infinity() else math.inf
    answer.lower = max(answer.lower, lower / factor if abs(lower) < scip.infinity() else 0.0)
    answer.nodes = scip.getNTotalNodes()


def _update_hyperplane(answer: Answer, scip: Any, plane: Sequence[Any]) -> None:
    if plane and scip.getNSols() > 0:
        best = scip.getBestSol()
        *coef, intercept = (scip.getSolVal(best, variable) for variable in plane)
        answer.hyperplane = Incumbent(np.array(coef), intercept)


class _BuiltIndicator:
    """The indicator model's variables and constraints in SCIP.

    Attributes
    ----------
    plane : list
        The variables of the weights, then the bias.
    given_up : list
        One binary variable per sample.
    factor : float
        The factor of the objective.
    """

    def __init__(self, scip: Any, model: IndicatorModel) -> None:
        problem = model.problem
        self._scip = scip
        self._problem = problem
        ranges = zip(*(side.tolist() for side in weight_ranges(model)), strict=True)
        weights = [
            scip.addVar(f"w{j}", lb=None if low == -math.inf else low, ub=None if high == math.inf else high)
            for j, (low, high) in enumerate(ranges)
        ]
        bias = scip.addVar("b", lb=None)
        self.plane = [*weights, bias]
        costs, limits = costs_and_limits(problem)
        self.factor = objective_factor(costs)
        self.given_up = _binaries(scip, self.factor * costs, limits)
        # SCIP's objectives are linear. Separate squares are approximated from below with far fewer planes than
        # their sum, but the plain model has the sum.
        self._groups = [[j] for j in range(problem.m)] if model.tuned else [list(range(problem.m))]
        self._half_squares = [scip.addVar(f"t{k}", obj=self.factor) for k in range(len(self._groups))]
        for group, half_square in zip(self._groups, self._half_squares, strict=True):
            scip.addCons(0.5 * quicksum(weights[j] * weights[j] for j in group) <= half_square)
        self._margins = []
        for i, (row, label) in enumerate(zip(problem.X.tolist(), problem.y.tolist(), strict=True)):
            margin = quicksum(label * value * weight for value, weight in zip(row, weights, strict=True) if value)
            self._margins.append(
                scip.addConsIndicator(-(margin + label * bias) <= -1, self.given_up[i], activeone=False)
            )

    def offer(self, start: Incumbent) -> None:
        """Give SCIP a solution, including the slack variables of its indicator constraints."""
        coef, intercept = start
        evaluation = self._problem.evaluate(coef, intercept)
        violated = np.zeros(self._problem.n, dtype=bool)
        violated[evaluation.violations] = True
        slacks = [self._scip.getSlackVarIndicator(margin) for margin in self._margins]
        assignments = [
            (self.plane, [*coef.tolist(), intercept]),
            (self._half_squares, [0.5 * float(coef[group] @ coef[group]) for group in self._groups]),
            (self.given_up, violated.astype(float).tolist()),
            (slacks, np.where(violated, np.maximum(0.0, 1 - evaluation.margins), 0.0).tolist()),
        ]
        solution = self._scip.createSol()
        for variables, values in assignments:
            for variable, value in zip(variables, values, strict=True):
                self._scip.setSolVal(solution, variable, value)
        self._scip.addSol(solution)
