"""The search for a path: where to solve next, for how long, and what follows for all C.

The optimum is the lower envelope of straight lines in C, one per hyperplane (:mod:`hardmargin.envelope`). Solves at
both ends give two lines. Where they meet, the bound between the ends is weakest compared with the lines: the next
solve is there, and starts from the hyperplane known to be best. If it proves that there is no better one, that is a
breakpoint, and the envelope between it and its neighbours is proven. Otherwise the new line cuts off the corner,
and meets its neighbours elsewhere. (M. J. Eisner and D. G. Severance, Mathematical techniques for efficient record
segmentation in large shared databases, Journal of the ACM 23, 1976.)

Proofs are needed at breakpoints and ends only, and not inside of segments. If the ends show that proofs take much
longer than primal searches, primal searches at the breakpoints come first, until they find nothing better. That
leaves about one proof per breakpoint.

If time runs out, the envelope is a band: lines above, chords between proven bounds below. Solves are always done
where the band is widest, relative to the objective, and share the time that is left.
"""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from hardmargin.bounds import SMALLEST_GAP, relative_gap
from hardmargin.checkpoint import CheckpointWarning
from hardmargin.envelope import Envelope, Line, ProvenBounds, lower_envelope
from hardmargin.limits import Limits
from hardmargin.methods import get_method
from hardmargin.methods.base import ProofOptions, parse_options
from hardmargin.penalty_path import Path, line_of
from hardmargin.result import Result, checked_bound
from hardmargin.signals import HeldSignals
from hardmargin.solver import solve
from hardmargin.status import Status

# A solve gets this part of the time that is left, or more if fewer values of C are open.
_MOST_SHARES = 8
# A solve that was ended by its share of the time is repeated if it can have this many times as long.
_WORTH_REPEATING = 2.0
# If the proofs at the ends took this many subproblems, primal searches come before further proofs.
_HARD_NODES = 10_000
# The part of the time that all of them may take, and the part of what is left of it that each of them may take.
_SWEEP_SHARE = 0.2
_ONE_SWEEP_SHARE = 0.25
_SWEEP_EFFORT = 0.2
# Proofs that start from a good hyperplane need hardly any primal search first.
_LESS_EFFORT = 0.01
# The part of the gap that is proven by solves; the rest is for rounding, and for breakpoints close to each other.
_SOLVE_GAP = 0.5
# Values of C closer than this, relatively, are the same, and so are objectives.
_SAME = 1e-9


class PathProgress(NamedTuple):
    """How far a path is.

    Attributes
    ----------
    time : float
        Seconds since it began.
    C : float
        Where the current solve is.
    upper, lower : float
        The bounds of the current solve.
    nodes, solves : int
        Subproblems examined so far, and solves completed.
    breakpoints : int
        Number of breakpoints known so far.
    gap : float
        The largest relative gap; 1 as long as nothing is known.
    done : bool
        Whether the current solve has just ended.
    """

    time: float
    C: float
    upper: float
    lower: float
    nodes: int
    solves: int
    breakpoints: int
    gap: float
    done: bool


