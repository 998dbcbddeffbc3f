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
from hardmargin.search import kept_records, primal
from hardmargin.search.context import Context
from hardmargin.search.proof import Proof
from hardmargin.search.recording import ProofRecorder
from hardmargin.search.turns import Member, leading_proof, turns
from hardmargin.search.watch import Watch
from hardmargin.status import Status

# Multiply-adds per second and thread, about. With too small a number, blocks take the work of proofs that would
# have finished; with too large a one, targets are begun that are not proven in time. With more features, more of
# them are done in long vectors: the search over samples does 3.0e9 per second with 5 features, 3.7e9 with 10, 4.3e9
# with 33, 6.4e9 with 70 and 8.3e9 with 100, that over directions 4.1e9 to 4.8e9 with 10 (AMD EPYC, AVX-512).
_SPEED = 3e9
_FEATURES_FOR_TWICE_THE_SPEED = 70
_MOST_FEATURES = 100


def prove(
    problem: Problem,
    incumbent: Incumbent | None,
    limits: Limits,
    report: Report,
    effort: float,
    method: str,
    members_for: Callable[[Result], Sequence[Member]],
    context: Context | None = None,
    head_start: int = 0,
) -> Result:
    """Find a hyperplane, prove it optimal, and save the state if requested.

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
    head_start : int
        Work that the first member does before the others have a turn.

    Returns
    -------
    Result
    """
    keeper = context.keeper if context is not None else None
    saved = keeper.saved if keeper is not None else None
    recorder = context.recorder if context is not None else None
    found, enough = _first_answer(problem, incumbent, limits, report, effort, saved, recorder)
    if enough:
        if saved is None or not saved["proofs"]:
            _keep(keeper, limits, found, (), recorder)
        elif keeper is not None:
            # The state that it started from contains more.
            keeper.pass_on()
        return replace(found, method=method)
    members = members_for(found)
    nodes_before = _go_on_from(members, limits, keeper, saved)
    if keeper is not None:
        # It may be large, and is no longer needed.
        saved = keeper.saved = None
    result = _result_of_turns(members, limits, keeper, recorder, nodes_before, head_start)
    return replace(result, method=method)


def prove_alone(
    proof: type[Proof],
    problem: Problem,
    incumbent: Incumbent | None,
    limits: Limits,
    report: Report,
    options: Any,
    context: Context | None = None,
) -> Result:
    """Find a hyperplane, and let one kind of proof prove it optimal; see :func:`prove`.

    Parameters
    ----------
    proof : type of Proof
        Made from the problem, what the primal search has found, limits, report, options and context.
    problem, incumbent, limits, report, context
        As in :class:`hardmargin.methods.base.Method`.
    options : ProofOptions
        The method's settings.

    Returns
    -------
    Result
    """

    def members(found: Result) -> list[Member]:
        make: Callable[..., Proof] = proof
        return [Member(make(problem, found, limits, report, options, context))]

    return prove(problem, incumbent, limits, report, options.heuristic_effort, proof.kind, members, context)


def _go_on_from(
    members: Sequence[Member], limits: Limits, keeper: Keeper | None, saved: Mapping[str, Any] | None
) -> int:
    """Let the members continue from a saved state; return how many subproblems were examined besides theirs."""
    if saved is None:
        return 0
    nodes = int(saved["nodes"])
    if not saved["proofs"]:
        return nodes
    if saved["gap"] > limits.gap:
        if keeper is not None and keeper.replaces_its_source:
            raise ValueError(
                f"the checkpoint is of a proof to a gap of {saved['gap']:g}; one to {limits.gap:g} has to start "
                f"again and would replace it: use the gap {saved['gap']:g}, or write to another checkpoint."
            )
        return nodes
    kinds = {member.proof.kind for member in members}
    if set(saved["proofs"]) != kinds:
        raise ValueError(
            f"the checkpoint has the proofs {', '.join(saved['proofs'])}, but this problem needs "
            f"{', '.join(sorted(kinds))}; start without it, or use another copy."
        )
    for member in members:
        member.proof.restore(saved["proofs"][member.proof.kind])
    return max(0, nodes - sum(member.proof.nodes for member in members))


