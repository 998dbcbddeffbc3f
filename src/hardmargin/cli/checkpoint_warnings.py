"""Warnings about a checkpoint, while a search runs."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from hardmargin.checkpoint import CheckpointWarning

if TYPE_CHECKING:
    from hardmargin.progress import Progress


@contextmanager
def checkpoint_warnings(progress: Progress) -> Iterator[list[CheckpointWarning]]:
    """Print each warning about the checkpoint once, in one line, whatever Python's warning filters say."""
    told: list[CheckpointWarning] = []
    show_others = warnings.showwarning

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if not isinstance(message, CheckpointWarning):
            show_others(message, category, filename, lineno, file, line)
        elif str(message) not in map(str, told):
            told.append(message)
            if sys.stderr is not None:
                with progress.paused():
                    print(f"hardmargin: warning: {message}", file=sys.stderr, flush=True)

    with warnings.catch_warnings():
        warnings.simplefilter("always", CheckpointWarning)
        warnings.showwarning = show
        yield told
