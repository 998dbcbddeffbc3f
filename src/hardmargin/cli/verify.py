"""``hardmargin verify``: recompute a model's claims from the data."""

from __future__ import annotations

import argparse

import hardmargin
from hardmargin import model_json
from hardmargin.cli.parser import Commands, add_column_arguments, add_data_arguments, add_model_argument
from hardmargin.cli.samples import labelled_samples_for, reading_arguments
from hardmargin.cli.status import CLAIM_FAILED, DONE


def add_to(commands: Commands) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "verify",
        help="check a model against its training data",
        description="Recompute objective, violations, margins and gap of a model from the data that it was "
        "trained on, and check that its other claims do not contradict each other. The lower bound is compared "
        "with the objective but not proven again. What is not checked is named. The exit status is 1 if a claim "
        "does not hold.",
    )
    add_model_argument(parser)
    add_data_arguments(parser, "the training data")
    add_column_arguments(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print one line per claim."""
    claims = model_json.read_values(arguments.model)
    model = hardmargin.Result.from_dict(claims)
    samples = labelled_samples_for(model, arguments.data, **reading_arguments(arguments))
    assert samples.y is not None
    # By now the columns are in the order of training.
    names = model.feature_names if samples.by_name else None
    verification = hardmargin.verify(claims, samples.X, samples.y, feature_names=names)
    print(verification.summary())
    return DONE if verification else CLAIM_FAILED
