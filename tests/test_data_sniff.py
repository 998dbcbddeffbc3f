"""Recognising a format by content."""

import pytest

from hardmargin.data import DataError
from hardmargin.data.sniff import recognise
from hardmargin.data.source import Source


@pytest.mark.parametrize(
    ("text", "format"),
    [
        ("2\n1\n1 5\n-1 6\n", "brooks"),
        ("2 2\n1 5 6\n-1 6 7\n", "brooks"),
        ("1 5 6\n-1 6 7\n", "brooks"),
        ("2\n2\n1\t5\t6\n-1\t6\t7\n", "brooks"),
        ("2\t2\n1\t5\t6\n-1\t6\t7\n", "brooks"),
        ("1 1:5\n-1 2:6\n", "libsvm"),
        ("1\n-1\n# comment, with a comma\n1 2:6\n", "libsvm"),
        ("1 qid:1 2:6\n", "libsvm"),
        ("1\t1:5\t2:6\n", "libsvm"),
        ("1 # nothing here\n1 1:x\n", "libsvm"),
        ("5,6,1\n", "csv"),
        ("a b,c d\n1,2\n", "csv"),
        ("5;6;1\n", "csv"),
        ("5\t6\t1\n6\t7\t-1\n", "csv"),
        ("5\t1\n6\t1\n7\t0\n", "csv"),
        ("length\twidth\tclass\n5\t6\t1\n", "csv"),
        ("#a,b\n1,2\n", "csv"),
        ("12:30 13:30,1,2\n", "csv"),
    ],
)
def test_recognised(text, format):
    assert recognise(Source("file", text)) == format


@pytest.mark.parametrize("text", ["word\n", "some words\n", "1\n2\n", "# 1 2 3\n", "{}"])
def test_not_recognised(text):
    with pytest.raises(DataError, match=r"^file: the format is not recognised; expected Brooks"):
        recognise(Source("file", text))
