"""The smallest useful C: below it, no hyperplane costs less than the constant model w = 0.

Let V be the weight of the samples that a hyperplane violates, and W that of the cheaper class, which the constant
model gives up. The hyperplane costs less than the constant model if 1/2 ||w||^2 + C V < C W, that is, if
C > 1/2 ||w||^2 / (W - V). The smallest useful C is the infimum of these ratios over all hyperplanes with V < W.

From above (Dinkelbach's method): solve with C equal to the smallest ratio known. If the constant model is optimal,
no ratio is smaller. Otherwise the hyperplane that is found has a smaller one, which is the next C.

From below: a solve at C proves a bound L <= 1/2 ||w||^2 + C V for all hyperplanes. Let d = C W - L. Then
1/2 ||w||^2 >= C (W - V) - d, so every ratio is at least C - d / (W - V). If all weights are equal, W - V is at
least one of them. In any case, a hyperplane with V < W keeps samples of both classes. If these are at most D apart,
||w|| >= 2 / D, so every ratio is also at least N / (W - V) with N = 2 / D^2. The first bound rises with W - V and
the second one falls, and W - V is at most W. They meet where both are C N / (N + d), so every ratio is at least the
larger of that and N / W.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hardmargin.bounds import SMALLEST_GAP
from hardmargin.methods import get_method
from hardmargin.problem import MARGIN_TOLERANCE, Problem
from hardmargin.result import Result
from hardmargin.solver import solve
from hardmargin.status import Status
from hardmargin.validation import is_real

# Values of C at which the first hyperplane is searched for, as multiples of the first lower bound.
_FIRST_FACTORS = (1e3, 1e6, 1e9)
# How many steps of Dinkelbach's method the primal search does; it needs few.
_MOST_STEPS = 12
# How many values of C are tried for a better lower bound, if the proof at the upper one is not completed.
_MOST_TRIES = 16
# A step that lowers the ratio by less than this share is the last one.
_SMALL_STEP = 1e-6
# Share of the time for the primal search, and the share of what is left for each proof.
_PRIMAL_SHARE = 0.2
_PROOF_SHARE = 0.5
# Up to this many values, the distances of all pairs of samples are computed.
_MOST_DIFFERENCES = 20_000_000
# Shares that are left for rounding: of a norm, and of a product.
_SAFETY = 1e-8
_ROUNDING = 1e-12


@dataclass(frozen=True)
class UsefulC:
    """Bounds on the smallest useful C, and a hyperplane that shows the upper one.

    Attributes
    ----------
    lower : float
        Proven: at this C and below, no hyperplane costs less than w = 0.
    upper : float
        Above this C, ``coef`` and ``intercept`` cost less than w = 0; infinite if no such hyperplane was found.
    coef : list of float
        The normal vector w; zero if ``upper`` is infinite.
    intercept : float
        The offset b.
    violations : list of int
        The rows that this hyperplane gives up.
    """

    lower: float
    upper: float
    coef: list[float]
    intercept: float
    violations: list[int]


def smallest_useful_C(  # noqa: N802
    X: ArrayLike,
    y: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    class_weight: Mapping[Any, float] | str | None = None,
    method: str = "auto",
    time_limit: float | None = 60.0,
    gap: float = 1e-6,
    threads: int = 1,
    seed: int = 0,
) -> UsefulC:
    """Find the C below which every model is constant, as ``sklearn.svm.l1_min_c`` does for l1 penalties.

    At a smaller C, giving up the cheaper class costs less than any hyperplane: w = 0 is optimal, and all samples
    get the same label. A C that is useful in practice is several times larger.

    Parameters
    ----------
    X : array-like, DataFrame or sparse matrix of shape (n, m)
        Samples.
    y : array-like of shape (n,)
        Labels, any two values.
    sample_weight, class_weight
        As in :func:`hardmargin.solve`.
    method : str
        The method that proves the lower bound; one of :func:`hardmargin.methods.names`.
    time_limit : float or None
        Seconds for all solves together; None means no limit. When the limit is reached, the bounds are apart.
    gap : float
        Relative distance of the bounds at which the search stops.
    threads, seed : int
        As in :func:`hardmargin.solve`.

    Returns
    -------
    UsefulC
        A lower and an upper bound, and a hyperplane that is worth its norm at every C above the upper one.

    Raises
    ------
    ValueError, TypeError
        If the data or a parameter cannot be used; the message says what was expected.
    KeyboardInterrupt
        After Ctrl-C.

    See Also
    --------
    hardmargin.solve : ``C="scale"`` chooses a C by the scale of the samples.

    Examples
    --------
    The constant model gives up four samples. The hyperplane between 0.3 and 0.8 gives up one and has ||w|| = 4:
    1/2 * 4^2 / (4 - 1) = 2.6667.

    >>> from hardmargin import smallest_useful_C
    >>> X = [[0.0], [0.1], [0.2], [0.3], [0.7], [0.8], [0.9], [1.0]]
    >>> found = smallest_useful_C(X, [0, 0, 0, 0, 1, 1, 1, 1])
    >>> round(found.lower, 4), round(found.upper, 4), len(found.violations)
    (2.6667, 2.6667, 1)
    """
    if not is_real(gap) or not 0 < gap < 1:
        raise ValueError(f"gap is {gap!r}; expected a number above 0 and below 1.")
    if time_limit is not None and (not is_real(time_limit) or not time_limit > 0):
        raise ValueError(f"time_limit is {time_limit!r}; expected a positive number of seconds, or None.")
    get_method(method)
    problem = Problem.from_data(X, y, 1.0, sample_weight=sample_weight, class_weight=class_weight)
    search = _Search(problem, time_limit, threads=threads, seed=seed)
    search.descend(_PRIMAL_SHARE, None)
    search.prove(method, gap)
    return search.bounds()


def useful_hyperplane(
    X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None, *, time_limit: float, effort: float
) -> UsefulC:
    """The same by the primal search alone, with little effort: the upper bound is good, the lower one is not.

    Parameters
    ----------
    X, y, sample_weight
        As in :func:`smallest_useful_C`.
    time_limit : float
        Seconds.
    effort : float
        Of each primal search.

    Returns
    -------
    UsefulC
    """
    search = _Search(Problem.from_data(X, y, 1.0, sample_weight=sample_weight), time_limit)
    search.descend(1.0, effort)
    return search.bounds()


class _Search:
    """The bounds known so far, and the steps that improve them."""

    def __init__(self, problem: Problem, time_limit: float | None, **settings: Any) -> None:
        self._problem = problem
        self._settings = settings
        self._limit = math.inf if time_limit is None else time_limit
        self._started = time.monotonic()
        self._weights = np.ones(problem.n) if problem.weights is None else problem.weights
        self._side = 1.0 if self._weights @ problem.y > 0 else -1.0
        self._flat = float(self._weights[problem.y != self._side].sum())
        self._norm = _least_norm(problem, self._weights)
        positive = self._weights[self._weights > 0]
        # The smallest possible W - V, if it is known.
        self._step = float(positive[0]) if np.ptp(positive) == 0 else 0.0
        self._lower = self._norm / self._flat
        self._upper = math.inf
        self._tried = self._lower
        self._best: Result | None = None

    def bounds(self) -> UsefulC:
        """What is known now."""
        if self._best is None:
            given_up = np.flatnonzero(self._problem.y != self._side)
            return UsefulC(self._lower, math.inf, [0.0] * self._problem.m, self._side, given_up.tolist())
        best = self._best
        return UsefulC(self._lower, self._upper, best.coef, best.intercept, best.violations)

    def descend(self, share: float, effort: float | None) -> None:
        """Find a hyperplane that is worth its norm at some C, then better ones, by the primal search."""
        end = share * self._limit
        options = None if effort is None else {"effort": effort}
        first = self._lower
        for factor in _FIRST_FACTORS:
            if self._best is None and self._in_range(factor * first):
                self._solve(factor * first, end, method="heuristic", options=options)
        for _ in range(_MOST_STEPS):
            before = self._upper
            if self._best is None or self._closed(0.0):
                return
            self._solve(before, end, method="heuristic", options=options)
            if self._upper > before * (1 - _SMALL_STEP):
                return

    def prove(self, method: str, gap: float) -> None:
        """Raise the lower bound until the two are within the gap, as far as time allows."""
        C = self._tried if self._best is None else self._upper
        for _ in range(_MOST_TRIES):
            if self._closed(gap) or not math.isfinite(C):
                return
            before = self._upper
            end = self._elapsed() + _PROOF_SHARE * (self._limit - self._elapsed())
            result = self._solve(C, end, method=method, gap=self._gap_of_solve(C, gap))
            if result is None:
                return
            if self._upper < before:
                C = self._upper
            elif result.optimal and before in (C, math.inf):
                return
            else:
                C = math.sqrt(self._lower * self._upper)

    def _gap_of_solve(self, C: float, gap: float) -> float:
        """The gap to prove at C so that the ratios are bounded up to ``gap``."""
        share = max(self._step, self._norm / C) / self._flat
        return min(max(SMALLEST_GAP, gap * min(1.0, share) / 2), 0.5)

    def _closed(self, gap: float) -> bool:
        return self._lower >= self._upper * (1 - gap)

    def _elapsed(self) -> float:
        return time.monotonic() - self._started

    def _in_range(self, C: float) -> bool:
        return C > 0 and math.isfinite(C * float(self._weights.sum()) * self._problem.n)

    def _solve(self, C: float, end: float, **settings: Any) -> Result | None:
        """Solve at C until ``end``, and learn from it; None if there is no time."""
        seconds = end - self._elapsed()
        if seconds <= 0:
            return None
        best = self._best
        result = solve(
            self._problem.X,
            self._problem.y,
            C,
            sample_weight=self._problem.weights,
            time_limit=seconds,
            start=None if best is None else (best.coef, best.intercept),
            **self._settings,
            **settings,
        )
        self._tried = max(self._tried, C)
        self._learn(C, result)
        if result.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        return result

    def _learn(self, C: float, result: Result) -> None:
        saved = self._flat - float(self._weights[result.violations].sum())
        half_norm = 0.5 * float(np.dot(result.coef, result.coef))
        # Sums in another order may differ by rounding, and w = 0 is no hyperplane.
        if saved > _ROUNDING * self._flat and 0 < half_norm < self._upper * saved:
            self._upper, self._best = half_norm / saved, result
        missing = max(0.0, C * self._flat * (1 + _ROUNDING) - result.lower_bound)
        bound = C * self._norm / (self._norm + missing) if math.isfinite(self._norm) else C
        if self._step > 0:
            bound = max(bound, C - missing / self._step)
        self._lower = min(max(self._lower, bound), self._upper)


def _least_norm(problem: Problem, weights: Any) -> float:
    """A lower bound on 1/2 ||w||^2 of every hyperplane that keeps samples of both classes."""
    counts = weights > 0
    sides = [problem.X[counts & (problem.y == side)] for side in (-1.0, 1.0)]
    with np.errstate(over="ignore", under="ignore", divide="ignore"):
        distance = _largest_distance(*sides)
        norm = float(2 * (1 - MARGIN_TOLERANCE) ** 2 * (1 - _SAFETY) / np.square(np.float64(distance)))
    if distance > 0 and not 0 < norm < math.inf:
        raise ValueError(
            f"samples of the two classes are {distance:.3g} apart, so the smallest useful C is out of range; "
            "multiply or divide all features by one common factor."
        )
    return norm


def _largest_distance(first: Any, second: Any) -> float:
    """An upper bound on the distance of two samples, one of each set; exact if the sets are small."""
    # The box that contains both sets has these widths, feature by feature.
    low, high = ([_by_feature(part, extreme) for part in (first, second)] for extreme in ("min", "max"))
    widths = np.maximum(high[0] - low[1], high[1] - low[0])
    size = float(widths.max())
    if size == 0:
        return 0.0
    if isinstance(first, np.ndarray) and len(first) * len(second) * first.shape[1] <= _MOST_DIFFERENCES:
        return size * math.sqrt(max(np.square((second - row) / size).sum(axis=1).max() for row in first))
    return size * math.sqrt(np.square(widths / size).sum())


def _by_feature(part: Any, extreme: str) -> Any:
    values = getattr(part, extreme)(axis=0)
    return values if isinstance(values, np.ndarray) else np.asarray(values.todense()).ravel()
