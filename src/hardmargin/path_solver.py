"""path(): the optimum at every C of a range, with all breakpoints; :mod:`hardmargin.path_search` does the work."""

from __future__ import annotations

import hashlib
import inspect
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hardmargin.checkpoint.keeper import held_checkpoint
from hardmargin.fingerprint import fingerprint
from hardmargin.methods import get_method, is_certified, names
from hardmargin.path_search import CONSTRAINTS, PathProgress, PathSearch
from hardmargin.path_task import Task
from hardmargin.penalty_path import Path
from hardmargin.problem import Problem
from hardmargin.request import validated_limits
from hardmargin.signals import HeldSignals
from hardmargin.solver import solve
from hardmargin.validation import import_converters, validated_penalty

# A path is saved after every solve, whatever the interval.
_ANY_INTERVAL = 1.0
# The search divides all C by the largest, which must not give zero.
_LARGEST_RATIO = 1e300
# Settings of a solve that a path has for itself, or cannot have.
_OWN = (
    "X",
    "y",
    "C",
    "time_limit",
    "gap",
    "node_limit",
    "report",
    "checkpoint",
    "resume",
    "checkpoint_interval",
    "start",
    "max_violations",
    "proof",
)


def path(
    X: ArrayLike,
    y: ArrayLike,
    C: tuple[float, float] | Sequence[float],
    *,
    time_limit: float | None = 60.0,
    gap: float = 1e-6,
    node_limit: int | None = None,
    report: Callable[[PathProgress], None] | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    resume: Path | str | os.PathLike[str] | None = None,
    **settings: Any,
) -> Path:
    """Train a linear support vector machine with the hard-margin loss for every C of a range.

    Finds every value of C at which the best hyperplane changes, the hyperplanes in between, and proves a lower
    bound on the optimum at every C.

    Parameters
    ----------
    X, y : array-like
        Samples and labels, as in :func:`hardmargin.solve`.
    C : tuple of two floats, or list of floats
        A tuple (low, high) is a range: the path has every breakpoint in it. A list has the values of interest: only
        there, a proof is attempted. Values that are repeated count once.
    time_limit : float or None
        Seconds for the whole path; None means no limit. When it is reached, the path has a gap in some places.
    gap : float
        Relative gap to prove at every C; at least 1e-9, and below 1.
    node_limit : int or None
        Approximate number of subproblems of all solves together; None means no limit.
    report : callable, optional
        Called with a :class:`PathProgress` while solves run, and after each of them.
    checkpoint : path, optional
        A file to which the path is saved after every solve; :meth:`Path.load` reads it.
    resume : Path or path, optional
        A path, or a file that ``checkpoint`` or :meth:`Path.save` has written, for the same data and weights:
        what it has proven need not be proven again. Its range may be another one. A path of ``indicator`` or
        ``benders`` is accepted by these two methods only, because its bounds are not certified.
    **settings
        Further keywords of :func:`hardmargin.solve`, for all solves: ``sample_weight``, ``class_weight``,
        ``method``, ``threads``, ``seed``, ``options``, ``cluster``, ``stop`` and so on.

    Returns
    -------
    Path
        After Ctrl-C too, with the status "interrupted" and all that was found and proven.

    Raises
    ------
    ValueError, TypeError
        If the data or a parameter cannot be used; the message says what was expected.
    OSError
        If the file to resume from cannot be read.

    Examples
    --------
    >>> from hardmargin import path
    >>> found = path([[0.0], [1.0], [3.0], [4.0], [9.0]], [0, 0, 1, 1, 0], C=(0.1, 1000))
    >>> [round(C, 6) for C in found.breakpoints]
    [0.5]
    >>> found.at(0.3).violations, found.at(10).violations
    ([2, 3], [4])
    """
    _check_settings(settings)
    asked = _validated_penalties(C)
    import_converters(X)
    limits = validated_limits(time_limit, gap, settings.get("threads", 1), node_limit, settings.get("seed", 0))
    method = settings.get("method", "auto")
    limits = replace(limits, gap=max(limits.gap, get_method(method).SMALLEST_GAP))
    problem = Problem.from_data(
        X,
        y,
        max(asked),
        sample_weight=settings.get("sample_weight"),
        class_weight=settings.get("class_weight"),
        **{name: settings.get(name) for name in CONSTRAINTS},
    )
    settings |= _constraints(problem)
    identity = _identity(problem)
    file = None if isinstance(resume, Path) else resume
    with held_checkpoint(checkpoint, file, _ANY_INTERVAL):
        known = _resumed(resume, identity, list(problem.classes), method)
        task = Task(problem, y, asked, limits, settings, identity, checkpoint)
        # Between two solves, Ctrl-C must not lose what the first one has found.
        with HeldSignals() as signals:
            search = PathSearch(task, known, report, signals)
            search.run()
            return search.path()


