"""The primal search for many samples, and the exact searches of the core that it uses."""

from __future__ import annotations

import math
import tracemalloc
import warnings

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from hardmargin import Problem, Status, _core
from hardmargin.data import generate
from hardmargin.incumbent import Incumbent
from hardmargin.limits import Limits
from hardmargin.search import primal, sample_parts
from hardmargin.search.candidates import turned
from hardmargin.search.large_primal import LargeSearch
from hardmargin.search.watch import Watch

SAMPLES = 3000
EFFORT = 0.05


def ignored(time: float, upper: float, lower: float, nodes: int) -> None:
    """A report that nobody reads."""


def searched(problem: Problem, work: int = primal.work_of(EFFORT), seed: int = 0) -> LargeSearch:
    limits = Limits(time_limit=math.inf, seed=seed)
    search = LargeSearch(problem, limits, Watch(limits, ignored))
    search.run(work)
    return search


def normal(n: int, m: int, seed: int, flipped: float = 0.05) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, m))
    y = np.where(X @ random.standard_normal(m) + 0.3 * np.sqrt(m) * random.standard_normal(n) > 0, 1.0, -1.0)
    return X, np.where(random.random(n) < flipped, -y, y)


def generated(kind: str, m: int) -> tuple[np.ndarray, np.ndarray]:
    data = generate(kind, SAMPLES, m, seed=1)
    return data.X, np.asarray(data.y, dtype=float)


def mixed_scales(m: int) -> tuple[np.ndarray, np.ndarray]:
    X, y = normal(SAMPLES, m, 2)
    X = np.round(100 * 10 ** np.linspace(-1, 2, m) * X)
    X[:, ::3] = X[:, ::3] > 0
    return X, y


