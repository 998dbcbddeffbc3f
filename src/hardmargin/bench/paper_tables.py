"""The paper's Tables 2 to 6: proofs, gaps and times by set, n and m, ours beside the published ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from hardmargin.bench import published
from hardmargin.bench.aggregate import select, summary
from hardmargin.bench.catalogue import PENALTIES
from hardmargin.bench.runs import Run, systems_of
from hardmargin.bench.table import Column, Share, Table, Value

#: The sets as the paper orders its tables.
SETS = {"UCI": "UCI", "A": "Type A", "B": "Type B"}

NOT_RUN = "not run"


class _Shape(NamedTuple):
    name: str
    set: str
    by: str
    heading: str
    subject: str


_PAPER = (
    _Shape("table2", "UCI", "group", "data set", "the UCI instances"),
    _Shape("table3", "A", "n", "n", "the Type A instances, by number of samples n"),
    _Shape("table4", "B", "n", "n", "the Type B instances, by number of samples n"),
    _Shape("table5", "A", "m", "m", "the Type A instances, by number of features m"),
    _Shape("table6", "B", "m", "m", "the Type B instances, by number of features m"),
)


def paper_tables(runs: Sequence[Run], literature: Sequence[Run] = ()) -> list[Table]:
    """Tables 2 to 6 of the paper, those of sets of which something has been run.

    Parameters
    ----------
    runs : sequence of Run
        Of campaigns.
    literature : sequence of Run
        The published results by instance, if they are at hand: beside runs on a part of the benchmark, the
        published columns are then made of the same part. Otherwise they are those that were printed.
    """
    return [_paper_table(shape, runs, literature) for shape in _PAPER if select(runs, set=shape.set)]


def _paper_table(shape: _Shape, runs: Sequence[Run], literature: Sequence[Run]) -> Table:
    chosen = select(runs, set=shape.set)
    systems = systems_of(chosen)
    pairs = {run.pair for run in chosen}
    benchmark = [pair for pair in pairs if published.is_benchmark(pair[0]) and pair[1] in PENALTIES]
    whole = published.aggregate(published.BROOKS, shape.set)
    partial = whole is not None and len(benchmark) < whole.runs
    same_part = partial and bool(literature)
    beside = [run for run in literature if run.pair in pairs] if same_part else []
    columns = [Column(shape.heading, numeric=shape.by != "group")]
    names = [*published.NAMES.values()] if benchmark else []
    for name in [*names, *systems]:
        columns += [Column("#opt", name), Column("gap %", name), Column("time s", name)]
    present = {str(getattr(run, shape.by)) for run in chosen}
    known = published.rows_of(shape.set, shape.by) if benchmark else []
    rows = [*(row for row in known), *sorted(present - set(known), key=_natural)]
    lines: list[list[Value]] = []
    for row in [*rows, ""]:
        line: list[Value] = [row or "Overall"]
        for method, name in published.NAMES.items() if benchmark else ():
            if same_part:
                part = select(beside, system=name, by=shape.by, row=row)
                line += result_cells(part) if part else [None] * 3
            else:
                line += _printed_cells(method, shape, row)
        for system in systems:
            line += result_cells(select(chosen, system=system, by=shape.by, row=row))
        lines.append(line)
    caption = _caption(chosen)
    if benchmark and whole is not None:
        caption += _published_caption(chosen, whole.runs, partial, same_part)
    number = shape.name.removeprefix("table")
    return Table(shape.name, f"Table {number}: performance on {shape.subject}", caption, columns, lines, totals=1)


def _natural(text: str) -> tuple[int, int, str]:
    """Numbers by size, before names."""
    return (0, int(text), "") if text.isdigit() else (1, 0, text)


def result_cells(runs: Sequence[Run]) -> list[Value]:
    """Proofs, mean gap and mean time of runs; "not run" if there are none."""
    found = summary(runs)
    return [NOT_RUN, None, None] if found is None else [Share(found.proven, found.runs), found.gap, found.seconds]


def _printed_cells(method: str, shape: _Shape, row: str) -> list[Value]:
    found = published.aggregate(method, shape.set, shape.by, row)
    return [None] * 3 if found is None else [Share(found.proven, found.runs), found.gap, found.seconds]


def _caption(runs: Sequence[Run]) -> str:
    parts = ["Runs proven optimal, mean gap, mean time with the time limit for runs without a proof"]
    return ". ".join([*parts, f"Time limit {limits(runs)}", *without_answer(runs)]) + "."


def _published_caption(runs: Sequence[Run], whole: int, partial: bool, same_part: bool) -> str:
    parts = [" Published: 600 s on another machine"]
    if same_part:
        parts[0] += ", figures of the pairs of instance and C that were run here"
    elif partial:
        parts[0] += ", figures of all pairs of instance and C"
    counts = {system: len({run.pair for run in runs if run.system == system}) for system in systems_of(runs)}
    missing = [f"{system} {count} of {whole}" for system, count in counts.items() if count < whole]
    if missing:
        parts.append(f"Pairs run: {', '.join(missing)}")
    return ". ".join(parts) + "."


def limits(runs: Sequence[Run]) -> str:
    """The time limits, for a caption."""
    limits = sorted({run.time_limit for run in runs})
    return " and ".join(f"{limit:g} s" for limit in limits)


def without_answer(runs: Sequence[Run]) -> list[str]:
    """How many runs have no answer, for a caption; nothing if all have one."""
    count = sum(not run.answered for run in runs)
    if not count:
        return []
    return [f"Runs without an answer, which count with a gap of 100 % and the time limit: {count}"]
