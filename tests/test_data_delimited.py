"""Tables: delimiters, quotes, rows."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardmargin.data import DataError, Dataset, delimited
from hardmargin.data.delimited import _simple_table, is_one_column, read, write
from hardmargin.data.source import Source, decoded


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
        (
            'x,y\n1,"2\n',
            "file:2: unexpected end of data .is a quotation mark not closed",
        ),
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


def both_ways(text: str, label: str | int | None = None, **selection) -> tuple[Dataset | str, Dataset | str, bool]:
    """What the readers of simple tables and of all tables make of a text, and whether the first one took it."""
    took = []

    def simple(*arguments):
        table = _simple_table(*arguments)
        took.append(table is not None)
        return table

    found: list[Dataset | str] = []
    for reader in (simple, lambda *_: None):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(delimited, "_simple_table", reader)
            try:
                found.append(read(decoded(text.encode(), "file"), label, **selection))
            except DataError as problem:
                found.append(str(problem))
    return found[0], found[1], took == [True]


def assert_the_same(fast: Dataset | str, slow: Dataset | str) -> None:
    if isinstance(fast, str) or isinstance(slow, str):
        assert fast == slow
        return
    assert fast.X.tobytes() == slow.X.tobytes()
    assert fast.X.shape == slow.X.shape
    assert fast.y.dtype == slow.y.dtype
    assert fast.y.tolist() == slow.y.tolist()
    names = ("feature_names", "label_column", "feature_columns")
    assert [getattr(fast, name) for name in names] == [getattr(slow, name) for name in names]


SIMPLE = {
    "plain": "a,b,y\n1,2.5,no\n-3e-5,+4.,yes\n",
    "byte order mark": "\ufeffa,b,y\n1,2,no\n3,4,yes\n",
    "CRLF": "a,b,y\r\n1,2,no\r\n3,4,yes\r\n",
    "CR": "a,b,y\r1,2,no\r3,4,yes",
    "no header, semicolons": "1;2;0\n3;4;1\n",
    "tabs and blanks": "a\tb\ty\n 1\t 2 \tno \n3\t4\t yes\n",
    "quoted words": '"a","b, or c","y"\n1,2,"no"\n3,"4","yes, sir"\n',
    "blank lines": "\n\na,b,y\n\n1,2,no\n   \n3,4,yes\n\n",
    "long digits": "a,y\n0.1234567890123456789,0\n9007199254740993,1\n2.2250738585072014e-308,1\n4.9e-324,0\n",
    "labels that read as numbers": "a,y\n1,+1\n2,-1\n3,007\n",
    "labels that read as floats": "a,y\n1,1.0\n2,0\n",
    "labels of two kinds": "a,y\n1,1\n2,no\n",
    "letters of many scripts": "größe,y\n1,näh\n2,fern 遠\n",
    "negative zero": "a,y\n-0.0,0\n-0,1\n",
}
NOT_SIMPLE = {
    "missing value": "a,b,y\n1,,no\n3,4,yes\n",
    "question mark": "a,b,y\n1,?,no\n3,4,yes\n",
    "not a number": "a,b,y\n1,nan,no\n3,4,yes\n",
    "infinite": "a,b,y\n1,2,no\n3,inf,yes\n",
    "too large": "a,b,y\n1,2,no\n3,1e999,yes\n",
    "too small": "a,b,y\n1,2,no\n3,1e-999,yes\n",
    "underscore": "a,b,y\n1,2,no\n3,1_0,yes\n",
    "digits of another script": "a,b,y\n1,2,no\n3,\N{FULLWIDTH DIGIT ONE},yes\n",
    "blank of another script": "a,b,y\n1,2,no\n3,4\N{NO-BREAK SPACE},yes\n",
    "decimal comma": "a;b;y\n1;2,5;no\n3;4,5;yes\n",
    "decimal comma in one row": "a;b;y\n1;2;no\n3;4,5;yes\n1;1;no\n",
    "doubled quote": 'a,y\n1,"say ""no"""\n2,yes\n',
    "line end in quotes": 'a,y\n1,"two\nlines"\n2,yes\n',
    "quote in a word": 'a,y\n1,5" nail\n2,yes\n',
    "quote not closed": 'a,y\n1,"no\n2,yes\n',
    "words after a quote": 'a,y\n1,"no" way\n2,yes\n',
    "row too long": "a,y\n1,no\n2,yes,3\n",
    "row too short": "a,b,y\n1,2,no\n2,yes\n",
    "missing label": "a,y\n1,no\n2,\n",
    "missing label in quotes": 'a,y\n1,no\n2,"NA "\n',
    "only a header": "a,y\n",
    "hexadecimal": "a,y\n0x10,no\n2,yes\n",
    "two signs": "a,y\n+-1,no\n2,yes\n",
    "column of text": "a,name,y\n1,Ann,no\n2,Bob,yes\n3,Cid,no\n",
    "blank cells": "a,b,y\n1,2,no\n , ,\n",
    "separator of files": "a,y\n1\x1c,no\n2,yes\n",
    "line of a tab": "a,y\n\t\n1,no\n2,yes\n",
}


