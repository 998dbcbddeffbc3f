"""The report: one self-contained page with all tables and figures of campaigns."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from hardmargin.bench.analysis.aggregate import select, summary
from hardmargin.bench.analysis.parts import Part, parts_of
from hardmargin.bench.analysis.runs import SystemRun, runs_of, systems_of
from hardmargin.bench.records.record import Record
from hardmargin.bench.report import html
from hardmargin.bench.report.commands import run_commands
from hardmargin.bench.report.figures.campaign import Illustration, all_figures
from hardmargin.bench.report.figures.robustness import robustness_figure
from hardmargin.bench.report.settings import environment_table, settings_table
from hardmargin.bench.report.tables.campaign import all_tables, instance_table
from hardmargin.bench.report.tables.robustness import study_tables

if TYPE_CHECKING:
    from hardmargin.bench.robustness import RobustnessRecord


def report(
    files: Mapping[str, Sequence[Record]],
    literature: Sequence[SystemRun] = (),
    study: Sequence[RobustnessRecord] = (),
    *,
    title: str = "hardmargin: benchmark report",
) -> str:
    """The page, as HTML.

    Parameters
    ----------
    files : mapping of str to sequence of Record
        The records of campaigns by file name, as used in the commands on the page; at least one.
    literature : sequence of SystemRun
        The published results by instance, if they are available.
    study : sequence of robustness records
        Records of a robustness study, if there is one.
    title : str

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    ValueError
        If there are no records.
    """
    records = [record for found in files.values() for record in found]
    if not records:
        raise ValueError("there are no runs to report; expected the records of a campaign.")
    runs = runs_of(records)
    sections = {
        "figures": ("Figures", _figures(all_figures(runs, literature))),
        "tables": ("Tables", [html.table(content) for content in all_tables(runs, literature)]),
        "robustness": ("Robustness", _robustness(study)),
        "runs": ("Runs one by one", _single_runs(runs)),
        "settings": ("Settings, machine and commands", _settings(records, files)),
    }
    filled = {name: (heading, parts) for name, (heading, parts) in sections.items() if parts}
    parts = [
        html.heading(title),
        html.paragraph(_first_lines(runs)),
        '<div class="cards">' + "".join(card for part in parts_of(runs) for card in _cards(part)) + "</div>",
        html.contents((name, heading) for name, (heading, _) in filled.items()),
        *(html.section(name, heading, content) for name, (heading, content) in filled.items()),
    ]
    return html.page(title, parts)


def _first_lines(runs: Sequence[SystemRun]) -> str:
    pairs, failed = {run.pair for run in runs}, sum(not run.answered for run in runs)
    instances = len({run.instance for run in runs})
    text = (
        f"{len(runs)} runs on {instances} instances ({len(pairs)} pairs of instance and C). A run is proven when "
        "its lower bound meets its objective up to the requested gap; gaps are 100 (UB - LB) / UB."
    )
    return text + (f" Runs without an answer: {failed}." if failed else "")


def _cards(part: Part) -> list[str]:
    cards = []
    where = f" on {part.subject}" if part.name else ""
    for system in systems_of(part.runs):
        found = summary(select(part.runs, system=system))
        if found is not None:
            text = f"proven by {system}{where}; mean gap {found.gap:.2f} %, mean time {found.seconds:.1f} s"
            cards.append(html.card(f"{found.proven}/{found.runs}", text))
    return cards


def _figures(illustrations: Sequence[Illustration]) -> list[str]:
    return ['<div class="figures">', *map(html.figure, illustrations), "</div>"]


def _robustness(study: Sequence[RobustnessRecord]) -> list[str]:
    if not study:
        return []
    caption = "Mean test accuracy with its standard error; test data are clean."
    title = "Test accuracy as training data get worse"
    drawing = Illustration("robustness", title, caption, robustness_figure(study))
    return [html.figure(drawing), *map(html.table, study_tables(study))]


def _single_runs(runs: Sequence[SystemRun]) -> list[str]:
    search = (
        '<div class="search"><input id="search" type="search" aria-label="Search the runs" '
        'placeholder="Search, e.g. bupa 100 time_limit"><span id="count" class="faint"></span></div>'
    )
    return [search, html.table(instance_table(runs), identifier="instances", box="scroll tall")]


def _settings(records: Sequence[Record], files: Mapping[str, Sequence[Record]]) -> list[str]:
    lines = [line for path, found in files.items() for line in run_commands(found, path)]
    names = shlex.join(files)
    lines += [f"hardmargin bench tables {names}", f"hardmargin bench report {names} --out report.html"]
    return [html.table(settings_table(records)), html.table(environment_table(records)), html.commands(lines)]
