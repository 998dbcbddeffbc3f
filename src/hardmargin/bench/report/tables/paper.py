"""The paper's Tables 2 to 6: proofs, gaps and times by set, n and m, ours beside the published ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from hardmargin.bench.analysis import published
from hardmargin.bench.analysis.aggregate import select, summary
from hardmargin.bench.analysis.parts import on_benchmark
from hardmargin.bench.analysis.runs import SystemRun, systems_of
from hardmargin.bench.report.tables.table import Absent, Best, Column, Share, Table, Value

#: The sets, in the order of the paper's tables.
SETS = {"UCI": "UCI", "A": "Type A", "B": "Type B"}

NOT_RUN = Absent("not run")


class _Shape(NamedTuple):
    name: str
    set: str
    by: str
    heading: str
    rows: str


_PAPER = (
    _Shape("table2", "UCI", "group", "data set", "data set"),
    _Shape("table3", "A", "n", "n", "number of samples n"),
    _Shape("table4", "B", "n", "n", "number of samples n"),
    _Shape("table5", "A", "m", "m", "number of features m"),
    _Shape("table6", "B", "m", "m", "number of features m"),
)


def paper_tables(
    runs: Sequence[SystemRun], literature: Sequence[SystemRun] = (), *, all_rows: bool = False
) -> list[Table]:
    """Tables 2 to 6 of the paper, for the sets that have runs.

    Parameters
    ----------
    runs : sequence of SystemRun
        Runs of campaigns. Only those on the benchmark's pairs of instance and C count.
    literature : sequence of SystemRun
        The published results by instance, if they are available. The published columns then cover the same pairs as
        the runs. Otherwise they are the printed ones.
    all_rows : bool
        Whether to show rows without any run too.
    """
    counted = [run for run in runs if on_benchmark(run)]
    shapes = [shape for shape in _PAPER if select(counted, set=shape.set)]
    return [_paper_table(shape, select(counted, set=shape.set), literature, all_rows) for shape in shapes]


def size_tables(runs: Sequence[SystemRun]) -> list[Table]:
    """Tables of the same kind for runs that have no published results beside them."""
    tables = []
    for shape in _PAPER:
        if chosen := select(runs, set=shape.set):
            systems = systems_of(chosen)
            columns = [Column(shape.heading, numeric=shape.by != "group"), *result_columns(systems)]
            lines = [
                [row or "Overall", *_cells(chosen, systems, shape, row)] for row in [*_present(shape, chosen), ""]
            ]
            name = f"{shape.set.lower()}_by_{shape.by}"
            title = f"{SETS[shape.set]}, by {shape.rows}"
            tables.append(Table(name, title, _caption(chosen), columns, lines, totals=1))
    return tables


def _paper_table(
    shape: _Shape, runs: Sequence[SystemRun], literature: Sequence[SystemRun], all_rows: bool
) -> Table:
    systems, pairs = systems_of(runs), {run.pair for run in runs}
    whole = published.runs_in(shape.set)
    same_part = len(pairs) < whole and bool(literature)
    beside = [run for run in literature if run.pair in pairs] if same_part else []
    present = _present(shape, runs)
    known = published.rows_of(shape.set, shape.by)
    empty = [row for row in known if row not in present]
    lines: list[list[Value]] = []
    for row in [*(row for row in known if all_rows or row not in empty), ""]:
        line: list[Value] = [row or "Overall"]
        for method, name in published.NAMES.items():
            if same_part:
                part = select(beside, system=name, by=shape.by, row=row)
                line += result_cells(part) if part else [None] * 3
            else:
                line += _printed_cells(method, shape, row)
        lines.append([*line, *_cells(runs, systems, shape, row)])
    caption = _caption(runs) + _published_caption(runs, whole, same_part)
    if empty and not all_rows:
        caption += f" Rows without any run are left out: {', '.join(empty)}."
    columns = [Column(shape.heading, numeric=shape.by != "group")]
    columns += result_columns([*published.NAMES.values(), *systems])
    title = f"Table {shape.name.removeprefix('table')}: performance on the {SETS[shape.set]} instances"
    title += "" if shape.by == "group" else f", by {shape.rows}"
    return Table(shape.name, title, caption, columns, lines, totals=1)


def result_columns(systems: Sequence[str]) -> list[Column]:
    """The columns of :func:`result_cells` for each system."""
    headings: dict[str, Best] = {"#opt": "high", "gap %": "low", "time s": "low"}
    return [Column(heading, system, best=best) for system in systems for heading, best in headings.items()]


def _cells(runs: Sequence[SystemRun], systems: Sequence[str], shape: _Shape, row: str) -> list[Value]:
    return [cell for system in systems for cell in result_cells(select(runs, system=system, by=shape.by, row=row))]


def _present(shape: _Shape, runs: Sequence[SystemRun]) -> list[str]:
    """The rows that have runs."""
    return sorted({str(getattr(run, shape.by)) for run in runs}, key=_natural)


def _natural(text: str) -> tuple[int, int, str]:
    """Sort key: numbers by size, before names."""
    return (0, int(text), "") if text.isdigit() else (1, 0, text)


def result_cells(runs: Sequence[SystemRun]) -> list[Value]:
    """Proofs, mean gap and mean time of runs; "not run" if there are none."""
    found = summary(runs)
    return [NOT_RUN, None, None] if found is None else [Share(found.proven, found.runs), found.gap, found.seconds]


def _printed_cells(method: str, shape: _Shape, row: str) -> list[Value]:
    found = published.aggregate(method, shape.set, shape.by, row)
    return [None] * 3 if found is None else [Share(found.proven, found.runs), found.gap, found.seconds]


def _caption(runs: Sequence[SystemRun]) -> str:
    parts = ["Runs proven optimal, mean gap, mean time with the time limit for runs without a proof"]
    return ". ".join([*parts, f"Time limit {limits(runs)}", *without_answer(runs)]) + "."


def _published_caption(runs: Sequence[SystemRun], whole: int, same_part: bool) -> str:
    pairs = "the pairs of instance and C that were run here" if same_part else f"all {whole} pairs"
    parts = [f" Published: 600 s on another machine, figures of {pairs}"]
    counts = {system: len({run.pair for run in runs if run.system == system}) for system in systems_of(runs)}
    missing = [f"{system} {count} of {whole}" for system, count in counts.items() if count < whole]
    if missing:
        parts.append(f"Pairs run: {', '.join(missing)}")
    return ". ".join(parts) + "."


def limits(runs: Sequence[SystemRun]) -> str:
    """The time limits, for a caption."""
    limits = sorted({run.time_limit for run in runs})
    return " and ".join(f"{limit:g} s" for limit in limits)


def without_answer(runs: Sequence[SystemRun]) -> list[str]:
    """How many runs have no answer, for a caption; nothing if all have one."""
    count = sum(not run.answered for run in runs)
    if not count:
        return []
    return [f"Runs without an answer, which count with a gap of 100 % and the time limit: {count}"]
