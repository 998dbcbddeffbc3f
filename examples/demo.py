"""Hard-margin loss against hinge loss on data with outliers; run it with ``make demo``.

Ten of the 80 samples are wrong: they have the label +1 but lie together, far behind the class -1. The hinge loss
charges a sample by how far it is on the wrong side, so these ten pull the hyperplane towards them. The hard-margin
loss charges every violated sample the same, however far off it is: it gives up the ten and separates the rest.
Training with it is a hard combinatorial problem, so besides the hyperplane hardmargin returns a proven lower bound:
no other hyperplane can have a smaller objective.

The figure and the model are written to the folder ``demo``.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

import hardmargin
from hardmargin.data import Dataset, load
from hardmargin.plotting import plot_comparison
from hardmargin.progress import Progress

HERE = Path(__file__).resolve().parent
DATA = HERE / "data" / "outliers.csv"

CLASS_SIZE = 35
OUTLIERS = 10


def draw_data() -> Dataset:
    """The recipe of ``data/outliers.csv``: two classes of 35, then the ten outliers."""
    generator = np.random.default_rng(1)
    negative = generator.normal((-1.5, 0.0), (0.8, 1.2), (CLASS_SIZE, 2))
    positive = generator.normal((1.5, 0.0), (0.8, 1.2), (CLASS_SIZE, 2))
    outliers = generator.normal((-8.0, 4.0), 0.4, (OUTLIERS, 2))
    X = np.vstack([negative, positive, outliers]).round(3)
    y = np.repeat([-1, 1], [CLASS_SIZE, CLASS_SIZE + OUTLIERS])
    return Dataset(X, y, ["x1", "x2"])


def train_hard_margin(data: Dataset) -> hardmargin.Result:
    """Minimise 1/2 ||w||^2 + C * (number of samples with a margin below 1), and prove a bound."""
    with Progress(sys.stdout, style="log") as progress:
        return hardmargin.solve(data.X, data.y, C=10, time_limit=30, report=progress)


def train_hinge(data: Dataset) -> Any:
    """The best result of the hinge loss: its C is chosen by cross-validation."""
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    search = GridSearchCV(SVC(kernel="linear"), {"C": [0.01, 0.1, 1, 10, 100]}, cv=folds)
    return search.fit(data.X, data.y).best_estimator_


def main(output: Path = HERE.parent / "demo") -> None:
    """Train both, compare them on the samples that are not outliers, and plot them."""
    data = load(DATA)
    clean = np.arange(data.n) < 2 * CLASS_SIZE
    print(f"{DATA.name}: {data.n} samples, {data.m} features, the last {OUTLIERS} are outliers\n")

    result = train_hard_margin(data)
    print(f"\n{result.summary()}\n")

    hinge = train_hinge(data)
    print(f"{'on their own side of the hyperplane:':<44} {'clean samples':>14} {'outliers':>10}")
    for name, sides in (
        ("hard-margin loss, C = 10", result.predict(data.X)),
        (f"hinge loss, C = {hinge.C:g} (by cross-validation)", hinge.predict(data.X)),
    ):
        right = sides == data.y
        counts = (f"{right[rows].sum()} of {rows.sum()}" for rows in (clean, ~clean))
        print("  {:<42} {:>14} {:>10}".format(name, *counts))

    output.mkdir(parents=True, exist_ok=True)
    model, picture = output / "outliers.json", output / "outliers.png"
    result.save(model)
    plot_comparison(data.X, data.y, result, hinge, picture, clean=clean)
    print(f"\nmodel:   {model}\npicture: {picture}")


if __name__ == "__main__":
    main()
