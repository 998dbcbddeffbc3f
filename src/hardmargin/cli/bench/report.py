"""``hardmargin bench report``: everything on one page."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from hardmargin.cli.bench.records import (
    add_records_arguments,
    check_records,
    read_files,
    read_literature,
    warnings_told,
)
from hardmargin.cli.output import check_target
from hardmargin.cli.parser import Commands
from hardmargin.cli.status import DONE

if TYPE_CHECKING:
    from hardmargin.bench.robustness import RobustnessRecord


def add_to(commands: Commands) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "report",
        help="one HTML page with the results of campaigns",
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
    read = [*arguments.records, *([arguments.robustness] if arguments.robustness else [])]
    check_records(read)
    check_target(arguments.out, "--out", sources=read)
    files, literature = read_files(arguments), read_literature(arguments)
    # Plotting and statistics take seconds to import, which a command that cannot run should not spend.
    from hardmargin.atomic import replace_text
    from hardmargin.bench.report.page import report

    page = report(files, literature, _study(arguments.robustness), title=arguments.title)
    replace_text(arguments.out, page)
    print(arguments.out)
    return DONE


def _study(path: str | None) -> list[RobustnessRecord]:
    if path is None:
        return []
    from hardmargin.bench import robustness

    with warnings_told():
        found = robustness.read_records(path)
    if not found:
        raise ValueError(
            f"--robustness is {path!r}, which has no evaluations; expected what 'bench robustness' wrote."
        )
    return found
