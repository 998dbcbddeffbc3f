"""The commands that reproduce the runs of a file, as few as possible."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hardmargin.bench.analysis.published import is_benchmark
from hardmargin.bench.analysis.runs import by_system
from hardmargin.bench.instances.catalogue import PENALTIES, Instance, generated_instances, published_instances
from hardmargin.bench.instances.groups import SETS
from hardmargin.bench.records.record import Record
from hardmargin.bench.running.configurations import DEFAULT, options_of, variants
from hardmargin.bench.running.plan import interleaved
from hardmargin.units import GIGABYTE

# The most instances that a command lists by name.
_FEW = 12


def run_commands(records: Sequence[Record], path: str) -> list[str]:
    """The commands that reproduce the runs of a file, one per campaign.

    Systems with the same limits, seeds, instances and C belong to one campaign, if one command can request exactly
    them. If a command would make more pairs of instance and C than the file has, a comment says so.

    Parameters
    ----------
    records : sequence of Record
    path : str
        The file name to use in the commands.
    """
    campaigns: dict[str, list[list[Record]]] = {}
    for chosen in by_system(records).values():
        for generated in (False, True):
            part = [record for record in chosen if is_benchmark(record.instance) != generated]
            if part:
                campaigns.setdefault(_ending(part, generated), []).append(part)
    return [
        f"{shlex.join(['hardmargin', 'bench', 'run', '--out', path, *words])} {ending}"
        for ending, systems in campaigns.items()
        for words in _variants(systems)
    ]


def _ending(records: Sequence[Record], generated: bool) -> str:
    """Limits, seeds and selection: the part of a command that all systems of one campaign share."""
    first = records[0]
    words = ["--time-limit", f"{first.time_limit:g}", "--gap", f"{first.gap_asked:g}"]
    words += ["--threads", str(first.threads), "--seeds", *map(str, sorted({record.seed for record in records}))]
    if first.memory_limit is not None:
        words += ["--memory", f"{first.memory_limit / GIGABYTE:g}"]
    pairs = {record.pair for record in records}
    selection = _selection(pairs, generated_instances() if generated else published_instances())
    line = shlex.join([*words, *(["--generated"] if generated else []), *selection.words])
    return f"{line}  # {selection.comment}" if selection.comment else line


@dataclass(frozen=True)
class _Selection:
    words: tuple[str, ...]
    comment: str = ""


def _selection(pairs: set[tuple[str, float]], everything: Sequence[Instance]) -> _Selection:
    """The arguments that select these pairs from all instances."""
    names, penalties = {name for name, _ in pairs}, sorted({C for _, C in pairs})
    named = _instances(names, everything)
    total = len(names) * len(penalties)
    if named is None or len(pairs) < total:
        first = interleaved(everything, PENALTIES)[: len(pairs)]
        if {(pair.instance.name, pair.C) for pair in first} == pairs:
            return _Selection(("--sample", str(len(pairs))))
    if named is None:
        return _Selection((), f"on {len(pairs)} pairs of instance and C")
    if tuple(penalties) != PENALTIES:
        named += ["--C", *(f"{C:.17g}" if float(f"{C:g}") != C else f"{C:g}" for C in penalties)]
    return _Selection(tuple(named), "" if len(pairs) == total else f"{len(pairs)} of its {total} pairs were run")


def _instances(names: set[str], everything: Sequence[Instance]) -> list[str] | None:
    """The arguments that select the instances with these names; None if there are no short ones."""
    if names == {instance.name for instance in everything}:
        return []
    members: dict[str, set[str]] = {}
    for instance in everything:
        members.setdefault(instance.set, set()).add(instance.name)
        members.setdefault(instance.group, set()).add(instance.name)
    whole = [key for key, inside in members.items() if inside <= names]
    shortest = [key for key in whole if key in SETS or not any(members[key] < members[other] for other in whole)]
    if set().union(*(members[key] for key in shortest)) == names and len(shortest) <= _FEW:
        return ["--sets", *shortest]
    return ["--instances", *sorted(names)] if len(names) <= _FEW else None


def _variants(systems: Sequence[Sequence[Record]]) -> list[list[str]]:
    """Methods, configurations and options of the smallest number of commands that request exactly these systems."""
    firsts = [records[0] for records in systems]
    together = [firsts] if _one_command(firsts) else []
    if not together:
        for first in firsts:
            fitting = next((group for group in together if _one_command([*group, first])), None)
            if fitting is None:
                together.append([first])
            else:
                fitting.append(first)
    return [_words(group) for group in together]


def _one_command(firsts: Sequence[Record]) -> bool:
    """Whether one command for all of these requests no other method or configuration, and the same options."""
    methods, configurations, options = _asked(firsts)
    try:
        found = variants(methods, configurations, options)
    except (ValueError, ImportError):
        # The solver of these runs need not be installed on this machine.
        return False
    asked = [(first.method, first.configuration, first.options) for first in firsts]
    return _sorted(found) == _sorted(asked)


def _sorted(settings: Sequence[tuple[str, str, Mapping[str, Any]]]) -> list[str]:
    return sorted(json.dumps(setting, sort_keys=True) for setting in settings)


def _asked(firsts: Sequence[Record]) -> tuple[list[str], list[str], dict[str, Any]]:
    methods = list(dict.fromkeys(first.method for first in firsts))
    configurations = list(dict.fromkeys(first.configuration for first in firsts))
    options = {key: value for first in firsts for key, value in _extra_options(first).items()}
    return methods, configurations, options


def _words(firsts: Sequence[Record]) -> list[str]:
    methods, configurations, options = _asked(firsts)
    words = ["--methods", *methods]
    if configurations != [DEFAULT]:
        words += ["--configurations", *configurations]
    if options:
        words += ["--option", *(f"{key}={value}" for key, value in options.items())]
    return words


def _extra_options(record: Record) -> Mapping[str, Any]:
    """The options that are not part of the named configuration."""
    try:
        named = options_of(record.configuration)
    except ValueError:
        named = {}
    return {key: value for key, value in record.options.items() if named.get(key) != value}
