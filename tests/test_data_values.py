"""Numbers and labels from words."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardmargin.data import DataError, values
from hardmargin.data.source import Source


@given(st.lists(st.integers(-(2**63) + 1, 2**63 - 1), min_size=1))
def test_integers_stay_integers(integers):
    found = values.labels_from([str(integer) for integer in integers])
    assert found.dtype == np.int64
    assert found.tolist() == integers


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_floats_keep_their_bits(floats):
    found = values.labels_from([repr(number) for number in floats])
    assert found.tobytes() == np.array(floats).tobytes()


@given(st.lists(st.text(alphabet="abc019.-+e_ ", min_size=1, max_size=12), min_size=1))
def test_labels_are_words_unless_all_are_numbers(words):
    found = values.labels_from(words)
    assert (found.dtype.kind == "U") == (not all(map(values.is_finite_number, words)))
    if found.dtype.kind == "U":
        assert found.tolist() == words


@pytest.mark.parametrize("word", [str(2**63), str(-(2**63)), "9" * 30])
def test_integers_of_more_than_64_bits_stay_words(word):
    assert values.labels_from([word, "1"]).tolist() == [word, "1"]


def test_too_many_values_are_refused_before_they_are_kept(monkeypatch):
    monkeypatch.setattr(values, "MAX_CELLS", 4)
    rows = values.NumberRows(Source("file", ""), str)
    rows.append(1, ["1", "2"])
    rows.append(2, ["3", "4"])
    with pytest.raises(DataError, match=r"^file:3: more than 4 values; expected at most that many."):
        rows.append(3, ["5", "6"])
