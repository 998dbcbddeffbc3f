"""``hardmargin bench fetch``: download the published instances."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from hardmargin.cli.parser import Commands
from hardmargin.cli.status import DONE

if TYPE_CHECKING:
    from hardmargin.bench.instances.catalogue import DataFile


def add_to(commands: Commands) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "fetch",
        help="download the published instances",
        description="Download the 175 published instances and the test parts of their folds (9 MB), each compared "
        "with its checksum. Files that are already there are not downloaded again.",
    )
    parser.add_argument("--data", metavar="DIR", help="the data folder; default: $HARDMARGIN_DATA")
    parser.add_argument(
        "--url", metavar="BASE", help="where the files are; default: the public repository of the paper's authors"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Download what is missing."""
    from hardmargin.bench.instances.data_folder import SUBFOLDER, named_folder
    from hardmargin.bench.instances.fetch import AUTHORS_URL, fetch

    folder = named_folder(arguments.data)
    if folder is None:
        raise ValueError("no data folder is named; give --data DIR or set HARDMARGIN_DATA.")
    shown = sys.stderr.isatty()

    def show(file: DataFile, downloaded: bool) -> None:
        if shown and downloaded:
            print(f"\r{file.name:<40}", end="", file=sys.stderr, flush=True)

    try:
        downloaded, present = fetch(folder, arguments.url or AUTHORS_URL, on_file=show)
    finally:
        if shown:
            print("\r" + " " * 40 + "\r", end="", file=sys.stderr, flush=True)
    print(f"{folder / SUBFOLDER}: {downloaded} files downloaded, {present} already there")
    return DONE
