"""The folds of the UCI data sets that have a ``.test`` file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hardmargin.bench.instances.data_folder import SUBFOLDER, how_to_obtain, refuse_instances_themselves
from hardmargin.bench.instances.groups import group_of
from hardmargin.bench.robustness.draws import Folds


def uci_settings(folder: Path, sources: Sequence[str] | None = None) -> list[Folds]:
    """The UCI data sets in a folder.

    Parameters
    ----------
    folder : Path
        The data folder; the files ``<data set>5f<fold>i1.train`` and ``.test`` are in its subfolder ``brooks``.
    sources : sequence of str, optional
        The data sets, e.g. "heart"; all if not given.

    Returns
    -------
    list of Folds
        One per data set, in alphabetical order.

    Raises
    ------
    FileNotFoundError
        If there are no folds at all.
    ValueError
        If the folder is the one with the files itself, or a named data set has no files.
    """
    files = folder / SUBFOLDER
    found: dict[str, list[tuple[Path, Path]]] = {}
    for test in sorted(files.glob("*5f*i*.test")):
        train = test.with_suffix(".train")
        if train.is_file():
            found.setdefault(group_of(train.name), []).append((train, test))
    if not found:
        refuse_instances_themselves(folder)
        raise FileNotFoundError(f"there are no folds with .test files in {files}; {how_to_obtain(folder)}.")
    for source in sources or ():
        if source not in found:
            raise ValueError(f"no folds of {source!r} are in {files}; expected some of {', '.join(found)}.")
    return [Folds(source, tuple(found[source])) for source in sorted(sources or found)]
