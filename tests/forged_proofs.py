"""Files of proofs, taken apart and written by hand."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hardmargin.checker.reading import MAGIC
from hardmargin.checker.samples import Samples
from hardmargin.search.recording import number_bytes


def parts(path: Path) -> tuple[dict[str, Any], bytes]:
    """The header and the body of a proof."""
    content = path.read_bytes()
    end = content.index(b"\n", len(MAGIC)) + 1
    return json.loads(content[len(MAGIC) : end]), zlib.decompress(content[end:])


def write(path: Path, header: Any, body: bytes) -> Path:
    """Write a proof; the header is what JSON can express, or bytes."""
    line = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(MAGIC + line + b"\n" + zlib.compress(body))
    return path


def encoded(numbers: Iterable[int]) -> bytes:
    """Numbers as bodies and records contain them."""
    return b"".join(map(number_bytes, numbers))


def doubles(*values: float) -> list[int]:
    """Numbers in double precision as records contain them."""
    bits = np.array(values).view(np.uint64).tolist()
    return [half for value in bits for half in (value >> 32, value & 0xFFFFFFFF)]


def piece_header(kind: str, bound: float, **others: Any) -> dict[str, Any]:
    """What the header of a proof says about a piece."""
    return {"kind": kind, "share": 1.0, "bound": bound, "exponent": 0} | others


def header_of(samples: Samples, bound: float, *pieces: dict[str, Any]) -> dict[str, Any]:
    """The header of a proof for these data."""
    return {"bound": bound, "n": samples.n, "m": samples.m, **samples.hashes(), "pieces": list(pieces)}


def content(
    groups: Sequence[Sequence[int]],
    records: Iterable[Iterable[int]],
    axes: Any = None,
    copies: Sequence[int] = (),
) -> bytes:
    """The body of a piece; it is one of directions if there are axes."""
    numbers = [len(groups)]
    for group in groups:
        numbers += [len(group), *group]
    if axes is not None:
        numbers += [*(copies or [1] * len(groups)), len(axes), *doubles(*np.ravel(axes))]
    written = [encoded(record) for record in records]
    return encoded(numbers) + b"".join(number_bytes(len(record)) + record for record in written) + b"\0"


def face_record(axes: int, face: int, negative: int, *steps: int, longest: float = 9.0) -> list[int]:
    """A record of a whole face of the cube."""
    side = -1.0 if negative else 1.0
    sides = [end for k in range(axes) for end in ((side, side) if k == face else (-1.0, 1.0))]
    return [2 * face + negative + 1, 0, face, negative, *doubles(*sides, 0.0, longest), *steps]
