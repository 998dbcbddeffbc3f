"""``hardmargin solve``: train on a file."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from hardmargin import data
from hardmargin.cli.interrupts import while_importing
from hardmargin.cli.key_values import class_weights, penalty, time_limit, violation_limits
from hardmargin.cli.log_file import log_to
from hardmargin.cli.output import STDOUT, check_different, check_target, tell, write_json
from hardmargin.cli.parser import Commands, Parser, add_column_arguments, add_data_arguments, add_quiet_argument
from hardmargin.cli.prior_knowledge import add_prior_knowledge_arguments, prior_knowledge
from hardmargin.cli.resuming import AUTO, solve_resuming, state_to_resume
from hardmargin.cli.search_arguments import (
    add_class_weight_argument,
    add_method_arguments,
    add_place_arguments,
    search_settings,
)
from hardmargin.cli.status import DONE, GAP_TOO_LARGE, INTERRUPTED, STATE_LOST
from hardmargin.cli.training_data import label_place, training_data
from hardmargin.penalty import SCALE
from hardmargin.run_log import LOGGER
from hardmargin.signals import HeldSignals
from hardmargin.status import Status
from hardmargin.stopping import STALL

if TYPE_CHECKING:
    from hardmargin import Result
    from hardmargin.bounds import Report
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
    add_column_arguments(parser)
    _add_problem_arguments(parser)
    _add_search_arguments(parser)
    _add_output_arguments(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Load the data, search, write the model, print the summary."""
    _check_arguments(arguments)
    dataset = training_data(arguments)
    with while_importing():
        # Importing these takes a second, which a command that cannot run should not spend.
        from hardmargin import solve
        from hardmargin.advice import constant_model_text
        from hardmargin.cli.checkpoint_warnings import checkpoint_warnings
        from hardmargin.progress import Progress

    # Before signals are held: this may read a file.
    settings = _settings(arguments, dataset)
    # Until the model is written, Ctrl-C takes effect only where the search reports.
    with log_to(arguments.log), HeldSignals() as signals:
        with (
            Progress(style="quiet" if arguments.quiet else "auto") as progress,
            checkpoint_warnings(progress) as warned,
        ):

            def search(**settings: Any) -> Result:
                announce = _announcement(dataset, arguments, progress, settings["resume"])
                report = _interruptible(progress, signals, announce)
                return solve(dataset.X, dataset.y, arguments.C, report=report, **settings)

            result = solve_resuming(search, arguments.resume, settings)
        result = replace(result, feature_names=dataset.feature_names, label_column=dataset.label_column)
        _hand_over(result, arguments)
    if not arguments.quiet:
        try:
            constant = constant_model_text(dataset.X, dataset.y, result, arguments.time_limit)
            if constant is not None:
                tell(f"note: {constant}", arguments)
        except KeyboardInterrupt:
            # The model is written by now; only the note is missing.
            result = replace(result, status=Status.INTERRUPTED)
    if any(warning.lost for warning in warned):
        # Even after an interruption: a user who stops a search with a checkpoint relies on it.
        return STATE_LOST
    return INTERRUPTED if result.status is Status.INTERRUPTED else _status_of_gap(result, arguments.require_gap)


def _check_arguments(arguments: argparse.Namespace) -> None:
    """Refuse what cannot work before the data are read."""
    written = {flag: getattr(arguments, flag) for flag in ("json", "checkpoint", "log", "proof")}
    for flag, target in written.items():
        if target is not None:
            check_target(target, f"--{flag}", sources=[arguments.data, *filter(None, [arguments.start])])
    if arguments.proof == STDOUT:
        raise ValueError("--proof is '-'; a proof cannot be written to standard output: name a file.")
    resumed = state_to_resume(arguments.resume, arguments.checkpoint)
    check_different({**{f"--{flag}": name for flag, name in written.items()}, "--resume": resumed})
    required = arguments.require_gap
    if required is not None and not arguments.gap <= required <= 1:
        raise ValueError(
            f"--require-gap is {required:g}; expected a number from --gap ({arguments.gap:g}), at which the search "
            "ends, to 1."
        )


def _status_of_gap(result: Result, required: float | None) -> int:
    if required is None or result.gap <= required:
        return DONE
    if sys.stderr is not None:
        print(f"hardmargin: the gap is {result.gap:.3g}; --require-gap is {required:g}", file=sys.stderr)
    return GAP_TOO_LARGE


def _announcement(
    dataset: data.Dataset, arguments: argparse.Namespace, progress: Progress, resumed: str | None
) -> Callable[[float, float, int], None]:
    """What to print when the search begins; it is given the first bounds."""

    def announce(upper: float, lower: float, nodes: int) -> None:
        description = _description(dataset, arguments)
        LOGGER.info("%s", description)
        with progress.paused():
            tell(description, arguments)
            if resumed is not None:
                known = f"objective {upper:.9g}, proven bound {lower:.9g}, {nodes} nodes"
                tell(f"resumed from {resumed}: {known}", arguments)

    return announce


