"""When a method must stop."""

from __future__ import annotations

import time
from dataclasses import dataclass, field


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
        Number of subproblems that it may examine.
    seed : int
        Seed of all random choices.
    started : float
        ``time.monotonic()`` when the solve began; presolve counts too.
    """

    time_limit: float = 60.0
    gap: float = 1e-6
    threads: int = 1
    node_limit: int | None = None
    seed: int = 0
    started: float = field(default_factory=time.monotonic)

    def elapsed(self) -> float:
        """Seconds since the solve began."""
        return time.monotonic() - self.started

    def remaining(self) -> float:
        """Seconds left, never negative."""
        return max(0.0, self.time_limit - self.elapsed())
