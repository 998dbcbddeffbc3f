"""What ``bench tables``, ``figures`` and ``report`` read: records of campaigns, and published results."""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from hardmargin.cli.parser import Parser

if TYPE_CHECKING:
    from hardmargin.bench.analysis.runs import SystemRun
    from hardmargin.bench.records.record import Record


def add_records_arguments(parser: Parser) -> None:
    """Add the arguments that say which runs to read."""
    parser.add_argument("records", metavar="RECORDS", nargs="+", help="files that 'hardmargin bench run' wrote")
    parser.add_argument(
        "--data",
        metavar="DIR",
        help="data folder with the published results by instance, paper_results.csv (default: $HARDMARGIN_DATA); "
        "without it, only the published averages are shown",
    )
    parser.add_argument(
        "--systems",
        metavar="NAME",
        nargs="+",
        help="only these systems, in this order, by their names in tables, e.g. auto 'benders (5%%, 5%%)'",
    )
    parser.add_argument(
        "--common", action="store_true", help="only the pairs of instance and C that every system has run"
    )


def check_records(paths: Iterable[str]) -> None:
    """Refuse missing files before slow imports.

    Raises
    ------
    OSError
        If a file does not exist.
    """
    for path in paths:
        os.stat(path)


@contextmanager
def warnings_told() -> Iterator[None]:
    """Print warnings as plain lines on standard error."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for warning in caught:
        print(f"hardmargin: {warning.message}", file=sys.stderr)


def read_all(arguments: argparse.Namespace) -> list[Record]:
    """The records of all files together; see :func:`read_files`."""
    return [record for records in read_files(arguments).values() for record in records]


def read_files(arguments: argparse.Namespace) -> dict[str, list[Record]]:
    """The records of each file by its path; an incomplete last line is reported on standard error.

    Raises
    ------
    ValueError
        If a file is not a file of records, or if there are no records at all.
    """
    from hardmargin.bench.records.record import read_records

    with warnings_told():
        found = {path: read_records(path) for path in arguments.records}
    if not any(found.values()):
        raise ValueError(
            f"there are no runs in {', '.join(arguments.records)}; 'hardmargin bench run --out FILE' makes them."
        )
    if arguments.systems:
        found = _chosen(found, arguments.systems)
    return _shared(found) if arguments.common else found


def _chosen(files: dict[str, list[Record]], systems: Sequence[str]) -> dict[str, list[Record]]:
    """The records of these systems, in their order; later files follow earlier ones."""
    from hardmargin.bench.analysis.runs import by_system

    available = by_system(record for records in files.values() for record in records)
    for system in systems:
        if system not in available:
            raise ValueError(f"--systems has {system!r}; the records have {', '.join(map(repr, available))}.")
    place = {record.key: k for k, system in enumerate(systems) for record in available[system]}
    chosen = {path: [record for record in records if record.key in place] for path, records in files.items()}
    return {path: sorted(records, key=lambda record: place[record.key]) for path, records in chosen.items()}


def _shared(files: dict[str, list[Record]]) -> dict[str, list[Record]]:
    from hardmargin.bench.analysis.runs import common, runs_of

    pairs = {run.pair for run in common(runs_of(record for records in files.values() for record in records))}
    if not pairs:
        raise ValueError("no pair of instance and C has been run by every system; leave --common out.")
    return {path: [record for record in records if record.pair in pairs] for path, records in files.items()}


def read_literature(arguments: argparse.Namespace) -> list[SystemRun]:
    """The published results by instance; empty if they are not available.

    Raises
    ------
    ValueError
        If --data names a folder that does not exist.
    """
    from hardmargin.bench.analysis.published import read_published
    from hardmargin.bench.instances.data_folder import named_folder

    folder = named_folder(arguments.data)
    if arguments.data and folder is not None and not folder.is_dir():
        raise ValueError(f"--data is {arguments.data!r}; there is no such folder.")
    return read_published(folder)
