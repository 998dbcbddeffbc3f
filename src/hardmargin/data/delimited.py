"""Tables separated by commas, tabs or semicolons, with or without a header.

Quoting follows the :mod:`csv` module. One column holds the labels, which may be words; all others are features
and hold numbers.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from itertools import islice

from hardmargin.data.columns import LABEL_NAMES, Record, find_columns
from hardmargin.data.dataset import Dataset
from hardmargin.data.source import Source, shown
from hardmargin.data.values import MISSING, NumberRows, is_number, labels_from

__all__ = ["LABEL_NAMES", "read", "write"]

_DELIMITERS = ("\t", ";", ",")
_SAMPLED_LINES = 50
_QUOTED = re.compile('"[^"]*"')


def read(source: Source, label: str | int | None = None) -> Dataset:
    """Read a table.

    Parameters
    ----------
    source : Source
        The file's text.
    label : str or int, optional
        The label column: its name, or its position, counted from 0 or, if negative, from the end. A string that
        is a whole number is a position unless a column has exactly that name. By default the column named label,
        class, target or y; if there is none, the last one.

    Returns
    -------
    Dataset

    Raises
    ------
    DataError
        If the rows differ in length, the label column cannot be found, a label is missing or a feature is
        not a finite number.
    """
    delimiter = _delimiter(source)
    columns = find_columns(source, _records(source, delimiter), label)
    rows = NumberRows(source, columns.describe_feature)
    labels = []
    for line, cells in islice(_records(source, delimiter), 0 if columns.names is None else 1, None):
        if len(cells) != columns.count:
            raise source.error(f"found {len(cells)} columns; expected {columns.count} as in the first row.", line)
        word = cells.pop(columns.label)
        if word.lower() in MISSING:
            found = f"{columns.describe(columns.label)} is {shown(word)}"
            raise source.error(f"{found}, a missing value; expected a label in every row.", line)
        labels.append(word)
        rows.append(line, cells)
    if not labels:
        raise source.error("a header without rows; expected a table of features and labels.")
    label_column = columns.describe(columns.label)
    return Dataset(rows.matrix(), labels_from(labels), columns.feature_names, "csv", label_column)


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


def _records(source: Source, delimiter: str) -> Iterator[Record]:
    """Yield the rows that are not blank, with the line where each begins; cells are stripped of blanks."""
    text = io.StringIO(source.text, newline="")
    reader = csv.reader(text, delimiter=delimiter, strict=True, skipinitialspace=True)
    line = 1
    try:
        for cells in reader:
            if len(cells) > 1 or any(cells):
                yield line, [cell.strip() for cell in cells]
            line = reader.line_num + 1
    except csv.Error as problem:
        raise source.error(f"{problem}; expected rows as the csv module reads them.", line) from None


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
