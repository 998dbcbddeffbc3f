"""A lock on a file that is replaced again and again, so that no two runs write the same one."""

from __future__ import annotations

import errno
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from hardmargin.atomic import beside
from hardmargin.checkpoint import CheckpointWarning

# What systems answer that have locks, but not for the file system in question.
_UNSUPPORTED = {errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP}


@contextmanager
def held_lock(path: str | os.PathLike[str]) -> Iterator[None]:
    """Hold the lock of a file, which need not exist.

    The lock is on an empty file beside it, because the file itself is replaced by others. The system releases the
    lock when the process ends, however it ends; the empty file then stays, and means nothing. Where there are no
    locks, a warning says so.

    Parameters
    ----------
    path : path
        Links are followed: all names of a file have one lock.

    Raises
    ------
    ValueError
        If another run holds it, in this process or another one.
    OSError
        If the file beside it cannot be made.
    """
    descriptor = _locked(path)
    try:
        yield
    finally:
        if descriptor is not None:
            _release(descriptor, path)


def _locked(path: str | os.PathLike[str]) -> int | None:
    """The descriptor of the locked file; None where there are no locks."""
    try:
        import fcntl
    except ImportError:
        _warn(path, "this system has no locks of the kind that is used")
        return None
    name = beside(path, "lock")
    while True:
        descriptor = os.open(name, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_still(descriptor, name):
                return descriptor
        except BlockingIOError:
            os.close(descriptor)
            raise ValueError(
                f"checkpoint {os.fspath(path)} is in use by another run; wait until that has ended, or name "
                "another checkpoint."
            ) from None
        except OSError as error:
            os.close(descriptor)
            if error.errno not in _UNSUPPORTED:
                raise
            name.unlink(missing_ok=True)
            _warn(path, f"no locks in this folder ({error.strerror})")
            return None
        except BaseException:
            os.close(descriptor)
            raise
        # Whoever held it has removed the file since it was opened; the next try makes another one.
        os.close(descriptor)


def _is_still(descriptor: int, name: os.PathLike[str]) -> bool:
    """Whether an open file still has its name."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(name))
    except FileNotFoundError:
        return False


def _release(descriptor: int, path: str | os.PathLike[str]) -> None:
    import fcntl

    try:
        # While it is held: who opens it from now on finds that it has lost its name.
        beside(path, "lock").unlink(missing_ok=True)
    finally:
        # Not left to the end of the descriptor, of which a process that was forked meanwhile has a copy.
        fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)


def _warn(path: str | os.PathLike[str], reason: str) -> None:
    warnings.warn(
        CheckpointWarning(
            f"checkpoint {os.fspath(path)}: {reason}; nothing keeps another run from writing the same file."
        ),
        # From here through the context manager to solve().
        stacklevel=5,
    )
