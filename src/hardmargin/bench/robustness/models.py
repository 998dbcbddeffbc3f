"""The three losses, how their C is chosen, and their test accuracy."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from hardmargin import ConstantModelWarning, HardMarginSVC
from hardmargin.bench.robustness.draws import Draw, seeds
from hardmargin.bench.robustness.protocol import HARD_MARGIN, MODELS, Protocol, Trial
from hardmargin.data import Dataset

# Iteration limits of the convex models, so that a large C cannot stall the study.
_HINGE_ITERATIONS = 1_000_000
_LOGISTIC_ITERATIONS = 5_000


class _Fits:
    """Counts the fits of one evaluation and their convergence."""

    def __init__(self, model: str, seed: int) -> None:
        self._model, self._seed = model, seed
        self.count = self.warnings = self.proven = 0
        self.gaps: list[float] = []

    def fit(self, C: float, X: Any, y: Any, seconds: float) -> Any:
        estimator = _estimator(self._model, C, seconds, self._seed)
        with _convergence_warnings() as caught:
            estimator.fit(X, y)
        self.count += 1
        self.warnings += bool(caught)
        if isinstance(estimator, HardMarginSVC):
            self.proven += estimator.optimal_
            self.gaps.append(estimator.gap_)
        return estimator


def evaluate(model: str, draw: Draw, protocol: Protocol, repetition: int) -> Trial:
    """Choose C by cross-validation on the training data, fit with it, and measure the accuracy on the test data.

    The folds contain bad samples like the training data, because it is not known which samples are bad. Among
    values of C that are equally good the smallest is chosen.

    Parameters
    ----------
    model : str
        One of :data:`MODELS`.
    draw : Draw
        The data.
    protocol : Protocol
        Grid, folds and time limits.
    repetition : int
        The number of the repetition, which decides the folds.

    Returns
    -------
    Trial
        Accuracy, chosen C, and how far the fits converged.
    """
    started = perf_counter()
    fits = _Fits(model, protocol.seed)
    # With matrices this small, the threads of numerical libraries only wait for each other.
    with threadpool_limits(1):
        scores = _cross_validated(fits, draw.train, protocol, repetition)
        # argmax returns the first of equal values.
        C = protocol.C[int(np.argmax(scores))]
        searched, proven, gaps = fits.count, fits.proven, list(fits.gaps)
        final = fits.fit(C, draw.train.X, draw.train.y, protocol.final_seconds)
        accuracy = float(final.score(draw.test.X, draw.test.y))
    is_exact = model == HARD_MARGIN
    return Trial(
        C=C,
        cv_accuracy=scores,
        accuracy=accuracy,
        fits=searched,
        warnings=fits.warnings,
        fits_proven=proven if is_exact else None,
        fits_gap=float(np.mean(gaps)) if is_exact else None,
        proven=bool(final.optimal_) if is_exact else None,
        gap=float(final.gap_) if is_exact else None,
        coef=[float(value) for value in final.coef_[0]],
        intercept=float(final.intercept_[0]),
        seconds=perf_counter() - started,
    )


def _cross_validated(fits: _Fits, train: Dataset, protocol: Protocol, repetition: int) -> list[float]:
    """Mean accuracy over the folds for every C."""
    positive = int(np.sum(train.y > 0))
    smallest = min(positive, train.n - positive)
    if smallest < protocol.folds:
        raise ValueError(
            f"a class has {smallest} training samples; expected at least {protocol.folds} in each "
            "class, one per fold. Use more samples, smaller shares or fewer folds."
        )
    fold_seed = seeds(protocol.seed, repetition, 4)[3] % 2**32
    folds = StratifiedKFold(protocol.folds, shuffle=True, random_state=fold_seed)
    parts = list(folds.split(train.X, train.y))
    return [float(np.mean([*_fold_accuracies(fits, train, parts, C, protocol.fit_seconds)])) for C in protocol.C]


def _fold_accuracies(
    fits: _Fits, train: Dataset, parts: Sequence[tuple[Any, Any]], C: float, seconds: float
) -> Iterator[float]:
    for kept, left_out in parts:
        estimator = fits.fit(C, train.X[kept], train.y[kept], seconds)
        yield float(estimator.score(train.X[left_out], train.y[left_out]))


def _estimator(model: str, C: float, seconds: float, seed: int) -> Any:
    if model == HARD_MARGIN:
        return HardMarginSVC(C, time_limit=seconds, random_state=seed, stop=None)
    if model == "hinge":
        return SVC(C=C, kernel="linear", max_iter=_HINGE_ITERATIONS)
    if model == "logistic":
        return LogisticRegression(C=C, max_iter=_LOGISTIC_ITERATIONS)
    raise ValueError(f"the model is {model!r}; expected one of {', '.join(MODELS)}.")


@contextmanager
def _convergence_warnings() -> Iterator[list[str]]:
    """Collect convergence warnings, which the records count; all others are passed on.

    Except those of constant models: a grid contains values of C that are too small.
    """
    told: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        warnings.simplefilter("ignore", ConstantModelWarning)
        yield told
    for warning in caught:
        if issubclass(warning.category, ConvergenceWarning):
            told.append(str(warning.message))
        else:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