@pytest.mark.parametrize("text", SIMPLE.values(), ids=SIMPLE.keys())
def test_simple_tables_are_read_fast_and_alike(text):
    fast, slow, took = both_ways(text)
    assert took
    assert isinstance(fast, Dataset)
    assert_the_same(fast, slow)


@pytest.mark.parametrize("text", NOT_SIMPLE.values(), ids=NOT_SIMPLE.keys())
def test_other_tables_are_left_to_the_careful_reader(text):
    fast, slow, took = both_ways(text)
    assert not took
    assert_the_same(fast, slow)


@given(
    st.lists(st.lists(st.text('01.5e-+", \tna?_\n\r;', max_size=5), min_size=1, max_size=4), max_size=5),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.sampled_from(["", "x,y\n", "x,z,y\n"]),
)
def test_no_table_is_read_differently(rows, line_end, header):
    text = header + line_end.join(",".join(cells) for cells in rows)
    if not text.strip() or "," not in text:
        return
    fast, slow, _ = both_ways(text)
    assert_the_same(fast, slow)


@given(st.lists(st.tuples(st.floats(allow_nan=False), st.sampled_from(["no", "yes"])), min_size=1, max_size=20))
def test_every_number_is_read_exactly(rows):
    fast, slow, _ = both_ways("x,y\n" + "\n".join(f"{value!r},{label}" for value, label in rows))
    assert_the_same(fast, slow)


@pytest.mark.parametrize(
    ("selection", "names", "X"),
    [
        ({"features": ["c", "a"]}, ["c", "a"], [[4, 1], [8, 5]]),
        ({"features": [3, "0"]}, ["c", "a"], [[4, 1], [8, 5]]),
        ({"drop": ["name", -1, "c"]}, ["a"], [[1], [5]]),
    ],
)
def test_columns_are_selected_by_name_or_position(selection, names, X):
    fast, slow, took = both_ways("a,name,kind,c,y\n1,Ann,no,4,5\n5,Bob,yes,8,5\n", "kind", **selection)
    assert took
    assert fast.X.tolist() == X
    assert fast.feature_names == fast.feature_columns == names
    assert_the_same(fast, slow)


@pytest.mark.parametrize(
    ("selection", "message"),
    [
        ({"features": ["a", "y"]}, "features names column 'y', which holds the labels"),
        ({"features": ["a", 0]}, "features names column 'a' twice; expected it once."),
        ({"drop": ["y"], "label": "y"}, "drop names column 'y', which holds the labels."),
        ({"drop": ["c"]}, "there is no column named 'c'; expected one of 'a', 'b', 'y'."),
        ({"drop": [0, 1]}, "no feature is left; expected at least one."),
        ({"drop": [0, 1, 2]}, "drop names every column; expected at least one feature and the label."),
        ({"features": [5]}, "there is no column 5; expected 0 to 2, or -3 to -1 from the end."),
    ],
)
def test_columns_that_cannot_be_selected(selection, message):
    with pytest.raises(DataError, match=re.escape(f"file:1: {message}")):
        read(Source("file", "a,b,y\n1,2,no\n3,4,yes\n"), **selection)


def test_an_unnamed_column_may_be_left_out():
    with pytest.raises(DataError, match="leave it out with --drop 0: it is not a feature"):
        parse(",a,y\n0,1,no\n1,2,yes\n")
    dataset = read(Source("file", ",a,y\n0,1,no\n1,2,yes\n"), drop=[0])
    assert dataset.feature_names == ["a"]


def test_columns_without_names_are_known_by_their_positions():
    dataset = read(Source("file", "7,1,no,2\n7,3,yes,4\n"), 2, drop=[0])
    assert (dataset.feature_names, dataset.label_column, dataset.feature_columns) == (None, 2, [1, 3])
    assert dataset.X.tolist() == [[1, 2], [3, 4]]


def test_a_single_column_is_recognised():
    assert is_one_column(Source("file", "length\n1.5\n\n2.5\n"))
    for text in ("length\n1.5,2\n", "1 2\n", "a;b\n"):
        assert not is_one_column(Source("file", text))
