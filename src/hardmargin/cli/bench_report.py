"""``hardmargin bench report``: everything on one page."""

from __future__ import annotations

import argparse

from hardmargin.cli.bench_records import add_records_arguments, read_all, read_literature
from hardmargin.cli.output import check_target
from hardmargin.cli.parser import Commands
from hardmargin.cli.status import DONE


def add_to(commands: Commands) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "report",
        help="one HTML page of what campaigns found",
        description="One HTML page with all tables and figures, the runs one by one, settings, machine and "
        "commands. It needs no network.",
    )
    add_records_arguments(parser)
    parser.add_argument("--out", metavar="FILE", required=True, help="the page, e.g. report.html")
    parser.add_argument("--robustness", metavar="FILE", help="a file that 'hardmargin bench robustness' wrote")
    parser.add_argument("--title", default="hardmargin: benchmark report", help="of the page")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Read, make the page and write it."""
    from hardmargin.bench import robustness
    from hardmargin.bench.report import report
    from hardmargin.model_json import write_text

    for path in arguments.records:
        check_target(arguments.out, "--out", source=path)
    records, literature = read_all(arguments), read_literature(arguments)
    study = robustness.read_records(arguments.robustness) if arguments.robustness else []
    page = report(records, literature, study, title=arguments.title, sources=arguments.records)
    write_text(page, arguments.out)
    print(arguments.out)
    return DONE
