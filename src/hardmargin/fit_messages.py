"""What a fit tells: its progress, and in one warning that a proof is not complete, or that a model is constant."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from hardmargin.advice import constant_model_text, is_hardly_better
from hardmargin.binary_model import BinaryModel, total_status
from hardmargin.binary_problems import BinaryProblem
from hardmargin.bounds import Report, relative_gap
from hardmargin.fitting import Job
from hardmargin.methods import get_method
from hardmargin.result import Result
from hardmargin.status import Status

# How many problems are named.
_MOST_NAMES = 3


class ConstantModelWarning(UserWarning):
    """The fitted model is the constant one or hardly better, because C is too small or nothing better exists.

    It is given whether or not the model is proven optimal. A fit that a time limit or ``stop`` has ended gives a
    ``ConvergenceWarning`` with the same text instead.
    """


@contextlib.contextmanager
def reporting(verbose: Any) -> Iterator[Report | None]:
    """A report that prints the progress of a fit; None if it is not wanted."""
    if not verbose:
        yield None
        return
    # A silent fit need not import terminal code.
    from hardmargin.progress import Progress

    with Progress(sys.stdout, style="log") as report:
        yield report


def fit_warning(
    problems: Sequence[BinaryProblem], results: Sequence[Result], models: Sequence[BinaryModel], job: Job
) -> Warning | None:
    """What the caller should know about a fit; None if there is nothing to say."""
    constant = _constant_text(problems, results, job)
    rounding = _rounding_text(results, models)
    text = None
    if total_status(models) in (Status.TIME_LIMIT, Status.STALLED):
        text = _early_end_text(problems, models, job, constant)
    elif rounding is not None:
        text = "the proof is complete except for rounding."
    if text is None:
        return None if constant is None else ConstantModelWarning(constant)
    warning: Warning = ConvergenceWarning(" ".join(filter(None, [text, rounding])))
    return warning


def _rounding_text(results: Sequence[Result], models: Sequence[BinaryModel]) -> str | None:
    """What the rounding of a Gram matrix costs, if that is more than the requested gap."""
    lost = sum(result.lower_bound - model.lower_bound for result, model in zip(results, models, strict=True))
    objective = sum(model.objective for model in models)
    if lost <= (results[0].target_gap or 0.0) * objective or total_status(models) is Status.OPTIMAL:
        return None
    return (
        f"Rounding in the Gram matrix makes the proven bound lower by {lost:.3g}, {100 * lost / objective:.3g} % "
        "of the objective: standardise the features, or use a kernel whose values are smaller."
    )


def _constant_text(problems: Sequence[BinaryProblem], results: Sequence[Result], job: Job) -> str | None:
    """About models that are no better than the constant one; the first of them is explained."""
    pairs = enumerate(zip(problems, results, strict=True))
    constant = [index for index, (problem, result) in pairs if is_hardly_better(problem.labels, result)]
    if not constant:
        return None
    first, result = constant[0], results[constant[0]]
    limit = None if job.time_limit is None else result.runtime + max(0.0, job.remaining())
    text = constant_model_text(job.samples.of(first), problems[first].labels, result, limit)
    if len(problems) == 1:
        return text
    names = [f"of {problems[index].name}" for index in constant]
    return f"{_counted(names, len(problems))} a model that is no better than a constant one. The first: {text}"


def _counted(names: list[str], total: int) -> str:
    shown = ", ".join(names[:_MOST_NAMES]) + (", ..." if len(names) > _MOST_NAMES else "")
    return f"{len(names)} of {total} binary problems ({shown}) have"


def _early_end_text(
    problems: Sequence[BinaryProblem], models: Sequence[BinaryModel], job: Job, constant: str | None
) -> str:
    """What a fit has reached that ended before its proof was complete."""
    exact = get_method(job.settings["method"]).HAS_FRONTIER
    if total_status(models) is Status.TIME_LIMIT:
        ended = f"time_limit of {job.time_limit:g} s reached"
        advice = "raise time_limit or n_jobs" if exact else 'raise time_limit or use method="auto"'
    else:
        ended = f"no progress any more after {job.elapsed():.3g} s, so the search was stopped"
        advice = "use stop=None"
    objective, bound = sum(model.objective for model in models), sum(model.lower_bound for model in models)
    reached = f"the objective is {objective:.6g} and proven to be at least {bound:.6g} for every hyperplane"
    if len(models) > 1:
        reached = _reached_by_many(problems, models, objective, bound)
    return (
        f"{ended} at a gap of {100 * relative_gap(objective, bound):.3g} %: {reached}. "
        f"{constant or 'The model is usable;'} {'For' if constant else 'for'} a smaller gap {advice}, "
        "for no warning raise gap."
    )


def _reached_by_many(
    problems: Sequence[BinaryProblem], models: Sequence[BinaryModel], objective: float, bound: float
) -> str:
    unproven = sum(model.status is not Status.OPTIMAL for model in models)
    worst = max(range(len(models)), key=lambda index: models[index].gap)
    return (
        f"{unproven} of {len(models)} binary problems are not proven optimal. Their objectives add up to "
        f"{objective:.6g}, which is proven to be at least {bound:.6g}; the largest gap is "
        f"{100 * models[worst].gap:.3g} %, of {problems[worst].name}"
    )
