"""Presolve of a problem with prior knowledge: first a feasible hyperplane, then the reduced problem.

:mod:`hardmargin.search.feasibility` explains how methods that know no constraints solve it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from hardmargin.arrays import FloatArray
from hardmargin.incumbent import Incumbent
from hardmargin.limits import Limits
from hardmargin.presolve import Presolved
from hardmargin.problem import Problem
from hardmargin.projection import is_projectable
from hardmargin.search.feasibility import (
    ContradictionError,
    UndecidedError,
    feasible_hyperplane,
    with_certain_costs,
)

# Rows of the data that an error message names.
_SHOWN = 12


class OutOfTimeError(Exception):
    """Time ran out before the search began."""


class ContradictoryTrustError(ValueError):
    """No hyperplane keeps all trusted samples.

    Attributes
    ----------
    rows : list of int
        Rows of the data that cannot be kept together, and no part of which contradicts itself.
    bounded : bool
        Whether there are bounds on the weights.
    """

    def __init__(self, rows: Sequence[int], bounded: bool) -> None:
        super().__init__(rows, bounded)
        self.rows = sorted(rows)
        self.bounded = bounded

    def __str__(self) -> str:
        shown = ", ".join(map(str, self.rows[:_SHOWN])) + (", ..." if len(self.rows) > _SHOWN else "")
        within = " within the bounds on the weights" if self.bounded else ""
        loosen = ", or loosen the bounds" if self.bounded else ""
        return (
            f"no hyperplane{within} keeps all trusted samples: the rows {shown} contradict each other, and no part "
            f"of them does. Trust at least one of them no longer, or correct its features or label{loosen}."
        )

    def among(self, numbers: NDArray[np.intp]) -> ContradictoryTrustError:
        """The same about data of which only the rows with these numbers were used."""
        return ContradictoryTrustError(numbers[self.rows].tolist(), self.bounded)


class PresolveStep(Protocol):
    """:func:`hardmargin.presolve.presolve` with all arguments but these."""

    def __call__(self, *, upper: float | None = None, project: object = ...) -> Presolved:
        """Reduce the problem."""


class Prepared(NamedTuple):
    """A reduced problem that a method can solve, and a first hyperplane.

    Attributes
    ----------
    reduced : Presolved
    first : tuple of ndarray and float, or None
        A feasible hyperplane, in the caller's features; None if there are no constraints.
    """

    reduced: Presolved
    first: tuple[FloatArray, float] | None = None


def prepared(problem: Problem, presolved: PresolveStep, limits: Limits) -> Prepared:
    """Reduce a problem; with constraints, find a feasible hyperplane, and make trust a matter of cost.

    Parameters
    ----------
    problem : Problem
        The caller's problem.
    presolved : callable
        Reduces it. It may be called twice: dependent features can be replaced only if the length of optimal
        weights is bounded, for which a feasible hyperplane has to be known.
    limits : Limits

    Raises
    ------
    ContradictoryTrustError
        If no hyperplane is feasible; the message names rows that contradict each other.
    ValueError
        If only hyperplanes are feasible that float64 can hardly represent.
    OutOfTimeError
        If the time limit is reached before that is known.
    """
    if not problem.constrained:
        return Prepared(presolved())
    plain = presolved(project=lambda *_: None)
    first = _first_hyperplane(problem, plain, limits)
    # Only small data can lose dependent features.
    again = problem.bounds is None and is_projectable(plain.problem.n, plain.problem.m)
    reduced = presolved(upper=problem.evaluate(*first).objective) if again else plain
    incumbent = reduced.reduce(*first)
    fitted = reduced.problem.fitted(*incumbent, reduced.problem.must_keep)
    objective = reduced.problem.evaluate(*fitted).objective
    if not math.isfinite(objective):
        raise ValueError(_undecided(problem))
    certain = with_certain_costs(reduced.problem, objective)
    return Prepared(replace(reduced, problem=certain), first)


def _undecided(problem: Problem) -> str:
    """What to say if there is no feasible hyperplane that float64 can represent, and no contradiction either."""
    if not problem.must_keep.any():
        return "the bounds on the weights leave only hyperplanes that float64 can hardly represent; loosen them."
    loosen = "" if problem.bounds is None else ", or loosen the bounds on the weights"
    return (
        "the trusted samples can only be kept by a hyperplane that float64 can hardly represent; trust fewer "
        f"samples, or check them for near duplicates with opposite labels{loosen}."
    )


def out_of_time(limits: Limits) -> str:
    """What to say if the time limit leaves no feasible hyperplane."""
    return (
        f"the time limit of {limits.time_limit:g} s was reached before a hyperplane was found that satisfies the "
        "constraints; raise time_limit."
    )


def _first_hyperplane(problem: Problem, plain: Presolved, limits: Limits) -> tuple[FloatArray, float]:
    """A feasible hyperplane, in the caller's features."""
    try:
        found: Incumbent = feasible_hyperplane(plain.problem, limits)
    except ContradictionError as contradiction:
        rows = [_caller_row(problem, plain, row) for row in contradiction.rows]
        raise ContradictoryTrustError(rows, problem.bounds is not None) from None
    except UndecidedError:
        if limits.remaining() == 0:
            # The caller may know a feasible hyperplane.
            raise OutOfTimeError from None
        raise ValueError(_undecided(problem)) from None
    coef, intercept = plain.restore(found.coef, found.intercept)
    fitted = problem.fitted(coef, intercept, problem.must_keep)
    if not math.isfinite(problem.evaluate(*fitted).objective):
        raise ValueError(_undecided(problem))
    return fitted


def _caller_row(problem: Problem, plain: Presolved, row: int) -> int:
    """The first trusted row of the caller's data that a reduced row represents."""
    return int(np.flatnonzero((plain.representative == row) & problem.must_keep)[0])
