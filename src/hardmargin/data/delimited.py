"""Tables separated by commas, tabs or semicolons, with or without a header.

Quoting follows the :mod:`csv` module. One column holds the labels, which may be words; features are numbers. The
compiled core reads simple tables, which most are. It refuses all others, and these are read here, row by row, which
takes ten times as long and finds out what is wrong.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardmargin.data.columns import (
    LABEL_NAMES,
    Choice,
    ColumnName,
    Columns,
    Record,
    TrainingColumns,
    find_columns,
)
from hardmargin.data.dataset import MAX_CELLS, DataError, Dataset
from hardmargin.data.source import Source, shown
from hardmargin.data.text_columns import TextColumns
from hardmargin.data.values import MISSING, NumberRows, is_number, labels_from

__all__ = ["LABEL_NAMES", "Table", "read", "read_table", "write"]

_DELIMITERS = ("\t", ";", ",")
_SAMPLED_LINES = 50
_QUOTED = re.compile('"[^"]*"')
_IGNORED, _LABEL = -1, -2


@dataclass(frozen=True)
class Table:
    """The content of a table.

    Attributes
    ----------
    X : ndarray of shape (n, m)
    y : ndarray of shape (n,) or None
        The labels, if a column holds them.
    columns : Columns
        What the columns were used for.
    """

    X: NDArray[np.float64]
    y: NDArray[Any] | None
    columns: Columns


def read(
    source: Source,
    label: ColumnName | None = None,
    features: Sequence[ColumnName] | None = None,
    drop: Sequence[ColumnName] = (),
) -> Dataset:
    """Read a table of samples to train on.

    Parameters
    ----------
    source : Source
        The file's text.
    label, features, drop
        As in :func:`hardmargin.data.load`.

    Returns
    -------
    Dataset

    Raises
    ------
    DataError
        If the rows differ in length, a column cannot be found, a label is missing or a feature is not a finite
        number.
    """
    table = read_table(source, TrainingColumns(label, features, drop))
    columns = table.columns
    assert table.y is not None
    assert columns.label is not None
    identified = [columns.header.name(column) for column in (columns.label, *columns.features)]
    return Dataset(table.X, table.y, columns.feature_names, "csv", identified[0], identified[1:])


def read_table(source: Source, choice: Choice, delimiter: str | None = None) -> Table:
    """Read those columns of a table that are asked for; see :func:`read`.

    Parameters
    ----------
    source : Source
    choice : Choice
        Which columns hold features and labels.
    delimiter : str, optional
        By default the one that suits the first lines best.

    Returns
    -------
    Table
    """
    delimiter = delimiter or _delimiter(source)
    columns = find_columns(source, _records(source, delimiter), choice)
    simple = _simple_table(source, delimiter, columns)
    return simple or _any_table(source, delimiter, columns, may_drop=choice.may_drop)


def is_one_column(source: Source) -> bool:
    """Whether the first lines have one word each, so that only a model can say that this is a table."""
    first = islice(source.lines(), _SAMPLED_LINES)
    return all(len(re.split(r"[\s,;]+", line.strip())) == 1 for _, line in first)


def write(dataset: Dataset) -> str:
    """Write a table with commas, the labels last, and a header if the features have names.

    Parameters
    ----------
    dataset : Dataset
        Any samples.

    Returns
    -------
    str
        The file's text.
    """
    text = io.StringIO()
    # Every word is quoted, so that delimiters inside labels do not split columns.
    writer = csv.writer(text, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    if dataset.feature_names is not None:
        writer.writerow([*dataset.feature_names, LABEL_NAMES[0]])
    for values, label in zip(dataset.X.tolist(), dataset.y.tolist(), strict=True):
        writer.writerow([*values, label])
    return text.getvalue()


def _simple_table(source: Source, delimiter: str, columns: Columns) -> Table | None:
    """The table if nothing about it needs a closer look."""
    # Not at the top: commands that read no table should not wait for the core.
    from hardmargin import _core

    roles = [_IGNORED] * columns.header.count
    for feature, column in enumerate(columns.features):
        roles[column] = feature
    if columns.label is not None:
        roles[columns.label] = _LABEL
    found = _core.read_table(
        source.text, delimiter, roles, columns.header.names is not None, MAX_CELLS, csv.field_size_limit()
    )
    if found is None or not len(found[0]):
        return None
    X, numbers, words = found
    if columns.label is None:
        return Table(X, None, columns)
    words = [word.strip() for word in words]
    if any(word.lower() in MISSING for word in words):
        return None
    return Table(X, labels_from(words)[numbers], columns)


def _any_table(source: Source, delimiter: str, columns: Columns, *, may_drop: bool) -> Table:
    header = columns.header
    rows = NumberRows(source, columns.describe_feature)
    labels = []
    first = 0 if header.names is None else 1
    for line, cells in islice(_records(source, delimiter), first, None):
        if len(cells) != header.count:
            raise source.error(f"found {len(cells)} columns; expected {header.count} as in the first row.", line)
        if columns.label is not None:
            labels.append(_checked_label(source, line, cells[columns.label], columns))
        try:
            rows.append(line, [cells[column] for column in columns.features])
        except DataError as problem:
            if not may_drop:
                raise
            texts = TextColumns(columns)
            for _, others in islice(_records(source, delimiter), first, None):
                texts.add(others)
            raise texts.error(source) or problem from None
    if not len(rows):
        raise source.error("a header without rows; expected a table of features and labels.")
    return Table(rows.matrix(), labels_from(labels) if columns.label is not None else None, columns)


def _checked_label(source: Source, line: int, word: str, columns: Columns) -> str:
    if word.lower() in MISSING:
        assert columns.label is not None
        found = f"{columns.header.describe(columns.label)} is {shown(word)}"
        raise source.error(f"{found}, a missing value; expected a label in every row.", line)
    return word


def _records(source: Source, delimiter: str) -> Iterator[Record]:
    """Yield the rows that are not blank, with the line where each begins; cells are stripped of blanks."""
    reader = csv.reader(source.whole_lines(), delimiter=delimiter, strict=True, skipinitialspace=True)
    line = 1
    try:
        for cells in reader:
            if len(cells) > 1 or any(cells):
                yield line, [cell.strip() for cell in cells]
            line = reader.line_num + 1
    except csv.Error as problem:
        hint = " (is a quotation mark not closed?)" if "end of data" in str(problem) else ""
        raise source.error(f"{problem}{hint}; expected rows as the csv module reads them.", line) from None


def _delimiter(source: Source) -> str:
    """The delimiter that splits the first lines evenly; if there are several, the one that gives most numbers."""
    sample = _QUOTED.sub('""', "\n".join(line for _, line in islice(source.lines(), _SAMPLED_LINES)))
    lines = sample.split("\n")
    used = [delimiter for delimiter in _DELIMITERS if delimiter in sample]
    if not used:
        raise source.error("no comma, tab or semicolon; expected columns separated by one of them.")

    def rank(delimiter: str) -> tuple[bool, float]:
        cells = [cell for line in lines for cell in line.split(delimiter)]
        even = len({line.count(delimiter) for line in lines}) == 1
        return even, sum(map(is_number, cells)) / len(cells)

    return max(used, key=rank)
