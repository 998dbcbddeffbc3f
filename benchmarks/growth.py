"""Seconds, memory and proven share as the number of samples grows, beside LinearSVC and SGDClassifier.

    python benchmarks/growth.py --output growth [--sizes 100 1000 10000] [--features 2 10] [--time-limit 60]

Every run has a process of its own, so that its peak memory is known. Finished runs are kept in
OUTPUT/growth.jsonl, and the same command continues with the missing ones. At the end, OUTPUT/growth.md has the
tables, with the exponents of fitted powers of n, and OUTPUT/growth-*.svg and .png are the pictures;
``--report-only`` makes them from what is there.

The others minimise another objective. Their hyperplanes are compared after they were given the scale and the
offset that are best for ours.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Record = dict[str, Any]

OURS, LINEAR, STOCHASTIC = "hardmargin", "LinearSVC", "SGDClassifier"
KINDS = ("noise", "A", "B")

# Samples on which the accuracy is measured, and labels that are flipped.
TEST_SAMPLES = 10_000
FLIPPED = 0.05
# Seconds for a process to start, to make its data and to end, and the multiple of the limit that counts as hanging.
GRACE = 300.0
PATIENCE = 3.0


class Run(NamedTuple):
    """One solver on one data set."""

    solver: str
    kind: str
    n: int
    m: int
    seed: int
    C: float
    time_limit: float
    threads: int


def make_data(kind: str, n: int, m: int, seed: int) -> tuple[Array, Array, Array, Array]:
    """Training and test samples with labels -1 and 1; the test samples have no outliers and no wrong labels."""
    if kind != "noise":
        from hardmargin.data import generate

        train = generate(kind, n, m, seed)
        test = generate(kind, TEST_SAMPLES, m, seed + 1)
        # The outliers are the last tenth.
        clean = TEST_SAMPLES - TEST_SAMPLES // 10
        return train.X, train.y.astype(float), test.X[:clean], test.y[:clean].astype(float)
    rng = np.random.default_rng([seed, n, m])
    X = rng.standard_normal((n + TEST_SAMPLES, m))
    direction = rng.standard_normal(m)
    y = np.where(X @ direction + 0.1 * np.linalg.norm(direction) * rng.standard_normal(len(X)) > 0, 1.0, -1.0)
    flipped = rng.random(n) < FLIPPED
    y[:n][flipped] *= -1
    if abs(y[:n].sum()) == n:
        y[0] = -y[0]
    return X[:n], y[:n], X[n:], y[n:]


def best_on_line(scores: Array, y: Array, C: float) -> tuple[float, float, float]:
    """The best multiple and offset of a linear function for our objective.

    Parameters
    ----------
    scores : ndarray of shape (n,)
        The values of the function; the norm of its gradient must be 1.
    y : ndarray of shape (n,)
        -1 and 1.
    C : float

    Returns
    -------
    objective, factor, offset : float
        ``factor * scores + offset`` has the objective.
    """
    # As the solvers: only where it is needed, so that a process has what it measures.
    from hardmargin._core import best_offset

    return best_offset(scores, y, np.full(len(y), C), 1.0)


def measure(run: Run) -> Record:
    """Do one run in this process."""
    X, y, X_test, y_test = make_data(run.kind, run.n, run.m, run.seed)
    before = peak_megabytes()
    measured = _measure_ours(run, X, y) if run.solver == OURS else _measure_linear(run, X, y)
    coef, intercept = measured.pop("hyperplane")
    predicted = np.where(X_test @ coef + intercept > 0, 1.0, -1.0)
    return {
        **run._asdict(),
        **measured,
        "accuracy": float((predicted == y_test).mean()),
        "data_mb": X.nbytes / 1e6,
        "mb_before": before,
        "mb": peak_megabytes(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
    }


def _measure_ours(run: Run, X: Array, y: Array) -> Record:
    from hardmargin import solve

    started = time.perf_counter()
    result = solve(X, y, run.C, time_limit=run.time_limit, threads=run.threads, seed=run.seed)
    return {
        "seconds": time.perf_counter() - started,
        "status": result.status.value,
        "objective": result.objective,
        "lower_bound": result.lower_bound,
        "trace": [list(point) for point in result.trace],
        "hyperplane": (np.array(result.coef), result.intercept),
    }


def _measure_linear(run: Run, X: Array, y: Array) -> Record:
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import SGDClassifier
    from sklearn.svm import LinearSVC

    if run.solver == LINEAR:
        machine = LinearSVC(C=1.0, dual="auto", random_state=run.seed)
    else:
        machine = SGDClassifier(random_state=run.seed)
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        machine.fit(X, y)
    seconds = time.perf_counter() - started
    direction = machine.coef_[0] / (np.linalg.norm(machine.coef_[0]) or 1.0)
    objective, factor, offset = best_on_line(X @ direction, y, run.C)
    return {
        "seconds": seconds,
        "status": "fitted",
        "objective": objective,
        "hyperplane": (factor * direction, offset),
    }


def peak_megabytes() -> float:
    """The largest memory use of this process so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak / 1e3


