"""Tables: delimiters, quotes, rows."""

import numpy as np
import pytest

from hardmargin.data import DataError, Dataset
from hardmargin.data.delimited import read, write
from hardmargin.data.source import Source


def parse(text: str, label: str | int | None = None) -> Dataset:
    return read(Source("file", text), label)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", ", "])
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_delimiters_and_line_ends(delimiter, line_end):
    rows = [["a", "b", "class"], ["1", "2.5", "yes"], [" -3e1", "4", "no"]]
    dataset = parse(line_end.join(delimiter.join(row) for row in rows))
    np.testing.assert_array_equal(dataset.X, [[1, 2.5], [-30, 4]])
    assert dataset.X.dtype == np.float64
    assert dataset.y.tolist() == ["yes", "no"]
    assert dataset.feature_names == ["a", "b"]
    assert dataset.format == "csv"


def test_quotes_hide_delimiters_and_line_ends():
    dataset = parse('"a, or b";"c";"y"\n"1";2;"x;y"\n3;4;"two\nlines"\n5;6;"say ""no"""\n')
    assert dataset.feature_names == ["a, or b", "c"]
    assert dataset.X.tolist() == [[1, 2], [3, 4], [5, 6]]
    assert dataset.y.tolist() == ["x;y", "two\nlines", 'say "no"']


def test_of_two_delimiters_the_one_that_leaves_numbers_wins():
    assert parse("1.5,2.5,a;b\n3.5,4.5,c;d\n").y.tolist() == ["a;b", "c;d"]
    assert parse("1.5;2.5;a,b\n3.5;4.5;c,d\n").y.tolist() == ["a,b", "c,d"]


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["1", "-1"], [1, -1]),
        (["1", "-1.0"], [1.0, -1.0]),
        (["1", "b"], ["1", "b"]),
        (["inf", "-inf"], ["inf", "-inf"]),
        (["9" * 25, "8" * 25], ["9" * 25, "8" * 25]),
    ],
)
def test_kinds_of_labels(labels, expected):
    found = parse("\n".join(f"0,{label}" for label in labels)).y
    assert found.tolist() == expected
    assert [type(label) for label in found.tolist()] == [type(label) for label in expected]


def test_blank_lines_are_skipped_and_still_counted():
    with pytest.raises(DataError, match=r"^file:5: column 'x' is 'z'; expected a finite number"):
        parse("\nx,y\n   \n1,2\nz,2\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x,y\n1,2,3\n", "file:2: found 3 columns; expected 2 as in the first row."),
        ("1,2,0\n3,4,0\n5,0\n", "file:3: found 2 columns; expected 3 as in the first row."),
        ("x,y\n1,0\n,1\n", "file:3: column 'x' is '', a missing value; expected a number"),
        ("x,y\n?,0\n", "file:2: column 'x' is '[?]', a missing value"),
        ("x,y\nNA,0\n", "file:2: column 'x' is 'NA', a missing value"),
        ("x,y\nnan,0\n", "file:2: column 'x' is 'nan', a missing value"),
        ("x,y\n0,0\ninf,0\n", "file:3: column 'x' is 'inf'; expected a finite number."),
        ("1,2,0\n3,four,0\n", r"file:2: column 1 \(counted from 0\) is 'four'; expected a finite number."),
        ("y,x\n0,1\n1,b\n", "file:3: column 'x' is 'b'; expected a finite number."),
        ("?,?,yes\n1,2,no\n", r"file:1: column 0 \(counted from 0\) is '[?]', a missing value"),
        ("x,y\n1,\n", "file:2: column 'y' is '', a missing value; expected a label in every row."),
        ("x,y\n1,NaN\n", "file:2: column 'y' is 'NaN', a missing value; expected a label in every row."),
        ("x,y\n", "file: a header without rows; expected"),
        ("x,y\n1,2\n,\n", "file:3: column 'y' is '', a missing value"),
        ("just words\n", "file: no comma, tab or semicolon; expected"),
        ('x,y\n1,"2\n', "file:2: unexpected end of data; expected rows as the csv module reads them."),
        ('"x,y"\n"1,2"\n', "file: no comma, tab or semicolon; expected"),
        ("x\n1,2\n", "file:1: found one column; expected at least one feature and the label."),
        ("x,y\n" + "1" * 200_000 + ",2\n", "file:2: field larger than field limit"),
    ],
)
def test_errors_name_the_line_and_the_column(text, message):
    with pytest.raises(DataError, match=f"^{message}"):
        parse(text)


def test_written_form():
    dataset = Dataset(np.array([[0.1, -0.0]]), np.array(["a,b"]), ["x", "y"])
    assert write(dataset) == '"x","y","label"\n0.1,-0.0,"a,b"\n'
    assert write(Dataset(np.array([[0.1], [2.0]]), np.array([1, 0]))) == "0.1,1\n2.0,0\n"
