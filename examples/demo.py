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
from matplotlib.figure import Figure
from numpy.typing import NDArray
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

import hardmargin
from hardmargin.data import Dataset, load
from hardmargin.plotting import BoundaryDisplay
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


def draw(data: Dataset, models: dict[str, Any], clean: NDArray[np.bool_], path: Path) -> None:
    """Draw models side by side, with the number of clean samples on their own side."""
    # A figure without pyplot needs no window system.
    figure = Figure(figsize=(10.0, 5.2), layout="constrained")
    axes = figure.subplots(1, len(models), sharex=True, sharey=True)
    for ax, (name, model) in zip(axes, models.items(), strict=True):
        BoundaryDisplay.from_estimator(model, data.X, data.y, ax=ax, given_up_label="margin below 1")
        ax.get_legend().remove()
        right = (model.predict(data.X) == data.y)[clean]
        ax.set_title(name, fontsize=14, fontweight="bold", pad=24)
        subtitle = f"{right.sum()} of {len(right)} clean samples on their own side ({100 * right.mean():.1f} %)"
        ax.text(0.5, 1.02, subtitle, transform=ax.transAxes, ha="center", fontsize=10.5)
        ax.label_outer()
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=5, frameon=False)
    figure.savefig(path, dpi=160, bbox_inches="tight", pad_inches=0.15)


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
    draw(data, {"Hard-margin loss": result, "Hinge loss": hinge}, clean, picture)
    print(f"\nmodel:   {model}\npicture: {picture}")


if __name__ == "__main__":
    main()
