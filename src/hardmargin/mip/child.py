"""The other side of :mod:`hardmargin.mip.process`: solves one indicator model and says how it goes.

Run as ``python -m hardmargin.mip.child``: standard input brings the name of the back end, the model and the limits,
standard output takes pickled messages. When standard input ends, the solve does too.
"""

from __future__ import annotations

import os
import pickle
import sys
import threading
import time
from dataclasses import replace
from typing import Any, BinaryIO

from hardmargin.mip import get_backend
from hardmargin.mip.base import Answer, IndicatorModel, Refusal, SolverLimits

# Seconds that a solver has to end when it is asked to and nobody is there to end this process.
_GRACE = 5.0


class _Parent:
    """The process that wants the answer."""

    def __init__(self, requests: BinaryIO, replies: BinaryIO) -> None:
        self._requests = requests
        self._replies = replies
        self._gone = threading.Event()

    def request(self) -> tuple[str, IndicatorModel, SolverLimits]:
        """What is asked for."""
        asked: tuple[str, IndicatorModel, SolverLimits] = pickle.load(self._requests)
        threading.Thread(target=self._listen, daemon=True).start()
        return asked

    def send(self, message: Any) -> None:
        """Send a message."""
        pickle.dump(message, self._replies)
        self._replies.flush()

    def observe(self, answer: Answer) -> bool:
        """Pass progress on; False if the solve is to end."""
        try:
            self.send(answer)
        except OSError:
            return False
        return not self._gone.is_set()

    def _listen(self) -> None:
        self._requests.read()
        self._gone.set()
        time.sleep(_GRACE)
        os._exit(1)


def main() -> None:
    """Solve what standard input asks for."""
    # A solver that prints must not break the messages.
    replies = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    parent = _Parent(sys.stdin.buffer, replies)
    name, model, limits = parent.request()
    try:
        parent.send(get_backend(name).solve_indicator(model, replace(limits, observe=parent.observe)))
    except ValueError as error:
        parent.send(Refusal(str(error)))
    except Exception as error:
        parent.send(f"{type(error).__name__}: {error}")
    # Not through the interpreter's end: a thread still waits for standard input.
    os._exit(0)


if __name__ == "__main__":
    main()
