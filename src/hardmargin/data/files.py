"""Reading a Dataset from a file, and writing it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardmargin.arrays import SampleArray
from hardmargin.data import brooks, delimited, libsvm
from hardmargin.data.columns import LABEL_NAMES, Header, NoSuchColumnError, TrainingColumns
from hardmargin.data.dataset import Dataset
from hardmargin.data.sniff import recognise
from hardmargin.data.source import Source, decoded, read_source

#: The names of the formats.
FORMATS = ("brooks", "libsvm", "csv")

_WRITERS = {"brooks": brooks.write, "libsvm": libsvm.write, "csv": delimited.write}


def load(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    label: str | int | None = None,
    features: Sequence[str | int] | None = None,
    drop: Sequence[str | int] = (),
) -> Dataset:
    """Read labelled samples from a file.

    Parameters
    ----------
    path : str or path-like
        A text file in UTF-8, gzip-compressed or not.
    format : "brooks", "libsvm" or "csv", optional
        The file's format; by default it is recognised from the content. "csv" means tables separated by commas,
        tabs or semicolons.
    label : str or int, optional
        Only for CSV: the label column, by name or by position (counted from 0 or, if negative, from the end). A
        string that is a whole number is a position unless a column has exactly that name. By default the column
        that the header calls label, class, target or y; if there is none, the last one.
    features : sequence of str or int, optional
        The columns to use as features, in this order; by default all but the label column. In a Brooks or LIBSVM
        file the label is column 0, so that feature 3 is column 3.
    drop : sequence of str or int
        Columns to leave out. They may hold text.

    Returns
    -------
    Dataset

    Raises
    ------
    DataError
        If the content cannot be used; the message gives file, line, what was found and what was expected.
    FileNotFoundError
        If there is no such file.
    ValueError, TypeError
        If ``format`` is not one of :data:`FORMATS`, or a column is neither a string nor an integer.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "flowers.csv")
    ...     _ = file.write_text("length,width,class\\n5.1,3.5,setosa\\n6.2,2.9,virginica\\n")
    ...     dataset = load(file)
    >>> dataset.X.tolist(), dataset.y.tolist()
    ([[5.1, 3.5], [6.2, 2.9]], ['setosa', 'virginica'])
    >>> dataset.feature_names, dataset.format
    (['length', 'width'], 'csv')
    """
    if format is not None:
        validate_format(format)
    for option, columns in {"label": [label], "features": features, "drop": drop}.items():
        for column in columns or ():
            if column is not None and (isinstance(column, bool) or not isinstance(column, (str, int))):
                raise TypeError(f"{option} is {column!r}; expected the name or the position of a column.")
    return _parsed(read_source(path), format, label, features, drop)


def save(dataset: Dataset, path: str | os.PathLike[str], format: str) -> None:
    """Write labelled samples so that :func:`load` gives back the same values, bit for bit.

    Parameters
    ----------
    dataset : Dataset
        The samples. Brooks and LIBSVM files cannot hold feature names, so these are left out.
    path : str or path-like
        The file, which is overwritten.
    format : "brooks", "libsvm" or "csv"
        Its format. Labels that are not numbers need "csv".

    Raises
    ------
    ValueError
        If the samples cannot be read back unchanged from that format; nothing is written then.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from hardmargin.data import generate
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "instance")
    ...     save(generate("A", n=60, d=2), file, "brooks")
    ...     print(file.read_text().split()[:2], load(file).format)
    ['60', '2'] brooks
    """
    # Bytes, because text mode would translate line ends, which may be part of a label.
    Path(path).write_bytes(dumps(dataset, format).encode("utf-8"))


def dumps(dataset: Dataset, format: str) -> str:
    """The text that :func:`save` writes.

    Parameters
    ----------
    dataset : Dataset
        The samples.
    format : "brooks", "libsvm" or "csv"
        The format.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        If the samples cannot be read back unchanged from that format.

    Examples
    --------
    >>> import numpy as np
    >>> print(dumps(Dataset(np.array([[0.0, 2.5], [1.0, 0.0]]), np.array([1, -1])), "libsvm"))
    1 2:2.5
    -1 1:1.0
    <BLANKLINE>
    """
    validate_format(format)
    if format != "libsvm" and not isinstance(dataset.X, np.ndarray):
        raise ValueError(
            f"the samples cannot be written in {format} format: they are sparse, and only LIBSVM files are."
        )
    try:
        text = _WRITERS[format](dataset)
        _check_survival(dataset, text.encode("utf-8"), format)
    except ValueError as problem:
        raise ValueError(f"the samples cannot be written in {format} format: {problem}") from None
    return text


def read_labelled(source: Source, format: str, label: str | int | None) -> Dataset:
    """Read a file in a format whose labels come first: Brooks or LIBSVM."""
    if label is not None:
        raise source.error(
            f"label = {label!r} is given for a file in {format} format; expected no label column, "
            "because there the label is always first."
        )
    return brooks.read(source) if format == "brooks" else libsvm.read(source)


def _parsed(
    source: Source,
    format: str | None,
    label: str | int | None = None,
    features: Sequence[str | int] | None = None,
    drop: Sequence[str | int] = (),
) -> Dataset:
    chosen = format or recognise(source)
    if chosen == "csv":
        return delimited.read(source, label, features, drop)
    return selected(read_labelled(source, chosen, label), source, features, drop)


def selected(
    dataset: Dataset, source: Source, features: Sequence[str | int] | None, drop: Sequence[str | int]
) -> Dataset:
    """The samples of a file in Brooks or LIBSVM format with some of their features; the label is column 0."""
    if features is None and not drop:
        return dataset
    try:
        chosen = TrainingColumns(0, features, drop).columns(Header(1, dataset.m + 1, None)).features
    except NoSuchColumnError as problem:
        raise source.error(str(problem)) from None
    return replace(dataset, X=dataset.X[:, [column - 1 for column in chosen]])


def _check_survival(dataset: Dataset, content: bytes, format: str) -> None:
    """Read back what is about to be written, so that no rule of a format can be forgotten."""
    source = decoded(content, "what would be written")
    found = _parsed(source, format)
    if recognise(source) != format:
        raise ValueError(f"they would be taken for {recognise(source)}.")
    if not _same_bits(found.X, dataset.X):
        raise ValueError("X would be read back changed.")
    if _comparable(found.y) != _comparable(dataset.y):
        raise ValueError(
            f"y ({dataset.y.dtype}, first {dataset.y[:1].tolist()}) would be read back as {found.y.dtype}, "
            f"first {found.y[:1].tolist()}; expected integers, floats, or words without blanks around them."
        )
    if format == "csv" and found.feature_names != dataset.feature_names:
        raise ValueError(
            f"the feature names {dataset.feature_names} would be read back as {found.feature_names}; "
            f"expected words without blanks around them, none of them {LABEL_NAMES[0]!r}."
        )


def _same_bits(found: SampleArray, given: SampleArray) -> bool:
    """Whether samples are the same to the last bit, also the sign of zeros; either may be sparse."""
    if isinstance(found, np.ndarray) and isinstance(given, np.ndarray):
        return found.tobytes() == np.asarray(given, dtype=np.float64).tobytes()
    if found.shape != given.shape:
        return False
    from scipy.sparse import csr_array

    difference = csr_array(found) != csr_array(given)
    return bool(difference.nnz == 0)


def _comparable(y: NDArray[Any]) -> list[tuple[type, str]]:
    return [(type(value), repr(value)) for value in y.tolist()]


def validate_format(format: Any) -> None:
    """Refuse what is not the name of a format."""
    if format not in FORMATS:
        raise ValueError(f"format is {format!r}; expected one of {', '.join(FORMATS)}.")
