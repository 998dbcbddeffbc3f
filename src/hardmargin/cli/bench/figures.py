"""``hardmargin bench figures``: the paper's figures, and figures that compare solvers."""

from __future__ import annotations

import argparse
from pathlib import Path

from hardmargin.cli.bench.records import add_records_arguments, check_records, read_all, read_literature
from hardmargin.cli.parser import Commands
from hardmargin.cli.status import DONE


def add_to(commands: Commands) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "figures",
        help="figures of the results of campaigns",
        description="Figures 3 and 4 of the paper, proofs over time, performance profile, gaps over time, "
        "primal-dual integrals, and time against n and m, one file each.",
    )
    add_records_arguments(parser)
    parser.add_argument("--out", metavar="DIR", required=True, help="the folder to write to; created if missing")
    parser.add_argument("--format", choices=("svg", "pdf", "png"), default="pdf", help="default: pdf")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Read, draw and write."""
    check_records(arguments.records)
    records, literature = read_all(arguments), read_literature(arguments)
    from hardmargin.bench.analysis.runs import runs_of
    from hardmargin.bench.report.figures.campaign import all_figures, save_figures

    runs = runs_of(records)
    for path in save_figures(all_figures(runs, literature), Path(arguments.out), arguments.format):
        print(path)
    return DONE
