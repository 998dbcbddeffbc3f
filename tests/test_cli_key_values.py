"""KEY=VALUE arguments: types, labels, and what follows them."""

from __future__ import annotations

import argparse

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardmargin.cli.key_values import class_weights, key_value, one_flag_each, typed

words = st.text(st.characters(codec="ascii", exclude_categories=["C"]), max_size=8)


@given(st.one_of(st.integers(), st.floats(allow_nan=False), st.booleans()))
def test_values_come_back_with_their_type(value):
    read = typed(str(value))
    assert read == value
    assert type(read) is type(value)


@given(words.filter(lambda word: word and "=" not in word), words)
def test_the_first_sign_divides(key, value):
    # Compared as text, because NaN is not equal to itself.
    assert repr(key_value(f"{key}={value}")) == repr((key, typed(value)))


@pytest.mark.parametrize("text", ["", "=", "=3", "key"])
def test_what_is_no_pair_is_refused(text):
    with pytest.raises(argparse.ArgumentTypeError, match="KEY=VALUE"):
        key_value(text)


@given(st.lists(st.one_of(words, st.sampled_from(["--option", "a=1", "b=2", "-1=2", "DATA"]))))
def test_only_flags_are_put_in_and_once(argv):
    spread = one_flag_each(argv, ["--option"])
    assert one_flag_each(spread, ["--option"]) == spread
    words = [word.removeprefix("--option=") for word in spread if word != "--option"]
    assert words == [word for word in argv if word != "--option"]


@pytest.mark.parametrize(
    ("texts", "labels", "expected"),
    [
        (None, [0, 1], None),
        (["balanced"], [0, 1], "balanced"),
        (["0=2", "1=0.5"], [0, 1], {0: 2.0, 1: 0.5}),
        (["+1=2"], [-1, 1], {1: 2.0}),
        (["-1=2"], [-1, 1], {-1: 2.0}),
        (["1=2"], [0.0, 1.0], {1.0: 2.0}),
        (["1=2"], ["1", "no"], {"1": 2.0}),
        (["a=b=2"], ["a=b", "c"], {"a=b": 2.0}),
    ],
)
def test_weights_find_their_labels(texts, labels, expected):
    assert class_weights(texts, labels) == expected
