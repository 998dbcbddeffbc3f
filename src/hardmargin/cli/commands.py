"""The commands, and the choice between them."""

from __future__ import annotations

from collections.abc import Sequence

from hardmargin.cli import (
    bench,
    check_lemmas,
    explain,
    export_proof,
    generate,
    path,
    predict,
    show_versions,
    solve,
    verify,
)
from hardmargin.cli.key_values import one_flag_each
from hardmargin.cli.parser import Parser
from hardmargin.versions import __version__


def run(argv: Sequence[str]) -> int:
    """Run the command that the arguments name, and return its exit status.

    Raises
    ------
    ValueError
        If the arguments cannot be used.
    """
    flags = ("--option", "--class-weight", "--max-violations", "--monotonic", "--coef-bounds")
    arguments = _parser().parse_args(one_flag_each(argv, flags=flags))
    status: int = arguments.run(arguments)
    return status


def _parser() -> Parser:
    parser = Parser(
        prog="hardmargin",
        description="Linear support vector machines with the hard-margin loss, to certified optimality.",
    )
    parser.add_argument("--version", action="version", version=f"hardmargin {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for command in (
        solve,
        path,
        predict,
        verify,
        export_proof,
        check_lemmas,
        explain,
        generate,
        bench,
        show_versions,
    ):
        command.add_to(commands)
    return parser
