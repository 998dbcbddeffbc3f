"""Files that are replaced in one step, so that no reader ever sees a half-written one."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
from pathlib import Path


def replace_file(path: str | os.PathLike[str], *parts: bytes | memoryview, lasting: bool = False) -> None:
    """Write a file; an existing one stays in place until the new one is complete.

    Parameters
    ----------
    path : path
        Anything that is not a regular file, such as /dev/stdout, is written to directly and never replaced.
    *parts : bytes or memoryview
        The content, in order.
    lasting : bool
        Whether to wait until the data is on disk, so that it survives a power failure.
    """
    if Path(path).exists() and not Path(path).is_file():
        with Path(path).open("wb") as file:
            file.writelines(parts)
        return
    target = Path(os.path.realpath(path))
    partial = beside(target, f"{secrets.token_hex(8)}.partial")
    try:
        with partial.open("wb") as file:
            file.writelines(parts)
            if lasting:
                file.flush()
                os.fsync(file.fileno())
        os.replace(partial, target)
    finally:
        partial.unlink(missing_ok=True)
    if lasting:
        _sync_folder(target.parent)


def replace_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file; an existing one stays in place until the new one is complete."""
    replace_file(path, text.encode("utf-8"))


def beside(path: str | os.PathLike[str], ending: str) -> Path:
    """The name of a hidden file in the same folder that belongs to a file.

    It contains a checksum of the file's name instead of the name, which may already have the maximum length.
    """
    target = Path(os.path.realpath(path))
    return target.with_name(f".{hashlib.sha256(os.fsencode(target.name)).hexdigest()[:16]}.{ending}")


def remove_partials(path: str | os.PathLike[str]) -> None:
    """Remove partial files of processes that were killed while writing; call it only if nobody is writing now."""
    pattern = beside(path, "*.partial")
    for partial in pattern.parent.glob(pattern.name):
        with contextlib.suppress(OSError):
            partial.unlink()


def _sync_folder(folder: Path) -> None:
    """Make the new name of a file durable; where folders cannot be opened, the system takes care of it."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
