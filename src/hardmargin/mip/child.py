"""The other side of :mod:`hardmargin.mip.process`: solves one indicator model and reports its progress.

Run as ``python -m hardmargin.mip.child``. It reads the name of the back end, the model and the limits from standard
input, and writes pickled messages to standard output. When standard input is closed, the solve ends.
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
from hardmargin.processes import take_output, when_input_ends

# Seconds that a solver has to end when it is asked to and the parent is gone.
_GRACE = 5.0


class _Parent:
    """The process that wants the answer."""

    def __init__(self, replies: BinaryIO) -> None:
        self._replies = replies
        self._gone = threading.Event()

    def request(self) -> tuple[str, IndicatorModel, SolverLimits]:
        """Read the request."""
        asked: tuple[str, IndicatorModel, SolverLimits] = pickle.load(sys.stdin.buffer)
        when_input_ends(self._end_soon)
        return asked

    def send(self, message: Any) -> None:
        """Send a message."""
        pickle.dump(message, self._replies)
        self._replies.flush()

    def observe(self, answer: Answer) -> bool:
        """Pass progress on; False if the solve has to end."""
        try:
            self.send(answer)
        except OSError:
            return False
        return not self._gone.is_set()

    def _end_soon(self) -> None:
        self._gone.set()
        time.sleep(_GRACE)
        os._exit(1)


def main() -> None:
    """Solve the model that is read from standard input."""
    # Output printed by a solver must not break the messages.
    parent = _Parent(take_output())
    name, model, limits = parent.request()
    try:
        parent.send(get_backend(name).solve_indicator(model, replace(limits, observe=parent.observe)))
    except ValueError as error:
        parent.send(Refusal(str(error)))
    except Exception as error:
        parent.send(f"{type(error).__name__}: {error}")
    os._exit(0)


if __name__ == "__main__":
    main()
