"""``hardmargin bench tables``: the paper's tables with the runs of campaigns beside the published ones."""

from __future__ import annotations

import argparse
from pathlib import Path

from hardmargin.cli.bench_records import add_records_arguments, read_all, read_literature
from hardmargin.cli.output import check_target
from hardmargin.cli.parser import Commands
from hardmargin.cli.status import DONE


def add_to(commands: Commands) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "tables",
        help="tables of what campaigns found",
        description="Tables 2 to 7 of the paper with the systems of the records beside Brooks 2011 and CB-SVM-HML "
        "as published, means by set, and gaps over time.",
    )
    add_records_arguments(parser)
    parser.add_argument("--format", choices=("text", "csv", "latex"), default="text", help="default: text")
    parser.add_argument("--out", metavar="DIR", help="write a file a table there instead of printing them")
    parser.add_argument("--per-instance", action="store_true", help="the runs one by one, and nothing else")
    parser.add_argument(
        "--solu",
        metavar="FILE",
        help="also add the solutions to a file of best known values, made if missing; a line each, "
        "'=opt= NAME_C1 VALUE' or '=best= ...'",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Read, make the tables, and print or write them."""
    from hardmargin.bench.best_known import extend_solu
    from hardmargin.bench.runs import runs_of
    from hardmargin.bench.table import SUFFIXES, WRITERS
    from hardmargin.bench.tables import all_tables, instance_table

    if arguments.solu:
        check_target(arguments.solu, "--solu")
    records, literature = read_all(arguments), read_literature(arguments)
    runs = runs_of(records)
    tables = [instance_table(runs)] if arguments.per_instance else all_tables(runs, literature)
    write = WRITERS[arguments.format]
    if arguments.out:
        folder = Path(arguments.out)
        folder.mkdir(parents=True, exist_ok=True)
        for table in tables:
            path = folder / f"{table.name}{SUFFIXES[arguments.format]}"
            path.write_text(write(table), encoding="utf-8")
            print(path)
    else:
        print("\n".join(write(table) for table in tables), end="")
    if arguments.solu:
        extend_solu(arguments.solu, records)
    return DONE