def measure_apart(run: Run) -> Record:
    """Do one run in a process of its own."""
    threads = {name: str(run.threads) for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
    words = [sys.executable, __file__, "--run", json.dumps(run)]
    try:
        done = subprocess.run(
            words,
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, **threads},
            timeout=PATIENCE * run.time_limit + GRACE,
        )
    except subprocess.TimeoutExpired:
        return {**run._asdict(), "status": "failed", "error": "killed: it went on long after its time limit"}
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        return {**run._asdict(), "status": "failed", "error": f"exit status {done.returncode}: {last}"}
    record: Record = json.loads(done.stdout.splitlines()[-1])
    return record


def load(path: Path) -> dict[Run, Record]:
    """The finished runs of a file; of the same run the last record counts, and a torn last line is ignored."""
    found: dict[Run, Record] = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        try:
            record = json.loads(line)
        except json.JSONDecodeError:
            continue
        found[Run(*(record[name] for name in Run._fields))] = record
    return found


def run_missing(runs: Iterable[Run], path: Path) -> None:
    """Do the runs that a file does not have, or that failed, and append them to it."""
    for run in runs:
        if load(path).get(run, {"status": "failed"})["status"] != "failed":
            continue
        print(f"{run.solver:<13} {run.kind} n = {run.n}, m = {run.m} ...", end=" ", flush=True)
        record = measure_apart(run)
        with path.open("a", encoding="utf-8") as file:
            # Starts a new line, in case the last one was torn.
            separator = "\n" if file.tell() and not path.read_bytes().endswith(b"\n") else ""
            file.write(separator + json.dumps(record) + "\n")
        print(
            record.get("error") or f"{record['seconds']:.2f} s, {record['mb']:.0f} MB, {record['status']}",
            flush=True,
        )


class Row(NamedTuple):
    """What is shown about one data set: a run of each solver."""

    ours: Record
    linear: Record
    stochastic: Record

    @property
    def n(self) -> int:
        return int(self.ours["n"])

    @property
    def seconds(self) -> float:
        return float(self.ours["seconds"])

    @property
    def seconds_to_linear(self) -> float:
        """When the objective of LinearSVC's hyperplane was reached; NaN if it was not."""
        goal = self.linear["objective"] * (1 + 1e-9)
        return next((float(time) for time, upper, _ in self.ours["trace"] if upper <= goal), math.nan)

    @property
    def megabytes(self) -> float:
        """Memory in addition to the process with its data."""
        return max(float(self.ours["mb"]) - float(self.ours["mb_before"]), 0.1)

    @property
    def proven(self) -> float:
        return float(self.ours["lower_bound"] / self.ours["objective"]) if self.ours["objective"] > 0 else 1.0

    @property
    def linear_seconds(self) -> float:
        return float(self.linear["seconds"])


def rows_of(records: Iterable[Record], kind: str, m: int) -> list[Row]:
    """The data sets of one kind and number of features with finished runs of all solvers, by size."""
    by_size: dict[int, dict[str, Record]] = {}
    for record in records:
        if record["status"] != "failed" and (record["kind"], record["m"]) == (kind, m):
            by_size.setdefault(record["n"], {})[record["solver"]] = record
    solvers = (OURS, LINEAR, STOCHASTIC)
    complete = [runs for _, runs in sorted(by_size.items()) if len(runs) == len(solvers)]
    return [Row(*(runs[solver] for solver in solvers)) for runs in complete]


def exponent(sizes: Sequence[float], values: Sequence[float]) -> float:
    """The power of the size that fits the values best in the logarithmic scale; NaN without two points."""
    points = np.array([(size, value) for size, value in zip(sizes, values, strict=True) if value > 0])
    if len(points) < 2:
        return math.nan
    return float(np.polyfit(np.log(points[:, 0]), np.log(points[:, 1]), deg=1)[0])


#: What is drawn and fitted: title, value, and whether a run that reached its time limit says something about it.
CURVES: dict[str, tuple[str, Callable[[Row], float], bool]] = {
    "seconds": ("seconds to the proof", lambda row: row.seconds, False),
    "linear": ("seconds to LinearSVC's objective", lambda row: row.seconds_to_linear, True),
    "memory": ("MB above the data", lambda row: row.megabytes, True),
    "svc": ("seconds of LinearSVC", lambda row: row.linear_seconds, True),
}


def fitted(rows: Sequence[Row], name: str) -> float:
    """The exponent of a curve, from the sizes that it says something about."""
    _, value, at_limit = CURVES[name]
    known = [row for row in rows if at_limit or row.ours["status"] == "optimal"]
    return exponent([row.n for row in known], [value(row) for row in known])


def report_text(records: Sequence[Record], kinds: Sequence[str], features: Sequence[int]) -> str:
    """All tables, in Markdown."""
    parts = ["# Growth\n"]
    for kind in kinds:
        tables = {m: rows for m in features if (rows := rows_of(records, kind, m))}
        if not tables:
            continue
        parts.append(f"## {_kind_title(kind)}\n")
        for m, rows in tables.items():
            parts.append(f"{m} features:\n\n{_size_table(rows)}\n")
        parts.append(f"Exponents: the fitted power of n.\n\n{_exponent_table(tables)}\n")
    failed = [record for record in records if record["status"] == "failed"]
    parts += [f"- failed: {Run(*(one[name] for name in Run._fields))}: {one['error']}\n" for one in failed]
    return "\n".join(parts)


