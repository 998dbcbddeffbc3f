"""What all methods share: their signature, and how options are given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Protocol

from hardmargin.arrays import sparse_bytes
from hardmargin.bounds import SMALLEST_GAP as SMALLEST_GAP
from hardmargin.bounds import Report
from hardmargin.incumbent import Incumbent as Incumbent
from hardmargin.limits import Limits as Limits
from hardmargin.limits import default_memory
from hardmargin.problem import Problem
from hardmargin.result import Result
from hardmargin.search.context import Context
from hardmargin.search.engine import Search
from hardmargin.validation import is_real, is_whole

#: The option that stands for the settings of a published system.
PRESET = "preset"


class Method(Protocol):
    """A module of this folder.

    Attributes
    ----------
    Options : type
        A dataclass of the method's settings. One named ``presolve`` says whether the data may be reduced; methods
        without it always work on reduced data.
    SMALLEST_GAP : float
        The smallest relative gap that the method can prove.
    HAS_FRONTIER : bool
        Whether it works on open subproblems, so that its state can be saved and its work spread over a cluster. It
        is then a :class:`FrontierMethod`.

    A module may also have ``NEEDS_DENSE = True``: it is then never given samples stored as a sparse matrix. With
    ``CERTIFIED = False``, its bounds are only as good as the tolerances of another solver.
    """

    Options: type[Any]
    SMALLEST_GAP: float
    HAS_FRONTIER: bool

    def run(
        self, problem: Problem, incumbent: Incumbent | None, limits: Limits, report: Report, options: Any = None
    ) -> Result:
        """Solve ``problem``; may stop at any limit, and then returns its incumbent and a valid bound.

        Ctrl-C arrives as a KeyboardInterrupt from ``report``, and from nowhere else. A method calls ``report``
        several times per second, and returns when it raises KeyboardInterrupt. So does a stop rule, with a
        :class:`hardmargin.stopping.StalledError`, which is one.
        """


class FrontierMethod(Method, Protocol):
    """A method with HAS_FRONTIER."""

    def run(
        self,
        problem: Problem,
        incumbent: Incumbent | None,
        limits: Limits,
        report: Report,
        options: Any = None,
        context: Context | None = None,
    ) -> Result:
        """Solve ``problem``; ``context`` says where searches run and keeps the state."""


@dataclass(frozen=True)
class ProofOptions:
    """Settings that all methods with proofs have. They affect when things happen, not what is proven.

    Attributes
    ----------
    heuristic_effort : float
        Effort of the initial primal search, as in the method ``heuristic``. If the problem turns out to be hard, a
        search with ``later_effort`` times this effort follows.
    first_nodes : int or None
        Subproblems of the first search. If it leaves some open, a longer primal search comes next, and ``packing``
        starts to use targets. None means the method's own number.
    later_effort : float
        The effort of these longer primal searches, as a multiple of ``heuristic_effort``.
    slice : int
        Subproblems that a thread searches before it returns the open ones to the queue and checks the limits.
    """

    heuristic_effort: float = 0.2
    first_nodes: int | None = field(default=None, kw_only=True)
    later_effort: float = field(default=10.0, kw_only=True)
    slice: int = field(default=Search.slice, kw_only=True)

    def __post_init__(self) -> None:
        require_positive(self, "heuristic_effort", "later_effort")
        for name in ("first_nodes", "slice"):
            value = getattr(self, name)
            if not (value is None and name == "first_nodes") and not (is_whole(value) and 1 <= value < 2**32):
                raise ValueError(f"{name} is {value!r}; expected a whole number from 1 to 2**32 - 1.")

    def shared(self) -> dict[str, Any]:
        """These settings by name, for the options of another method."""
        return {item.name: getattr(self, item.name) for item in fields(ProofOptions)}


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


def require_memory_limit(options: Any) -> None:
    """Check that the option ``memory`` is None or a positive number.

    Raises
    ------
    ValueError
        Otherwise.
    """
    if options.memory is not None:
        require_positive(options, "memory")


def memory_of(options: Any, problem: Problem) -> float:
    """The option ``memory`` in gigabytes; by default, what suits the size of the problem."""
    if options.memory is not None:
        return float(options.memory)
    return default_memory(problem.n, problem.m, sparse_bytes(problem.X) if problem.sparse else 0)


def require_room(problem: Problem, method: str, options: Any, needed: float) -> None:
    """Check that a method fits into its option ``memory``.

    Parameters
    ----------
    problem : Problem
    method : str
    options
        Those of the method.
    needed : float
        Gigabytes that it needs at least.

    Raises
    ------
    ValueError
        If it does not.
    """
    memory = memory_of(options, problem)
    if needed > memory:
        raise ValueError(
            f"method {method!r} needs {needed:.3g} GB for {problem.n} x {problem.m} samples, and its option memory "
            f"allows {memory:.3g} GB; raise memory if this machine has more, or use auto or heuristic."
        )


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


def option_names(kind: type[Any]) -> list[str]:
    """The names of a method's options: its own first, then those that all proofs share, and ``preset``."""
    names = [item.name for item in sorted(fields(kind), key=lambda item: item.kw_only is True)]
    return [*names, PRESET] if hasattr(kind, "preset") else names


def parse_options(kind: type[Any], given: Any, method: str) -> Any:
    """Turn the caller's ``options`` (None, a dict or the dataclass itself) into the method's dataclass.

    A dict may name a preset, if the method has any: the dataclass then has a static method ``preset(name, given)``
    that completes the other options.

    Raises
    ------
    ValueError
        If a key is not one of the method's options, or its value is refused.
    TypeError
        If ``given`` has another type.
    """
    names = option_names(kind)
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
    if PRESET in given:
        others = {name: value for name, value in given.items() if name != PRESET}
        return kind(**kind.preset(given[PRESET], others))
    return kind(**given)
