"""The primal search for many samples: good hyperplanes from a number of passes over the data that does not grow.

The compiled search (``core/primal/search.h``) solves a max-margin problem over all samples in every step, which
takes too long from some thousands of samples on. This search works on directions instead. The best scale and offset
along a direction are found exactly by sorting the projections (``core/primal/offset_search.h``), so directions are
compared by the objective of their best hyperplane.

1. Directions come from a random part of the samples: the squared hinge loss of a plain linear SVM, the same without
   the samples far out or far on the wrong side, and the difference of the trimmed class centres.
2. They are improved by annealing: the objective with its steps replaced by logistic functions is minimised, and
   these become steeper stage by stage. Distant outliers do not pull at such a function. Each stage ends with the
   best scale and offset. The best directions are then annealed over larger and larger parts of the samples, and
   finally over all of them.
3. Exact line searches over all samples, and the compiled search on the samples next to the margin, refine the
   result.

All randomness is seeded, and budgets are measured in work, so the answer does not depend on the machine's speed
unless a time limit ends the search.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from hardmargin import _core
from hardmargin.arrays import FloatArray
from hardmargin.blas import one_blas_thread
from hardmargin.incumbent import Incumbent
from hardmargin.limits import Limits
from hardmargin.problem import MARGIN_TOLERANCE, Problem
from hardmargin.search.descent import Point, descend
from hardmargin.search.scaled_samples import ScaledSamples, robust_scaling, trimmed_classes
from hardmargin.search.smooth_losses import SmoothedObjective, SquaredHinge
from hardmargin.search.watch import Watch

# The first part of the samples: rows, and values unless these are too few rows.
_PART_ROWS = 10_000
_PART_VALUES = 4_000_000
_LEAST_ROWS = 2000
# The smaller class makes up at least this share of a part.
_LEAST_CLASS_SHARE = 0.25
# Each part has this many times the rows of the one before.
_GROWTH = 8

# Penalties of the squared hinge loss, relative to the cost of all samples and the spread of the features. Each
# descent starts from the previous one.
_PENALTIES = (1e-3, 1e-1, 1e-2, 1e-5, 1e-7)
_HINGE_ITERATIONS = 30
_RAMP_ITERATIONS = 15
_RAMPS = 3
_FAR_MARGIN = -1.0

# Widths of the steps in annealing, relative to the median distance from the margin.
_HOTTEST = 1.0
_WARM = 0.25
_COLDEST = 0.02
_STAGES = 6
_STAGE_ITERATIONS = 10
# Directions that are annealed on the first part, and those that go on to larger parts.
_ANNEALED = 4
_PROMOTED = 2

# Sorting projections or the events of a line takes about as much work per sample as this many features.
_SORT_WORK = 20
# Samples next to the margin for the compiled search, its work, and how many lines are tried in each round.
_NEAR_SAMPLES = 2000
_NEAR_VALUES = 1_000_000
_LEAST_NEAR = 200
_NEAR_WORK = 100_000_000
_NEAR_TRIES = 2
_LINES = 4
# Rounds that improve less than this, relatively, are without success; after this many of them the search ends.
_WORTHWHILE = 1e-6
_PATIENCE = 20
# Given hyperplanes that are tried on all samples.
_POLISHED = 8
# Smaller improvements are rounding.
_NOTICEABLE = 1 - 1e-12

# Seconds between two reports of the same objective.
_REPORT_INTERVAL = 0.05


class _Candidate(NamedTuple):
    """A direction over some part of the samples, with its least objective there."""

    objective: float
    weights: FloatArray
    offset: float


class LargeSearch:
    """A search for good hyperplanes of one problem.

    Parameters
    ----------
    problem : Problem
        With samples that are dense, or sparse in CSR form.
    limits : Limits
    watch : Watch
        Gets the reports, and is told when a limit is reached.

    Attributes
    ----------
    coef, intercept, objective
        The best hyperplane; at first, the one that gives up the cheaper class.
    work : int
        Multiply-adds so far, approximately.
    rounds : int
        Rounds of refinement so far.
    """

    def __init__(self, problem: Problem, limits: Limits, watch: Watch) -> None:
        self._problem = problem
        self._limits = limits
        self._watch = watch
        self._random = np.random.default_rng(limits.seed)
        self._budget = math.inf
        self._next_report = 0.0
        self.work = 0
        self.rounds = 0
        lost = [float(np.sum(problem.costs, where=problem.y == label)) for label in (-1.0, 1.0)]
        self.coef: FloatArray = np.zeros(problem.m)
        self.intercept = 1.0 if lost[1] >= lost[0] else -1.0
        self.objective = min(lost)
        self._margins: FloatArray = problem.y * self.intercept
        self._first_part: ScaledSamples | None = None

    @property
    def incumbent(self) -> Incumbent:
        """The best hyperplane."""
        return Incumbent(self.coef, self.intercept)

    def offer(self, hyperplane: Incumbent) -> None:
        """Take up a hyperplane from elsewhere; the best scale and offset along its direction are tried too."""
        with one_blas_thread:
            coef = np.ascontiguousarray(hyperplane.coef, dtype=np.float64)
            projections = self._projections(coef)
            self._adopt(coef, float(hyperplane.intercept), self._problem.y * (projections + hyperplane.intercept))
            self._ended()
            self._try_direction(coef, projections)

    def run(self, work: int) -> None:
        """Search until about this much work is done; directions from a part of the samples come in any case."""
        with one_blas_thread, np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            self._budget = self.work + work
            if self._problem.m > 0 and self.objective > 0 and not self._ended():
                self._refine(self._through_all_parts(self._started()))

    def polish(self, hyperplanes: Sequence[Incumbent], work: int) -> None:
        """Improve given hyperplanes, for instance those of parts of the problem, on all samples.

        Parameters
        ----------
        hyperplanes : sequence of Incumbent
        work : int
            About how many multiply-adds this may take. The best of them on a part of the samples is tried on all in
            any case.
        """
        with one_blas_thread, np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            self._budget = self.work + work
            if self._problem.m == 0 or not hyperplanes or self._ended():
                return
            part = self._part(0)
            scaled = [part.scaling.scaled(np.asarray(each.coef), each.intercept) for each in hyperplanes]
            found = [self._best_on(part, _point(part, *each))[0] for each in scaled]
            self.work += len(found) * self._screening_work(part)
            best = sorted(found, key=lambda candidate: candidate.objective)[:_POLISHED]
            for index, candidate in enumerate(best):
                if index > 0 and self._stop(0):
                    return
                self._try_everywhere(candidate)
            self._refine([])

    # ---- limits

    def _ended(self) -> bool:
        """Whether the search must end; reports now and then, which is where the caller may interrupt it."""
        if self._watch.ended is None:
            elapsed = self._limits.elapsed()
            if elapsed >= self._next_report:
                self._next_report = elapsed + _REPORT_INTERVAL
                self._watch.report(self.objective, 0.0, self.rounds)
            self._watch.take_note(None)
        return self._watch.ended is not None

    def _in_time(self, work: int) -> bool:
        """Count work that is done in any case; True if a limit is reached."""
        self.work += work
        return self._ended()

    def _stop(self, work: int) -> bool:
        """Count work; True if the budget is spent or a limit is reached."""
        return self._in_time(work) or self.work >= self._budget

    # ---- hyperplanes over all samples

    def _projections(self, coef: FloatArray) -> FloatArray:
        self.work += self._pass_work()
        projections: FloatArray = self._problem.X @ coef
        return projections

    def _pass_work(self) -> int:
        X: Any = self._problem.X
        return int(X.nnz if scipy.sparse.issparse(X) else X.size)

    def _adopt(self, coef: FloatArray, intercept: float, margins: FloatArray) -> bool:
        """Make a hyperplane with these margins the incumbent if it is better, scaled so that kept samples pass."""
        kept = margins >= 1 - MARGIN_TOLERANCE
        smallest = float(np.min(margins, where=kept, initial=1.0))
        lost = float(np.sum(self._problem.costs, where=~kept))
        objective = 0.5 * float(coef @ coef) / smallest**2 + lost
        if not objective < self.objective * _NOTICEABLE:
            return False
        self.coef, self.intercept, self.objective = coef / smallest, intercept / smallest, objective
        self._margins = margins / smallest
        self._next_report = 0.0
        return True

    def _try_direction(self, coef: FloatArray, projections: FloatArray) -> None:
        """The best scale and offset along a direction."""
        problem = self._problem
        self.work += _SORT_WORK * problem.n
        objective, scale, offset = _core.best_offset(projections, problem.y, problem.costs, float(coef @ coef))
        if objective < self.objective and scale > 0:
            margins = scale * projections
            margins += offset
            margins *= problem.y
            self._adopt(coef * scale, offset, margins)

    def _try_everywhere(self, candidate: _Candidate) -> None:
        """Try a direction of some part on all samples."""
        coef, _ = self._part(0).scaling.restored(candidate.weights, candidate.offset)
        if np.isfinite(coef).all():
            self._try_direction(coef, self._projections(coef))

    def _try_line(self, coef: FloatArray, intercept: float) -> bool:
        """Try the best point on the line through the best hyperplane, in the direction of this change."""
        problem = self._problem
        slopes = self._projections(coef)
        slopes += intercept
        slopes *= problem.y
        self.work += _SORT_WORK * problem.n
        step, objective = _core.line_minimum(
            self._margins,
            slopes,
            problem.costs,
            float(self.coef @ self.coef),
            float(self.coef @ coef),
            float(coef @ coef),
            self.objective,
        )
        if not objective < self.objective or not math.isfinite(step):
            return False
        slopes *= step
        slopes += self._margins
        return self._adopt(self.coef + step * coef, self.intercept + step * intercept, slopes)

    # ---- parts of the samples

    def _part(self, index: int) -> ScaledSamples:
        """A random part of the samples; each is larger than the one before, up to all samples."""
        if index == 0 and self._first_part is not None:
            return self._first_part
        X, y, costs = self._drawn(self._rows_of_part(index))
        if index > 0:
            return ScaledSamples(X, y, costs, self._part(0).scaling)
        self._first_part = ScaledSamples(X, y, costs, robust_scaling(X))
        return self._first_part

    def _rows_of_part(self, index: int) -> int:
        values_per_row = max(1.0, self._pass_work() / self._problem.n)
        first = int(np.clip(_PART_VALUES / values_per_row, _LEAST_ROWS, _PART_ROWS))
        return int(first * _GROWTH**index)

    def _drawn(self, count: int) -> tuple[Any, FloatArray, FloatArray]:
        """Random samples with enough of both classes, whose costs add up to those of all samples."""
        problem = self._problem
        if 2 * count >= problem.n:
            return problem.X, problem.y, problem.costs
        smaller, larger = sorted((np.flatnonzero(problem.y == label) for label in (-1.0, 1.0)), key=len)
        share = max(len(smaller) / problem.n, _LEAST_CLASS_SHARE)
        few = min(len(smaller), int(share * count))
        rows = [
            self._random.choice(members, min(len(members), size), replace=False)
            for members, size in ((smaller, few), (larger, count - few))
        ]
        costs = [
            problem.costs[drawn] * (float(problem.costs[members].sum()) / float(problem.costs[drawn].sum()))
            for members, drawn in zip((smaller, larger), rows, strict=True)
            if len(drawn) > 0
        ]
        drawn = np.concatenate(rows)
        order = np.argsort(drawn)
        drawn = drawn[order]
        return problem.X[drawn], problem.y[drawn], np.concatenate(costs)[order]

    def _is_whole(self, part: ScaledSamples) -> bool:
        return part.X is self._problem.X

    def _screening_work(self, part: ScaledSamples) -> int:
        return part.pass_work + _SORT_WORK * len(part.y)

    def _best_on(self, part: ScaledSamples, point: Point) -> tuple[_Candidate, float]:
        """The best scale and offset along a point's direction over a part, and the scale; 0 if w = 0 is best."""
        coef, intercept = part.scaling.restored(point.weights, point.offset)
        self.work += _SORT_WORK * len(part.y)
        objective, scale, offset = _core.best_offset(point.scores, part.y, part.costs, float(coef @ coef))
        if scale == 0:
            return _Candidate(objective, point.weights, point.offset), 0.0
        if self._is_whole(part) and objective < self.objective:
            margins = scale * point.scores
            margins += offset
            margins *= part.y
            self._adopt(coef * scale, intercept * scale + offset, margins)
        return _Candidate(objective, point.weights * scale, point.offset * scale + offset), scale

    # ---- the stages of the search

    def _started(self) -> list[_Candidate]:
        """Directions from the first part, annealed, best first; the first one of all is tried on all samples."""
        part = self._part(0)
        found: list[_Candidate] = []
        for point in self._starts(part):
            candidate, _ = self._best_on(part, point)
            if not found and not self._is_whole(part):
                self._try_everywhere(candidate)
            found.append(candidate)
            if self._ended():
                break
        found.sort(key=lambda each: each.objective)
        annealed: list[_Candidate] = []
        for candidate in found[:_ANNEALED]:
            if annealed and self._stop(0):
                break
            annealed.append(self._annealed(part, candidate, _HOTTEST, self._in_time))
        return sorted([*annealed, *found], key=lambda each: each.objective)

    def _starts(self, part: ScaledSamples) -> Iterator[Point]:
        """Directions that need no annealing, the plain linear SVM first."""
        (negative, positive), counted = trimmed_classes(part)
        origin = _point(part, np.zeros(len(negative)), 0.0)
        for costs in (part.costs, part.costs * counted):
            hinge = origin
            for penalty in _PENALTIES:
                hinge = self._hinge(part, costs, penalty, hinge, _HINGE_ITERATIONS)
                yield hinge
            yield self._ramp(part, costs, _PENALTIES[0], hinge)
        difference = positive - negative
        yield _point(part, difference, -0.5 * float(difference @ (positive + negative)))

    def _hinge(
        self, part: ScaledSamples, costs: FloatArray, penalty: float, start: Point, iterations: int
    ) -> Point:
        """The squared hinge loss."""
        inverse_spread = part.scaling.inverse_spread
        strength = penalty * float(costs.sum()) / float(np.median(inverse_spread)) ** 2
        loss = SquaredHinge(part.y, costs, inverse_spread, strength)
        return descend(part, loss, start, iterations, self._in_time)

    def _ramp(self, part: ScaledSamples, costs: FloatArray, penalty: float, start: Point) -> Point:
        """The squared hinge loss, repeated without the samples that are far on the wrong side."""
        point = start
        for _ in range(_RAMPS):
            near = part.y * point.scores >= _FAR_MARGIN
            point = self._hinge(part, costs * near, penalty, point, _RAMP_ITERATIONS)
        return point

    def _annealed(
        self, part: ScaledSamples, start: _Candidate, hottest: float, stop: Callable[[int], bool]
    ) -> _Candidate:
        """The best direction of all stages of annealing."""
        best = start
        point = _point(part, start.weights, start.offset)
        stages = max(2, round(_STAGES * math.log(hottest / _COLDEST) / math.log(_HOTTEST / _COLDEST)))
        for width in np.geomspace(hottest, _COLDEST, stages):
            length = float(np.linalg.norm(point.weights))
            temperature = float(width * np.median(np.abs(1 - part.y * point.scores)))
            if stop(0) or not (length > 0 and temperature > 0 and math.isfinite(temperature)):
                break
            loss = SmoothedObjective(part.y, part.costs, part.scaling.inverse_spread, length, temperature)
            point = descend(part, loss, _scaled(point, 1 / length), _STAGE_ITERATIONS, stop)
            found, scale = self._best_on(part, point)
            if found.objective < best.objective:
                best = found
            point = _scaled(point, scale if scale > 0 else length)
        return best

    def _through_all_parts(self, found: list[_Candidate]) -> list[_Candidate]:
        """Anneal the best directions over larger and larger parts of the samples, the last of which is all."""
        index = 0
        candidates = found[:_PROMOTED]
        while not self._is_whole(self._part(index)):
            index += 1
            part = self._part(index)
            promoted: list[_Candidate] = []
            for candidate in candidates:
                if promoted and self._stop(0):
                    break
                promoted.append(self._annealed(part, candidate, _WARM, self._stop))
            candidates = sorted(promoted, key=lambda each: each.objective)
            if self._ended():
                break
        return [*candidates, *found]

    def _refine(self, found: list[_Candidate]) -> None:
        """Line searches on all samples and the compiled search near the margin, while they help."""
        without_success = 0
        others = [self._part(0).scaling.restored(each.weights, each.offset) for each in found]
        while without_success < _PATIENCE and not self._stop(0):
            before = self.objective
            self.rounds += 1
            for change in self._changes(others):
                if self._stop(0):
                    return
                self._try_line(*change)
            without_success = 0 if self.objective < before * (1 - _WORTHWHILE) else without_success + 1

    def _changes(self, others: list[tuple[FloatArray, float]]) -> Iterator[tuple[FloatArray, float]]:
        """Changes of the best hyperplane that may be worth a line search on all samples."""
        near = self._near_search()
        if near is not None:
            yield near.coef - self.coef, near.intercept - self.intercept
        if others:
            coef, intercept = others.pop(0)
            yield coef - self.coef, intercept - self.intercept
        scaling = self._part(0).scaling
        for _ in range(_LINES):
            weights = self._random.standard_normal(self._problem.m)
            # Turned about a sample next to the margin.
            coef, _ = scaling.restored(weights, 0.0)
            yield coef, -float(np.ravel(self._problem.X[[self._near_row()]] @ coef)[0])

    def _near_row(self) -> int:
        return int(np.argmin(np.abs(self._margins - 1)))

    def _near_search(self) -> Incumbent | None:
        """The compiled search from the best hyperplane, on the samples next to its margin."""
        problem = self._problem
        count = min(_NEAR_SAMPLES, _NEAR_VALUES // problem.m, problem.n)
        if count < _LEAST_NEAR:
            return None
        # Alternately the nearest samples, and a random half of twice as many.
        pool = min(count if self.rounds % 2 == 1 else 2 * count, problem.n)
        nearest = np.argpartition(np.abs(self._margins - 1), pool - 1)[:pool]
        rows = np.sort(self._random.choice(nearest, count, replace=False))
        X: Any = problem.X[rows]
        X = X.toarray() if scipy.sparse.issparse(X) else X
        seed = int(self._random.integers(2**63))
        search = _core.PrimalSearch(np.ascontiguousarray(X), problem.y[rows], problem.costs[rows], seed)

        def observe(upper: float, lower: float, nodes: int) -> bool:
            return self._watch.report(self.objective, 0.0, self.rounds)

        self._watch.run(
            lambda: search.offer(
                np.ascontiguousarray(self.coef), self.intercept, _NEAR_WORK, self._limits.remaining()
            )
        )
        self._watch.run(lambda: search.walk(self._limits.remaining(), _NEAR_WORK, _NEAR_TRIES, 0.0, 0.0, observe))
        self.work += search.work
        return Incumbent(np.array(search.weights), search.bias)


def _point(samples: ScaledSamples, weights: FloatArray, offset: float) -> Point:
    return Point(weights, offset, samples.scores(weights, offset))


def _scaled(point: Point, factor: float) -> Point:
    return Point(point.weights * factor, point.offset * factor, point.scores * factor)
