"""Samples for an existing model: the file need not have labels, nor every feature."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hardmargin import data
from hardmargin.data import LABEL_NAMES

if TYPE_CHECKING:
    from hardmargin import Result
    from hardmargin.arrays import FloatArray, SampleArray


def samples_for(
    model: Result, path: str, *, format: str | None = None, label: str | None = None
) -> tuple[SampleArray, NDArray[Any] | None]:
    """Read a file to be labelled by a model.

    Parameters
    ----------
    model : Result
        Says how many features are expected, and in which order if they have names.
    path : str
        The file. A CSV file with as many columns as the model has features is assumed to have no labels. In a
        LIBSVM file the last features may be missing: features that it does not mention are zero.
    format, label : str, optional
        As in :func:`hardmargin.data.load`.

    Returns
    -------
    samples : ndarray or scipy.sparse.csr_array of shape (n, m)
    labels : ndarray of shape (n,), or None if the file has none

    Raises
    ------
    ValueError
        If the file cannot be read or does not have the model's features.
    """
    dataset = data.load(path, format=format, label=label)
    missing = model.m - dataset.m
    if missing == 0:
        return in_training_order(dataset.X, dataset.feature_names, model.feature_names, path), dataset.y
    if dataset.format == "libsvm" and missing > 0:
        return _widened(dataset.X, model.m), dataset.y
    if dataset.format == "csv" and missing == 1 and label is None and dataset.y.dtype.kind in "if":
        table, names = _unlabelled_table(path)
        if not any(name.lower() in LABEL_NAMES for name in names or []):
            return in_training_order(table, names, model.feature_names, path), None
    raise ValueError(
        f"{path} has {dataset.m} features (and a label) but the model has {model.m}; "
        "expected the same features as in training."
    )


def _widened(samples: SampleArray, m: int) -> SampleArray:
    """The samples with zeros in the last of m columns."""
    if isinstance(samples, np.ndarray):
        return np.pad(samples, ((0, 0), (0, m - samples.shape[1])))
    return type(samples)((samples.data, samples.indices, samples.indptr), shape=(samples.shape[0], m))


def in_training_order(
    samples: SampleArray, names: list[str] | None, trained: list[str] | None, path: str
) -> SampleArray:
    """The columns of the samples in the order that the model was trained on, if both have names.

    Parameters
    ----------
    samples : ndarray of shape (n, m)
    names, trained : list of str or None
        The names of the columns, and those of the model's features.
    path : str
        The file that the samples come from, for the message.

    Raises
    ------
    ValueError
        If the names are not the same, or if duplicate names leave the order open.

    Examples
    --------
    >>> import numpy as np
    >>> in_training_order(np.array([[1.0, 2.0]]), ["age", "length"], ["length", "age"], "new.csv").tolist()
    [[2.0, 1.0]]
    """
    if names is None or trained is None or names == trained:
        return samples
    if set(names) != set(trained):
        raise ValueError(
            f"{path} has the features {_listed(names)} but the model was trained on {_listed(trained)}; expected "
            "the same names in any order. If another column holds the labels, name it with --label."
        )
    if len(set(trained)) < len(trained):
        raise ValueError(
            f"{path} has its features in another order than the model, and some share a name; "
            f"expected the order of training, {_listed(trained)}."
        )
    ordered: FloatArray = samples[:, [names.index(name) for name in trained]]
    return ordered


def _listed(names: list[str]) -> str:
    return ", ".join(names[:12]) + (f", ... ({len(names) - 12} more)" if len(names) > 12 else "")


def _unlabelled_table(path: str) -> tuple[FloatArray, list[str] | None]:
    """All columns of a CSV file as features, and their names.

    ``load`` always reserves one column for the labels; loading twice, with different ones, gives all columns.
    """
    first = data.load(path, format="csv", label=0)
    last = data.load(path, format="csv", label=-1)
    table = np.column_stack([last.X, first.X[:, -1]])
    if first.feature_names is None or last.feature_names is None:
        return table, None
    return table, [*last.feature_names, first.feature_names[-1]]
