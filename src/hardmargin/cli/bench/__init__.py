"""``hardmargin bench``: campaigns over the benchmark instances, one module per sub-command."""

from __future__ import annotations

from hardmargin.cli.bench import convert, fetch, figures, report, robustness, run, tables
from hardmargin.cli.bench import list as list_instances
from hardmargin.cli.parser import Commands


def add_to(commands: Commands) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "bench",
        help="run campaigns over the benchmark instances and show their results",
        description="Campaigns over the benchmark instances of the literature: run them, and make tables, figures "
        "and a report of their results.",
    )
    subcommands = parser.add_subparsers(metavar="COMMAND", required=True)
    for command in (list_instances, fetch, run, tables, figures, report, robustness, convert):
        command.add_to(subcommands)
