"""Runs as tables and figures use them: one form for the records of campaigns and for published results."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, NamedTuple

from hardmargin.bench.instances.groups import group_of
from hardmargin.bench.records.record import Record
from hardmargin.bench.running.configurations import BENDERS_SHARES


class SystemRun(NamedTuple):
    """One run of a system (a method in a configuration, with its limits) on an instance with one C.

    ``gap`` is in percent; it is 100 if there is no answer. ``seconds`` is the time that averages use: the runtime
    if the run has proven its solution optimal, otherwise the time limit.
    """

    system: str
    configuration: str
    instance: str
    set: str
    n: int
    m: int
    C: float
    seed: int
    status: str
    objective: float | None
    lower_bound: float | None
    gap: float
    seconds: float
    time_limit: float
    nodes: int | None
    trace: tuple[tuple[float, float | None, float | None], ...]

    @property
    def proven(self) -> bool:
        """Whether the solution is proven optimal."""
        return self.status == "optimal"

    @property
    def answered(self) -> bool:
        """Whether there is a solution."""
        return self.objective is not None

    @property
    def pair(self) -> tuple[str, float]:
        """The instance and its C."""
        return self.instance, self.C

    @property
    def shares(self) -> str:
        """The part of the configuration that gives T_S and T_B of CB-SVM-HML, e.g. "cb_5_5"; "" if it has none."""
        return next((word for word in self.configuration.split("+") if BENDERS_SHARES.fullmatch(word)), "")

    @property
    def group(self) -> str:
        """The data set or kind of the instance, e.g. "adult" or "n60d2A"."""
        return group_of(self.instance)


def runs_of(records: Iterable[Record]) -> list[SystemRun]:
    """The runs of these records; of several records of the same run the last counts."""
    return [_run(record, system) for system, chosen in by_system(records).items() for record in chosen]


def by_system(records: Iterable[Record]) -> dict[str, list[Record]]:
    """The records of each system."""
    latest = {record.key: record for record in records}
    names = system_names(latest.values())
    found: dict[str, list[Record]] = {}
    for record in latest.values():
        found.setdefault(names[_settings(record)], []).append(record)
    return found


def systems_of(runs: Iterable[SystemRun]) -> list[str]:
    """The systems, in the order of their first runs."""
    return list(dict.fromkeys(run.system for run in runs))


def common(runs: Sequence[SystemRun]) -> list[SystemRun]:
    """Only the pairs of instance and C that every system has run."""
    pairs = [{run.pair for run in runs if run.system == system} for system in systems_of(runs)]
    shared = set.intersection(*pairs) if pairs else set()
    return [run for run in runs if run.pair in shared]


def on_same_pairs(runs: Iterable[SystemRun], others: Iterable[SystemRun]) -> list[SystemRun]:
    """The runs whose pair of instance and C also occurs among the others."""
    pairs = {run.pair for run in others}
    return [run for run in runs if run.pair in pairs]


def by_pair(runs: Iterable[SystemRun], value: Callable[[SystemRun], float]) -> dict[tuple[str, float], float]:
    """One value per pair of instance and C: the mean over its seeds."""
    found: dict[tuple[str, float], list[float]] = {}
    for run in runs:
        found.setdefault(run.pair, []).append(value(run))
    return {pair: sum(values) / len(values) for pair, values in found.items()}


def configuration_name(configuration: str) -> str:
    """The name of a configuration in the paper.

    Examples
    --------
    >>> configuration_name("cb_20_0"), configuration_name("cb_5_5+cplex")
    ('(20%, 0%)', '(5%, 5%) cplex')
    """
    words = configuration.split("+")
    return " ".join(
        f"({found[1]}%, {found[2]}%)" if (found := BENDERS_SHARES.fullmatch(word)) else word for word in words
    )


def system_names(records: Iterable[Record]) -> dict[tuple[Hashable, ...], str]:
    """Name every combination of method, configuration and limits; limits are named only if they differ."""
    settings = list(dict.fromkeys(map(_settings, records)))
    names = {}
    for setting in settings:
        twins = [other for other in settings if other[:2] == setting[:2]]
        differing = [position for position in (2, 3, 4, 5) if len({twin[position] for twin in twins}) > 1]
        details = [_detail(position, setting[position]) for position in differing]
        names[setting] = ", ".join([_system_name(*setting[:2]), *details])
    return names


_LIMITS = {2: "{:g} s", 3: "gap {:g}", 4: "{} threads", 5: "options {}"}


def _detail(position: int, value: Any) -> str:
    return "1 thread" if (position, value) == (4, 1) else _LIMITS[position].format(value)


def _settings(record: Record) -> tuple[Any, ...]:
    options = ", ".join(f"{key}={value}" for key, value in sorted(record.options.items()))
    return (
        record.method,
        record.configuration,
        float(record.time_limit),
        float(record.gap_asked),
        record.threads,
        options or "none",
    )


def _system_name(method: str, configuration: str) -> str:
    return method if configuration == "default" else f"{method} {configuration_name(configuration)}"


def _run(record: Record, system: str) -> SystemRun:
    answered = record.answered and record.objective is not None
    gap = 100.0 * record.gap if answered and record.gap is not None else 100.0
    solved = record.optimal and record.runtime is not None
    return SystemRun(
        system=system,
        configuration=record.configuration,
        instance=record.instance,
        set=record.set,
        n=record.n,
        m=record.m,
        C=float(record.C),
        seed=record.seed,
        status=record.status,
        objective=record.objective if answered else None,
        lower_bound=record.lower_bound if answered else None,
        gap=gap,
        seconds=record.runtime if solved and record.runtime is not None else record.time_limit,
        time_limit=record.time_limit,
        nodes=record.nodes,
        trace=tuple((float(point[0] or 0.0), point[1], point[2]) for point in record.trace),
    )
