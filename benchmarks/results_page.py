"""Writes docs/results.md from the records in benchmarks/results, so that every figure there has a record behind it.

    python benchmarks/results_page.py [--check]

The text is in benchmarks/results/page.md. A line such as ``{{ groups auto-60s.jsonl }}`` there is replaced by what
the function of that name below makes of the records. The commands are those of benchmarks/results/README.md.
release.json beside it names the builds whose figures are those of the release; all other records are marked as
older. ``--check`` writes nothing, and fails if the page is not what the records give.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from statistics import median
from typing import NamedTuple

from hardmargin.bench.analysis import published
from hardmargin.bench.analysis.aggregate import mean, select, summary
from hardmargin.bench.analysis.profiles import mean_gaps
from hardmargin.bench.analysis.runs import SystemRun, common, configuration_name, runs_of, systems_of
from hardmargin.bench.analysis.statistics import compare_gaps, holm
from hardmargin.bench.records.record import Record, read_records
from hardmargin.bench.report.tables.campaign import gaps_over_time_table, means_table
from hardmargin.bench.report.tables.markdown import as_markdown, markdown_rows
from hardmargin.bench.report.tables.paper import SETS, paper_tables
from hardmargin.bench.report.tables.table import Column, Share, Table, Value
from hardmargin.bench.running.configurations import PAPER

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "results.md"
RECORDS = ROOT / "benchmarks" / "results"

# Pairs of instance and C of every group of the benchmark.
GROUP_PAIRS = 25
# Seconds at which gaps are shown, up to the time limit.
MOMENTS = (10.0, 60.0, 600.0)

NO_PROOF = "-"

# The pairs of the sample on which the paper's configurations are compared, and the back ends.
CONFIGURATION_PAIRS = 24
BACK_ENDS = {"scip": "SCIP", "cplex": "CPLEX"}

# The campaign with the optima of the benchmark. Objectives are equal to them up to the gap of its proofs, and
# bounds are not above them, up to rounding.
BENCHMARK = "auto-60s.jsonl"
SAME_OPTIMUM = 1e-6
SAME_BOUND = 1e-9

DIRECTIVE = re.compile(r"^\{\{ (?P<kind>\w+) (?P<file>\S+) \}\}$", re.MULTILINE)
# A row of the table of campaigns: file, command, note.
CAMPAIGN = re.compile(r"^\| `(?P<file>[^`]+\.jsonl)` \| `(?P<command>[^`]+)` \| (?P<note>.*?) ?\|$", re.MULTILINE)

NOTICE = "<!-- Written by benchmarks/results_page.py; the text is in benchmarks/results/page.md. -->\n\n"


class Campaign(NamedTuple):
    """How a file of records was made."""

    command: str
    note: str


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page, or check it."""
    parser = argparse.ArgumentParser(description="Writes docs/results.md from the records in benchmarks/results.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if the page is out of date")
    checking = parser.parse_args(arguments).check
    text = page()
    if checking:
        current = PAGE.exists() and PAGE.read_text(encoding="utf-8") == text
        if not current:
            print(
                f"{PAGE.name} is not what the records give; run python benchmarks/results_page.py", file=sys.stderr
            )
        return 0 if current else 1
    PAGE.write_text(text, encoding="utf-8")
    return 0


def page() -> str:
    """The page, with every directive replaced."""

    def replaced(found: re.Match[str]) -> str:
        return DIRECTIVES[found["kind"]](found["file"])

    return NOTICE + DIRECTIVE.sub(replaced, (RECORDS / "page.md").read_text(encoding="utf-8"))


@cache
def records(file: str) -> tuple[Record, ...]:
    """The records of a file."""
    return tuple(read_records(RECORDS / file))


@cache
def runs(file: str) -> tuple[SystemRun, ...]:
    """The same as runs of systems."""
    return tuple(runs_of(records(file)))


