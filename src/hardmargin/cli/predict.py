"""``hardmargin predict``: label the samples of a file with a model."""

from __future__ import annotations

import argparse
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

import hardmargin
from hardmargin.cli.parser import Commands, add_data_arguments, add_model_argument
from hardmargin.cli.samples import samples_for
from hardmargin.cli.status import DONE
from hardmargin.labels import same_label


def add_to(commands: Commands) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "predict",
        help="label the samples of a file",
        description="Print one label per line. If the file has labels, the accuracy goes to standard error; a "
        "CSV file with as many columns as the model has features has no labels.",
    )
    add_model_argument(parser)
    add_data_arguments(parser, "the samples")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the labels, and the accuracy if it is known."""
    model = hardmargin.Result.load(arguments.model)
    samples, labels = samples_for(model, arguments.data, format=arguments.format, label=arguments.label)
    predicted = model.predict(samples)
    print("\n".join(str(label) for label in predicted.tolist()))
    print(_accuracy(predicted, labels, model.classes), file=sys.stderr)
    return DONE


def _accuracy(predicted: NDArray[Any], labels: NDArray[Any] | None, classes: list[Any]) -> str:
    """The share of rows labelled as in the file, or the reason why it is unknown."""
    if labels is None:
        return "accuracy unknown: there are as many columns as features, so none was taken for labels"
    if not any(same_label(label, known) for label in np.unique(labels).tolist() for known in classes):
        return f"accuracy unknown: no label in the data is one of the model's classes, {classes}"
    pairs = zip(predicted.tolist(), labels.tolist(), strict=True)
    right = sum(same_label(guess, label) for guess, label in pairs)
    return f"accuracy {right / len(labels):.6g} ({right} of {len(labels)})"
