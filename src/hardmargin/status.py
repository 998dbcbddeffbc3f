"""Why a solve ended."""

from __future__ import annotations

from enum import Enum


class Status(str, Enum):
    """Why a solve ended.

    Attributes
    ----------
    OPTIMAL
        The requested gap was reached: the objective is proven minimal up to this gap.
    TIME_LIMIT
        The time limit was reached first.
    INTERRUPTED
        Ctrl-C came first.
    NODE_LIMIT
        The node limit was reached first.
    STALLED
        There was no progress worth having for a while, and the caller had asked to stop then.
    HEURISTIC
        The method finished without a proof, because none was requested or none was found.
    """

    OPTIMAL = "optimal"
    TIME_LIMIT = "time_limit"
    INTERRUPTED = "interrupted"
    NODE_LIMIT = "node_limit"
    STALLED = "stalled"
    HEURISTIC = "heuristic"

    def __str__(self) -> str:
        return self.value