@cache
def campaigns() -> dict[str, Campaign]:
    """How each file was made, from the README of the records."""
    text = (RECORDS / "README.md").read_text(encoding="utf-8")
    return {found["file"]: Campaign(found["command"], found["note"]) for found in CAMPAIGN.finditer(text)}


def provenance(file: str) -> str:
    """The command, when and where it ran, and which builds ran."""
    campaign, found = campaigns()[file], records(file)
    days = sorted({record.started[:10] for record in found})
    when = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
    where = ", ".join(sorted({f"{one.machine['cores']} cores of an {one.machine['processor']}" for one in found}))
    sentences = [f"{len(found)} runs, {when}, on {where} ([records](../benchmarks/results/{file}))."]
    if campaign.note:
        sentences.append(f"{campaign.note[0].upper()}{campaign.note[1:]}.")
    sentences.append(age(found))
    return f"```text\n{campaign.command}\n```\n\n" + " ".join(sentences)


def age(found: Sequence[Record]) -> str:
    """Whether records are of a build of the release."""
    current = set(json.loads((RECORDS / "release.json").read_text(encoding="utf-8"))["builds"])
    older = Counter(build for record in found if (build := build_of(record)) not in current)
    if not older:
        return "Measured with the build of this release."
    which = "Measured" if older.total() == len(found) else f"{older.total()} of the runs were measured"
    named = [build or "not recorded" for build in sorted(older, reverse=True)]
    return f"**{which} with an earlier build** ({', '.join(named)})."


def build_of(record: Record) -> str:
    """The build of a record; the oldest have that of the core only, or none ("")."""
    return str(record.versions.get("build") or record.versions.get("core") or "")


def headline(file: str) -> str:
    """Proofs and mean gap over all pairs, beside those of the paper."""
    columns = [Column("method", numeric=False), Column("limit", numeric=False), Column("machine", numeric=False)]
    columns += [Column("proven"), Column("mean gap %"), Column("mean time s")]
    rows: list[list[Value]] = []
    for system in systems_of(runs(file)):
        found, first = summary(select(runs(file), system=system)), records(file)[0]
        assert found is not None
        machine = f"{first.machine['processor']}, {first.threads} threads"
        share = Share(found.proven, found.runs)
        rows.append([f"`{system}`", f"{first.time_limit:g} s", machine, share, found.gap, found.seconds])
    for method, name in reversed(published.NAMES.items()):
        figures = published.aggregate(method)
        assert figures is not None
        theirs = f"{name} (published)", f"{published.TIME_LIMIT:g} s", "Xeon E5-2620 at 2.1 GHz, CPLEX 12.9"
        rows.append([*theirs, Share(figures.proven, figures.runs), figures.gap, figures.seconds])
    return rows_of("headline", columns, rows)


def paper(file: str) -> str:
    """The paper's Tables 2 to 6, means by set, and gaps over time."""
    chosen = runs(file)
    tables = [*paper_tables(chosen), means_table(chosen), gaps_over_time_table(chosen)]
    return "\n".join(map(as_markdown, tables)).rstrip()


def groups(file: str) -> str:
    """The groups that are not proven completely, one per row, and the others in a sentence."""
    chosen = runs(file)
    names = sorted({run.group for run in chosen if not run.proven}, key=natural)
    hard = names or sorted({run.group for run in chosen}, key=natural)
    moments = moments_of(chosen)
    columns = [Column("group", numeric=False), Column("pairs run"), Column("proven")]
    columns += [Column(f"gap % after {moment:g} s", format=".1f") for moment in moments]
    columns += [Column("fastest proof s", format=".0f"), Column("slowest proof s", format=".0f")]
    rows: list[list[Value]] = []
    for name in hard:
        own = select(chosen, by="group", row=name)
        seconds = [run.seconds for run in own if run.proven]
        line: list[Value] = [name, Share(len(own), GROUP_PAIRS), len(seconds), *mean_gaps(own, moments)]
        rows.append([*line, *((min(seconds), max(seconds)) if seconds else (NO_PROOF, NO_PROOF))])
    easy = [record for record in records(file) if record.group not in hard]
    return rows_of("groups", columns, rows) + (f"\n\n{easy_ones(easy)}" if easy else "")


