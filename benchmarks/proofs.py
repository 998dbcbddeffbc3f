"""Sizes and checking times of proofs, as the table of docs/proofs.md: one pair of every group of the benchmark.

``python benchmarks/proofs.py DATA [INSTANCE=C ...]``, where DATA is the folder of the instances. Times are seconds
of processor time, on one thread.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from hardmargin import Problem, data, solve
from hardmargin.checker import check_proof

PAIRS = [
    "n60d2ATj0=100",
    "n60d2BTj2=1",
    "n60d5ATj0=10",
    "n60d5BTj3=1",
    "n60d10ATj0=1",
    "n60d10BTj1=1",
    "n100d2ATj2=1000",
    "n100d2BTj1=10000",
    "n100d5ATj1=10000",
    "n100d5BTj0=1",
    "n100d10ATj0=1",
    "n100d10BTj3=1",
    "n200d2ATj3=1",
    "n200d2BTj1=1",
    "n200d5ATj1=1",
    "n200d5BTj4=1",
    "n200d10ATj4=10000",
    "n200d10BTj4=10000",
    "n500d2ATj2=10000",
    "n500d2BTj4=1",
    "n500d5ATj1=100",
    "n500d5BTj3=1",
    "n500d10BTj4=10000",
    "australian5f2i1.train=10000",
    "breast5f1i1.train=100",
    "bupa5f1i1.train=10",
    "german5f4i1.train=10000",
    "heart5f3i1.train=1",
    "ionosphere5f2i1.train=100",
    "pima5f1i1.train=1",
    "sonar5f5i1.train=100",
    "wdbc5f1i1.train=1",
    "wpbc5f5i1.train=1",
]


def measured(path: Path, C: float, proof: Path, time_limit: float) -> str:
    """One row of the table."""
    samples = data.load(path)
    problem = Problem.from_data(samples.X, samples.y, C)
    seconds = []
    for target in (None, proof):
        started = time.process_time()
        result = solve(problem.X, problem.y, C, time_limit=time_limit, proof=target)
        seconds.append(time.process_time() - started)
    started = time.process_time()
    verdict = check_proof(proof, problem.X, problem.y, problem.costs)
    seconds.append(time.process_time() - started)
    proven = "" if result.optimal else f" ({100 * verdict.bound / result.objective:.1f} % of the objective)"
    shown = " | ".join(f"{each:.2f}" for each in seconds)
    size = proof.stat().st_size / 1e6
    kinds = ", ".join(verdict.kinds)
    return f"| {path.name}{proven} | {problem.n} x {problem.m} | {C:g} | {kinds} | {shown} | {size:.2f} |"


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder of the instances")
    parser.add_argument("pairs", nargs="*", default=PAIRS, metavar="INSTANCE=C")
    parser.add_argument("--time-limit", type=float, default=900.0)
    arguments = parser.parse_args()
    # What is imported at the first solve does not count.
    solve([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1])
    print("| instance | size | C | records | solve | with proof | check | MB |\n|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for pair in arguments.pairs:
            name, C = pair.split("=")
            row = measured(arguments.data / name, float(C), Path(folder) / "proof", arguments.time_limit)
            print(row, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
