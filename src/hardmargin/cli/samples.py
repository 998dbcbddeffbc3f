"""Samples for a model that exists already: the file need not have labels, nor every feature."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hardmargin import data
from hardmargin.data import LABEL_NAMES

if TYPE_CHECKING:
    from hardmargin import Result
    from hardmargin.validation import FloatArray


def samples_for(
    model: Result, path: str, *, format: str | None = None, label: str | None = None
) -> tuple[FloatArray, NDArray[Any] | None]:
    """Read a file to be labelled by a model.

    Parameters
    ----------
    model : Result
        Says how many features are expected.
    path : str
        The file. A CSV file with as many columns as there are features is taken to have no labels. In a
        LIBSVM file the last features may be missing: they are zero wherever it does not mention them.
    format, label : str, optional
        As in :func:`hardmargin.data.load`.

    Returns
    -------
    samples : ndarray of shape (n, m)
    labels : ndarray of shape (n,), or None if the file has none

    Raises
    ------
    ValueError
        If the file cannot be read or does not have the model's features.
    """
    dataset = data.load(path, format=format, label=label)
    missing = model.m - dataset.m
    if missing == 0:
        return dataset.X, dataset.y
    if dataset.format == "libsvm" and missing > 0:
        return np.pad(dataset.X, ((0, 0), (0, missing))), dataset.y
    if dataset.format == "csv" and missing == 1 and label is None and dataset.y.dtype.kind in "if":
        table = _unlabelled_table(path)
        if table is not None:
            return table, None
    raise ValueError(
        f"{path} has {dataset.m} features (and a label) but the model has {model.m}; "
        "expected the same features as in training."
    )


def _unlabelled_table(path: str) -> FloatArray | None:
    """All columns of a CSV file as features, or None if the header says that one of them holds labels.

    ``load`` always sets one column apart for the labels; twice, with another one each time, gives all.
    """
    first = data.load(path, format="csv", label=0)
    last = data.load(path, format="csv", label=-1)
    names = [*(last.feature_names or []), *(first.feature_names or [])[-1:]]
    if any(name.lower() in LABEL_NAMES for name in names):
        return None
    return np.column_stack([last.X, first.X[:, -1]])
