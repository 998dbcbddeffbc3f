"""``hardmargin bench list``: the catalogue of instances."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from hardmargin.cli.bench.selection import add_instance_arguments, chosen_instances
from hardmargin.cli.parser import Commands
from hardmargin.cli.status import DONE


def add_to(commands: Commands) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "list",
        help="list the instances",
        description="List the instances with their set, group, number of samples and of features, and which of "
        "their files are missing from the data folder, or damaged.",
    )
    add_instance_arguments(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print one line per instance."""
    instances = chosen_instances(arguments)
    files = None if arguments.generated else _files(arguments.data)
    print(f"{'instance':<24} {'set':<4} {'group':<12} {'n':>5} {'m':>4}")
    for instance in instances:
        state = "" if files is None else _state(files / instance.name)
        line = (
            f"{instance.name:<24} {instance.set:<4} {instance.group:<12} {instance.n:>5} {instance.m:>4}  {state}"
        )
        print(line.rstrip())
    return DONE


def _files(given: str | None) -> Path | None:
    """The folder with the files; None, with a message, if no data folder is named."""
    from hardmargin.bench.instances.data_folder import SUBFOLDER, named_folder, refuse_instances_themselves

    folder = named_folder(given)
    if folder is None:
        print(
            "hardmargin: no data folder is named, so missing files are not shown; give --data DIR or set "
            "HARDMARGIN_DATA.",
            file=sys.stderr,
        )
        return None
    refuse_instances_themselves(folder)
    if not (folder / SUBFOLDER).is_dir():
        print(f"hardmargin: there is no folder {folder / SUBFOLDER}, so all files are missing.", file=sys.stderr)
    return folder / SUBFOLDER


def _state(path: Path) -> str:
    from hardmargin.bench.instances.catalogue import data_files

    if not path.is_file():
        return "missing"
    return "" if data_files()[path.name].is_content(path.read_bytes()) else "damaged"
