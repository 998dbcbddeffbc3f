"""The primal search on many samples, beside the linear models of scikit-learn.

    python benchmarks/large_primal.py [--samples 10000] [--features 2 10 50] [--C 1] [--effort 0.2] [KIND ...]

Prints one row per problem: the objective, the best one of LinearSVC (C = 0.01 to 100) and SGDClassifier, each with
its best scale and offset, the ratio of the two, and seconds: of the search, until it had reached their value, and
of LinearSVC with the C that was best. With ``--memory``, which makes the search slower, the next column is the peak
of its memory beyond the data, in vectors of n numbers.
"""

from __future__ import annotations

import argparse
import math
import time
import tracemalloc
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import SGDClassifier
from sklearn.svm import LinearSVC

from hardmargin import Problem
from hardmargin._core import best_offset
from hardmargin.arrays import FloatArray
from hardmargin.blas import one_blas_thread
from hardmargin.data import generate
from hardmargin.limits import Limits
from hardmargin.search import primal

PENALTIES = (0.01, 0.1, 1.0, 10.0, 100.0)
REACHED = 1e-9

Labelled = tuple[FloatArray, FloatArray]


def type_a(n: int, m: int, seed: int) -> Labelled:
    """A tenth of the samples are spread outliers."""
    data = generate("A", n, m, seed)
    return data.X, np.asarray(data.y, dtype=np.float64)


def type_b(n: int, m: int, seed: int) -> Labelled:
    """A tenth of the samples are a cluster behind the other class."""
    data = generate("B", n, m, seed)
    return data.X, np.asarray(data.y, dtype=np.float64)


def noisy(n: int, m: int, seed: int) -> Labelled:
    """Normal features and a linear rule; 5 % of the labels are wrong."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, m))
    y = np.where(X @ random.standard_normal(m) + 0.1 * random.standard_normal(n) > 0, 1.0, -1.0)
    return X, np.where(random.random(n) < 0.05, -y, y)


def digits_like(n: int, m: int, seed: int) -> Labelled:
    """Whole numbers from 0 to 16, many of them 0; a class is a mixture of five clusters."""
    random = np.random.default_rng(seed)
    centres = random.uniform(-8, 16, (10, m))
    cluster = random.integers(10, size=n)
    X = np.clip(np.round(centres[cluster] + 4 * random.standard_normal((n, m))), 0, 16)
    return X, np.where(cluster % 2 == 0, 1.0, -1.0)


def covtype_like(n: int, m: int, seed: int) -> Labelled:
    """Features of very different sizes, every third one 0 or 1; the classes overlap."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, m))
    scores = (
        X @ random.standard_normal(m) + 0.3 * X[:, 0] ** 2 * np.sqrt(m) + np.sqrt(m) * random.standard_normal(n)
    )
    X = np.round(200 * 10 ** random.uniform(-1, 1, m) * (X + 2))
    X[:, ::3] = X[:, ::3] > np.median(X[:, ::3], axis=0)
    return X, np.where(scores > np.median(scores), 1.0, -1.0)


def imbalanced(n: int, m: int, seed: int) -> Labelled:
    """2 % positives."""
    random = np.random.default_rng(seed)
    y = np.where(random.random(n) < 0.02, 1.0, -1.0)
    return random.standard_normal((n, m)) + 1.5 * (y[:, None] > 0) / np.sqrt(min(m, 2)), y


def heavy_tailed(n: int, m: int, seed: int) -> Labelled:
    """Student's t with 1.5 degrees of freedom; 5 % of the labels are wrong."""
    random = np.random.default_rng(seed)
    X = random.standard_t(1.5, (n, m))
    y = np.where(X @ random.standard_normal(m) > 0, 1.0, -1.0)
    return X, np.where(random.random(n) < 0.05, -y, y)


