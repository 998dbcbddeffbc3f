"""``hardmargin bench list``: the catalogue of instances."""

from __future__ import annotations

import argparse

from hardmargin.cli.bench_selection import add_instance_arguments, chosen_instances
from hardmargin.cli.parser import Commands
from hardmargin.cli.status import DONE


def add_to(commands: Commands) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "list",
        help="list the instances",
        description="List the instances with their set, group, number of samples and of features, and whether the "
        "data folder has them.",
    )
    add_instance_arguments(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print a line an instance."""
    from pathlib import Path

    from hardmargin.bench.data_folder import SUBFOLDER, named_folder
    from hardmargin.bench.source import GeneratedData, PublishedFiles

    folder = named_folder(arguments.data)
    source = GeneratedData() if arguments.generated else PublishedFiles(folder or Path())
    print(f"{'instance':<24} {'set':<4} {'group':<12} {'n':>5} {'m':>4}")
    for instance in chosen_instances(arguments, source):
        here = arguments.generated or (folder is not None and (folder / SUBFOLDER / instance.name).is_file())
        print(
            f"{instance.name:<24} {instance.set:<4} {instance.group:<12} {instance.n:>5} {instance.m:>4}"
            + ("" if here else "  missing")
        )
    return DONE
