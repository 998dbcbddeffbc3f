"""``hardmargin show-versions``: the facts a bug report needs."""

from __future__ import annotations

import argparse

import hardmargin
from hardmargin.cli.parser import Commands
from hardmargin.cli.status import DONE


def add_to(commands: Commands) -> None:
    """Declare the command."""
    parser = commands.add_parser("show-versions", help="print the versions in use, for bug reports")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the versions of hardmargin, Python and the packages it uses."""
    hardmargin.show_versions()
    return DONE
