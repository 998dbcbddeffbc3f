"""A lock on a file that is replaced repeatedly, so that no two runs write the same file."""

from __future__ import annotations

import errno
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from hardmargin.atomic import beside
from hardmargin.checkpoint.file import CheckpointWarning

# Errors that mean that this file system does not support locks.
_UNSUPPORTED = {errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP}


@contextmanager
def held_lock(path: str | os.PathLike[str]) -> Iterator[None]:
    """Hold the lock of a file, which need not exist.

    The lock is on an empty file beside it, because the file itself gets replaced. The system releases the lock when
    the process ends, however it ends; the empty file may then stay, and means nothing. If the file system has no
    locks, there is a warning.

    Parameters
    ----------
    path : path
        Symbolic links are followed, so that they share the lock of the file that they point to.

    Raises
    ------
    ValueError
        If another run holds the lock, in this process or another one.
    OSError
        If the file beside it cannot be created.
    """
    descriptor = _locked(path)
    try:
        yield
    finally:
        if descriptor is not None:
            _release(descriptor, path)


def _locked(path: str | os.PathLike[str]) -> int | None:
    """The descriptor of the locked file; None if there are no locks."""
    try:
        import fcntl
    except ImportError:
        _warn(path, "this system does not support file locks")
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
        # The previous holder removed the file after it was opened here; the next attempt creates it again.
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
        # While the lock is held: a process that has the file open sees that its name is gone, and tries again.
        beside(path, "lock").unlink(missing_ok=True)
    finally:
        # Closing is not enough: a process forked meanwhile has a copy of the descriptor, which would keep the lock.
        fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)


def _warn(path: str | os.PathLike[str], reason: str) -> None:
    warnings.warn(
        CheckpointWarning(
            f"checkpoint {os.fspath(path)}: {reason}; nothing keeps another run from writing the same file."
        ),
        # The stack level of the caller of solve(), through two context managers.
        stacklevel=8,
    )