def imbalanced(m: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(3)
    y = np.where(random.random(SAMPLES) < 0.02, 1.0, -1.0)
    return random.standard_normal((SAMPLES, m)) + 2 * (y[:, None] > 0), y


def heavy_tailed(m: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(4)
    X = random.standard_t(1.5, (SAMPLES, m))
    y = np.where(X @ random.standard_normal(m) > 0, 1.0, -1.0)
    return X, np.where(random.random(SAMPLES) < 0.05, -y, y)


def gross_outliers(m: int) -> tuple[np.ndarray, np.ndarray]:
    X, y = normal(SAMPLES, m, 5, flipped=0)
    far = np.random.default_rng(6).random(SAMPLES) < 0.05
    return np.where(far[:, None], 100 * X, X), np.where(far, -y, y)


KINDS = {
    "A": lambda m: generated("A", m),
    "B": lambda m: generated("B", m),
    "normal": lambda m: normal(SAMPLES, m, 7),
    "mixed scales": mixed_scales,
    "imbalanced": imbalanced,
    "heavy tails": heavy_tailed,
    "gross outliers": gross_outliers,
}


def problem_of(kind: str, m: int, C: float = 1.0) -> Problem:
    X, y = KINDS[kind](m)
    return Problem.from_data(X, y, C)


def objective_of_linear_svc(problem: Problem) -> float:
    """The best of several C, each with its best scale and offset."""
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for C in (0.01, 1.0, 100.0):
            model = LinearSVC(C=C, dual=False).fit(problem.X, problem.y)
            w = np.ascontiguousarray(model.coef_[0])
            found.append(_core.best_offset(problem.X @ w, problem.y, problem.costs, float(w @ w))[0])
    return min(found)


# ---- the exact searches of the core

SMALL = st.integers(0, 12)
VALUES = st.one_of(st.integers(-4, 4).map(float), st.floats(-5, 5, width=16))
COSTS = st.sampled_from([0.0, 0.5, 1.0, 7.0])


@settings(max_examples=200)
@given(data=st.data())
def test_the_best_offset_is_the_best_of_all_pairs(data) -> None:
    n = data.draw(SMALL)
    projections = np.array(data.draw(st.lists(VALUES, min_size=n, max_size=n)), dtype=float)
    labels = np.array(data.draw(st.lists(st.sampled_from([-1.0, 1.0]), min_size=n, max_size=n)), dtype=float)
    costs = np.array(data.draw(st.lists(COSTS, min_size=n, max_size=n)), dtype=float)
    norm = data.draw(st.sampled_from([1e-3, 1.0, 50.0]))
    objective, scale, offset = _core.best_offset(projections, labels, costs, norm)
    candidates = [costs[labels > 0].sum(), costs[labels < 0].sum()]
    for h in projections[labels < 0]:
        for u in projections[labels > 0]:
            if u > h:
                lost = ((labels < 0) & (projections > h)) | ((labels > 0) & (projections < u))
                candidates.append(2 * norm / (u - h) ** 2 + costs[lost].sum())
    assert objective == pytest.approx(min(candidates), rel=1e-12)
    kept = labels * (scale * projections + offset) >= 1 - 1e-9
    assert 0.5 * scale**2 * norm + costs[~kept].sum() == pytest.approx(objective, rel=1e-9)


@settings(max_examples=200)
@given(data=st.data())
def test_no_step_of_a_line_is_better_than_its_minimum(data) -> None:
    n = data.draw(SMALL)
    margins, slopes = (np.array(data.draw(st.lists(VALUES, min_size=n, max_size=n)), dtype=float) for _ in range(2))
    costs = np.array(data.draw(st.lists(COSTS, min_size=n, max_size=n)), dtype=float)
    w, direction = np.array([1.0, 2.0]), np.array(data.draw(st.sampled_from([(1.0, 0.0), (-1.0, 3.0)])))
    step, objective = _core.line_minimum(
        margins, slopes, costs, float(w @ w), float(w @ direction), float(direction @ direction), 1e6
    )

    def objective_at(t: float, tolerance: float) -> float:
        w_there = w + t * direction
        return 0.5 * float(w_there @ w_there) + costs[margins + t * slopes < 1 - tolerance].sum()

    assert objective == pytest.approx(objective_at(step, 1e-9), rel=1e-9)
    events = (1 - margins[slopes != 0]) / slopes[slopes != 0]
    for t in [*events, *(events + 1e-6), *(events - 1e-6), *np.linspace(-5, 5, 21)]:
        assert objective <= objective_at(t, 0.0) * (1 + 1e-12) + 1e-12


def test_arrays_of_different_lengths_are_refused() -> None:
    short, long = np.ones(2), np.ones(3)
    with pytest.raises(ValueError, match="best_offset"):
        _core.best_offset(long, short, long, 1.0)
    with pytest.raises(ValueError, match="line_minimum"):
        _core.line_minimum(long, short, long, 1.0, 0.0, 1.0, 1.0)


# ---- the search


@pytest.mark.parametrize("C", [1.0, 0.01])
@pytest.mark.parametrize("m", [2, 10])
@pytest.mark.parametrize("kind", KINDS)
def test_the_objective_is_not_above_that_of_a_linear_svm(kind, m, C) -> None:
    problem = problem_of(kind, m, C)
    search = searched(problem)
    assert search.objective <= objective_of_linear_svc(problem) * (1 + 1e-9)
    assert problem.evaluate(*search.incumbent).objective == pytest.approx(search.objective, rel=1e-12)


@pytest.mark.parametrize("m", [2, 10])
def test_gross_outliers_do_not_matter(m) -> None:
    problem = problem_of("gross outliers", m)
    assert searched(problem).objective <= 0.5 * objective_of_linear_svc(problem)


@pytest.mark.parametrize("seed", range(3))
def test_an_early_answer_is_as_good_as_a_plain_linear_model(seed, monkeypatch) -> None:
    """Before any part but the first is drawn."""
    X, y = normal(30_000, 4, seed)
    problem = Problem(X, y, np.ones(len(y)))
    early: list[float] = []
    limits = Limits(time_limit=math.inf, seed=seed)
    search = LargeSearch(problem, limits, Watch(limits, ignored))
    later = sample_parts.SampleParts.later

    def recorded(parts, index) -> sample_parts.ScaledSamples:
        early.append(search.objective)
        return later(parts, index)

    monkeypatch.setattr(sample_parts.SampleParts, "later", recorded)
    search.run(primal.work_of(0.2))
    coef = LinearSVC(dual="auto", random_state=0).fit(X, y).coef_[0]
    theirs = _core.best_offset(X @ coef, y, problem.costs, float(coef @ coef))[0]
    assert early[0] <= theirs * (1 + 1e-4)
    assert search.objective <= early[0]


def test_turned_weights_are_close() -> None:
    random = np.random.default_rng(0)
    weights = random.standard_normal(5)
    angles = []
    for _ in range(200):
        found = turned(weights, 0.1, random)
        assert float((found - weights) @ weights) == pytest.approx(0, abs=1e-12)
        angles.append(float(np.linalg.norm(found - weights) / np.linalg.norm(weights)))
    assert 0.0002 < min(angles) < 0.001
    assert 0.05 < max(angles) <= 0.1 * (1 + 1e-12)
    assert turned(np.zeros(3), 0.1, random).tolist() == [0, 0, 0]


@pytest.mark.parametrize("positives", [0.5, 0.03])
def test_directions_go_through_larger_and_larger_parts(monkeypatch, positives) -> None:
    monkeypatch.setattr(sample_parts, "_PART_ROWS", 500)
    monkeypatch.setattr(sample_parts, "_LEAST_ROWS", 500)
    random = np.random.default_rng(14)
    y = np.where(random.random(60_000) < positives, 1.0, -1.0)
    X = random.standard_normal((len(y), 3)) + 1.5 * (y[:, None] > 0)
    costs = random.uniform(0.5, 1.5, len(y))
    problem = Problem(X, y, costs)
    sizes: list[int] = []
    scaled_samples = sample_parts.ScaledSamples

    def recorded(X, y, costs, scaling) -> scaled_samples:
        sizes.append(len(y))
        for label in (-1.0, 1.0):
            assert costs[y == label].sum() == pytest.approx(problem.costs[problem.y == label].sum())
        return scaled_samples(X, y, costs, scaling)

    monkeypatch.setattr(sample_parts, "ScaledSamples", recorded)
    search = searched(problem)
    # The hinge loss of the first part is improved on all samples early on.
    assert sizes == [500, 60_000, 4000, 60_000]
    assert search.objective <= objective_of_linear_svc(problem)


def test_memory_is_that_of_a_few_vectors() -> None:
    X, y = normal(200_000, 4, seed=15)
    problem = Problem.from_data(X, y)
    tracemalloc.start()
    try:
        searched(problem)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak <= 14 * y.nbytes


def test_the_same_seed_gives_the_same_answer() -> None:
    problem = problem_of("A", 5)
    first, second = searched(problem), searched(problem)
    assert first.incumbent.coef.tolist() == second.incumbent.coef.tolist()
    assert first.incumbent.intercept == second.incumbent.intercept
    assert (first.objective, first.work) == (second.objective, second.work)


@pytest.mark.parametrize("container", [scipy.sparse.csr_array, scipy.sparse.csr_matrix])
def test_sparse_samples_give_the_answer_of_dense_ones(container) -> None:
    random = np.random.default_rng(8)
    X = np.where(random.random((SAMPLES, 20)) < 0.2, random.standard_normal((SAMPLES, 20)), 0.0)
    y = np.where(X @ random.standard_normal(20) + 0.2 * random.standard_normal(SAMPLES) > 0, 1.0, -1.0)
    costs = random.uniform(0.5, 1.5, SAMPLES)
    dense = searched(Problem(X, y, costs))
    sparse = searched(Problem(container(X), y, costs))
    # They differ in the order of summation only, but that may lead to another local optimum.
    assert sparse.objective == pytest.approx(dense.objective, rel=0.02)
    evaluation = Problem(X, y, costs).evaluate(*sparse.incumbent)
    assert evaluation.objective == pytest.approx(sparse.objective, rel=1e-9)


def test_a_better_hyperplane_from_elsewhere_is_not_lost() -> None:
    problem = problem_of("B", 10)
    best = searched(problem, primal.work_of(1.0))
    limits = Limits(time_limit=math.inf, seed=9)
    search = LargeSearch(problem, limits, Watch(limits, ignored))
    search.offer(best.incumbent)
    assert search.objective <= best.objective * (1 + 1e-12)
    search.run(0)
    assert search.objective <= best.objective * (1 + 1e-12)


def test_a_start_is_reported_before_anything_else() -> None:
    problem = problem_of("A", 10)
    best = searched(problem)
    reported: list[float] = []
    limits = Limits(time_limit=math.inf)
    primal.search(
        problem, best.incumbent, limits, lambda _, upper, lower, nodes: reported.append(upper), effort=1e-9
    )
    assert reported[0] <= best.objective * (1 + 1e-12)


@pytest.mark.parametrize("size", [(2500, 3), (60_000, 20)], ids=["with a walk", "without one"])
def test_without_any_time_there_is_still_a_hyperplane(size) -> None:
    X, y = normal(*size, seed=10)
    problem = Problem.from_data(X, y)
    result = primal.search(problem, None, Limits(time_limit=0.0), ignored, 1.0)
    assert result.status is Status.TIME_LIMIT
    assert result.objective == min((y > 0).sum(), (y < 0).sum())
    known = Incumbent(np.linalg.lstsq(X, y, rcond=None)[0] * 100, 0.0)
    kept = primal.search(problem, known, Limits(time_limit=0.0), ignored, 1.0)
    assert kept.objective <= problem.evaluate(*known).objective


class CountedLimits(Limits):
    """Time runs out after a number of looks at the clock."""

    def remaining(self) -> float:
        object.__setattr__(self, "node_limit", (self.node_limit or 1) - 1)
        return 0.0 if (self.node_limit or 0) <= 0 else 1000.0


@pytest.mark.parametrize("looks", [2, 10, 60, 250, 1000])
def test_the_time_limit_ends_every_stage(looks) -> None:
    X, y = normal(25_000, 4, seed=11)
    problem = Problem.from_data(X, y)
    limits = CountedLimits(time_limit=1000.0, node_limit=looks)
    watch = Watch(limits, ignored)
    search = LargeSearch(problem, limits, watch)
    search.run(2**62)
    assert watch.ended is Status.TIME_LIMIT
    assert search.objective <= min((y > 0).sum(), (y < 0).sum())
    if looks >= 60:
        assert search.objective < 0.5 * min((y > 0).sum(), (y < 0).sum())


def test_an_interrupt_keeps_what_was_found() -> None:
    problem = problem_of("A", 10)
    limits = Limits(time_limit=math.inf)

    def impatient(time: float, upper: float, lower: float, nodes: int) -> None:
        if upper < 0.9 * min((problem.y > 0).sum(), (problem.y < 0).sum()):
            raise KeyboardInterrupt

    result = primal.search(problem, None, limits, impatient, 100.0)
    assert result.status is Status.INTERRUPTED
    assert result.objective < 0.9 * min((problem.y > 0).sum(), (problem.y < 0).sum())


def test_an_error_of_the_report_is_raised() -> None:
    def failing(time: float, upper: float, lower: float, nodes: int) -> None:
        raise ArithmeticError

    with pytest.raises(ArithmeticError):
        primal.search(problem_of("A", 2), None, Limits(), failing, 1.0)


def test_given_hyperplanes_are_polished() -> None:
    problem = problem_of("normal", 10)
    random = np.random.default_rng(12)
    good = searched(problem).incumbent
    noise = 0.1 * np.linalg.norm(good.coef) * random.standard_normal((6, problem.m))
    given_ones = [Incumbent(good.coef + each, good.intercept) for each in noise]
    limits = Limits(time_limit=math.inf)
    search = LargeSearch(problem, limits, Watch(limits, ignored))
    search.polish(given_ones, primal.work_of(EFFORT))
    assert search.objective < min(problem.evaluate(*each).objective for each in given_ones)
    before = search.objective
    search.polish([], 2**62)
    assert search.objective == before


@pytest.mark.parametrize("n", [0, 1, 5000])
@pytest.mark.parametrize("m", [0, 3])
@pytest.mark.parametrize("label", [-1.0, 1.0])
def test_one_class_is_kept(n, m, label) -> None:
    problem = Problem(np.ones((n, m)), np.full(n, label), np.ones(n))
    search = searched(problem)
    assert search.objective == 0
    assert n == 0 or search.incumbent.intercept == label


def test_samples_that_are_all_the_same_leave_a_vote() -> None:
    n = 4000
    problem = Problem(np.ones((n, 2)), np.where(np.arange(n) % 4 == 0, 1.0, -1.0), np.ones(n))
    assert searched(problem).objective == n / 4


def test_few_samples_are_left_to_the_compiled_search(monkeypatch) -> None:
    monkeypatch.setattr(primal, "LargeSearch", None)
    X, y = normal(2000, 2, seed=13)
    assert primal.search(Problem.from_data(X, y), None, Limits(), ignored, 1e-6).n == 2000
