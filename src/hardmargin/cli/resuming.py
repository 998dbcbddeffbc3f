"""``--resume``: continue from a state, or with ``auto`` from one that may or may not be there."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hardmargin import Result

#: Continue from the checkpoint if it exists and belongs to this problem; otherwise start.
AUTO = "auto"


def state_to_resume(resume: str | None, checkpoint: str | None) -> str | None:
    """The file to continue from.

    Raises
    ------
    ValueError
        If ``auto`` is asked for without a checkpoint.
    """
    if resume != AUTO:
        return resume
    if checkpoint is None:
        raise ValueError("--resume auto needs --checkpoint FILE, which it continues from if the file exists.")
    return checkpoint if os.path.exists(checkpoint) else None


def solve_resuming(solve: Callable[..., Result], resume: str | None, settings: dict[str, Any]) -> Result:
    """Call solve(); with ``auto``, a state of another problem is set aside, and the search starts without it.

    Parameters
    ----------
    solve : callable
        Takes the settings.
    resume : str or None
        The value of ``--resume``.
    settings : dict
        With the keys ``resume``, ``checkpoint`` and ``start``.
    """
    from hardmargin.checkpoint import ForeignCheckpointError

    if resume != AUTO or settings["resume"] is None:
        return solve(**settings)
    try:
        # A state has its own hyperplane.
        return solve(**{**settings, "start": None})
    except ForeignCheckpointError as error:
        kept = _set_aside(settings["checkpoint"])
        print(f"hardmargin: warning: {error.what}; it is kept as {kept}, and a new one begins.", file=sys.stderr)
        return solve(**{**settings, "resume": None})


def _set_aside(path: str) -> str:
    """Rename a file to the first free of FILE.1, FILE.2, ..."""
    from hardmargin.checkpoint import records_folder

    number = 1
    # Also not a name whose folder of records is left from a checkpoint that was removed.
    while os.path.lexists(f"{path}.{number}") or os.path.lexists(records_folder(f"{path}.{number}")):
        number += 1
    kept, records = f"{path}.{number}", records_folder(path)
    os.rename(path, kept)
    # The records of a proof belong to it; those of a link to the file that it points to, which stays.
    if records.is_dir() and records != records_folder(kept):
        records.rename(records_folder(kept))
    return kept
