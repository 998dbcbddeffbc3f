"""The search for a path: where to solve next, for how long, and what follows for all C.

The optimum is the lower envelope of straight lines in C, one per hyperplane (:mod:`hardmargin.envelope`). First,
short primal searches at both ends give two lines; further ones follow where lines meet, until these find nothing
better. If the problem suits the exact methods, one search then proves the whole envelope, and finds what is still
missing (:mod:`hardmargin.path_proof`); longer primal searches follow if that takes long.

Otherwise, or if that search is not completed, single solves follow. Between two values of C with proven bounds, the
bound is weakest compared with the lines where these meet. The next solve is there, and starts from the hyperplane
known to be best. If it proves that there is no better one, that is a breakpoint, and the envelope between it and
its neighbours is proven. Otherwise the new line cuts off the corner, and meets its neighbours elsewhere. (M. J.
Eisner and D. G. Severance, Mathematical techniques for efficient record segmentation in large shared databases,
Journal of the ACM 23, 1976.) Proofs are needed at breakpoints and ends only, and not inside of segments.

If time runs out, the envelope is a band: lines above, chords between proven bounds below. Solves are always done
where the band is widest, relative to the objective, and share the time that is left.
"""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hardmargin.bounds import SMALLEST_GAP, relative_gap
from hardmargin.checkpoint import CheckpointWarning
from hardmargin.envelope import Envelope, Line, ProvenBounds, lower_envelope
from hardmargin.methods import get_method
from hardmargin.methods.base import ProofOptions, parse_options
from hardmargin.path_proof import JointProof, joint_proof
from hardmargin.path_task import PathProgress as PathProgress
from hardmargin.path_task import Task
from hardmargin.penalty_path import Path, line_of
from hardmargin.result import Result, checked_bound
from hardmargin.signals import HeldSignals
from hardmargin.solver import solve
from hardmargin.status import Status

# A solve gets this part of the time that is left, or more if fewer values of C are open.
_MOST_SHARES = 8
# A solve that was ended by its share of the time is repeated if it can have this many times as long.
_WORTH_REPEATING = 2.0
# The part of the time that primal searches may take, and the part of what is left of it that each of them may take.
_SWEEP_SHARE = 0.2
_ONE_SWEEP_SHARE = 0.25
# The part of the time that the first solve may take if it has to find a hyperplane that satisfies one of these.
_FIRST_SHARE = 0.5
CONSTRAINTS = ("trusted", "monotonic_cst", "coef_bounds")
# Seconds of a solve at least: without any, it could not even return the hyperplane that it starts from.
_LEAST_SECONDS = 1e-3
# The effort of the first ones, and of those that follow if proofs turn out to take longer.
_FIRST_EFFORT = 0.005
_SWEEP_EFFORT = 0.1
# Multiply-adds of a joint proof after which better hyperplanes are worth searching for.
_EASY_WORK = 1_500_000_000
# The part of the time that a joint proof may take.
_JOINT_SHARE = 0.5
# Proofs that start from a good hyperplane need hardly any primal search first.
_LESS_EFFORT = 0.01
# The part of the gap that is proven by solves; the rest is for rounding, and for breakpoints close to each other.
_SOLVE_GAP = 0.5
# Values of C closer than this, relatively, are the same.
_SAME = 1e-9
# A line that is lower by less than this share is the same.
_SAME_LINE = 1e-12