def _check_settings(settings: Mapping[str, Any]) -> None:
    parameters = set(inspect.signature(solve).parameters) - set(_OWN)
    for name in settings:
        if name not in parameters:
            raise TypeError(f"path() has no parameter {name!r}; expected {', '.join(sorted(parameters))}.")


def _validated_penalties(C: Any) -> tuple[float, float] | list[float]:
    if isinstance(C, (str, bytes)) or not isinstance(C, Iterable):
        raise TypeError(f"C is {C!r}; expected a tuple (low, high) or a list of numbers; for one value use solve.")
    values = [_validated_value(value) for value in C]
    if not values:
        raise ValueError("C has no values; expected a tuple (low, high) or a list of numbers.")
    if min(values) < max(values) / _LARGEST_RATIO:
        raise ValueError(
            f"C reaches from {min(values):g} to {max(values):g}; expected values of which the largest is at most "
            f"{_LARGEST_RATIO:g} times the smallest."
        )
    if not isinstance(C, tuple):
        return list(dict.fromkeys(values))
    if len(values) != 2 or not values[0] < values[1]:
        raise ValueError(f"C is {C!r}; expected (low, high) with low < high, or a list for single values.")
    return values[0], values[1]


def _validated_value(value: Any) -> float:
    try:
        return validated_penalty(value)
    except TypeError:
        raise TypeError(f"C contains {value!r}; expected positive numbers only.") from None


def _constraints(problem: Problem) -> dict[str, Any]:
    """The constraints as arrays: solves get the samples without the names of their features."""
    bounds = problem.bounds
    return {
        "trusted": problem.trusted,
        "monotonic_cst": None if bounds is None else bounds.monotonic_cst,
        "coef_bounds": None if bounds is None or not bounds.ranged else (bounds.lower, bounds.upper),
    }


def _identity(problem: Problem) -> str:
    """A checksum of what is solved: bounds of other data, or under other constraints, prove nothing."""
    weights = np.ones(problem.n) if problem.weights is None else problem.weights
    return hashlib.sha256(fingerprint(replace(problem, costs=weights)).encode()).hexdigest()


def _resumed(
    resume: Path | str | os.PathLike[str] | None, identity: str, classes: list[Any], method: str
) -> Path | None:
    """What is known, in terms of these labels: the problem is the same whatever the classes are called."""
    if resume is None:
        return None
    known = resume if isinstance(resume, Path) else Path.load(resume)
    source = "resume" if isinstance(resume, Path) else f"resume {os.fspath(resume)}"
    if known.data != identity:
        raise ValueError(
            f"{source} is a path of {known.hyperplanes[0].n} samples x {known.hyperplanes[0].m} features that "
            "differ from these in a value, a label, a weight or a constraint; expected the same data."
        )
    if is_certified(method) and not is_certified(known.method):
        # The other way round is harmless: the path then has the name of the method with weaker bounds.
        others = " or ".join(name for name in names() if not is_certified(name))
        raise ValueError(
            f"{source} is a path of method {known.method!r}, whose bounds are not certified, and method {method!r} "
            f"would mix them with bounds that are; continue with method {others}, or leave out resume."
        )
    return replace(known, hyperplanes=[replace(each, classes=classes) for each in known.hyperplanes])
