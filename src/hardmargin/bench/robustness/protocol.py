"""What a study compares and how: the models by name, the protocol, and the outcome of one evaluation.

Separate from :mod:`hardmargin.bench.robustness.models`, because scikit-learn takes long to import.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

HARD_MARGIN = "hard-margin"

#: The models of the study; all are linear, with an intercept that is not penalised.
MODELS = (HARD_MARGIN, "hinge", "logistic")


@dataclass(frozen=True)
class Protocol:
    """How C is chosen and how long a fit may take; the same for all models.

    Attributes
    ----------
    C : tuple of float
        The values of C among which cross-validation chooses, in increasing order.
    folds : int
        Folds of the cross-validation, stratified by class.
    fit_seconds, final_seconds : float
        Time limit of a hard-margin fit within cross-validation, and with the chosen C on all training data.
    n_test : int
        Clean test samples of a generated setting.
    seed : int
        Seed of data, bad samples and folds.
    """

    C: tuple[float, ...] = (0.01, 0.1, 1.0, 10.0, 100.0)
    folds: int = 5
    fit_seconds: float = 2.0
    final_seconds: float = 20.0
    n_test: int = 5000
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.C or not all(low < high for low, high in pairwise((0.0, *self.C, math.inf))):
            raise ValueError(f"C is {list(self.C)}; expected positive values, each larger than the one before.")
        if self.folds < 2:
            raise ValueError(f"folds is {self.folds}; expected at least 2.")
        if not (self.fit_seconds > 0 and self.final_seconds > 0):
            raise ValueError(
                f"the time limits of a fit are {self.fit_seconds} s and {self.final_seconds} s; expected "
                "more than 0."
            )
        if self.n_test < 1:
            raise ValueError(f"the number of test samples is {self.n_test}; expected at least 1.")
        if self.seed < 0:
            raise ValueError(f"seed is {self.seed}; expected a whole number >= 0.")


@dataclass(frozen=True)
class Trial:
    """One model on one draw; see :class:`hardmargin.bench.robustness.RobustnessRecord` for the fields."""

    C: float
    cv_accuracy: list[float]
    accuracy: float
    fits: int
    warnings: int
    fits_proven: int | None
    fits_gap: float | None
    proven: bool | None
    gap: float | None
    coef: list[float]
    intercept: float
    seconds: float
