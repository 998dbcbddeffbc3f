"""Keeps the state of a solve in a file while it runs."""

from __future__ import annotations

import math
import os
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hardmargin.arrays import FloatArray
from hardmargin.atomic import remove_partials
from hardmargin.checkpoint.file import (
    CheckpointWarning,
    Identity,
    read_checkpoint,
    unusable,
    write_checkpoint,
)
from hardmargin.checkpoint.lock import held_lock
from hardmargin.checkpoint.saved_state import check_outline, check_solve, checked_projection
from hardmargin.fingerprint import fingerprint
from hardmargin.problem import Problem
from hardmargin.projection import Check, Projection, no_check, projection
from hardmargin.validation import is_real

# Writing may take this share of the time; with a large state the interval grows accordingly.
_LARGEST_SHARE = 0.05
# A failed write counts as one that took this many seconds.
_AFTER_FAILURE = 1.0


class Keeper:
    """Reads the state that a solve starts from, and writes the states that it reaches.

    Parameters
    ----------
    identity : Identity
        Of the solve.
    path : path, optional
        Where states are written; None writes none.
    interval : float
        Seconds between two writes, at least.
    resume : path, optional
        Where the state is that the solve starts from.

    Attributes
    ----------
    saved : dict or None
        The state that was read.
    path : path or None
        Where states are written; None if they are not.

    Raises
    ------
    ValueError, OSError
        If the file cannot be used; see :func:`read_checkpoint`.
    """

    def __init__(
        self,
        identity: Identity,
        path: str | os.PathLike[str] | None = None,
        interval: float = math.inf,
        resume: str | os.PathLike[str] | None = None,
    ) -> None:
        self._resumed = resume
        content = read_checkpoint(resume, identity) if resume is not None else None
        if content is not None:
            with self._refusing():
                check_outline(content)
        self.saved: dict[str, Any] | None = content["solve"] if content is not None else None
        self._projection: dict[str, Any] | None = content["projection"] if content is not None else None
        self._reduced: str | None = content["reduced"] if content is not None else None
        self._identity = identity
        self.path = path
        self._interval = interval
        self._written_at = time.monotonic()
        self._writing_time = 0.0

    def project(self, X: FloatArray, shift: FloatArray, longest: float) -> Projection | None:
        """The projection that the saved state was reached with; a new one if there is no saved state."""
        if self.saved is not None:
            with self._refusing():
                return checked_projection(self._projection, *X.shape)
        found = projection(X, shift, longest)
        self._projection = vars(found) if found is not None else None
        return found

    def belongs_to(self, reduced: Problem, check: Check = no_check) -> None:
        """Set the problem that the states belong to, after presolve.

        Parameters
        ----------
        reduced : Problem
        check : callable
            Called before each piece of work; may raise to stop.

        Raises
        ------
        ValueError
            If the saved state belongs to another problem, so that its subproblems would mean something else, or if
            it is not the state of a solve at all.
        """
        found = fingerprint(reduced, check)
        if self._reduced not in (None, found):
            raise ValueError(
                f"checkpoint {self._source} was written by a version that reduces these data in another way; use "
                "that version, or start without it."
            )
        self._reduced = found
        if self.saved is not None:
            with self._refusing():
                check_solve(self.saved, reduced)

    @property
    def _source(self) -> str:
        """The name of the file that the solve starts from."""
        return os.fspath(self._resumed or "")

    @contextmanager
    def _refusing(self) -> Iterator[None]:
        """Name the file in errors about its content."""
        try:
            yield
        except ValueError as error:
            raise unusable(self._source, str(error)) from None

    def seconds_until_due(self) -> float:
        """Seconds until the next state has to be written."""
        if self.path is None:
            return math.inf
        interval = max(self._interval, self._writing_time / _LARGEST_SHARE)
        return max(0.0, self._written_at + interval - time.monotonic())

    @property
    def is_due(self) -> bool:
        """Whether the next state has to be written now."""
        return self.seconds_until_due() == 0

    @property
    def replaces_its_source(self) -> bool:
        """Whether states overwrite the one that the solve starts from."""
        if self.path is None or self._resumed is None or not Path(self.path).exists():
            return False
        return Path(self.path).samefile(self._resumed)

    def pass_on(self) -> None:
        """Write the state that the solve started from, unless it is already there."""
        saved = self.saved
        if saved is not None and not self.replaces_its_source:
            self.save(lambda: saved, last=True)

    def save(self, state: Callable[[], Mapping[str, Any]], *, last: bool = False) -> bool:
        """Write a state. If that fails, the previous one is still there, and the search continues.

        Parameters
        ----------
        state : callable
            Returns the state.
        last : bool
            Whether the search is over, so that no state will follow.

        Returns
        -------
        bool
            Whether it was written.
        """
        if self.path is None:
            return False
        written = True
        begun = time.monotonic()
        try:
            write_checkpoint(self.path, self._identity, self._content(state()))
        except (OSError, MemoryError) as error:
            reason = (error.strerror if isinstance(error, OSError) else "") or str(error) or type(error).__name__
            outlook = "the search has ended, and its last state is NOT saved" if last else "the search goes on"
            text = (
                f"checkpoint {os.fspath(self.path)}: {reason}; {outlook}. The last checkpoint that could be "
                "written, if any, is kept."
            )
            warnings.warn(CheckpointWarning(text, lost=last), stacklevel=2)
            # It may take a while until there is space again.
            begun -= _AFTER_FAILURE
            written = False
        self._written_at = time.monotonic()
        self._writing_time = self._written_at - begun
        return written

    def _content(self, state: Mapping[str, Any]) -> dict[str, Any]:
        return {"solve": state, "projection": self._projection, "reduced": self._reduced}


@contextmanager
def held_checkpoint(
    path: str | os.PathLike[str] | None, resumed: str | os.PathLike[str] | None, interval: float
) -> Iterator[None]:
    """Hold the file that states will be written to; check first that they can be, before there is one to lose.

    Raises
    ------
    ValueError
        If another run holds the file, if it contains a state that is not resumed, or if the interval is not a
        positive number of seconds.
    OSError
        If the folder does not exist or cannot be written to.
    """
    if not is_real(interval) or not interval > 0:
        raise ValueError(f"checkpoint_interval is {interval!r}; expected a positive number of seconds.")
    if path is None:
        yield
        return
    _check_target(Path(path))
    with held_lock(path):
        _check_nothing_is_lost(Path(path), resumed)
        remove_partials(path)
        yield


def _check_target(target: Path) -> None:
    """Check that a file of this name can be written."""
    if target.exists() and not target.is_file():
        raise ValueError(f"checkpoint is {str(target)!r}, a folder or a device; expected the name of a file.")
    # Links are followed: the file that a link points to is written.
    folder = Path(os.path.realpath(target)).parent
    if not folder.is_dir():
        raise FileNotFoundError(2, "no such folder for the checkpoint", str(folder))
    if not os.access(folder, os.W_OK):
        raise PermissionError(13, "no permission to write the checkpoint there", str(folder))


def _check_nothing_is_lost(target: Path, resumed: str | os.PathLike[str] | None) -> None:
    """Check that an existing file is the one that the solve continues from."""
    if target.exists() and not (resumed is not None and Path(resumed).exists() and target.samefile(resumed)):
        raise ValueError(
            f"checkpoint {target} exists already; resume from it (--resume {target}, or resume=) to continue, or "
            "remove it to start again."
        )
