"""HardMarginSVCCV: HardMarginSVC with C chosen by cross-validation along paths."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from hardmargin.arrays import FloatArray
from hardmargin.constrained import ContradictoryTrustError
from hardmargin.estimator import HardMarginSVC
from hardmargin.fit_parameters import seed_of, threads_of
from hardmargin.fold_scores import ResultClassifier, fold_scores, widest_stretch
from hardmargin.path_solver import path
from hardmargin.penalty import scale_penalty
from hardmargin.penalty_path import Path
from hardmargin.status import Status
from hardmargin.stopping import Stall
from hardmargin.validation import is_real, is_whole, refuse_missing_labels, sorted_classes, validated_trusted
from hardmargin.weight_bounds import by_position

#: The value of ``Cs`` that stands for the default range.
PATH = "path"

# The range of C by default, as factors of C = "scale".
_LOWEST, _HIGHEST = 1e-2, 1e2
# The shortest time that a part of a fit is given: limits have to be positive.
_LEAST_SECONDS = 0.01


class HardMarginSVCCV(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Linear support vector classifier with the hard-margin loss and with C chosen by cross-validation.

    Every fold computes a path over C (:func:`hardmargin.path`), which has the best hyperplane at every C. The C
    with the best mean score is used to fit a :class:`HardMarginSVC` to all samples.

    Parameters
    ----------
    Cs : int, list of float, tuple of two floats, or "path", default=10
        A number stands for that many values from 0.01 to 100 times the C of ``C="scale"``, evenly spaced on a
        logarithmic scale. A list has the values themselves. A tuple is a range (low, high), and "path" stands for
        the range from 0.01 to 100 times "scale": then all C in the range are compared. The score is constant
        between the breakpoints of the folds, so there are finitely many candidates, and C is the geometric middle
        of the stretch with the best score.
    cv : int, cross-validation generator or iterable, default=None
        The folds, as in :class:`sklearn.model_selection.GridSearchCV`; None means 5 stratified ones.
    scoring : str or callable, default=None
        The score, as in :class:`sklearn.model_selection.GridSearchCV`; None means accuracy. It gets the sample
        weights if ``fit`` did.
    refit : bool, default=True
        False chooses C and fits no model.
    method : str, default="auto"
        How to search; one of :func:`hardmargin.methods.names`.
    time_limit : float or None, default=60.0
        Seconds for the whole fit, which the folds and the final fit share equally; what one leaves is for the
        others. None means no limit.
    gap : float, default=1e-6
        Relative gap at which an objective counts as proven minimal.
    class_weight : dict or "balanced", default=None
        Factors of C by label.
    n_jobs : int, default=None
        Threads that a search may use: None means 1, -1 means all cores. Folds are computed one after the other.
    random_state : int, RandomState instance or None, default=None
        Seed of the searches; None means 0. The folds have their own, see ``cv``.
    verbose : int, default=0
        Of the final fit, as in :class:`HardMarginSVC`.
    stop : "stall", Stall or None, default="stall"
        When to end a search early, as in :class:`HardMarginSVC`.
    monotonic_cst : array-like of int of shape (n_features,) or dict, default=None
        Signs of the weights, as in :class:`HardMarginSVC`, in all folds and in the final fit.
    coef_bounds : pair of array-likes or floats, or dict, default=None
        Lower and upper bounds on the weights, as in :class:`HardMarginSVC`, in all folds and in the final fit.

    Attributes
    ----------
    C_ : float
        The chosen C.
    Cs_ : ndarray of shape (n_candidates,)
        The values of C that were compared, in ascending order; for a range, one between any two breakpoints of the
        folds.
    scores_ : ndarray of shape (n_folds, n_candidates)
        The score of every fold at every candidate.
    paths_ : list of Path
        The path of every fold.
    best_index_ : int
        The place of the best candidate in ``Cs_``: the first one with the best mean score.
    best_score_ : float
        Its mean score.
    best_estimator_ : HardMarginSVC
        The final fit, if ``refit``.
    classes_ : ndarray of shape (2,)
        The two labels, the negative side first.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X has names and all of them are strings.
    coef_, intercept_, objective_, lower_bound_, gap_, optimal_, status_, violations_, n_iter_, result_
        Those of ``best_estimator_``.

    Examples
    --------
    >>> from hardmargin import HardMarginSVCCV
    >>> from hardmargin.data import generate
    >>> data = generate("A", n=60, d=2, seed=1)
    >>> model = HardMarginSVCCV(Cs=[0.1, 1.0, 10.0], cv=3).fit(data.X, data.y)
    >>> model.scores_.shape, model.C_ in (0.1, 1.0, 10.0), model.optimal_
    ((3, 3), True, True)
    """

    def __init__(
        self,
        Cs: int | Sequence[float] | tuple[float, float] | str = 10,
        *,
        cv: Any = None,
        scoring: Any = None,
        refit: bool = True,
        method: str = "auto",
        time_limit: float | None = 60.0,
        gap: float = 1e-6,
        class_weight: Mapping[Any, float] | str | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        stop: Stall | str | None = "stall",
        monotonic_cst: Any = None,
        coef_bounds: Any = None,
    ) -> None:
        self.Cs = Cs
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.method = method
        self.time_limit = time_limit
        self.gap = gap
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.stop = stop
        self.monotonic_cst = monotonic_cst
        self.coef_bounds = coef_bounds

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        trusted: ArrayLike | None = None,
    ) -> HardMarginSVCCV:
        """Choose C, and find the best hyperplane for it.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
            Samples; every value finite.
        y : array-like of shape (n_samples,)
            Labels, two values.
        sample_weight : array-like of shape (n_samples,), optional
            Factors of C, not negative; a weight of zero drops the sample.
        trusted : array-like of bool of shape (n_samples,), optional
            Samples that must be kept, in the final fit and in every fold that trains on them.

        Returns
        -------
        HardMarginSVCCV
            The fitted estimator itself.

        Raises
        ------
        ValueError
            If there are more than two classes, or a parameter cannot be used.
        KeyboardInterrupt
            After Ctrl-C.
        """
        started = time.monotonic()
        if y is not None:
            refuse_missing_labels(y)
        samples: Any
        samples, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        # Labels stored as objects get the type that they have, because folds and scorers depend on it.
        labels = np.asarray(np.asarray(y).tolist())
        self.classes_ = _two_classes(labels)
        weights = None if sample_weight is None else _check_sample_weight(sample_weight, samples)
        keep = validated_trusted(trusted, len(labels))
        signs, ranges = by_position(self.monotonic_cst, self.coef_bounds, self._names())
        asked = self._candidates(samples)
        sides = (labels == self.classes_[1]).astype(np.intp)
        folds = list(check_cv(self.cv, sides, classifier=True).split(samples, sides))
        parts = len(folds) + bool(self.refit)
        self.paths_: list[Path] = []
        for number, (train, _) in enumerate(folds):
            try:
                found = path(
                    samples[train],
                    labels[train],
                    asked,
                    sample_weight=None if weights is None else weights[train],
                    trusted=None if keep is None else keep[train],
                    monotonic_cst=signs,
                    coef_bounds=ranges,
                    class_weight=self.class_weight,
                    method=self.method,
                    time_limit=self._share(started, parts - number),
                    gap=self.gap,
                    threads=threads_of(self.n_jobs),
                    seed=seed_of(self.random_state),
                    stop=self.stop,
                )
            except ContradictoryTrustError as error:
                raise error.among(np.arange(len(labels))[train]) from None
            self.paths_.append(found)
            if self.paths_[-1].status is Status.INTERRUPTED:
                raise KeyboardInterrupt
        scorer = check_scoring(ResultClassifier(None), self.scoring)
        self._choose(asked, [test for _, test in folds], samples, labels, weights, scorer)
        for name in ("best_estimator_", *_FINAL):
            # A model of an earlier fit has another C.
            self.__dict__.pop(name, None)
        if self.refit:
            self._fit_best(X, labels, sample_weight, keep, self._share(started, 1))
        return self

    def _candidates(self, X: Any) -> tuple[float, float] | list[float]:
        """A range, or the values of C."""
        Cs: Any = self.Cs
        if isinstance(Cs, str):
            if Cs != PATH:
                raise ValueError(f"Cs is {Cs!r}; expected a number, a list, a range (low, high) or {PATH!r}.")
            scale = scale_penalty(X)
            return _LOWEST * scale, _HIGHEST * scale
        if isinstance(Cs, tuple):
            return Cs
        if is_whole(Cs):
            if Cs < 1:
                raise ValueError(f"Cs is {Cs}; expected at least one value.")
            scale = scale_penalty(X)
            return [float(C) for C in np.geomspace(_LOWEST * scale, _HIGHEST * scale, int(Cs))]
        if is_real(Cs):
            raise ValueError(f"Cs is {Cs!r}; expected a whole number, a list, a range (low, high) or {PATH!r}.")
        try:
            return sorted(float(C) for C in Cs)
        except (TypeError, ValueError):
            raise ValueError(f"Cs is {Cs!r}; expected a number, a list, a range (low, high) or {PATH!r}.") from None

    def _share(self, started: float, parts: int) -> float | None:
        """Seconds for one of the parts that are left to do."""
        if self.time_limit is None or not is_real(self.time_limit) or not self.time_limit > 0:
            # If it is not a time limit at all, the first path says so.
            return self.time_limit
        return max(_LEAST_SECONDS, (self.time_limit - (time.monotonic() - started)) / parts)

    def _choose(
        self,
        asked: tuple[float, float] | list[float],
        tests: list[NDArray[np.intp]],
        X: Any,
        y: NDArray[Any],
        weights: FloatArray | None,
        scorer: Any,
    ) -> None:
        """Score all folds at all candidates, and choose the best."""
        if isinstance(asked, list):
            edges = None
            self.Cs_ = np.array(asked)
        else:
            inside = {C for path in self.paths_ for C in path.breakpoints}
            edges = np.array(sorted({float(asked[0]), *inside, float(asked[1])}))
            self.Cs_ = np.sqrt(edges[:-1] * edges[1:])
        self.scores_ = np.array(
            [
                fold_scores(path, self.Cs_, X[test], y[test], None if weights is None else weights[test], scorer)
                for path, test in zip(self.paths_, tests, strict=True)
            ]
        )
        means = self.scores_.mean(axis=0)
        self.best_index_ = int(np.argmax(means))
        self.best_score_ = float(means[self.best_index_])
        if edges is None:
            self.C_ = float(self.Cs_[self.best_index_])
        else:
            begin, end = widest_stretch(np.isclose(means, self.best_score_, rtol=0, atol=1e-12), np.log(edges))
            self.C_ = math.sqrt(edges[begin] * edges[end])

    def _names(self) -> list[str] | None:
        """The names of the features, if they have any."""
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else names.tolist()

    def _fit_best(self, X: Any, y: Any, sample_weight: Any, trusted: Any, time_limit: float | None) -> None:
        best = self.best_estimator_ = HardMarginSVC(
            C=self.C_,
            method=self.method,
            time_limit=time_limit,
            gap=self.gap,
            class_weight=self.class_weight,
            n_jobs=self.n_jobs,
            random_state=self.random_state,
            verbose=self.verbose,
            stop=self.stop,
            monotonic_cst=self.monotonic_cst,
            coef_bounds=self.coef_bounds,
        )
        try:
            warning = best._fit(X, y, sample_weight, trusted)
        finally:
            # After Ctrl-C, what was found is kept, as in HardMarginSVC.
            for name in _FINAL:
                if hasattr(best, name):
                    setattr(self, name, getattr(best, name))
        if warning is not None:
            # Its time limit is what was left of that of the caller.
            warnings.warn(type(warning)(f"the final model, C = {self.C_:.6g}: {warning}"), stacklevel=3)

    def _check_model(self) -> None:
        if hasattr(self, "C_") and not hasattr(self, "best_estimator_"):
            raise NotFittedError(
                f"this HardMarginSVCCV was fitted with refit=False, which chooses C ({self.C_:g}) and leaves no "
                "model; fit it with refit=True, or fit HardMarginSVC with that C."
            )
        check_is_fitted(self, "best_estimator_")

    def decision_function(self, X: ArrayLike) -> FloatArray:
        """Compute w.x + b for every row of X, see :meth:`HardMarginSVC.decision_function`.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            Positive on the side of ``classes_[1]``.
        """
        self._check_model()
        validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        values: FloatArray = self.best_estimator_.decision_function(X)
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
            Labels.
        """
        self._check_model()
        validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        labels: NDArray[Any] = self.best_estimator_.predict(X)
        return labels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        return tags


# What the final fit is asked for.
_FINAL = (
    "coef_",
    "intercept_",
    "objective_",
    "lower_bound_",
    "gap_",
    "optimal_",
    "status_",
    "violations_",
    "n_iter_",
    "result_",
)


def _two_classes(labels: NDArray[Any]) -> NDArray[Any]:
    classes = sorted_classes(labels)
    if len(classes) != 2:
        # Two labels may be any two values, but many real values indicate a regression target.
        check_classification_targets(labels)
    if len(classes) > 2:
        raise ValueError(
            f"Only binary classification is supported: there are {len(classes)} classes, and HardMarginSVCCV "
            "chooses C for two. Wrap it in sklearn.multiclass.OneVsRestClassifier, or use GridSearchCV."
        )
    if len(classes) < 2:
        raise ValueError(f"there is only one class, {classes.tolist()[0]!r}; expected two.")
    return classes
