"""Ctrl-C at a time that we choose, so that it never falls between an answer and its delivery."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Mapping
from types import FrameType, TracebackType
from typing import Any

#: The signals that request termination, and that a program may handle first.
ENDING = (signal.SIGINT, signal.SIGTERM)

Handler = Callable[[int, FrameType | None], Any]


def replace_handlers(handler: Handler, replaceable: Callable[[Any], bool]) -> dict[int, Any]:
    """Set a handler for the signals that request termination, in place of those that may be replaced.

    Python handles signals in its main thread only; elsewhere nothing is changed.

    Returns
    -------
    dict
        The handlers that were replaced, by signal.
    """
    replaced: dict[int, Any] = {}
    if threading.current_thread() is threading.main_thread():
        for number in ENDING:
            present = signal.getsignal(number)
            if replaceable(present):
                replaced[number] = present
                signal.signal(number, handler)
    return replaced


def set_handlers(handlers: Mapping[int, Any]) -> None:
    """Set handlers by signal, as :func:`replace_handlers` returns them."""
    for number, handler in handlers.items():
        signal.signal(number, handler)


class HeldSignals:
    """While active, Ctrl-C and SIGTERM wait until :meth:`let_through` or the end of the block.

    Then the previous handler is called; for Ctrl-C this is usually the one that raises KeyboardInterrupt. Signals
    that Python does not handle are left alone. In other threads than the main one, nothing is changed.

    Examples
    --------
    >>> import signal
    >>> before = signal.signal(signal.SIGINT, signal.default_int_handler)
    >>> try:
    ...     with HeldSignals():
    ...         signal.raise_signal(signal.SIGINT)
    ...         print("written")
    ... except KeyboardInterrupt:
    ...     print("interrupted")
    written
    interrupted
    >>> _ = signal.signal(signal.SIGINT, before)
    """

    def __init__(self) -> None:
        self._handlers: Mapping[int, Handler] = {}
        self._waiting: list[int] = []

    def __enter__(self) -> HeldSignals:
        self._handlers = replace_handlers(self._hold, callable)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        set_handlers(self._handlers)
        self.let_through()

    def let_through(self) -> None:
        """Call the handlers of the signals that arrived; any exception is raised here."""
        while self._waiting:
            number = self._waiting.pop(0)
            self._handlers[number](number, None)

    def _hold(self, number: int, frame: FrameType | None) -> None:
        self._waiting.append(number)


class LaterTermination:
    """While active, SIGTERM interrupts as Ctrl-C does, and ends the process when the block is left.

    So a job that is asked to end can save its state first. Only in the main thread, and only if nothing else
    handles SIGTERM.

    Parameters
    ----------
    wanted : bool
        False changes nothing.
    """

    def __init__(self, *, wanted: bool = True) -> None:
        self._wanted = wanted
        self._came = False

    def __enter__(self) -> None:
        in_main_thread = threading.current_thread() is threading.main_thread()
        self._wanted = self._wanted and in_main_thread and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
        if self._wanted:
            signal.signal(signal.SIGTERM, self._interrupt)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._wanted:
            try:
                signal.signal(signal.SIGTERM, signal.SIG_DFL)
            except KeyboardInterrupt:
                # It arrived at the last moment.
                signal.signal(signal.SIGTERM, signal.SIG_DFL)
        if self._came:
            signal.raise_signal(signal.SIGTERM)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        self._came = True
        raise KeyboardInterrupt
