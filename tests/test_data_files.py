"""load() and save(): round trips, forced formats, and garbage that must not crash."""

import gzip
import re

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from hardmargin.data import FORMATS, DataError, Dataset, dumps, generate, load, save

FLOATS = st.floats(allow_nan=False, allow_infinity=False)
MATRICES = arrays(np.float64, array_shapes(min_dims=2, max_dims=2, max_side=6), elements=FLOATS | st.just(0.0))
WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=8)

#: The characters with a meaning in one of the formats.
TELLING = "0123456789 \t\n\r.,;:\"'#-+eExyNAnaif?_"


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return tmp_path_factory.mktemp("data") / "file"


def assert_same(found, expected):
    assert found.X.shape == expected.X.shape
    assert found.X.tobytes() == expected.X.tobytes()
    assert [repr(label) for label in found.y.tolist()] == [repr(label) for label in expected.y.tolist()]
    assert found.feature_names == expected.feature_names


@st.composite
def numeric_datasets(draw):
    X = draw(MATRICES)
    kind = draw(st.sampled_from([st.integers(-(2**63) + 1, 2**63 - 1), FLOATS]))
    labels = draw(st.lists(kind, min_size=len(X), max_size=len(X)))
    return Dataset(X, np.array(labels))


@pytest.mark.parametrize("format", FORMATS)
@settings(deadline=None)
@given(dataset=numeric_datasets())
def test_numbers_survive_in_every_format(file, format, dataset):
    save(dataset, file, format)
    for found in (load(file), load(file, format=format)):
        assert_same(found, dataset)
        assert found.format == format


@settings(deadline=None)
@given(data=st.data(), X=MATRICES)
def test_words_survive_in_tables_or_are_refused(file, data, X):
    labels = data.draw(st.lists(WORDS, min_size=len(X), max_size=len(X)))
    names = data.draw(st.none() | st.lists(WORDS, min_size=X.shape[1], max_size=X.shape[1]))
    dataset = Dataset(X, np.array(labels), names)
    file.unlink(missing_ok=True)
    refusal = None
    try:
        save(dataset, file, "csv")
    except ValueError as problem:
        refusal = str(problem)
    if refusal is None:
        assert_same(load(file), dataset)
    else:
        assert not file.exists()
        assert refusal.startswith("the samples cannot be written in csv format: ")


@settings(deadline=None)
@given(data=st.data(), X=MATRICES)
def test_ordinary_words_survive_in_tables(file, data, X):
    ordinary = st.from_regex(r"[g-m][\w ,;:\"'\n\t#]{0,6}[o-s]", fullmatch=True)
    labels = data.draw(st.lists(ordinary, min_size=len(X), max_size=len(X)))
    names = data.draw(st.none() | st.lists(ordinary, min_size=X.shape[1], max_size=X.shape[1]))
    dataset = Dataset(X, np.array(labels), names)
    save(dataset, file, "csv")
    assert_same(load(file, format="csv"), dataset)


@pytest.mark.parametrize(
    ("format", "X", "y", "names", "reason"),
    [
        ("brooks", [[1.0]], ["yes"], None, "the label is 'yes'; expected a finite number"),
        ("libsvm", [[1.0]], ["yes"], None, "the label is 'yes'; expected a finite number"),
        ("csv", [[1.0]], ["1"], None, "would be read back as int64, first [1]"),
        ("csv", [[1.0]], [True], None, "would be read back as <U4, first ['True']"),
        ("csv", [[1.0]], [" a"], None, "would be read back as <U1, first ['a']"),
        ("csv", [[1.0]], ["a\ud800"], None, "surrogates not allowed"),
        ("csv", [[1.0]], ["a\0b"], None, "found binary content"),
        ("csv", [[1.0]], ["NA"], None, "a missing value; expected a label in every row"),
        ("csv", [[1.0]], [1], ["label"], "2 columns are named 'label'"),
        ("csv", [[1.0]], [1], ["a "], "the feature names ['a '] would be read back as ['a']"),
        ("csv", [[1.0]], ["y"], None, "a header without rows"),
        ("csv", [[1.0]], [1], ["a\n1 1:2 b"], "they would be taken for libsvm"),
        ("csv", [[np.nan]], [1], None, "a missing value; expected a number"),
        ("brooks", [[np.inf]], [1], None, "'inf'; expected a finite number"),
        ("libsvm", [[1.0]], [np.nan], None, "the label is 'nan'"),
        ("libsvm", np.empty((2, 0)), [1, 2], None, "no line has a feature"),
        ("csv", np.empty((0, 2)), [], None, "has no content"),
    ],
)
def test_what_would_not_survive_is_not_written(tmp_path, format, X, y, names, reason):
    file = tmp_path / "file"
    with pytest.raises(ValueError, match=f"^the samples cannot be written in {format} .*{re.escape(reason)}"):
        save(Dataset(np.array(X), np.array(y), names), file, format)
    assert not file.exists()


def test_names_are_left_out_where_a_format_has_none(file):
    save(Dataset(np.array([[1.0]]), np.array([1]), ["a"]), file, "brooks")
    assert load(file).feature_names is None


