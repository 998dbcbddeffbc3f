"""How well wrong labels are found: prices of keeping samples, beside losses and cleanlab.

    python benchmarks/label_errors.py [--draws 5] [--seconds 10] [--C scale] [KIND ...]

In every draw some labels are wrong, and each method ranks the samples. The table shows the share of wrong labels
among as many of the first samples as there are wrong labels, averaged over the draws.

- price: the table of ``hardmargin.outliers``, in its order; samples that the model keeps follow by margin.
- margin: the same model, by margin alone.
- hinge: margins of a linear SVM. logistic: margins of a logistic regression. Both with C by cross-validation.
- cleanlab: label quality scores (self confidence) of cross-validated probabilities of that logistic regression, if
  the package cleanlab is installed.

The last three columns describe the price tables: samples given up, the share of them with an exact price, and the
share of wrong labels among those that are proven to be given up by every hyperplane within 1 % of the optimum, with
their number.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from hardmargin import HardMarginSVC
from hardmargin.arrays import FloatArray

PENALTIES = (0.01, 0.1, 1.0, 10.0, 100.0)

Random = np.random.Generator


class Draw(NamedTuple):
    """Samples with labels -1 and +1, and which of them are wrong."""

    X: FloatArray
    y: FloatArray
    wrong: NDArray[np.bool_]


def gaussian(n: int, m: int, random: Random, apart: float) -> tuple[FloatArray, FloatArray]:
    """Two Gaussian classes whose centres are this many standard deviations apart."""
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    X = random.standard_normal((n, m))
    X[:, 0] += y * apart / 2
    return X, y


def flipped(X: FloatArray, y: FloatArray, share: float, random: Random) -> Draw:
    """Labels of randomly chosen samples are wrong: most of them lie in the other class."""
    wrong = np.zeros(len(y), dtype=bool)
    wrong[random.choice(len(y), round(share * len(y)), replace=False)] = True
    return Draw(X, np.where(wrong, -y, y), wrong)


def near(random: Random) -> Draw:
    """5 features; 10 % of the labels are wrong, close to the boundary, where labels are most often mistaken."""
    X, y = gaussian(150, 5, random, apart=5.0)
    closest = np.argsort(np.abs(X[:, 0]))[: len(y) // 3]
    wrong = np.zeros(len(y), dtype=bool)
    wrong[random.choice(closest, len(y) // 10, replace=False)] = True
    return Draw(X, np.where(wrong, -y, y), wrong)


def far(random: Random) -> Draw:
    """5 features; 10 % of the samples have a wrong label and lie far out on the side of the other class."""
    draw = flipped(*gaussian(150, 5, random, apart=5.0), 0.1, random)
    X = draw.X.copy()
    X[draw.wrong] *= random.uniform(2.0, 10.0, size=(int(draw.wrong.sum()), 1))
    return draw._replace(X=X)


def cluster(random: Random) -> Draw:
    """2 features; 12 % of the samples are a wrongly labelled cluster far behind the other class."""
    X, y = gaussian(150, 2, random, apart=5.0)
    wrong = np.zeros(len(y), dtype=bool)
    wrong[np.flatnonzero(y > 0)[:18]] = True
    X[wrong] = random.normal((-9.0, 5.0), 0.5, (18, 2))
    return Draw(X, y, wrong)


def breast_cancer(random: Random) -> Draw:
    """Breast cancer, 30 features, 569 samples; 5 % flipped."""
    X, y = load_breast_cancer(return_X_y=True)
    return flipped(X, np.where(y == 1, 1.0, -1.0), 0.05, random)


def iris(random: Random) -> Draw:
    """Iris without setosa, 4 features, 100 samples; 10 % flipped."""
    X, y = load_iris(return_X_y=True)
    return flipped(X[y > 0], np.where(y[y > 0] == 1, 1.0, -1.0), 0.1, random)


def wine(random: Random) -> Draw:
    """Wine, the first class against the others, 13 features, 178 samples; 10 % flipped."""
    X, y = load_wine(return_X_y=True)
    return flipped(X, np.where(y == 0, 1.0, -1.0), 0.1, random)


KINDS: dict[str, Callable[[Random], Draw]] = {
    "flipped": lambda random: flipped(*gaussian(150, 5, random, apart=5.0), 0.1, random),
    "overlapping": lambda random: flipped(*gaussian(150, 5, random, apart=2.5), 0.1, random),
    "near": near,
    "far": far,
    "cluster": cluster,
    "breast-cancer": breast_cancer,
    "iris": iris,
    "wine": wine,
}


def precision(order: NDArray[np.intp], wrong: NDArray[np.bool_]) -> float:
    """The share of wrong labels among as many of the first samples as there are wrong labels."""
    return float(wrong[order[: int(wrong.sum())]].mean())


def price_ranking(draw: Draw, C: float | str, seconds: float) -> dict[str, Any]:
    """Rankings by price and by margin, and figures of the price table."""
    model = HardMarginSVC(C=C, time_limit=seconds).fit(draw.X, draw.y)
    table = model.outliers(samples="all", time_limit=seconds)
    order = np.array([row.row for row in table])
    margins = draw.y * model.decision_function(draw.X)
    given_up = [row for row in table if row.margin < 1 - 1e-9]
    certain = np.array([row.row for row in table if row.always_given_up], dtype=np.intp)
    return {
        "price": precision(order, draw.wrong),
        "margin": precision(np.argsort(margins, kind="stable"), draw.wrong),
        "given up": len(given_up),
        "exact": sum(row.exact for row in given_up) / max(1, len(given_up)),
        "certain": len(certain),
        "right": float(draw.wrong[certain].sum()),
    }


def other_rankings(draw: Draw) -> dict[str, Any]:
    """Rankings by the losses of other linear models, and by cleanlab."""
    hinge = GridSearchCV(SVC(kernel="linear"), {"C": PENALTIES}).fit(draw.X, draw.y)
    logistic = GridSearchCV(LogisticRegression(max_iter=1000), {"C": PENALTIES}, scoring="neg_log_loss")
    logistic.fit(draw.X, draw.y)
    found = {
        "hinge": precision(np.argsort(draw.y * hinge.decision_function(draw.X)), draw.wrong),
        "logistic": precision(np.argsort(draw.y * logistic.decision_function(draw.X)), draw.wrong),
    }
    try:
        from cleanlab.rank import get_label_quality_scores
    except ImportError:
        return found
    shares = cross_val_predict(logistic, draw.X, draw.y, method="predict_proba")
    scores = get_label_quality_scores((draw.y > 0).astype(int), shares)
    return {**found, "cleanlab": precision(np.argsort(scores), draw.wrong)}


def main() -> None:
    """Rank the samples of every draw by every method, and print the means."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"any of {', '.join(KINDS)}; default: all")
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=10.0, help="for each fit and each table")
    parser.add_argument("--C", default="scale")
    arguments = parser.parse_args()
    C = arguments.C if arguments.C == "scale" else float(arguments.C)
    columns = ("price", "margin", "hinge", "logistic", "cleanlab", "given up", "exact", "certain: right")
    print(f"| {'data':<14} | {' | '.join(columns)} |\n|---|{'---:|' * len(columns)}")
    for kind in arguments.kinds or KINDS:
        rows = []
        for seed in range(arguments.draws):
            draw = KINDS[kind](np.random.default_rng(seed))
            draw = draw._replace(X=StandardScaler().fit_transform(draw.X))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                rows.append({**price_ranking(draw, C, arguments.seconds), **other_rankings(draw)})
        mean = {name: float(np.mean([row[name] for row in rows])) for name in rows[0]}
        shown = [f"{mean[name]:.2f}" if name in mean else "-" for name in columns[:5]]
        certain = f"{mean['right'] / max(mean['certain'], 1e-9):.2f} of {mean['certain']:.1f}"
        cells = [*shown, f"{mean['given up']:.1f}", f"{mean['exact']:.2f}", certain]
        print(f"| {kind:<14} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
