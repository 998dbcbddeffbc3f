"""The file that stores the state of a solve, from which another run can continue.

The file has a line that names its format, a checksum, and a body: a zip archive of arrays, as numpy writes them.
The first array holds the rest of the state as JSON. The file says which data it belongs to, and is refused for
others.
The checksum detects damage. It is not a signature, because anyone who can write the file can compute it. So nothing
here relies on it, and ``saved_state.py`` checks what was read before it is used.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as array_format
from numpy.typing import NDArray

from hardmargin.atomic import replace_file
from hardmargin.fingerprint import fingerprint
from hardmargin.frontier import FORMAT
from hardmargin.problem import Problem
from hardmargin.validation import is_whole
from hardmargin.versions import __version__

_NAME = b"hardmargin checkpoint, format "
_CONTENT = "content"
# Stands for an array in the JSON part.
_ARRAY = "array of the archive"
# How to read the header of an array, by the version of its format.
_HEADERS = {(1, 0): array_format.read_array_header_1_0, (2, 0): array_format.read_array_header_2_0}


class CheckpointWarning(RuntimeWarning):
    """A problem with a checkpoint that does not end the search.

    Attributes
    ----------
    lost : bool
        Whether the search has ended without its last state being written.
    """

    def __init__(self, text: str, *, lost: bool = False) -> None:
        super().__init__(text)
        self.lost = lost


class ForeignCheckpointError(ValueError):
    """A checkpoint of another problem or another method.

    Attributes
    ----------
    what : str
        Which solve it belongs to.
    """

    def __init__(self, what: str, advice: str) -> None:
        super().__init__(f"{what}; {advice}.")
        self.what = what


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
        Of everything that defines the problem: samples, labels, costs and constraints.
    """

    method: str
    n: int
    m: int
    C: float
    fingerprint: str

    @classmethod
    def of(cls, problem: Problem, method: str, check: Callable[[], None] = lambda: None) -> Identity:
        """The identity of a solve of the caller's problem by a method; for ``check`` see
        :func:`~hardmargin.fingerprint.fingerprint`."""
        return cls(method, problem.n, problem.m, float(problem.C), fingerprint(problem, check))

    def __str__(self) -> str:
        return f"{self.n} samples x {self.m} features with C = {self.C:g}"


