"""Writes the file of a proof from the pieces that a solve has collected; ``docs/proofs.md`` has the format."""

from __future__ import annotations

import json
import math
import os
import secrets
import tempfile
import warnings
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from hardmargin.atomic import beside
from hardmargin.checker.constraints import Constraints
from hardmargin.checker.limits import Limits
from hardmargin.checker.reading import MAGIC
from hardmargin.checker.samples import numbers_hash, samples_hash
from hardmargin.checkpoint import records_folder
from hardmargin.problem import Problem
from hardmargin.result import Result
from hardmargin.search.kept_records import clear
from hardmargin.search.recording import Piece, ProofRecorder, number_bytes, sum_of
from hardmargin.versions import __version__

# Records are compressed a little: much more takes too long.
_LEVEL = 1
_CHUNK = 1 << 20
_NO_DISK = (
    "is the disk full? The result is complete without; proof_bound is what has a proof in a file, if anything."
)


def write_proof(
    path: str | os.PathLike[str], problem: Problem, pieces: Sequence[Piece], lower_bound: float
) -> float:
    """Write a proof; an existing file stays in place until the new one is complete.

    Parameters
    ----------
    path : path
    problem : Problem
        The caller's problem.
    pieces : sequence of Piece
        Pieces of this problem.
    lower_bound : float
        What the result claims. The proof claims no more, even if it could because constraints are met only up to a
        tolerance.

    Returns
    -------
    float
        The bound that the proof claims.
    """
    budget = problem.budget
    # The labels of the checker are those of the problem.
    limits = Limits(None if budget is None else budget.as_argument((-1, 1)))
    bound = float(min(_sum_within(limits, pieces), lower_bound))
    constraints = Constraints(problem.n, problem.m, problem.trusted, None, problem.core_bounds, limits)
    header = {
        "bound": bound,
        "n": problem.n,
        "m": problem.m,
        "samples": samples_hash(problem.X),
        "labels": numbers_hash(problem.y),
        "costs": numbers_hash(problem.costs),
        **{name: value for name, value in constraints.stated().items() if value is not None},
        "version": __version__,
        "pieces": [_header(piece) for piece in pieces],
    }
    target = Path(os.path.realpath(path))
    partial = beside(target, f"{secrets.token_hex(8)}.partial")
    try:
        with partial.open("wb") as file:
            file.write(MAGIC)
            file.write(json.dumps(header).encode() + b"\n")
            deflater = zlib.compressobj(_LEVEL)
            for piece in pieces:
                for part in _content(piece):
                    file.write(deflater.compress(part))
            file.write(deflater.flush())
        os.replace(partial, target)
    finally:
        partial.unlink(missing_ok=True)
    return bound


def with_proof(
    result: Result,
    path: str | os.PathLike[str],
    problem: Problem,
    pieces: Sequence[Piece],
    *,
    complete: bool,
) -> Result:
    """Write the proof of a result, and add its bound to that.

    A file or a record that cannot be written only draws a warning, so the result is not lost.

    If no hyperplane within a budget was found, there is no model that a proof would belong to. Nothing is written
    then, unless it is proven that there is no such hyperplane.

    Parameters
    ----------
    result : Result
    path : path
        The file to write.
    problem : Problem
        The problem of the result.
    pieces : sequence of Piece
        The proof.
    complete : bool
        Whether all records of the solve could be written.

    Returns
    -------
    Result
        With ``proof_bound`` if the file was written.
    """
    if math.isinf(result.objective) and not (math.isinf(result.lower_bound) and pieces):
        return result
    if not complete:
        warnings.warn(f"records of the proof could not be written; {_NO_DISK}", stacklevel=3)
    try:
        return replace(result, proof_bound=write_proof(path, problem, pieces, result.lower_bound))
    except OSError as error:
        warnings.warn(f"the proof could not be written ({error}); {_NO_DISK}", stacklevel=3)
        return result


def _sum_within(limits: Limits, pieces: Sequence[Piece]) -> float:
    """What pieces prove together, less what their prices are worth within limits."""
    total = sum_of(pieces)
    if not pieces or not pieces[0].prices or pieces[0].limited:
        return total
    exact = Fraction(total) - limits.priced(list(pieces[0].prices)).credit
    rounded = float(exact)
    return max(0.0, math.nextafter(rounded, -math.inf) if Fraction(rounded) > exact else rounded)


def _header(piece: Piece) -> dict[str, Any]:
    header: dict[str, Any] = {"kind": piece.kind, "share": piece.share, "bound": float(piece.bound)}
    header["exponent"] = piece.exponent
    if piece.prices:
        header |= {"prices": list(piece.prices), "limited": piece.limited}
    return header | ({"bounds": list(piece.bounds)} if piece.bounds else {})


def _content(piece: Piece) -> Iterator[bytes]:
    """The samples of a piece, and its records."""
    yield number_bytes(len(piece.groups))
    for group in piece.groups:
        yield number_bytes(len(group)) + b"".join(map(number_bytes, group.tolist()))
    if piece.frame is not None:
        yield b"".join(map(number_bytes, piece.copies or (1,) * len(piece.groups)))
        yield number_bytes(len(piece.frame))
        # Both halves of the bits of every number.
        bits = np.ascontiguousarray(piece.frame, dtype=np.float64).view(np.uint64).ravel().tolist()
        yield b"".join(number_bytes(value >> 32) + number_bytes(value & 0xFFFFFFFF) for value in bits)
    for name in piece.files:
        with open(name, "rb") as records:
            while part := records.read(_CHUNK):
                yield part
    # No record is empty: this is the end.
    yield number_bytes(0)


@contextmanager
def recording(
    path: str | os.PathLike[str] | None, checkpoint: str | os.PathLike[str] | None = None
) -> Iterator[ProofRecorder | None]:
    """What collects a proof while a problem is solved, in a folder beside the file; None if no proof is wanted.

    If there is a checkpoint, the folder is beside that, and stays.

    Raises
    ------
    OSError
        If nothing can be written there.
    """
    if path is None:
        yield None
        return
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise IsADirectoryError(f"proof {os.fspath(path)} is a folder; expected a file.")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"proof {os.fspath(path)}: there is no folder {target.parent}; make it first.")
    if checkpoint is not None:
        kept = records_folder(checkpoint)
        kept.mkdir(exist_ok=True)
        if not Path(checkpoint).exists():
            # Of a checkpoint that was removed.
            clear(kept)
        try:
            yield ProofRecorder(kept, keeps=True)
        finally:
            with suppress(OSError):
                # Unless there are records in it.
                kept.rmdir()
        return
    with tempfile.TemporaryDirectory(prefix=".hardmargin-proof-", dir=target.parent) as folder:
        yield ProofRecorder(folder)
