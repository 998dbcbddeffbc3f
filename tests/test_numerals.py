"""Numbers are read in plain decimal notation only: in data files, as labels and on the command line."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardmargin import numerals
from hardmargin.cli import main
from hardmargin.cli.key_values import class_weights, key_value
from hardmargin.cli.parser import Parser
from hardmargin.data import DataError, brooks, delimited, libsvm, values
from hardmargin.data.source import Source
from hardmargin.labels import same_label

ARABIC_FIVE, FULL_WIDTH_FIVE, SUPERSCRIPT_TWO = "\u0665", "\uff15", "\u00b2"
# Python's float or int accept all of them except the last.
NOT_PLAIN = ["1_0", "1_0.5", "1e1_0", ARABIC_FIVE, FULL_WIDTH_FIVE, f"1.{FULL_WIDTH_FIVE}", SUPERSCRIPT_TWO]
PLAIN = {"10": 10.0, "+1.5": 1.5, "-.5": -0.5, "5.": 5.0, "1e3": 1000.0, "-1.25E-2": -0.0125, "007": 7.0}


@given(st.floats(allow_nan=False))
def test_every_number_that_is_written_is_read(number) -> None:
    assert numerals.plain_float(repr(number)) == number
    assert values.is_finite_number(repr(number)) is math.isfinite(number)


@pytest.mark.parametrize("word", NOT_PLAIN)
def test_what_only_python_takes_for_a_number_is_none(word) -> None:
    assert not values.is_number(word)
    for read in (numerals.plain_float, numerals.plain_int):
        with pytest.raises(ValueError, match="plain decimal notation"):
            read(word)


@pytest.mark.parametrize(("word", "number"), PLAIN.items())
def test_plain_numbers_are_features_in_every_format(word, number) -> None:
    assert brooks.read(Source("file", f"1 {word} 2\n")).X[0, 0] == number
    assert libsvm.read(Source("file", f"1 1:{word} 2:2\n")).X[0, 0] == number
    assert delimited.read(Source("file", f"{word},2,yes\n")).X[0, 0] == number


REFUSED = "; expected a finite number in plain decimal notation (digits 0 to 9, without underscores)."


@pytest.mark.parametrize("word", NOT_PLAIN)
@pytest.mark.parametrize(
    ("read", "text", "message"),
    [
        (brooks.read, "1 0 0\n1 2 {}\n", "file:2: feature 2 is {!r}"),
        (brooks.read, "1 0 0\n{} 2 3\n", "file:2: the label is {!r}"),
        (libsvm.read, "1 1:0\n1 2:{}\n", "file:2: feature 2 is {!r}"),
        (libsvm.read, "1 1:0\n{} 2:2\n", "file:2: the label is {!r}"),
        (delimited.read, "0,0,no\n2,{},yes\n", "file:2: column 1 (counted from 0) is {!r}"),
    ],
)
def test_other_notations_are_refused_in_every_format(read, text, message, word) -> None:
    with pytest.raises(DataError) as refusal:
        read(Source("file", text.format(word)))
    assert str(refusal.value) == message.format(word) + REFUSED


@pytest.mark.parametrize("word", NOT_PLAIN)
def test_labels_that_look_alike_to_python_stay_two(word) -> None:
    labels = delimited.read(Source("file", f"1,10\n2,5\n3,{word}\n")).y
    assert labels.tolist() == ["10", "5", word]
    assert len(np.unique(labels)) == 3


def test_a_text_is_a_number_only_in_plain_notation() -> None:
    assert same_label("10", 10)
    assert same_label(10.0, "1e1")
    assert not same_label("1_0", 10)
    assert not same_label(5, FULL_WIDTH_FIVE)


@pytest.mark.parametrize("word", NOT_PLAIN)
@pytest.mark.parametrize("kind", [float, int])
def test_arguments_of_the_command_line_are_plain(kind, word) -> None:
    parser = Parser(prog="hardmargin")
    parser.add_argument("--number", type=kind)
    assert parser.parse_args(["--number", "12"]).number == 12
    with pytest.raises(ValueError, match=f"argument --number: invalid {kind.__name__} value: '{word}'"):
        parser.parse_args(["--number", word])


def test_options_and_class_weights_are_plain() -> None:
    assert key_value("effort=1_0") == ("effort", "1_0")
    with pytest.raises(ValueError, match="--class-weight is '1=1_0'; expected 'balanced' or LABEL=WEIGHT"):
        class_weights(["1=1_0"], labels=[-1, 1])
    with pytest.raises(ValueError, match="--class-weight names '1_0', which no sample has"):
        class_weights(["1_0=2"], labels=[10, 1])


def test_commands_refuse_other_notations(capsys) -> None:
    assert main(["generate", "--type", "A", "--n", "1_0", "--d", "2"]) == 2
    assert "argument --n: invalid int value: '1_0'" in capsys.readouterr().err
