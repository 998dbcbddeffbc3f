"""Scores of the paths of a cross-validation; ``test_estimator_cv`` compares them with those of scikit-learn."""

from __future__ import annotations

import numpy as np

from hardmargin import path
from hardmargin.fold_scores import fold_scores, widest_stretch


def test_the_widest_stretch_is_chosen() -> None:
    edges = np.array([0.0, 1.0, 2.0, 4.0, 4.5, 6.0])
    best = np.array([True, False, True, True, False])
    assert widest_stretch(best, edges) == (2, 4)
    assert widest_stretch(np.ones(5, dtype=bool), edges) == (0, 5)


def test_a_hyperplane_is_scored_once(line) -> None:
    X, y = line
    found = path(X, y, C=(0.1, 100))
    seen = []

    def scorer(model, X, y) -> float:
        seen.append(model.result.n_violations)
        return float(np.mean(model.predict(X) == y))

    Cs = np.array([0.2, 0.3, 5.0, 50.0])
    assert fold_scores(found, Cs, X, y, None, scorer) == [0.6, 0.6, 0.8, 0.8]
    assert seen == [2, 1]
