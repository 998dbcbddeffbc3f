"""Proofs that take turns: who works next, and for how long.

Turns are measured in work. The order depends on forecasts; what is proven does not.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from hardmargin.search.proof import Proof

# Turns grow with the work that is done.
_TURN_SHARE = 0.3
# No member gets a smaller share of the work.
_LEAST_SHARE = 0.1
# Shares fall with this power of the forecasts.
_FORECAST_POWER = 2
# A forecast may be wrong by this factor.
_DOUBT = 2.0
# While a solve goes on, it is expected to have time for this share of the work so far, because the work that fits
# into the time limit is known only to a factor of two.
_LEFT_SHARE = 0.25
# The share of members that only provide bounds, while nothing else is to be expected.
_BOUND_SHARE = 0.8
# A member that cannot forecast anything yet is tried for this share of the work at most, before only bounds count.
_TRIAL_SHARE = 0.1


class Member:
    """A member of a portfolio: a proof that takes turns with others.

    Parameters
    ----------
    proof : Proof
    first_turn : int
        Work of its first turn.
    insured_share : float
        If the proof only provides bounds: its share of the work even if others expect to finish.
    insured_doubt : float
        It does not need that share if others would finish in time even if their forecasts were wrong by this
        factor.
    """

    def __init__(
        self, proof: Proof, first_turn: int = 0, insured_share: float = 0.0, insured_doubt: float = math.inf
    ) -> None:
        self.proof = proof
        self.ended = False
        self.insured_share = insured_share
        self.insured_doubt = insured_doubt
        #: The work of its turns beside others, each divided by its share at the time: the least has the next turn.
        self.charged = 0.0
        self._first_turn = first_turn
        self._forecast: float | None = None
        self._steps = proof.steps()

    def forecast(self) -> float:
        """The work that the proof is expected to need still; infinite if unknown.

        It is smoothed over the turns: a single forecast may be wrong by a factor of three.
        """
        return self.proof.remaining_work() if self._forecast is None else self._forecast

    def take_turn(self, *, alone: bool, most_work: float = math.inf) -> None:
        """Do some work: all of it if no other member waits, but not much more than ``most_work``."""
        turn = math.inf if alone else max(self._first_turn, int(_TURN_SHARE * self.proof.work))
        work = max(1.0, min(turn, most_work))
        self.proof.step_work = int(work) if math.isfinite(work) else 0
        self.ended = next(self._steps, self) is self or self.proof.stuck
        if not alone:
            self._note_forecast()

    def _note_forecast(self) -> None:
        forecast, last = max(self.proof.remaining_work(), 1.0), self._forecast
        known = last is not None and max(forecast, last) < math.inf
        self._forecast = math.sqrt(forecast * last) if known and last is not None else forecast


def shares(forecasts: Sequence[float], done: Sequence[float]) -> list[float]:
    """The shares of the work of two members, by the work that each is expected to need.

    If one is expected to need half the work of the other, it gets four times its share. No share is smaller than a
    tenth, because forecasts may be wrong. A member without a forecast is expected to need as much as the other one,
    or as much as it has done if that is more.

    Parameters
    ----------
    forecasts, done
        The work that each is expected to need, infinite if unknown, and the work that it has done.

    Examples
    --------
    >>> shares([1e10, 2e10], [1e9, 1e9])
    [0.8, 0.2]
    >>> shares([1e10, 1e20], [1e9, 1e9])
    [0.9, 0.1]
    >>> shares([1e10, math.inf], [1e9, 1e9])
    [0.5, 0.5]
    >>> shares([1e10, math.inf], [1e9, 2e10])
    [0.8, 0.2]
    """
    known = [forecast for forecast in forecasts if forecast < math.inf]
    if not known:
        return [0.5, 0.5]
    expected = [
        forecast if forecast < math.inf else max(known[0], work)
        for forecast, work in zip(forecasts, done, strict=True)
    ]
    first, second = (max(work, 1.0) for work in expected)
    fractions = [1 / (1 + ratio**_FORECAST_POWER) for ratio in (first / second, second / first)]
    return [min(max(fraction, _LEAST_SHARE), 1 - _LEAST_SHARE) for fraction in fractions]


def next_member(members: Sequence[Member], head_start: int, allowed_work: float = math.inf) -> Member:
    """The member that has the next turn.

    As long as a member that can finish the proof expects to do so, members that only provide bounds get no more
    than their insured share, and nothing if it expects to finish early. One that has not worked for long enough to
    know is tried first. Otherwise a bound is all there is to get, and members that only provide bounds get most of
    the work as long as they prove more.

    Parameters
    ----------
    members : sequence of Member
        Those that can continue.
    head_start : int
        Work that the first member does before the others have a turn.
    allowed_work : float
        The work that all of them may do, as far as that is known.
    """
    finishing = [member for member in members if not member.proof.only_bounds]
    bounding = [member for member in members if member.proof.only_bounds]
    if not finishing:
        return bounding[0]
    chosen = _next_to_finish(finishing, head_start)
    if not bounding or finishing[0].proof.work < head_start:
        return chosen
    work = sum(member.proof.work for member in members)
    forecasts = [member.forecast() for member in finishing]
    proves_more = bounding[0].proof.expected_bound() >= max(member.proof.own_bound for member in finishing)
    expected, left = min(forecasts), max(allowed_work - work, _LEFT_SHARE * work)
    if expected <= _DOUBT * left:
        doubt = bounding[0].insured_doubt
        certain = max(doubt, expected) < math.inf and doubt * expected <= left
        share = bounding[0].insured_share if proves_more and not certain else 0.0
    else:
        trial = min(head_start, _TRIAL_SHARE * allowed_work)
        for member, forecast in zip(finishing, forecasts, strict=True):
            if forecast == math.inf and member.proof.work < trial:
                return member
        share = _BOUND_SHARE if proves_more else _LEAST_SHARE
    bounds = bounding[0].proof
    needed = bounds.step_work_needed() if share < _BOUND_SHARE else 0.0
    return bounding[0] if share > 0 and bounds.work + needed <= share * (work - head_start) else chosen


def _next_to_finish(members: Sequence[Member], head_start: int) -> Member:
    """The next one of the members that can finish the proof.

    That is the first one until its head start is over, and as long as it expects to need no more work than it has
    done. Afterwards, all take turns by their shares. Shares change with the forecasts, and hold from then on: what
    was done before is not made up for, because a member that is almost done would have to wait for that.
    """
    first, *others = members
    if not others or first.proof.work < head_start:
        return first
    if first.forecast() <= first.proof.work and all(other.proof.work == 0 for other in others):
        return first
    return min(members, key=lambda member: (member.charged, member.proof.work))


def _charge(members: Sequence[Member], member: Member, work: int, head_start: int) -> None:
    """Note that a member has done this work in its turn, unless it was alone or had its head start."""
    finishing = [each for each in members if not each.proof.only_bounds]
    if len(finishing) < 2 or member not in finishing:
        return
    first, *others = finishing
    if member is first and (first.proof.work - work < head_start or all(other.proof.work == 0 for other in others)):
        return
    parts = shares([each.forecast() for each in finishing], [each.proof.work for each in finishing])
    member.charged += work / parts[finishing.index(member)]


def leading_proof(members: Sequence[Member]) -> Proof:
    """The proof that knows how the portfolio has ended: the one that is finished; all share what is proven."""
    return next((member.proof for member in members if member.proof.finished), members[0].proof)


def turns(
    members: Sequence[Member],
    head_start: int,
    nodes_before: int = 0,
    most_work: float = math.inf,
    allowed_work: float = math.inf,
) -> Iterator[None]:
    """Let the members take turns, one per iteration, until one is finished, none can continue, or the work is done.

    Parameters
    ----------
    members : sequence of Member
    head_start : int
        Work that the first member does before the others have a turn.
    nodes_before : int
        Subproblems that were examined before.
    most_work : float
        Approximate work of all members together after which to end.
    allowed_work : float
        See :func:`next_member`.
    """
    while not any(member.proof.finished for member in members):
        able = [member for member in members if not member.ended]
        left = most_work - sum(member.proof.work for member in members)
        if not able or left <= 0:
            return
        member = next_member(able, head_start, allowed_work)
        others = sum(other.proof.nodes for other in members if other is not member)
        member.proof.nodes_elsewhere = nodes_before + others
        member.proof.work_elsewhere = sum(other.proof.work for other in members if other is not member)
        before = member.proof.work
        try:
            member.take_turn(alone=len(able) == 1, most_work=left)
        finally:
            for other in members:
                other.proof.take_over(member.proof)
        _charge(able, member, member.proof.work - before, head_start)
        yield
