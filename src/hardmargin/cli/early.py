"""Ctrl-C and SIGTERM before a command has started: the process ends at once, with the exit status of the signal.

An exception would not work. In the middle of an import some exceptions are lost (in callbacks, where Python only
reports them), and some become other errors (in compiled modules).
"""

from __future__ import annotations

import os
import signal

# Handlers that may be replaced: a signal that is ignored, as in background jobs of a shell script, stays ignored.
DEFAULT_HANDLERS = (signal.SIG_DFL, signal.default_int_handler)


def leave(number: int, frame: object) -> None:
    """Handle a signal by ending the process."""
    try:
        os.write(2, b"hardmargin: interrupted\n")
    except OSError:
        # Standard error is closed.
        pass
    finally:
        os._exit(128 + number)


def leave_at_once() -> None:
    """From now on signals end the process at once; in threads other than the main one nothing is changed."""
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) in DEFAULT_HANDLERS:
            try:
                signal.signal(number, leave)
            except ValueError:
                return
