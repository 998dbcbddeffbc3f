"""What the runs of a report were made with: settings, machines, versions, and the commands that make them again."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hardmargin.bench import published
from hardmargin.bench.catalogue import PENALTIES, Instance, generated_instances, published_instances
from hardmargin.bench.configurations import options_of
from hardmargin.bench.plan import interleaved
from hardmargin.bench.records import Record
from hardmargin.bench.runs import by_system
from hardmargin.bench.table import Column, Table, Value

_GIGABYTE = 1e9

# The instances of a part of the benchmark are named in a command if they are not more.
_FEW = 12


def settings_table(records: Iterable[Record]) -> Table:
    """A row a system: method, options, limits, and how many runs there are."""
    columns = [Column(name, numeric=False) for name in ("system", "method", "configuration", "options")]
    columns += [Column("time limit s", format="g"), Column("gap asked", format="g"), Column("threads")]
    columns += [Column("memory GB", format="g"), Column("seeds", numeric=False), Column("C", numeric=False)]
    columns += [Column("instances"), Column("runs"), Column("first", numeric=False), Column("last", numeric=False)]
    rows: list[list[Value]] = []
    for system, chosen in by_system(records).items():
        first = chosen[0]
        options = ", ".join(f"{key}={value}" for key, value in first.options.items())
        memory = None if first.memory_limit is None else first.memory_limit / _GIGABYTE
        started = sorted(record.started for record in chosen)
        row: list[Value] = [system, first.method, first.configuration, options or "none", first.time_limit]
        row += [first.gap_asked, first.threads, memory, _listed(record.seed for record in chosen)]
        row += [_listed(record.C for record in chosen), len({record.instance for record in chosen}), len(chosen)]
        row += [started[0][:16].replace("T", " "), started[-1][:16].replace("T", " ")]
        rows.append(row)
    caption = "Blank memory: no limit. First and last: when the runs were started, UTC."
    return Table("settings", "Settings", caption, columns, rows)


def environment_table(records: Iterable[Record]) -> Table:
    """The machines and versions, a row for each fact; several values where runs differ."""
    facts: dict[tuple[str, str], dict[str, None]] = {}
    for record in records:
        for source, values in (("machine", record.machine), ("version", record.versions)):
            for key, value in values.items():
                facts.setdefault((source, key), {}).setdefault(_fact(key, value))
    rows = [[kind, key, ", ".join(values)] for (kind, key), values in sorted(facts.items())]
    columns = [Column(name, numeric=False) for name in ("of", "what", "value")]
    return Table("environment", "Machine and versions", "", columns, rows)


def run_commands(records: Sequence[Record], path: str) -> list[str]:
    """The commands that make the runs, one for each system.

    Where no command chooses just these pairs of instance and C, a comment says how many there are.

    Parameters
    ----------
    records : sequence of Record
    path : str
        The file of records that the commands name.
    """
    return [_command(chosen, path) for chosen in by_system(records).values()]


def _command(records: Sequence[Record], path: str) -> str:
    first = records[0]
    words = ["hardmargin", "bench", "run", "--out", path, "--methods", first.method]
    if first.configuration != "default":
        words += ["--configurations", first.configuration]
    if extra := _extra_options(first):
        words += ["--option", *(f"{key}={value}" for key, value in extra.items())]
    words += ["--time-limit", f"{first.time_limit:g}", "--gap", f"{first.gap_asked:g}"]
    words += ["--threads", str(first.threads), "--seeds", *map(str, sorted({record.seed for record in records}))]
    if first.memory_limit is not None:
        words += ["--memory", f"{first.memory_limit / _GIGABYTE:g}"]
    pairs = {(record.instance, float(record.C)) for record in records}
    generated = not any(published.is_benchmark(name) for name, _ in pairs)
    selection = _selection(pairs, generated_instances() if generated else published_instances())
    line = shlex.join([*words, *(["--generated"] if generated else []), *(selection or [])])
    return line if selection is not None else f"{line}  # on {len(pairs)} pairs of instance and C"


def _selection(pairs: set[tuple[str, float]], everything: Sequence[Instance]) -> list[str] | None:
    """The arguments that choose these pairs of all instances; None if no arguments do."""
    names, penalties = {name for name, _ in pairs}, sorted({C for _, C in pairs})
    ordered = [(pair.instance.name, pair.C) for pair in interleaved(everything, PENALTIES)]
    if set(ordered) == pairs:
        return []
    if len(pairs) == len(names) * len(penalties) and len(names) <= _FEW:
        return ["--instances", *sorted(names), "--C", *(f"{C:g}" for C in penalties)]
    if set(ordered[: len(pairs)]) == pairs:
        return ["--sample", str(len(pairs))]
    return None


def _extra_options(record: Record) -> Mapping[str, Any]:
    """The options that the name of the configuration does not stand for."""
    try:
        named = options_of(record.configuration)
    except ValueError:
        named = {}
    return {key: value for key, value in record.options.items() if named.get(key) != value}


def _listed(values: Iterable[float]) -> str:
    return ", ".join(f"{value:g}" for value in sorted(set(values)))


def _fact(key: str, value: Any) -> str:
    if key == "memory" and isinstance(value, (int, float)):
        return f"{value / _GIGABYTE:.1f} GB"
    return "not known" if value is None else str(value)
