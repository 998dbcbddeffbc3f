"""solve(): presolve, method, polish, Result. The only way into a method."""

from __future__ import annotations

import math
import os
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from hardmargin.arrays import FloatArray
from hardmargin.blas import one_blas_thread
from hardmargin.bounds import Recorder, Report
from hardmargin.budget import BudgetError
from hardmargin.checkpoint import CheckpointWarning, Identity
from hardmargin.checkpoint.keeper import Keeper, held_checkpoint
from hardmargin.cluster import opened_engine
from hardmargin.constrained import OutOfTimeError, out_of_time, prepared
from hardmargin.fingerprint import data_fingerprint
from hardmargin.incumbent import Incumbent
from hardmargin.limits import Limits
from hardmargin.methods import budget, get_method
from hardmargin.methods.base import FrontierMethod, Method, parse_options
from hardmargin.presolve import Presolved, presolve
from hardmargin.problem import Problem
from hardmargin.proof_file import recording, with_proof
from hardmargin.request import check_budget, check_method, check_size, validated_limits, validated_start
from hardmargin.result import Result
from hardmargin.run_log import log_end, logged_reports
from hardmargin.search import kept_records
from hardmargin.search.context import Context
from hardmargin.signals import HeldSignals, LaterTermination
from hardmargin.status import Status
from hardmargin.stopping import Stall, parsed_stop, stalling
from hardmargin.validation import import_converters

# Data with fewer values than this are evaluated in no time; evaluating the others and computing their fingerprint
# takes about this many seconds per value, but never more than this share of the time limit.
_LARGE = 1_000_000
_CHECK_SECONDS = 25e-9
_LARGEST_CHECK_SHARE = 0.2
# Seconds after the time limit in which presolve is completed if there is a checkpoint.
_COMPLETION = 0.5


