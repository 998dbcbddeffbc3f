"""Records of a proof that are kept with a checkpoint, so that a later run can go on with them.

They are in a folder beside the checkpoint. Files of records only grow, and are removed only after a state was
written that does not refer to them. A state names a description of the records, which says how long each file was.
So whenever the process ends, the last state that was written has all its records: what came after it is cut off.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import stat
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from hardmargin.atomic import replace_file
from hardmargin.checkpoint import records_folder
from hardmargin.search.recording import Piece, ProofRecorder

_NAME = re.compile(r"[0-9A-Za-z_]+\.records")
_DIGEST = re.compile(r"[0-9a-f]{64}")


def clear(folder: Path, needed: Collection[str] = ()) -> None:
    """Remove the records in a folder, except those that are needed."""
    for path in folder.iterdir():
        if path.name not in needed and (_NAME.fullmatch(path.name) or _DIGEST.fullmatch(path.stem)):
            with suppress(OSError):
                path.unlink()


def save(recorder: ProofRecorder, parts: Mapping[str, Any]) -> str:
    """Describe the records of a solve, for a state.

    Parameters
    ----------
    recorder : ProofRecorder
    parts : mapping
        What its proofs have recorded, by kind; an entry ``file`` goes with an entry ``size``.

    Returns
    -------
    str
        The name of the description: its hash.
    """
    best = [plain_piece(piece) for piece in recorder.pieces]
    files: dict[str, int] = {}
    for entry in _entries([best, parts]):
        for name in entry.get("files", ()):
            files[name] = os.path.getsize(recorder.path_of(name))
    for entry in _entries(parts):
        if "file" in entry:
            files[entry["file"]] = entry["size"]
    for name in files:
        _sync(recorder.path_of(name))
    content = json.dumps({"bound": recorder.bound, "best": best, "parts": parts, "files": files}).encode()
    digest = hashlib.sha256(content).hexdigest()
    replace_file(recorder.path_of(f"{digest}.json"), content, lasting=True)
    return digest


def clean(recorder: ProofRecorder, digest: str) -> None:
    """Remove what the last state does not refer to, now that it is written; what fails is left to the next time."""
    with suppress(OSError):
        described = json.loads(Path(recorder.path_of(f"{digest}.json")).read_bytes())
        clear(Path(recorder.folder), {f"{digest}.json", *described["files"]})


def discard(checkpoint: str | os.PathLike[str]) -> None:
    """Remove the records of a checkpoint whose state has none; what fails is left to the next time."""
    folder = records_folder(checkpoint)
    with suppress(OSError):
        clear(folder)
        folder.rmdir()


def resume(recorder: ProofRecorder, checkpoint: str | os.PathLike[str], digest: Any) -> None:
    """Go on with the records that belong to a state.

    Raises
    ------
    ValueError
        If it has none, or if they are not all there.
    """
    name = os.fspath(checkpoint)
    if digest is None:
        raise ValueError(
            f"checkpoint {name} was written without proof, so nothing was recorded of what it has closed: resume "
            "without proof, or start again with it."
        )
    try:
        described = _taken_over(recorder, records_folder(checkpoint), digest)
        best = [piece_of(recorder, value) for value in described["best"]]
        recorder.saved = described["parts"]
        recorder.offer(described["bound"], best)
    except (OSError, ValueError, TypeError, AttributeError, LookupError) as error:
        raise ValueError(
            f"checkpoint {name}: the records of its proof are missing or damaged ({error}); they are in "
            f"{records_folder(checkpoint)}, which belongs to the checkpoint: resume without proof, or start again."
        ) from None


def _taken_over(recorder: ProofRecorder, source: Path, digest: Any) -> dict[str, Any]:
    """Bring files into the folder of a recorder, as long as they were when they were described."""
    if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
        raise ValueError("they have no description")
    content = (source / f"{digest}.json").read_bytes()
    if hashlib.sha256(content).hexdigest() != digest:
        raise ValueError("their description was changed")
    described: dict[str, Any] = json.loads(content)
    _check_names(described)
    target = Path(recorder.folder)
    for name, size in described["files"].items():
        status = (source / name).lstat()
        if not stat.S_ISREG(status.st_mode) or status.st_size < size:
            raise ValueError(f"{name} is too short, or no file")
    if target != source:
        for name in (f"{digest}.json", *described["files"]):
            shutil.copyfile(source / name, target / name)
    for name, size in described["files"].items():
        os.truncate(target / name, size)
    return described


def _check_names(described: Mapping[str, Any]) -> None:
    """Check that a description names no files but records: anyone can write one, and its files are written to."""
    files = described["files"]
    used = [
        name
        for entry in _entries([described["best"], described["parts"]])
        for name in (*entry.get("files", ()), *([entry["file"]] if "file" in entry else []))
    ]
    if not (all(map(_NAME.fullmatch, files)) and all(name in files for name in used)):
        raise ValueError("their description names other files")


def plain_piece(piece: Piece) -> dict[str, Any]:
    """A piece as plain data."""
    return {
        "kind": piece.kind,
        "files": [Path(path).name for path in piece.files],
        "bound": float(piece.bound),
        "groups": [group.tolist() for group in piece.groups],
        "share": float(piece.share),
        "exponent": int(piece.exponent),
        "copies": list(piece.copies),
        "frame": None if piece.frame is None else piece.frame.tolist(),
        "bounds": list(piece.bounds),
    }


def piece_of(recorder: ProofRecorder, value: Mapping[str, Any]) -> Piece:
    """The inverse of :func:`plain_piece`."""
    frame = value["frame"]
    return Piece(
        value["kind"],
        tuple(recorder.path_of(name) for name in value["files"]),
        value["bound"],
        [np.array(group, dtype=np.intp) for group in value["groups"]],
        value["share"],
        value["exponent"],
        tuple(value["copies"]),
        None if frame is None else np.array(frame),
        tuple(value["bounds"]),
    )


def _entries(value: Any) -> Iterator[Mapping[str, Any]]:
    """All objects in plain data."""
    if isinstance(value, Mapping):
        yield value
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for part in value:
            yield from _entries(part)


def _sync(path: str) -> None:
    """Wait until a file is on disk, where the system can."""
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDWR)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
