"""The primal search on samples that are stored as a sparse matrix, which the compiled search cannot read.

The squared hinge loss is minimised for some strengths of regularisation, by L-BFGS. Along each of its hyperplanes,
the best one of some scales is taken. There is no bound: it is 0.
"""

from __future__ import annotations

import numpy as np

from hardmargin.arrays import FloatArray
from hardmargin.blas import one_blas_thread
from hardmargin.bounds import Report
from hardmargin.incumbent import Incumbent
from hardmargin.limits import Limits
from hardmargin.problem import MARGIN_TOLERANCE, Problem
from hardmargin.result import Result
from hardmargin.search.watch import Watch
from hardmargin.status import Status

# Factors of the costs, from strong regularisation to weak, and iterations for each.
_STRENGTHS = (1e-3, 1e-2, 0.1, 1.0)
_ITERATIONS = 100
# Scales of a hyperplane that are tried.
_SCALES = 2.0 ** np.arange(-6.0, 10.0, 0.5)


class _StoppedError(Exception):
    """A limit was reached, or the user interrupted the search."""


class SparseSearch:
    """The search, and the best hyperplane so far.

    Parameters
    ----------
    problem : Problem
    limits : Limits
    report : callable
        As in :class:`hardmargin.methods.base.Method`.
    """

    def __init__(self, problem: Problem, limits: Limits, report: Report) -> None:
        self._problem = problem
        self._limits = limits
        self._watch = Watch(limits, report)
        sides = [Incumbent(np.zeros(problem.m), bias) for bias in (-1.0, 1.0)]
        self._objective, self._best = min(((self._value(side), side) for side in sides), key=lambda pair: pair[0])

    def offer(self, hyperplane: Incumbent) -> None:
        """Use a hyperplane if it is the best so far."""
        value = self._value(hyperplane)
        if value < self._objective:
            self._objective, self._best = value, hyperplane

    def run(self) -> None:
        """Try all strengths, until a limit is reached."""
        try:
            self._check()
            point = np.zeros(self._problem.m + 1)
            for strength in _STRENGTHS:
                point = self._minimised(strength, point)
                self._offer_scaled(point)
                self._check()
        except _StoppedError:
            pass

    def result(self) -> Result:
        """The best hyperplane, without a bound."""
        return Result.of(
            self._problem,
            self._best.coef,
            self._best.intercept,
            lower_bound=0.0,
            status=self._watch.ended or Status.HEURISTIC,
            method="heuristic",
            runtime=self._limits.elapsed(),
        )

    def _value(self, hyperplane: Incumbent) -> float:
        return self._problem.evaluate(*hyperplane).objective

    def _check(self) -> None:
        self._watch.report(self._objective, 0.0, 0)
        self._watch.take_note(None)
        if self._watch.ended is not None:
            raise _StoppedError

    def _minimised(self, strength: float, start: FloatArray) -> FloatArray:
        """The weights and the bias with the least squared hinge loss."""
        from scipy.optimize import minimize

        X, y = self._problem.X, self._problem.y
        factors = strength * self._problem.costs

        def loss(point: FloatArray) -> tuple[float, FloatArray]:
            self._check()
            coef, bias = point[:-1], point[-1]
            slack = np.maximum(0.0, 1 - y * (X @ coef + bias))
            pulls = -2 * factors * slack * y
            value = 0.5 * float(coef @ coef) + float(factors @ slack**2)
            return value, np.append(coef + X.T @ pulls, pulls.sum())

        found: FloatArray = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": _ITERATIONS}).x
        return found

    def _offer_scaled(self, point: FloatArray) -> None:
        """Use the best multiple of a hyperplane."""
        problem, coef, bias = self._problem, point[:-1], float(point[-1])
        margins = problem.evaluate(coef, bias).margins
        half_norm = 0.5 * float(coef @ coef)
        values = [
            scale**2 * half_norm + float(problem.costs[~(scale * margins >= 1 - MARGIN_TOLERANCE)].sum())
            for scale in _SCALES
        ]
        scale = float(_SCALES[int(np.argmin(values))])
        self.offer(Incumbent(scale * coef, scale * bias))


def search(problem: Problem, incumbent: Incumbent | None, limits: Limits, report: Report) -> Result:
    """Search for a good hyperplane; see :func:`hardmargin.search.primal.search`."""
    with one_blas_thread:
        found = SparseSearch(problem, limits, report)
        if incumbent is not None:
            found.offer(incumbent)
        found.run()
        return found.result()
