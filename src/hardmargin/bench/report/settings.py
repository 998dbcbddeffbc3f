"""How the runs of a report were made: settings, machines and versions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hardmargin.bench.analysis.runs import by_system
from hardmargin.bench.records.record import Record
from hardmargin.bench.report.tables.table import Column, Table, Value
from hardmargin.units import GIGABYTE


def settings_table(records: Iterable[Record]) -> Table:
    """One row per system: method, options, limits, and the number of runs."""
    columns = [Column(name, numeric=False) for name in ("system", "method", "configuration", "options")]
    columns += [Column("time limit s", format="g"), Column("gap asked", format="g"), Column("threads")]
    columns += [Column("memory GB", format="g"), Column("seeds", numeric=False), Column("C", numeric=False)]
    columns += [Column("instances"), Column("runs"), Column("first", numeric=False), Column("last", numeric=False)]
    rows: list[list[Value]] = []
    for system, chosen in by_system(records).items():
        first = chosen[0]
        options = ", ".join(f"{key}={value}" for key, value in first.options.items())
        memory = None if first.memory_limit is None else first.memory_limit / GIGABYTE
        started = sorted(record.started for record in chosen)
        row: list[Value] = [system, first.method, first.configuration, options or "none", first.time_limit]
        row += [first.gap_asked, first.threads, memory, _listed(record.seed for record in chosen)]
        row += [_listed(record.C for record in chosen), len({record.instance for record in chosen}), len(chosen)]
        row += [started[0][:16].replace("T", " "), started[-1][:16].replace("T", " ")]
        rows.append(row)
    caption = "Blank memory: no limit. First and last: when the runs were started, UTC."
    return Table("settings", "Settings", caption, columns, rows)


def environment_table(records: Iterable[Record]) -> Table:
    """The machines and versions, one row per fact; several values if runs differ."""
    facts: dict[tuple[str, str], dict[str, None]] = {}
    for record in records:
        for source, values in (("machine", record.machine), ("version", record.versions)):
            for key, value in values.items():
                facts.setdefault((source, key), {}).setdefault(_fact(key, value))
    rows = [[kind, key, ", ".join(values)] for (kind, key), values in sorted(facts.items())]
    columns = [Column(name, numeric=False) for name in ("of", "what", "value")]
    return Table("environment", "Machine and versions", "", columns, rows)


def _listed(values: Iterable[float]) -> str:
    return ", ".join(f"{value:g}" for value in sorted(set(values)))


def _fact(key: str, value: Any) -> str:
    if key == "memory" and isinstance(value, (int, float)):
        return f"{value / GIGABYTE:.1f} GB"
    return "not known" if value is None else str(value)
