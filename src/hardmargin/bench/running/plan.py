"""Which runs a campaign consists of, and in which order."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from hardmargin.bench.instances.catalogue import Instance
from hardmargin.bench.instances.groups import SETS
from hardmargin.bench.records.record import Record, run_key
from hardmargin.bench.running.configurations import variants
from hardmargin.methods.base import SMALLEST_GAP


class Pair(NamedTuple):
    """An instance and a penalty: one problem."""

    instance: Instance
    C: float


@dataclass(frozen=True)
class RunLimits:
    """The limits of every run of a campaign.

    Attributes
    ----------
    time_limit : float
        Seconds.
    gap : float
        Relative gap at which a run stops.
    threads : int
    memory_limit : int or None
        Bytes.
    """

    time_limit: float = 60.0
    gap: float = 1e-6
    threads: int = 1
    memory_limit: int | None = None

    def __post_init__(self) -> None:
        if not (math.isfinite(self.time_limit) and self.time_limit > 0):
            raise ValueError(f"the time limit is {self.time_limit!r}; expected a positive number of seconds.")
        if not SMALLEST_GAP <= self.gap < 1:
            raise ValueError(f"the gap is {self.gap!r}; expected a number from {SMALLEST_GAP:g} to below 1.")
        if self.threads < 1:
            raise ValueError(f"the number of threads is {self.threads!r}; expected at least 1.")
        if self.memory_limit is not None and self.memory_limit < 1:
            raise ValueError(f"the memory limit is {self.memory_limit!r} bytes; expected a positive number.")


@dataclass(frozen=True)
class Job:
    """One run to be made.

    Attributes
    ----------
    instance : Instance
    C : float
    method, configuration : str
    options : dict
    seed : int
    limits : RunLimits
    """

    instance: Instance
    C: float
    method: str
    configuration: str
    options: dict[str, Any]
    seed: int
    limits: RunLimits

    def settings(self) -> dict[str, Any]:
        """The part of the record that is known before the run."""
        return {
            "instance": self.instance.name,
            "set": self.instance.set,
            "n": self.instance.n,
            "m": self.instance.m,
            "C": self.C,
            "method": self.method,
            "configuration": self.configuration,
            "options": self.options,
            "seed": self.seed,
            "time_limit": self.limits.time_limit,
            "gap_asked": self.limits.gap,
            "threads": self.limits.threads,
            "memory_limit": self.limits.memory_limit,
        }

    @property
    def key(self) -> str:
        """The identity of the run, the same as that of its record."""
        return run_key(self.settings())


def jobs_for(
    pairs: Sequence[Pair],
    *,
    methods: Sequence[str],
    configurations: Sequence[str],
    options: Mapping[str, Any],
    seeds: Sequence[int],
    limits: RunLimits,
) -> list[Job]:
    """Every method, configuration and seed for every pair; those of one pair are consecutive.

    Raises
    ------
    ValueError
        If a name or a value is not valid.
    """
    for seed in seeds:
        if not 0 <= seed < 2**64:
            raise ValueError(f"a seed is {seed!r}; expected whole numbers from 0 to 2**64 - 1.")
    settings = variants(methods, configurations, options)
    jobs = [
        Job(pair.instance, pair.C, method, configuration, chosen, seed, limits)
        for pair in pairs
        for method, configuration, chosen in settings
        for seed in seeds
    ]
    return list({job.key: job for job in jobs}.values())


def interleaved(instances: Sequence[Instance], penalties: Sequence[float]) -> list[Pair]:
    """All pairs, ordered so that every initial part is a fair sample of the whole.

    Groups take turns, spread over the sets. Within a group, neither an instance nor a penalty is repeated before
    the others had their turn. The order depends only on the arguments.

    Parameters
    ----------
    instances : sequence of Instance
    penalties : sequence of float

    Raises
    ------
    ValueError
        If a penalty is not positive.
    """
    for C in penalties:
        if not (math.isfinite(C) and C > 0):
            raise ValueError(f"C is {C!r}; expected positive numbers.")
    penalties = list(dict.fromkeys(float(C) for C in penalties))
    sequences = [
        _alternating(members, penalties, shift)
        for shift, members in enumerate(_groups_in_turn(list(dict.fromkeys(instances))))
    ]
    rounds = max(map(len, sequences), default=0)
    # A short group is spread over all rounds.
    placed = [
        (rounds * (k + 0.5) / len(sequence), turn, pair)
        for turn, sequence in enumerate(sequences)
        for k, pair in enumerate(sequence)
    ]
    return [pair for _, _, pair in sorted(placed, key=lambda item: item[:2])]


def unproven(pairs: Sequence[Pair], records: Iterable[Record], gap: float) -> list[Pair]:
    """The pairs that no record proves to this relative gap, in the same order, including those never run."""
    # Not every method can prove the requested gap: "optimal" may mean a larger one.
    proven = {record.pair for record in records if record.gap is not None and record.gap <= gap}
    return [pair for pair in pairs if (pair.instance.name, pair.C) not in proven]


def sample_size(total: int, every: int | None, sample: int | None) -> int:
    """How many of the interleaved pairs to run.

    Examples
    --------
    >>> sample_size(875, every=5, sample=None), sample_size(875, None, 60), sample_size(875, None, None)
    (175, 60, 875)
    """
    for name, value in (("--every", every), ("--sample", sample)):
        if value is not None and value < 1:
            raise ValueError(f"{name} is {value}; expected a whole number >= 1.")
    if every is not None and sample is not None:
        raise ValueError("--every and --sample were both given; expected at most one of them.")
    return math.ceil(total / every) if every is not None else min(total, sample or total)


def _groups_in_turn(instances: Sequence[Instance]) -> Iterator[list[Instance]]:
    groups: dict[str, dict[str, list[Instance]]] = {name: defaultdict(list) for name in SETS}
    for instance in instances:
        groups[instance.set][instance.group].append(instance)
    placed = [
        ((place + 0.5) / len(members), SETS.index(name), group)
        for name, members in groups.items()
        for place, group in enumerate(_scattered(list(members.values())))
    ]
    for _, _, group in sorted(placed, key=lambda item: item[:2]):
        yield group


def _scattered(groups: list[list[Instance]]) -> list[list[Instance]]:
    """Alternate small and large groups: multiples of the golden ratio fill an interval evenly at any point."""
    order = sorted(range(len(groups)), key=lambda k: k * (math.sqrt(5) - 1) / 2 % 1)
    return [groups[k] for k in order]


def _alternating(instances: Sequence[Instance], penalties: Sequence[float], shift: int) -> list[Pair]:
    """The grid of instances and penalties along its diagonals, each cell once."""
    rows, columns = len(instances), len(penalties)
    diagonal = math.lcm(rows, columns)
    first = shift + shift // columns
    return [
        Pair(instances[(k + shift) % rows], penalties[(k + k // diagonal + first) % columns])
        for k in range(rows * columns)
    ]
