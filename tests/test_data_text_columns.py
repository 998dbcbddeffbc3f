"""Columns that hold text: they are named, and the message says what to do."""

import pytest

from hardmargin.data import DataError
from hardmargin.data.delimited import read
from hardmargin.data.source import Source


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "id,a,y\nA1,1,0\nB2,2,1\nC3,3,1\n",
            "file: column 'id' ('A1', 'B2', 'C3', ...) holds text; features are numbers. Leave it out with "
            "--drop id (in Python drop=['id']).",
        ),
        (
            "name,a,home town,y\nAnn,1,Ulm,0\n,2,,1\nCid,3,Rom,1\n",
            "file: column 'name' ('Ann' and 'Cid'), column 'home town' ('Ulm' and 'Rom') hold text; features are "
            "numbers. Leave them out with --drop 'name,home town' (in Python drop=['name', 'home town']); if "
            "column 'name' holds the labels, use --label name; else write 0 and 1.",
        ),
        (
            "red,1.5,0\nred,2.5,1\n",
            "file: column 0 (counted from 0) ('red') holds text; features are numbers. Leave it out with --drop 0 "
            "(in Python drop=['0']).",
        ),
    ],
)
def test_columns_of_text_are_named(text, message):
    with pytest.raises(DataError) as problem:
        read(Source("file", text))
    assert str(problem.value) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,y\n1,0\nx,1\n", "file:3: column 'a' is 'x'; expected a finite number."),
        ("a,b,y\n1,,0\n2,,1\n", "file:2: column 'b' is '', a missing value"),
        ("a;y\n1,5;0\n2,5;1\n", "file:2: column 'a' is '1,5'; expected a number with a decimal point"),
    ],
)
def test_single_words_missing_values_and_commas_are_no_columns_of_text(text, message):
    with pytest.raises(DataError) as problem:
        read(Source("file", text))
    assert str(problem.value).startswith(message)


def test_a_column_of_text_may_hold_the_labels_or_be_left_out():
    text = "kind,name,a\nx,Ann,1\nz,Bob,2\n"
    assert read(Source("file", text), "kind", drop=["name"]).y.tolist() == ["x", "z"]
    assert read(Source("file", text), "kind", features=["a"]).X.tolist() == [[1], [2]]
