"""Training data for a command: read, and checked for columns that are probably not what was meant."""

from __future__ import annotations

import argparse
import sys

import numpy as np

from hardmargin import data
from hardmargin.data.columns import describe_column
from hardmargin.data.text_columns import option_value

# Fewer rows may be numbered by chance.
_FEWEST_NUMBERED = 10


def training_data(arguments: argparse.Namespace) -> data.Dataset:
    """Read the data that the arguments name, and warn about columns that number the rows.

    Raises
    ------
    ValueError
        If they cannot be used.
    """
    dataset = data.load(
        arguments.data,
        format=arguments.format,
        label=arguments.label,
        features=arguments.features,
        drop=arguments.drop or (),
    )
    _check_label_column(dataset, arguments.data)
    # Whoever names the features means them.
    numbered = [] if arguments.features or arguments.quiet else _row_numbers(dataset)
    if numbered and sys.stderr is not None:
        names = ", ".join(map(describe_column, numbered))
        number, it = ("numbers", "it") if len(numbered) == 1 else ("number", "them")
        print(
            f"hardmargin: warning: {names} {number} the rows and would be used like a measurement; leave {it} out "
            f"with --drop {option_value([str(column) for column in numbered])}.",
            file=sys.stderr,
        )
    return dataset


def label_place(dataset: data.Dataset) -> str:
    """Where the labels are, in words."""
    return "the first column" if dataset.label_column is None else describe_column(dataset.label_column)


def _check_label_column(dataset: data.Dataset, path: str) -> None:
    """Refuse a label column with many values and name it: it is probably not the intended one."""
    classes = np.unique(dataset.y)
    if dataset.label_column is not None and len(classes) > 2:
        raise ValueError(
            f"{path}: {label_place(dataset)} was taken for the labels and has {len(classes)} classes "
            f"({', '.join(repr(label) for label in classes[:3].tolist())}, ...); expected two. "
            "If another column holds the labels, name it with --label."
        )


def _row_numbers(dataset: data.Dataset) -> list[str | int]:
    """The columns of a table whose values are consecutive whole numbers, each once, in any order."""
    if dataset.feature_columns is None or dataset.n < _FEWEST_NUMBERED:
        return []
    X = np.asarray(dataset.X)
    spread = X.max(axis=0) - X.min(axis=0)
    candidates = np.flatnonzero(spread == dataset.n - 1)
    return [dataset.feature_columns[j] for j in candidates if _is_numbering(X[:, j])]


def _is_numbering(values: np.ndarray) -> bool:
    return bool((np.diff(np.sort(values)) == 1).all() and float(values[0]).is_integer())
