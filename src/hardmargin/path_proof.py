"""The proof of a whole path by one search, for problems that suit the exact methods."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from hardmargin.arrays import FloatArray
from hardmargin.incumbent import Incumbent
from hardmargin.limits import Limits, default_memory
from hardmargin.methods import directions, packing
from hardmargin.methods.pair import has_few_features
from hardmargin.presolve import Presolved, presolve
from hardmargin.problem import Problem
from hardmargin.result import Result
from hardmargin.search.joint import JointSearch
from hardmargin.search.watch import Watch
from hardmargin.solver import restored
from hardmargin.status import Status
from hardmargin.stopping import Stall, parsed_stop, stalling

# With more samples, or numbers in the data, a subproblem of the exact methods takes too long.
_MOST_SAMPLES = 5000
_MOST_NUMBERS = 200_000
# Settings of a solve that a joint search understands. It is not used if any other is given.
_UNDERSTOOD = ("sample_weight", "class_weight", "method", "threads", "seed", "stop")
_METHODS = ("auto", "directions", "packing")
# Far more than what the rounding of the envelope, its vertices and the objective takes away from a bound.
_ROUNDED_DOWN = 1 - 1e-12


class Step(NamedTuple):
    """What one step of a joint proof has found.

    Attributes
    ----------
    hyperplane : (coef, intercept) or None
        A hyperplane below the envelope.
    share : float
        This share of the envelope is proven.
    nodes : int
        Subproblems examined.
    """

    hyperplane: tuple[FloatArray, float] | None
    share: float
    nodes: int


def joint_proof(
    problem: Problem, settings: Mapping[str, Any], limits: Limits, incumbent: Result
) -> JointProof | None:
    """The joint proof of a problem, at the largest C of the path; None if it does not suit the problem.

    Parameters
    ----------
    problem : Problem
        The caller's problem.
    settings : mapping
        The keywords of :func:`hardmargin.solve` that the caller gave.
    limits : Limits
    incumbent : Result
        A good hyperplane.
    """
    method = settings.get("method", "auto")
    others = [name for name, value in settings.items() if name not in _UNDERSTOOD and value is not None]
    if method not in _METHODS or others or problem.sparse:
        return None
    if problem.n > _MOST_SAMPLES or problem.n * problem.m > _MOST_NUMBERS:
        return None
    reduced = presolve(problem)
    if reduced.problem.m == 0:
        return None
    by_directions = method == "directions" or (method == "auto" and has_few_features(reduced.problem))
    fits = directions.fits if by_directions else packing.fits
    if not fits(reduced.problem, default_memory(reduced.problem.n, reduced.problem.m), limits.threads):
        return None
    rule = parsed_stop(settings.get("stop"))
    return JointProof(problem, reduced, limits, incumbent, rule, by_directions=by_directions)


class JointProof:
    """A proof of a whole path, in steps; made by :func:`joint_proof`.

    Attributes
    ----------
    work : int
        Multiply-adds of all steps so far.
    ended : Status or None
        TIME_LIMIT, INTERRUPTED or STALLED if the last step has ended for that reason.
    """

    def __init__(
        self,
        problem: Problem,
        reduced: Presolved,
        limits: Limits,
        incumbent: Result,
        rule: Stall | None,
        *,
        by_directions: bool,
    ) -> None:
        self._problem = problem
        self._reduced = reduced
        self._limits = limits
        known = Incumbent(*reduced.reduce(np.array(incumbent.coef), incumbent.intercept))
        self._search = JointSearch(reduced.problem, known, limits, by_directions=by_directions)
        self._stall = None if rule is None else stalling(rule)
        self._begun = limits.elapsed()
        self.ended: Status | None = None
        self.work = 0

    def step(
        self,
        vertices: Sequence[tuple[float, float]],
        seconds: float,
        report: Callable[[float, int], None],
        *,
        nodes: int | None = None,
        work: int = 0,
    ) -> Step:
        """Search until a hyperplane below the envelope is found, all is proven, or a limit is reached.

        Parameters
        ----------
        vertices : sequence of (C, value)
            The envelope: nowhere above that of the last step.
        seconds : float
            Time limit.
        report : callable
            Called with the share of the envelope that is proven, and the number of subproblems; may raise
            KeyboardInterrupt.
        nodes : int or None
            Number of subproblems after which to end.
        work : int
            Multiply-adds of all steps together after which to end; 0 means no limit.

        Returns
        -------
        Step
        """
        factor, top = self._reduced.objective_factor, self._problem.C

        def observe(_: float, upper: float, share: float, count: int) -> None:
            report(share, count)
            if self._stall is not None:
                self._stall(self._limits.elapsed() - self._begun, upper, share, count)

        # Its own clock: when its share of the time is over, the step ends, and not the path.
        watch = Watch(Limits(time_limit=seconds), observe)
        found = self._search.search(
            [(C / top, value / factor) for C, value in vertices],
            seconds,
            watch.report,
            nodes=nodes or 0,
            work=max(1, work - self.work) if work > 0 else 0,
        )
        watch.take_note(found.outcome)
        self.ended = watch.ended
        self.work += found.work
        share = max(0.0, min(found.lower_bound, 1.0)) * self._reduced.bound_factor / factor * _ROUNDED_DOWN
        hyperplane = restored(self._problem, self._reduced, found.weights, found.bias) if found.weights else None
        return Step(hyperplane, share, found.nodes)