def _kind_title(kind: str) -> str:
    return f"Gaussian samples, {100 * FLIPPED:.0f} % wrong labels" if kind == "noise" else f"Type {kind}"


def _size_table(rows: Sequence[Row]) -> str:
    header = (
        "| n | seconds | status | seconds to LinearSVC's objective | LinearSVC seconds | SGD seconds "
        "| MB above the data | objective | LinearSVC | SGD | proven | accuracy | LinearSVC | SGD |"
    )
    lines = [header, "|" + "---|" * (header.count("|") - 1)]
    for row in rows:
        cells = [
            str(row.n),
            f"{row.seconds:.2f}",
            row.ours["status"],
            _number(row.seconds_to_linear),
            f"{row.linear_seconds:.3f}",
            f"{row.stochastic['seconds']:.3f}",
            f"{row.megabytes:.0f}",
            *(f"{run['objective']:.6g}" for run in row),
            f"{100 * row.proven:.1f} %",
            *(f"{run['accuracy']:.3f}" for run in row),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _exponent_table(tables: dict[int, list[Row]]) -> str:
    lines = [
        f"| features | {' | '.join(title for title, _, _ in CURVES.values())} |",
        "|---" * (len(CURVES) + 1) + "|",
    ]
    for m, rows in tables.items():
        lines.append(f"| {m} | {' | '.join(_number(fitted(rows, name)) for name in CURVES)} |")
    return "\n".join(lines)


def _number(value: float) -> str:
    return f"{value:.2f}" if math.isfinite(value) else "-"


def draw(records: Sequence[Record], kind: str, features: Sequence[int], folder: Path) -> list[Path]:
    """Draw the curves of one kind of data; return the files."""
    from matplotlib.figure import Figure

    pictures: dict[str, tuple[str, list[tuple[str, Callable[[Row], float], str]]]] = {
        "seconds": (
            "seconds",
            [
                ("all", CURVES["seconds"][1], "-"),
                ("to LinearSVC", CURVES["linear"][1], "--"),
                ("LinearSVC", CURVES["svc"][1], ":"),
            ],
        ),
        "memory": ("MB above the data", [("", CURVES["memory"][1], "-")]),
        "proven": ("proven share of the objective", [("", lambda row: row.proven, "-")]),
    }
    files = []
    for name, (label, curves) in pictures.items():
        figure = Figure(figsize=(6.4, 4.4), layout="constrained")
        axes = figure.subplots()
        for number, m in enumerate(features):
            rows = rows_of(records, kind, m)
            for words, value, style in curves:
                axes.plot(
                    [row.n for row in rows],
                    [value(row) for row in rows],
                    style,
                    marker=".",
                    color=f"C{number}",
                    label=", ".join(filter(None, [f"{m} features", words])),
                )
        axes.set_xscale("log")
        axes.set_yscale("linear" if name == "proven" else "log")
        axes.set_xlabel("samples")
        axes.set_ylabel(label)
        axes.grid(alpha=0.3)
        axes.legend(fontsize="x-small")
        for suffix in ("svg", "png"):
            files.append(folder / f"growth-{kind}-{name}.{suffix}")
            figure.savefig(files[-1], dpi=150)
    return files


def parse(words: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=Path("growth"), help="folder (default growth)")
    parser.add_argument("--sizes", type=int, nargs="+", default=[10**power for power in range(2, 7)])
    parser.add_argument("--features", type=int, nargs="+", default=[2, 5, 10, 50])
    parser.add_argument("--data", nargs="+", choices=KINDS, default=["noise"], help="kinds of data (default noise)")
    parser.add_argument("--time-limit", type=float, default=60.0, help="seconds of each of our runs (default 60)")
    parser.add_argument("--C", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--report-only", action="store_true", help="make tables and pictures of what is there")
    parser.add_argument("--run", help=argparse.SUPPRESS)
    return parser.parse_args(words)


def main() -> None:
    """Do the missing runs, then write tables and pictures."""
    arguments = parse()
    if arguments.run is not None:
        print(json.dumps(measure(Run(*json.loads(arguments.run)))))
        return
    folder = arguments.output
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "growth.jsonl"
    runs = [
        Run(solver, kind, n, m, arguments.seed, arguments.C, arguments.time_limit, arguments.threads)
        # Small sizes first, so that there is something to see early.
        for n in sorted(arguments.sizes)
        for kind in arguments.data
        for m in arguments.features
        for solver in (LINEAR, STOCHASTIC, OURS)
    ]
    if not arguments.report_only:
        run_missing(runs, path)
    finished = load(path)
    records = [finished[run] for run in runs if run in finished]
    text = report_text(records, arguments.data, arguments.features)
    (folder / "growth.md").write_text(text, encoding="utf-8")
    for kind in arguments.data:
        draw(records, kind, arguments.features, folder)
    print(text)


if __name__ == "__main__":
    main()
