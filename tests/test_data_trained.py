"""Samples for an existing model: which columns are taken, whatever the file looks like."""

from __future__ import annotations

import numpy as np
import pytest

from hardmargin.data import DataError
from hardmargin.data.trained import Trained, load_for

NAMED = Trained(2, ["a", "b"], "kind")
UNNAMED = Trained(2, None, 0)
UNKNOWN = Trained(2)


@pytest.fixture
def load(tmp_path):
    def run(trained, text, **reading):
        file = tmp_path / "file"
        file.write_text(text)
        return load_for(trained, file, **reading)

    return run


@pytest.mark.parametrize(
    ("trained", "text", "labels", "ignored"),
    [
        (NAMED, "a,b,kind\n1,2,x\n3,4,z\n", ["x", "z"], []),
        (NAMED, "kind,b,a\nx,2,1\nz,4,3\n", ["x", "z"], []),
        (NAMED, "b,a\n2,1\n4,3\n", None, []),
        (NAMED, "b,n,a\n2,?,1\n4,word,3\n", None, ["column 'n'"]),
        (NAMED, ",b,a,kind\n0,2,1,x\n1,4,3,z\n", ["x", "z"], ["column 0 (counted from 0)"]),
        # A column with a usual name for labels is not that of training.
        (NAMED, "b,a,label\n2,1,x\n4,3,z\n", None, ["column 'label'"]),
        (NAMED, "1,2\n3,4\n", None, []),
        (NAMED, "1,2,x\n3,4,z\n", ["x", "z"], []),
        (Trained(2, ["0", "1"], "y"), "1,0\n2,1\n4,3\n", None, []),
        (UNNAMED, "x,1,2\nz,3,4\n", ["x", "z"], []),
        (UNNAMED, "1,2\n3,4\n", None, []),
        (UNNAMED, "k,a,b\nx,1,2\nz,3,4\n", ["x", "z"], []),
        (UNKNOWN, "1,2,x\n3,4,z\n", ["x", "z"], []),
        (UNKNOWN, "label,a,b\nx,1,2\nz,3,4\n", ["x", "z"], []),
        (Trained(2, ["a", "b"]), "a,n,b,label\n1,5,2,x\n3,5,4,z\n", ["x", "z"], ["column 'n'"]),
        (Trained(2, ["a", "b"]), "kind,a,b\nx,1,2\nz,3,4\n", ["x", "z"], []),
        (Trained(2, ["a", "a"], "y"), "a,a,y\n1,2,x\n3,4,z\n", ["x", "z"], []),
        # Two columns of the label's name: it is known by its position.
        (Trained(2, ["a", "b"], 3), "k,a,b,k\n5,1,2,x\n5,3,4,z\n", ["x", "z"], ["column 'k'"]),
        (UNKNOWN, "-1 1 2\n1 3 4\n", [-1, 1], []),
        (UNKNOWN, "-1 1:1 2:2\n1 1:3 2:4\n", [-1, 1], []),
        (UNKNOWN, "-1 1:1 2:2 3:7\n1 1:3 2:4\n", [-1, 1], ["feature 3"]),
    ],
)
def test_columns_are_found(trained, text, labels, ignored, load):
    samples = load(trained, text)
    assert np.asarray(samples.X).tolist() == [[1, 2], [3, 4]]
    assert (None if samples.y is None else samples.y.tolist()) == labels
    assert samples.ignored == ignored


@pytest.mark.parametrize(
    ("trained", "text", "message"),
    [
        (NAMED, "a,c,kind\n1,2,x\n", "column 'b' missing; expected every feature of the model, 'a', 'b'."),
        (NAMED, "c,d,kind\n1,2,x\n", "columns 'a', 'b' missing"),
        (NAMED, "1,2,3,x\n", "found 4 columns; expected 2 features, with or without one column of labels"),
        (UNNAMED, "a,label\n1,2\n3,4\n", "found 2 columns, 'label' among them; expected 2 features"),
        (Trained(2, ["a", "a"], "y"), "a,a,b\n1,2,3\n", "the features are in another order than in training"),
        # A feature of the model cannot be left out.
        (NAMED, "a,b\n1,x\n2,z\n", r"file:2: column 'b' is 'x'; expected a finite number\."),
        (UNKNOWN, "-1 1\n1 3\n", "found 1 features; expected 2, as in training"),
    ],
)
def test_columns_that_are_missing(trained, text, message, load):
    with pytest.raises(DataError, match=message):
        load(trained, text)


def test_the_caller_may_name_columns(load):
    samples = load(NAMED, "a,b,kind,truth\n1,2,x,no\n3,4,z,yes\n", label="truth")
    assert samples.y.tolist() == ["no", "yes"]
    assert samples.ignored == ["column 'kind'"]
    assert load(UNKNOWN, "9,1,2,x\n9,3,4,z\n", drop=["0"]).X.tolist() == [[1, 2], [3, 4]]
    assert load(UNKNOWN, "9,1,2,x\n9,3,4,z\n", features=[2, 1], label=3).X.tolist() == [[2, 1], [4, 3]]
    with pytest.raises(DataError, match="column 'a' missing"):
        load(NAMED, "a,b\n1,2\n", drop=["a"])


def test_a_single_column_needs_no_delimiter(load):
    for text in ("a\n1\n3\n", "1\n3\n"):
        assert load(Trained(1, ["a"], "y"), text).X.tolist() == [[1], [3]]
    assert load(Trained(1, ["a"], "y"), "a,y\n1,x\n3,z\n").y.tolist() == ["x", "z"]
    assert load(Trained(1), "-1 1\n1 3\n").X.tolist() == [[1], [3]]
