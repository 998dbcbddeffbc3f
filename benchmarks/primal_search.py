"""Quality of the primal search after a few seconds, on the benchmark problems of the literature.

    python benchmarks/primal_search.py --seconds 2 --jobs 2 [--every 5] [--output FILE] [PART_OF_NAME ...]

Prints one row per group: how many pairs reach the best known objective (relative 1e-6), how many come within 1 %,
how many improve on it, and how many are worse than the hinge-loss start. An objective below a proven optimum is an
error.
"""

from __future__ import annotations

import argparse
import csv
import sys
import warnings
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from data_or_skip import data_or_skip
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from hardmargin import Problem, solve
from hardmargin._core import MaxMargin, MaxMarginStatus
from hardmargin.bench.instances.groups import group_of
from hardmargin.bench.instances.source import PublishedFiles
from hardmargin.bench.records.best_known import Known, best_known_table

REACHED = 1e-6


class Pair(NamedTuple):
    """An instance and a penalty."""

    instance: str
    C: float


class Run(NamedTuple):
    """What the search found for one pair."""

    pair: Pair
    objective: float
    lower_bound: float
    seconds_to_best: float
    hinge_start: float


def excess(run: Run, known: dict[Pair, Known]) -> float:
    """How far an objective is above the best known one, relatively; 0 within the rounding of the latter."""
    best = known[run.pair]
    difference = run.objective - best.value
    return 0.0 if abs(difference) <= best.rounding else difference / best.value


def run_pair(pair: Pair, folder: Path, seconds: float, seed: int) -> Run:
    """Search for the given time on one core."""
    data = PublishedFiles(folder).load(pair.instance)
    result = solve(
        data.X, data.y, pair.C, method="heuristic", time_limit=seconds, seed=seed, options={"effort": 1e9}
    )
    found = next(point.time for point in result.trace if point.upper <= result.objective * (1 + REACHED))
    return Run(
        pair,
        result.objective,
        result.lower_bound,
        found,
        hinge_start(Problem.from_data(data.X, data.y, pair.C)),
    )


def hinge_start(problem: Problem) -> float:
    """Step 1 of the paper: solve with the hinge loss, give up the samples with slack, and solve the rest again."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        machine = LinearSVC(C=problem.C, loss="hinge", max_iter=2000).fit(problem.X, problem.y)
    kept = problem.y * machine.decision_function(problem.X) >= 1 - 1e-7
    solver = MaxMargin(problem.X, problem.y)
    for row in np.flatnonzero(kept):
        solver.enable(int(row))
    if solver.solve() is not MaxMarginStatus.optimal:
        return float("inf")
    coef, intercept = problem.fitted(solver.weights, solver.bias, kept)
    return problem.evaluate(coef, intercept).objective


def print_table(runs: list[Run], known: dict[Pair, Known]) -> None:
    """One row per group, and the total."""
    groups: dict[str, list[Run]] = defaultdict(list)
    for run in runs:
        groups[group_of(run.pair.instance)].append(run)
    print(
        f"{'group':<12} {'pairs':>5} {'reached':>7} {'beaten':>6} {'<= 1 %':>6} "
        f"{'mean off %':>10} {'worst %':>8} {'> hinge':>7} {'s to best':>9}"
    )
    for name, members in [*sorted(groups.items()), ("all", runs)]:
        gaps = np.array([excess(run, known) for run in members])
        worse = sum(run.objective > run.hinge_start * (1 + 1e-9) for run in members)
        print(
            f"{name:<12} {len(members):>5} {int((gaps <= REACHED).sum()):>7} {int((gaps < -REACHED).sum()):>6} "
            f"{int((gaps <= 0.01).sum()):>6} {100 * np.maximum(gaps, 0).mean():>10.4f} {100 * gaps.max():>8.3f} "
            f"{worse:>7} {np.mean([run.seconds_to_best for run in members]):>9.2f}"
        )


def contradictions(runs: Sequence[Run], known: dict[Pair, Known]) -> list[str]:
    """Objectives below a proven optimum, and bounds above the best known objective."""
    found = []
    for run in runs:
        best = known[run.pair]
        if best.proven and excess(run, known) < -REACHED:
            found.append(f"{run.pair}: objective {run.objective} below the proven optimum {best.value}")
        if run.lower_bound > best.value * (1 + REACHED) + best.rounding:
            found.append(f"{run.pair}: bound {run.lower_bound} above the known objective {best.value}")
    return found


def main() -> None:
    """Run the selected pairs and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--every", type=int, default=1, help="take every so many pairs of the sorted list")
    parser.add_argument("--data", help="folder with brooks/ and best_known.csv; default: $HARDMARGIN_DATA")
    parser.add_argument("--output", type=Path)
    parser.add_argument("parts", nargs="*")
    arguments = parser.parse_args()
    folder = data_or_skip(arguments.data)
    known = {Pair(*key): value for key, value in best_known_table(folder).items()}
    if not known:
        print(f"skipped: {folder} has no best_known.csv to compare with; docs/bench.md tells what is in one")
        return
    parts = arguments.parts or [""]
    pairs = [pair for pair in sorted(known) if any(part in pair.instance for part in parts)][:: arguments.every]
    work = partial(run_pair, folder=folder, seconds=arguments.seconds, seed=arguments.seed)
    with ProcessPoolExecutor(arguments.jobs) as pool:
        runs = list(pool.map(work, pairs))
    if arguments.output:
        with arguments.output.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["instance", "C", *Run._fields[1:]])
            writer.writerows([*run.pair, *run[1:]] for run in runs)
    print_table(runs, known)
    errors = contradictions(runs, known)
    for error in errors:
        print("CONTRADICTION", error)
    sys.exit(1 if errors else 0)


if __name__ == "__main__":
    main()
