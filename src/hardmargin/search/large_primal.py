"""The primal search for many samples: good hyperplanes from a number of passes over the data that does not grow.

The compiled search (``core/primal/search.h``) solves a max-margin problem over all samples in every step, which
takes too long from some thousands of samples on. This search works on directions instead. The best scale and offset
along a direction are found exactly by sorting the projections (``core/primal/offset_search.h``), so directions are
compared by the objective of their best hyperplane.

1. Directions come from a random part of the samples: the squared hinge loss of a plain linear SVM, the same without
   the samples far out or far on the wrong side, and the difference of the trimmed class centres. The first one is
   improved on all samples at once, so that there is an early answer about as good as a plain linear SVM: by the
   squared hinge loss over all samples, then by a few random directions close to it.
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

import numpy as np

from hardmargin import _core
from hardmargin.arrays import FloatArray
from hardmargin.blas import one_blas_thread
from hardmargin.incumbent import Incumbent
from hardmargin.limits import Limits
from hardmargin.problem import Problem
from hardmargin.search.candidates import Candidate, Hinge, different, turned
from hardmargin.search.descent import Point, descend
from hardmargin.search.hinge_starts import hinge_minimum, starting_points
from hardmargin.search.near_margin import NearMargin, nearest
from hardmargin.search.place import Place, best_offset_of, best_on_line, cheaper_class, placed
from hardmargin.search.sample_parts import SampleParts
from hardmargin.search.scaled_samples import ScaledSamples
from hardmargin.search.smooth_losses import SmoothedObjective
from hardmargin.search.watch import Watch

# Widths of the steps in annealing, relative to the median distance from the margin.
_HOTTEST = 1.0
_WARM = 0.25
_COLDEST = 0.02
_STAGES = 6
_STAGE_ITERATIONS = 10
# Different directions that are annealed on the first part, and those that go on to larger parts.
_ANNEALED = 4
_PROMOTED = 2
# A direction is not annealed if its objective exceeds the best annealed one by more than this factor.
_PROMISING = 1.1
# Directions that are tried close to the first one, and the largest angle times the cube root of n: at angles of
# that order, the steps of the objective vary as much as their mean rises.
_TURNS = 10
_TURN = 0.2
# Share of the budget that the first direction may take on all samples, in addition to it.
_EARLY_SHARE = 0.5
# Share of the budget for annealing on larger parts; the rest is for refinement.
_ANNEALING_SHARE = 0.5

# Sorting projections or the events of a line takes about as much work per sample as this many features.
_SORT_WORK = 50
# Lines of one round: their work, and the range of their number. They turn the hyperplane about one of the samples
# next to the margin; some of them change the weight of one feature only.
_LINE_WORK = 100_000_000
_LINES = (2, 40)
_PIVOTS = 100
_FEATURE_SHARE = 0.3
# Rounds that improve less than this, relatively, are without success; after this many of them the search ends.
_WORTHWHILE = 1e-6
_PATIENCE = 20
# Rounds from the plain linear SVM, as long as each lowers its objective by this factor.
_HINGE_ROUNDS = 4
_PROGRESS = 0.99
# Given hyperplanes that are tried on all samples.
_POLISHED = 8
# The cost of a trusted sample in smooth losses, in typical costs.
_TRUSTED_COST = 10.0
# Smaller improvements are rounding.
_NOTICEABLE = 1 - 1e-12

# Seconds between two reports of the same objective.
_REPORT_INTERVAL = 0.05


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
        self._best = cheaper_class(problem)
        # Smooth losses would see nothing but trusted samples if these had their full cost.
        guide = problem.costs
        if problem.trusted is not None:
            guide = np.where(problem.trusted, _TRUSTED_COST * problem.typical_cost, problem.costs)
        self._parts = SampleParts(problem, guide, self._random)
        self._near = NearMargin(problem, limits, watch, self._random)
        self._hinge_start: Hinge | None = None
        # The best direction close to the first hinge loss over all samples, and that hinge loss.
        self._early_hinge: tuple[Candidate, Hinge] | None = None

    @property
    def incumbent(self) -> Incumbent:
        """The best hyperplane; at first, the one that gives up the cheaper class."""
        return Incumbent(self._best.coef, self._best.intercept)

    @property
    def objective(self) -> float:
        """The objective of the best hyperplane."""
        return self._best.objective

    def offer(self, hyperplane: Incumbent) -> None:
        """Take up a hyperplane from elsewhere; the best scale and offset along its direction are tried too."""
        with one_blas_thread:
            coef = np.ascontiguousarray(hyperplane.coef, dtype=np.float64)
            projections = self._projections(coef)
            margins = self._problem.y * (projections + hyperplane.intercept)
            self._adopt(placed(self._problem, coef, float(hyperplane.intercept), margins))
            self._ended()
            self._try_direction(coef, projections)

    def run(self, work: int) -> None:
        """Search until about this much work is done; starting directions and the early answer come in addition."""
        with one_blas_thread, np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            if self._problem.m > 0 and self.objective > 0 and not self._ended():
                found = self._started(_EARLY_SHARE * work)
                self._budget = self.work + work
                self._refine(self._through_all_parts(found))

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
            part = self._parts.first
            scaled = [part.scaling.scaled(np.asarray(each.coef), each.intercept) for each in hyperplanes]
            found = [self._best_on(part, Point.of(part, *each))[0] for each in scaled]
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
        self.work += self._problem.stored_values
        projections: FloatArray = self._problem.X @ coef
        return projections

    def _adopt(self, place: Place) -> Place:
        """Make a place the best one if it is better; returns it."""
        if place.objective < self._best.objective * _NOTICEABLE:
            self._best = place
            self._next_report = 0.0
        return place

    def _try_direction(self, coef: FloatArray, projections: FloatArray) -> None:
        """The best scale and offset along a direction."""
        problem = self._problem
        if problem.bounds is not None:
            coef = problem.bounds.directed(coef)
            projections = self._projections(coef)
        self.work += _SORT_WORK * problem.n
        objective, scale, offset = _core.best_offset(projections, problem.y, problem.costs, float(coef @ coef))
        if scale > 0 and problem.bounds is not None:
            self._try_within_bounds(problem.bounds.clipped(coef * scale))
        elif objective < self.objective and scale > 0:
            margins = scale * projections
            margins += offset
            margins *= problem.y
            self._adopt(placed(self._problem, coef * scale, offset, margins))

    def _try_within_bounds(self, coef: FloatArray) -> None:
        """The best offset of weights within the bounds."""
        problem = self._problem
        projections = self._projections(coef)
        self.work += _SORT_WORK * problem.n
        offset = best_offset_of(projections, problem.y, problem.costs)
        self._adopt(placed(self._problem, coef, offset, problem.y * (projections + offset)))

    def _try_everywhere(self, candidate: Candidate) -> None:
        """Try a direction of some part on all samples."""
        coef, _ = self._parts.scaling.restored(candidate.weights, candidate.offset)
        if np.isfinite(coef).all():
            self._try_direction(coef, self._projections(coef))

    def _along_line(self, place: Place, coef: FloatArray, intercept: float) -> Place:
        """The best place on the line through a place, in the direction of this change."""
        self.work += _SORT_WORK * self._problem.n
        found = best_on_line(self._problem, place, coef, intercept, self._projections(coef))
        return place if found is place else self._adopt(found)

    # ---- hyperplanes over a part of the samples

    def _screening_work(self, part: ScaledSamples) -> int:
        return part.pass_work + _SORT_WORK * len(part.y)

    def _best_on(self, part: ScaledSamples, point: Point) -> tuple[Candidate, float]:
        """The best scale and offset along a point's direction over a part, and the scale; 0 if w = 0 is best."""
        if self._problem.bounds is not None:
            # Scaling a feature does not change the sign of its weight.
            point = Point.of(part, self._problem.bounds.directed(point.weights), point.offset)
            self.work += part.pass_work
        coef, intercept = part.scaling.restored(point.weights, point.offset)
        self.work += _SORT_WORK * len(part.y)
        objective, scale, offset = _core.best_offset(point.scores, part.y, part.costs, float(coef @ coef))
        if scale == 0:
            return Candidate(objective, point.weights, point.offset), 0.0
        if self._parts.is_whole(part) and objective < self.objective:
            margins = scale * point.scores
            margins += offset
            margins *= part.y
            self._adopt(placed(self._problem, coef * scale, intercept * scale + offset, margins))
        return Candidate(objective, point.weights * scale, point.offset * scale + offset), scale

    # ---- the stages of the search

    def _started(self, early_work: float) -> list[Candidate]:
        """Directions from the first part, annealed, best first; the first one is improved on all samples."""
        part = self._parts.first
        found: list[Candidate] = []
        for point, penalty in starting_points(part, self._in_time):
            candidate, _ = self._best_on(part, point)
            if penalty is not None and (
                self._hinge_start is None or candidate.objective < self._hinge_start.objective
            ):
                self._hinge_start = Hinge(candidate.objective, penalty, point.weights, point.offset)
            if not found and self._hinge_start is not None:
                self._improve_early(candidate, self._hinge_start, early_work)
            found.append(candidate)
            if self._ended():
                break
        found.sort(key=lambda each: each.objective)
        annealed: list[Candidate] = []
        for candidate in different(found)[:_ANNEALED]:
            if self._ended():
                break
            annealed.append(self._annealed(part, candidate, _HOTTEST, self._in_time))
        return sorted([*annealed, *found], key=lambda each: each.objective)

    def _improve_early(self, best: Candidate, hinge: Hinge, work: float) -> None:
        """Improve the hinge loss of the first part on all samples, and try directions close to it."""
        end = self.work + work

        def stop(more: int) -> bool:
            return self._in_time(more) or self.work >= end

        whole = self._parts.whole
        if not self._parts.is_whole(self._parts.first):
            self._try_everywhere(best)
            if stop(0):
                return
            best, hinge = self._hinge_on(whole, hinge, stop)
        for _ in range(_TURNS if self._problem.m > 1 else 0):
            if stop(whole.pass_work):
                return
            weights = turned(best.weights, _TURN / math.cbrt(self._problem.n), self._random)
            found, _ = self._best_on(whole, Point.of(whole, weights, best.offset))
            best = min(best, found, key=lambda each: each.objective)
        self._early_hinge = best, hinge

    def _annealed(
        self, part: ScaledSamples, start: Candidate, hottest: float, stop: Callable[[int], bool]
    ) -> Candidate:
        """The best direction of all stages of annealing."""
        best = start
        point = Point.of(part, start.weights, start.offset)
        stages = max(2, round(_STAGES * math.log(hottest / _COLDEST) / math.log(_HOTTEST / _COLDEST)))
        for width in np.geomspace(hottest, _COLDEST, stages):
            length = float(np.linalg.norm(point.weights))
            temperature = float(width * np.median(np.abs(1 - part.y * point.scores)))
            if stop(0) or not (length > 0 and temperature > 0 and math.isfinite(temperature)):
                break
            loss = SmoothedObjective(part.y, part.costs, part.scaling.inverse_spread, length, temperature)
            point = descend(part, loss, point.scaled(1 / length), _STAGE_ITERATIONS, stop)
            found, scale = self._best_on(part, point)
            if found.objective < best.objective:
                best = found
            point = point.scaled(scale if scale > 0 else length)
        return best

    def _through_all_parts(self, found: list[Candidate]) -> list[Candidate]:
        """Anneal the best directions over larger and larger parts of the samples, the last of which is all."""
        budget = self.work + _ANNEALING_SHARE * (self._budget - self.work)

        def stop(work: int) -> bool:
            return self._stop(work) or self.work >= budget

        index = 0
        part = self._parts.first
        candidates = found[:_PROMOTED]
        while not self._parts.is_whole(part):
            index += 1
            part = self._parts.later(index)
            promoted = [self._best_on(part, Point.of(part, each.weights, each.offset))[0] for each in candidates]
            if self._stop(len(promoted) * part.pass_work):
                break
            if self._hinge_start is not None:
                candidate, self._hinge_start = self._hinge_on(part, self._hinge_start, stop)
                promoted.append(candidate)
            promoted.sort(key=lambda each: each.objective)
            annealed: list[Candidate] = []
            for candidate in promoted[:_PROMOTED]:
                if stop(0) or (annealed and candidate.objective > _PROMISING * annealed[0].objective):
                    break
                annealed.append(self._annealed(part, candidate, _WARM, stop))
            candidates = sorted([*annealed, *promoted], key=lambda each: each.objective)[:_PROMOTED]
        return [*candidates, *found]

    def _hinge_on(self, part: ScaledSamples, start: Hinge, stop: Callable[[int], bool]) -> tuple[Candidate, Hinge]:
        """The squared hinge loss over a larger part, with the penalty of a smaller one."""
        early = self._early_hinge
        if early is not None and self._parts.is_whole(part) and early[1].penalty == start.penalty:
            return early
        point = Point.of(part, start.weights, start.offset)
        point = hinge_minimum(part, part.costs, start.penalty, point, stop, later=True)
        candidate, _ = self._best_on(part, point)
        return candidate, Hinge(candidate.objective, start.penalty, point.weights, point.offset)

    def _refine(self, found: list[Candidate]) -> None:
        """Line searches on all samples and the compiled search near the margin, while they help."""
        if self._hinge_start is not None and not self._stop(0):
            # Where nearly all samples can be kept, this may lead further than annealing.
            start = self._parts.scaling.restored(self._hinge_start.weights, self._hinge_start.offset)
            self._from_hinge(*start)
        others = [self._parts.scaling.restored(each.weights, each.offset) for each in found]
        without_success = 0
        while without_success < _PATIENCE and not self._stop(0):
            before = self.objective
            self.rounds += 1
            for coef, intercept in self._changes(others):
                if self._stop(0):
                    return
                self._along_line(self._best, coef, intercept)
            without_success = 0 if self.objective < before * (1 - _WORTHWHILE) else without_success + 1

    def _from_hinge(self, coef: FloatArray, intercept: float) -> None:
        """The compiled search near the margin, from the direction of the plain linear SVM."""
        problem = self._problem
        projections = self._projections(coef)
        self.work += _SORT_WORK * problem.n
        _, scale, offset = _core.best_offset(projections, problem.y, problem.costs, float(coef @ coef))
        if scale == 0:
            return
        place = placed(self._problem, scale * coef, offset, problem.y * (scale * projections + offset))
        for _ in range(_HINGE_ROUNDS):
            before = place.objective
            self.rounds += 1
            near = self._near_search(place)
            if near is None or self._stop(0):
                return
            place = self._along_line(place, near.coef - place.coef, near.intercept - place.intercept)
            if not place.objective < before * _PROGRESS:
                return

    def _changes(self, others: list[tuple[FloatArray, float]]) -> Iterator[tuple[FloatArray, float]]:
        """Changes of the best hyperplane that may be worth a line search on all samples."""
        problem = self._problem
        near = self._near_search(self._best)
        if near is not None:
            yield near.coef - self._best.coef, near.intercept - self._best.intercept
        if others:
            coef, intercept = others.pop(0)
            yield coef - self._best.coef, intercept - self._best.intercept
        lines = int(np.clip(_LINE_WORK // (self._problem.stored_values + _SORT_WORK * problem.n), *_LINES))
        for row in self._random.choice(nearest(self._best, min(_PIVOTS, problem.n)), lines):
            weights = self._random.standard_normal(problem.m)
            if self._random.random() < _FEATURE_SHARE:
                weights *= np.arange(problem.m) == self._random.integers(problem.m)
            coef, _ = self._parts.scaling.restored(weights, 0.0)
            # Turned about a sample next to the margin.
            yield coef, -float((problem.X[[row]] @ coef)[0])

    def _near_search(self, place: Place) -> Incumbent | None:
        """The compiled search from a place, on the samples next to its margin."""
        before = self._near.work
        found = self._near.search(
            place,
            self._budget - self.work,
            lambda: self._watch.report(self.objective, 0.0, self.rounds),
            # Alternately.
            only_nearest=self.rounds % 2 == 1,
        )
        self.work += self._near.work - before
        return found
