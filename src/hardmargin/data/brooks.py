"""The format of the benchmark instances of Brooks (2011).

First the number of samples n and the number of features m, on two lines or on one, then one line per sample:
``label x_1 ... x_m``, separated by blanks. Files with the held-out part of a fold lack n and m.
"""

from __future__ import annotations

from typing import NamedTuple

from hardmargin.data.dataset import Dataset
from hardmargin.data.source import Source, shown
from hardmargin.data.values import NumberRows, labels_from, numeric_label

_Line = tuple[int, str]


class _Header(NamedTuple):
    n: int
    m: int
    n_line: int
    m_line: int


def read(source: Source) -> Dataset:
    """Read samples in Brooks format, with or without n and m at the beginning.

    Parameters
    ----------
    source : Source
        The file's text.

    Returns
    -------
    Dataset

    Raises
    ------
    DataError
        If a line is not a sample, or n or m do not match the lines.
    """
    header, samples = _split_header(source, list(source.lines()))
    if not samples:
        raise source.error("no samples; expected one line per sample: label x_1 ... x_m.")
    features = header.m if header else len(samples[0][1].split()) - 1
    if features < 1:
        raise source.error("a label without features; expected label x_1 ... x_m.", samples[0][0])
    rows = NumberRows(source, lambda j: f"feature {j + 1}")
    labels = []
    for line, text in samples:
        words = text.split()
        if len(words) != features + 1:
            raise source.error(_wrong_length(len(words), features, header, samples[0][0]), line)
        labels.append(numeric_label(source, line, words[0]))
        rows.append(line, words[1:])
    if header and header.n != len(samples):
        raise source.error(f"found {len(samples)} samples; expected the n = {header.n} of line {header.n_line}.")
    return Dataset(rows.matrix(), labels_from(labels), None, "brooks")


def write(dataset: Dataset) -> str:
    """Write samples in Brooks format, which cannot hold feature names.

    Parameters
    ----------
    dataset : Dataset
        Samples whose labels are numbers.

    Returns
    -------
    str
        The file's text.
    """
    rows = zip(dataset.y.tolist(), dataset.X.tolist(), strict=True)
    lines = [" ".join([str(label), *map(repr, values)]) for label, values in rows]
    return "\n".join([str(dataset.n), str(dataset.m), *lines, ""])


def starts_with_sizes(lines: list[_Line]) -> bool:
    """Whether the first line, or the first two, hold n and m rather than samples.

    A line of one word is not a sample. Two integers on the first line are n and m if the other lines have another
    length. If those have two words as well (m = 1), the integers are n and m if n is correct, or if no other line
    has n as its label.

    Parameters
    ----------
    lines : list of (int, str)
        The lines that are not blank, with their numbers.
    """
    first = lines[0][1].split()
    others = lines[1:]
    if len(first) != 2 or not others:
        return len(first) == 1
    if not (_is_count(first[0]) and _is_count(first[1])):
        return False
    if any(len(text.split()) != 2 for _, text in others):
        return True
    n, m = int(first[0]), int(first[1])
    return m == 1 and (n == len(others) or all(text.split()[0] != first[0] for _, text in others))


def _split_header(source: Source, lines: list[_Line]) -> tuple[_Header | None, list[_Line]]:
    if not starts_with_sizes(lines):
        return None, lines
    used = 1 if len(lines[0][1].split()) == 2 else 2
    words = [(line, word) for line, text in lines[:used] for word in text.split()]
    if len(words) != 2:
        raise source.error(
            f"found {shown(words[0][1])} alone; expected n alone on one line and m alone on the next, "
            "or a sample: label x_1 ... x_m.",
            words[0][0],
        )
    for name, (line, word) in zip("nm", words, strict=True):
        if not _is_count(word):
            raise source.error(f"{name} is {shown(word)}; expected a whole number >= 1.", line)
    (n_line, n), (m_line, m) = words
    return _Header(int(n), int(m), n_line, m_line), lines[used:]


def _is_count(word: str) -> bool:
    # The limit on digits exceeds any file, and is within what int() converts.
    return word.isascii() and word.isdigit() and len(word) <= 100 and int(word) >= 1


def _wrong_length(found: int, features: int, header: _Header | None, first_line: int) -> str:
    origin = f"the m = {features} of line {header.m_line}" if header else f"as on line {first_line}"
    return f"found {found} values; expected {features + 1}: a label and {features} features, {origin}."
