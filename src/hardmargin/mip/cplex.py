"""CPLEX, through its Python interface; the community edition from the package index accepts only small models."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import cplex
import numpy as np
from cplex.callbacks import LazyConstraintCallback, MIPInfoCallback, UserCutCallback
from cplex.exceptions import CplexError, CplexSolverError

from hardmargin.arrays import FloatArray
from hardmargin.incumbent import Incumbent
from hardmargin.mip.base import (
    FEASIBILITY,
    Answer,
    CoverModel,
    Cut,
    IndicatorModel,
    Separator,
    SolverLimits,
    costs_and_limits,
    objective_factor,
    weight_ranges,
)
from hardmargin.mip.cuts import CutMatrix, split_cuts
from hardmargin.mip.running import Callbacks, WatchedSolver
from hardmargin.problem import Problem

# Rows count against the community edition's limit; cuts from callbacks do not.
CUT_USE = "lazy"

# The community edition's limit on variables and on constraints, and CPLEX's code for a larger model.
_COMMUNITY_SIZE = 1000
_SIZE_LIMIT_EXCEEDED = 1016
_LARGEST_SECONDS = 1e75
_VERY_AGGRESSIVE = 3
_SEED_RANGE = 2**31 - 1


def check_size(problem: Problem) -> None:
    """See :class:`hardmargin.mip.base.Backend`: the community edition has a limit."""
    _room(problem)


def solve_indicator(model: IndicatorModel, limits: SolverLimits) -> Answer:
    """See :class:`hardmargin.mip.base.Backend`."""
    problem = model.problem
    room = _room(problem)
    solver = _new_solver(limits)
    lower, upper = (np.clip(side, -cplex.infinity, cplex.infinity).tolist() for side in weight_ranges(model))
    # First the weights, then the bias, then the variables of the given-up samples.
    solver.variables.add(lb=lower, ub=upper)
    solver.variables.add(lb=[-cplex.infinity], ub=[cplex.infinity])
    first = problem.m + 1
    costs, largest = costs_and_limits(problem)
    factor = objective_factor(costs)
    solver.variables.add(obj=(factor * costs).tolist(), ub=largest.tolist(), types="B" * problem.n)
    solver.objective.set_quadratic([factor] * problem.m + [0.0] * (problem.n + 1))
    plane = list(range(first))
    rows = np.column_stack([problem.y[:, None] * problem.X, problem.y]).tolist()
    solver.indicator_constraints.add_batch(
        lin_expr=[[plane, row] for row in rows],
        sense="G" * problem.n,
        rhs=[1.0] * problem.n,
        indvar=list(range(first, first + problem.n)),
        complemented=[1] * problem.n,
    )
    callbacks = Callbacks()
    table, lazy, left_out = split_cuts(model, limits.seconds, room)
    _add_rows(solver, first, table)
    if lazy:
        _add_found_cuts(solver, first, problem.n, CutMatrix(lazy, problem.n).violated, callbacks)
    if model.tuned:
        # Belotti et al. (2016), as in the paper.
        solver.parameters.mip.cuts.localimplied.set(_VERY_AGGRESSIVE)
    if model.start is not None:
        _offer_start(solver, model)
    answer = Answer(note=_note(model, left_out) if left_out else "")
    return _run(solver, factor, first, answer, limits, callbacks)


def solve_cover(model: CoverModel, limits: SolverLimits) -> Answer:
    """See :class:`hardmargin.mip.base.Backend`."""
    solver = _new_solver(limits)
    factor = objective_factor(model.costs)
    largest = np.ones(len(model.costs)) if model.limits is None else model.limits
    solver.variables.add(obj=(factor * model.costs).tolist(), ub=largest.tolist(), types="B" * len(model.costs))
    callbacks = Callbacks()
    separators = [model.separate]
    if model.cuts:
        # Not as rows: they would count against the community edition's limit.
        separators.insert(0, CutMatrix(model.cuts, len(model.costs)).violated)

    def separate(values: FloatArray) -> list[Cut]:
        for separator in separators:
            found = separator(values)
            if found:
                return found
        return []

    _add_found_cuts(solver, 0, len(model.costs), separate, callbacks)
    return _run(solver, factor, 0, Answer(), limits, callbacks)


def _room(problem: Problem) -> int | None:
    """How many rows this CPLEX accepts besides the samples' constraints; None means any number.

    Raises
    ------
    ValueError
        If it does not accept the model even without rows.
    """
    limit = _size_limit()
    if limit is None:
        return None
    variables = problem.m + 1 + problem.n
    if variables > limit:
        raise ValueError(_size_message(variables, problem.n))
    return limit - problem.n


def _size_limit() -> int | None:
    """How many variables, and how many constraints, this CPLEX accepts; None means any number.

    Only a model that is too large shows this, because the editions have the same version.
    """
    solver = _quiet_solver()
    try:
        solver.variables.add(ub=[1.0] * (_COMMUNITY_SIZE + 1))
        solver.solve()
    except CplexSolverError as error:
        # Any other problem shows up with the model.
        return _COMMUNITY_SIZE if _is_size_limit(error) else None
    finally:
        solver.end()
    return None


def _is_size_limit(error: CplexSolverError) -> bool:
    return bool(error.args[2:]) and error.args[2] == _SIZE_LIMIT_EXCEEDED


def _quiet_solver() -> Any:
    solver = cplex.Cplex()
    for set_stream in (
        solver.set_log_stream,
        solver.set_results_stream,
        solver.set_warning_stream,
        solver.set_error_stream,
    ):
        set_stream(None)
    return solver


def _new_solver(limits: SolverLimits) -> Any:
    solver = _quiet_solver()
    parameters = solver.parameters
    parameters.threads.set(limits.threads)
    parameters.timelimit.set(min(limits.seconds, _LARGEST_SECONDS))
    parameters.randomseed.set(limits.seed % _SEED_RANGE)
    parameters.mip.tolerances.mipgap.set(limits.gap)
    parameters.mip.tolerances.absmipgap.set(0.0)
    parameters.mip.tolerances.integrality.set(FEASIBILITY)
    parameters.simplex.tolerances.feasibility.set(FEASIBILITY)
    parameters.simplex.tolerances.optimality.set(FEASIBILITY)
    if limits.node_limit is not None:
        parameters.mip.limits.nodes.set(limits.node_limit)
    return solver


def _add_rows(solver: Any, first: int, cuts: Any) -> None:
    solver.linear_constraints.add(
        lin_expr=[[[first + i for i in cut.members], list(cut.factors)] for cut in cuts],
        senses="G" * len(cuts),
        rhs=[cut.bound for cut in cuts],
    )


def _offer_start(solver: Any, model: IndicatorModel) -> None:
    assert model.start is not None
    coef, intercept = model.start
    given_up = np.zeros(model.problem.n)
    given_up[model.problem.evaluate(coef, intercept).violations] = 1.0
    values = [*coef.tolist(), intercept, *given_up.tolist()]
    solver.MIP_starts.add([list(range(len(values))), values], solver.MIP_starts.effort_level.auto)


def _run(
    solver: Any, factor: float, plane: int, answer: Answer, limits: SolverLimits, callbacks: Callbacks
) -> Answer:
    """Solve; the first ``plane`` variables are those of the hyperplane, and objectives include the factor."""
    try:
        _solve(solver, factor, plane, answer, limits, callbacks)
    finally:
        solver.end()
    return answer


def _solve(
    solver: Any, factor: float, plane: int, answer: Answer, limits: SolverLimits, callbacks: Callbacks
) -> None:
    listener = solver.register_callback(_Listener)
    listener.answer, listener.factor, listener.plane, listener.callbacks = answer, factor, plane, callbacks
    aborter = cplex.Aborter()
    solver.use_aborter(aborter)
    try:
        WatchedSolver(solver.solve, aborter.abort, answer, limits, callbacks).solver_apart()
        _read_answer(solver, factor, plane, answer)
    except CplexSolverError as error:
        if _is_size_limit(error):
            constraints = solver.linear_constraints.get_num() + solver.indicator_constraints.get_num()
            raise ValueError(_size_message(solver.variables.get_num(), constraints)) from None
        if plane:
            raise
        # Numerical trouble with a cover model: what was proven before stays valid, and so do the cuts.
    finally:
        solver.remove_aborter()
    answer.ended = True


def _read_answer(solver: Any, factor: float, plane: int, answer: Answer) -> None:
    solution = solver.solution
    answer.nodes = solution.progress.get_num_nodes_processed()
    answer.lower = max(answer.lower, _finite(solution.MIP.get_best_objective, -math.inf) / factor)
    answer.upper = _finite(solution.get_objective_value, math.inf) / factor
    if plane and solution.is_primal_feasible():
        answer.hyperplane = _hyperplane(solution.get_values(0, plane - 1))


def _hyperplane(values: list[float]) -> Incumbent:
    return Incumbent(np.array(values[:-1]), values[-1])


def _finite(read: Callable[[], float], otherwise: float) -> float:
    try:
        value = float(read())
    except CplexError:
        return otherwise
    return value if abs(value) < cplex.infinity else otherwise


def _size_message(variables: int, constraints: int) -> str:
    return (
        f"the model has {variables} variables and {constraints} constraints; the community edition of CPLEX takes "
        f"up to {_COMMUNITY_SIZE} of each. Install a licensed CPLEX, or use backend='scip', which has no such "
        "limit."
    )


def _note(model: IndicatorModel, left_out: int) -> str:
    return (
        f"{left_out} of {len(model.cuts)} cuts were left out: the community edition of CPLEX takes up to "
        f"{_COMMUNITY_SIZE} constraints, and {model.problem.n} of them are for the samples. Bounds stay valid, but "
        "may rise more slowly. cut_use='lazy' uses all cuts; so do a licensed CPLEX and backend='scip'."
    )


class _Listener(MIPInfoCallback):
    """Keeps an answer up to date."""

    answer: Answer
    factor: float
    plane: int
    callbacks: Callbacks

    def __call__(self) -> None:
        self.callbacks.guarded(self._update)

    def _update(self) -> None:
        self.answer.nodes = self.get_num_nodes()
        if self.has_incumbent() and self.get_incumbent_objective_value() / self.factor < self.answer.upper:
            self.answer.upper = self.get_incumbent_objective_value() / self.factor
            if self.plane:
                self.answer.hyperplane = _hyperplane(self.get_incumbent_values(0, self.plane - 1))
        bound = self.get_best_objective_value()
        if abs(bound) < cplex.infinity:
            self.answer.lower = max(self.answer.lower, bound / self.factor)


def _add_found_cuts(solver: Any, first: int, count: int, separate: Separator, callbacks: Callbacks) -> None:
    """Let CPLEX ask for cuts, at integral and at fractional points; it then uses one thread."""
    solver.parameters.threads.set(1)
    for kind in (_LazyCuts, _FractionalCuts):
        callback = solver.register_callback(kind)
        callback.question = (first, count, separate, callbacks)


class _CutCallback:
    """What the callbacks for integral and for fractional points have in common."""

    question: tuple[int, int, Separator, Callbacks]

    def __call__(self: Any) -> None:
        first, count, separate, callbacks = self.question

        def add_violated() -> None:
            values = np.array(self.get_values(first, first + count - 1))
            for cut in separate(values):
                self.add([[first + i for i in cut.members], list(cut.factors)], "G", cut.bound)

        if not callbacks.guarded(add_violated):
            self.abort()


class _LazyCuts(_CutCallback, LazyConstraintCallback):
    """At integral points."""


class _FractionalCuts(_CutCallback, UserCutCallback):
    """At fractional points."""