@dataclass(frozen=True)
class Task:
    """What is to be solved, and how.

    Attributes
    ----------
    X, y
        Validated samples, and the caller's labels.
    C : tuple of two floats, or list of float
        A range, or the values of interest.
    limits : Limits
        Of the whole path.
    settings : mapping
        Further keywords of :func:`hardmargin.solve`.
    identity : str
        A checksum of what is solved.
    checkpoint : path or None
        Where to save the path after every solve.
    """

    X: Any
    y: Any
    C: tuple[float, float] | list[float]
    limits: Limits
    settings: Mapping[str, Any]
    identity: str
    checkpoint: str | os.PathLike[str] | None = None

    @property
    def low(self) -> float:
        """The smallest C."""
        return min(self.C)

    @property
    def high(self) -> float:
        """The largest C."""
        return max(self.C)


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
        self._last = Status.HEURISTIC
        self._nodes = self._solves = 0
        self._nodes_before, self._runtime_before = 0, 0.0
        self._complained = False
        if known is not None:
            self._nodes_before, self._runtime_before, self._solves = known.nodes, known.runtime, known.solves
            self._proven = ProvenBounds(known.proven)
            for hyperplane in known.hyperplanes:
                self._add(hyperplane)

    def run(self) -> None:
        """Solve until the path is proven, or a limit is reached."""
        for C in dict.fromkeys((self._task.low, self._task.high)):
            if self._ended is None and self._is_open(C):
                self._solve(C, self._limits.remaining() / _MOST_SHARES)
        if self._open() and (self._nodes >= _HARD_NODES or self._last is not Status.OPTIMAL):
            self._sweep()
        while self._ended is None and (chosen := self._next()) is not None:
            self._solve(*chosen)

    def path(self) -> Path:
        """What is known now."""
        runtime, nodes = self._runtime_before + self._limits.elapsed(), self._nodes_before + self._nodes
        facts: dict[str, Any] = {"runtime": runtime, "nodes": nodes, "target_gap": self._limits.gap}
        return Path(
            status=Status.OPTIMAL if not self._open() else self._ended or self._last,
            C=self._task.C,
            hyperplanes=[replace(hyperplane, **facts) for hyperplane in self._hyperplanes],
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
        if not self._hyperplanes:
            return 1.0
        return relative_gap(self._lines[self._envelope.index_at(C)].at(C), self._proven.at(C))

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

    def _sweep(self) -> None:
        """Search for better hyperplanes at the breakpoints, without proofs, until there are none."""
        end = self._limits.elapsed() + _SWEEP_SHARE * self._limits.remaining()
        if not get_method(self._method).HAS_FRONTIER:
            # These methods are asked for on purpose, and the primal search is not a part of all of them.
            return
        swept: set[float] = set()
        while self._ended is None:
            places = [C for C in self._open() if not any(abs(C - other) <= _SAME * C for other in swept)]
            seconds = end - self._limits.elapsed()
            if not places or seconds <= 0:
                return
            swept.add(places[0])
            settings = {"method": "heuristic", "options": {"effort": _SWEEP_EFFORT}}
            self._take_over(self._result(places[0], _ONE_SWEEP_SHARE * seconds, settings))

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
        nodes = None if limits.node_limit is None else max(1, limits.node_limit - self._nodes)
        interrupted = False

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
            self._task.X,
            self._task.y,
            C,
            **{**self._task.settings, **settings},
            time_limit=None if math.isinf(seconds) else seconds,
            gap=max(SMALLEST_GAP, _SOLVE_GAP * limits.gap),
            node_limit=nodes,
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
        if len(self._hyperplanes) == 0:
            return {}
        options = parse_options(get_method(self._method).Options, self._task.settings.get("options"), self._method)
        if not isinstance(options, ProofOptions) or self._solves < 2:
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
        self._solves += 1
        self._proven.add(result.C, result.lower_bound)
        self._add(result)
        for C, bound in self._proven.points:
            if self._task.low <= C <= self._task.high:
                checked_bound(bound, self._lines[self._envelope.index_at(C)].at(C))
        self._tell(result.C, result.objective, result.lower_bound, 0, done=True)
        try:
            self._signals.let_through()
        except KeyboardInterrupt:
            self._ended = Status.INTERRUPTED

    def _add(self, hyperplane: Result) -> None:
        """Take note of a hyperplane if it is better somewhere, and forget those that are not any more."""
        line = line_of(hyperplane)
        if self._hyperplanes:
            known = self._lines[self._envelope.index_at(hyperplane.C)]
            if not line.at(hyperplane.C) < known.at(hyperplane.C) * (1 - 1e-3 * _SAME) and line.given_up in (
                other.given_up for other in self._lines
            ):
                return
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
