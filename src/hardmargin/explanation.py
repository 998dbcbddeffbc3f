"""Which samples are wrong, and how sure is that? The price of keeping each sample that a model gives up.

Let P be the smallest objective of all hyperplanes, and P_i that of the hyperplanes that keep sample i. The price of
keeping it is P_i - P: how much worse every model becomes that accepts the sample as it is. It is never negative,
and 0 for the samples that an optimal hyperplane keeps.

Neither number has to be known exactly. With L <= P <= U and L_i <= P_i <= U_i, the price lies between L_i - U and
U_i - L. U is the objective of the best hyperplane known, and U_i that of the best one that keeps the sample. L is
the model's proven bound. Hyperplanes that keep the sample are hyperplanes, so P_i >= P, and L_i may be raised to L.

Every hyperplane within a share x of the optimum gives the sample up if and only if P_i > (1 + x) P. So this is
certain if L_i > (1 + x) U. It is refuted if U_i <= (1 + x) L, because the hyperplane with the objective U_i is
within the share then, and keeps the sample.

The first U_i comes from the model's direction, scaled and shifted so that the sample is kept, and from a short
primal search. Then both bounds are improved by solves in which the sample counts more. If giving it up costs D more
than before, the optimum is min(P_i, Q_i + D), where Q_i is that of the hyperplanes that give the sample up. So
every bound on it is a bound on P_i. The model's hyperplane is a start with the objective U + D, beyond which the
search need not look, so it is about as hard as the model's own. If the optimum keeps the sample, the price is
found. Otherwise it is at least D, and D is doubled. The first D is just large enough to decide whether the sample
is always given up. When U + D reaches U_i, the sample is trusted instead, which needs no D.

If the model had to keep trusted samples, or if its weights were bounded, all of this holds for the hyperplanes that
respect that.

All samples take turns. A solve that does not finish gets more subproblems in the sample's next turn, so every
sample has an interval before any sample gets much time.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hardmargin.arrays import FloatArray
from hardmargin.outlier_table import Outlier, Outliers
from hardmargin.problem import Evaluation, Problem
from hardmargin.result import Result
from hardmargin.row_order import equal_rows
from hardmargin.search.shifting import shifted
from hardmargin.signals import HeldSignals
from hardmargin.solver import solve
from hardmargin.status import Status
from hardmargin.validation import is_real
from hardmargin.verification import training_problem

_SAMPLES = ("given-up", "all")
_GAP = 1e-6
# Subproblems and effort of the primal search in the first solve for a sample, and how much more the next one gets
# if that was not enough.
_FIRST_NODES = 2000
_FIRST_EFFORT = 0.05
_MORE = 4
# Effort of the primal search for a first hyperplane that keeps a sample; on 200 samples with 5 features, a fourth
# of it gave up to three times the price.
_SEARCH_EFFORT = 0.2
# Shares of the time after which the first hyperplanes that keep samples are no longer shifted, and searched for.
_SHIFT_SHARE = 0.1
_SEARCH_SHARE = 0.3
# A sample may use this many times its share of the time, up to this share of all the time left.
_SHARES = 8
_LARGEST_TURN = 0.2
# Share of the time for a better bound of the model itself, if that is more time than was spent on it.
_MODEL_SHARE = 0.25
# A solve with less time than this cannot do anything.
_SHORTEST = 0.01
# How much more than its share of the optimum the first extra cost of a sample is, for the gap of the proof.
_BEYOND = 10 * _GAP
# Bounds this close to each other, relative to the objectives, are the same.
_EXACT = 2 * _GAP
# The objective recomputed from the data may differ from the model's by this share.
_SAME_OBJECTIVE = 1e-6


def outliers(
    model: Any,
    X: ArrayLike,
    y: ArrayLike,
    *,
    samples: str = "given-up",
    within: float = 0.01,
    time_limit: float | None = 60.0,
    threads: int = 1,
    seed: int = 0,
    report: Callable[[int, int], None] | None = None,
) -> Outliers:
    """Price the samples that a model gives up: by how much does the optimum rise if a sample must be kept?

    A high price means that the sample contradicts many others: its label is probably wrong, or it is an outlier. A
    price near zero means that another model, which is nearly as good, keeps it.

    Parameters
    ----------
    model : Result or fitted HardMarginSVC
        A model of two classes.
    X, y : array-like of shape (n, m) and (n,)
        The data that it was trained on.
    samples : "given-up" or "all"
        Whether to list only the samples that the model gives up. All others have a price of 0, or at most the
        model's gap if it is not proven optimal.
    within : float
        For each sample it is decided, if possible, whether every hyperplane with an objective of at most
        (1 + ``within``) times the optimum gives it up.
    time_limit : float or None
        Seconds for the whole table; None means until every price is exact.
    threads, seed : int
        As in :func:`hardmargin.solve`.
    report : callable, optional
        ``report(exact, total)``, called as prices become exact.

    Returns
    -------
    Outliers
        A table, sorted by price. Ctrl-C ends the search early and still returns.

    Raises
    ------
    ValueError, TypeError
        If the model, the data or a parameter cannot be used; the message says what was expected.

    Examples
    --------
    The last label is wrong. To keep it, two other samples must be given up, for which the constant model is best.
    It costs 20 instead of 10.5.

    >>> from hardmargin import outliers, solve
    >>> X, y = [[0.0], [1.0], [3.0], [4.0], [9.0]], ["low", "low", "high", "high", "low"]
    >>> table = outliers(solve(X, y, C=10), X, y)
    >>> len(table), table[0].row, table[0].label
    (1, 4, 'low')
    >>> round(table[0].price_low, 3), round(table[0].price_high, 3), table[0].always_given_up
    (9.5, 9.5, True)
    """
    if samples not in _SAMPLES:
        raise ValueError(f"samples is {samples!r}; expected one of {', '.join(map(repr, _SAMPLES))}.")
    if not is_real(within) or not 0 <= within < math.inf:
        raise ValueError(f"within is {within!r}; expected a share of the optimum, at least 0.")
    if time_limit is not None and (not is_real(time_limit) or not time_limit > 0):
        raise ValueError(f"time_limit is {time_limit!r}; expected a positive number of seconds, or None.")
    deadline = time.monotonic() + (math.inf if time_limit is None else float(time_limit))
    result = _result_of(model)
    if result.max_violations is not None:
        raise ValueError(
            "the model was trained with max_violations, so that violations have no price; expected a model that "
            "was trained with a penalty C alone."
        )
    problem = training_problem(result, X, y)
    evaluation = problem.evaluate(result.coef, result.intercept)
    _check_objective(result, evaluation)
    search = _Search(problem, result, evaluation, deadline, {"threads": threads, "seed": seed})
    status = search.run(float(within), report or (lambda *_: None))
    with contextlib.suppress(KeyboardInterrupt), HeldSignals():
        # Ctrl-C waits until the table is there, and is then too late to matter.
        table = search.table(samples, float(within), status)
    return table


@dataclass
class _Kept:
    """What is known about hyperplanes that keep a sample.

    Attributes
    ----------
    row : int
        The sample.
    lower, upper : float
        Bounds on their smallest objective.
    hyperplane : tuple of ndarray and float, or None
        One with the objective ``upper``, if that is finite.
    extra : float
        What it costs more to give up the sample in the next solve.
    hopeless : bool
        Whether the sample cannot be kept because of other constraints, as far as that can be decided.
    nodes, effort : int, float
        Subproblems of that solve, and effort of its primal search.
    """

    row: int
    lower: float
    upper: float = math.inf
    hyperplane: tuple[FloatArray, float] | None = None
    extra: float = 0.0
    hopeless: bool = False
    nodes: int = _FIRST_NODES
    effort: float = _FIRST_EFFORT

    @property
    def closed(self) -> bool:
        """Whether the bounds meet, up to the gap of the proofs."""
        return math.isfinite(self.upper) and self.upper - self.lower <= _EXACT * self.upper


class _Search:
    """The bounds known so far, and the steps that improve them."""

    def __init__(
        self, problem: Problem, result: Result, evaluation: Evaluation, deadline: float, settings: dict[str, Any]
    ) -> None:
        self._problem = problem
        self._result = result
        self._evaluation = evaluation
        self._deadline = deadline
        self._settings = settings
        self._upper = evaluation.objective
        self._lower = min(result.lower_bound, evaluation.objective)
        self._best = (np.array(result.coef), result.intercept)
        # Identical samples with the same label have the same price.
        given_up = evaluation.violations
        rows = self._place = given_up
        if len(given_up) > 0:
            rows, self._place = equal_rows(problem.y, problem.X, given_up, lambda: None)
        self._kept = [_Kept(row, self._lower) for row in rows.tolist()]
        self._interrupted = False
        # Without any search: w = 0 keeps one class.
        for side in (-1.0, 1.0):
            self._adopt(np.zeros(problem.m), side)

    def run(self, within: float, report: Callable[[int, int], None]) -> Status:
        """Narrow the intervals until all prices are exact, time is up, or Ctrl-C comes; says which."""
        try:
            for _ in self._steps(within):
                report(sum(each.closed for each in self._kept), len(self._kept))
                if self._interrupted:
                    return Status.INTERRUPTED
                if self._remaining() < _SHORTEST:
                    return Status.TIME_LIMIT
        except KeyboardInterrupt:
            return Status.INTERRUPTED
        return Status.OPTIMAL

    def _steps(self, within: float) -> Iterator[None]:
        """Improve one bound at a time; the bounds are valid after each step."""
        yield from self._first_hyperplanes()
        self._improve_model()
        yield
        for each in self._kept:
            # Whole multiples of its cost: the methods are fastest if all costs are multiples of each other.
            cost = float(self._problem.costs[each.row]) or self._problem.C
            each.extra = cost * (math.floor((within + _BEYOND) * self._upper / cost) + 1)
        while waiting := [each for each in self._kept if self._is_open(each, within)]:
            # Undecided samples first, and among them the widest intervals.
            waiting.sort(key=lambda each: (self._verdict(each, within) is not None, each.lower - each.upper))
            for position, each in enumerate(waiting):
                self._take_turn(each, self._turn(len(waiting) - position))
                yield

    def _is_open(self, each: _Kept, within: float) -> bool:
        """Whether another solve would teach something about a sample."""
        return not (each.closed or (each.hopeless and self._verdict(each, within) is not None))

    def _first_hyperplanes(self) -> Iterator[None]:
        """Find hyperplanes that keep the samples: the model's, shifted, and then by short primal searches."""
        begun = self._remaining()
        for hyperplane in shifted(self._problem, self._best[0], [each.row for each in self._kept]):
            self._adopt(*hyperplane)
            yield
            if self._remaining() < (1 - _SHIFT_SHARE) * begun:
                break
        for position, each in enumerate(self._kept):
            seconds = self._remaining() - (1 - _SEARCH_SHARE) * begun if math.isfinite(begun) else math.inf
            if seconds < _SHORTEST:
                return
            share = seconds / (len(self._kept) - position)
            options = {"effort": _SEARCH_EFFORT}
            self._solve_keeping(each, max(_SHORTEST, share), method="heuristic", options=options)
            yield

    def _remaining(self) -> float:
        return max(0.0, self._deadline - time.monotonic())

    def _turn(self, waiting: int) -> float:
        """The seconds for the next of several samples.

        More than its share, because a proof that is cut off just before its end was in vain, and most samples need
        less than theirs; but never most of the time, if others are waiting.
        """
        left = self._remaining()
        return max(left / waiting, min(_SHARES * left / waiting, _LARGEST_TURN * left))

    def _improve_model(self) -> None:
        """Solve the model's own problem again, if it was left with a gap and there is more time than it had."""
        seconds = _MODEL_SHARE * self._remaining()
        if self._upper - self._lower <= _GAP * self._upper or not seconds > self._result.runtime:
            return
        found = self._solve(seconds, start=self._best)
        self._lower = max(self._lower, found.lower_bound)
        for each in self._kept:
            each.lower = max(each.lower, self._lower)

    def _take_turn(self, each: _Kept, seconds: float) -> None:
        """Improve the bounds of one sample by a solve in which it counts more, or must be kept."""
        settings = {"node_limit": each.nodes, "options": {"heuristic_effort": min(1.0, each.effort)}}
        found: Result | None
        if self._upper + each.extra < each.upper:
            weights = np.ones(self._problem.n) if self._problem.weights is None else self._problem.weights.copy()
            weights[each.row] += each.extra / self._problem.C
            found = self._solve(seconds, sample_weight=weights, start=self._best, **settings)
        else:
            found = self._solve_keeping(each, seconds, **settings)
        if found is None:
            return
        each.lower = max(each.lower, found.lower_bound)
        if found.optimal:
            each.extra *= 2
        else:
            each.nodes, each.effort = _MORE * each.nodes, _MORE * each.effort

    def _solve_keeping(self, each: _Kept, seconds: float, **settings: Any) -> Result | None:
        """Solve with one sample trusted; None if it contradicts other constraints, or if time was too short."""
        deadline = time.monotonic() + seconds
        trusted = self._problem.must_keep | (np.arange(self._problem.n) == each.row)
        try:
            return self._solve(seconds, trusted=trusted, start=each.hyperplane, **settings)
        except ValueError:
            # No hyperplane was found that keeps it. Without other constraints there is one.
            is_late = time.monotonic() >= deadline
            if not (is_late or self._problem.constrained):
                raise
            each.hopeless = not is_late
            return None

    def _solve(self, seconds: float, **settings: Any) -> Result:
        """Solve and use the hyperplane. After Ctrl-C the solve has an answer too, and ends the search."""
        problem = self._problem
        given = {
            "sample_weight": problem.weights,
            "trusted": problem.trusted,
            "monotonic_cst": self._result.monotonic_cst,
            "coef_bounds": self._result.coef_bounds,
        }
        found = solve(
            problem.X,
            problem.y,
            problem.C,
            time_limit=seconds if math.isfinite(seconds) else None,
            gap=_GAP,
            **{**given, **self._settings, **settings},
        )
        self._adopt(np.array(found.coef), found.intercept)
        self._interrupted = found.status is Status.INTERRUPTED
        return found

    def _adopt(self, coef: FloatArray, intercept: float) -> None:
        """Use a hyperplane as the upper bound of every sample that it keeps."""
        evaluation = self._problem.evaluate(coef, intercept)
        violated = np.zeros(self._problem.n, dtype=bool)
        violated[evaluation.violations] = True
        for each in self._kept:
            if evaluation.objective < each.upper and not violated[each.row]:
                each.upper, each.hyperplane = evaluation.objective, (coef, intercept)
        if evaluation.objective < self._upper:
            self._upper, self._best = evaluation.objective, (coef, intercept)

    def table(self, samples: str, within: float, status: Status) -> Outliers:
        """The rows with the prices known by now."""
        given_up = self._evaluation.violations
        places = zip(given_up.tolist(), self._place.tolist(), strict=True)
        rows = [self._row(row, self._kept[place], within) for row, place in places]
        if samples == "all":
            others = np.setdiff1d(np.arange(self._problem.n), given_up)
            # The best hyperplane need not be the model's by now.
            upper = np.full(self._problem.n, self._upper)
            upper[self._problem.evaluate(*self._best).violations] = self._evaluation.objective
            rows += [self._row(row, _Kept(row, self._lower, float(upper[row])), within) for row in others.tolist()]
        # The upper ends, because they come from hyperplanes, and the lower ones from how far the proofs have got.
        rows.sort(key=lambda row: (-row.price_high, -row.price_low, row.margin, row.row))
        if all(row.exact for row in rows):
            status = Status.OPTIMAL
        elif status is Status.OPTIMAL:
            # Other constraints prevent some sample from being kept.
            status = Status.HEURISTIC
        return Outliers(
            rows=tuple(rows),
            objective=self._upper,
            lower_bound=self._lower,
            within=within,
            given_up=len(given_up),
            n=self._problem.n,
            status=status,
        )

    def _row(self, row: int, kept: _Kept, within: float) -> Outlier:
        problem = self._problem
        length = math.hypot(*self._result.coef)
        margin = float(self._evaluation.margins[row])
        low = max(0.0, kept.lower - self._upper)
        high = max(low, kept.upper - self._lower)
        return Outlier(
            row=row,
            label=problem.classes[int(problem.y[row] > 0)],
            margin=margin,
            distance=margin / length if length > 0 else math.nan,
            price_low=low,
            price_high=high,
            exact=math.isfinite(high) and high - low <= _EXACT * (self._upper + kept.upper),
            always_given_up=self._verdict(kept, within),
        )

    def _verdict(self, kept: _Kept, within: float) -> bool | None:
        if kept.lower > (1 + within) * self._upper:
            return True
        return False if kept.upper <= (1 + within) * self._lower else None


def _result_of(model: Any) -> Result:
    result = model if isinstance(model, Result) else getattr(model, "result_", None)
    if not isinstance(result, Result):
        raise TypeError(
            f"model is {type(model).__name__}; expected a Result, or a fitted HardMarginSVC of two classes."
        )
    return result


def _check_objective(result: Result, evaluation: Evaluation) -> None:
    """Refuse data that the model was not trained on: its bound would not hold for them."""
    same = math.isclose(result.objective, evaluation.objective, rel_tol=_SAME_OBJECTIVE)
    if not same or result.lower_bound > evaluation.objective * (1 + _SAME_OBJECTIVE):
        raise ValueError(
            f"on these data the model has the objective {evaluation.objective:.9g}, but it claims "
            f"{result.objective:.9g} and at least {result.lower_bound:.9g} for every hyperplane; expected the data "
            "that it was trained on, in the same units."
        )
