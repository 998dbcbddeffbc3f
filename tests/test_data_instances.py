"""The published instances: all of them load, and the generators follow their layout."""

import os
import re
from pathlib import Path

import numpy as np
import pytest

from hardmargin.data import generate, load

ROOT = Path(__file__).resolve().parents[1]
FOLDER = Path(os.environ.get("HARDMARGIN_DATA", ROOT.parent / "shared" / "data")) / "brooks"

pytestmark = pytest.mark.skipif(
    not FOLDER.is_dir(), reason="the published instances are not here; HARDMARGIN_DATA says where they are"
)


def training_files():
    return sorted(file for file in FOLDER.iterdir() if file.suffix != ".test")


def synthetic_files():
    found = []
    for file in training_files():
        match = re.fullmatch(r"n(\d+)d(\d+)([AB])Tj\d", file.name)
        if match:
            found.append((file, match[3], int(match[1]), int(match[2])))
    return found


def test_every_training_file_loads():
    files = training_files()
    assert len(files) == 175
    for file in files:
        dataset = load(file)
        declared = [int(line) for line in file.read_text().split("\n")[:2]]
        assert [dataset.n, dataset.m] == declared
        assert dataset.format == "brooks"
        assert set(dataset.y.tolist()) == {-1, 1}


def test_every_test_file_fits_its_training_file():
    files = sorted(FOLDER.glob("*.test"))
    assert len(files) == 55
    for file in files:
        dataset = load(file)
        assert dataset.n == len(file.read_text().splitlines())
        assert dataset.m == load(file.with_suffix(".train")).m
        assert set(dataset.y.tolist()) == {-1, 1}


def test_generated_outliers_are_labelled_and_placed_as_in_the_files():
    files = synthetic_files()
    assert len(files) == 120
    for file, kind, n, d in files:
        published, generated = load(file), generate(kind, n, d, seed=1)
        outliers = slice(n - n // 10, n)
        np.testing.assert_array_equal(published.y[outliers], generated.y[outliers])
        if kind == "B":
            for dataset in (published, generated):
                np.testing.assert_allclose(dataset.X[outliers], 10 / np.sqrt(d), atol=0.5)


@pytest.mark.parametrize("kind", ["A", "B"])
@pytest.mark.parametrize("label", [1, -1])
def test_generated_classes_have_the_moments_of_the_files(kind, label):
    centre = 0.0 if label == 1 else 2.0
    ours, theirs = [], []
    for seed, (file, kind_of_file, n, d) in enumerate(synthetic_files()):
        if kind_of_file == kind:
            for dataset, pooled in ((load(file), theirs), (generate(kind, n, d, seed), ours)):
                chosen = np.flatnonzero(dataset.y[: n - n // 10] == label)
                pooled.append((dataset.X[chosen] - centre / np.sqrt(d)).ravel())
    for pooled in (np.concatenate(ours), np.concatenate(theirs)):
        assert len(pooled) > 10_000
        assert abs(pooled.mean()) < 0.03
        assert abs(pooled.std() - 1) < 0.03


def test_spread_outliers_have_the_moments_of_the_files():
    ours, theirs = [], []
    for seed, (file, kind, n, d) in enumerate(synthetic_files()):
        if kind == "A":
            for dataset, pooled in ((load(file), theirs), (generate(kind, n, d, seed), ours)):
                rows = slice(n - n // 10, n)
                centres = np.where(dataset.y[rows] > 0, 0.0, 2 / np.sqrt(d))
                pooled.append((dataset.X[rows] - centres[:, None]).ravel())
    for pooled in (np.concatenate(ours), np.concatenate(theirs)):
        assert abs(pooled.mean()) < 0.5
        assert abs(pooled.std() - 10) < 0.5
