"""Recognises the format of a file from its content, never from its name.

The first line that has more than one word, or a comma or a semicolon, decides: an ``index:value`` pair as
second word means LIBSVM, a delimiter means CSV, blanks alone mean Brooks. Tabs may be delimiters in both of the
latter; a file with tabs is CSV (label last) unless it begins with the n and m of a Brooks file (label first).
"""

from __future__ import annotations

import re

from hardmargin.data import brooks
from hardmargin.data.source import Source
from hardmargin.data.values import is_number

_PAIR = re.compile(r"(qid|[0-9]+):[^,;]*")


def recognise(source: Source) -> str:
    """Recognise a file's format.

    Parameters
    ----------
    source : Source
        The file's text.

    Returns
    -------
    str
        "brooks", "libsvm" or "csv".

    Raises
    ------
    DataError
        If it looks like none of them.

    Examples
    --------
    >>> [recognise(Source("example", text)) for text in ("1 1:0.5 3:2", "1 0.5 2", "1,2,3")]
    ['libsvm', 'brooks', 'csv']
    """
    for _, line in source.lines():
        telling = line.partition("#")[0].strip()
        words = telling.split()
        if len(words) > 1 and _PAIR.fullmatch(words[1]):
            return "libsvm"
        if "," in telling or ";" in telling:
            return "csv"
        if len(words) > 1:
            if "\t" in telling and not _has_brooks_sizes(source):
                return "csv"
            if is_number(words[0]):
                return "brooks"
            break
    raise source.error(
        "the format is not recognised; expected Brooks (n, m, then label x_1 ... x_m), "
        "LIBSVM (label index:value ...) or CSV. If it is one of these, say which with --format (in Python format=)."
    )


def _has_brooks_sizes(source: Source) -> bool:
    lines = list(source.lines())
    # Two columns throughout could be n and m = 1 with samples, but a table with one feature is likelier.
    two_columns = all(len(text.split()) == 2 for _, text in lines)
    return not two_columns and brooks.starts_with_sizes(lines)
