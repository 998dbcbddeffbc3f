"""Samples for an existing model: the file need not have labels, nor the columns of training in their order."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hardmargin.data.trained import Samples, Trained, load_for, missing_labels

if TYPE_CHECKING:
    from hardmargin import Result


def samples_for(
    model: Result,
    path: str,
    *,
    format: str | None = None,
    label: str | None = None,
    features: Sequence[str] | None = None,
    drop: Sequence[str] | None = None,
) -> Samples:
    """Read a file to be labelled by a model; columns that are ignored are named on standard error.

    Parameters
    ----------
    model : Result
        Says which features are expected, and which column holds the labels.
    path : str
        The file.
    format, label, features, drop
        As in :func:`hardmargin.data.trained.load_for`.

    Returns
    -------
    Samples

    Raises
    ------
    ValueError
        If the file cannot be read or does not have the model's features.
    """
    samples = load_for(_trained(model), path, format=format, label=label, features=features, drop=drop or ())
    if samples.ignored and sys.stderr is not None:
        more = f" and {len(samples.ignored) - 8} more" if len(samples.ignored) > 8 else ""
        ignored = ", ".join(samples.ignored[:8]) + more
        print(f"hardmargin: note: {path}: ignored {ignored}, not known to the model", file=sys.stderr)
    return samples


def labelled_samples_for(model: Result, path: str, **reading: Any) -> Samples:
    """The same for a file that must have labels.

    Raises
    ------
    ValueError
        If it has none, or as :func:`samples_for`.
    """
    samples = samples_for(model, path, **reading)
    if samples.y is None:
        raise ValueError(f"{path}: {missing_labels(_trained(model))}")
    return samples


def reading_arguments(arguments: argparse.Namespace) -> dict[str, Any]:
    """How to read the file, from the arguments of a command."""
    return {name: getattr(arguments, name) for name in ("format", "label", "features", "drop")}


def _trained(model: Result) -> Trained:
    return Trained(model.m, model.feature_names, model.label_column)
