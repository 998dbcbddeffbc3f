"""The bound of one block: a small problem, searched with both exact methods for a limited amount of work."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np

from hardmargin.arrays import FloatArray
from hardmargin.incumbent import Incumbent
from hardmargin.limits import Limits
from hardmargin.methods.base import ProofOptions
from hardmargin.methods.pair import exact_members, starts_with_directions
from hardmargin.presolve import presolve
from hardmargin.problem import Problem
from hardmargin.search import primal
from hardmargin.search.context import Context
from hardmargin.search.recording import Piece, ProofRecorder
from hardmargin.search.turns import leading_proof, turns
from hardmargin.status import Status

# Blocks are small, and there are many of them: turns and searches are shorter than for a whole problem. Only if a
# first search does not finish, a good hyperplane is searched for. The search over samples needs one earlier.
_EFFORT = 0.001
_LATER_EFFORT = 0.1
_FIRST_NODES = 500
_FIRST_REGIONS = 5000
_HEAD_START = 1_000_000_000
_FIRST_TURN = 300_000_000
# Multiply-adds for setting a problem up and for its primal search, per problem and per number of the data.
_SET_UP = 5_000_000
_SET_UP_PER_NUMBER = 2000
# How a search ends if it was not for its work.
_LIMITS = (Status.TIME_LIMIT, Status.INTERRUPTED, Status.NODE_LIMIT)


class BlockTask(NamedTuple):
    """A block to be bounded, as plain data.

    Attributes
    ----------
    problem : Problem
        The block.
    coef, intercept
        A hyperplane to start from.
    gap : float
        Relative gap at which the bound is good enough.
    work : float
        Work after which to end.
    memory : float
        Gigabytes.
    nodes : int or None
        Number of subproblems after which to end; None means no limit.
    seed : int
    folder : str or None
        Where to put the records of a proof, if one is wanted; if empty, the answer contains them.
    expected_work : float
        The work at which the time will be up, as far as that is known. It does not end anything.
    """

    problem: Problem
    coef: FloatArray
    intercept: float
    gap: float
    work: float
    memory: float
    nodes: int | None
    seed: int
    folder: str | None = None
    expected_work: float = math.inf


class BlockAnswer(NamedTuple):
    """What is proven about a block.

    Attributes
    ----------
    lower_bound : float
        The proven bound.
    coef, intercept
        The best hyperplane.
    nodes, work : int
        Subproblems examined, and the work that this took.
    cut : bool
        Whether the search was ended before it was finished, so that more work might prove more.
    interrupted : bool
        Whether that was because of a limit of the solve, and not because the block had its share of the work.
    pieces : tuple of Piece
        The proof of the bound, if one was wanted.
    records : dict of str to bytes, or None
        The content of its files, by their names in the pieces, if the task has no folder for them.
    """

    lower_bound: float
    coef: FloatArray
    intercept: float
    nodes: int
    work: int
    cut: bool
    interrupted: bool = False
    pieces: tuple[Piece, ...] = ()
    records: dict[str, bytes] | None = None


def bound_block(task: BlockTask, seconds: float, go_on: Callable[[], bool]) -> BlockAnswer:
    """Search a block; see :data:`hardmargin.search.tasks.Run`."""
    if task.folder == "":
        with tempfile.TemporaryDirectory(prefix="hardmargin-proof-") as folder:
            answer = bound_block(task._replace(folder=folder), seconds, go_on)
            names = {name for piece in answer.pieces for name in piece.files}
            return answer._replace(records={name: Path(name).read_bytes() for name in names})
    label = float(task.problem.y[0])
    if (task.problem.y == label).all() or not np.isfinite(task.problem.costs).all():
        # w = 0 keeps all samples, or nothing can be proven.
        return BlockAnswer(0.0, np.zeros(task.problem.m), label, 0, 0, cut=False)
    if task.problem.sparse:
        return _bound_sparse(task, seconds, go_on)
    limits = Limits(seconds, task.gap, node_limit=task.nodes, seed=task.seed)

    def report(*_: object) -> None:
        if not go_on():
            # How every method is told to end.
            raise KeyboardInterrupt

    def check() -> None:
        if limits.remaining() == 0 or not go_on():
            raise _EndedError

    # The features of the whole problem are independent, and those of most blocks are, too.
    n, m = task.problem.n, task.problem.m
    project = None if n <= m else _no_projection
    try:
        reduced = presolve(task.problem, shift_features=False, project=project, upper=_known(task), check=check)
    except _EndedError:
        return BlockAnswer(0.0, np.zeros(m), label, 0, 0, cut=True, interrupted=True)
    coef, intercept = reduced.reduce(task.coef, task.intercept)
    if not np.isfinite([*coef, intercept]).all():
        coef, intercept = np.zeros(reduced.problem.m), label
    known = Incumbent(coef, intercept)
    recorder = None if task.folder is None else ProofRecorder(task.folder)
    found = primal.take_up(reduced.problem, known, limits, report, _EFFORT, recorder)
    work = nodes = 0
    cut = found.status is not Status.HEURISTIC
    if found.gap > task.gap and found.status is Status.HEURISTIC:
        first = _FIRST_REGIONS if starts_with_directions(reduced.problem) else _FIRST_NODES
        options = ProofOptions(_EFFORT, first_nodes=first, later_effort=_LATER_EFFORT / _EFFORT)
        members = exact_members(
            reduced.problem,
            found,
            limits,
            report,
            options,
            memory=task.memory,
            first_turn=_FIRST_TURN,
            context=Context(recorder=recorder),
        )
        for member in members:
            member.proof.work_limit = min(task.work, task.expected_work)
        for _ in turns(members, _HEAD_START, most_work=task.work):
            pass
        work = sum(member.proof.work for member in members)
        nodes = sum(member.proof.nodes for member in members)
        cut = not all(member.ended for member in members)
        found = leading_proof(members).result()
    with np.errstate(over="ignore", invalid="ignore"):
        coef, intercept = reduced.restore(np.array(found.coef), found.intercept)
    return BlockAnswer(
        found.lower_bound * reduced.bound_factor,
        coef,
        intercept,
        nodes,
        # Setting the problem up and the primal search count too.
        work + _SET_UP + _SET_UP_PER_NUMBER * task.problem.n * (task.problem.m + 1),
        cut and found.gap > task.gap,
        found.gap > task.gap and found.status in _LIMITS,
        () if recorder is None else tuple(piece.restored(reduced) for piece in recorder.pieces),
    )


def _known(task: BlockTask) -> float | None:
    """The objective of the hyperplane to start from, if the block is constrained; see :func:`presolve`."""
    if not task.problem.constrained:
        return None
    objective = task.problem.evaluate(task.coef, task.intercept).objective
    return objective if np.isfinite(objective) else None


class _EndedError(Exception):
    """A limit was reached before the search began."""


def _no_projection(*_: object) -> None:
    """Keep the features; see :func:`hardmargin.presolve.presolve`."""


def _bound_sparse(task: BlockTask, seconds: float, go_on: Callable[[], bool]) -> BlockAnswer:
    """Search a block of sparse samples: few of the features occur in it, and these fit into dense samples."""
    X = cast("Any", task.problem.X)
    # One feature at least.
    features = np.unique(np.append(X.indices, 0))
    bounds = task.problem.bounds
    # Weights that cannot be zero add to the norm, so the bound is valid without those of the other features.
    of_features = None if bounds is None else bounds.reduced(features, 1.0)
    dense = replace(task.problem, X=np.ascontiguousarray(X[:, features].toarray()), bounds=of_features)
    answer = bound_block(task._replace(problem=dense, coef=task.coef[features]), seconds, go_on)
    coef = np.zeros(task.problem.m) if bounds is None else bounds.clipped(np.zeros(task.problem.m))
    coef[features] = answer.coef
    pieces = tuple(piece.among(features, task.problem.m) for piece in answer.pieces)
    return answer._replace(coef=coef, pieces=pieces)
