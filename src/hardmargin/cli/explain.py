"""``hardmargin explain``: which samples a model gives up, and what it would cost to keep them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from hardmargin.cli.interrupts import while_importing
from hardmargin.cli.key_values import time_limit
from hardmargin.cli.output import check_target, tell, write_json
from hardmargin.cli.parser import (
    Commands,
    add_column_arguments,
    add_data_arguments,
    add_model_argument,
    add_quiet_argument,
)
from hardmargin.cli.samples import labelled_samples_for, reading_arguments
from hardmargin.cli.status import DONE, INTERRUPTED
from hardmargin.status import Status


def add_to(commands: Commands) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "explain",
        help="which samples are given up, and what it would cost to keep them",
        description="List the samples that a model gives up, with the price of keeping each of them: by how much "
        "the smallest objective rises if it must be kept. Prices are proven intervals, and exact if there is time "
        "enough. The last column says whether every hyperplane that is nearly optimal gives the sample up. Ctrl-C "
        "ends the search early and keeps the intervals.",
    )
    add_model_argument(parser)
    add_data_arguments(parser, "the training data")
    add_column_arguments(parser)
    parser.add_argument("--all", action="store_true", help="list the samples that are kept, too")
    parser.add_argument(
        "--within",
        type=float,
        default=0.01,
        metavar="SHARE",
        help="by which share an objective may be above the optimum to count as nearly optimal (default 0.01)",
    )
    parser.add_argument(
        "--time-limit",
        type=time_limit,
        default=60.0,
        metavar="SECONDS",
        help="time limit for the whole table (default 60; inf: until all prices are exact)",
    )
    parser.add_argument("--threads", type=int, default=-1, metavar="N", help="default: all cores")
    parser.add_argument("--seed", type=int, default=0, help="seed of all random choices (default 0)")
    parser.add_argument("--json", metavar="FILE", help="write the table; '-' means standard output")
    add_quiet_argument(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Load model and data, search, write and print the table."""
    if arguments.json is not None:
        check_target(arguments.json, "--json", sources=[arguments.model, arguments.data])
    with while_importing():
        from hardmargin import Result, outliers

    model = Result.load(arguments.model)
    samples = labelled_samples_for(model, arguments.data, **reading_arguments(arguments))
    assert samples.y is not None
    with _progress(quiet=arguments.quiet) as report:
        table = outliers(
            model,
            samples.X,
            samples.y,
            samples="all" if arguments.all else "given-up",
            within=arguments.within,
            time_limit=arguments.time_limit,
            threads=arguments.threads,
            seed=arguments.seed,
            report=report,
        )
    if arguments.json is not None:
        write_json(table, arguments.json)
    tell(table.summary(), arguments)
    return INTERRUPTED if table.status is Status.INTERRUPTED else DONE


@contextmanager
def _progress(*, quiet: bool) -> Iterator[Callable[[int, int], None] | None]:
    """A bar on a terminal, nothing elsewhere."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("exact prices"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda exact, total: bar.update(task, completed=exact, total=total)