def solve(
    X: ArrayLike,
    y: ArrayLike,
    C: float | str = 1.0,
    *,
    sample_weight: ArrayLike | None = None,
    class_weight: Mapping[Any, float] | str | None = None,
    method: str = "auto",
    time_limit: float | None = 60.0,
    gap: float = 1e-6,
    threads: int = 1,
    seed: int = 0,
    options: Any = None,
    report: Report | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    resume: str | os.PathLike[str] | None = None,
    cluster: Any = None,
    checkpoint_interval: float = 30.0,
    node_limit: int | None = None,
    start: Any = None,
    stop: Stall | str | None = None,
    trusted: ArrayLike | None = None,
    monotonic_cst: Any = None,
    coef_bounds: Any = None,
    max_violations: Mapping[Any, float] | float | None = None,
    proof: str | os.PathLike[str] | None = None,
) -> Result:
    """Train a linear support vector machine with the hard-margin loss.

    Minimises 1/2 ||w||^2 + C * (number of samples with y (w.x + b) < 1) and proves a lower bound on it.

    Parameters
    ----------
    X : array-like, DataFrame or sparse matrix of shape (n, m)
        Samples. A sparse matrix is made dense only if that is small; otherwise methods that need dense samples
        refuse it.
    y : array-like of shape (n,)
        Labels, any two values.
    C : float or "scale"
        Penalty of a violated sample. "scale" is 10 / (sum of the features' variances), which gives the same model
        whatever unit the samples are measured in; ``Result.C`` is the number.
    sample_weight : array-like of shape (n,), optional
        Factors of C; a weight of zero drops the sample.
    class_weight : dict or "balanced", optional
        Factors of C by label.
    method : str
        One of :func:`hardmargin.methods.names`.
    time_limit : float or None
        Seconds from the call, without the time to import packages; None means no limit. If the limit is reached
        in presolve, the result is the start or w = 0, with a bound of 0.
    gap : float
        Relative gap at which the search stops; at least 1e-9, and below 1.
    threads : int
        Threads that the method may use; -1 means all cores. At most four per available core are started, because
        more do not search faster. On a cluster, this applies only to work done in this process.
    seed : int
        The same seed gives the same answer on one thread, if no time limit is reached.
    options : dict or the method's options dataclass, optional
        The method's own settings.
    report : callable, optional
        ``report(time, upper, lower, nodes)``, called as the bounds change.
    checkpoint : path, optional
        A file for the state of the search, written at intervals and when the search ends, including by Ctrl-C or
        SIGTERM. If the process is killed, work since the last write is lost. For auto, packing, directions and
        blocks.
    resume : path, optional
        A file that ``checkpoint`` has written for the same data: the search continues from there. It may be the
        same file as ``checkpoint``. The time limit applies to this run; nodes are counted over all runs.
    cluster : str or distributed.Client, optional
        The address of a Dask scheduler, ``"local"`` or ``"local:N"`` for N processes on this machine, or a client:
        the search is spread over its workers. For auto, packing, directions and blocks.
    checkpoint_interval : float
        Least number of seconds between two checkpoints.
    node_limit : int or None
        Approximate number of subproblems after which to stop; None means no limit. The method heuristic examines
        none.
    start : Result or pair of coef and intercept, optional
        A hyperplane to start from, for instance that of a similar problem. Not together with ``resume``, which
        has a hyperplane of its own.
    stop : None, "stall" or Stall
        "stall" ends the search, with the status "stalled", when half of the time, and 2 seconds at least, passed
        without a noticeably better hyperplane or bound; :class:`hardmargin.stopping.Stall` has the details. None
        searches until the gap or a limit is reached.
    trusted : array-like of bool of shape (n,), optional
        A mask of samples that must be kept: the answer is the best hyperplane among those that give each of them a
        margin of at least 1. A trusted sample of weight zero is kept too.
    monotonic_cst : array-like of int of shape (m,), or dict, optional
        1, -1 or 0 for every feature: larger values speak for the second class, against it, or either, so its weight
        is not negative, not positive, or free. A dict has the signs by the names of a DataFrame's columns; features
        that it does not name are free.
    coef_bounds : pair or dict, optional
        (lower, upper): bounds on the weights, each a number, one number per feature, or None where they are free.
        A dict has pairs (low, high) by the names of a DataFrame's columns; features that it does not name are free.
    max_violations : float or dict, optional
        Limits on the total weight of the samples that are given up, which is their number if there are no weights:
        of all samples, or by label. Limited samples cost nothing in the objective, so C is not used if all samples
        are limited. If only one label is named, the samples of the other one still cost C each. For auto, packing
        and heuristic, without checkpoints, clusters and prior knowledge; see docs/budgets.md.
    proof : path, optional
        A file for a proof that no hyperplane has an objective below a bound, which
        :func:`hardmargin.checker.check_proof` and ``hardmargin verify --proof`` check. ``Result.proof_bound`` is
        that bound; it may be smaller than ``lower_bound``. With prior knowledge or ``max_violations``, the proof is
        about the hyperplanes that respect them. With a checkpoint, its records are kept in a folder beside that
        (FILE.records), and ``resume`` goes on with them. For auto, packing, directions and blocks.

    Returns
    -------
    Result
        The hyperplane, its objective, the proven lower bound, and the samples that were given up. Ctrl-C
        ends the search early and still returns: the status is then "interrupted", unless the gap is closed.

    Raises
    ------
    ValueError, TypeError
        If the data or a parameter cannot be used; the message says what was expected.
    BudgetError
        A ValueError: no hyperplane within ``max_violations`` was found, or it is proven that there is none.
    MemoryError
        If this machine has no memory for the copy of the data that methods work on; the message says how much
        that would be.
    OSError
        If a checkpoint cannot be read, or its folder cannot be written to.
    ImportError
        If a package that the method or the cluster needs is missing; the message names it.

    Examples
    --------
    >>> from hardmargin import solve
    >>> result = solve([[0.0], [1.0], [3.0], [4.0], [9.0]], [0, 0, 1, 1, 0], C=10)
    >>> result.violations
    [4]
    >>> round(result.objective, 6), result.n_violations
    (10.5, 1)
    """
    solver = get_method(method)
    parsed = parse_options(solver.Options, options, method)
    rule = parsed_stop(stop)
    check_method(solver, method, checkpoint=checkpoint, resume=resume, cluster=cluster, proof=proof)
    constraints = {"trusted": trusted, "monotonic_cst": monotonic_cst, "coef_bounds": coef_bounds}
    if max_violations is not None:
        check_budget(method, checkpoint=checkpoint, resume=resume, cluster=cluster, **constraints)
    with (
        LaterTermination(wanted=checkpoint is not None),
        held_checkpoint(checkpoint, resume, checkpoint_interval),
        recording(proof, checkpoint) as recorded,
    ):
        if start is not None and resume is not None:
            raise ValueError("start and resume were both given; a state has its own hyperplane: leave out start.")
        # The first conversion of data imports packages, which may take longer than the limit.
        import_converters(X)
        limits = validated_limits(time_limit, gap, threads, node_limit, seed)
        limits = replace(limits, gap=max(limits.gap, solver.SMALLEST_GAP))
        problem = Problem.from_data(
            X,
            y,
            C,
            sample_weight=sample_weight,
            class_weight=class_weight,
            trusted=trusted,
            monotonic_cst=monotonic_cst,
            coef_bounds=coef_bounds,
            max_violations=max_violations,
        )
        check_size(problem, solver, method)
        hyperplane = None if start is None else validated_start(start, problem)
        # Methods from the literature work on the data as they are, unless an option says otherwise.
        reduce = getattr(parsed, "presolve", True)
        keeper = None
        try:
            if checkpoint is None and resume is None:
                step = partial(presolve, problem, reduce=reduce, check=partial(_check_time, limits))
            else:
                check = partial(_check_overrun, limits)
                keeper = Keeper(Identity.of(problem, method, check), checkpoint, checkpoint_interval, resume)
                if recorded is not None and resume is not None and keeper.saved is not None:
                    kept_records.resume(recorded, resume, keeper.saved.get("records"))
                # States belong to the reduced problem: without it, there is nothing to resume from or to save.
                step = partial(presolve, problem, reduce=reduce, project=keeper.project, check=check)
            reduced, first = prepared(problem, step, limits)
            if keeper is not None:
                keeper.belongs_to(reduced.problem, check)
        except OutOfTimeError:
            if keeper is not None:
                keeper.pass_on()
            if checkpoint is not None and not os.path.exists(checkpoint):
                text = f"checkpoint {os.fspath(checkpoint)}: the time limit was reached before there was a state"
                warnings.warn(CheckpointWarning(f"{text}; raise the time limit.", lost=True), stacklevel=2)
            result = _within_budget(_without_search(problem, limits, method, report, hyperplane))
            if proof is not None:
                # A file that is there proves more than nothing.
                warnings.warn("the time limit was reached before there was a proof; raise it.", stacklevel=2)
            return result
        before = time.monotonic()
        with opened_engine(cluster) as engine:
            # Starting or joining a cluster is not part of the solve.
            limits = replace(limits, started=limits.started + time.monotonic() - before)
            without = cluster is None and keeper is None and recorded is None
            context = None if without else Context(engine, keeper, recorded)
            run = _in_context(solver, context)
            if problem.budget is not None:
                run = partial(budget.run, method=method, solve=solver.run, recorder=recorded)
            # From here to the result, Ctrl-C takes effect only where the method reports.
            with HeldSignals() as signals:
                listeners = [lambda *_: signals.let_through(), *([_carrying(report)] if report is not None else [])]
                listeners += [*logged_reports(), *([stalling(rule)] if rule is not None else [])]
                recorder = Recorder(reduced.objective_factor, reduced.bound_factor, listeners)
                incumbent = _incumbent(problem, reduced, hyperplane, first)
                try:
                    found = run(reduced.problem, incumbent, _before_last_check(limits, problem), recorder, parsed)
                except _StoppedError as stopped:
                    raise stopped.error from stopped.error.__cause__
                with one_blas_thread:
                    result = _polished(problem, reduced, found, limits, recorder, hyperplane, first)
                if proof is not None and recorded is not None:
                    pieces = [piece.restored(reduced) for piece in recorded.pieces]
                    result = with_proof(result, proof, problem, pieces, complete=not recorded.failed)
                result = _within_budget(_interrupted_if_asked(result, signals))
        # Leaving a cluster takes time too, and the caller waits for it.
        result = result if cluster is None else replace(result, runtime=limits.elapsed())
        log_end(result.status, result.runtime, result.objective, result.lower_bound, result.nodes)
        return result


