"""The tables of a campaign besides the paper's Tables 2 to 6: means by set, gaps over time, tests, single runs."""

from __future__ import annotations

from collections.abc import Sequence

from hardmargin.bench import published
from hardmargin.bench.aggregate import mean, select, summary
from hardmargin.bench.configurations import PAPER
from hardmargin.bench.paper_tables import SETS, limits, paper_tables, result_cells, without_answer
from hardmargin.bench.profiles import mean_gaps, primal_dual_integral
from hardmargin.bench.runs import Run, configuration_name, systems_of
from hardmargin.bench.statistics import LEVEL, compare_gaps
from hardmargin.bench.table import Column, Share, Table, Value

# Seconds at which mean gaps are told, as far as the time limit allows.
_MOMENTS = (1.0, 10.0, 60.0, 600.0)


def means_table(runs: Sequence[Run]) -> Table:
    """By set and over all: proofs, gap, arithmetic and shifted geometric mean times, primal-dual integrals."""
    systems = systems_of(runs)
    columns = [Column("set", numeric=False)]
    for name in systems:
        columns += [Column("#opt", name), Column("gap %", name), Column("time s", name)]
        columns += [Column("geo. mean s", name), Column("integral s", name)]
    lines: list[list[Value]] = []
    for key, title in _sets_and_all(runs):
        line: list[Value] = [title]
        for system in systems:
            chosen = select(runs, system=system, set=key)
            found = summary(chosen)
            line += result_cells(chosen)
            line += [None, None] if found is None else [found.shifted, mean(map(primal_dual_integral, chosen))]
        lines.append(line)
    caption = (
        "Times are means with the time limit for runs without a proof, arithmetic and shifted geometric with a "
        "shift of 1 s. The primal-dual integral is that of the gap, as a fraction, until the time limit. "
    )
    parts = [f"Time limit {limits(runs)}", *without_answer(runs)]
    return Table("means", "Means by set", caption + ". ".join(parts) + ".", columns, lines, totals=1)


def _sets_and_all(runs: Sequence[Run]) -> list[tuple[str, str]]:
    return [*((key, title) for key, title in SETS.items() if select(runs, set=key)), ("", "Overall")]


def gaps_over_time_table(runs: Sequence[Run]) -> Table:
    """By set and over all: the mean gap after 1, 10, 60 and 600 s, as far as the time limit goes, and at it."""
    systems = systems_of(runs)
    longest = max(run.time_limit for run in runs)
    moments = [*(moment for moment in _MOMENTS if moment < longest), longest]
    columns = [Column("set", numeric=False)]
    columns += [Column(f"{moment:g} s", name) for name in systems for moment in moments]
    lines: list[list[Value]] = []
    for key, title in _sets_and_all(runs):
        line: list[Value] = [title]
        for system in systems:
            line += mean_gaps(select(runs, system=system, set=key), moments)
        lines.append(line)
    caption = "Mean gap in percent; blank where a run without a proof had less time than that."
    return Table("gaps_over_time", "Gaps over time", caption, columns, lines, totals=1)


def wilcoxon_table(runs: Sequence[Run], literature: Sequence[Run] = ()) -> Table:
    """Table 7: gaps compared in pairs, every system against those before it, and against the published ones."""
    beside = [run for run in literature if run.system in published.NAMES.values()]
    systems = systems_of(runs)
    everything = [*beside, *runs]
    lines: list[list[Value]] = []
    for position, system in enumerate(systems):
        for other in [*systems_of(beside), *systems[:position]]:
            found = compare_gaps(select(runs, system=system), select(everything, system=other))
            if found is not None:
                counts = [found.pairs, found.smaller, found.larger]
                lines.append([system, other, *counts, found.p, found.verdict])
    columns = [Column("system", numeric=False), Column("against", numeric=False), Column("pairs")]
    columns += [
        Column("smaller gap"),
        Column("larger gap"),
        Column("p", format="p"),
        Column("verdict", numeric=False),
    ]
    caption = (
        f"Two-sided Wilcoxon signed-rank tests of the gaps, paired by instance and C, at the level {LEVEL:g}; "
        "equal gaps are left out. The verdict is on the system in the first column. Published gaps are those after "
        "600 s."
    )
    return Table("table7", "Table 7: paired-samples Wilcoxon tests", caption, columns, lines)


def instance_table(runs: Sequence[Run]) -> Table:
    """The runs one by one."""
    columns = [Column("instance", numeric=False), Column("set", numeric=False), Column("n"), Column("m")]
    columns += [Column("C", format="g"), Column("system", numeric=False), Column("seed")]
    columns += [Column("status", numeric=False), Column("objective", format=".6f")]
    columns += [Column("lower bound", format=".6f"), Column("gap %", format=".4f")]
    columns += [Column("time s"), Column("nodes")]
    ordered = sorted(runs, key=lambda run: (list(SETS).index(run.set), run.instance, run.C, run.system, run.seed))
    lines: list[list[Value]] = []
    for run in ordered:
        line: list[Value] = [run.instance, run.set, run.n, run.m, run.C, run.system, run.seed, run.status]
        line += [run.objective, run.lower_bound, run.gap if run.answered else None, run.seconds, run.nodes]
        lines.append(line)
    caption = "The time is the time limit for runs without a proof."
    return Table("instances", "Runs one by one", caption, columns, lines)


def configurations_table(runs: Sequence[Run]) -> Table:
    """Figure 4 in numbers: runs proven optimal by configuration and set, published and of these runs."""
    columns = [Column("configuration", numeric=False), Column("system", numeric=False)]
    columns += [Column("#opt", title) for title in SETS.values()]
    sizes = {key: whole.runs for key in SETS if (whole := published.aggregate(published.BROOKS, key))}
    lines: list[list[Value]] = []
    for configuration in PAPER:
        title = configuration_name(configuration)
        proven = published.CONFIGURATIONS_PROVEN[configuration]
        shares = [Share(count, sizes[key]) for key, count in zip(SETS, proven, strict=True)]
        lines.append([title, "published", *shares])
        chosen = [run for run in runs if run.shares == configuration]
        for system in systems_of(chosen):
            ours = [result_cells(select(chosen, system=system, set=key))[0] for key in SETS]
            lines.append([title, system, *ours])
    caption = "T_S and T_B in percent of the time limit, which is 600 s in the published runs."
    return Table("configurations", "Configurations of CB-SVM-HML", caption, columns, lines)


def all_tables(runs: Sequence[Run], literature: Sequence[Run] = ()) -> list[Table]:
    """Every table but that of the runs one by one."""
    tables = [*paper_tables(runs, literature), means_table(runs), gaps_over_time_table(runs)]
    if any(run.shares for run in runs):
        tables.append(configurations_table(runs))
    tests = wilcoxon_table(runs, literature)
    return [*tables, tests] if tests.rows else tables