class PathSearch:
    """A path in the making.

    Parameters
    ----------
    task : Task
    known : Path or None
        What an earlier run has found.
    report : callable or None
        Called with a :class:`PathProgress`.
    signals : HeldSignals
        Where Ctrl-C waits until it can take effect.
    """

    def __init__(
        self,
        task: Task,
        known: Path | None,
        report: Callable[[PathProgress], None] | None,
        signals: HeldSignals,
    ) -> None:
        self._task = task
        self._limits = task.limits
        self._report = report
        self._signals = signals
        self._hyperplanes: list[Result] = []
        self._lines: list[Line] = []
        self._envelope = Envelope([], [])
        self._proven = ProvenBounds()
        # The seconds that a solve had at each C; infinite if more would not help.
        self._tried: dict[float, float] = {}
        self._ended: Status | None = None
        # How the last single solve has ended, if there was one.
        self._last: Status | None = None
        self._nodes = self._solves = 0
        self._nodes_before, self._runtime_before = 0, 0.0
        self._joint: JointProof | None = None
        self._joint_is_over = False
        self._complained = False
        if known is not None:
            self._nodes_before, self._runtime_before, self._solves = known.nodes, known.runtime, known.solves
            self._proven = ProvenBounds(known.proven)
            for hyperplane in known.hyperplanes:
                self._add(hyperplane)

    def run(self) -> None:
        """Solve until the path is proven, or a limit is reached."""
        if len(self._places()) > 1:
            self._sweep(_FIRST_EFFORT)
            self._prove_jointly(_EASY_WORK)
            self._sweep(_SWEEP_EFFORT)
            self._prove_jointly()
        for C in dict.fromkeys((self._task.low, self._task.high)):
            if self._ended is None and self._is_open(C):
                self._solve(C, self._limits.remaining() / _MOST_SHARES)
        while self._ended is None and (chosen := self._next()) is not None:
            self._solve(*chosen)

    def path(self) -> Path:
        """What is known now."""
        runtime, nodes = self._runtime_before + self._limits.elapsed(), self._nodes_before + self._nodes
        facts: dict[str, Any] = {"runtime": runtime, "nodes": nodes, "target_gap": self._limits.gap}
        known = {each.fingerprint for each in self._hyperplanes} - {None}
        common: dict[str, Any] = {
            "method": self._method,
            "presolve": "",
            "seed": self._limits.seed,
            "fingerprint": next(iter(known), None),
        }
        return Path(
            status=Status.OPTIMAL if not self._open() else self._ended or self._last or Status.HEURISTIC,
            C=self._task.C,
            hyperplanes=[replace(each, **facts, **common) for each in self._hyperplanes],
            proven=self._proven.points,
            solves=self._solves,
            **facts,
            data=self._task.identity,
        )

    # ---- what is open

    def _places(self) -> list[float]:
        """The values of C where the relative gap may be largest: if it is closed there, it is closed everywhere."""
        if isinstance(self._task.C, list):
            return sorted(set(self._task.C))
        return [self._task.low, *self._envelope.breakpoints, self._task.high]

    def _gap(self, C: float) -> float:
        return relative_gap(self._value(C), self._proven.at(C)) if self._lines else 1.0

    def _value(self, C: float) -> float:
        """The best objective that is known at this C."""
        return self._lines[self._envelope.index_at(C)].at(C)

    def _is_open(self, C: float) -> bool:
        return self._gap(C) > self._limits.gap

    def _open(self) -> list[float]:
        """The values of C where the gap has to be closed, the widest gap first."""
        return sorted(filter(self._is_open, self._places()), key=lambda C: (-self._gap(C), C))

    def _next(self) -> tuple[float, float] | None:
        """Where to solve next, and for how many seconds; None if there is nothing worth doing."""
        left = self._limits.remaining()
        if left <= 0:
            self._ended = Status.TIME_LIMIT
            return None
        places = self._open()
        for seconds in (left / min(max(len(places), 1), _MOST_SHARES), left):
            for C in places:
                if seconds >= _WORTH_REPEATING * self._seconds_tried(C):
                    return C, seconds
        return None

    def _seconds_tried(self, C: float) -> float:
        """How long a solve at this C, or so close to it that it is the same, has had; 0 if there was none."""
        return max((seconds for at, seconds in self._tried.items() if abs(at - C) <= _SAME * C), default=0.0)

    # ---- solves

    def _sweep(self, effort: float) -> None:
        """Search for better hyperplanes at the ends and breakpoints, without proofs, until there are none."""
        if not get_method(self._method).HAS_FRONTIER:
            # Other methods are asked for on purpose, and the primal search is not a part of all of them.
            return
        end = self._limits.elapsed() + _SWEEP_SHARE * self._limits.remaining()
        swept: set[float] = set()
        while self._ended is None:
            places = [C for C in self._open() if not any(abs(C - other) <= _SAME * C for other in swept)]
            seconds = end - self._limits.elapsed()
            if not places or seconds <= 0:
                return
            swept.add(places[0])
            settings = {"method": "heuristic", "options": {"effort": effort}}
            self._take_over(self._result(places[0], _ONE_SWEEP_SHARE * seconds, settings))

    def _prove_jointly(self, work: int = 0) -> None:
        """Prove as much as possible at all places at once, if the problem suits that.

        It ends after about this many multiply-adds of all such proofs together; 0 means no limit.
        """
        end = self._limits.elapsed() + _JOINT_SHARE * self._limits.remaining()
        proof, C = self._joint_proof(), self._task.low
        while proof is not None and (seconds := end - self._limits.elapsed()) > 0:
            lines = list(self._lines)
            self._joint_step(proof, seconds, work)
            if self._ended is not None or not self._open() or 0 < work <= proof.work:
                break
            if proof.ended is not None or lines == self._lines:
                # Out of time, or what is left cannot be proven because of rounding.
                self._joint_is_over = True
                break
        if proof is not None:
            self._solves += 1
            self._check(C, self._value(C))
            self._save()

    def _joint_proof(self) -> JointProof | None:
        """The proof of all places at once, made when it is first needed."""
        if self._ended is not None or self._joint_is_over or not self._lines or not self._open():
            return None
        if self._joint is None:
            middle = self._hyperplanes[self._envelope.index_at(math.sqrt(self._task.low * self._task.high))]
            self._joint = joint_proof(self._task.problem, self._task.settings, self._limits, middle)
            self._joint_is_over = self._joint is None
            if self._joint is not None:
                # Directions around w = 0 can only be closed against what the constant models cost.
                for side in (-1.0, 1.0):
                    self._add(self._evaluated(np.zeros(self._task.problem.m), side))
        return self._joint

    def _joint_step(self, proof: JointProof, seconds: float, work: int) -> None:
        """Search until there is a better hyperplane or nothing left to do, and learn from it."""
        vertices = [(C, self._value(C)) for C in self._places()]
        step = proof.step(vertices, seconds, self._tell_joint, nodes=self._nodes_left(), work=work)
        self._nodes += step.nodes
        for C, value in vertices:
            self._proven.add(C, step.share * value)
        if step.hyperplane is not None:
            self._add(self._evaluated(*step.hyperplane))
        if proof.ended is Status.INTERRUPTED:
            self._ended = Status.INTERRUPTED
        elif self._nodes_left() == 0 and self._open():
            self._ended = Status.NODE_LIMIT

    def _tell_joint(self, share: float, nodes: int) -> None:
        C = self._open()[0]
        self._tell(C, self._value(C), share * self._value(C), nodes)
        self._signals.let_through()

    def _nodes_left(self) -> int | None:
        limit = self._limits.node_limit
        return None if limit is None else max(0, limit - self._nodes)

    def _solve(self, C: float, seconds: float) -> None:
        """Try to prove what is best at this C."""
        result = self._result(C, seconds, self._proof_settings())
        self._last = result.status
        self._tried[C] = seconds if result.status is Status.TIME_LIMIT else math.inf
        self._nodes += result.nodes
        self._take_over(result)
        self._save()

    def _result(self, C: float, seconds: float, settings: Mapping[str, Any]) -> Result:
        limits = self._limits
        left = self._nodes_left()
        interrupted = False
        if not self._hyperplanes and any(self._task.settings.get(name) is not None for name in CONSTRAINTS):
            # Without a feasible hyperplane there is no path.
            seconds = max(seconds, _FIRST_SHARE * limits.remaining())

        def report(_: float, upper: float, lower: float, nodes: int) -> None:
            nonlocal interrupted
            self._tell(C, upper, lower, nodes)
            try:
                self._signals.let_through()
            except KeyboardInterrupt:
                interrupted = True
                raise

        start = self._hyperplanes[self._envelope.index_at(C)] if self._hyperplanes else None
        result = solve(
            self._task.problem.X,
            self._task.y,
            C,
            **{**self._task.settings, **settings},
            time_limit=None if math.isinf(seconds) else max(_LEAST_SECONDS, seconds),
            gap=max(SMALLEST_GAP, _SOLVE_GAP * limits.gap),
            node_limit=None if left is None else max(1, left),
            start=start,
            report=report,
        )
        if interrupted or result.status is Status.INTERRUPTED:
            self._ended = Status.INTERRUPTED
        elif result.status is Status.NODE_LIMIT:
            self._ended = Status.NODE_LIMIT
        return result

    def _proof_settings(self) -> dict[str, Any]:
        """The method's settings; with less of a primal search if there is a hyperplane to start from."""
        if self._solves < 2:
            return {}
        options = parse_options(get_method(self._method).Options, self._task.settings.get("options"), self._method)
        if not isinstance(options, ProofOptions):
            return {}
        # The longer primal searches of long proofs remain as they are.
        less = replace(
            options,
            heuristic_effort=_LESS_EFFORT * options.heuristic_effort,
            later_effort=options.later_effort / _LESS_EFFORT,
        )
        return {"options": less}

    @property
    def _method(self) -> str:
        return str(self._task.settings.get("method", "auto"))

    # ---- what is known

    def _take_over(self, result: Result) -> None:
        """Learn from a solve."""
        assert result.C is not None
        self._solves += 1
        self._proven.add(result.C, result.lower_bound)
        self._add(result)
        self._check(result.C, result.objective)

    def _check(self, C: float, upper: float) -> None:
        """Report the end of a solve, and make sure that no bound contradicts a hyperplane."""
        for at, bound in self._proven.points:
            if self._task.low <= at <= self._task.high:
                checked_bound(bound, self._value(at))
        self._tell(C, upper, min(self._proven.at(C), upper), 0, done=True)
        try:
            self._signals.let_through()
        except KeyboardInterrupt:
            self._ended = Status.INTERRUPTED

    def _evaluated(self, coef: ArrayLike, intercept: float) -> Result:
        """A hyperplane without a proof, as a result at the largest C."""
        unproven: dict[str, Any] = {"lower_bound": 0.0, "status": Status.HEURISTIC, "method": self._method}
        return Result.of(self._task.problem, coef, intercept, **unproven, runtime=self._limits.elapsed())

    def _add(self, hyperplane: Result) -> None:
        """Take note of a hyperplane if it is better somewhere, and forget those that are not any more."""
        line = line_of(hyperplane)
        more = 1 + _SAME_LINE
        if any(known.norm <= line.norm * more and known.given_up <= line.given_up * more for known in self._lines):
            return
        if self._hyperplanes:
            # One list of weights for all of them.
            hyperplane = replace(hyperplane, weights=self._hyperplanes[0].weights)
        self._hyperplanes.append(replace(hyperplane, trace=[]))
        self._lines.append(line)
        best = lower_envelope(self._lines, self._task.low, self._task.high).best
        self._hyperplanes = [self._hyperplanes[index] for index in best]
        self._lines = [self._lines[index] for index in best]
        self._envelope = lower_envelope(self._lines, self._task.low, self._task.high)

    def _tell(self, C: float, upper: float, lower: float, nodes: int, *, done: bool = False) -> None:
        if self._report is not None:
            widest = max(map(self._gap, self._places()))
            time, solves = self._limits.elapsed(), self._solves
            count = len(self._envelope.breakpoints)
            self._report(PathProgress(time, C, upper, lower, self._nodes + nodes, solves, count, widest, done))

    def _save(self) -> None:
        """Write the checkpoint; a failure is a warning, because the path itself is not lost."""
        if self._task.checkpoint is None:
            return
        try:
            self.path().save(self._task.checkpoint)
        except OSError as error:
            if not self._complained:
                text = (
                    f"checkpoint {os.fspath(self._task.checkpoint)} cannot be written: {error.strerror or error}."
                )
                warnings.warn(CheckpointWarning(text, lost=True), stacklevel=2)
            self._complained = True
