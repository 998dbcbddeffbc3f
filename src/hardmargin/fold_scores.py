"""Scores of the paths of a cross-validation, and the range of C with the best of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from hardmargin.arrays import FloatArray
from hardmargin.penalty_path import Path
from hardmargin.result import Result


class ResultClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A result as a fitted classifier, for scorers."""

    def __init__(self, result: Result | None) -> None:
        self.result = result
        if result is not None:
            self.classes_ = np.asarray(result.classes)

    def fit(self, X: Any, y: Any) -> ResultClassifier:
        """Nothing to do: scorers expect that there is a fit."""
        return self

    def decision_function(self, X: Any) -> FloatArray:
        assert self.result is not None
        return self.result.decision_function(X)

    def predict(self, X: Any) -> NDArray[Any]:
        assert self.result is not None
        return self.result.predict(X)


def fold_scores(
    path: Path, Cs: FloatArray, X: Any, y: NDArray[Any], weights: FloatArray | None, scorer: Any
) -> list[float]:
    """The score of a path at every C; hyperplanes that are best at several C are scored once."""
    with_weights = {} if weights is None else {"sample_weight": weights}
    known: dict[tuple[float, ...], float] = {}
    scores = []
    for C in Cs:
        result = path.at(float(C))
        key = (*result.coef, result.intercept)
        if key not in known:
            known[key] = float(scorer(ResultClassifier(result), X, y, **with_weights))
        scores.append(known[key])
    return scores


def widest_stretch(best: NDArray[np.bool_], edges: FloatArray) -> tuple[int, int]:
    """The indices of the edges around the widest run of best candidates; the first one of equals."""
    runs, begin = [], None
    for index, is_best in enumerate([*best.tolist(), False]):
        if is_best and begin is None:
            begin = index
        elif not is_best and begin is not None:
            runs.append((begin, index))
            begin = None
    return max(runs, key=lambda run: edges[run[1]] - edges[run[0]])
