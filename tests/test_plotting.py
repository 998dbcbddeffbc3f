"""Pictures: what is drawn where, and what is refused."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from hardmargin import HardMarginSVC, Outliers, Status, solve
from hardmargin.bounds import TracePoint
from hardmargin.outlier_table import Outlier

pytest.importorskip("matplotlib", reason="the extra plot is not installed")

import pandas
from matplotlib import pyplot
from matplotlib.figure import Figure

from hardmargin.plotting import (
    BoundaryDisplay,
    ConvergenceDisplay,
    MarginsDisplay,
    PricesDisplay,
    ProjectionDisplay,
    WeightsDisplay,
)

X = np.array([[0.0, 0.0], [0.0, 1.0], [3.0, 0.0], [3.0, 1.0], [9.0, 0.5]])
y = np.array(["no", "no", "yes", "yes", "no"])


@pytest.fixture(scope="module")
def result():
    return solve(X, y, C=10)


@pytest.fixture
def ax():
    return Figure().subplots()


@pytest.fixture
def closed():
    """New figures of pyplot are closed after the test."""
    yield
    pyplot.close("all")


class FixedModel:
    """A linear classifier whose weights a test chooses."""

    def __init__(self, coef, intercept, classes=("no", "yes")):
        self.coef_ = np.array([coef])
        self.intercept_ = np.array([intercept])
        self.classes_ = np.array(classes)

    def decision_function(self, samples):
        return np.asarray(samples) @ self.coef_[0] + self.intercept_[0]


def offsets(collection):
    return collection.get_offsets().tolist()


class TestBoundary:
    def test_line_and_margins_lie_where_they_belong(self, ax):
        model = FixedModel([2.0, -1.0], 0.25)
        display = BoundaryDisplay.from_estimator(model, X, y, ax=ax)
        assert display.lines_.levels.tolist() == [-1, 0, 1]
        for level, segments in zip(display.lines_.levels, display.lines_.allsegs, strict=True):
            assert len(segments) == 1
            assert model.decision_function(segments[0]) == pytest.approx(level, abs=1e-12)

    def test_samples_given_up_have_rings(self, ax, result):
        display = BoundaryDisplay.from_estimator(result, X, y, ax=ax)
        negative, positive, rings = display.samples_
        assert [len(offsets(negative)), len(offsets(positive))] == [3, 2]
        assert offsets(rings) == [[9.0, 0.5]]
        assert display.ax_ is ax
        assert display.figure_ is ax.figure

    def test_classes_differ_in_colour_and_marker(self, ax, result):
        negative, positive, _ = BoundaryDisplay.from_estimator(result, X, y, ax=ax).samples_
        assert negative.get_facecolor().tolist() != positive.get_facecolor().tolist()
        assert len(negative.get_paths()[0].vertices) != len(positive.get_paths()[0].vertices)

    def test_a_line_far_away_is_left_out_and_does_not_stretch_the_window(self, ax):
        display = BoundaryDisplay.from_estimator(FixedModel([1e-3, 0.0], -1.5), X, y, ax=ax)
        assert display.lines_ is None
        left, right = ax.get_xlim()
        assert -1 < left < 0
        assert 9 < right < 10
        assert "boundary" not in [text.get_text() for text in ax.get_legend().get_texts()]

    def test_a_constant_model_and_a_constant_feature_can_be_drawn(self, ax):
        flat = np.column_stack([X[:, 0], np.ones(5)])
        display = BoundaryDisplay.from_estimator(FixedModel([0.0, 0.0], 1.0), flat, y, ax=ax)
        assert display.lines_ is None
        assert display.sides.given_up.tolist() == [True, True, False, False, True]

    def test_columns_with_names_label_the_axes(self, ax):
        frame = pandas.DataFrame(X, columns=["length", "width"])
        model = make_pipeline(StandardScaler(), LogisticRegression()).fit(frame, y)
        BoundaryDisplay.from_estimator(model, frame, y, ax=ax)
        assert (ax.get_xlabel(), ax.get_ylabel()) == ("length", "width")

    def test_a_curved_boundary_can_be_drawn(self, ax):
        model = SVC(C=100).fit(X, y)
        display = BoundaryDisplay.from_estimator(model, X, y, ax=ax)
        for points in display.lines_.allsegs[list(display.lines_.levels).index(0)]:
            assert np.abs(model.decision_function(points)).max() < 0.01

    @pytest.mark.parametrize("samples", [X[:, :1], np.hstack([X, X]), X.ravel()])
    def test_only_a_plane_can_be_drawn(self, ax, samples, result):
        with pytest.raises(ValueError, match=r"expected \(n, 2\)\. For more features use ProjectionDisplay"):
            BoundaryDisplay.from_estimator(result, samples, y, ax=ax)

    def test_only_two_classes_can_be_drawn(self, ax):
        model = LogisticRegression().fit(X, [0, 1, 2, 0, 1])
        with pytest.raises(ValueError, match="the model has 3 classes"):
            BoundaryDisplay.from_estimator(model, X, y, ax=ax)

    def test_labels_that_the_model_does_not_know_are_named(self, ax, result):
        with pytest.raises(ValueError, match="y has the label 'maybe'; expected 'no' or 'yes'"):
            BoundaryDisplay.from_estimator(result, X, ["no", "no", "yes", "maybe", "no"], ax=ax)

    def test_what_is_no_classifier_is_named(self, ax):
        with pytest.raises(TypeError, match="the model is StandardScaler; expected a Result, or a fitted"):
            BoundaryDisplay.from_estimator(StandardScaler(), X, y, ax=ax)


class TestMargins:
    def test_histogram_counts_every_sample(self, ax, result):
        display = MarginsDisplay.from_estimator(result, X, y, ax=ax)
        assert sum(bar.get_height() for bar in ax.patches) == 5
        negative, positive = display.samples_
        assert [x for x, _ in offsets(negative)] == [result.decision_function(X)[4]]
        assert offsets(positive) == []

    def test_samples_on_a_margin_are_counted_beyond_it(self, ax):
        MarginsDisplay.from_predictions(["no", "yes"], [-1.0, 1.0], ax=ax)
        full = [bar for bar in ax.patches if bar.get_height()]
        assert full[0].get_x() + full[0].get_width() == pytest.approx(-1, abs=1e-5)
        assert full[1].get_x() == pytest.approx(1, abs=1e-5)

    @pytest.mark.parametrize("largest", [1.0, 7.3, 1e3, 1e12])
    def test_no_value_falls_outside_the_histogram(self, ax, largest):
        MarginsDisplay.from_predictions([0, 1, 1], [-largest, 0.5, largest], ax=ax, bins=10)
        assert sum(bar.get_height() for bar in ax.patches) == 3

    def test_sorted_margins_ascend_from_rank_one(self, ax, result):
        display = MarginsDisplay.from_estimator(result, X, y, kind="sorted", ax=ax)
        rings = display.samples_[2]
        assert offsets(rings) == [[1.0, pytest.approx(display.sides.margins.min())]]
        points = sorted(offsets(display.samples_[0]) + offsets(display.samples_[1]))
        assert [rank for rank, _ in points] == [1, 2, 3, 4, 5]
        assert [margin for _, margin in points] == sorted(display.sides.margins)

    def test_unknown_kinds_are_refused(self, ax, result):
        with pytest.raises(ValueError, match="kind is 'pie'; expected one of 'histogram', 'sorted'"):
            MarginsDisplay.from_estimator(result, X, y, kind="pie", ax=ax)

    def test_predictions_of_two_classes_are_needed(self, ax):
        with pytest.raises(ValueError, match="y has 3 classes; expected two"):
            MarginsDisplay.from_predictions([0, 1, 2], [1, 2, 3], ax=ax)
        with pytest.raises(ValueError, match=r"values of shape \(2, 1\); expected one per sample"):
            MarginsDisplay.from_predictions([0, 1], [[1], [2]], ax=ax)


class TestWeights:
    def test_bars_are_sorted_and_named(self, ax):
        model = FixedModel([0.5, -2.0, 1.0], 0.0)
        display = WeightsDisplay.from_estimator(model, feature_names=["a", "b", "c"], max_features=2, ax=ax)
        assert [bar.get_width() for bar in display.bars_] == [-2.0, 1.0]
        assert [label.get_text() for label in ax.get_yticklabels()] == ["b", "c"]
        assert "(1 features with smaller weights not shown)" in ax.get_xlabel()

    def test_names_come_from_the_data(self, ax):
        frame = pandas.DataFrame(X, columns=["length", "width"])
        display = WeightsDisplay.from_estimator(HardMarginSVC(C=10).fit(frame, y), ax=ax)
        assert display.feature_names == ["length", "width"]

    def test_names_come_through_a_pipeline(self, ax):
        model = make_pipeline(PCA(2), HardMarginSVC(C=10)).fit(X, y)
        assert WeightsDisplay.from_estimator(model, ax=ax).feature_names == ["pca0", "pca1"]

    def test_a_model_without_weights_is_refused(self, ax):
        with pytest.raises(TypeError, match="SVC without coef_ and intercept_; expected a linear one"):
            WeightsDisplay.from_estimator(SVC().fit(X, y), ax=ax)

    def test_wrong_numbers_of_names_and_hyperplanes_are_refused(self, ax, result):
        with pytest.raises(ValueError, match="there are 1 feature_names; expected 2"):
            WeightsDisplay.from_estimator(result, feature_names=["a"], ax=ax)
        with pytest.raises(ValueError, match="the model has 3 hyperplanes; expected one"):
            WeightsDisplay.from_estimator(LogisticRegression().fit(X, [0, 1, 2, 0, 1]), ax=ax)


class TestConvergence:
    def test_bounds_are_drawn_as_steps(self, ax):
        trace = [TracePoint(0.0, 90.0, 0.0), TracePoint(0.1, 12.0, 4.0), TracePoint(2.0, 12.0, 9.0)]
        display = ConvergenceDisplay(trace=trace).plot(ax)
        upper, lower = display.lines_
        assert upper.get_ydata().tolist() == [90, 12, 12]
        assert lower.get_ydata().tolist() == [0, 4, 9]
        assert lower.get_xdata().tolist() == [0.001, 0.1, 2.0]
        assert "gap, 25 % at the end" in [text.get_text() for text in ax.get_legend().get_texts()]
        assert ax.get_ylim() == (0, 30)

    def test_models_and_pipelines_have_a_trace(self, ax, result):
        model = make_pipeline(StandardScaler(), HardMarginSVC(C=10)).fit(X, y)
        assert ConvergenceDisplay.from_estimator(model, ax=ax).trace == model[-1].result_.trace
        assert ConvergenceDisplay.from_estimator(result, ax=ax).trace == result.trace

    def test_other_models_and_an_empty_trace_are_refused(self):
        with pytest.raises(TypeError, match="LogisticRegression; expected a Result or a fitted HardMarginSVC"):
            ConvergenceDisplay.from_estimator(LogisticRegression().fit(X, y))
        with pytest.raises(ValueError, match="the trace is empty"):
            ConvergenceDisplay(trace=[])


class TestProjection:
    def test_the_picture_keeps_distances(self, ax):
        generator = np.random.default_rng(3)
        rotation = np.linalg.qr(generator.normal(size=(5, 5)))[0]
        # In these coordinates the hyperplane is x0 = 0.1, and the rest varies most along the third axis.
        plain = generator.normal(size=(30, 5)) * [2.0, 0.3, 0.5, 7.0, 0.1]
        labels = np.where(plain[:, 0] > 0, "yes", "no")
        model = FixedModel(4 * rotation[:, 0], -0.4)
        display = ProjectionDisplay.from_estimator(model, plain @ rotation.T, labels, ax=ax)
        points = np.vstack([offsets(display.samples_[0]), offsets(display.samples_[1])])
        across = np.concatenate([plain[labels == "no", 0], plain[labels == "yes", 0]])
        assert points[:, 0] == pytest.approx(across - 0.1)
        centred = plain[:, 1:] - plain[:, 1:].mean(axis=0)
        _, values, directions = np.linalg.svd(centred)
        assert np.abs(display.along) == pytest.approx(np.abs(centred @ directions[0]))
        assert display.explained == pytest.approx(values[0] ** 2 / np.sum(values**2))
        assert [line.get_xdata()[0] for line in ax.lines] == pytest.approx([0, -0.25, 0.25])

    def test_sparse_samples_look_like_dense_ones(self, ax):
        generator = np.random.default_rng(5)
        dense = generator.normal(size=(20, 6)) * (generator.random((20, 6)) < 0.5)
        labels = np.where(dense[:, 0] > 0, "yes", "no")
        model = FixedModel([1.0, 0.2, 0.0, 0.0, 0.5, 0.0], 0.0)
        display = ProjectionDisplay.from_estimator(model, dense, labels, ax=ax)
        again = ProjectionDisplay.from_estimator(model, csr_matrix(dense), labels, ax=Figure().subplots())
        assert again.along == pytest.approx(display.along)

    def test_samples_on_one_line_have_no_rest(self, ax):
        display = ProjectionDisplay.from_estimator(FixedModel([1.0, 0.0], -1.5), X * [1, 0], y, ax=ax)
        assert display.along.tolist() == [0] * 5

    def test_what_has_no_direction_is_refused(self, ax):
        with pytest.raises(ValueError, match="the model is constant"):
            ProjectionDisplay.from_estimator(FixedModel([0.0, 0.0], 1.0), X, y, ax=ax)
        with pytest.raises(ValueError, match=r"expected at least two\. MarginsDisplay can draw it"):
            ProjectionDisplay.from_estimator(solve(X[:, :1], y), X[:, :1], y, ax=ax)


class TestPrices:
    @staticmethod
    def table(*prices):
        rows = [
            Outlier(i, "no", -1.0, -1.0, low, high, low == high, given)
            for i, (low, high, given) in enumerate(prices)
        ]
        return Outliers(tuple(rows), 50.0, 50.0, 0.01, len(rows), 99, Status.TIME_LIMIT)

    def test_every_verdict_has_its_intervals(self, ax):
        table = self.table((3.0, 8.0, True), (4.0, 4.0, True), (0.0, 2.0, None), (0.1, 0.1, False))
        display = PricesDisplay.from_table(table, ax=ax)
        ends = [container.lines[0].get_xdata().tolist() for container in display.intervals_]
        assert ends == [[8.0, 4.0], [2.0], [0.1]]
        lines = display.intervals_[0].lines[2][0].get_segments()
        assert [line[:, 0].tolist() for line in lines] == [[3.0, 8.0], [4.0, 4.0]]
        assert [label.get_text() for label in ax.get_yticklabels()] == ["0: no", "1: no", "2: no", "3: no"]
        assert ax.get_xlim() == (0, pytest.approx(8.4))

    def test_an_interval_without_end_reaches_the_edge(self, ax):
        display = PricesDisplay.from_table(self.table((3.0, np.inf, True), (1.0, 4.0, True)), ax=ax)
        assert display.intervals_[0].lines[0].get_xdata()[0] == ax.get_xlim()[1]

    def test_further_rows_are_counted(self, ax):
        PricesDisplay.from_table(self.table((3.0, 3.0, True), (1.0, 1.0, True)), max_rows=1, ax=ax)
        assert "(1 samples with lower prices not shown)" in ax.get_xlabel()

    def test_an_empty_table_can_be_drawn(self, ax):
        assert PricesDisplay.from_table(self.table(), ax=ax).intervals_ == []


@pytest.mark.usefixtures("closed")
def test_displays_make_their_own_axes_and_can_be_drawn_again(tmp_path, result):
    display = WeightsDisplay.from_estimator(result)
    first = display.ax_
    assert display.plot() is display
    assert display.ax_ is not first
    display.figure_.savefig(tmp_path / "weights.png")
    assert (tmp_path / "weights.png").read_bytes().startswith(b"\x89PNG")


def test_missing_matplotlib_is_named(monkeypatch, result):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r'pip install "\.\[plot\]"'):
        ConvergenceDisplay.from_estimator(result)
