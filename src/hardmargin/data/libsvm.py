"""The sparse format of LIBSVM and SVMlight: ``label index:value ...`` with ascending indices from 1.

A ``#`` begins a comment, and ``qid:`` is ignored. The result is dense; features that a line does not name are
zero.
"""

from __future__ import annotations

import math
from array import array

import numpy as np
from numpy.typing import NDArray

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
        If a line is not a sample, or the dense matrix would be too large.
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
    return Dataset(entries.dense(), labels_from(labels), None, "libsvm")


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
    # A negative zero is written, so that reading gives back the same bits.
    written = (dataset.X != 0) | np.signbit(dataset.X)
    if dataset.n and dataset.m and not written[:, -1].any():
        # A reader learns the number of features only from the largest index.
        written[0, -1] = True
    lines = []
    for label, values, mask in zip(dataset.y.tolist(), dataset.X, written, strict=True):
        columns = np.flatnonzero(mask)
        pairs = zip(columns.tolist(), values[columns].tolist(), strict=True)
        lines.append(" ".join([str(label), *(f"{column + 1}:{value!r}" for column, value in pairs)]))
    return "\n".join([*lines, ""])


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
            self._columns.append(index - 1)
            self._values.append(self._value(line, index, value))
            previous = index
        if previous > self.features:
            self.features, self._widest_line = previous, line
        self._row_lengths.append(len(self._columns) - before)

    def dense(self) -> NDArray[np.float64]:
        """The matrix, zero where no line names a value."""
        rows = len(self._row_lengths)
        if rows * self.features > MAX_CELLS:
            raise self._source.error(
                f"index {self.features} makes {rows} x {self.features} values; "
                f"expected at most {MAX_CELLS}, because samples are kept dense.",
                self._widest_line,
            )
        X = np.zeros((rows, self.features))
        row_of_entry = np.repeat(np.arange(rows), np.array(self._row_lengths, dtype=np.int64))
        X[row_of_entry, np.array(self._columns, dtype=np.int64)] = self._values
        return X

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
