"""Best known objectives: the table of the data folder, and ``.solu`` files, which campaigns extend.

A line of a ``.solu`` file is ``=opt= NAME VALUE`` if the value is proven minimal up to a relative gap of 1e-6, and
``=best= NAME VALUE`` otherwise. A name consists of the instance, "_C" and the penalty: ``n60d2ATj0_C10``.
"""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from hardmargin.atomic import replace_text
from hardmargin.bench.records.record import Record

#: The relative gap up to which an objective counts as proven in a file.
PROVEN_GAP = 1e-6

#: The table of a data folder.
TABLE = "best_known.csv"

# Half a unit of the last of the six decimals in the table.
_WRITTEN = 5e-7

#: The instance and the penalty.
Key = tuple[str, float]


@dataclass(frozen=True)
class Known:
    """What is known about the optimum of a problem.

    Attributes
    ----------
    value : float
        The best objective.
    proven : bool
        Whether it is proven minimal up to :data:`PROVEN_GAP`.
    rounding : float
        How far the value may be from the true one, because it was written with few digits.
    source : str
        Where the value comes from, in words.
    """

    value: float
    proven: bool
    rounding: float = 0.0
    source: str = "a record"


def best_known_table(folder: Path) -> dict[Key, Known]:
    """The table of a data folder; empty if there is none.

    Raises
    ------
    ValueError
        If it cannot be read.
    """
    path = folder / TABLE
    if not path.is_file():
        return {}
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return {
                (row["instance"], float(row["C"])): Known(
                    float(row["value"]), row["status"] == "proven", _WRITTEN, str(path)
                )
                for row in csv.DictReader(file)
            }
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path}: {error!r}; expected the columns instance, C, value and status.") from None


def read_solu(path: str | os.PathLike[str]) -> dict[Key, Known]:
    """Read a ``.solu`` file.

    Raises
    ------
    ValueError
        If a line is not valid; the message names file and line.
    OSError
        If the file cannot be read.
    """
    known: dict[Key, Known] = {}
    for number, line in enumerate(Path(path).read_text(encoding="utf-8").splitlines(), start=1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        try:
            kind, name, value = words
            instance, _, penalty = name.rpartition("_C")
            entry = Known(float(value), {"=opt=": True, "=best=": False}[kind], source=f"{path}:{number}")
            key = (instance, float(penalty))
        except (KeyError, ValueError):
            raise ValueError(
                f"{path}:{number}: {line!r}; expected '=opt= NAME_C10 VALUE' or '=best= NAME_C10 VALUE'."
            ) from None
        if not (instance and math.isfinite(entry.value)):
            raise ValueError(f"{path}:{number}: {line!r}; expected a name and a finite value.")
        known[key] = better(known.get(key), entry)
    return known


def write_solu(known: Mapping[Key, Known], path: str | os.PathLike[str]) -> None:
    """Write a ``.solu`` file, replacing an existing one in one step."""
    lines = [
        f"{'=opt=' if entry.proven else '=best='} {instance}_C{C:.17g} {entry.value!r}\n"
        for (instance, C), entry in sorted(known.items())
    ]
    replace_text(path, "".join(lines))


def extended(known: Mapping[Key, Known], records: Iterable[Record]) -> dict[Key, Known]:
    """The known values, improved by checked records.

    Parameters
    ----------
    known : mapping
    records : iterable of Record
        Records that are not checked, or have no answer, add nothing.
    """
    result = dict(known)
    for record in records:
        if record.checked and record.objective is not None and record.gap is not None:
            entry = Known(record.objective, record.gap <= PROVEN_GAP)
            result[record.instance, record.C] = better(result.get((record.instance, record.C)), entry)
    return result


def extend_solu(path: str | os.PathLike[str], records: Iterable[Record]) -> None:
    """Add the values of records to a ``.solu`` file, which is created if missing."""
    present = read_solu(path) if Path(path).exists() else {}
    write_solu(extended(present, records), path)


def better(first: Known | None, second: Known) -> Known:
    """The entry with the smaller value; of two that are equal up to the proven gap, the proven one."""
    if first is None:
        return second
    slack = PROVEN_GAP * abs(first.value) + first.rounding + second.rounding
    if first.proven != second.proven and abs(first.value - second.value) <= slack:
        return first if first.proven else second
    return first if first.value <= second.value else second