class _StoppedError(Exception):
    """Carries a StopIteration of the caller's report through proofs: as generators, they cannot raise one."""

    def __init__(self, error: StopIteration) -> None:
        super().__init__()
        self.error = error


def _carrying(report: Report) -> Report:
    """The caller's report, wrapped so that all its exceptions leave a method unchanged."""

    def carrying(time: float, upper: float, lower: float, nodes: int) -> None:
        try:
            report(time, upper, lower, nodes)
        except StopIteration as error:
            raise _StoppedError(error) from None

    return carrying


def _check_time(limits: Limits) -> None:
    if limits.remaining() == 0:
        raise OutOfTimeError


def _check_overrun(limits: Limits) -> None:
    """The same with a checkpoint: what is small is completed, so that there is a state to save."""
    if limits.elapsed() > limits.time_limit + _COMPLETION:
        raise OutOfTimeError


def _before_last_check(limits: Limits, problem: Problem) -> Limits:
    """The limits of a method, which leave time to evaluate its answer on the caller's data if these are large."""
    values = problem.stored_values
    if values < _LARGE:
        return limits
    seconds = min(_CHECK_SECONDS * values, _LARGEST_CHECK_SHARE * limits.time_limit)
    return replace(limits, time_limit=limits.time_limit - seconds)


