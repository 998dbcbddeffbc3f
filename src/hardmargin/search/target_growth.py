"""How far the targets of a proof rise, and how much work they need, learnt from the targets so far.

The work is assumed to grow exponentially with the target. Nothing that is proven depends on it.
"""

from __future__ import annotations

from math import exp, inf, log
from typing import Any

# Every target should need this many times the work (multiply-adds) of the previous one. With less, too much work
# goes into intermediate targets; with more, the last proven one is too far below the next.
_GROWTH = 3.0
# Targets that need less work than this say nothing about how the work grows.
_EASY_WORK = 500_000_000
# How much smaller or larger a step may be than the previous one. Steps that are too short cost little, because
# lower targets take little work.
_SHORTEST, _LONGEST = 0.2, 1.25
# A target that needs this many times the work of the previous one is abandoned for one half as far.
_PATIENCE = 4 * _GROWTH
# If the proof is not expected to be complete in time, a target should need no more than this share of the work that
# is left, and is abandoned for one half as far after twice that share: a target that is not proven is of no use.
_SHARE_OF_REST = 0.3
# But not before this much work.
_LEAST_WORK = 1_000_000_000
# If a target one unit higher would need more than _SHARE_OF_REST, the next one is less than a unit higher: one that
# should need this share of the rest, but not less of a unit than this.
_LAST_SHARE_OF_REST = 0.7
_LEAST_STEP = 0.5
# If there is no time for targets in between, but the objective is less than two units away and should need no more
# than this share of the rest, it is the next target.
_LAST_CHANCE = 0.9
# A step is about a unit if no more than this part is missing.
_NEARLY = 0.01
# A target that is being searched is expected to need this many times the work that it has needed so far.
_UNFINISHED = 2.0
# Limits the forecasts of the work, and what the core can count.
_LARGEST_EXPONENT = 60.0
_MOST_WORK = 2**62


class TargetGrowth:
    """What the targets so far tell about the next one.

    Parameters
    ----------
    first : float
        The value that is proven before the first target.

    Attributes
    ----------
    unit : float
        The usual least difference of two targets: what a typical sample costs.
    step : float
        The difference of the next target from what is proven.
    last_target, last_work
        The previous target, and the work that it needed.
    rate : float
        How fast the logarithm of the work rises with the target; 0 if that is not known yet.
    """

    def __init__(self, first: float) -> None:
        self.unit = self.step = 0.0
        self.last_target = first
        self.last_work = 0
        self.rate = 0.0

    def choose_first_step(self, unit: float, distance: float) -> None:
        """Choose the first step, given the unit and how far the objective is."""
        self.unit = unit
        self.step = max(0.1 * distance, 2 * unit)

    def begin_at(self, value: float) -> None:
        """Take note that this value was proven with little work before the first target."""
        self.last_target = max(self.last_target, value)

    def state(self) -> dict[str, Any]:
        """What it knows, as plain data."""
        return {
            "step": self.step,
            "last_target": self.last_target,
            "last_work": self.last_work,
            "work_rate": self.rate,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a state."""
        self.step, self.rate = state["step"], state["work_rate"]
        self.last_target, self.last_work = state["last_target"], state["last_work"]

    def note_ended(self, target: float, work: int, nodes: int) -> None:
        """Learn from a target whose search has ended after this work and so many subproblems."""
        # Even the easiest target takes one subproblem.
        easy = max(_EASY_WORK, work / max(nodes, 1))
        distance = target - self.last_target
        self._adjust_step(distance, work / max(self.last_work, easy))
        # A target that took no more work than the last, using its sets, says nothing about the next one. Nor does
        # one that is hardly higher, or that follows an easy target: the work may have begun to grow anywhere
        # between the two.
        if self.last_work >= _EASY_WORK and distance > (1 - _NEARLY) * self.unit:
            self.rate = self._rate_up_to(target, work) or self.rate
        self.last_target, self.last_work = target, work

    def note_abandoned(self, target: float, work: int, base: float) -> None:
        """Learn from a target above ``base`` that was abandoned after this work."""
        self.rate = max(self.rate, self._rate_up_to(target, work))
        self.step = max(self.unit, 0.5 * (target - base))

    def remaining_work(self, objective: float, target: float | None = None, target_work: int = 0) -> float:
        """The work until the objective is proven, given the current target and its work; infinite if unknown."""
        expected = _UNFINISHED * target_work
        rate = self.rate
        if target is not None and expected > self._known_work:
            # The current target shows that it grows faster.
            rate = max(rate, self._rate_up_to(target, expected))
        if rate <= 0:
            return inf
        # Targets before the last one take about half of its work.
        return max(0.0, 1.5 * self._work_up_to(objective, rate) - target_work)

    def step_in_time(self, base: float, objective: float, left: float) -> float:
        """The step to the next target; a shorter one if that is not expected to be proven in time.

        Parameters
        ----------
        base : float
            The value above which it rises.
        objective : float
            The last target.
        left : float
            The work until the time is up.
        """
        if self.rate <= 0 or left <= 0 or self.remaining_work(objective) <= left:
            return self.step
        is_near = objective - base < 2 * self.unit
        if is_near and self._work_up_to(objective, self.rate) <= _LAST_CHANCE * left:
            return objective - base

        def affordable(share: float) -> float:
            return self.last_target + log(share * left / self._known_work) / self.rate - base

        step = affordable(_SHARE_OF_REST)
        if step < self.unit:
            # The last target: better a part of a unit than a whole one that is not proven.
            step = max(_LEAST_STEP * self.unit, min(self.unit, affordable(_LAST_SHARE_OF_REST)))
        return min(self.step, step)

    def most_work(self, target: float, base: float, left: float = inf) -> int:
        """After how much work a target above ``base`` is abandoned for a lower one; 0 means never.

        ``left`` is the work that was left when it began; infinite if that should not matter.
        """
        if target - base < 2 * self.unit:
            return 0
        most = _PATIENCE * max(self._work_up_to(base, self.rate), _LEAST_WORK)
        if 0 < left < inf:
            most = min(most, max(2 * _SHARE_OF_REST * left, _LEAST_WORK))
        return int(min(most, _MOST_WORK))

    def _rate_up_to(self, target: float, work: float) -> float:
        """How fast the logarithm of the work rises from the previous target to this one, at least."""
        if not target > self.last_target:
            return 0.0
        return max(0.0, log(max(work, 1) / self._known_work) / (target - self.last_target))

    @property
    def _known_work(self) -> float:
        """The work of the previous target, or that of an easy one if it took less or there was none."""
        return max(self.last_work, _EASY_WORK)

    def _work_up_to(self, target: float, rate: float) -> float:
        """The work that a target is expected to need, if the logarithm of the work rises at this rate."""
        exponent = rate * (target - self.last_target)
        return self._known_work * exp(min(exponent, _LARGEST_EXPONENT))

    def _adjust_step(self, distance: float, growth: float) -> None:
        """Choose the next step, given that a target higher by ``distance`` needed ``growth`` times the work."""
        wanted = distance * log(_GROWTH) / log(growth) if growth > 1 else inf
        self.step = max(self.unit, min(max(wanted, _SHORTEST * self.step), _LONGEST * self.step))
