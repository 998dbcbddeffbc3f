"""The paper's methods side by side: Brooks' model and combinatorial Benders' cuts, on SCIP and on CPLEX.

    python benchmarks/paper_methods.py --seconds 60 --jobs 2 --output FILE [--columns NAME ...]

Forty pairs, spread over all sets, folds and penalties (printed by --list). Runs that FILE has are not run again.
Prints pairs proven optimal, mean gap and mean time. An objective below a proven optimum, or a bound above a known
objective, is an error.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from instances import PENALTIES, Pair, best_known, data_folder, group_of
from primal_search import contradictions

from hardmargin import solve
from hardmargin.bounds import relative_gap
from hardmargin.data import load

# What is compared: a method, and its options.
COLUMNS: dict[str, tuple[str, dict[str, Any]]] = {
    "indicator-scip": ("indicator", {"backend": "scip"}),
    "benders-scip": ("benders", {"backend": "scip"}),
    "indicator-cplex": ("indicator", {"backend": "cplex"}),
    "benders-cplex": ("benders", {"backend": "cplex"}),
    "indicator-scip-stock": ("indicator", {"backend": "scip", "tuned": False}),
    "indicator-cplex-stock": ("indicator", {"backend": "cplex", "tuned": False}),
}
DEFAULT_COLUMNS = list(COLUMNS)[:4]
# Every seventh set is there twice, which makes forty pairs of thirty-five sets.
TWICE = 7


class Run(NamedTuple):
    """What a method reached for one pair."""

    column: str
    pair: Pair
    status: str
    objective: float
    lower_bound: float
    nodes: int
    seconds: float


def chosen_pairs(known: set[Pair]) -> list[Pair]:
    """One pair a set, of some two; folds and penalties take turns."""
    sets: dict[str, list[str]] = defaultdict(list)
    for instance in sorted({pair.instance for pair in known}):
        sets[group_of(instance)].append(instance)
    pairs = []
    for k, name in enumerate(sorted(sets)):
        for shift in (0, 2) if k % TWICE == 0 else (0,):
            pairs.append(Pair(sets[name][(k + shift) % 5], PENALTIES[(k // 5 + k + 2 * shift) % 5]))
    return pairs


def run_pair(column: str, pair: Pair, folder: Path, seconds: float) -> Run:
    """Solve one pair."""
    method, options = COLUMNS[column]
    data = load(folder / "brooks" / pair.instance)
    result = solve(data.X, data.y, pair.C, method=method, time_limit=seconds, options=options)
    return Run(
        column, pair, result.status.value, result.objective, result.lower_bound, result.nodes, result.runtime
    )


def read_runs(path: Path) -> list[Run]:
    """The runs that a file has."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return [
            Run(
                row[0],
                Pair(row[1], float(row[2])),
                row[3],
                float(row[4]),
                float(row[5]),
                int(row[6]),
                float(row[7]),
            )
            for row in csv.reader(file)
        ]


def print_table(runs: list[Run]) -> None:
    """One row a column of the comparison."""
    print(f"{'method':<22} {'pairs':>5} {'proven':>6} {'mean gap %':>10} {'mean time':>9}")
    for column in COLUMNS:
        members = [run for run in runs if run.column == column]
        if members:
            gaps = [100 * relative_gap(run.objective, run.lower_bound) for run in members]
            proven = sum(run.status == "optimal" for run in members)
            seconds = np.mean([run.seconds for run in members])
            print(f"{column:<22} {len(members):>5} {proven:>6} {np.mean(gaps):>10.2f} {seconds:>9.1f}")


def main() -> None:
    """Run what is asked for and report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--columns", nargs="*", choices=list(COLUMNS), default=DEFAULT_COLUMNS)
    parser.add_argument("--list", action="store_true", help="print the pairs and end")
    arguments = parser.parse_args()
    folder = data_folder()
    known = best_known(folder)
    pairs = chosen_pairs(set(known))
    if arguments.list:
        for pair in pairs:
            print(pair.instance, f"{pair.C:g}")
        return
    runs = read_runs(arguments.output)
    done = {(run.column, run.pair) for run in runs}
    with (
        arguments.output.open("a", encoding="utf-8", newline="") as file,
        ProcessPoolExecutor(arguments.jobs) as pool,
    ):
        writer = csv.writer(file)
        futures = [
            pool.submit(run_pair, column, pair, folder, arguments.seconds)
            for pair in pairs
            for column in arguments.columns
            if (column, pair) not in done
        ]
        for future in as_completed(futures):
            run = future.result()
            runs.append(run)
            writer.writerow([run.column, *run.pair, *run[2:]])
            file.flush()
    print_table(runs)
    errors = contradictions(runs, known)
    for error in errors:
        print("CONTRADICTION", error)
    sys.exit(1 if errors else 0)


if __name__ == "__main__":
    main()
