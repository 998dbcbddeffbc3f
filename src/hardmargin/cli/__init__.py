"""The command line, one file per command.

This module and the package's own import as little as possible, so that Ctrl-C is handled almost from the start.
Before that Python handles it and shows a traceback.

====== ==============================================================================================
status meaning
====== ==============================================================================================
0      done: solved or stopped by a limit
1      a claim does not hold: one of the model (``verify``), a lemma, or one of a run (``bench run``)
2      the input or the command line cannot be used; one line on standard error says why
3      ``solve`` is done, but the gap is larger than ``--require-gap`` allows
70     an error inside hardmargin itself; HARDMARGIN_DEBUG=1 shows where
74     ``solve`` is done, but its last state could not be written to the checkpoint
130    stopped by Ctrl-C; 143 if by SIGTERM. A search that was under way still writes its result
141    the reader of the output closed the pipe (``| head``)
====== ==============================================================================================
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_is_command = bool(sys.argv) and sys.argv[0].endswith(("/hardmargin", "/hardmargin/__main__.py"))
# Processes that Dask starts for the command also import its script, under this name.
if _is_command and "__mp_main__" not in sys.modules:
    # This process is the command itself, whose script does a few more things between this import and main().
    from hardmargin.cli.early import leave_at_once

    leave_at_once()


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments after the program's name. If not given, those of this process, which is then expected to end
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
    try:
        if argv is None:
            from hardmargin.cli.early import leave_at_once

            leave_at_once()
        from hardmargin.cli.outcome import outcome

        return outcome(argv)
    except KeyboardInterrupt:
        # The signal arrived before there was a handler, or after it.
        if sys.stderr is not None:
            print("hardmargin: interrupted", file=sys.stderr)
        return 130
