"""The sparse format of LIBSVM and SVMlight: ``label index:value ...`` with ascending indices from 1.

A ``#`` begins a comment, and ``qid:`` is ignored. Features that a line does not name are zero. The result is dense
unless a sparse matrix is much smaller.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardmargin.arrays import SampleArray, is_worth_making_dense
from hardmargin.data.dataset import MAX_CELLS, Dataset
from hardmargin.data.source import Source, shown
from hardmargin.data.values import labels_from, numeric_label, refused_number
from hardmargin.numerals import plain_float

_MOST_DIGITS = len(str(MAX_CELLS))


def read(source: Source) -> Dataset:
    """Read samples in LIBSVM format.

    Parameters
    ----------
    source : Source
        The file's text.

    Returns
    -------
    Dataset
        The number of features is the largest index.

    Raises
    ------
    DataError
        If a line is not a sample, or there would be too many values.
    """
    labels: list[str] = []
    entries = _Entries(source)
    for line, text in source.lines():
        words = text.partition("#")[0].split()
        if words:
            labels.append(numeric_label(source, line, words[0]))
            entries.add_row(line, words[1:])
    if not labels:
        raise source.error("only comments; expected one line per sample: label index:value ...")
    if entries.features == 0:
        raise source.error("no line has a feature; expected label index:value ...")
    return Dataset(entries.samples(), labels_from(labels), None, "libsvm")


def write(dataset: Dataset) -> str:
    """Write samples in LIBSVM format, without zeros; it cannot hold feature names.

    Parameters
    ----------
    dataset : Dataset
        Samples whose labels are numbers.

    Returns
    -------
    str
        The file's text.
    """
    lines = []
    for label, (columns, values) in zip(dataset.y.tolist(), _written(dataset), strict=True):
        pairs = zip(columns.tolist(), values.tolist(), strict=True)
        lines.append(" ".join([str(label), *(f"{column + 1}:{value!r}" for column, value in pairs)]))
    return "\n".join([*lines, ""])


def _written(dataset: Dataset) -> Iterator[tuple[NDArray[Any], NDArray[np.float64]]]:
    """The columns and the values that are written, for each row."""
    X: Any = dataset.X
    dense = isinstance(X, np.ndarray)
    last = dataset.m - 1
    # A reader learns the number of features only from the largest index.
    lacks_last = dataset.n and dataset.m and not _is_written(X[:, -1] if dense else X[:, [last]].data).any()
    for row in range(dataset.n):
        if dense:
            columns = np.arange(dataset.m)
            values = X[row]
        else:
            stored = slice(X.indptr[row], X.indptr[row + 1])
            columns, values = X.indices[stored], X.data[stored]
        written = _is_written(values)
        columns, values = columns[written], values[written]
        if row == 0 and lacks_last:
            columns, values = np.append(columns, last), np.append(values, 0.0)
        yield columns, values


def _is_written(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    # A negative zero is written, so that reading gives back the same bits.
    written: NDArray[np.bool_] = (values != 0) | np.signbit(values)
    return written


class _Entries:
    """The values that the lines name, collected before the number of columns is known."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._columns = array("q")
        self._values = array("d")
        self._row_lengths = array("q")
        self._widest_line = 0
        self.features = 0

    def add_row(self, line: int, pairs: list[str]) -> None:
        """Add the ``index:value`` pairs of one line."""
        before, previous = len(self._columns), 0
        for pair in pairs:
            name, colon, value = pair.partition(":")
            if name == "qid" and colon:
                continue
            index = self._index(line, pair, name, colon)
            if index <= previous:
                raise self._source.error(
                    f"index {index} follows index {previous}; expected ascending indices.", line
                )
            if len(self._columns) >= MAX_CELLS:
                raise self._source.error(f"more than {MAX_CELLS} values; expected at most that many.", line)
            self._columns.append(index - 1)
            self._values.append(self._value(line, index, value))
            previous = index
        if previous > self.features:
            self.features, self._widest_line = previous, line
        self._row_lengths.append(len(self._columns) - before)

    def samples(self) -> SampleArray:
        """The matrix, zero where no line names a value; sparse if a dense array would be much larger."""
        rows = len(self._row_lengths)
        columns, values = np.frombuffer(self._columns, np.int64), np.frombuffer(self._values, np.float64)
        ends = np.cumsum(np.array(self._row_lengths, dtype=np.int64))
        stored = columns.nbytes + values.nbytes + ends.nbytes
        if rows * self.features <= MAX_CELLS and is_worth_making_dense(rows, self.features, stored):
            X = np.zeros((rows, self.features))
            X[np.repeat(np.arange(rows), np.diff(ends, prepend=0)), columns] = values
            return X
        if rows * self.features > MAX_CELLS and self.features > len(values):
            raise self._source.error(
                f"index {self.features} makes {rows} x {self.features} values; expected at most {MAX_CELLS}, "
                f"or no more features than the {len(values)} values that the file has.",
                self._widest_line,
            )
        from scipy.sparse import csr_array

        return csr_array((values, columns, np.append(0, ends)), shape=(rows, self.features))

    def _index(self, line: int, pair: str, name: str, colon: str) -> int:
        if not (colon and name.isascii() and name.isdigit()):
            raise self._source.error(f"found {shown(pair)}; expected index:value.", line)
        # int() does not accept thousands of digits, and such a long index is refused in any case.
        index = int(name) if len(name) <= _MOST_DIGITS else 0
        if not 1 <= index <= MAX_CELLS:
            raise self._source.error(f"found index {shown(name)}; expected 1 to {MAX_CELLS}.", line)
        return index

    def _value(self, line: int, index: int, word: str) -> float:
        try:
            value = plain_float(word)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise self._source.error(f"feature {index} is {refused_number(word)}", line)
        return value
