"""Tables: which column contains the labels, and whether there is a header."""

import pytest

from hardmargin.data import DataError, Dataset
from hardmargin.data.delimited import read
from hardmargin.data.source import Source


def parse(text: str, label: str | int | None = None) -> Dataset:
    return read(Source("file", text), label)


@pytest.mark.parametrize(
    ("header", "position"),
    [
        ("a,b,c", 2),
        ("a,Label,c", 1),
        ("CLASS,b,c", 0),
        ("a,target,c", 1),
        ("a,y,c", 1),
        ("y,class,c", 1),
        ("y,class,label", 2),
    ],
)
def test_default_label_column(header, position):
    dataset = parse(f"{header}\n10,20,30\n40,50,60\n")
    names = header.split(",")
    assert dataset.y.tolist() == [10 * (position + 1), 10 * (position + 4)]
    assert dataset.feature_names == names[:position] + names[position + 1 :]


def test_without_header_the_last_column_is_the_label():
    dataset = parse("10,20,30\n40,50,60\n")
    assert dataset.y.tolist() == [30, 60]
    assert dataset.feature_names is None


@pytest.mark.parametrize(
    ("label", "position"), [("a", 0), ("b", 1), (0, 0), (1, 1), (-1, 2), (-3, 0), ("1", 1), ("-2", 1)]
)
def test_label_column_by_name_or_position(label, position):
    assert parse("a,b,y\n10,20,30\n", label).y.tolist() == [10 * (position + 1)]


def test_a_name_of_digits_comes_before_a_position():
    assert parse("2,1,0,y\n10,20,30,40\n", "2").y.tolist() == [10]
    assert parse("2,1,0,y\n10,20,30,40\n", 2).y.tolist() == [30]
    assert parse("2,1,0,8\n10,20,30,40\n", "2").y.tolist() == [0, 30]


@pytest.mark.parametrize(
    ("text", "label", "names"),
    [
        ("a,b\n1,2\n", None, ["a"]),
        ("0,1,label\n1,2,3\n", None, ["0", "1"]),
        ("0,1,species\n1,2,3\n", "species", ["0", "1"]),
        ("Na,label\n1,2\n", None, ["Na"]),
        ("1,2,x\n3,4,z\n", None, None),
        ("1,2,y\n3,4,n\n5,6,y\n", None, None),
        ("1,2\n3,4\n", "0", None),
    ],
)
def test_recognising_a_header(text, label, names):
    assert parse(text, label).feature_names == names


@pytest.mark.parametrize(
    ("text", "label", "message"),
    [
        ("a,b\n1,2\n", "c", "file:1: there is no column named 'c'; expected one of 'a', 'b'."),
        (
            "1,2\n3,4\n",
            "c",
            "file:1: there is no column named 'c'; expected a position, as there is no header.",
        ),
        ("a,b\n1,2\n", "2", "file:1: there is no column 2; expected 0 to 1, or -2 to -1 from the end."),
        ("a,b\n1,2\n", -3, "file:1: there is no column -3; expected 0 to 1, or -2 to -1 from the end."),
        ("a,b\n1,2\n", "9" * 5000, "file:1: there is no column named '9+[.]+'; expected one of"),
        ("a,b,a\n1,2,3\n", "a", "file:1: 2 columns are named 'a'; expected one, or a column by"),
        ("y,Y,a\n1,2,3\n", None, "file:1: 2 columns are named 'y'; expected one, or a column by"),
        (",a,b\n1,2,3\n", None, r"file:1: column 0 \(counted from 0\) has no name in the header; expected"),
    ],
)
def test_columns_that_are_not_there(text, label, message):
    with pytest.raises(DataError, match=f"^{message}"):
        parse(text, label)


def test_ambiguous_names_do_not_matter_to_a_position():
    dataset = parse("a,b,a\n1,2,3\n", 0)
    assert dataset.y.tolist() == [1]
    assert dataset.feature_names == ["b", "a"]
