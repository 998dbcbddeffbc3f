"""Ctrl-C and SIGTERM as one thing: a KeyboardInterrupt that remembers which of them it was."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any

from hardmargin.cli.early import DEFAULT_HANDLERS, leave
from hardmargin.signals import ENDING, HeldSignals, replace_handlers, set_handlers


class Interrupts:
    """While active, SIGTERM interrupts as Ctrl-C does, so that a job that is told to end writes what it has.

    The second signal is passed over, because by then the answer is being written and who presses Ctrl-C twice
    does not mean to lose it; the third interrupts again. Handlers that somebody else has set are left alone,
    and so are signals that are ignored, as in background jobs of a shell script. In threads other than the
    main one nothing is changed.

    Parameters
    ----------
    end_process : bool
        Whether the process has nothing else to do than this: signals that come afterwards are passed over.

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
        # A process that has its exit status only has to end.
        handlers = dict.fromkeys(self._replaced, signal.SIG_IGN) if self._end_process else self._replaced
        try:
            set_handlers(handlers)
        except KeyboardInterrupt:
            # It came at the last moment.
            set_handlers(handlers)
            if not self._end_process:
                raise

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """While active, a signal raises nothing: the process ends, or it waits for the end of the block."""
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
    """Let signals raise nothing in the middle of imports, if it is our handlers that would.

    What they raise there may be lost, or become an error of another kind.
    """
    owners = (getattr(signal.getsignal(number), "__self__", None) for number in ENDING)
    owner = next((owner for owner in owners if isinstance(owner, Interrupts)), None)
    if owner is None:
        yield
        return
    with owner.waiting():
        yield
