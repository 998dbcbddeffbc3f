"""Labelled samples from data files, and the error for files that cannot be used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from hardmargin.arrays import SampleArray

#: More values than this (0.8 GB as float64) are refused, whether a file contains them or only declares them.
MAX_CELLS = 10**8


class DataError(ValueError):
    """A file whose content cannot be used; the message names the file, the line and what was expected."""


@dataclass(frozen=True, eq=False)
class Dataset:
    """Labelled samples.

    Attributes
    ----------
    X : ndarray or scipy.sparse.csr_array of shape (n, m)
        Samples, float64, every value finite. Those of a LIBSVM file are sparse if a dense array would be much
        larger.
    y : ndarray of shape (n,)
        Labels: int64 if all are integers, float64 if all are finite numbers, otherwise strings.
    feature_names : list of str or None
        The names of the columns of X, if the file has a header.
    format : str
        Where the samples come from: "brooks", "libsvm", "csv" or "generated".
    label_column : str, int or None
        The name of the label column of a CSV file, or its position from 0 if it has no name of its own.
    feature_columns : list of str and int, or None
        The same for the columns of X.

    Raises
    ------
    ValueError
        If the shapes do not match.

    Examples
    --------
    >>> from hardmargin.data import generate
    >>> dataset = generate("A", n=60, d=2)
    >>> dataset.n, dataset.m, dataset.format
    (60, 2, 'generated')
    """

    X: SampleArray
    y: NDArray[Any]
    feature_names: list[str] | None = None
    format: str = "generated"
    label_column: str | int | None = None
    feature_columns: list[str | int] | None = None

    def __post_init__(self) -> None:
        if self.X.ndim != 2 or self.y.shape != self.X.shape[:1]:
            raise ValueError(
                f"X has shape {self.X.shape} and y {self.y.shape}; "
                "expected a row of X and a label for every sample."
            )
        if self.feature_names is not None and len(self.feature_names) != self.m:
            raise ValueError(
                f"there are {len(self.feature_names)} feature names; expected {self.m}, one per column of X."
            )

    @property
    def n(self) -> int:
        """Number of samples."""
        return int(self.X.shape[0])

    @property
    def m(self) -> int:
        """Number of features."""
        return int(self.X.shape[1])
