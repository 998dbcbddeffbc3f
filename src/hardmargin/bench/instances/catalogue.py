"""The 175 instances of the literature by name, and generated ones that can replace them."""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from hardmargin.bench.instances.groups import SETS, group_of, set_of

#: The penalties of the published experiments.
PENALTIES = (1.0, 10.0, 100.0, 1000.0, 10000.0)

_GENERATED_SAMPLES = (60, 100, 200, 500)
_GENERATED_FEATURES = (2, 5, 10)
_GENERATED_NUMBERS = range(5)


@dataclass(frozen=True)
class DataFile:
    """A published file.

    Attributes
    ----------
    name : str
    n, m : int
        Number of samples and features.
    size : int
        Bytes.
    sha256 : str
        The checksum of its content.
    """

    name: str
    n: int
    m: int
    size: int
    sha256: str

    @property
    def folder(self) -> str:
        """Where the file is in the authors' repository, below ``Datasets``."""
        return "Brooks_RealWorldData" if set_of(self.name) == "UCI" else "Brooks_SVM_Data"

    def is_content(self, content: bytes) -> bool:
        """Whether this is the published content."""
        return hashlib.sha256(content).hexdigest() == self.sha256


@dataclass(frozen=True)
class Instance:
    """A training problem without its penalty.

    Attributes
    ----------
    name : str
        The name of its file; a generated one has a name like "gen60d2A0".
    n, m : int
        Number of samples and features.
    """

    name: str
    n: int
    m: int

    @property
    def set(self) -> str:
        """Its set: "A", "B" or "UCI"."""
        return set_of(self.name)

    @property
    def group(self) -> str:
        """What it shares with the other folds or draws, e.g. "adult" or "n60d2A"."""
        return group_of(self.name)


@cache
def data_files() -> dict[str, DataFile]:
    """The published files by name: 175 to train on, and the test parts of the 55 folds.

    Examples
    --------
    >>> len(data_files()), data_files()["adult5f1i1.test"].n
    (230, 100)
    """
    text = files("hardmargin.bench.instances").joinpath("catalogue.csv").read_text(encoding="utf-8")
    return {
        row["name"]: DataFile(row["name"], int(row["n"]), int(row["m"]), int(row["bytes"]), row["sha256"])
        for row in csv.DictReader(text.splitlines())
    }


def published_instances() -> list[Instance]:
    """The instances of the literature, by set and size.

    Examples
    --------
    >>> instances = published_instances()
    >>> len(instances), instances[0]
    (175, Instance(name='n60d2ATj0', n=60, m=2))
    """
    trained_on = [file for file in data_files().values() if not file.name.endswith(".test")]
    return _in_order(Instance(file.name, file.n, file.m) for file in trained_on)


def generated_instances() -> list[Instance]:
    """Instances like those of the sets A and B, with the same sizes; the name says how each is drawn.

    Examples
    --------
    >>> instances = generated_instances()
    >>> len(instances), instances[0]
    (120, Instance(name='gen60d2A0', n=60, m=2))
    """
    return _in_order(
        Instance(f"gen{n}d{m}{kind}{number}", n, m)
        for kind in ("A", "B")
        for n in _GENERATED_SAMPLES
        for m in _GENERATED_FEATURES
        for number in _GENERATED_NUMBERS
    )


def selected(instances: Sequence[Instance], parts: Sequence[str] = (), sets: Sequence[str] = ()) -> list[Instance]:
    """The selected instances.

    Parameters
    ----------
    instances : sequence of Instance
    parts : sequence of str
        Parts of names, one of which a name must contain; none means all.
    sets : sequence of str
        Sets ("A", "B", "UCI") or groups ("adult", "n60d2A"); none means all.

    Raises
    ------
    ValueError
        If a part or a set has no instance.

    Examples
    --------
    >>> [instance.name for instance in selected(published_instances(), ["5f1"], ["adult", "pima"])]
    ['adult5f1i1.train', 'pima5f1i1.train']
    """
    known = {name for instance in instances for name in (instance.set, instance.group)}
    for name in sets:
        if name not in known:
            groups = sorted(known - set(SETS))
            raise ValueError(
                f"there is no set {name!r}; expected one of {', '.join(s for s in SETS if s in known)}, "
                f"or of {', '.join(groups)}."
            )
    for part in parts:
        if not any(part in instance.name for instance in instances):
            raise ValueError(f"no instance has {part!r} in its name; 'hardmargin bench list' shows them all.")
    chosen = [
        instance
        for instance in instances
        if (not parts or any(part in instance.name for part in parts))
        and (not sets or instance.set in sets or instance.group in sets)
    ]
    if not chosen:
        raise ValueError("no instance is in one of the sets and has one of the parts in its name.")
    return chosen


def _in_order(instances: Iterable[Instance]) -> list[Instance]:
    def place(instance: Instance) -> tuple[int, int, int, str]:
        synthetic = instance.set != "UCI"
        n, m = (instance.n, instance.m) if synthetic else (0, 0)
        return SETS.index(instance.set), n, m, instance.name

    return sorted(instances, key=place)
