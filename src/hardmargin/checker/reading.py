"""The file of a proof: a line that names the format, a line of JSON, and a compressed body of records."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from itertools import accumulate
from typing import Any, BinaryIO

import numpy as np

from hardmargin.checker.errors import UnreadableProofError

#: The first line of a proof.
MAGIC = b"hardmargin proof 2\n"

# Bytes of a number, of the first line of JSON, and of a record, at most.
_NUMBER_BYTES = 9
_HEADER_BYTES = 1 << 28
_RECORD_BYTES = 1 << 31
_CHUNK = 1 << 16
# Bytes of a record that are decoded at a time: what a damaged record claims to contain needs no memory.
_DECODED_BYTES = 1 << 20
# Records hardly shrink when they are compressed. What inflates to more than this is no proof: so many bytes, and so
# many times as many as were read.
_INFLATED_BYTES = 1 << 24
_INFLATED_TIMES = 100


def decoded(record: bytes) -> list[int]:
    """The numbers of a record: seven bits per byte, the lowest first; the last byte of a number is below 128.

    Examples
    --------
    >>> decoded(bytes([5, 0x81, 0x02]))
    [5, 257]
    """
    values = np.frombuffer(record, dtype=np.uint8)
    ends = np.flatnonzero(values < 128)
    if len(values) == 0:
        return []
    if len(ends) == 0 or ends[-1] != len(values) - 1:
        raise UnreadableProofError("a record ends in the middle of a number.")
    begins = np.concatenate(([0], ends[:-1] + 1))
    lengths = ends - begins + 1
    if lengths.max() > _NUMBER_BYTES:
        raise UnreadableProofError("a record has a number that is too long.")
    places = np.arange(len(values)) - np.repeat(begins, lengths)
    digits = (values & 127).astype(np.uint64) << (7 * places).astype(np.uint64)
    numbers: list[int] = np.add.reduceat(digits, begins).tolist()
    return numbers


class Numbers:
    """Reads the numbers of a record one after the other."""

    def __init__(self, record: bytes) -> None:
        self._record = record
        self._decoded_bytes = 0
        self._numbers: list[int] = []
        self._place = 0

    @property
    def over(self) -> bool:
        """Whether all were read."""
        return self._place == len(self._numbers) and self._decoded_bytes == len(self._record)

    def _decode_until(self, count: int) -> None:
        """Have this many numbers ready."""
        # Each has at least one byte.
        if count > len(self._numbers) - self._place + len(self._record) - self._decoded_bytes:
            raise UnreadableProofError("a record ends too early.")
        while count > len(self._numbers) - self._place:
            begin, end = self._decoded_bytes, self._decoded_bytes + _DECODED_BYTES
            if begin == len(self._record):
                raise UnreadableProofError("a record ends too early.")
            # Not in the middle of a number.
            for _ in range(_NUMBER_BYTES):
                end += end < len(self._record) and self._record[end - 1] >= 128
            part = self._record[begin:end]
            self._numbers = self._numbers[self._place :] + decoded(part)
            self._place = 0
            self._decoded_bytes += len(part)

    def next(self) -> int:
        """The next number."""
        if self._place == len(self._numbers):
            self._decode_until(1)
        self._place += 1
        return self._numbers[self._place - 1]

    def take(self, count: int) -> list[int]:
        """The next numbers."""
        self._decode_until(count)
        self._place += count
        return self._numbers[self._place - count : self._place]

    def ascending(self, below: int) -> list[int]:
        """Ascending numbers below a limit, which are written as differences."""
        numbers = list(accumulate(self.take(self.next())))
        if numbers and (numbers[-1] >= below or len(set(numbers)) < len(numbers)):
            raise UnreadableProofError("a record has a list of samples that do not exist.")
        return numbers


def read_header(file: BinaryIO) -> dict[str, Any]:
    """The first two lines of a proof."""
    if file.read(len(MAGIC)) != MAGIC:
        raise UnreadableProofError("it is not a proof of this version: its first line differs.")
    line = file.readline(_HEADER_BYTES)
    try:
        header = json.loads(line)
    except (ValueError, RecursionError):
        raise UnreadableProofError("its second line is not JSON.") from None
    if not isinstance(header, dict):
        raise UnreadableProofError("its second line is not a JSON object.")
    return header


class Body:
    """The compressed part of a proof, read piece by piece."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._inflater = zlib.decompressobj()
        # What was inflated and not taken yet, from a place on.
        self._bytes = bytearray()
        self._place = 0
        # How many more bytes it may inflate to.
        self._left = _INFLATED_BYTES

    def _inflate(self) -> bytes:
        """Some of what follows; perhaps nothing, but something of the file was read."""
        chunk = b"" if self._inflater.unconsumed_tail else self._file.read(_CHUNK)
        if self._inflater.eof or not (chunk or self._inflater.unconsumed_tail):
            raise UnreadableProofError("it ends too early.")
        try:
            more = self._inflater.decompress(self._inflater.unconsumed_tail + chunk, 16 * _CHUNK)
        except zlib.error:
            raise UnreadableProofError("its compressed part is damaged.") from None
        self._left += _INFLATED_TIMES * len(chunk) - len(more)
        if self._left < 0:
            raise UnreadableProofError("its compressed part expands to more than a proof does.")
        return more

    def _take(self, count: int) -> bytes:
        if self._place + count > len(self._bytes):
            del self._bytes[: self._place]
            self._place = 0
            while len(self._bytes) < count:
                self._bytes += self._inflate()
        self._place += count
        return bytes(self._bytes[self._place - count : self._place])

    def number(self) -> int:
        """The next number."""
        value = 0
        for place in range(_NUMBER_BYTES):
            byte = self._take(1)[0]
            value |= (byte & 127) << (7 * place)
            if byte < 128:
                return value
        raise UnreadableProofError("a number is too long.")

    def record(self) -> bytes | None:
        """The next record; None at the end of a piece."""
        length = self.number()
        if length > _RECORD_BYTES:
            raise UnreadableProofError("a record is too long.")
        return self._take(length) if length else None

    def records(self) -> Iterator[bytes]:
        """The records of a piece that are left."""
        while (record := self.record()) is not None:
            yield record

    def end(self) -> None:
        """Check that nothing follows, and the checksum of what was read."""
        if self._place < len(self._bytes):
            raise UnreadableProofError("something follows its last piece.")
        while not self._inflater.eof:
            if self._inflate():
                raise UnreadableProofError("something follows its last piece.")
        if self._inflater.unused_data or self._file.read(1):
            raise UnreadableProofError("something follows its compressed part.")
