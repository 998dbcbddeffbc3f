"""``hardmargin bench``: campaigns over the benchmark instances, a module a sub-command."""

from __future__ import annotations

from hardmargin.cli import (
    bench_convert,
    bench_fetch,
    bench_figures,
    bench_list,
    bench_report,
    bench_robustness,
    bench_run,
    bench_tables,
)
from hardmargin.cli.parser import Commands


def add_to(commands: Commands) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "bench",
        help="run campaigns over the benchmark instances and show their results",
        description="Campaigns over the benchmark instances of the literature: run them, and make tables, figures "
        "and a report of what they found.",
    )
    subcommands = parser.add_subparsers(metavar="COMMAND", required=True)
    for command in (
        bench_list,
        bench_fetch,
        bench_run,
        bench_tables,
        bench_figures,
        bench_report,
        bench_robustness,
        bench_convert,
    ):
        command.add_to(subcommands)