def easy_ones(found: Sequence[Record]) -> str:
    """Records of proven runs in one sentence."""
    seconds = [record.runtime or 0.0 for record in found]
    memory = max(record.peak_memory or 0 for record in found) / 1e6
    return (
        f"All {len(found)} pairs of the other groups are proven, the longest in {max(seconds):.1f} s, "
        f"{mean(seconds):.2f} s on average, in at most {memory:.0f} MB."
    )


def single(file: str) -> str:
    """The runs one by one, with their gaps over time."""
    chosen = sorted(runs(file), key=lambda run: (natural(run.instance), run.C))
    moments = moments_of(chosen)
    columns = [Column("instance", numeric=False), Column("C", format="g"), Column("proof s", format=".0f")]
    columns += [Column(f"gap % after {moment:g} s", format=".1f") for moment in moments]
    rows: list[list[Value]] = [
        [run.instance, run.C, run.seconds if run.proven else NO_PROOF, *mean_gaps([run], moments)] for run in chosen
    ]
    told = f"{proofs(chosen)} of {len(chosen)} are proven; the mean gap is {mean(run.gap for run in chosen):.1f} %."
    return f"{rows_of('runs', columns, rows)}\n\n{told}"


def systems(file: str) -> str:
    """One row per system: proofs by set, mean gap, mean times."""
    chosen = runs(file)
    columns = [Column("system", numeric=False), Column("proven"), *(Column(title) for title in SETS.values())]
    columns += [Column("mean gap %", format=".1f"), Column("mean time s", format=".1f"), Column("geo. mean s")]
    rows: list[list[Value]] = []
    for system in sorted(systems_of(chosen), key=lambda name: -proofs(select(chosen, system=name))):
        own = select(chosen, system=system)
        parts = [summary(select(own, set=key)) for key in SETS]
        found = summary(own)
        assert found is not None
        shares = [None if part is None else Share(part.proven, part.runs) for part in [found, *parts]]
        rows.append([f"`{system}`", *shares, found.gap, found.seconds, found.shifted])
    ours = {run.pair for run in select(chosen, system="auto") if run.proven}
    others = {run.pair for run in chosen if run.system != "auto" and run.proven}
    told = (
        f"The other systems together prove {len(others)} pairs; `auto` proves {len(ours)}, among them "
        f"{len(ours & others)} of those {len(others)}. Times of runs without a proof count as the time limit; the "
        "geometric mean is shifted by 1 s."
    )
    return f"{rows_of('systems', columns, rows)}\n\n{told}"


def agreement(file: str) -> str:
    """Whether the runs of a campaign agree with the optima that the default method has proven."""
    optima = {run.pair: run.objective for run in runs(BENCHMARK) if run.proven and run.objective is not None}
    columns = [
        Column("system", numeric=False),
        Column("n"),
        Column("pairs"),
        Column("proven"),
        Column("optimum found"),
    ]
    columns += [Column("largest deviation if proven", format=".0e"), Column("bounds above the optimum")]
    rows: list[list[Value]] = []
    for system in systems_of(runs(file)):
        own = [run for run in select(runs(file), system=system) if run.pair in optima]
        for n in sorted({run.n for run in own}):
            chosen = [run for run in own if run.n == n]
            excess = {run.pair: (run.objective or math.inf) / optima[run.pair] - 1 for run in chosen}
            found = sum(difference <= SAME_OPTIMUM for difference in excess.values())
            worst = max((abs(excess[run.pair]) for run in chosen if run.proven), default=0.0)
            above = sum((run.lower_bound or 0.0) > (1 + SAME_BOUND) * optima[run.pair] for run in chosen)
            rows.append([f"`{system}`", n, len(chosen), proofs(chosen), found, worst, above])
    return rows_of("agreement", columns, rows)


