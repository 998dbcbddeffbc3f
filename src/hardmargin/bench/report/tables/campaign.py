"""The tables of a campaign besides the paper's Tables 2 to 6: means by set, gaps over time, tests, single runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hardmargin.bench.analysis import published
from hardmargin.bench.analysis.aggregate import mean, select, summary
from hardmargin.bench.analysis.parts import left_out, on_benchmark, parts_of
from hardmargin.bench.analysis.profiles import mean_gaps, primal_dual_integral
from hardmargin.bench.analysis.runs import SystemRun, configuration_name, on_same_pairs, systems_of
from hardmargin.bench.analysis.statistics import LEVEL, compare_gaps, holm
from hardmargin.bench.report.tables.paper import (
    NOT_RUN,
    SETS,
    limits,
    paper_tables,
    result_cells,
    result_columns,
    size_tables,
    without_answer,
)
from hardmargin.bench.report.tables.table import Column, Share, Table, Value
from hardmargin.bench.running.configurations import PAPER

# Times, in seconds, at which mean gaps are shown, up to the time limit.
_MOMENTS = (1.0, 10.0, 60.0, 600.0)


def means_table(runs: Sequence[SystemRun]) -> Table:
    """By set and over all: proofs, gap, arithmetic and shifted geometric mean times, primal-dual integrals."""
    systems = systems_of(runs)
    columns = [Column("set", numeric=False)]
    for name in systems:
        columns += result_columns([name])
        columns += [Column(heading, name, best="low") for heading in ("geo. mean s", "integral s")]
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


def _sets_and_all(runs: Sequence[SystemRun]) -> list[tuple[str, str]]:
    return [*((key, title) for key, title in SETS.items() if select(runs, set=key)), ("", "Overall")]


def gaps_over_time_table(runs: Sequence[SystemRun]) -> Table:
    """By set and over all: the mean gap after 1, 10, 60 and 600 s, up to the time limit, and at the time limit."""
    systems = systems_of(runs)
    longest = max(run.time_limit for run in runs)
    moments = [*(moment for moment in _MOMENTS if moment < longest), longest]
    columns = [Column("set", numeric=False)]
    columns += [Column(f"{moment:g} s", name, best="low") for name in systems for moment in moments]
    lines: list[list[Value]] = []
    for key, title in _sets_and_all(runs):
        line: list[Value] = [title]
        for system in systems:
            line += mean_gaps(select(runs, system=system, set=key), moments)
        lines.append(line)
    caption = "Mean gap in percent; blank where a run without a proof had less time than that."
    return Table("gaps_over_time", "Gaps over time", caption, columns, lines, totals=1)


def wilcoxon_table(runs: Sequence[SystemRun], literature: Sequence[SystemRun] = ()) -> Table:
    """Table 7: gaps compared in pairs, every system against those before it, and against the published ones."""
    beside = [run for run in literature if run.system in published.NAMES.values()]
    systems = systems_of(runs)
    everything = [*beside, *runs]
    tests = [
        (system, other, found)
        for position, system in enumerate(systems)
        for other in [*systems_of(beside), *systems[:position]]
        if (found := compare_gaps(select(runs, system=system), select(everything, system=other))) is not None
    ]
    corrected = holm([found.p for _, _, found in tests])
    lines: list[list[Value]] = [
        [
            system,
            other,
            found.p,
            found.verdict,
            p,
            found.verdict_at(p),
            found.pairs,
            found.smaller,
            found.larger,
        ]
        for (system, other, found), p in zip(tests, corrected, strict=True)
    ]
    columns = [Column("system", numeric=False), Column("against", numeric=False)]
    for group in ("one test", "Holm"):
        columns += [Column("p", group, format="p"), Column("verdict", group, numeric=False)]
    columns += [Column(name, "pairs") for name in ("all", "smaller gap", "larger gap")]
    caption = (
        f"Two-sided Wilcoxon signed-rank tests of the gaps, paired by instance and C, at the level {LEVEL:g}; "
        "equal gaps are left out, and fewer than six others are never significant. The verdict is on the system in "
        "the first column. One test: as in the paper, not corrected. Holm: corrected for the number of tests in "
        "this table."
    )
    caption += " Published gaps are those after 600 s." if beside else ""
    return Table("table7", "Table 7: paired-samples Wilcoxon tests", caption, columns, lines, keys=2)


def instance_table(runs: Sequence[SystemRun]) -> Table:
    """The runs one by one."""
    columns = [Column("instance", numeric=False), Column("C", format="g"), Column("system", numeric=False)]
    columns += [Column("seed"), Column("set", numeric=False), Column("n"), Column("m")]
    columns += [Column("status", numeric=False), Column("objective", format=".6f")]
    columns += [Column("lower bound", format=".6f"), Column("gap %", format=".4f")]
    columns += [Column("time s"), Column("nodes")]
    ordered = sorted(runs, key=lambda run: (list(SETS).index(run.set), run.instance, run.C, run.system, run.seed))
    lines: list[list[Value]] = []
    for run in ordered:
        line: list[Value] = [run.instance, run.C, run.system, run.seed, run.set, run.n, run.m, run.status]
        line += [run.objective, run.lower_bound, run.gap if run.answered else None, run.seconds, run.nodes]
        lines.append(line)
    caption = "gap %: 100 (UB - LB) / UB. time s: seconds, or the time limit for runs without a proof; it is "
    caption += f"{limits(runs)}."
    return Table("instances", "Runs one by one", caption, columns, lines, keys=4)


def configurations_table(runs: Sequence[SystemRun], literature: Sequence[SystemRun] = ()) -> Table:
    """Figure 4 in numbers: runs proven optimal by configuration and set, published and of these runs.

    The published ones are on the same pairs of instance and C if the results by instance are available, otherwise
    on the whole benchmark.
    """
    columns = [Column("configuration", numeric=False), Column("system", numeric=False)]
    columns += [Column("#opt", title) for title in SETS.values()]
    ours = [run for run in runs if run.shares]
    theirs = on_same_pairs(literature, ours)
    lines: list[list[Value]] = []
    for configuration in PAPER:
        title = configuration_name(configuration)
        if literature:
            same = [run for run in theirs if run.shares == configuration]
            lines.append([title, "published", *_proofs(same, None)])
        else:
            lines.append([title, "published", *_printed_proofs(configuration)])
        chosen = [run for run in ours if run.shares == configuration]
        for system in systems_of(chosen):
            lines.append([title, system, *_proofs(select(chosen, system=system), NOT_RUN)])
    pairs = "the pairs of instance and C that were run here" if literature else "all 875 pairs of instance and C"
    caption = (
        "Runs proven optimal. T_S and T_B in percent of the time limit, which is 600 s in the published runs. "
        f"Published figures are of {pairs}. Time limit {limits(ours)}."
    )
    return Table("configurations", "Configurations of CB-SVM-HML", caption, columns, lines, keys=2)


def _proofs(runs: Sequence[SystemRun], nothing: Value) -> list[Value]:
    found = [summary(select(runs, set=key)) for key in SETS]
    return [nothing if one is None else Share(one.proven, one.runs) for one in found]


def _printed_proofs(configuration: str) -> list[Value]:
    proven = published.CONFIGURATIONS_PROVEN[configuration]
    return [Share(count, published.runs_in(key)) for key, count in zip(SETS, proven, strict=True)]


def all_tables(
    runs: Sequence[SystemRun], literature: Sequence[SystemRun] = (), *, all_rows: bool = False
) -> list[Table]:
    """Every table except that of single runs: those of the benchmark, then those of all other runs.

    Parameters
    ----------
    runs : sequence of SystemRun
        Of campaigns.
    literature : sequence of SystemRun
        The published results by instance, if they are available.
    all_rows : bool
        Whether to show rows without any run too.
    """
    parts, tables = parts_of(runs), []
    for part in parts:
        on_paper = not part.name
        beside = literature if on_paper else ()
        found = paper_tables(part.runs, literature, all_rows=all_rows) if on_paper else size_tables(part.runs)
        found += [means_table(part.runs), gaps_over_time_table(part.runs)]
        if on_paper and any(run.shares for run in part.runs):
            found.append(configurations_table(part.runs, literature))
        if (tests := wilcoxon_table(part.runs, beside)).rows:
            found.append(tests if on_paper else replace(tests, name="wilcoxon", title="Wilcoxon tests of the gaps"))
        note = left_out(parts) if on_paper else ""
        tables += [
            replace(
                table,
                name=part.file_name(table.name),
                title=part.heading(table.title),
                caption=" ".join(filter(None, (table.caption, note))),
            )
            for table in found
        ]
    return tables


def what_numbers_are(runs: Sequence[SystemRun]) -> str:
    """A last line below tables, for readers who see them for the first time."""
    published_limit = " (published runs: 600 s)" if any(map(on_benchmark, runs)) else ""
    return (
        "#opt: runs proven optimal, of all runs made. gap %: 100 (UB - LB) / UB, mean in percent. time s: mean in "
        f"seconds, with the time limit for runs without a proof; it is {limits(runs)}{published_limit}."
    )