def write_checkpoint(path: str | os.PathLike[str], identity: Identity, state: Mapping[str, Any]) -> None:
    """Write a state, made of JSON types and arrays, in one step."""
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
        If the file is not a checkpoint, is damaged, has another version, or belongs to another solve.
    OSError
        If the file cannot be read.
    """
    name = os.fspath(path)
    if Path(path).exists() and not Path(path).is_file():
        raise ValueError(f"{name} is not a checkpoint but a folder or a device; expected a file.")
    content = _checked_content(_read(Path(path), name), name)
    saved = _identity(content, name)
    if saved.method != identity.method:
        raise ForeignCheckpointError(
            f"checkpoint {name} belongs to method {saved.method!r:.40}, but the method is {identity.method!r}",
            f"resume with method {saved.method!r:.40}, or start without the checkpoint",
        )
    if saved != identity:
        other = ", with other values or weights" if str(saved) == str(identity) else ""
        raise ForeignCheckpointError(
            f"checkpoint {name} belongs to other data or other settings: it is about {saved}, and this is "
            f"{identity}{other}",
            "resume with the data and the penalties that it was written for, or start without it",
        )
    state: dict[str, Any] = content["state"]
    return state


def records_folder(path: str | os.PathLike[str]) -> Path:
    """The folder of the records of a proof that belong to a checkpoint, if it has any."""
    return Path(f"{os.path.realpath(path)}.records")


def unusable(name: str, reason: str) -> ValueError:
    """The error for a checkpoint whose checksum is right but whose content is not."""
    return ValueError(
        f"checkpoint {name} is not one that this version of hardmargin has written, though its checksum is right: "
        f"{reason}; start without it, or use another copy."
    )


def _read(path: Path, name: str) -> bytes:
    with path.open("rb") as file:
        # Read only the start, because a file of another kind may have any size.
        begin = file.read(len(_NAME))
        if begin != _NAME:
            raise ValueError(
                f"{name} is not a checkpoint; expected a file that --checkpoint or checkpoint= has written."
            )
        try:
            return file.read()
        except (MemoryError, OverflowError):
            size = path.stat().st_size
            raise ValueError(
                f"checkpoint {name} has {size} bytes, which this machine has no memory for; resume on a larger one."
            ) from None


def _checked_content(data: bytes, name: str) -> dict[str, Any]:
    damaged = ValueError(
        f"checkpoint {name} is damaged: its content does not have the checksum that was written with it; "
        "start without it, or use another copy."
    )
    head, _, rest = data.partition(b"\n")
    checksum, _, body = rest.partition(b"\n")
    if head.isdigit() and head != str(FORMAT).encode():
        raise ValueError(
            f"checkpoint {name} has format {head[:20].decode()}, and this version of hardmargin ({__version__}) "
            f"reads format {FORMAT}; use the version that wrote it."
        )
    if not head.isdigit() or checksum != hashlib.sha256(body).hexdigest().encode():
        raise damaged
    try:
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            arrays = _Arrays(archive, len(body))
            content = _with_arrays(json.loads(arrays[_CONTENT].tobytes()), arrays)
    except Exception as error:
        # The readers of archives, headers and JSON raise a dozen kinds of exceptions for invalid input.
        reason = f"it cannot be unpacked ({type(error).__name__}: {error!s:.80})"
        raise unusable(name, reason) from error
    if not isinstance(content, dict) or not isinstance(content.get("state"), dict):
        raise unusable(name, "it contains no state")
    return content


def _identity(content: Mapping[str, Any], name: str) -> Identity:
    """The solve that the file says it belongs to."""
    values = content.get("identity")
    expected = {field.name for field in fields(Identity)}
    if not isinstance(values, dict) or set(values) != expected:
        raise unusable(name, "it does not say which solve it belongs to")
    saved = Identity(**values)
    texts, sizes = (saved.method, saved.fingerprint), (saved.n, saved.m)
    fits = all(isinstance(text, str) for text in texts) and isinstance(saved.C, float)
    if not fits or not all(is_whole(size) and 0 < size < 2**53 for size in sizes):
        raise unusable(name, "its description of the solve that it belongs to has the wrong types")
    return saved


class _Arrays:
    """The arrays of an archive by name, as :func:`numpy.savez` writes them; none may be larger than the file.

    :func:`numpy.load` would allocate whatever size a header claims.
    """

    def __init__(self, archive: zipfile.ZipFile, size: int) -> None:
        self._archive = archive
        self._read: dict[str, NDArray[Any]] = {}
        stored = all(
            info.compress_type == zipfile.ZIP_STORED and info.compress_size == info.file_size
            for info in archive.infolist()
        )
        if not stored or sum(info.file_size for info in archive.infolist()) > size:
            raise ValueError("its parts are larger than it is")

    def __getitem__(self, name: str) -> NDArray[Any]:
        # Unpacked once, however often it is referenced.
        if name not in self._read:
            self._read[name] = self._unpacked(name)
        return self._read[name]

    def _unpacked(self, name: str) -> NDArray[Any]:
        content = self._archive.read(f"{name}.npy")
        file = io.BytesIO(content)
        shape, is_transposed, kind = _HEADERS[array_format.read_magic(file)](file)
        if kind.hasobject or any(size < 0 for size in shape):
            raise ValueError("an array of something other than numbers")
        if math.prod(shape) * kind.itemsize != len(content) - file.tell():
            raise ValueError("an array of another size than its header says")
        # A copy, which is writable and aligned.
        values = np.array(np.frombuffer(content, dtype=kind, offset=file.tell()))
        return values.reshape(shape[::-1]).T if is_transposed else values.reshape(shape)


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


def _with_arrays(value: Any, archive: _Arrays) -> Any:
    """The inverse of :func:`_without_arrays`; tuples have become lists."""
    if isinstance(value, dict):
        if set(value) == {_ARRAY}:
            return archive[str(value[_ARRAY])]
        return {key: _with_arrays(part, archive) for key, part in value.items()}
    if isinstance(value, list):
        return [_with_arrays(part, archive) for part in value]
    return value
