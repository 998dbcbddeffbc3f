"""The demo: its data are what the recipe draws, and it shows what it claims."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from hardmargin import Result, verify
from hardmargin.data import load
from scripts import loaded

pytest.importorskip("matplotlib", reason="the extra plot is not installed")


@pytest.fixture(scope="module")
def demo():
    return loaded("examples/demo.py")


@pytest.fixture(scope="module")
def output(demo, tmp_path_factory):
    """The folder that the demo fills, and its output."""
    folder = tmp_path_factory.mktemp("demo") / "new"
    with pytest.MonkeyPatch.context() as patch, open(folder.parent / "printed", "w+") as printed:
        patch.setattr(sys, "stdout", printed)
        demo.main(folder)
        printed.seek(0)
        return folder, printed.read()


def test_the_data_are_what_the_recipe_draws(demo):
    stored, drawn = load(demo.DATA), demo.draw_data()
    assert np.allclose(stored.X, drawn.X, atol=1e-9)
    assert np.array_equal(stored.y, drawn.y)
    assert stored.feature_names == drawn.feature_names


def test_picture_and_model_are_written_and_named(output):
    folder, printed = output
    assert sorted(path.name for path in folder.iterdir()) == ["outliers.json", "outliers.png"]
    assert (folder / "outliers.png").read_bytes().startswith(b"\x89PNG")
    for path in folder.iterdir():
        assert str(path) in printed


def test_bounds_are_shown_and_summed_up(output):
    folder, printed = output
    assert "upper bound    lower bound" in printed
    assert Result.load(folder / "outliers.json").summary() in printed


def test_the_model_holds(demo, output):
    data = load(demo.DATA)
    assert verify(output[0] / "outliers.json", data.X, data.y)


def test_the_hard_margin_loss_gives_up_the_outliers(output):
    result = Result.load(output[0] / "outliers.json")
    # The optimum, found by trying every set of two or three samples that could lie on the margin.
    assert result.objective == pytest.approx(122.339810, rel=1e-6)
    assert set(range(70, 80)) <= set(result.violations)


def test_the_hinge_loss_is_pulled_away_whatever_its_penalty(demo):
    data = load(demo.DATA)
    clean = np.arange(data.n) < 2 * demo.CLASS_SIZE
    hinge = demo.train_hinge(data)
    assert np.mean((hinge.predict(data.X) == data.y)[clean]) < 0.8
    for penalty in (0.01, 0.1, 1, 10, 100):
        other = demo.SVC(kernel="linear", C=penalty).fit(data.X, data.y)
        assert np.mean((other.predict(data.X) == data.y)[clean]) < 0.8
