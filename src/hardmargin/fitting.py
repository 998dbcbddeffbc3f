"""Solves the binary problems of one fit, one after the other or side by side, within one time limit.

Each problem may use its share of the time that is left: what one does not need is left to the others. If there is
time in the end, the problems that ran out of it start once more, from the hyperplane that they have found.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Lock
from typing import Any, Protocol

import numpy as np

from hardmargin.arrays import FloatArray
from hardmargin.binary_problems import BinaryProblem
from hardmargin.blas import one_blas_thread
from hardmargin.bounds import Report
from hardmargin.budget import BudgetError
from hardmargin.constrained import ContradictoryTrustError
from hardmargin.cores import useful_threads
from hardmargin.penalty import resolved_penalty
from hardmargin.result import Result
from hardmargin.signals import HeldSignals
from hardmargin.solver import solve
from hardmargin.status import Status
from hardmargin.validation import validated_samples

# A problem starts once more if it then has this many times the time that was not enough.
_WORTH_REPEATING = 2.0
# Seconds after which the main thread sees a Ctrl-C while other threads search.
_PAUSE = 0.1
# A time limit that is over before a search begins.
_NO_TIME = 1e-9

#: A hyperplane to start from, or None.
Start = tuple[FloatArray, float] | None


class Samples(Protocol):
    """Where the samples of binary problems come from."""

    def of(self, index: int) -> Any:
        """The samples of a problem: an array or sparse matrix with one row for each of its rows."""

    def penalty(self, C: Any, weights: FloatArray | None) -> float:
        """C as a number, for all samples with these weights."""


@dataclass(frozen=True)
class PlainSamples:
    """The caller's samples, as they are."""

    X: Any
    problems: Sequence[BinaryProblem]

    def of(self, index: int) -> Any:
        """Those of a problem; not a copy, if it has all of them."""
        problem = self.problems[index]
        return self.X if problem.whole else self.X[problem.rows]

    def penalty(self, C: Any, weights: FloatArray | None) -> float:
        """C as a number; see :func:`hardmargin.penalty.resolved_penalty`."""
        return resolved_penalty(C, validated_samples(self.X), weights)


@dataclass(frozen=True)
class Job:
    """What all problems of a fit have in common.

    Attributes
    ----------
    samples : Samples
        The samples of every problem.
    sample_weight, trusted : ndarray of shape (n,) or None
        By sample, as in :func:`hardmargin.solve`.
    settings : dict
        The other arguments of :func:`hardmargin.solve`, the same for every problem.
    time_limit : float or None
        Seconds for all problems together, positive.
    threads : int
        Threads for all problems together; -1 means all cores.
    checkpoint : path or None
        Where the state of the search is kept; with several problems, their numbers are added to the name. A file
        that exists is resumed from.
    spent : float
        Seconds of the limit that are over already.
    """

    samples: Samples
    sample_weight: FloatArray | None
    trusted: Any
    settings: dict[str, Any]
    time_limit: float | None
    threads: int
    checkpoint: str | os.PathLike[str] | None
    spent: float = 0.0
    started: float = field(default_factory=time.monotonic)

    def by_row(self, problem: BinaryProblem) -> dict[str, Any]:
        """What was given by sample, for the samples of a problem."""
        given = {"sample_weight": self.sample_weight, "trusted": self.trusted}
        return {name: value[problem.rows] for name, value in given.items() if value is not None}

    def elapsed(self) -> float:
        """Seconds since the fit began."""
        return self.spent + time.monotonic() - self.started

    def remaining(self) -> float:
        """Seconds left, infinite without a limit."""
        return math.inf if self.time_limit is None else self.time_limit - self.elapsed()


class _Totals:
    """Sums of the bounds of all problems, reported to the caller whenever one of them changes."""

    def __init__(self, count: int, elapsed: Callable[[], float], report: Report) -> None:
        self._uppers, self._lowers, self._nodes = [math.inf] * count, [0.0] * count, [0] * count
        self._elapsed = elapsed
        self._report = report
        self._lock = Lock()

    def __call__(self, index: int, upper: float, lower: float, nodes: int) -> None:
        with self._lock:
            self._uppers[index] = min(self._uppers[index], upper)
            self._lowers[index] = max(self._lowers[index], lower)
            self._nodes[index] = max(self._nodes[index], nodes)
            self._report(self._elapsed(), sum(self._uppers), sum(self._lowers), sum(self._nodes))


@dataclass(frozen=True)
class _Task:
    """One problem that is to be solved."""

    index: int
    start: Start


