"""Reads text files: compressed or not, with or without a byte order mark, with any line ends."""

from __future__ import annotations

import gzip
import io
import os
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO

from hardmargin.data.dataset import DataError

_GZIP_MAGIC = b"\x1f\x8b"
# Files that people have instead of CSV, by their first bytes.
_OTHER_KINDS = {
    b"PK\x03\x04": "a spreadsheet or a zip archive",
    b"\xd0\xcf\x11\xe0": "a spreadsheet",
    b"PAR1": "a Parquet file",
}
_MAGIC_BYTES = 4
_CHUNK_BYTES = 1 << 20
# str.splitlines would also split at form feeds and the like, and so count lines unlike any editor. Lines are found
# one by one, because often only the first are wanted.
_LINE = re.compile(r"([^\r\n]*)(?:\r\n|\r|\n|\Z)")

#: Larger files are refused, even if they are small before decompression.
MAX_BYTES = 1 << 30


@dataclass(frozen=True)
class Source:
    """The text of a file, and its name for error messages."""

    name: str
    text: str

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield the lines that are not blank, with their numbers from 1 and without their ends."""
        for number, found in enumerate(_LINE.finditer(self.text), start=1):
            line = found[1]
            if line and not line.isspace():
                yield number, line

    def whole_lines(self) -> Iterator[str]:
        """Yield all lines with their ends."""
        for found in _LINE.finditer(self.text):
            yield found[0]

    def error(self, message: str, line: int | None = None) -> DataError:
        """Build the error for something found in the file, or on one line of it."""
        place = self.name if line is None else f"{self.name}:{line}"
        return DataError(f"{place}: {message}")


def read_source(path: str | os.PathLike[str]) -> Source:
    """Read a text file, decompressing it if it is gzip-compressed.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    Source

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    DataError
        If it is a directory, empty, too large or not UTF-8 text.
    """
    name = os.fspath(path)
    if os.path.isdir(path):
        raise DataError(f"{name}: is a directory; expected a data file.")
    with open(path, "rb") as file:
        if os.path.isfile(path) and os.path.getsize(path) <= MAX_BYTES:
            # At once, which takes a tenth of the time. A stream may be endless.
            content = file.read()
            begin = content[:_MAGIC_BYTES]
        else:
            content = None
            begin = file.peek(_MAGIC_BYTES)
        for magic, kind in _OTHER_KINDS.items():
            if begin.startswith(magic):
                raise DataError(f"{name}: is {kind}; expected text: save or unpack it as CSV first.")
        if begin.startswith(_GZIP_MAGIC):
            content = _decompressed(file if content is None else io.BytesIO(content), name)
        elif content is None:
            content = _content(file, name)
    return decoded(content, name)


def decoded(content: bytes, name: str) -> Source:
    """Decode the bytes of a file.

    Parameters
    ----------
    content : bytes
        The file's bytes, decompressed.
    name : str
        Its name, for error messages.

    Returns
    -------
    Source

    Raises
    ------
    DataError
        If it is empty or not UTF-8 text.
    """
    _refuse_binary(content, name)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        # The object of the exception begins after the byte order mark, and its start counts from there.
        line = problem.object.count(b"\n", 0, problem.start) + 1
        found = problem.object[problem.start]
        raise DataError(f"{name}:{line}: found the byte 0x{found:02x}; expected text in UTF-8.") from None
    if not text or text.isspace():
        raise DataError(f"{name}: has no content; expected samples in Brooks, LIBSVM or CSV format.")
    return Source(name, text)


def shown(token: str) -> str:
    """Quote a piece of the file for an error message, shortened to a readable length."""
    return repr(token if len(token) <= 40 else token[:37] + "...")


def _content(file: IO[bytes] | gzip.GzipFile, name: str) -> bytes:
    chunks = []
    size = 0
    while chunk := file.read(_CHUNK_BYTES):
        # Checked as it arrives, so that an endless stream is refused at once.
        _refuse_binary(chunk, name)
        size += len(chunk)
        if size > MAX_BYTES:
            raise DataError(f"{name}: more than {MAX_BYTES} bytes of text; expected at most that many.")
        chunks.append(chunk)
    return b"".join(chunks)


def _decompressed(file: IO[bytes], name: str) -> bytes:
    try:
        with gzip.GzipFile(fileobj=file) as unzipped:
            return _content(unzipped, name)
    except (gzip.BadGzipFile, EOFError, zlib.error) as problem:
        raise DataError(f"{name}: damaged gzip file ({problem}); expected a complete one.") from None


def _refuse_binary(content: bytes, name: str) -> None:
    if b"\0" in content:
        raise DataError(f"{name}: found binary content; expected text in UTF-8 (gzip-compressed or not).")
