"""``hardmargin bench tables``: the paper's tables, with the runs of campaigns beside the published ones."""

from __future__ import annotations

import argparse
import shutil
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from hardmargin.cli.bench.records import add_records_arguments, check_records, read_all, read_literature
from hardmargin.cli.output import check_target
from hardmargin.cli.parser import Commands
from hardmargin.cli.status import DONE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardmargin.bench.report.tables.table import Table

# The least width of text.
_NARROWEST = 80


def add_to(commands: Commands) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "tables",
        help="tables of the results of campaigns",
        description="Tables 2 to 7 of the paper with the systems of the records beside Brooks 2011 and CB-SVM-HML "
        "as published, means by set, and gaps over time; runs on other instances are in separate tables.",
    )
    add_records_arguments(parser)
    parser.add_argument(
        "--format", choices=("text", "csv", "latex", "markdown"), default="text", help="default: text"
    )
    parser.add_argument("--out", metavar="DIR", help="write one file per table instead of printing them")
    parser.add_argument("--per-instance", action="store_true", help="the runs one by one, and nothing else")
    parser.add_argument("--all", action="store_true", help="also show rows without any run")
    parser.add_argument(
        "--solu",
        metavar="FILE",
        help="also add the solutions to a file of best known values, created if missing; one line each, "
        "'=opt= NAME_C1 VALUE' or '=best= ...'",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Read, make the tables, and print or write them."""
    check_records(arguments.records)
    if arguments.solu:
        check_target(arguments.solu, "--solu", sources=arguments.records)
    records, literature = read_all(arguments), read_literature(arguments)
    from hardmargin.bench.analysis.runs import runs_of
    from hardmargin.bench.records.best_known import extend_solu
    from hardmargin.bench.report.tables.campaign import all_tables, instance_table, what_numbers_are
    from hardmargin.bench.report.tables.table import WRITERS

    runs = runs_of(records)
    if arguments.per_instance:
        tables = [instance_table(runs)]
    else:
        tables = all_tables(runs, literature, all_rows=arguments.all)
    if arguments.out:
        _write(tables, Path(arguments.out), arguments.format)
    elif arguments.format == "text":
        _print(tables, "" if arguments.per_instance else what_numbers_are(runs))
    else:
        print("\n".join(map(WRITERS[arguments.format], tables)), end="")
    if arguments.solu:
        extend_solu(arguments.solu, records)
    return DONE


def _write(tables: Sequence[Table], folder: Path, format: str) -> None:
    from hardmargin.bench.report.tables.table import SUFFIXES, WRITERS

    folder.mkdir(parents=True, exist_ok=True)
    for table in tables:
        path = folder / f"{table.name}{SUFFIXES[format]}"
        path.write_text(WRITERS[format](table), encoding="utf-8")
        print(path)


def _print(tables: Sequence[Table], last_line: str) -> None:
    """Print text that is no wider than the screen, as far as columns can be separated."""
    from hardmargin.bench.report.tables.table import as_text

    width = max(_NARROWEST, shutil.get_terminal_size().columns)
    print("\n".join(as_text(table, width) for table in tables), end="\n" if last_line else "")
    if last_line:
        print(textwrap.fill(last_line, width))
