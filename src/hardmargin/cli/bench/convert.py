"""``hardmargin bench convert``: records as a parquet file."""

from __future__ import annotations

import argparse

from hardmargin.cli.output import check_target
from hardmargin.cli.parser import Commands, add_quiet_argument
from hardmargin.cli.status import DONE


def add_to(commands: Commands) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "convert",
        help="write records as a parquet file",
        description="Write the records of campaigns as one parquet file, one row per run.",
    )
    parser.add_argument("records", metavar="RECORDS", nargs="+", help="files that 'hardmargin bench run' wrote")
    parser.add_argument("--out", metavar="FILE", required=True, help="the parquet file")
    add_quiet_argument(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Read and write."""
    from hardmargin.bench.records.parquet import write_parquet
    from hardmargin.bench.records.record import read_records

    check_target(arguments.out, "--out", sources=arguments.records)
    write_parquet([record for path in arguments.records for record in read_records(path)], arguments.out)
    if not arguments.quiet:
        print(arguments.out)
    return DONE
