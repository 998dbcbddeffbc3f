"""Turns the outcome of a command, errors included, into an exit status and one line on standard error."""

from __future__ import annotations

import contextlib
import os
import sys
import traceback
from collections.abc import Sequence

from hardmargin.cli.interrupts import Interrupts, while_importing
from hardmargin.cli.status import BAD_INPUT, BROKEN_PIPE, INTERNAL_ERROR, INTERRUPTED

_REFUSALS = (ValueError, TypeError, OSError, MemoryError, ImportError)


def outcome(argv: Sequence[str] | None) -> int:
    """Run one command; see :func:`hardmargin.cli.main`."""
    interrupts = Interrupts(end_process=argv is None)
    try:
        with interrupts:
            status = _status(sys.argv[1:] if argv is None else argv)
    except KeyboardInterrupt:
        _complain("interrupted")
        status = INTERRUPTED
    return interrupts.status if status == INTERRUPTED else status


def _status(argv: Sequence[str]) -> int:
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
    with while_importing():
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
    """Discard output that standard output no longer accepts; otherwise Python would complain at exit."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
