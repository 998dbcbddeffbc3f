"""What a path is asked for, and what it reports while :mod:`hardmargin.path_search` works on it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from hardmargin.limits import Limits
from hardmargin.problem import Problem


class PathProgress(NamedTuple):
    """How far a path is.

    Attributes
    ----------
    time : float
        Seconds since it began.
    C : float
        Where the current solve is.
    upper, lower : float
        The bounds of the current solve.
    nodes, solves : int
        Subproblems examined so far, and solves completed.
    breakpoints : int
        Number of breakpoints known so far.
    gap : float
        The largest relative gap; 1 as long as nothing is known.
    done : bool
        Whether the current solve has just ended.
    """

    time: float
    C: float
    upper: float
    lower: float
    nodes: int
    solves: int
    breakpoints: int
    gap: float
    done: bool


@dataclass(frozen=True)
class Task:
    """What is to be solved, and how.

    Attributes
    ----------
    problem : Problem
        The caller's problem at the largest C.
    y : array-like
        The caller's labels.
    C : tuple of two floats, or list of float
        A range, or the values of interest.
    limits : Limits
        Of the whole path.
    settings : mapping
        Further keywords of :func:`hardmargin.solve`.
    identity : str
        A checksum of what is solved.
    checkpoint : path or None
        Where to save the path after every solve.
    """

    problem: Problem
    y: Any
    C: tuple[float, float] | list[float]
    limits: Limits
    settings: Mapping[str, Any]
    identity: str
    checkpoint: str | os.PathLike[str] | None = None

    @property
    def low(self) -> float:
        """The smallest C."""
        return min(self.C)

    @property
    def high(self) -> float:
        """The largest C."""
        return max(self.C)
