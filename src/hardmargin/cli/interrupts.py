"""Ctrl-C and SIGTERM as one thing: a KeyboardInterrupt that remembers which of them it was."""

from __future__ import annotations

import signal
from types import FrameType, TracebackType
from typing import Any

from hardmargin.signals import replace_handlers, set_handlers

_DEFAULT_HANDLERS = (signal.SIG_DFL, signal.default_int_handler)


class Interrupts:
    """While active, SIGTERM interrupts as Ctrl-C does, so that a job that is told to end writes what it has.

    The second signal is passed over, because by then the answer is being written and who presses Ctrl-C twice
    does not mean to lose it; the third interrupts again. Handlers that somebody else has set are left alone,
    and so are signals that are ignored, as in background jobs of a shell script. In threads other than the
    main one nothing is changed.

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
        self._replaced: dict[int, Any] = {}

    def __enter__(self) -> Interrupts:
        self._replaced = replace_handlers(self._interrupt, lambda present: present in _DEFAULT_HANDLERS)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        set_handlers(self._replaced)

    def ignore_others(self) -> None:
        """Pass over whatever comes from now on: the process has its exit status and only has to end."""
        self._replaced = dict.fromkeys(self._replaced, signal.SIG_IGN)
        set_handlers(self._replaced)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        self.status = 128 + number
        self._count += 1
        if self._count != 2:
            raise KeyboardInterrupt
