"""Draws docs/pictures.png and docs/prices.png: displays of ``hardmargin.plotting`` on the breast cancer data."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hardmargin import HardMarginSVC
from hardmargin.plotting import (
    BoundaryDisplay,
    ConvergenceDisplay,
    MarginsDisplay,
    PricesDisplay,
    ProjectionDisplay,
    WeightsDisplay,
)

FOLDER = Path(__file__).resolve().parent.parent / "docs"


def main(folder: Path = FOLDER) -> None:
    """Train with all features, and with two of them for the picture that needs two."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    y = np.where(y == 1, "benign", "malignant")
    two = X[["worst radius", "worst texture"]]
    model = make_pipeline(StandardScaler(), HardMarginSVC(C=1.0)).fit(X, y)
    flat = make_pipeline(StandardScaler(), HardMarginSVC(C=1.0)).fit(two, y)

    figure = Figure(figsize=(12.5, 14.0), layout="constrained")
    axes = figure.subplots(3, 2)
    BoundaryDisplay.from_estimator(flat, two, y, ax=axes[0, 0])
    ProjectionDisplay.from_estimator(model, X, y, ax=axes[0, 1])
    MarginsDisplay.from_estimator(model, X, y, kind="histogram", ax=axes[1, 0])
    MarginsDisplay.from_estimator(model, X, y, kind="sorted", ax=axes[1, 1])
    WeightsDisplay.from_estimator(model, max_features=12, ax=axes[2, 0])
    ConvergenceDisplay.from_estimator(model, ax=axes[2, 1])
    figure.savefig(folder / "pictures.png", dpi=80)

    figure = Figure(figsize=(6.4, 4.4), layout="constrained")
    PricesDisplay.from_table(model[-1].outliers(), ax=figure.subplots())
    figure.savefig(folder / "prices.png", dpi=100)


if __name__ == "__main__":
    main()