def _result_of_turns(
    members: Sequence[Member],
    limits: Limits,
    keeper: Keeper | None,
    recorder: ProofRecorder | None,
    nodes_before: int,
    head_start: int,
) -> Result:
    """Let the members take turns until one is finished; nodes include those examined before."""

    def best() -> Result:
        return replace(
            leading_proof(members).result(),
            nodes=nodes_before + sum(member.proof.nodes for member in members),
            presolve="; ".join(filter(None, (member.proof.reduced for member in members))),
        )

    def keep_if_due() -> None:
        if keeper is not None and keeper.is_due:
            _keep(keeper, limits, best(), members, recorder, last=False)

    allowed_work = _speed(members[0].proof.problem) * limits.threads * limits.time_limit
    work_before = sum(member.proof.work for member in members)
    for member in members:
        member.proof.work_limit = work_before + allowed_work
    keep_if_due()
    try:
        for _ in turns(members, head_start, nodes_before, allowed_work=allowed_work):
            keep_if_due()
    finally:
        result = best()
        _keep(keeper, limits, result, members, recorder)
    return result


def _speed(problem: Problem) -> float:
    """The multiply-adds per second of a thread, about."""
    # Few of the features of sparse samples occur in a part of them.
    features = 0 if problem.sparse else min(problem.m, _MOST_FEATURES)
    return _SPEED * (1 + features / _FEATURES_FOR_TWICE_THE_SPEED)


def _first_answer(
    problem: Problem,
    incumbent: Incumbent | None,
    limits: Limits,
    report: Report,
    effort: float,
    saved: Mapping[str, Any] | None,
    recorder: ProofRecorder | None,
) -> tuple[Result, bool]:
    """A hyperplane and a first bound, and whether the proof is complete or a limit was reached."""
    if saved is None:
        found = _searched(problem, incumbent, limits, report, effort, recorder)
    else:
        found = _resumed(problem, limits, report, effort, saved, recorder)
    return found, found.gap <= limits.gap or found.status is not Status.HEURISTIC


def _resumed(
    problem: Problem,
    limits: Limits,
    report: Report,
    effort: float,
    saved: Mapping[str, Any],
    recorder: ProofRecorder | None,
) -> Result:
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
    searched = _searched(problem, known, limits, report, effort, recorder)
    better = searched if searched.objective < found.objective else replace(found, status=searched.status)
    bound = min(max(found.lower_bound, searched.lower_bound), better.objective)
    return replace(better, lower_bound=bound, gap=relative_gap(better.objective, bound))


def _searched(
    problem: Problem,
    incumbent: Incumbent | None,
    limits: Limits,
    report: Report,
    effort: float,
    recorder: ProofRecorder | None = None,
) -> Result:
    """The result of the primal search; its rounds are not subproblems, and are not counted."""

    def report_without_rounds(time: float, upper: float, lower: float, _: int) -> None:
        report(time, upper, lower, 0)

    found = primal.search(problem, incumbent, limits, report_without_rounds, effort, recorder)
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


def _keep(
    keeper: Keeper | None,
    limits: Limits,
    result: Result,
    members: Sequence[Member],
    recorder: ProofRecorder | None,
    *,
    last: bool = True,
) -> None:
    """Write a state, if it is kept; then records that it does not refer to are no longer needed."""
    if keeper is None:
        return
    written: dict[str, Any] = {}

    def state() -> dict[str, Any]:
        written.update(_state(limits, result, members, recorder))
        return written

    if not keeper.save(state, last=last):
        return
    if recorder is not None:
        kept_records.clean(recorder, written["records"])
    elif keeper.path is not None:
        # Those of the state that was replaced.
        kept_records.discard(keeper.path)


def _state(
    limits: Limits, result: Result, members: Sequence[Member], recorder: ProofRecorder | None
) -> dict[str, Any]:
    """Where the solve is, as plain data."""
    recorded = {member.proof.kind: member.proof.recorded() for member in members}
    return {
        "records": None if recorder is None else kept_records.save(recorder, recorded),
        "gap": limits.gap,
        "coef": np.array(result.coef),
        "intercept": float(result.intercept),
        "lower_bound": float(result.lower_bound),
        "nodes": int(result.nodes),
        "proofs": {member.proof.kind: member.proof.state() for member in members},
    }
