"""Hyperplanes of the previous fit, as starts of the next one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardmargin.binary_problems import BinaryProblem
from hardmargin.fitting import Start
from hardmargin.gram import FactoredGram, Kernel


def warm_starts(
    estimator: Any,
    problems: Sequence[BinaryProblem],
    classes: NDArray[Any],
    X: Any,
    kernel: Kernel,
    gram: FactoredGram | None,
) -> list[Start]:
    """One start per binary problem; None where there is none.

    Parameters
    ----------
    estimator : HardMarginSVC
        Perhaps fitted before, to data that may be different ones.
    problems : sequence of BinaryProblem
    classes : ndarray
        The labels of the new fit.
    X, kernel, gram
        Its samples, kernel and factored Gram matrix, which is None without a kernel.
    """
    nothing: list[Start] = [None] * len(problems)
    known = getattr(estimator, "classes_", None)
    if not estimator.warm_start or known is None or not np.array_equal(known, classes):
        return nothing
    if len(classes) > 2 and estimator._split != estimator.multi_class:
        return nothing
    weights = _weights(estimator, X) if gram is None else _kernel_weights(estimator, problems, X, kernel, gram)
    if weights is None or len(weights) != len(problems):
        return nothing
    return [(w, float(b)) for w, b in zip(weights, estimator.intercept_, strict=True)]


def _weights(estimator: Any, X: Any) -> Any:
    """The previous weights of the features."""
    coef = getattr(estimator, "coef_", None)
    return coef if coef is not None and coef.shape[1] == X.shape[1] else None


def _kernel_weights(
    estimator: Any, problems: Sequence[BinaryProblem], X: Any, kernel: Kernel, gram: FactoredGram
) -> Any:
    """The previous hyperplanes in the coordinates of the factors, as far as the pivots span them."""
    if not hasattr(estimator, "dual_coef_"):
        return None
    if kernel.name == "precomputed":
        if np.max(estimator.support_, initial=-1) >= X.shape[0]:
            return None
        values = X[:, estimator.support_] @ estimator.dual_coef_.T
    elif estimator.support_vectors_.shape[1] != X.shape[1]:
        return None
    else:
        values = kernel.combination(X, estimator.support_vectors_, estimator.dual_coef_)
    return [
        factor.coordinates(column[problem.rows[factor.pivots]])
        for problem, factor, column in zip(problems, gram.factors, values.T, strict=False)
    ]
