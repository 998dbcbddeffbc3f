"""The file that the state of a solve is kept in, from which another run goes on.

The file has a line that names its format, a checksum, and a body: a zip archive of arrays, as numpy writes them, of
which the first holds the rest of the state as JSON. It says which data it belongs to, and is refused for others.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import zipfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hardmargin.atomic import replace_file
from hardmargin.frontier import FORMAT
from hardmargin.problem import Problem
from hardmargin.versions import __version__

_NAME = b"hardmargin checkpoint, format "
_CONTENT = "content"
# What stands for an array in the JSON part.
_ARRAY = "array of the archive"


@dataclass(frozen=True)
class Identity:
    """Which solve a checkpoint belongs to.

    Attributes
    ----------
    method : str
    n, m : int
        Size of the caller's data.
    C : float
        The caller's penalty.
    fingerprint : str
        Of everything that the search is about: samples, labels and costs.
    """

    method: str
    n: int
    m: int
    C: float
    fingerprint: str

    @classmethod
    def of(cls, problem: Problem, method: str) -> Identity:
        """The identity of a solve of the caller's problem by a method."""
        return cls(method, problem.n, problem.m, float(problem.C), fingerprint(problem))

    def __str__(self) -> str:
        return f"{self.n} samples x {self.m} features with C = {self.C:g}"


def fingerprint(problem: Problem) -> str:
    """A checksum of the samples, labels and costs of a problem."""
    digest = hashlib.sha256()
    for array in (problem.X, problem.y, problem.costs):
        digest.update(f"{array.shape}".encode())
        digest.update(np.ascontiguousarray(array, dtype="<f8").tobytes())
    return digest.hexdigest()


def write_checkpoint(path: str | os.PathLike[str], identity: Identity, state: Mapping[str, Any]) -> None:
    """Write a state, of JSON's types and arrays, in one step."""
    arrays: list[Any] = []
    content = {"version": __version__, "identity": asdict(identity), "state": _without_arrays(state, arrays)}
    text = json.dumps(content).encode()
    body = io.BytesIO()
    named: dict[str, Any] = {str(k): array for k, array in enumerate(arrays)}
    np.savez(body, **{_CONTENT: np.frombuffer(text, dtype=np.uint8), **named})
    head = _NAME + f"{FORMAT}\n{hashlib.sha256(body.getbuffer()).hexdigest()}\n".encode()
    replace_file(path, head, body.getbuffer(), lasting=True)


def read_checkpoint(path: str | os.PathLike[str], identity: Identity) -> dict[str, Any]:
    """Read the state of a solve.

    Raises
    ------
    ValueError
        If the file is no checkpoint, damaged, of another version, or belongs to another solve.
    OSError
        If it cannot be read.
    """
    name = os.fspath(path)
    if Path(path).exists() and not Path(path).is_file():
        raise ValueError(f"{name} is not a checkpoint but a folder or a device; expected a file.")
    content = _checked_content(Path(path).read_bytes(), name)
    saved = Identity(**content["identity"])
    if saved.method != identity.method:
        raise ValueError(
            f"checkpoint {name} is one of method {saved.method!r}, and the method is {identity.method!r}; "
            f"resume with method {saved.method!r}, or start without the checkpoint."
        )
    if saved != identity:
        raise ValueError(
            f"checkpoint {name} belongs to other data or other settings: it is about {saved}, and this is "
            f"{identity}{', with other values or weights' if str(saved) == str(identity) else ''}; resume with "
            "the data and the penalties that it was written for, or start without it."
        )
    state: dict[str, Any] = content["state"]
    return state


def _checked_content(data: bytes, name: str) -> dict[str, Any]:
    if not data.startswith(_NAME):
        raise ValueError(
            f"{name} is not a checkpoint; expected a file that --checkpoint or checkpoint= has written."
        )
    damaged = ValueError(
        f"checkpoint {name} is damaged: its content does not have the checksum that was written with it; "
        "start without it, or use another copy."
    )
    head, _, rest = data[len(_NAME) :].partition(b"\n")
    checksum, _, body = rest.partition(b"\n")
    if head.isdigit() and int(head) != FORMAT:
        raise ValueError(
            f"checkpoint {name} has format {int(head)}, and this version of hardmargin ({__version__}) reads "
            f"format {FORMAT}; use the version that wrote it."
        )
    if checksum != hashlib.sha256(body).hexdigest().encode():
        raise damaged
    try:
        with np.load(io.BytesIO(body), allow_pickle=False) as archive:
            content = json.loads(archive[_CONTENT].tobytes())
            restored: dict[str, Any] = _with_arrays(content, archive)
    except (ValueError, KeyError, zipfile.BadZipFile) as error:
        raise damaged from error
    return restored


def _without_arrays(value: Any, arrays: list[Any]) -> Any:
    """The value with its arrays moved to a list."""
    if isinstance(value, np.ndarray):
        arrays.append(value)
        return {_ARRAY: len(arrays) - 1}
    if isinstance(value, Mapping):
        return {key: _without_arrays(part, arrays) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_arrays(part, arrays) for part in value]
    return value


def _with_arrays(value: Any, archive: Mapping[str, Any]) -> Any:
    """The inverse of :func:`_without_arrays`; tuples have become lists."""
    if isinstance(value, dict):
        if set(value) == {_ARRAY}:
            return archive[str(value[_ARRAY])]
        return {key: _with_arrays(part, archive) for key, part in value.items()}
    if isinstance(value, list):
        return [_with_arrays(part, archive) for part in value]
    return value
