"""Where the samples of the instances come from: a folder of published files, or a generator."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from hardmargin.bench.instances.catalogue import Instance, data_files
from hardmargin.bench.instances.data_folder import SUBFOLDER, how_to_obtain
from hardmargin.data import Dataset, generate, load

_GENERATED = re.compile(r"gen(\d+)d(\d+)([AB])(\d+)")


class Source(Protocol):
    """The samples of instances."""

    def check(self, instances: Iterable[Instance]) -> None:
        """Raise ValueError if the samples of one of them are not available."""

    def load(self, name: str) -> Dataset:
        """The samples of an instance."""


class PublishedFiles:
    """The published instances in a folder; each file's checksum is checked before it is used.

    Parameters
    ----------
    folder : Path
        The data folder; the files are in its subfolder ``brooks``.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._files = folder / SUBFOLDER

    def check(self, instances: Iterable[Instance]) -> None:
        for instance in instances:
            self._checked(instance.name)

    def load(self, name: str) -> Dataset:
        return load(self._checked(name), format="brooks")

    def _checked(self, name: str) -> Path:
        path = self._files / name
        if not path.is_file():
            raise ValueError(f"{path} is missing; {how_to_obtain(self.folder)}.")
        if not data_files()[name].is_content(path.read_bytes()):
            raise ValueError(
                f"{path} is not the published file: its checksum differs; {how_to_obtain(self.folder)}."
            )
        return path


class GeneratedData:
    """Random instances whose names say how they are drawn: gen60d2A0 is type A, 60 x 2, seed 0.

    Examples
    --------
    >>> GeneratedData().load("gen60d2A0").X.shape
    (60, 2)
    """

    def check(self, instances: Iterable[Instance]) -> None:
        """They can always be drawn."""

    def load(self, name: str) -> Dataset:
        found = _GENERATED.fullmatch(name)
        if found is None:
            raise ValueError(f"the instance is {name!r}; expected a name like gen60d2A0.")
        n, m, kind, number = found.groups()
        return generate(kind, int(n), int(m), seed=int(number))
