"""Ctrl-C and SIGTERM as one thing: a KeyboardInterrupt that remembers which of them it was."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType, TracebackType
from typing import Any

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_DEFAULT_HANDLERS = (signal.SIG_DFL, signal.default_int_handler)


class Interrupts:
    """While active, SIGTERM interrupts as Ctrl-C does, so that a job that is told to end writes what it has.

    The second signal is passed over, because by then the answer is being written and who presses Ctrl-C twice
    does not mean to lose it; the third interrupts again. Handlers that somebody else has set are left alone,
    and so are signals that are ignored, as in background jobs of a shell script.

    Attributes
    ----------
    status : int
        128 plus the number of the signal that came last; 130, that of Ctrl-C, if none did.

    Examples
    --------
    >>> import signal
    >>> interrupts = Interrupts()
    >>> try:
    ...     with interrupts:
    ...         signal.raise_signal(signal.SIGTERM)
    ... except KeyboardInterrupt:
    ...     print(interrupts.status)
    143
    """

    def __init__(self) -> None:
        self.status = 128 + signal.SIGINT
        self._count = 0
        self._handling = contextlib.ExitStack()

    def __enter__(self) -> Interrupts:
        self._handling.enter_context(_handled(self._interrupt, instead_of=_DEFAULT_HANDLERS))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._handling.close()

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        self.status = 128 + number
        self._count += 1
        if self._count != 2:
            raise KeyboardInterrupt


@contextlib.contextmanager
def postponed() -> Iterator[None]:
    """Hold Ctrl-C and SIGTERM back until the block is done."""
    held: list[int] = []
    active = [handler for handler in map(signal.getsignal, _SIGNALS) if callable(handler)]
    with _handled(lambda number, frame: held.append(number), instead_of=active):
        yield
    if held:
        signal.raise_signal(held[-1])


@contextlib.contextmanager
def _handled(handler: Callable[[int, FrameType | None], None], instead_of: Any) -> Iterator[None]:
    """Set a handler in place of those named; only the main thread may, elsewhere nothing is changed."""
    replaced = []
    if threading.current_thread() is threading.main_thread():
        for number in _SIGNALS:
            present = signal.getsignal(number)
            if present in instead_of:
                signal.signal(number, handler)
                replaced.append((number, present))
    try:
        yield
    finally:
        for number, present in replaced:
            signal.signal(number, present)
