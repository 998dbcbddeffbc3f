"""Plots: what is drawn where, and what is refused."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from sklearn.svm import SVC

from hardmargin import solve
from hardmargin.plotting import plot_comparison, plot_hyperplane

pytest.importorskip("matplotlib", reason="the extra plot is not installed")

from matplotlib.figure import Figure

X = np.array([[0.0, 0.0], [0.0, 1.0], [3.0, 0.0], [3.0, 1.0], [9.0, 0.5]])
y = np.array(["no", "no", "yes", "yes", "no"])


@pytest.fixture
def ax():
    return Figure().subplots()


def line_levels(ax, coef, intercept):
    """The value of w.x + b on every line that is drawn."""
    return sorted(float(np.dot(coef, line.get_xy1()) + intercept) for line in ax.lines)


def test_line_and_margins_lie_where_they_belong(ax):
    coef, intercept = np.array([2.0, -1.0]), 0.25
    plot_hyperplane(ax, X, y, coef, intercept)
    assert line_levels(ax, coef, intercept) == pytest.approx([-1, 0, 1], abs=1e-12)
    for line in ax.lines:
        direction = np.subtract(line.get_xy2(), line.get_xy1())
        assert abs(coef @ direction) < 1e-12


def test_violated_samples_are_ringed(ax):
    violations = plot_hyperplane(ax, X, y, [1.0, 0.0], -1.5)
    assert violations.tolist() == [4]
    rings = ax.collections[-1]
    assert rings.get_offsets().tolist() == [[9.0, 0.5]]
    assert rings.get_label() == "given up"


def test_every_class_has_its_colour_and_marker(ax):
    plot_hyperplane(ax, X, y, [1.0, 0.0], -1.5)
    negative, positive = ax.collections[:2]
    assert [len(negative.get_offsets()), len(positive.get_offsets())] == [3, 2]
    assert negative.get_facecolor().tolist() != positive.get_facecolor().tolist()
    assert len(negative.get_paths()[0].vertices) != len(positive.get_paths()[0].vertices)


def test_a_line_far_away_does_not_stretch_the_window(ax):
    plot_hyperplane(ax, X, y, [1e-3, 0.0], -1.5)
    left, right = ax.get_xlim()
    assert -1 < left < 0
    assert 9 < right < 10


def test_no_direction_no_line(ax):
    assert plot_hyperplane(ax, X, y, [0.0, 0.0], 1.0).tolist() == [0, 1, 4]
    assert not ax.lines


@pytest.mark.parametrize("samples", [X[:, :1], np.hstack([X, X]), X.ravel()])
def test_only_a_plane_can_be_drawn(ax, samples):
    with pytest.raises(ValueError, match=r"expected \(n, 2\)"):
        plot_hyperplane(ax, samples, y, [1.0, 0.0], 0.0)


def test_only_two_classes_can_be_drawn(ax):
    with pytest.raises(ValueError, match="3 classes; expected two"):
        plot_hyperplane(ax, X, [0, 1, 2, 0, 1], [1.0, 0.0], 0.0)


@pytest.mark.parametrize("suffix", [".png", ".pdf", ".svg"])
def test_comparison_is_written(tmp_path, suffix):
    path = plot_comparison(X, y, solve(X, y, C=10), SVC(kernel="linear").fit(X, y), tmp_path / f"picture{suffix}")
    assert path.stat().st_size > 1000


def test_comparison_counts_the_clean_samples(tmp_path):
    result = solve(X, y, C=10)
    hinge = SVC(kernel="linear").fit(X, y)
    clean = np.arange(5) < 4
    path = plot_comparison(X, y, result, hinge, tmp_path / "picture.svg", clean=clean)
    # Text is drawn as outlines, but a comment names every piece of it.
    right = int((hinge.predict(X) == y)[clean].sum())
    assert f"{right} of 4 clean samples on their own side" in path.read_text()


def test_missing_matplotlib_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r'pip install "\.\[plot\]"'):
        plot_comparison(X, y, solve(X, y), SVC(kernel="linear").fit(X, y), tmp_path / "picture.png")
    assert not list(tmp_path.iterdir())