def test_dumps_gives_what_save_writes(file):
    dataset = generate("A", 20, 3)
    for format in FORMATS:
        save(dataset, file, format)
        assert file.read_text(encoding="utf-8") == dumps(dataset, format)


@pytest.mark.parametrize("format", FORMATS)
def test_compressed_files_load_like_plain_ones(file, format):
    dataset = generate("B", 30, 2, seed=3)
    file.write_bytes(gzip.compress(dumps(dataset, format).encode()))
    assert_same(load(str(file)), dataset)


def test_forcing_a_format(file):
    file.write_text("1\t2\t3\n4\t5\t6\n")
    assert load(file).y.tolist() == [3, 6]
    assert load(file, format="brooks").y.tolist() == [1, 4]
    with pytest.raises(DataError, match=r":1: found '2'; expected index:value\."):
        load(file, format="libsvm")


@pytest.mark.parametrize(("text", "format"), [("1 2 3\n", "brooks"), ("1 1:2\n", "libsvm")])
def test_a_label_column_is_only_for_tables(file, text, format):
    file.write_text(text)
    with pytest.raises(DataError, match=f"label = 'y' is given for a file in {format} format; expected no label"):
        load(file, label="y")
    with pytest.raises(DataError, match=f"label = 0 is given for a file in {format} format; expected no label"):
        load(file, format=format, label=0)


@pytest.mark.parametrize("label", [True, 1.0, ["a"]])
def test_label_of_a_wrong_type(file, label):
    file.write_text("1,2\n")
    with pytest.raises(TypeError, match="expected the name or the position of a column"):
        load(file, label=label)


@pytest.mark.parametrize("format", ["xlsx", "", "CSV", 1])
def test_unknown_formats(file, format):
    with pytest.raises(ValueError, match="expected one of brooks, libsvm, csv"):
        load(file, format=format)
    with pytest.raises(ValueError, match="expected one of brooks, libsvm, csv"):
        save(generate("A", 20, 2), file, format)


def load_or_refuse(file, content, format, label):
    """Load garbage: anything but a sound dataset or a DataError naming the file fails the test."""
    file.write_bytes(content)
    dataset, refusal = None, ""
    try:
        dataset = load(file, format=format, label=label)
    except DataError as problem:
        refusal = str(problem)
    if dataset is None:
        assert refusal.startswith(str(file))
        return
    assert dataset.X.dtype == np.float64
    assert dataset.X.shape == (len(dataset.y), dataset.m)
    assert dataset.n >= 1
    assert dataset.m >= 1
    assert np.isfinite(dataset.X if isinstance(dataset.X, np.ndarray) else dataset.X.data).all()
    assert dataset.y.dtype.kind in "ifU"
    assert dataset.feature_names is None or len(dataset.feature_names) == dataset.m


CHOICES = st.none() | st.sampled_from(FORMATS)
LABELS = st.none() | st.integers(-4, 4) | st.sampled_from(["0", "-1", "y", "x", "²"])


@settings(deadline=None)
@given(content=st.binary(max_size=200), format=CHOICES, label=LABELS)
@example(content=b"\x1f\x8b\x08\x00", format=None, label=None)
def test_bytes_never_crash(file, content, format, label):
    load_or_refuse(file, content, format, label)


@settings(deadline=None)
@given(content=st.binary(max_size=60), format=CHOICES)
def test_compressed_bytes_never_crash(file, content, format):
    load_or_refuse(file, gzip.compress(content)[: len(content) + 15], format, None)


@settings(deadline=None)
@given(text=st.text(st.characters(codec="utf-8"), max_size=200), format=CHOICES, label=LABELS)
@example(text="²\n²\n1 ²:1", format=None, label=None)
@example(text="1 ²:1", format="libsvm", label=None)
@example(text="\x1c1 2\x1f3", format=None, label=None)
def test_text_never_crashes(file, text, format, label):
    load_or_refuse(file, text.encode(), format, label)


@settings(max_examples=600, deadline=None)
@given(text=st.text(TELLING, max_size=80), format=CHOICES, label=LABELS)
@example(text="1 99999999:1", format=None, label=None)
@example(text="9999999999 1\n1 1", format=None, label=None)
@example(text='"', format="csv", label=None)
@example(text='","', format="csv", label=None)
@example(text="1,\r\r2,3", format=None, label=None)
def test_almost_data_never_crashes(file, text, format, label):
    load_or_refuse(file, text.encode(), format, label)


@st.composite
def lines_of_words(draw):
    word = st.sampled_from(["1", "-1", "2", "0.5", "nan", "?", "x", "y", "1:2", "3:x", "qid:1", "1e999", '"a"'])
    rows = draw(st.lists(st.lists(word, max_size=4), min_size=1, max_size=6))
    separator = draw(st.sampled_from([" ", ",", ";", "\t"]))
    return "\n".join(separator.join(row) for row in rows)


@settings(max_examples=300, deadline=None)
@given(text=lines_of_words(), format=CHOICES, label=LABELS)
def test_tables_of_plausible_words_never_crash(file, text, format, label):
    load_or_refuse(file, text.encode(), format, label)