def gross_outliers(n: int, m: int, seed: int) -> Labelled:
    """5 % of the samples have the wrong label and lie 100 times as far out."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, m))
    y = np.where(X @ random.standard_normal(m) + 0.3 * np.sqrt(m) * random.standard_normal(n) > 0, 1.0, -1.0)
    far = random.random(n) < 0.05
    X[far] *= 100
    return X, np.where(far, -y, y)


KINDS: dict[str, Callable[[int, int, int], Labelled]] = {
    "A": type_a,
    "B": type_b,
    "noisy": noisy,
    "digits": digits_like,
    "covtype": covtype_like,
    "imbalanced": imbalanced,
    "heavy": heavy_tailed,
    "gross": gross_outliers,
}


class Theirs(NamedTuple):
    """The best linear model: its objective, its name, and the seconds of the LinearSVC that was best."""

    objective: float
    name: str
    seconds: float


def objective_of(problem: Problem, model: Any) -> float:
    """The objective of a fitted model with its best scale and offset."""
    w = np.ascontiguousarray(model.coef_[0], dtype=np.float64)
    return best_offset(problem.X @ w, problem.y, problem.costs, float(w @ w))[0]


def best_linear_model(problem: Problem, seed: int) -> Theirs:
    """Fit the models."""
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for C in PENALTIES:
            before = time.perf_counter()
            model = LinearSVC(C=C, dual="auto", random_state=seed).fit(problem.X, problem.y)
            seconds = time.perf_counter() - before
            found.append(Theirs(objective_of(problem, model), f"LinearSVC {C:g}", seconds))
        best = min(found)
        sgd = SGDClassifier(random_state=seed).fit(problem.X, problem.y)
    return min(best, Theirs(objective_of(problem, sgd), "SGD", best.seconds))


def run(kind: str, n: int, m: int, C: float, arguments: argparse.Namespace) -> float:
    """Print the row of one problem; the ratio of the objectives."""
    X, y = KINDS[kind](n, m, arguments.seed)
    problem = Problem(np.ascontiguousarray(X), y, np.full(n, C), C=C)
    reports: list[tuple[float, float]] = []
    if arguments.memory:
        tracemalloc.start()
    limits = Limits(time_limit=arguments.seconds, seed=arguments.seed)
    found = primal.search(
        problem,
        None,
        limits,
        lambda seconds, upper, lower, nodes: reports.append((seconds, upper)),
        arguments.effort,
    )
    took = limits.elapsed()
    vectors = ""
    if arguments.memory:
        vectors = f" {tracemalloc.get_traced_memory()[1] / (8 * n):>7.1f}"
        tracemalloc.stop()
    with one_blas_thread:
        theirs = best_linear_model(problem, arguments.seed)
    reached = min((at for at, upper in reports if upper <= theirs.objective * (1 + REACHED)), default=math.inf)
    ratio = found.objective / theirs.objective
    print(
        f"{kind:<10} {n:>8} {m:>4} {C:>8g} {found.objective:>14.4f} {theirs.objective:>14.4f} {ratio:>7.4f} "
        f"{took:>7.2f} {reached:>7.2f} {theirs.seconds:>7.2f}{vectors}  {theirs.name}",
        flush=True,
    )
    return ratio


def main() -> None:
    """Run the selected problems and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"any of {', '.join(KINDS)}; default: all")
    parser.add_argument("--samples", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--features", type=int, nargs="+", default=[2, 10, 50])
    parser.add_argument("--C", type=float, nargs="+", default=[1.0])
    parser.add_argument("--effort", type=float, default=0.2)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--memory", action="store_true")
    arguments = parser.parse_args()
    print(
        f"{'kind':<10} {'n':>8} {'m':>4} {'C':>8} {'objective':>14} {'theirs':>14} {'ratio':>7} "
        f"{'s':>7} {'reached':>7} {'svc s':>7}{' vectors' if arguments.memory else ''}"
    )
    ratios = [
        run(kind, n, m, C, arguments)
        for n in arguments.samples
        for m in arguments.features
        for kind in arguments.kinds or KINDS
        for C in arguments.C
    ]
    print(f"ratios: largest {max(ratios):.4f}, mean {np.mean(ratios):.4f}; {sum(r > 1 for r in ratios)} above 1")


if __name__ == "__main__":
    main()
