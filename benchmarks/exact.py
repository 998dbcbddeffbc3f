"""What an exact method proves in a given time, on the benchmark problems of the literature.

    python benchmarks/exact.py --method packing --seconds 60 --jobs 2 --every 5 [--output FILE] [PART_OF_NAME ...]

Prints a row a group: pairs proven optimal, mean gap, shifted geometric mean of times (shift 0.1 s), longest time.
An objective below a proven optimum, or a bound above a known objective, is an error.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from instances import Pair, best_known, data_folder, group_of, matching
from primal_search import contradictions

from hardmargin import solve
from hardmargin.bounds import relative_gap
from hardmargin.data import load

SHIFT = 0.1


class Run(NamedTuple):
    """What a method proved for one pair."""

    pair: Pair
    status: str
    objective: float
    lower_bound: float
    nodes: int
    seconds: float


def run_pair(pair: Pair, folder: Path, method: str, seconds: float, threads: int) -> Run:
    """Solve one pair."""
    data = load(folder / "brooks" / pair.instance)
    result = solve(data.X, data.y, pair.C, method=method, time_limit=seconds, threads=threads)
    return Run(pair, result.status.value, result.objective, result.lower_bound, result.nodes, result.runtime)


def print_table(runs: list[Run]) -> None:
    """One row a group, and all of them."""
    groups: dict[str, list[Run]] = defaultdict(list)
    for run in runs:
        groups[group_of(run.pair.instance)].append(run)
    print(f"{'group':<12} {'pairs':>5} {'proven':>6} {'mean gap %':>10} {'time':>8} {'longest':>8} {'nodes':>9}")
    for name, members in [*sorted(groups.items()), ("all", runs)]:
        gaps = [100 * relative_gap(run.objective, run.lower_bound) for run in members]
        seconds = np.array([run.seconds for run in members])
        mean = float(np.exp(np.log(seconds + SHIFT).mean()) - SHIFT)
        proven = sum(run.status == "optimal" for run in members)
        nodes = sum(run.nodes for run in members)
        print(
            f"{name:<12} {len(members):>5} {proven:>6} {np.mean(gaps):>10.3f} "
            f"{mean:>8.2f} {seconds.max():>8.2f} {nodes:>9}"
        )


def main() -> None:
    """Run the pairs asked for and report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--method", default="packing")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--every", type=int, default=1, help="take every so many pairs of the sorted list")
    parser.add_argument("--output", type=Path)
    parser.add_argument("parts", nargs="*")
    arguments = parser.parse_args()
    folder = data_folder()
    known = best_known(folder)
    pairs = matching(iter(sorted(known)), arguments.parts)[:: arguments.every]
    work = partial(
        run_pair,
        folder=folder,
        method=arguments.method,
        seconds=arguments.seconds,
        threads=arguments.threads,
    )
    with ProcessPoolExecutor(arguments.jobs) as pool:
        runs = list(pool.map(work, pairs))
    if arguments.output:
        with arguments.output.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["instance", "C", *Run._fields[1:]])
            writer.writerows([*run.pair, *run[1:]] for run in runs)
    print_table(runs)
    errors = contradictions(runs, known)
    for error in errors:
        print("CONTRADICTION", error)
    sys.exit(1 if errors else 0)


if __name__ == "__main__":
    main()
