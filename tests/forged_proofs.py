"""Files of proofs, taken apart and written by hand."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hardmargin.checker import Verdict, check_proof
from hardmargin.checker.reading import MAGIC, decoded
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
    return encoded(numbers) + records_bytes(records)


def face_record(axes: int, face: int, negative: int, *steps: int, longest: float = 9.0) -> list[int]:
    """A record of a whole face of the cube."""
    side = -1.0 if negative else 1.0
    sides = [end for k in range(axes) for end in ((side, side) if k == face else (-1.0, 1.0))]
    return [2 * face + negative + 1, 0, face, negative, *doubles(*sides, 0.0, longest), *steps]


class PieceNumbers(NamedTuple):
    """The numbers of a piece: what precedes its records, and the records."""

    before: list[int]
    records: list[list[int]]


def pieces_of(header: dict[str, Any], body: bytes, m: int) -> list[PieceNumbers]:
    """The body of a proof about m features, taken apart."""
    place = 0

    def number() -> int:
        nonlocal place
        begin = place
        while body[place] >= 128:
            place += 1
        place += 1
        return decoded(body[begin:place])[0]

    pieces = []
    for piece in header["pieces"]:
        begin = place
        groups = number()
        for _ in range(groups):
            for _ in range(number()):
                number()
        if piece["kind"] == "directions":
            for _ in range(groups):
                number()
            for _ in range(2 * number() * m):
                number()
        pieces.append(PieceNumbers(decoded(body[begin:place]), []))
        while length := number():
            pieces[-1].records.append(decoded(body[place : place + length]))
            place += length
    return pieces


def body_of(pieces: Iterable[PieceNumbers]) -> bytes:
    """The body of a proof with these pieces."""
    return b"".join(encoded(piece.before) + records_bytes(piece.records) for piece in pieces)


def records_bytes(records: Iterable[Iterable[int]]) -> bytes:
    """All records of a piece, and its end."""
    written = map(encoded, records)
    return b"".join(number_bytes(len(record)) + record for record in written) + b"\0"


def line(*places: float, labels: list[float], costs: list[float]) -> Samples:
    """Samples with one feature."""
    return Samples(np.array(places)[:, None], labels, costs)


def check(path: Path, samples: Samples, header: Any, body: bytes) -> Verdict:
    """Write a proof into a folder and check it."""
    return check_proof(write(path / "forged", header, body), samples.X, samples.y, samples.costs)


def check_samples(path: Path, samples: Samples, bound: float, *steps: int, halvings: int = 0) -> Verdict:
    """Check one record over all samples, whose weights are multiples of 1, halved this often."""
    body = content([[row] for row in range(samples.n)], [[0, 2 * halvings - (halvings > 0), 0, 0, *steps]])
    return check(path, samples, header_of(samples, bound, piece_header("samples", bound)), body)


def check_faces(
    path: Path, samples: Samples, bound: float, *steps: int, axes: Any = None, copies: Sequence[int] = ()
) -> Verdict:
    """Check the same steps for every face of the cube."""
    axes = np.eye(samples.m) if axes is None else np.array(axes)
    records = [face_record(len(axes), face, sign, *steps) for face in range(len(axes)) for sign in range(2)]
    body = content([[row] for row in range(samples.n)], records, axes, copies)
    return check(path, samples, header_of(samples, bound, piece_header("directions", bound)), body)
