"""How much of the space of hyperplanes the search over directions has closed at its time limit.

    python benchmarks/open_directions.py --seconds 600 --threads 2 n500d10ATj0:1 n500d10BTj0:10000 ...

Every pair of an instance and a penalty is solved with the method ``directions``, and its last checkpoint is
examined. Hyperplanes are measured as in the method: by their direction on the surface of the cube, and by their
length up to the longest one that the objective allows.
"""

from __future__ import annotations

import argparse
import math
import tempfile
from pathlib import Path

from data_or_skip import data_or_skip
from numpy.typing import ArrayLike

from hardmargin import Problem, Result, solve
from hardmargin.bench.instances.source import PublishedFiles
from hardmargin.checkpoint import Identity, read_checkpoint
from hardmargin.frontier import Frontier, Regions

METHOD = "directions"


def pair(text: str) -> tuple[str, float]:
    """An instance and a penalty from "INSTANCE:C"."""
    name, _, penalty = text.partition(":")
    return name, float(penalty)


def searched(X: ArrayLike, y: ArrayLike, C: float, seconds: float, threads: int) -> tuple[Result, Frontier]:
    """The result of the search, and what it leaves open."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "state"
        result = solve(
            X,
            y,
            C,
            method=METHOD,
            time_limit=seconds,
            threads=threads,
            checkpoint=path,
            checkpoint_interval=math.inf,
        )
        state = read_checkpoint(path, Identity.of(Problem.from_data(X, y, C), METHOD))
    proofs = state["solve"]["proofs"]
    left = proofs[METHOD]["open"] if proofs else None
    return result, Frontier.empty() if left is None else Frontier(*left)


def main() -> None:
    """Print one row per pair."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", nargs="+", type=pair, metavar="INSTANCE:C")
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--data", help="folder with brooks/; default: $HARDMARGIN_DATA")
    arguments = parser.parse_args()
    files = PublishedFiles(data_or_skip(arguments.data))
    print(
        f"{'instance':<12} {'C':>6} {'status':<10} {'objective':>12} {'bound':>12} {'gap %':>6} {'seconds':>7} "
        f"{'regions':>10} {'open':>9} {'open share':>10}"
    )
    for name, C in arguments.pairs:
        data = files.load(name)
        result, left = searched(data.X, data.y, C, arguments.seconds, arguments.threads)
        print(
            f"{name:<12} {C:>6g} {result.status:<10} {result.objective:>12.3f} {result.lower_bound:>12.3f} "
            f"{100 * result.gap:>6.2f} {result.runtime:>7.1f} {result.nodes:>10} {left.size:>9} "
            f"{Regions.open_share(left):>10.3g}",
            flush=True,
        )


if __name__ == "__main__":
    main()
