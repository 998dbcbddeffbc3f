"""``hardmargin verify``: recompute a model's claims from the data."""

from __future__ import annotations

import argparse
import os
import sys

import hardmargin
from hardmargin import model_json
from hardmargin.cli.parser import Commands, add_column_arguments, add_data_arguments, add_model_argument
from hardmargin.cli.samples import labelled_samples_for, reading_arguments
from hardmargin.cli.status import CLAIM_FAILED, DONE
from hardmargin.cores import useful_threads


def add_to(commands: Commands) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "verify",
        help="check a model against its training data",
        description="Recompute objective, violations, margins and gap of a model from the data that it was "
        "trained on, and check that its other claims do not contradict each other. The lower bound is compared "
        "with the objective but not proven again, unless a proof is given. What is not checked is named. The exit "
        "status is 1 if a claim or the proof does not hold.",
    )
    add_model_argument(parser)
    add_data_arguments(parser, "the training data")
    add_column_arguments(parser)
    parser.add_argument("--proof", metavar="FILE", help="also check a proof that 'hardmargin solve --proof' wrote")
    parser.add_argument("--threads", type=int, default=-1, metavar="N", help="default: all cores")
    parser.set_defaults(run=run)


# Smaller proofs, in bytes, are checked before other processes have started.
_SMALL = 1 << 20


def _processes(arguments: argparse.Namespace) -> int:
    """How many processes check the proof."""
    if arguments.threads < 1 and arguments.threads != -1:
        raise ValueError(f"--threads is {arguments.threads}; expected a whole number >= 1, or -1 for all cores.")
    small = arguments.proof is None or os.path.getsize(arguments.proof) < _SMALL
    return 1 if small else useful_threads(arguments.threads)


def _progress(checked: int) -> None:
    print(f"\rproof: {checked / 1e6:.1f} MB checked ", end="", file=sys.stderr, flush=True)


def run(arguments: argparse.Namespace) -> int:
    """Print one line per claim."""
    claims = model_json.read_values(arguments.model)
    model = hardmargin.Result.from_dict(claims)
    samples = labelled_samples_for(model, arguments.data, **reading_arguments(arguments))
    assert samples.y is not None
    # By now the columns are in the order of training.
    names = model.feature_names if samples.by_name else None
    verification = hardmargin.verify(
        claims,
        samples.X,
        samples.y,
        feature_names=names,
        proof=arguments.proof,
        processes=_processes(arguments),
        progress=_progress if sys.stderr is not None and sys.stderr.isatty() else None,
    )
    print(verification.summary())
    return DONE if verification else CLAIM_FAILED
