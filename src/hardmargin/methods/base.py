"""What all methods share: their signature, their limits and the way options are given."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, NamedTuple, Protocol

from hardmargin.bounds import SMALLEST_GAP as SMALLEST_GAP
from hardmargin.bounds import Report
from hardmargin.checkpoint.keeper import Keeper
from hardmargin.problem import Problem
from hardmargin.result import Result
from hardmargin.search.engine import Engine, LocalEngine
from hardmargin.validation import FloatArray, is_real


class Incumbent(NamedTuple):
    """The best hyperplane known before a method starts."""

    coef: FloatArray
    intercept: float


@dataclass(frozen=True)
class Limits:
    """When a method must stop.

    Attributes
    ----------
    time_limit : float
        Seconds from ``started``.
    gap : float
        Relative gap at which the objective counts as proven minimal.
    threads : int
        Threads the method may use.
    node_limit : int or None
        Number of subproblems it may look at.
    seed : int
        Seed of everything random.
    started : float
        ``time.monotonic()`` when the solve began; presolve counts too.
    engine : Engine
        Where searches run.
    keeper : Keeper or None
        What keeps the state of the solve in a file, and has the one to begin with.
    """

    time_limit: float = 60.0
    gap: float = 1e-6
    threads: int = 1
    node_limit: int | None = None
    seed: int = 0
    started: float = field(default_factory=time.monotonic)
    engine: Engine = field(default_factory=LocalEngine)
    keeper: Keeper | None = None

    def elapsed(self) -> float:
        """Seconds since the solve began."""
        return time.monotonic() - self.started

    def remaining(self) -> float:
        """Seconds left, never negative."""
        return max(0.0, self.time_limit - self.elapsed())


class Method(Protocol):
    """A module of this folder.

    Attributes
    ----------
    Options : type
        A dataclass of the method's settings. One named ``presolve`` says whether the data may be reduced; methods
        without it work on reduced data.
    SMALLEST_GAP : float
        The finest relative gap that the method claims.
    HAS_FRONTIER : bool
        Whether it works on open subproblems, so that its state can be kept and its work be spread over a cluster.
    """

    Options: type[Any]
    SMALLEST_GAP: float
    HAS_FRONTIER: bool

    def run(
        self, problem: Problem, incumbent: Incumbent | None, limits: Limits, report: Report, options: Any = None
    ) -> Result:
        """Solve ``problem``; may stop at any limit, and then returns its incumbent and a valid bound.

        Ctrl-C comes out of ``report`` as a KeyboardInterrupt, and from nowhere else: a method calls it several
        times a second, and returns when it raises that.
        """


def require_positive(options: Any, *names: str) -> None:
    """Check that these options are positive numbers.

    Raises
    ------
    ValueError
        Otherwise.
    """
    for name in names:
        value = getattr(options, name)
        if not is_real(value) or not value > 0:
            raise ValueError(f"{name} is {value!r}; expected a positive number.")


def require_flags(options: Any, *names: str) -> None:
    """Check that these options are True or False.

    Raises
    ------
    ValueError
        Otherwise.
    """
    for name in names:
        value = getattr(options, name)
        if not isinstance(value, bool):
            raise ValueError(f"{name} is {value!r}; expected True or False.")


def require_choice(options: Any, name: str, *choices: str) -> None:
    """Check that an option is one of these words.

    Raises
    ------
    ValueError
        Otherwise.
    """
    value = getattr(options, name)
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} is {value!r}; expected one of {', '.join(choices)}.")


def parse_options(kind: type[Any], given: Any, method: str) -> Any:
    """Turn the caller's ``options`` (None, a dict or the dataclass itself) into the method's dataclass.

    Raises
    ------
    ValueError
        If a key is not one of the method's options, or its value is refused.
    TypeError
        If ``given`` is of another kind.
    """
    names = [item.name for item in fields(kind)]
    if given is None:
        return kind()
    if isinstance(given, kind):
        return given
    if is_dataclass(given) or not isinstance(given, Mapping):
        raise TypeError(f"options is {given!r}; expected a dict or {kind.__module__}.{kind.__name__}.")
    for name in given:
        if name not in names:
            raise ValueError(
                f"method {method!r} has no option {name!r}; expected {', '.join(names) or 'no options'}."
            )
    return kind(**given)
