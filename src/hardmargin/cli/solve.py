"""``hardmargin solve``: train on a file."""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np

from hardmargin import data, methods
from hardmargin.cli.interrupts import while_importing
from hardmargin.cli.key_values import class_weights, key_value, penalty, violation_limits
from hardmargin.cli.output import STDOUT, check_target, write_model
from hardmargin.cli.parser import Commands, Parser, add_data_arguments, add_quiet_argument
from hardmargin.cli.status import DONE, INTERRUPTED, STATE_LOST
from hardmargin.penalty import SCALE
from hardmargin.signals import HeldSignals
from hardmargin.status import Status
from hardmargin.stopping import STALL

if TYPE_CHECKING:
    from hardmargin import Result
    from hardmargin.bounds import Report
    from hardmargin.checkpoint import CheckpointWarning
    from hardmargin.progress import Progress


def add_to(commands: Commands) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "solve",
        help="train on a file",
        description="Minimise 1/2 ||w||^2 + C * (number of samples with y (w.x + b) < 1) and prove a bound "
        "on it. Ctrl-C ends the search early and keeps the best hyperplane and the bound.",
    )
    add_data_arguments(parser, "training data")
    _add_problem_arguments(parser)
    _add_search_arguments(parser)
    _add_output_arguments(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Load the data, search, write the model, print the summary."""
    for flag in ("json", "checkpoint"):
        target = getattr(arguments, flag)
        if target is not None:
            check_target(target, f"--{flag}", sources=[arguments.data, *filter(None, [arguments.start])])
    for flag in ("checkpoint", "resume"):
        state = getattr(arguments, flag)
        if None not in (state, arguments.json) and os.path.realpath(state) == os.path.realpath(arguments.json):
            raise ValueError(f"--json and --{flag} are both {state!r}; the model would replace the state.")
    dataset = data.load(arguments.data, format=arguments.format, label=arguments.label)
    _check_label_column(dataset, arguments.data)
    with while_importing():
        # Importing these takes a second, which a command that cannot run should not spend.
        from hardmargin import solve
        from hardmargin.advice import constant_model_text
        from hardmargin.progress import Progress

    # Before signals are held: this may read a file.
    settings = _settings(arguments, dataset)
    # Until the model is written, Ctrl-C takes effect only where the search reports.
    with HeldSignals() as signals:
        with (
            Progress(style="quiet" if arguments.quiet else "auto") as progress,
            _checkpoint_warnings(progress) as warned,
        ):

            def announce(upper: float, lower: float, nodes: int) -> None:
                with progress.paused():
                    _tell(_description(dataset, arguments), arguments)
                    if arguments.resume is not None:
                        known = f"objective {upper:.9g}, proven bound {lower:.9g}, {nodes} nodes"
                        _tell(f"resumed from {arguments.resume}: {known}", arguments)

            report = _interruptible(progress, signals, announce)
            result = solve(dataset.X, dataset.y, arguments.C, report=report, **settings)
        _hand_over(replace(result, feature_names=dataset.feature_names), arguments)
    if not arguments.quiet:
        try:
            constant = constant_model_text(dataset.X, dataset.y, result, arguments.time_limit)
            if constant is not None:
                _tell(f"note: {constant}", arguments)
        except KeyboardInterrupt:
            # The model is written by now; only the note is missing.
            result = replace(result, status=Status.INTERRUPTED)
    if any(warning.lost for warning in warned):
        # Even after an interruption: a user who stops a search with a checkpoint relies on it.
        return STATE_LOST
    return INTERRUPTED if result.status is Status.INTERRUPTED else DONE


@contextmanager
def _checkpoint_warnings(progress: Progress) -> Iterator[list[CheckpointWarning]]:
    """Print each warning about the checkpoint once, in one line, whatever Python's warning filters say."""
    from hardmargin.checkpoint import CheckpointWarning

    told: list[CheckpointWarning] = []
    show_others = warnings.showwarning

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if not isinstance(message, CheckpointWarning):
            show_others(message, category, filename, lineno, file, line)
        elif str(message) not in map(str, told):
            told.append(message)
            if sys.stderr is not None:
                with progress.paused():
                    print(f"hardmargin: warning: {message}", file=sys.stderr, flush=True)

    with warnings.catch_warnings():
        warnings.simplefilter("always", CheckpointWarning)
        warnings.showwarning = show
        yield told


def _check_label_column(dataset: data.Dataset, path: str) -> None:
    """Refuse a label column with many values and name it: it is probably not the intended one."""
    classes = np.unique(dataset.y)
    if dataset.label_column is not None and len(classes) > 2:
        raise ValueError(
            f"{path}: {dataset.label_column} was taken for the labels and has {len(classes)} classes "
            f"({', '.join(repr(label) for label in classes[:3].tolist())}, ...); expected two. "
            "If another column holds the labels, name it with --label."
        )


def _description(dataset: data.Dataset, arguments: argparse.Namespace) -> str:
    """What is about to be solved, in one line."""
    classes = " and ".join(repr(label) for label in np.unique(dataset.y)[:3].tolist())
    return (
        f"{arguments.data}: {dataset.format}, {dataset.n} samples x {dataset.m} features, labels {classes} in "
        f"{dataset.label_column or 'the first column'}; C = {_shown_penalty(arguments.C)}, "
        f"method {arguments.method}"
    )


def _shown_penalty(C: float | str) -> str:
    return C if isinstance(C, str) else f"{C:g}"


def _settings(arguments: argparse.Namespace, dataset: data.Dataset) -> dict[str, Any]:
    return {
        "class_weight": class_weights(arguments.class_weight, dataset.y),
        "max_violations": violation_limits(arguments.max_violations, dataset.y),
        "method": arguments.method,
        "time_limit": arguments.time_limit,
        "gap": arguments.gap,
        "threads": arguments.threads,
        "seed": arguments.seed,
        "options": dict(arguments.option) or None,
        "checkpoint": arguments.checkpoint,
        "resume": arguments.resume,
        "cluster": arguments.cluster,
        "checkpoint_interval": arguments.checkpoint_interval,
        "node_limit": arguments.node_limit,
        "start": _starting_model(arguments.start, dataset),
        "stop": arguments.stop,
    }


def _starting_model(path: str | None, dataset: data.Dataset) -> Result | None:
    """The model to start from; refused if its features are not those of the data."""
    if path is None:
        return None
    from hardmargin import Result

    model = Result.load(path)
    if model.m != dataset.m:
        raise ValueError(
            f"--start {path} has {model.m} features, but the data have {dataset.m}; expected the same number."
        )
    if None not in (model.feature_names, dataset.feature_names) and model.feature_names != dataset.feature_names:
        raise ValueError(
            f"--start {path} was trained on features with other names or in another order than in the data; "
            "expected a model of the same features."
        )
    return model


def _interruptible(progress: Report, signals: HeldSignals, announce: Callable[[float, float, int], None]) -> Report:
    begun = False

    def report(time: float, upper: float, lower: float, nodes: int) -> None:
        nonlocal begun
        if not begun:
            # Not before the search has begun: if it refuses the input, only that one line is printed.
            begun = True
            announce(upper, lower, nodes)
        progress(time, upper, lower, nodes)
        signals.let_through()

    return report


def _hand_over(result: Result, arguments: argparse.Namespace) -> None:
    try:
        if arguments.json is not None:
            write_model(result, arguments.json)
    finally:
        is_scale = arguments.C == SCALE and result.C is not None
        scale = f"\n  C            {result.C:.9g} (scale)" if is_scale else ""
        _tell(result.summary() + scale, arguments)


def _tell(text: str, arguments: argparse.Namespace) -> None:
    """Print a message for the user, on a stream that the model is not written to."""
    if not arguments.quiet:
        print(text, file=sys.stderr if arguments.json == STDOUT else sys.stdout, flush=True)


def _add_problem_arguments(parser: Parser) -> None:
    parser.add_argument(
        "--C",
        type=penalty,
        default=1.0,
        help="penalty of a violated sample (default 1); scale: 10 / (sum of the features' variances)",
    )
    parser.add_argument(
        "--class-weight",
        action="append",
        metavar="LABEL=W",
        help="factor of C for the samples of a label; may be repeated. Or: balanced",
    )
    parser.add_argument(
        "--max-violations",
        action="append",
        metavar="K",
        help="give up samples of a total weight of at most K, at no cost; C is not used. Or LABEL=K, may be "
        "repeated: samples of a label that is not named still cost C each",
    )


def _add_search_arguments(parser: Parser) -> None:
    names = methods.names()
    parser.add_argument("--method", default="auto", choices=names, help=f"{', '.join(names)} (default auto)")
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        type=key_value,
        metavar="KEY=VALUE",
        help="setting of the method; may be repeated. directions: heuristic_effort, memory, first_nodes, "
        "later_effort, slice; auto: those and head_start, first_turn; packing: those and cover_distance; "
        "blocks: heuristic_effort, memory, later_effort, first_size, last_size; heuristic: effort; "
        "indicator: backend, tuned, presolve, heuristic; benders: those and T_S, T_B, subset_size, stratified, "
        "weight_bound, region, sampling_region, subset_bounds, cuts_per_round, cut_use",
    )
    parser.add_argument(
        "--time-limit",
        type=float,
        default=60.0,
        metavar="SECONDS",
        help="time limit (default 60; inf: no limit)",
    )
    parser.add_argument("--node-limit", type=int, metavar="N", help="about how many subproblems; default: no limit")
    parser.add_argument(
        "--stop",
        choices=[STALL],
        help="stall: end when there was no noticeable progress in half of the time, and 2 seconds at least",
    )
    parser.add_argument("--start", metavar="MODEL", help="start from the hyperplane of a model that --json wrote")
    parser.add_argument("--gap", type=float, default=1e-6, help="relative gap to prove (default 1e-6)")
    parser.add_argument("--threads", type=int, default=-1, metavar="N", help="default: all cores")
    parser.add_argument("--seed", type=int, default=0, help="seed of all random choices (default 0)")
    parser.add_argument(
        "--cluster",
        metavar="ADDRESS",
        help="spread the search over the workers of a Dask scheduler (tcp://host:port), or over processes on this "
        "machine (local, local:N)",
    )


def _add_output_arguments(parser: Parser) -> None:
    parser.add_argument("--json", metavar="FILE", help="write the model; '-' means standard output")
    parser.add_argument(
        "--checkpoint",
        metavar="FILE",
        help="keep the state of the search in a file: at intervals, at the time limit, and when it is interrupted",
    )
    parser.add_argument(
        "--checkpoint-interval", type=float, default=30.0, metavar="SECONDS", help="how often (default 30)"
    )
    parser.add_argument(
        "--resume", metavar="FILE", help="continue from a state that --checkpoint wrote; may be the same file"
    )
    add_quiet_argument(parser)
