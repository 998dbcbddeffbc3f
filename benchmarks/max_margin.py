"""Speed of the max-margin QP, beside DAQP and scikit-learn's SVC, on hard-margin problems of n = 500, m = 10.

    pip install daqp && python benchmarks/max_margin.py

Each problem is a benchmark instance without the samples that the primal search gives up at C = 1, so that the rest
is separable. Times are means over repeated solves in one process, on one core, including the Python calls. "warm"
means that one sample is disabled or enabled and the problem is solved again: for samples drawn at random, and for
the support samples, whose removal changes the solution.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from data_or_skip import data_or_skip
from numpy.typing import NDArray
from sklearn.svm import SVC

from hardmargin import solve
from hardmargin._core import MaxMargin
from hardmargin.bench.instances.source import PublishedFiles

INSTANCES = [f"n500d10{kind}Tj{number}" for kind in "AB" for number in range(5)]
FloatArray = NDArray[np.float64]


def seconds_a_call(call: Callable[[], object], shortest: float = 0.2) -> float:
    """The mean time per call, over enough calls to fill `shortest` seconds."""
    call()
    count = 1
    while True:
        start = time.perf_counter()
        for _ in range(count):
            call()
        elapsed = time.perf_counter() - start
        if elapsed >= shortest:
            return elapsed / count
        count *= 2


def separable_part(instance: str, folder: Path) -> tuple[FloatArray, FloatArray]:
    """The samples that a good hyperplane keeps, centred."""
    data = PublishedFiles(folder).load(instance)
    result = solve(data.X, data.y, 1.0, method="heuristic", time_limit=2.0)
    kept = np.setdiff1d(np.arange(result.n), result.violations)
    X = data.X[kept] - data.X[kept].mean(axis=0)
    return np.ascontiguousarray(X), np.where(data.y[kept] > 0, 1.0, -1.0)


def daqp_call(X: FloatArray, y: FloatArray) -> Callable[[], float]:
    """A cold solve by DAQP; b is a variable without cost."""
    import daqp

    n, m = X.shape
    hessian = np.diag([1.0] * m + [0.0])
    rows = np.ascontiguousarray(np.column_stack([y[:, None] * X, y]))
    linear, upper, lower, sense = np.zeros(m + 1), np.full(n, 1e30), np.ones(n), np.zeros(n, dtype=np.int32)
    return lambda: float(daqp.solve(hessian, linear, rows, upper, lower, sense)[1])


def own_calls(
    X: FloatArray, y: FloatArray
) -> tuple[Callable[[], float], Callable[[], None], Callable[[], None], int]:
    """Times of a cold solve and of warm solves per random and per support sample, and the number of the latter."""
    solver = MaxMargin(X, y)
    for row in range(len(y)):
        solver.enable(row)

    def cold() -> float:
        solver.forget()
        solver.solve()
        return solver.value

    cold()
    support = [row for row, _ in solver.support]
    drawn = [int(row) for row in np.random.default_rng(0).choice(len(y), size=20, replace=False)]

    def warm(rows: list[int]) -> Callable[[], None]:
        def call() -> None:
            for row in rows:
                solver.disable(row)
                solver.solve()
                solver.enable(row)
                solver.solve()

        return call

    return cold, warm(drawn), warm(support), len(support)


def main() -> None:
    """Print one row per instance, and the mean ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="folder with brooks/; default: $HARDMARGIN_DATA")
    folder = data_or_skip(parser.parse_args().data)
    print(
        f"{'instance':<12} {'kept':>4} {'cold us':>8} {'DAQP':>7} {'SVC':>7} {'warm any':>9} {'warm support':>12}"
    )
    ratios = []
    for instance in INSTANCES:
        X, y = separable_part(instance, folder)
        cold, warm_drawn, warm_support, support_size = own_calls(X, y)
        daqp = daqp_call(X, y)
        if not np.isclose(cold(), daqp(), rtol=1e-6):
            raise SystemExit(f"{instance}: values differ, {cold()} against {daqp()}")
        times = [
            seconds_a_call(cold),
            seconds_a_call(daqp),
            seconds_a_call(lambda X=X, y=y: SVC(kernel="linear", C=1e8).fit(X, y)),  # type: ignore[misc]
            seconds_a_call(warm_drawn) / 40,
            seconds_a_call(warm_support) / (2 * support_size),
        ]
        microseconds = [1e6 * value for value in times]
        print("{:<12} {:>4} {:>8.1f} {:>7.1f} {:>7.0f} {:>9.2f} {:>12.2f}".format(instance, len(y), *microseconds))
        ratios.append([times[1] / times[0], times[2] / times[0], times[0] / times[3], times[0] / times[4]])
    mean = np.exp(np.log(ratios).mean(axis=0))
    print(
        "geometric mean: DAQP {:.1f} x, SVC {:.0f} x slower than cold; warm {:.1f} x (any sample), "
        "{:.1f} x (support sample) faster than cold".format(*mean)
    )


if __name__ == "__main__":
    main()
