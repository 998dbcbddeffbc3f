"""``--log``: the lines of the logger ``hardmargin`` in a file or on standard error."""

from __future__ import annotations

import contextlib
import logging
import sys
from collections.abc import Iterator
from typing import TextIO

from hardmargin.run_log import LOGGER

#: The name that stands for standard error.
STDERR = "-"


@contextlib.contextmanager
def log_to(path: str | None) -> Iterator[None]:
    """Append what is logged to a file, which is made when there is something to write.

    Parameters
    ----------
    path : str or None
        The file, or "-" for standard error; None logs nothing.
    """
    if path is None:
        yield
        return
    handler = _Lines(path)
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
    level = LOGGER.level
    LOGGER.addHandler(handler)
    LOGGER.setLevel(logging.INFO)
    try:
        yield
    finally:
        LOGGER.setLevel(level)
        LOGGER.removeHandler(handler)
        handler.close()


class _Lines(logging.Handler):
    """Writes lines as they come. If that fails, it complains once, in one line, and the search goes on."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self._path = path
        self._file: TextIO | None = None
        self._complained = False

    def emit(self, record: logging.LogRecord) -> None:
        """Write one line; the file is opened with the first."""
        try:
            print(self.format(record), file=self._stream(), flush=True)
        except OSError as error:
            if not self._complained and sys.stderr is not None:
                text = f"--log {self._path}: {error.strerror or error}; lines are missing there"
                print(f"hardmargin: warning: {text}.", file=sys.stderr, flush=True)
            self._complained = True

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._file.close()
        super().close()

    def _stream(self) -> TextIO | None:
        if self._path == STDERR:
            return sys.stderr
        if self._file is None:
            self._file = open(self._path, "a", encoding="utf-8")  # noqa: SIM115
        return self._file
