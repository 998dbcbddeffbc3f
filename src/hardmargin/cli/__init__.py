"""The command line, a file a command; this one turns whatever happens into an exit status.

====== ==============================================================================================
status meaning
====== ==============================================================================================
0      done: solved or stopped by a limit
1      a claim does not hold: one of the model (``verify``), or of a run (``bench run``)
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

from hardmargin.cli.interrupts import Interrupts
from hardmargin.cli.status import BAD_INPUT, BROKEN_PIPE, INTERNAL_ERROR, INTERRUPTED

_REFUSALS = (ValueError, TypeError, OSError, MemoryError, ImportError)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments after the program's name; those of this process if not given, which then is taken to end
        with the command.

    Returns
    -------
    status : int
        The exit status, as in the table above.

    Examples
    --------
    >>> main(["generate", "--type", "B", "--n", "20", "--d", "2", "--output", "/no/such/folder/data"])
    2
    """
    with Interrupts() as interrupts:
        try:
            status = _outcome(sys.argv[1:] if argv is None else argv)
        except KeyboardInterrupt:
            _complain("interrupted")
            status = INTERRUPTED
        if argv is None:
            interrupts.ignore_others()
    return interrupts.status if status == INTERRUPTED else status


def _outcome(argv: Sequence[str]) -> int:
    try:
        return _run(argv)
    except BrokenPipeError:
        return BROKEN_PIPE
    except _REFUSALS as error:
        _complain(f"error: {_in_one_line(error)}")
        return BAD_INPUT
    except Exception as error:
        _complain(
            f"internal error: {type(error).__name__}: {_in_one_line(error)}; please report it with the data, "
            "the output of 'hardmargin show-versions' and the traceback that HARDMARGIN_DEBUG=1 prints."
        )
        return INTERNAL_ERROR
    finally:
        _give_up_closed_output()


def _run(argv: Sequence[str]) -> int:
    # Imported here, where Ctrl-C is answered already.
    from hardmargin.cli.commands import run

    status = run(argv)
    if sys.stdout is not None:
        sys.stdout.flush()
    return status


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
