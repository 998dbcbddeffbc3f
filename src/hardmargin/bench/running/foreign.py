"""Methods of other people: a Python function, named as ``module:function``, takes part in a campaign.

Two kinds of functions are accepted. One has the signature of our own methods and returns a result:

    def run(problem, incumbent, limits, report, options=None): ...

The other needs to know nothing about this package:

    def fit(X, y, C, time_limit): ...
        return coef, intercept, lower_bound

``y`` is -1 or +1, and ``lower_bound`` may be None if the function proves nothing. The kind is recognised by the
name of the first parameter. The module is searched for in the folder where the campaign was started, and where
Python finds modules otherwise. Every answer is checked like those of our own methods.
"""

from __future__ import annotations

import importlib
import inspect
import os
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from hardmargin import Problem, Result, Status
from hardmargin.bounds import relative_gap
from hardmargin.limits import Limits

_SEPARATOR = ":"
# Solvers keep samples up to a tolerance like this; the hyperplane is then lengthened until it really keeps them.
_TOLERANCE = 1e-6
_EXPECTED = "expected MODULE:FUNCTION, with a function fit(X, y, C, time_limit) or run(problem, ...)"


def is_foreign(method: str) -> bool:
    """Whether a name is that of a function outside this package.

    Examples
    --------
    >>> is_foreign("packing"), is_foreign("mysolver:fit")
    (False, True)
    """
    return _SEPARATOR in method


def foreign_function(method: str, folder: str | None = None) -> Callable[..., Any]:
    """Import the function that a name stands for.

    Parameters
    ----------
    method : str
        ``module:function``.
    folder : str, optional
        Where to search first; by default, the working directory.

    Raises
    ------
    ValueError
        If there is no such function.
    """
    module, _, name = method.partition(_SEPARATOR)
    place = folder or os.getcwd()
    if place not in sys.path:
        sys.path.insert(0, place)
    try:
        found = getattr(importlib.import_module(module), name)
    except (ImportError, ValueError, AttributeError) as error:
        raise ValueError(f"method {method!r} cannot be imported ({error}); {_EXPECTED}.") from None
    if not callable(found):
        raise ValueError(f"method {method!r} is not a function; {_EXPECTED}.")
    return found  # type: ignore[no-any-return]


def solve_with(function: Callable[..., Any], problem: Problem, limits: Limits, name: str) -> Result:
    """Run a foreign method, and evaluate its answer by our own rules.

    Parameters
    ----------
    function : callable
        Of either kind.
    problem : Problem
        As the data are, without presolve.
    limits : Limits
    name : str
        For the result.

    Returns
    -------
    Result
        "optimal" if its bound meets the objective up to the requested gap; otherwise "time_limit" if time is up,
        and "heuristic" if not.

    Raises
    ------
    ValueError
        If it returns something else.
    """
    if next(iter(inspect.signature(function).parameters), "") == "problem":
        answer = function(problem, None, limits, lambda *_: None)
        if not isinstance(answer, Result):
            raise ValueError(f"method {name!r} returned {type(answer).__name__}; expected a hardmargin.Result.")
        return replace(answer, method=name, target_gap=limits.gap)
    started = time.monotonic()
    answer = function(problem.X, problem.y, problem.C, limits.time_limit)
    seconds = time.monotonic() - started
    try:
        coef, intercept, lower_bound = answer
        bound = 0.0 if lower_bound is None else max(0.0, float(lower_bound))
        kept = problem.evaluate(coef, float(intercept)).margins >= 1 - _TOLERANCE
        weights, offset = problem.fitted(coef, float(intercept), kept)
        objective = problem.evaluate(weights, offset).objective
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"method {name!r} returned {answer!r:.80} ({error}); expected (coef, intercept, lower_bound)."
        ) from None
    if bound > objective * (1 + _TOLERANCE):
        raise ValueError(f"method {name!r} claims the bound {bound:g}, but its hyperplane has {objective:g}.")
    bound = min(bound, objective)
    if relative_gap(objective, bound) <= limits.gap:
        status = Status.OPTIMAL
    else:
        status = Status.TIME_LIMIT if seconds >= limits.time_limit else Status.HEURISTIC
    return Result.of(
        problem,
        weights,
        offset,
        lower_bound=bound,
        status=status,
        method=name,
        runtime=seconds,
        target_gap=limits.gap,
    )
