"""HardMarginSVC: the scikit-learn interface to :func:`hardmargin.solve`."""

from __future__ import annotations

import contextlib
import numbers
import sys
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from hardmargin.advice import constant_model_text
from hardmargin.arrays import FloatArray
from hardmargin.bounds import Report
from hardmargin.methods import get_method
from hardmargin.result import Result
from hardmargin.solver import solve
from hardmargin.status import Status
from hardmargin.stopping import Stall
from hardmargin.validation import refuse_missing_labels, sorted_classes


class ConstantModelWarning(UserWarning):
    """The fitted model is the constant one or hardly better, because C is too small or nothing better exists.

    It is given whether or not the model is proven optimal. A fit that a time limit or ``stop`` has ended gives a
    ``ConvergenceWarning`` with the same text instead.
    """


class HardMarginSVC(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Linear support vector classifier with the hard-margin loss, and a proof of how good it is.

    Minimises 1/2 ||w||^2 + C * (number of samples with y (w.x + b) < 1). A sample that is given up costs C, no
    matter how far on the wrong side it lies, so distant outliers cannot move the hyperplane.

    Parameters
    ----------
    C : float or "scale", default=1.0
        Penalty of a violated sample, positive. If it is too small for the scale of the samples, the best model is
        constant, and a ``ConstantModelWarning`` says which C would do. "scale" is 10 / (sum of the features'
        variances), which gives the same model whatever unit the samples are measured in.
    method : str, default="auto"
        How to search; one of :func:`hardmargin.methods.names`.
    time_limit : float or None, default=60.0
        Seconds that ``fit`` may search; None means no limit. When the limit is reached, the best hyperplane and the
        bound proven so far are kept, and a ``ConvergenceWarning`` is given.
    gap : float, default=1e-6
        Relative gap at which the objective counts as proven minimal; at least 1e-9.
    class_weight : dict or "balanced", default=None
        Factors of C by label. "balanced" gives both classes the same total weight.
    n_jobs : int, default=None
        Threads that the search may use: None means 1, -1 means all cores. At most four per core are started. Only
        the exact methods use more than one.
    random_state : int, RandomState instance or None, default=None
        Seed of the search. None means seed 0: fitting is repeatable by default, and does not touch NumPy's global
        random state.
    verbose : int, default=0
        If positive, print a table of the bounds to standard output as they change.
    stop : "stall", Stall or None, default="stall"
        "stall" ends ``fit`` early, with a ``ConvergenceWarning``, when half of the time, and 2 seconds at least,
        passed without a noticeably better hyperplane or bound; :class:`hardmargin.stopping.Stall` has the details.
        None searches until the gap or the time limit is reached.
    max_violations : float, dict or None, default=None
        Limits on the total weight of the samples that may be given up, of all of them or by label, as in
        :func:`hardmargin.solve`. ``fit`` raises a :class:`hardmargin.BudgetError` if no hyperplane within them is
        found.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
        The normal vector w.
    intercept_ : ndarray of shape (1,)
        The offset b.
    classes_ : ndarray of shape (2,)
        The two labels, the negative side first.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X has names and all of them are strings.
    objective_ : float
        1/2 ||w||^2 plus the costs of the violated samples that ``max_violations`` does not limit.
    C_ : float or None
        The penalty as a number; None if ``max_violations`` limits all samples, so that it is not used.
    lower_bound_ : float
        No hyperplane has a smaller objective than this.
    gap_ : float
        (objective_ - lower_bound_) / objective_.
    optimal_ : bool
        Whether the objective is proven minimal, up to ``gap``.
    status_ : str
        Why the search ended: "optimal", "time_limit", "stalled", "interrupted", "node_limit" or "heuristic".
    violations_ : ndarray of int
        Sorted rows of X with a margin below 1; rows of weight zero are listed too, though they cost nothing.
    n_iter_ : int
        Number of subproblems examined, at least 1.
    result_ : Result
        Everything else: run time, bounds over time, the JSON form.

    See Also
    --------
    hardmargin.solve : The same search as a function.
    hardmargin.verify : Recomputes the claims of ``result_`` from the data.

    Examples
    --------
    >>> from hardmargin import HardMarginSVC
    >>> X, y = [[0.0], [1.0], [3.0], [4.0], [90.0]], ["low", "low", "high", "high", "low"]
    >>> model = HardMarginSVC(C=10).fit(X, y)
    >>> model.predict([[0.5], [3.5]]).tolist()
    ['low', 'high']
    >>> model.violations_.tolist(), round(model.objective_, 6)
    ([4], 10.5)
    """

    def __init__(
        self,
        C: float | str = 1.0,
        *,
        method: str = "auto",
        time_limit: float | None = 60.0,
        gap: float = 1e-6,
        class_weight: Mapping[Any, float] | str | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        stop: Stall | str | None = "stall",
        max_violations: Mapping[Any, float] | float | None = None,
    ) -> None:
        self.C = C
        self.method = method
        self.time_limit = time_limit
        self.gap = gap
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.stop = stop
        self.max_violations = max_violations

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> HardMarginSVC:
        """Find the best hyperplane and prove a bound on all others.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
            Samples; every value finite.
        y : array-like of shape (n_samples,)
            Labels, any two values.
        sample_weight : array-like of shape (n_samples,), optional
            Factors of C, not negative; a weight of zero drops the sample.

        Returns
        -------
        HardMarginSVC
            The fitted estimator itself.

        Raises
        ------
        KeyboardInterrupt
            After Ctrl-C. The estimator is fitted nevertheless, with what was found until then.
        """
        if y is not None:
            refuse_missing_labels(y)
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        classes = sorted_classes(np.asarray(y))
        if len(classes) > 2:
            # Two labels may be any two values, but many real values indicate a regression target.
            check_classification_targets(y)
        with _reporting(self.verbose) as report:
            result = solve(
                X,
                y,
                self.C,
                sample_weight=sample_weight,
                class_weight=self.class_weight,
                method=self.method,
                time_limit=self.time_limit,
                gap=self.gap,
                threads=_threads(self.n_jobs),
                seed=_seed(self.random_state),
                report=report,
                stop=self.stop,
                max_violations=self.max_violations,
            )
        names = getattr(self, "feature_names_in_", None)
        self._keep(replace(result, feature_names=None if names is None else names.tolist()), classes)
        if result.status is Status.INTERRUPTED:
            # Otherwise a grid search around this fit would treat Ctrl-C as the end of one fit and continue.
            raise KeyboardInterrupt
        constant = constant_model_text(X, y, result, self.time_limit)
        if result.status in (Status.TIME_LIMIT, Status.STALLED):
            text = _early_end_text(result, self.time_limit, self.method, constant)
            warnings.warn(text, ConvergenceWarning, stacklevel=2)
        elif constant is not None:
            warnings.warn(constant, ConstantModelWarning, stacklevel=2)
        return self

    def _keep(self, result: Result, classes: NDArray[Any]) -> None:
        self.classes_ = classes
        self.coef_ = np.array([result.coef])
        self.intercept_ = np.array([result.intercept])
        self.C_ = result.C
        self.objective_ = result.objective
        self.lower_bound_ = result.lower_bound
        self.gap_ = result.gap
        self.optimal_ = result.optimal
        self.status_ = result.status.value
        self.violations_ = np.array(result.violations, dtype=np.intp)
        self.n_iter_ = max(1, result.nodes)
        self.result_ = result

    def decision_function(self, X: ArrayLike) -> FloatArray:
        """Compute w.x + b for every row of X: ||w|| times the signed distance from the hyperplane.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            Positive on the side of ``classes_[1]``.
        """
        check_is_fitted(self, "coef_")
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        values: FloatArray = X @ self.coef_[0] + self.intercept_[0]
        return values

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict the label of every row of X: the side of the hyperplane that it lies on.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            ``classes_[1]`` where the decision function is positive, ``classes_[0]`` elsewhere.
        """
        positive = self.decision_function(X) > 0
        labels: NDArray[Any] = self.classes_[positive.astype(np.intp)]
        return labels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        return tags


@contextlib.contextmanager
def _reporting(verbose: Any) -> Iterator[Report | None]:
    if not verbose:
        yield None
        return
    # A silent fit need not import terminal code.
    from hardmargin.progress import Progress

    with Progress(sys.stdout, style="log") as report:
        yield report


def _threads(n_jobs: Any) -> int:
    if n_jobs is None:
        return 1
    if not isinstance(n_jobs, numbers.Integral) or not (int(n_jobs) >= 1 or n_jobs == -1):
        raise ValueError(f"n_jobs is {n_jobs!r}; expected None, a whole number >= 1, or -1 for all cores.")
    return int(n_jobs)


def _seed(random_state: Any) -> int:
    if random_state is None:
        return 0
    if isinstance(random_state, numbers.Integral):
        if random_state < 0:
            raise ValueError(
                f"random_state is {random_state}; expected None, a whole number >= 0 or a RandomState."
            )
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31))


def _early_end_text(result: Result, time_limit: float | None, method: str, constant: str | None) -> str:
    """What a search has reached that ended before its proof was complete."""
    exact = get_method(method).HAS_FRONTIER
    if result.status is Status.TIME_LIMIT:
        ended = f"time_limit of {time_limit:g} s reached"
        advice = "raise time_limit or n_jobs" if exact else 'raise time_limit or use method="auto"'
    else:
        ended = f"no progress any more after {result.runtime:.3g} s, so the search was stopped"
        advice = "use stop=None"
    return (
        f"{ended} at a gap of {100 * result.gap:.3g} %: the objective is "
        f"{result.objective:.6g} and proven to be at least {result.lower_bound:.6g} for every hyperplane. "
        f"{constant or 'The model is usable;'} {'For' if constant else 'for'} a smaller gap {advice}, "
        "for no warning raise gap."
    )
