"""The benchmark problems of the literature, read from a folder outside the project."""

from __future__ import annotations

import csv
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

PENALTIES = (1.0, 10.0, 100.0, 1000.0, 10000.0)


class Pair(NamedTuple):
    """An instance and a penalty."""

    instance: str
    C: float


class BestKnown(NamedTuple):
    """The best objective known for a pair, and whether it is proven optimal."""

    value: float
    proven: bool


def data_folder() -> Path:
    """The folder with ``brooks/`` and ``best_known.csv``; ends the program with a hint if there is none."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("HARDMARGIN_DATA", beside))
    if not (folder / "brooks").is_dir():
        sys.exit(
            f"no benchmark data in {folder}: set HARDMARGIN_DATA to a folder with brooks/ (the instances, from the "
            "public repository vidalt/Hard-Margin-SVM) and best_known.csv"
        )
    return folder


def best_known(folder: Path) -> dict[Pair, BestKnown]:
    """Read the best known objectives."""
    with (folder / "best_known.csv").open(encoding="utf-8", newline="") as file:
        return {
            Pair(row["instance"], float(row["C"])): BestKnown(float(row["value"]), row["status"] == "proven")
            for row in csv.DictReader(file)
        }


def group_of(instance: str) -> str:
    """The set that an instance belongs to: its name without fold or number."""
    return instance.split("Tj")[0].split("5f")[0]


def matching(pairs: Iterator[Pair], parts: list[str]) -> list[Pair]:
    """The pairs whose instance's name contains one of the parts; all if there are no parts."""
    return [pair for pair in pairs if not parts or any(part in pair.instance for part in parts)]
