"""``hardmargin bench fetch``."""

from __future__ import annotations

import argparse

from hardmargin.cli.parser import Commands


def add_to(commands: Commands) -> None:
    """Declare the command."""
    parser = commands.add_parser("fetch")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the command."""
    raise ValueError("bench fetch is not available.")
