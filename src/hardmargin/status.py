"""Why a solve ended."""

from __future__ import annotations

from enum import Enum


class Status(str, Enum):
    """Why a solve ended.

    Attributes
    ----------
    OPTIMAL
        The gap asked for was reached: the objective is proven minimal up to it.
    TIME_LIMIT
        The time was over first.
    INTERRUPTED
        Ctrl-C came first.
    NODE_LIMIT
        The subproblems that were allowed were used up first.
    HEURISTIC
        The method ran to its end without being asked for, or reaching, a proof.
    """

    OPTIMAL = "optimal"
    TIME_LIMIT = "time_limit"
    INTERRUPTED = "interrupted"
    NODE_LIMIT = "node_limit"
    HEURISTIC = "heuristic"

    def __str__(self) -> str:
        return self.value
