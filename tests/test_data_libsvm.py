"""The LIBSVM format: labels and index:value pairs."""

import numpy as np
import pytest

from hardmargin.data import MAX_CELLS, DataError, Dataset
from hardmargin.data.libsvm import read, write
from hardmargin.data.source import Source


def parse(text: str) -> Dataset:
    return read(Source("file", text))


def test_sparse_lines_become_a_dense_matrix():
    dataset = parse("# a comment\n+1 1:0.5 3:-2e1\n\n-1\t2:4 # trailing 5:6\r\n1\n")
    np.testing.assert_array_equal(dataset.X, [[0.5, 0, -20], [0, 4, 0], [0, 0, 0]])
    assert dataset.X.dtype == np.float64
    assert dataset.y.tolist() == [1, -1, 1]
    assert dataset.feature_names is None
    assert dataset.format == "libsvm"


def test_query_numbers_are_passed_over():
    assert parse("1 qid:3 1:2\n-1 qid:4 2:5\n").X.tolist() == [[2, 0], [0, 5]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 1:1\n1 0:1\n", f"file:2: found index '0'; expected 1 to {MAX_CELLS}."),
        ("1 999999999:1\n", f"file:1: found index '999999999'; expected 1 to {MAX_CELLS}."),
        ("1 " + "9" * 5000 + ":1\n", f"file:1: found index '9+[.]+'; expected 1 to {MAX_CELLS}."),
        (
            f"1 1:1\n1 {MAX_CELLS}:1\n",
            f"file:2: index {MAX_CELLS} makes 2 x {MAX_CELLS} values; expected at most {MAX_CELLS}",
        ),
        ("1 2:1 1:1\n", "file:1: index 1 follows index 2; expected ascending indices."),
        ("1 2:1 2:1\n", "file:1: index 2 follows index 2; expected ascending indices."),
        ("1 1:1 abc\n", "file:1: found 'abc'; expected index:value."),
        ("1 1:1 x:1\n", "file:1: found 'x:1'; expected index:value."),
        ("1 1:1 -1:1\n", "file:1: found '-1:1'; expected index:value."),
        ("1 1:1 qid\n", "file:1: found 'qid'; expected index:value."),
        ("1 1:\n", "file:1: feature 1 is '', a missing value; expected a number"),
        ("1 1:1 2:1:1\n", "file:1: feature 2 is '1:1'; expected a finite number."),
        ("1 1:nan\n", "file:1: feature 1 is 'nan', a missing value; expected a number"),
        ("1 1:1e999\n", "file:1: feature 1 is '1e999'; expected a finite number."),
        ("yes 1:1\n", "file:1: the label is 'yes'; expected a finite number."),
        ("1,2 1:1\n", "file:1: the label is '1,2'; expected a number with a decimal point instead of the comma."),
        ("# nothing\n", "file: only comments; expected one line per sample"),
        ("1\n-1\n", "file: no line has a feature; expected label index:value"),
    ],
)
def test_errors_name_the_line_and_what_was_expected(text, message):
    with pytest.raises(DataError, match=f"^{message}"):
        parse(text)


def test_written_form_leaves_zeros_out_but_not_the_number_of_features():
    dataset = Dataset(np.array([[0.1, -0.0, 0.0], [0.0, 0.0, 0.0]]), np.array([1, -1]))
    assert write(dataset) == "1 1:0.1 2:-0.0 3:0.0\n-1\n"
