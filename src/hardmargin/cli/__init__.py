"""The command line, a file a command; this one turns whatever happens into an exit status.

====== ==============================================================================================
status meaning
====== ==============================================================================================
0      done: solved or stopped by a limit
1      ``verify`` only: a claim of the model does not hold
2      the input or the command line cannot be used; one line on standard error says why
70     an error inside hardmargin itself; HARDMARGIN_DEBUG=1 shows where
130    stopped by Ctrl-C; 143 if by SIGTERM. A search that was under way still writes what it has
141    whoever read the output went away (``| head``)
====== ==============================================================================================
"""

from __future__ import annotations

import contextlib
import os
import sys
import traceback
from collections.abc import Sequence

from hardmargin.cli import generate, predict, show_versions, solve, verify
from hardmargin.cli.interrupts import Interrupts
from hardmargin.cli.key_values import one_flag_each
from hardmargin.cli.parser import Parser
from hardmargin.cli.status import BAD_INPUT, BROKEN_PIPE, INTERNAL_ERROR, INTERRUPTED
from hardmargin.versions import __version__

_REFUSALS = (ValueError, TypeError, OSError, MemoryError, ImportError)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments after the program's name; those of this process if not given.

    Returns
    -------
    status : int
        The exit status, as in the table above.

    Examples
    --------
    >>> main(["generate", "--type", "B", "--n", "20", "--d", "2", "--output", "/no/such/folder/data"])
    2
    """
    interrupts = Interrupts()
    try:
        with interrupts:
            status = _run(sys.argv[1:] if argv is None else argv)
            if sys.stdout is not None:
                sys.stdout.flush()
    except KeyboardInterrupt:
        _complain("interrupted")
        status = INTERRUPTED
    except BrokenPipeError:
        status = BROKEN_PIPE
    except _REFUSALS as error:
        _complain(f"error: {_in_one_line(error)}")
        status = BAD_INPUT
    except Exception as error:
        _complain(
            f"internal error: {type(error).__name__}: {_in_one_line(error)}; please report it with the data, "
            "the output of 'hardmargin show-versions' and the traceback that HARDMARGIN_DEBUG=1 prints."
        )
        status = INTERNAL_ERROR
    _give_up_closed_output()
    return interrupts.status if status == INTERRUPTED else status


def _run(argv: Sequence[str]) -> int:
    arguments = _parser().parse_args(one_flag_each(argv, flags=("--option", "--class-weight")))
    status: int = arguments.run(arguments)
    return status


def _parser() -> Parser:
    parser = Parser(
        prog="hardmargin",
        description="Linear support vector machines with the hard-margin loss, to certified optimality.",
    )
    parser.add_argument("--version", action="version", version=f"hardmargin {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for command in (solve, predict, verify, generate, show_versions):
        command.add_to(commands)
    return parser


def _in_one_line(error: BaseException) -> str:
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.filename}: {error.strerror}"
    if isinstance(error, MemoryError):
        return f"out of memory; the data are too large for this machine. {error}".strip()
    return " ".join(str(error).split())


def _complain(line: str) -> None:
    if sys.stderr is None:
        return
    with contextlib.suppress(BrokenPipeError):
        if os.environ.get("HARDMARGIN_DEBUG"):
            traceback.print_exc()
        print(f"hardmargin: {line}", file=sys.stderr)


def _give_up_closed_output() -> None:
    """Drop what standard output no longer takes, or Python would complain about it at exit."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
