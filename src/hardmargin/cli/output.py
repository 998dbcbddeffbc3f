"""Output files of a command: checked before the work starts, so that no result is lost."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Mapping
from itertools import combinations
from pathlib import Path
from typing import Protocol

#: The name that stands for standard output.
STDOUT = "-"


class Answer(Protocol):
    """What ``--json`` writes."""

    def to_json(self) -> str:
        """The JSON text."""

    def save(self, path: str, /) -> None:
        """Write it to a file."""


def check_target(path: str, flag: str, sources: Iterable[str] = ()) -> None:
    """Refuse a file that cannot be written later.

    Parameters
    ----------
    path : str
        The file to be written, or "-" for standard output.
    flag : str
        The command-line option, for the message.
    sources : iterable of str
        Files that are read and must not be overwritten.

    Raises
    ------
    ValueError
        If the folder is missing, if either is not writable, or if the file is one of the sources.
    """
    if path == STDOUT:
        return
    # Follow links, because the file that they point to will be written.
    target = Path(os.path.realpath(path))
    if not path or target.is_dir():
        raise ValueError(f"{flag} is {path!r}, a folder; expected the name of a file.")
    if not target.parent.is_dir():
        raise ValueError(f"{flag} is {path!r}, but there is no folder {str(target.parent)!r}; make it first.")
    if str(target) in map(os.path.realpath, sources):
        raise ValueError(f"{flag} is {path!r}, which this command reads; choose another name.")
    if not _writable(target):
        raise ValueError(f"{flag} is {path!r}, which cannot be written: permission denied.")


def check_different(files: Mapping[str, str | None]) -> None:
    """Refuse one file for two purposes; only ``--checkpoint`` and ``--resume`` may be the same.

    Parameters
    ----------
    files : mapping from str to str or None
        The files of the options that were given.

    Raises
    ------
    ValueError
        If two of them are the same.
    """
    given = {flag: path for flag, path in files.items() if path not in (None, STDOUT)}
    for first, second in combinations(given, 2):
        same = os.path.realpath(str(given[first])) == os.path.realpath(str(given[second]))
        if same and {first, second} != {"--checkpoint", "--resume"}:
            raise ValueError(f"{first} and {second} are both {given[first]!r}; expected different files.")


def write_json(answer: Answer, path: str) -> None:
    """Write the JSON form of an answer to a file or to standard output."""
    if path == STDOUT:
        print(answer.to_json(), end="")
    else:
        answer.save(path)


def tell(text: str, arguments: argparse.Namespace) -> None:
    """Print a message for the user, unless ``--quiet``, on a stream that ``--json`` does not write to."""
    if not arguments.quiet:
        print(text, file=sys.stderr if arguments.json == STDOUT else sys.stdout, flush=True)


def _writable(target: Path) -> bool:
    if target.exists() and not os.access(target, os.W_OK):
        return False
    # A file is replaced by one written beside it, so its folder must be writable; a device is written directly.
    return (target.exists() and not target.is_file()) or os.access(target.parent, os.W_OK)
