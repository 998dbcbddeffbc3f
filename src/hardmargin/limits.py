"""When a method must stop, and how much memory it may use."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from hardmargin.arrays import dense_bytes
from hardmargin.units import GIGABYTE

# Gigabytes that a proof may use for up to this many samples; with more samples, less.
_MEMORY = 4.0
_FEW_SAMPLES = 2000
# Gigabytes that are left of three times the data and 300 MB after Python and its packages, the data and one copy,
# if these are subtracted.
_LEAST_MEMORY = 0.1


def default_memory(n: int, m: int, sparse: int = 0) -> float:
    """The gigabytes that a proof may use by default, in addition to the samples and the copy that presolve makes.

    4 GB for up to 2000 samples. With more samples it falls in proportion to their number, down to the size of the
    samples plus 0.1 GB: the whole process then takes at most about three times the data plus 300 MB. Sparse samples
    always have that, because only the bounds of small blocks are proven about them.

    Parameters
    ----------
    n, m : int
        Number of samples and features.
    sparse : int
        The bytes of the samples if they are sparse; 0 means that they are dense.

    Examples
    --------
    >>> default_memory(500, 10), default_memory(20_000, 10), round(default_memory(1_000_000, 10), 2)
    (4.0, 0.4, 0.18)
    >>> default_memory(20_000, 5000, sparse=12_000_000)
    0.112
    """
    if sparse > 0:
        return _LEAST_MEMORY + sparse / GIGABYTE
    least = _LEAST_MEMORY + dense_bytes(n, m) / GIGABYTE
    return min(_MEMORY, max(_MEMORY * _FEW_SAMPLES / max(n, 1), least))


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