def _description(dataset: data.Dataset, arguments: argparse.Namespace) -> str:
    """What is about to be solved, in one line."""
    classes = " and ".join(repr(label) for label in np.unique(dataset.y)[:3].tolist())
    return (
        f"{arguments.data}: {dataset.format}, {dataset.n} samples x {dataset.m} features, labels {classes} in "
        f"{label_place(dataset)}; {_shown_penalty(arguments)}, "
        f"method {arguments.method}"
    )


def _shown_penalty(arguments: argparse.Namespace) -> str:
    """C, or the limits on violations, or both if only one of the labels has a limit."""
    C = "C = " + (arguments.C if isinstance(arguments.C, str) else f"{arguments.C:g}")
    if not arguments.max_violations:
        return C
    limits = " ".join(arguments.max_violations)
    shown = f"max_violations {limits}"
    return f"{C}, {shown}" if limits.count("=") == 1 else shown


def _settings(arguments: argparse.Namespace, dataset: data.Dataset) -> dict[str, Any]:
    return {
        "class_weight": class_weights(arguments.class_weight, dataset.y),
        "max_violations": violation_limits(arguments.max_violations, dataset.y),
        **search_settings(arguments),
        "resume": state_to_resume(arguments.resume, arguments.checkpoint),
        "checkpoint_interval": arguments.checkpoint_interval,
        "start": _starting_model(arguments.start, dataset),
        **prior_knowledge(arguments, dataset),
        "proof": arguments.proof,
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
            write_json(result, arguments.json)
    finally:
        is_scale = arguments.C == SCALE and result.C is not None
        scale = f"\n  C            {result.C:.9g} (scale)" if is_scale else ""
        tell(result.summary() + scale, arguments)


def _add_problem_arguments(parser: Parser) -> None:
    parser.add_argument(
        "--C",
        type=penalty,
        default=1.0,
        help="penalty of a violated sample (default 1); scale: 10 / (sum of the features' variances)",
    )
    add_class_weight_argument(parser)
    parser.add_argument(
        "--max-violations",
        action="append",
        metavar="K",
        help="give up samples of a total weight of at most K, at no cost; C is not used. Or LABEL=K, may be "
        "repeated: samples of a label that is not named still cost C each",
    )
    add_prior_knowledge_arguments(parser)


def _add_search_arguments(parser: Parser) -> None:
    _add_method_arguments(parser)
    _add_limit_arguments(parser)
    parser.add_argument("--start", metavar="MODEL", help="start from the hyperplane of a model that --json wrote")
    add_place_arguments(parser)


def _add_method_arguments(parser: Parser) -> None:
    add_method_arguments(
        parser,
        "setting of the method; may be repeated. directions: heuristic_effort, memory, first_nodes, "
        "later_effort, slice; auto: those and head_start, first_turn; packing: those and cover_distance; "
        "blocks: heuristic_effort, memory, later_effort, first_size, last_size; heuristic: effort; "
        "indicator: backend, tuned, presolve, heuristic; benders: those and T_S, T_B, subset_size, stratified, "
        "weight_bound, region, sampling_region, subset_bounds, cuts_per_round, cut_use",
    )


def _add_limit_arguments(parser: Parser) -> None:
    parser.add_argument(
        "--time-limit",
        type=time_limit,
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
    parser.add_argument("--gap", type=float, default=1e-6, help="relative gap to prove (default 1e-6)")
    parser.add_argument(
        "--require-gap",
        type=float,
        metavar="GAP",
        help=f"exit with status {GAP_TOO_LARGE} if the relative gap is larger than this in the end",
    )


def _add_output_arguments(parser: Parser) -> None:
    parser.add_argument("--json", metavar="FILE", help="write the model; '-' means standard output")
    _add_state_arguments(parser)
    parser.add_argument(
        "--log", metavar="FILE", help="append time, bounds, gap and nodes as they change; '-' means standard error"
    )
    add_quiet_argument(parser)


def _add_state_arguments(parser: Parser) -> None:
    parser.add_argument(
        "--checkpoint",
        metavar="FILE",
        help="keep the state of the search in a file: at intervals, at the time limit, and when it is interrupted",
    )
    parser.add_argument(
        "--checkpoint-interval", type=float, default=30.0, metavar="SECONDS", help="how often (default 30)"
    )
    parser.add_argument(
        "--resume",
        metavar="FILE",
        help="continue from a state that --checkpoint wrote; may be the same file. "
        f"{AUTO}: from that of --checkpoint if it exists and belongs to this problem",
    )
    parser.add_argument(
        "--proof", metavar="FILE", help="write a proof of the bound, which 'hardmargin verify --proof' checks"
    )
