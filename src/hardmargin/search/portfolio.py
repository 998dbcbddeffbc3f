"""A solve by a portfolio: one proof, or several that take turns, from the first hyperplane to the last bound."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from hardmargin.bounds import Report, relative_gap
from hardmargin.checkpoint.keeper import Keeper
from hardmargin.incumbent import Incumbent
from hardmargin.limits import Limits
from hardmargin.problem import Problem
from hardmargin.result import Result
from hardmargin.search import primal
from hardmargin.search.context import Context
from hardmargin.search.proof import Proof
from hardmargin.search.watch import Watch
from hardmargin.status import Status

# Work of the first turn; turns grow with the work that is done.
_FIRST_TURN = 20_000_000_000
_TURN_SHARE = 0.5


class Member:
    """A member of a portfolio: a proof with its share of the work.

    Parameters
    ----------
    proof : Proof
    share : float
        Of the work.
    first_handicap, handicap : int
        Work that counts as done already: during the first turn, and after it.
    """

    def __init__(self, proof: Proof, share: float = 1.0, first_handicap: int = 0, handicap: int = 0) -> None:
        self.proof = proof
        self.ended = False
        self._steps = proof.steps()
        self._share = share
        self._first_handicap = first_handicap
        self._handicap = handicap

    @property
    def due(self) -> float:
        """The member with the smallest value has the next turn."""
        handicap = self._handicap if self.proof.work >= _FIRST_TURN else self._first_handicap
        return (self.proof.work + handicap) / self._share

    def state(self) -> dict[str, Any]:
        """The proof's state with its share and handicaps, because the rules might choose others now."""
        own = {"share": self._share, "first_handicap": self._first_handicap, "handicap": self._handicap}
        return {**self.proof.state(), **own}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a state."""
        self._share, self._first_handicap = state["share"], state["first_handicap"]
        self._handicap = state["handicap"]
        self.proof.restore(state)

    def take_turn(self, *, alone: bool) -> None:
        """Do some work; all of it if no other member waits."""
        self.proof.step_work = 0 if alone else max(_FIRST_TURN, int(_TURN_SHARE * self.proof.work))
        self.ended = next(self._steps, self) is self or self.proof.stuck


def prove(
    problem: Problem,
    incumbent: Incumbent | None,
    limits: Limits,
    report: Report,
    effort: float,
    method: str,
    members_for: Callable[[Result], Sequence[Member]],
    context: Context | None = None,
) -> Result:
    """Find a hyperplane, prove it optimal, and keep the state if that is asked for.

    Parameters
    ----------
    problem, incumbent, limits, report
        As in :class:`hardmargin.methods.base.Method`.
    effort : float
        Effort of the primal search that comes first.
    method : str
        The method's name.
    members_for : callable
        Makes the portfolio from what the primal search has found.
    context : Context or None
        Of the method.

    Returns
    -------
    Result
    """
    keeper = context.keeper if context is not None else None
    saved = keeper.saved if keeper is not None else None
    found, enough = _first_answer(problem, incumbent, limits, report, effort, saved)
    if enough:
        if saved is None or not saved["proofs"]:
            _keep(keeper, limits, found, ())
        elif keeper is not None:
            # There is more in the state that it began with.
            keeper.pass_on()
        return replace(found, method=method)
    members = members_for(found)
    nodes_before = _go_on_from(members, limits, keeper, saved)
    if keeper is not None:
        # It may be large, and is no longer needed.
        saved = keeper.saved = None
    result = _result_of_turns(members, limits, keeper, nodes_before)
    return replace(result, method=method)


def _go_on_from(
    members: Sequence[Member], limits: Limits, keeper: Keeper | None, saved: Mapping[str, Any] | None
) -> int:
    """Let the members continue from a saved state; return how many subproblems were looked at beside theirs."""
    if saved is None:
        return 0
    nodes = int(saved["nodes"])
    if not saved["proofs"]:
        return nodes
    if saved["gap"] > limits.gap:
        if keeper is not None and keeper.replaces_its_source:
            raise ValueError(
                f"the checkpoint is of a proof to a gap of {saved['gap']:g}; one to {limits.gap:g} has to start "
                f"anew and would replace it: ask for the gap {saved['gap']:g}, or name another checkpoint to write."
            )
        return nodes
    kinds = {member.proof.kind for member in members}
    if set(saved["proofs"]) != kinds:
        raise ValueError(
            f"the checkpoint has the proofs {', '.join(saved['proofs'])}, but this problem needs "
            f"{', '.join(sorted(kinds))}; start without it, or use another copy."
        )
    for member in members:
        member.restore(saved["proofs"][member.proof.kind])
    return max(0, nodes - sum(member.proof.nodes for member in members))


def _result_of_turns(members: Sequence[Member], limits: Limits, keeper: Keeper | None, nodes_before: int) -> Result:
    """Let the members take turns until one is finished; nodes include those looked at before."""

    def best() -> Result:
        last = next((member.proof for member in members if member.proof.finished), members[0].proof)
        return replace(
            last.result(),
            nodes=nodes_before + sum(member.proof.nodes for member in members),
            presolve="; ".join(filter(None, (member.proof.reduced for member in members))),
        )

    def keep_if_due() -> None:
        if keeper is not None:
            keeper.save_if_due(lambda: _state(limits, best(), members))

    keep_if_due()
    try:
        while not any(member.proof.finished for member in members):
            able = [member for member in members if not member.ended]
            if not able:
                break
            member = min(able, key=lambda member: member.due)
            others = sum(other.proof.nodes for other in members if other is not member)
            member.proof.nodes_elsewhere = nodes_before + others
            try:
                member.take_turn(alone=len(able) == 1)
            finally:
                for other in members:
                    other.proof.take_over(member.proof)
            keep_if_due()
    finally:
        result = best()
        _keep(keeper, limits, result, members)
    return result


def _first_answer(
    problem: Problem,
    incumbent: Incumbent | None,
    limits: Limits,
    report: Report,
    effort: float,
    saved: Mapping[str, Any] | None,
) -> tuple[Result, bool]:
    """A hyperplane and a first bound, and whether the proof is complete or a limit was reached."""
    if saved is None:
        found = _searched(problem, incumbent, limits, report, effort)
    else:
        found = _resumed(problem, limits, report, effort, saved)
    return found, found.gap <= limits.gap or found.status is not Status.HEURISTIC


def _resumed(problem: Problem, limits: Limits, report: Report, effort: float, saved: Mapping[str, Any]) -> Result:
    """The hyperplane and the bound of a saved state, better ones if it comes from a primal search."""
    found = _saved_answer(problem, limits, saved)
    watch = Watch(limits, report)
    watch.report(found.objective, found.lower_bound, found.nodes)
    watch.take_note(None)
    if watch.ended is not None:
        return replace(found, status=watch.ended)
    if saved["proofs"] or found.gap <= limits.gap:
        return found
    known = Incumbent(np.array(found.coef), found.intercept)
    searched = _searched(problem, known, limits, report, effort)
    better = searched if searched.objective < found.objective else replace(found, status=searched.status)
    bound = min(max(found.lower_bound, searched.lower_bound), better.objective)
    return replace(better, lower_bound=bound, gap=relative_gap(better.objective, bound))


def _searched(
    problem: Problem, incumbent: Incumbent | None, limits: Limits, report: Report, effort: float
) -> Result:
    """What the primal search finds; its rounds are no subproblems, and are not counted."""

    def report_without_rounds(time: float, upper: float, lower: float, _: int) -> None:
        report(time, upper, lower, 0)

    found = primal.search(problem, incumbent, limits, report_without_rounds, effort)
    return replace(found, nodes=0)


def _saved_answer(problem: Problem, limits: Limits, saved: Mapping[str, Any]) -> Result:
    """The hyperplane and the bound of a saved state."""
    return Result.of(
        problem,
        saved["coef"],
        saved["intercept"],
        lower_bound=saved["lower_bound"],
        status=Status.HEURISTIC,
        method="heuristic",
        runtime=limits.elapsed(),
        nodes=saved["nodes"],
    )


def _keep(keeper: Keeper | None, limits: Limits, result: Result, members: Sequence[Member]) -> None:
    if keeper is not None:
        keeper.save(lambda: _state(limits, result, members), last=True)


def _state(limits: Limits, result: Result, members: Sequence[Member]) -> dict[str, Any]:
    """Where the solve is, as plain data."""
    return {
        "gap": limits.gap,
        "coef": np.array(result.coef),
        "intercept": float(result.intercept),
        "lower_bound": float(result.lower_bound),
        "nodes": int(result.nodes),
        "proofs": {member.proof.kind: member.state() for member in members},
    }
