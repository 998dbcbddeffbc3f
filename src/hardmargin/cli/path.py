"""``hardmargin path``: the best hyperplanes for all C of a range."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hardmargin import data
from hardmargin.cli.interrupts import while_importing
from hardmargin.cli.key_values import class_weights, time_limit
from hardmargin.cli.output import STDOUT, check_different, check_target, tell, write_json
from hardmargin.cli.parser import Commands, Parser, add_column_arguments, add_data_arguments, add_quiet_argument
from hardmargin.cli.prior_knowledge import add_prior_knowledge_arguments, prior_knowledge
from hardmargin.cli.search_arguments import (
    add_class_weight_argument,
    add_method_arguments,
    add_place_arguments,
    search_settings,
)
from hardmargin.cli.status import DONE, INTERRUPTED, STATE_LOST
from hardmargin.cli.training_data import label_place, training_data
from hardmargin.signals import HeldSignals
from hardmargin.status import Status
from hardmargin.stopping import STALL

if TYPE_CHECKING:
    from hardmargin import Path
    from hardmargin.path_search import PathProgress
    from hardmargin.progress import Progress

_HEADER = f"  {'time':>8} {'solves':>6} {'C':>11} {'objective':>13} {'bound':>13} {'breakpoints':>11} {'gap':>9}"


def add_to(commands: Commands) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "path",
        help="train on a file for every C of a range",
        description="Find every value of C at which the best hyperplane changes, the hyperplanes in between, and "
        "prove a lower bound at every C. Ctrl-C ends the search early and keeps what is known.",
    )
    add_data_arguments(parser, "training data")
    add_column_arguments(parser)
    parser.add_argument(
        "--C",
        type=float,
        nargs="+",
        required=True,
        metavar="C",
        help="LOW HIGH: a range, in which every breakpoint is found; one or more than two values: only these",
    )
    add_class_weight_argument(parser)
    add_prior_knowledge_arguments(parser)
    _add_search_arguments(parser)
    _add_output_arguments(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Load the data, search, write the path, print the summary."""
    _check_targets(arguments)
    dataset = training_data(arguments)
    with while_importing():
        # Importing these takes a second, which a command that cannot run should not spend.
        from hardmargin import path
        from hardmargin.cli.checkpoint_warnings import checkpoint_warnings
        from hardmargin.progress import Progress

    # Before signals are held: this may read a file.
    settings = _settings(arguments, dataset)
    # Until the path is written, Ctrl-C takes effect only where the search reports.
    with HeldSignals() as signals:
        with (
            Progress(style="quiet" if arguments.quiet else "auto") as progress,
            checkpoint_warnings(progress) as warned,
        ):
            display = _Display(progress, _description(dataset, arguments), arguments)

            def report(state: PathProgress) -> None:
                display(state)
                signals.let_through()

            found = path(
                dataset.X,
                dataset.y,
                tuple(arguments.C) if len(arguments.C) == 2 else list(arguments.C),
                report=report,
                **settings,
            )
        named = [
            replace(each, feature_names=dataset.feature_names, label_column=dataset.label_column)
            for each in found.hyperplanes
        ]
        _hand_over(replace(found, hyperplanes=named), arguments)
    if any(warning.lost for warning in warned):
        return STATE_LOST
    return INTERRUPTED if found.status is Status.INTERRUPTED else DONE


class _Display:
    """A line when the search begins, and a row after every solve."""

    def __init__(self, progress: Progress, description: str, arguments: argparse.Namespace) -> None:
        self._progress = progress
        self._description = description
        self._arguments = arguments
        self._begun = False

    def __call__(self, state: PathProgress) -> None:
        if not self._begun:
            # Not before the search has begun: if it refuses the input, only that one line is printed.
            self._begun = True
            with self._progress.paused():
                tell(self._description, self._arguments)
            self._progress.say(_HEADER)
        if state.done:
            gap = f"{100 * state.gap:.2f}%"
            self._progress.say(
                f"  {state.time:>7.1f}s {state.solves:>6} {state.C:>11.5g} {state.upper:>13.7g} "
                f"{state.lower:>13.7g} {state.breakpoints:>11} {gap:>9}"
            )


def _description(dataset: data.Dataset, arguments: argparse.Namespace) -> str:
    """What is about to be solved, in one line."""
    values = [f"{C:g}" for C in arguments.C]
    asked = " to ".join(values) if len(values) == 2 else ", ".join(values)
    size = f"{dataset.n} samples x {dataset.m} features"
    return (
        f"{arguments.data}: {dataset.format}, {size}, labels in {label_place(dataset)}; C = {asked}, "
        f"method {arguments.method}"
    )


def _check_targets(arguments: argparse.Namespace) -> None:
    for flag in ("json", "checkpoint"):
        target = getattr(arguments, flag)
        if target is not None:
            check_target(target, f"--{flag}", sources=[arguments.data])
    if arguments.checkpoint == STDOUT:
        raise ValueError("--checkpoint is '-'; expected the name of a file.")
    check_different({"--json": arguments.json, "--checkpoint": arguments.checkpoint})


def _settings(arguments: argparse.Namespace, dataset: data.Dataset) -> dict[str, Any]:
    return {
        "class_weight": class_weights(arguments.class_weight, dataset.y),
        **search_settings(arguments),
        "resume": arguments.resume,
        **prior_knowledge(arguments, dataset),
    }


def _hand_over(path: Path, arguments: argparse.Namespace) -> None:
    try:
        if arguments.json is not None:
            write_json(path, arguments.json)
    finally:
        tell(path.summary(), arguments)


def _add_search_arguments(parser: Parser) -> None:
    add_method_arguments(parser, "setting of the method, as of 'hardmargin solve'; may be repeated")
    parser.add_argument(
        "--time-limit",
        type=time_limit,
        default=60.0,
        metavar="SECONDS",
        help="time limit of the whole path (default 60; inf: no limit)",
    )
    parser.add_argument(
        "--node-limit", type=int, metavar="N", help="about how many subproblems in all; default: no limit"
    )
    parser.add_argument("--stop", choices=[STALL], help="stall: end a solve that makes no noticeable progress")
    parser.add_argument("--gap", type=float, default=1e-6, help="relative gap to prove at every C (default 1e-6)")
    add_place_arguments(parser)


def _add_output_arguments(parser: Parser) -> None:
    parser.add_argument("--json", metavar="FILE", help="write the path; '-' means standard output")
    parser.add_argument("--checkpoint", metavar="FILE", help="write the path to a file after every solve")
    parser.add_argument(
        "--resume",
        metavar="FILE",
        help="continue from a path that --checkpoint or --json wrote for the same data; may be the same file as "
        "that of --checkpoint, and the range may be another one",
    )
    add_quiet_argument(parser)
