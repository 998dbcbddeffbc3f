"""The Type A and Type B generators: reproducible to the bit, and distributed like the benchmark's files."""

import hashlib
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardmargin.data import MAX_CELLS, generate


def digest(dataset):
    content = dataset.X.astype("<f8").tobytes() + dataset.y.astype("<i8").tobytes()
    return hashlib.sha256(content).hexdigest()[:16]


RECORDED = {
    ("A", 60, 2, 0): "f507d854e2b2b917",
    ("A", 200, 5, 1): "e25add03864def4c",
    ("B", 60, 2, 0): "817abb34d1a20494",
    ("B", 500, 10, 2**64 - 1): "5e064d6495ba66ca",
}


@pytest.mark.parametrize("arguments", RECORDED)
def test_the_same_bits_as_ever(arguments):
    assert digest(generate(*arguments)) == RECORDED[arguments]


def test_first_rows_as_ever():
    dataset = generate("A", 60, 2, 0)
    assert dataset.X[:2].tolist() == [
        [-0.4264939650044248, 0.588844425349778],
        [-0.983482853143387, 1.432031138704751],
    ]
    assert dataset.y[:8].tolist() == [1, -1, 1, 1, 1, 1, -1, 1]


@given(st.sampled_from("AB"), st.integers(2, 80), st.integers(1, 6), st.integers(0, 2**64 - 1))
@settings(max_examples=200, deadline=None)
def test_shape_and_labels(kind, n, d, seed):
    dataset = generate(kind, n, d, seed)
    assert dataset.X.shape == (n, d)
    assert dataset.X.dtype == np.float64
    assert dataset.y.dtype == np.int64
    assert np.isfinite(dataset.X).all()
    assert set(dataset.y.tolist()) == {-1, 1}
    assert (dataset.feature_names, dataset.format) == (None, "generated")
    outliers = n // 10
    if outliers and kind == "B":
        assert (dataset.y[-outliers:] == 1).all()
    if outliers and kind == "A":
        half = (outliers + 1) // 2
        assert dataset.y[-outliers:].tolist() == [1] * half + [-1] * (outliers - half)


def test_seeds_and_kinds_give_different_data():
    digests = {digest(generate(kind, 60, 2, seed)) for kind in "AB" for seed in range(50)}
    assert len(digests) == 100


def standardised(kind, part):
    """Many samples of one kind, with their expected centre and deviation removed."""
    n, d = 40_000, 4
    dataset = generate(kind, n, d, seed=7)
    rows = slice(n - n // 10, n) if part == "outliers" else slice(0, n - n // 10)
    X, y = dataset.X[rows], dataset.y[rows]
    centres = np.where(y > 0, 0.0, 2 / np.sqrt(d))
    deviation = 1.0
    if part == "outliers":
        centres = centres if kind == "A" else np.full(len(y), 10 / np.sqrt(d))
        deviation = 10.0 if kind == "A" else 0.1
    return (X - centres[:, None]) / deviation, y


@pytest.mark.parametrize("kind", ["A", "B"])
@pytest.mark.parametrize("part", ["ordinary", "outliers"])
def test_both_parts_are_gaussian(kind, part):
    Z, y = standardised(kind, part)
    for label in set(y.tolist()):
        z = Z[y == label]
        # Five standard errors: the first, second and fourth power of a normal have variances 1, 2 and 96.
        error = 5 / np.sqrt(z.size)
        assert abs(z.mean()) < error
        assert abs((z**2).mean() - 1) < error * np.sqrt(2)
        assert abs((z**4).mean() - 3) < error * np.sqrt(96)
        correlations = np.corrcoef(z, rowvar=False) - np.eye(4)
        assert np.abs(correlations).max() < 5 / np.sqrt(len(z))


def test_tails_are_those_of_a_normal():
    Z, _ = standardised("A", "ordinary")
    for threshold, share in [(1.0, 0.31731), (2.0, 0.04550), (3.0, 0.0026998)]:
        found = (np.abs(Z) > threshold).mean()
        assert abs(found - share) < 5 * np.sqrt(share / Z.size)


def test_class_counts_scatter_as_from_a_balanced_pool():
    counts = [int((generate("A", 100, 1, seed).y[:90] > 0).sum()) for seed in range(400)]
    # Without replacement from 90 of either class: variance 90 / 4 * 90 / 179 = 11.3; coins would give 22.5.
    assert abs(np.mean(counts) - 45) < 1
    assert 8.5 < np.var(counts) < 15


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("C", 60, 2, 0), "kind is 'C'; expected 'A' (spread outliers) or 'B' (clustered outliers)."),
        ((None, 60, 2, 0), "kind is None; expected"),
        (("A", 1, 2, 0), "n is 1; expected a whole number >= 2."),
        (("A", 60.0, 2, 0), "n is 60.0; expected a whole number >= 2."),
        (("A", True, 2, 0), "n is True; expected a whole number >= 2."),
        (("A", 60, 0, 0), "d is 0; expected a whole number >= 1."),
        (("A", 60, "2", 0), "d is '2'; expected a whole number >= 1."),
        (("A", 10**6, 10**6, 0), f"n * d is {10**12}; expected at most {MAX_CELLS}."),
        (("A", 60, 2, -1), "seed is -1; expected a whole number from 0 to 2**64 - 1."),
        (("A", 60, 2, 2**64), "expected a whole number from 0 to 2**64 - 1."),
        (("A", 60, 2, None), "seed is None; expected a whole number"),
    ],
)
def test_arguments_out_of_range(arguments, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        generate(*arguments)
