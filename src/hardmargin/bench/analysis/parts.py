"""The parts of a campaign that are kept apart in tables and figures: pairs with published results, and others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from hardmargin.bench.analysis.published import is_benchmark
from hardmargin.bench.analysis.runs import SystemRun
from hardmargin.bench.instances.catalogue import PENALTIES


class Part(NamedTuple):
    """Runs that may be compared.

    Attributes
    ----------
    name : str
        For file names; "" for the pairs of the benchmark.
    subject : str
        What kind of instances the runs use, for headings and sentences.
    runs : list of SystemRun
    """

    name: str
    subject: str
    runs: list[SystemRun]

    def file_name(self, name: str) -> str:
        """The name of a table or figure of this part."""
        return f"{self.name}_{name}" if self.name else name

    def heading(self, title: str) -> str:
        """The title of a table or figure of this part."""
        return f"{title} ({self.subject})" if self.name else title


def on_benchmark(run: SystemRun) -> bool:
    """Whether the instance and its C are one of the 875 pairs that have published results."""
    return is_benchmark(run.instance) and run.C in PENALTIES


def parts_of(runs: Sequence[SystemRun]) -> list[Part]:
    """The pairs of the benchmark, the generated instances and all others, if there are runs of them."""
    generated = [run for run in runs if run.group.startswith("gen") and not is_benchmark(run.instance)]
    others = [run for run in runs if not run.group.startswith("gen") and not on_benchmark(run)]
    parts = [
        Part("", "the benchmark", [run for run in runs if on_benchmark(run)]),
        Part("generated", "generated instances", generated),
        Part("other", "other instances or with another C", others),
    ]
    return [part for part in parts if part.runs]


def left_out(parts: Sequence[Part]) -> str:
    """The runs that the tables of the benchmark do not count, for their captions; "" if they count everything."""
    others = [(len(part.runs), part.subject) for part in parts if part.name]
    counts = [f"{count} {'run' if count == 1 else 'runs'} on {subject}" for count, subject in others]
    return f"Not counted here: {', '.join(counts)}, which are shown apart." if counts else ""