def _without_search(
    problem: Problem, limits: Limits, method: str, report: Report | None, start: tuple[FloatArray, float] | None
) -> Result:
    """The best of the start and w = 0, without a proof."""
    coef, intercept = _best_of(problem, start)
    if problem.constrained and not np.isfinite(problem.evaluate(coef, intercept).objective):
        raise ValueError(out_of_time(limits))
    result = Result.of(
        problem,
        coef,
        intercept,
        lower_bound=0.0,
        status=Status.TIME_LIMIT,
        method=method,
        runtime=limits.elapsed(),
        target_gap=limits.gap,
    )
    if report is not None:
        report(*result.trace[-1], 0)
    return result


def _within_budget(result: Result) -> Result:
    """Refuse a result that exceeds its budget.

    Raises
    ------
    BudgetError
        If no hyperplane within the budget was found, or there is none.
    KeyboardInterrupt
        If Ctrl-C came before one was found: there is nothing to return.
    """
    if math.isfinite(result.objective):
        return result
    if result.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    proven = math.isinf(result.lower_bound)
    verdict = (
        "it is proven that every hyperplane gives up more"
        if proven
        else f"no such hyperplane was found in {result.runtime:.3g} s, though there may be one"
    )
    raise BudgetError(
        f"max_violations is {result.max_violations!r}, and {verdict}; the closest one found gives up "
        f"{result.n_violations} of {result.n} samples. Allow more{'' if proven else ', or search longer'}.",
        proven=proven,
    )


def _in_context(solver: Method, context: Context | None) -> Callable[..., Result]:
    """A method's ``run``; only methods with open subproblems are ever given a context."""
    return solver.run if context is None else partial(cast("FrontierMethod", solver).run, context=context)


def _incumbent(
    problem: Problem, reduced: Presolved, *hyperplanes: tuple[FloatArray, float] | None
) -> Incumbent | None:
    """The best of some hyperplanes in the coordinates of the reduced problem, unless it is out of range there."""
    given = [each for each in hyperplanes if each is not None]
    if not given:
        return None
    best = given[0] if len(given) == 1 else min(given, key=lambda each: problem.evaluate(*each).objective)
    coef, intercept = reduced.reduce(*best)
    if reduced.problem.constrained:
        coef, intercept = reduced.problem.fitted(coef, intercept, reduced.problem.must_keep)
    return Incumbent(coef, intercept) if np.isfinite([*coef, intercept]).all() else None


def _polished(
    problem: Problem,
    reduced: Presolved,
    found: Result,
    limits: Limits,
    recorder: Recorder,
    *others: tuple[FloatArray, float] | None,
) -> Result:
    """Transform the method's answer back to the caller's data and apply the numerical contract there.

    The other hyperplanes are known to be feasible, or given by the caller.
    """
    coef, intercept = _best_of(problem, restored(problem, reduced, found.coef, found.intercept), *others)
    fingerprint = data_fingerprint(problem)
    result = Result.of(
        problem,
        coef,
        intercept,
        lower_bound=found.lower_bound * reduced.bound_factor,
        status=found.status,
        method=found.method,
        runtime=limits.elapsed(),
        nodes=found.nodes,
        trace=recorder.reported,
        target_gap=limits.gap,
        presolve="; ".join(filter(None, [reduced.summary(), found.presolve])),
    )
    result = replace(result, seed=limits.seed, fingerprint=fingerprint)
    if result.gap <= limits.gap:
        return replace(result, status=Status.OPTIMAL)
    return replace(result, status=Status.HEURISTIC) if result.optimal else result


def restored(problem: Problem, reduced: Presolved, weights: ArrayLike, bias: float) -> tuple[FloatArray, float]:
    """A method's hyperplane in the caller's features, scaled so that it keeps the same samples there."""
    kept = reduced.problem.kept_up_to_rounding(weights, bias)
    with np.errstate(over="ignore", invalid="ignore"):
        coef, intercept = reduced.restore(np.array(weights, dtype=np.float64), bias)
        return problem.fitted(coef, intercept, reduced.kept_rows(kept))


def _best_of(problem: Problem, *hyperplanes: tuple[FloatArray, float] | None) -> tuple[FloatArray, float]:
    """The best of the hyperplanes and of those with w = 0; rounding may have made the former worse, or infinite.

    Infeasible ones cost infinity.
    """
    flat = np.zeros(problem.m)
    usable = [each for each in hyperplanes if each is not None and np.isfinite([*each[0], each[1]]).all()]
    return min([*usable, (flat, -1.0), (flat, 1.0)], key=lambda each: problem.evaluate(*each).objective)


def _interrupted_if_asked(result: Result, signals: HeldSignals) -> Result:
    """Handle a Ctrl-C that came after the method's last report: it changes the status, and loses nothing."""
    try:
        signals.let_through()
    except KeyboardInterrupt:
        return result if result.optimal else replace(result, status=Status.INTERRUPTED)
    return result
