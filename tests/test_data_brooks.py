"""The Brooks format: n, m and one line per sample."""

import numpy as np
import pytest

from hardmargin.data import DataError, Dataset
from hardmargin.data.brooks import read, write
from hardmargin.data.source import Source


def parse(text: str) -> Dataset:
    return read(Source("file", text))


@pytest.mark.parametrize(
    "text",
    [
        "2\n3\n1 0.5 2 -3e1\n-1 4 5 6\n",
        "2 3\n1 0.5 2 -3e1\n-1 4 5 6",
        "1 0.5 2 -3e1\n-1 4 5 6\n",
        "\r\n2\r\n3\r\n\r\n +1\t0.5  2 -3e1 \r\n-1 4 5 6\r\n\r\n",
        "2\r3\r1 0.5 2 -3e1\r-1 4 5 6",
    ],
    ids=["two lines", "one line", "no sizes", "CRLF, blanks and tabs", "CR"],
)
def test_every_layout_gives_the_same_samples(text):
    dataset = parse(text)
    np.testing.assert_array_equal(dataset.X, [[0.5, 2, -30], [4, 5, 6]])
    assert dataset.y.tolist() == [1, -1]
    assert dataset.y.dtype == np.int64
    assert dataset.X.dtype == np.float64
    assert dataset.X.flags.c_contiguous
    assert dataset.feature_names is None
    assert dataset.format == "brooks"


def test_labels_with_fractions_are_floats():
    assert parse("1.5 0\n2 0\n").y.tolist() == [1.5, 2.0]


def test_one_feature_with_sizes_on_one_line():
    assert parse("2 1\n1 5\n-1 7").X.tolist() == [[5], [7]]


def test_one_feature_without_sizes():
    dataset = parse("1 5\n-1 7\n1 8\n")
    assert dataset.X.tolist() == [[5], [7], [8]]
    assert dataset.y.tolist() == [1, -1, 1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("3\n2\n1 0 0\n-1 1 1\n", "file: found 2 samples; expected the n = 3 of line 1."),
        ("1 2\n1 0 0\n-1 1 1\n", "file: found 2 samples; expected the n = 1 of line 1."),
        ("9 1\n1 0\n-1 1\n", "file: found 2 samples; expected the n = 9 of line 1."),
        ("2\n3\n1 0 0\n-1 1 1\n", "file:3: found 3 values; expected 4: .* the m = 3 of line 2."),
        ("2 3\n1 0 0\n-1 1 1\n", "file:2: found 3 values; expected 4: .* the m = 3 of line 1."),
        ("1 0 0\n\n-1 1\n", "file:3: found 2 values; expected 3: .* as on line 1."),
        ("999999999999\n2\n1 0 0\n", "file: found 1 samples; expected the n = 999999999999 of line 1."),
        ("1\n999999999999\n1 0 0\n", "file:3: found 3 values; expected 1000000000000"),
        ("-2\n2\n1 0 0\n", "file:1: n is '-2'; expected a whole number >= 1."),
        ("2\nx\n1 0 0\n", "file:2: m is 'x'; expected a whole number >= 1."),
        ("2\n0\n1\n-1\n", "file:2: m is '0'; expected"),
        ("9" * 5000 + "\n2\n1 0 0\n", "file:1: n is '9+[.]{3}'; expected"),
        ("5\n1 0 0\n", "file:1: found '5' alone; expected n alone"),
        ("5", "file:1: found '5' alone; expected n alone"),
        ("5\n2\n", "file: no samples; expected one line per sample"),
        ("1 0 0\n-1 0 x\n", "file:2: feature 2 is 'x'; expected a finite number."),
        ("1 0 0\n-1 0 ?\n", "file:2: feature 2 is '[?]', a missing value; expected a number"),
        ("1 0 0\n-1 nan 0\n", "file:2: feature 1 is 'nan', a missing value"),
        ("1 0 0\n\n-1 0 -inf\n", "file:3: feature 2 is '-inf'; expected a finite number."),
        ("1 0 0\n-1 1e999 0\n", "file:2: feature 1 is 'inf'; expected a finite number."),
        ("yes 0 0\n", "file:1: the label is 'yes'; expected a finite number."),
        ("1 0\ninf 0\n", "file:2: the label is 'inf'; expected a finite number."),
    ],
)
def test_errors_name_the_line_and_what_was_expected(text, message):
    with pytest.raises(DataError, match=f"^{message}"):
        parse(text)


def test_written_form():
    dataset = Dataset(np.array([[0.1, -0.0], [1e300, 3.0]]), np.array([1, -1]))
    assert write(dataset) == "2\n2\n1 0.1 -0.0\n-1 1e+300 3.0\n"
