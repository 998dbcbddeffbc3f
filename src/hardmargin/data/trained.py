"""Reads samples for an existing model: columns are found as in training, labels may be missing."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hardmargin.arrays import SampleArray
from hardmargin.data import delimited
from hardmargin.data.columns import (
    LABEL_NAMES,
    ColumnName,
    Columns,
    Header,
    NoSuchColumnError,
    default_label,
    describe_column,
    listed,
    only,
)
from hardmargin.data.files import read_labelled, selected, validate_format
from hardmargin.data.sniff import recognise
from hardmargin.data.source import read_source, shown


@dataclass(frozen=True)
class Trained:
    """What a model knows about the columns that it was trained on.

    Attributes
    ----------
    m : int
        Number of features.
    names : list of str or None
        Their names, in the order of the weights.
    label_column : str, int or None
        The label column's name, or its position if it has none; None if it is not known.
    """

    m: int
    names: list[str] | None = None
    label_column: ColumnName | None = None


@dataclass(frozen=True)
class Samples:
    """Samples whose features are those of a model, in its order.

    Attributes
    ----------
    X : ndarray or scipy.sparse.csr_array of shape (n, m)
    y : ndarray of shape (n,) or None
        The labels, if the file has them.
    ignored : list of str
        Descriptions of the columns that the model does not know.
    by_name : bool
        Whether the features were found by their names.
    """

    X: SampleArray
    y: NDArray[Any] | None
    ignored: list[str]
    by_name: bool = False


def load_for(
    trained: Trained,
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    label: ColumnName | None = None,
    features: Sequence[ColumnName] | None = None,
    drop: Sequence[ColumnName] = (),
) -> Samples:
    """Read samples for a model.

    Parameters
    ----------
    trained : Trained
        The columns of the model. If both the model and the file have names, columns are found by name: their order
        does not matter, and columns of other names are ignored. Otherwise the file must have the model's features
        in their order, with or without a column of labels.
    path : str or path-like
    format : str, optional
    label : str or int, optional
        The label column; by default that of training.
    features, drop : sequence of str or int, optional
        The columns to look at, as in :func:`hardmargin.data.load`; needed if the model was trained on some columns
        of a file without names.

    Returns
    -------
    Samples

    Raises
    ------
    DataError
        If the file cannot be read or does not have the model's features.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "new.csv")
    ...     _ = file.write_text("name,width,length\\nAnn,1.5,20\\nBob,2.5,30\\n")
    ...     samples = load_for(Trained(2, ["length", "width"], "class"), file)
    >>> samples.X.tolist(), samples.y, samples.ignored
    ([[20.0, 1.5], [30.0, 2.5]], None, ["column 'name'"])
    """
    if format is not None:
        validate_format(format)
    source = read_source(path)
    # A single column without labels looks like no format at all.
    delimiter = "," if trained.m == 1 and format in (None, "csv") and delimited.is_one_column(source) else None
    chosen = format or ("csv" if delimiter else recognise(source))
    if chosen == "csv":
        table = delimited.read_table(source, _ModelColumns(trained, label, features, drop), delimiter)
        header = table.columns.header
        ignored = [header.describe(column) for column in table.columns.ignored]
        return Samples(table.X, table.y, ignored, None not in (header.names, trained.names))
    dataset = selected(read_labelled(source, chosen, label), source, features, drop)
    if dataset.m == trained.m:
        return Samples(dataset.X, dataset.y, [])
    if chosen == "libsvm":
        return _of_width(dataset.X, dataset.y, trained.m)
    raise source.error(f"found {dataset.m} features; expected {_of_training(trained)}.")


def _of_width(samples: SampleArray, labels: NDArray[Any], m: int) -> Samples:
    """The samples with m columns: in LIBSVM files features have numbers, and those that are not named are zero."""
    width = samples.shape[1]
    if width > m:
        last = f" to {width}" if width > m + 1 else ""
        return Samples(samples[:, :m], labels, [f"feature {m + 1}{last}"])
    if isinstance(samples, np.ndarray):
        return Samples(np.pad(samples, ((0, 0), (0, m - width))), labels, [])
    wider = type(samples)((samples.data, samples.indices, samples.indptr), shape=(samples.shape[0], m))
    return Samples(wider, labels, [])


def _of_training(trained: Trained) -> str:
    selection = "; if the model was trained with --features or --drop, use the same here"
    return f"{trained.m}, as in training{selection}"


@dataclass(frozen=True)
class _ModelColumns:
    """The columns that a model needs."""

    trained: Trained
    label: ColumnName | None
    features: Sequence[ColumnName] | None
    drop: Sequence[ColumnName]
    may_drop: ClassVar[bool] = False

    def is_header(self, first: list[str]) -> bool:
        """Whether a row has the names of all features."""
        return self.trained.names is not None and set(self.trained.names) <= set(first)

    def columns(self, header: Header) -> Columns:
        """Find the columns by name if possible, else by position."""
        dropped = header.positions(self.drop, "drop")
        wanted = range(header.count) if self.features is None else header.positions(self.features, "features")
        visible = [column for column in wanted if column not in dropped]
        given = None if self.label is None else header.position(self.label)
        if given is not None and given not in visible:
            visible.append(given)
        if header.names is not None and self.trained.names is not None:
            return self._by_name(header, header.names, visible, given)
        return self._by_position(header, visible, given)

    def _by_name(self, header: Header, names: list[str], visible: list[int], given: int | None) -> Columns:
        trained = self.trained.names or []
        label = self._label_by_name(header, names, visible) if given is None else given
        others = [column for column in visible if column != label]
        found = [names[column] for column in others]
        missing = [name for name in trained if name not in found]
        if missing:
            columns = "columns" if len(missing) > 1 else "column"
            raise NoSuchColumnError(
                f"{columns} {listed(missing)} missing; expected every feature of the model, {listed(trained)}."
            )
        if found == trained:
            return Columns(header, label, others, [])
        if any(found.count(name) > 1 for name in trained):
            raise NoSuchColumnError(
                f"the features are in another order than in training, and some share a name; expected the order "
                f"of training, {listed(trained)}."
            )
        features = [others[found.index(name)] for name in trained]
        return Columns(header, label, features, [column for column in others if column not in features])

    def _label_by_name(self, header: Header, names: list[str], visible: list[int]) -> int | None:
        """The label column of training, if it is there; for models that do not know it, the usual one."""
        known = self.trained.label_column
        if isinstance(known, str):
            return only(names, known) if known in [names[column] for column in visible] else None
        left = [column for column in visible if names[column] not in (self.trained.names or [])]
        if known is not None:
            return known if known in left else None
        return default_label(header, left) if left else None

    def _by_position(self, header: Header, visible: list[int], given: int | None) -> Columns:
        m = self.trained.m
        label = given
        if given is None and len(visible) == m + 1:
            known = self.trained.label_column
            label = known if isinstance(known, int) and known in visible else default_label(header, visible)
        features = [column for column in visible if column != label]
        named = [name for name in header.names or [] if name.lower() in LABEL_NAMES]
        if len(features) != m or (label is None and named):
            columns = "column" if len(visible) == 1 else "columns"
            labels = f", {shown(named[0])} among them" if named else ""
            raise NoSuchColumnError(
                f"found {len(visible)} {columns}{labels}; expected {m} features, with or without one column of "
                "labels; if the model was trained with --features or --drop, use the same here."
            )
        return Columns(header, label, features, [])


def missing_labels(trained: Trained) -> str:
    """What to tell the user if a file needs labels and has none."""
    known = trained.label_column
    place = (
        "a column of labels" if known is None else f"{describe_column(known)}, which held the labels in training"
    )
    return f"no labels; expected {place}. If another column holds them, name it with --label."
