"""The folder with the published instances, and how to obtain them."""

from __future__ import annotations

import os
from pathlib import Path

from hardmargin.bench.instances.catalogue import data_files

#: The public repository of the instances.
REPOSITORY = "https://github.com/vidalt/Hard-Margin-SVM"

#: The folder inside a data folder that contains the instances.
SUBFOLDER = "brooks"

_OTHERWISE = "Without them, --generated runs on random instances."


def named_folder(given: str | None) -> Path | None:
    """The requested data folder: the one given, otherwise $HARDMARGIN_DATA, otherwise None."""
    name = given or os.environ.get("HARDMARGIN_DATA")
    return Path(name) if name else None


def find_data(given: str | None = None) -> Path:
    """The data folder, with the instances in its subfolder ``brooks``.

    Parameters
    ----------
    given : str, optional
        The folder; $HARDMARGIN_DATA if not given.

    Raises
    ------
    ValueError
        If no folder is named, or it has no instances; the message says how to obtain them.
    """
    folder = named_folder(given)
    if folder is None:
        raise ValueError(
            "no data folder is named; give --data DIR or set HARDMARGIN_DATA. To obtain the instances, run "
            f"'hardmargin bench fetch --data DIR', or copy the files of {REPOSITORY} (Datasets/Brooks_SVM_Data "
            f"and Datasets/Brooks_RealWorldData) into DIR/{SUBFOLDER}. {_OTHERWISE}"
        )
    if not (folder / SUBFOLDER).is_dir():
        refuse_instances_themselves(folder)
        raise ValueError(f"there is no folder {folder / SUBFOLDER}; {how_to_obtain(folder)}. {_OTHERWISE}")
    return folder


def refuse_instances_themselves(folder: Path) -> None:
    """Refuse the subfolder that contains the instances in place of the data folder.

    Raises
    ------
    ValueError
        If it has no subfolder of that name, but contains published files itself.
    """
    if (folder / SUBFOLDER).is_dir() or not any((folder / name).is_file() for name in data_files()):
        return
    if Path(os.path.abspath(folder)).name == SUBFOLDER:
        parent = folder.parent if folder.name == SUBFOLDER else Path(os.path.abspath(folder)).parent
        raise ValueError(f"{folder} contains the instances itself; did you mean --data {parent}?")
    raise ValueError(f"{folder} contains the instances itself; move them into a subfolder {SUBFOLDER} of it.")


def how_to_obtain(folder: Path) -> str:
    """How to get the published files into a folder, in words."""
    return f"'hardmargin bench fetch --data {folder}' downloads what is missing from {REPOSITORY}"
