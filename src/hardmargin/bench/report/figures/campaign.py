"""All figures of a campaign, with their captions, and their files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from hardmargin.bench.analysis.parts import Part, left_out, parts_of
from hardmargin.bench.analysis.runs import SystemRun
from hardmargin.bench.report.figures import gaps, times

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Suffixes of the files that figures can be written to.
FORMATS = ("svg", "pdf", "png")


class Illustration(NamedTuple):
    """A figure with its name, for files, its title, and a caption that explains it."""

    name: str
    title: str
    caption: str
    figure: Figure


class _Text(NamedTuple):
    title: str
    caption: str
    # Only if published results are drawn.
    published: str = ""


_TEXTS = {
    "figure3": _Text(
        "Figure 3: gaps by number of samples",
        "Boxes are quartiles, whiskers extend to 1.5 times their distance; single runs are marked where there are "
        "few. Proven runs are drawn at 0.",
        "Published gaps are those after 600 s, on the pairs of instance and C that were run here.",
    ),
    "figure4": _Text(
        "Figure 4: gaps by configuration of CB-SVM-HML",
        "T_S and T_B in percent of the time limit. The numbers above count the runs proven optimal, of all.",
        "Published runs, of 600 s, are those on the pairs of instance and C that were run here.",
    ),
    "proofs_over_time": _Text(
        "Proofs over time",
        "Percentage of the runs that were proven optimal within the time.",
        "Published ones are on another machine, and on the pairs of instance and C that were run here.",
    ),
    "performance_profile": _Text(
        "Performance profile",
        "Dolan and Moré's: for each ratio, the percentage of problems that a system has proven within that many "
        "times the time of the fastest. Problems are the pairs of instance and C that all systems have run.",
    ),
    "gaps_over_time": _Text(
        "Gaps over time",
        "Mean gap of all runs; it is 100 % before the first bounds are known.",
    ),
    "primal_dual_integrals": _Text(
        "Primal-dual integrals",
        "The gap integrated until the time limit, in percent of it, run by run from the smallest.",
    ),
    "time_by_size": _Text(
        "Time against size",
        "Dots are runs, hollow ones without a proof, at the time limit; lines are shifted geometric means of "
        "Types A and B with a shift of 1 s.",
    ),
}

# The paper's figures, with names and titles that fit other instances.
_ELSEWHERE = {
    "figure3": ("gaps_by_n", "Gaps by number of samples"),
    "figure4": ("gaps_by_configuration", "Gaps by configuration of CB-SVM-HML"),
}


def all_figures(runs: Sequence[SystemRun], literature: Sequence[SystemRun] = ()) -> list[Illustration]:
    """Every figure that the runs allow: those of the benchmark, then those of all other runs.

    Parameters
    ----------
    runs : sequence of SystemRun
        Of campaigns.
    literature : sequence of SystemRun
        The published results by instance, if they are available.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    parts = parts_of(runs)
    return [
        illustration
        for part in parts
        for illustration in (_figures(part, "", ()) if part.name else _figures(part, left_out(parts), literature))
    ]


def _figures(part: Part, note: str, literature: Sequence[SystemRun]) -> list[Illustration]:
    runs = part.runs
    drawn = {
        "figure3": gaps.gaps_by_n(runs, literature),
        "figure4": gaps.gaps_by_configuration(runs, literature),
        "proofs_over_time": times.proofs_over_time(runs, literature),
        "performance_profile": times.profiles(runs),
        "gaps_over_time": gaps.gaps_over_time(runs),
        "primal_dual_integrals": times.integrals(runs),
        "time_by_size": times.times_by_size(runs),
    }
    found = []
    for key, figure in drawn.items():
        if figure is not None:
            text = _TEXTS[key]
            name, title = _ELSEWHERE[key] if part.name and key in _ELSEWHERE else (key, text.title)
            caption = [text.caption, text.published if literature else "", note]
            texts = (part.file_name(name), part.heading(title), " ".join(filter(None, caption)))
            found.append(Illustration(*texts, figure))
    return found


def save_figures(illustrations: Sequence[Illustration], folder: Path, format: str = "pdf") -> list[Path]:
    """Write the figures to a folder, which is created if missing; return the files.

    Raises
    ------
    ValueError
        If the format is not one of ``FORMATS``.
    """
    if format not in FORMATS:
        raise ValueError(f"the format is {format!r}; expected one of {', '.join(FORMATS)}.")
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for illustration in illustrations:
        path = folder / f"{illustration.name}.{format}"
        # Without a date, the same records give the same file.
        metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(format)
        illustration.figure.savefig(path, dpi=200, facecolor="white", metadata=metadata)
        paths.append(path)
    return paths