def configurations(file: str) -> str:
    """The paper's Figure 4 and Table 7 on a sample: Brooks' model and the configurations of CB-SVM-HML."""
    chosen = runs(file)
    assert len(common(chosen)) == len(chosen), f"{file} has pairs that were not run with all configurations"
    columns = [Column("configuration", numeric=False)]
    for name in BACK_ENDS.values():
        columns += [Column(f"{name}: proven"), Column(f"{name}: mean gap %", format=".1f")]
        columns += [Column(f"{name}: median gap %", format=".1f"), Column(f"{name}: mean time s", format=".1f")]
        columns.append(Column(f"{name}: gaps beside Brooks 2011", numeric=False))
    verdicts = {back_end: verdicts_on(chosen, back_end) for back_end in BACK_ENDS}
    rows: list[list[Value]] = []
    for configuration in ("", *PAPER):
        row: list[Value] = [configuration_name(configuration) if configuration else "Brooks 2011"]
        for back_end in BACK_ENDS:
            own = runs_with(chosen, back_end, configuration)
            found = summary(own)
            assert found is not None
            row += [Share(found.proven, found.runs), found.gap, median(run.gap for run in own), found.seconds]
            row.append(verdicts[back_end].get(configuration, ""))
        rows.append(row)
    pairs = len({run.pair for run in chosen})
    missing = CONFIGURATION_PAIRS - pairs
    told = (
        f"{pairs} of the {CONFIGURATION_PAIRS} pairs of the sample were run with all of them"
        f"{f'; the other {missing} were not run' if missing else ''}. Configurations are T_S and T_B in percent of "
        "the time limit. The last column of each back end is the verdict of two-sided Wilcoxon tests at the level "
        "0.05, corrected for their number by Holm's method."
    )
    return f"{rows_of('configurations', columns, rows)}\n\n{told}"


def runs_with(chosen: Sequence[SystemRun], back_end: str, configuration: str) -> list[SystemRun]:
    """The runs of a configuration of the paper, or of Brooks' model (""), on a back end."""
    method = "benders" if configuration else "indicator"
    own = [run for run in chosen if run.system.split()[0] == method and back_end_of(run) == back_end]
    return [run for run in own if run.shares == configuration]


def back_end_of(run: SystemRun) -> str:
    """The back end of a run: the configuration names it, unless it is the default."""
    return "cplex" if "cplex" in run.configuration.split("+") else "scip"


def verdicts_on(chosen: Sequence[SystemRun], back_end: str) -> dict[str, str]:
    """By configuration: whether its gaps are smaller than those of Brooks' model on the same back end."""
    baseline = runs_with(chosen, back_end, "")
    tests = {name: compare_gaps(runs_with(chosen, back_end, name), baseline) for name in PAPER}
    made = {name: test for name, test in tests.items() if test is not None}
    corrected = holm([test.p for test in made.values()])
    return {name: test.verdict_at(p) for (name, test), p in zip(made.items(), corrected, strict=True)}


def proofs(chosen: Sequence[SystemRun]) -> int:
    """How many runs have proven their solution optimal."""
    return sum(run.proven for run in chosen)


def moments_of(chosen: Sequence[SystemRun]) -> list[float]:
    """The times at which gaps are shown."""
    limit = max(run.time_limit for run in chosen)
    return [*(moment for moment in MOMENTS if moment < limit), limit]


def rows_of(name: str, columns: Sequence[Column], rows: Sequence[Sequence[Value]]) -> str:
    """A table without title and caption."""
    return markdown_rows(Table(name, "", "", columns, rows))


def natural(text: str) -> list[tuple[int, str]]:
    """Sort key in which n60 precedes n500."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", text) if part]


DIRECTIVES: dict[str, Callable[[str], str]] = {
    "provenance": provenance,
    "headline": headline,
    "paper": paper,
    "groups": groups,
    "single": single,
    "systems": systems,
    "agreement": agreement,
    "configurations": configurations,
}


if __name__ == "__main__":
    sys.exit(main())