def solve_all(
    problems: Sequence[BinaryProblem], starts: Sequence[Start], job: Job, report: Report | None
) -> list[Result]:
    """Solve all problems.

    Parameters
    ----------
    problems : sequence of BinaryProblem
    starts : sequence
        A hyperplane for each of them, or None.
    job : Job
    report : callable or None
        ``report(time, upper, lower, nodes)``, with the sums over all problems. The upper bound is infinite until
        each of them has a hyperplane.

    Returns
    -------
    list of Result
        After Ctrl-C, the problems that have not begun have the constant model and a bound of 0.

    Raises
    ------
    BudgetError
        If no hyperplane within ``max_violations`` is known for one of them.
    KeyboardInterrupt
        After Ctrl-C, if samples are trusted or violations limited, and problems have not begun.
    """
    run = _Run(problems, job, report)
    results = run.round([_Task(index, start) for index, start in enumerate(starts)])
    if len(problems) == 1 or run.interrupted.is_set():
        return list(results.values())
    late = [index for index, result in results.items() if result.status is Status.TIME_LIMIT]
    share = run.share(len(late))
    again = [_Task(i, _hyperplane(results[i])) for i in late if share > _WORTH_REPEATING * results[i].runtime]
    for index, result in run.round(again).items():
        results[index] = min(results[index], result, key=lambda each: each.gap)
    return [results[index] for index in range(len(problems))]


def _hyperplane(result: Result) -> Start:
    return np.array(result.coef), result.intercept


class _Run:
    """Runs rounds of problems in this thread, or in several."""

    def __init__(self, problems: Sequence[BinaryProblem], job: Job, report: Report | None) -> None:
        self._problems = problems
        self._job = job
        self._report = report
        threads = useful_threads(job.threads)
        self._workers = min(threads, len(problems))
        self._threads = job.threads if len(problems) == 1 else max(1, threads // self._workers)
        self.interrupted = Event()
        self._totals = None if report is None else _Totals(len(problems), job.elapsed, report)
        self._waiting = 0
        self._lock = Lock()

    def share(self, count: int) -> float:
        """Seconds for each of so many problems."""
        if len(self._problems) == 1 and self._job.time_limit is not None:
            # The solve has a clock of its own, which starts now.
            return self._job.time_limit - self._job.spent
        return self._job.remaining() / max(1, math.ceil(count / self._workers))

    def round(self, tasks: Sequence[_Task]) -> dict[int, Result]:
        """Solve some of the problems."""
        self._waiting = len(tasks)
        if self._workers == 1 or len(tasks) <= 1:
            return {task.index: self._solved(task) for task in tasks}
        # For all at once: if the number of BLAS threads changes while others use BLAS, these wait for seconds.
        with one_blas_thread, ThreadPoolExecutor(self._workers) as pool, HeldSignals() as signals:
            futures = {task.index: pool.submit(self._solved, task) for task in tasks}
            pending = set(futures.values())
            while pending:
                done, pending = wait(pending, timeout=_PAUSE, return_when=FIRST_EXCEPTION)
                if any(future.exception() is not None for future in done):
                    self.interrupted.set()
                # Ctrl-C reaches the main thread only; the others hear of it when they report.
                try:
                    signals.let_through()
                except KeyboardInterrupt:
                    self.interrupted.set()
            return {index: future.result() for index, future in futures.items()}

    def _solved(self, task: _Task) -> Result:
        problem, job = self._problems[task.index], self._job
        with self._lock:
            seconds = self.share(self._waiting)
            self._waiting -= 1
        over = self.interrupted.is_set()
        if over and (job.trusted is not None or "max_violations" in job.settings):
            # The constant model need not keep the trusted samples, and may give up too many.
            raise KeyboardInterrupt
        checkpoint = self._checkpoint(task.index)
        resume = checkpoint if checkpoint is not None and checkpoint.exists() else None
        try:
            result = solve(
                job.samples.of(task.index),
                problem.labels,
                **job.settings,
                **job.by_row(problem),
                time_limit=_NO_TIME if over else None if math.isinf(seconds) else max(seconds, _NO_TIME),
                threads=self._threads,
                report=None if over else self._listener(task.index),
                checkpoint=checkpoint,
                resume=resume,
                start=None if resume is not None else task.start,
            )
        except BudgetError as error:
            if len(self._problems) == 1:
                raise
            text = f"{error} This is about {problem.name}: max_violations limits every binary problem by itself."
            raise BudgetError(text, proven=error.proven) from None
        except ContradictoryTrustError as error:
            if problem.whole:
                raise
            raise ValueError(f"{error.among(problem.rows)} This is about {problem.name}.") from None
        except ValueError as error:
            if problem.whole:
                raise
            raise ValueError(f"{error} This is about {problem.name}, whose rows are counted alone.") from error
        if result.status is Status.INTERRUPTED:
            self.interrupted.set()
        return result

    def _checkpoint(self, index: int) -> Path | None:
        if self._job.checkpoint is None:
            return None
        path = Path(self._job.checkpoint)
        return path if len(self._problems) == 1 else path.with_name(f"{path.stem}-{index}{path.suffix}")

    def _listener(self, index: int) -> Report | None:
        if len(self._problems) == 1:
            return self._report

        def listen(time: float, upper: float, lower: float, nodes: int) -> None:
            if self.interrupted.is_set():
                raise KeyboardInterrupt
            if self._totals is not None:
                self._totals(index, upper, lower, nodes)

        return listen


def combined(*reports: Report | None) -> Report | None:
    """One report that calls all the given ones; None if there are none."""
    given: list[Callable[..., None]] = [report for report in reports if report is not None]
    if len(given) <= 1:
        return given[0] if given else None

    def report(time: float, upper: float, lower: float, nodes: int) -> None:
        for each in given:
            each(time, upper, lower, nodes)

    return report
