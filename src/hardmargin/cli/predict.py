"""``hardmargin predict``: label the samples of a file with a model."""

from __future__ import annotations

import argparse
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

import hardmargin
from hardmargin.atomic import replace_text
from hardmargin.cli.output import STDOUT, check_target
from hardmargin.cli.parser import Commands, add_column_arguments, add_data_arguments, add_model_argument
from hardmargin.cli.samples import reading_arguments, samples_for
from hardmargin.cli.status import DONE
from hardmargin.labels import same_label


def add_to(commands: Commands) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "predict",
        help="label the samples of a file",
        description="Print one label per line. The file need not have labels; if it has, the accuracy goes to "
        "standard error. If the file and the model have names of columns, these are used: in any order, and "
        "columns that the model does not know are ignored.",
    )
    add_model_argument(parser)
    add_data_arguments(parser, "the samples")
    add_column_arguments(parser)
    parser.add_argument("--output", metavar="FILE", default=STDOUT, help="write the labels to a file")
    parser.add_argument(
        "--decision",
        action="store_true",
        help="also the decision value w.x + b, after a tab; it is positive on the side of the second class",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Write the labels, and tell the accuracy if it is known."""
    check_target(arguments.output, "--output", sources=[arguments.model, arguments.data])
    model = hardmargin.Result.load(arguments.model)
    samples = samples_for(model, arguments.data, **reading_arguments(arguments))
    predicted = model.predict(samples.X)
    lines = [str(label) for label in predicted.tolist()]
    if arguments.decision:
        values = model.decision_function(samples.X).tolist()
        lines = [f"{line}\t{value!r}" for line, value in zip(lines, values, strict=True)]
    text = "\n".join(lines) + "\n"
    if arguments.output == STDOUT:
        print(text, end="")
    else:
        replace_text(arguments.output, text)
    print(_accuracy(predicted, samples.y, model.classes), file=sys.stderr)
    return DONE


def _accuracy(predicted: NDArray[Any], labels: NDArray[Any] | None, classes: list[Any]) -> str:
    """The share of rows labelled as in the file, or the reason why it is unknown."""
    if labels is None:
        return "accuracy unknown: the file has no labels"
    if not any(same_label(label, known) for label in np.unique(labels).tolist() for known in classes):
        return f"accuracy unknown: no label in the data is one of the model's classes, {classes}"
    pairs = zip(predicted.tolist(), labels.tolist(), strict=True)
    right = sum(same_label(guess, label) for guess, label in pairs)
    return f"accuracy {right / len(labels):.6g} ({right} of {len(labels)})"
