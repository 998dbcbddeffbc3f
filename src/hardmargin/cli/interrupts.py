"""Ctrl-C and SIGTERM treated alike: a KeyboardInterrupt that remembers which of them it was."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any

from hardmargin.cli.early import DEFAULT_HANDLERS, leave
from hardmargin.signals import ENDING, HeldSignals, replace_handlers, set_handlers


class Interrupts:
    """While active, SIGTERM interrupts as Ctrl-C does, so that a job that is asked to end writes its result.

    The second signal is ignored, because the answer is being written by then, and a user who presses Ctrl-C twice
    does not want to lose it. The third signal interrupts again. Handlers set by others are left alone, and so are
    signals that are ignored, as in background jobs of a shell script. Nothing changes in threads other than the
    main one.

    Parameters
    ----------
    end_process : bool
        Whether the process ends with this block: signals that arrive afterwards are ignored.

    Attributes
    ----------
    status : int
        128 plus the number of the last signal; 130, that of Ctrl-C, if there was none.

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

    def __init__(self, *, end_process: bool = False) -> None:
        self._end_process = end_process
        self.status = 128 + signal.SIGINT
        self._count = 0
        self._replaced: dict[int, Any] = {}

    def __enter__(self) -> Interrupts:
        self._replaced = replace_handlers(self._interrupt, lambda present: present in (*DEFAULT_HANDLERS, leave))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        # A process that has its exit status only needs to end.
        handlers = dict.fromkeys(self._replaced, signal.SIG_IGN) if self._end_process else self._replaced
        try:
            set_handlers(handlers)
        except KeyboardInterrupt:
            # The signal arrived at the last moment.
            set_handlers(handlers)
            if not self._end_process:
                raise

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """While active, a signal raises nothing: it ends the process, or waits for the end of the block."""
        if not self._end_process:
            with HeldSignals():
                yield
            return
        replaced = replace_handlers(leave, lambda present: present == self._interrupt)
        try:
            yield
        finally:
            set_handlers(replaced)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        self.status = 128 + number
        self._count += 1
        if self._count != 2:
            raise KeyboardInterrupt


@contextmanager
def while_importing() -> Iterator[None]:
    """Make signals raise nothing in the middle of imports, if our own handlers are active.

    Exceptions raised there may be lost or become other errors.
    """
    owners = (getattr(signal.getsignal(number), "__self__", None) for number in ENDING)
    owner = next((owner for owner in owners if isinstance(owner, Interrupts)), None)
    if owner is None:
        yield
        return
    with owner.waiting():
        yield
