"""HardMarginSVC: the scikit-learn interface to :func:`hardmargin.solve`."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from hardmargin.arrays import FloatArray
from hardmargin.binary_model import BinaryModel, kernel_model, linear_model, total_status
from hardmargin.binary_problems import OVO, BinaryProblem, binary_problems, votes
from hardmargin.bounds import Report, relative_gap
from hardmargin.explanation import outliers
from hardmargin.fit_messages import ConstantModelWarning, fit_warning, reporting
from hardmargin.fit_parameters import fit_job, seed_of, threads_of
from hardmargin.fitting import PlainSamples, combined, solve_all
from hardmargin.gram import FactoredGram, Kernel, factored_gram, gram_factor, gram_matrix, parsed_kernel
from hardmargin.outlier_table import Outliers
from hardmargin.result import Result
from hardmargin.status import Status
from hardmargin.stopping import Stall
from hardmargin.validation import refuse_missing_labels, sorted_classes, validated_time_limit, validated_weights
from hardmargin.warm_starts import warm_starts

__all__ = ["ConstantModelWarning", "HardMarginSVC"]

_KERNEL_ATTRIBUTES = ("dual_coef_", "support_", "support_vectors_", "gram_error_")


class HardMarginSVC(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Support vector classifier with the hard-margin loss, and a proof of how good it is.

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
        Seconds that ``fit`` may search, for all classes together; None means no limit. When the limit is reached,
        the best hyperplanes and the bounds proven so far are kept, and a ``ConvergenceWarning`` is given.
    gap : float, default=1e-6
        Relative gap at which the objective counts as proven minimal; at least 1e-9.
    class_weight : dict or "balanced", default=None
        Factors of C by label. "balanced" gives both sides of every binary problem the same total weight.
    n_jobs : int, default=None
        Threads that the fit may use: None means 1, -1 means all cores. At most four per core are started. With more
        than two classes, binary problems are solved side by side; a single problem uses more than one thread with
        the exact methods only.
    random_state : int, RandomState instance or None, default=None
        Seed of the search. None means seed 0: fitting is repeatable by default, and does not touch NumPy's global
        random state.
    verbose : int, default=0
        If positive, print a table of the bounds to standard output as they change.
    stop : "stall", Stall or None, default="stall"
        "stall" ends the search of a binary problem early, with a ``ConvergenceWarning``, when half of its time, and
        2 seconds at least, passed without a noticeably better hyperplane or bound;
        :class:`hardmargin.stopping.Stall` has the details. None searches until the gap or the time limit is
        reached.
    multi_class : "ovo" or "ovr", default="ovo"
        How more than two classes are split into binary problems: one per pair of classes, or one per class against
        the rest. Makes no difference for two classes.
    kernel : "linear", "rbf", "poly", "sigmoid", "precomputed" or callable, default="linear"
        As in ``sklearn.svm.SVC``. A callable gets two arrays of samples and returns the matrix of all pairs. The
        Gram matrix must be positive semidefinite, and fit into memory.
    gamma : float, "scale" or "auto", default="scale"
        Coefficient of "rbf", "poly" and "sigmoid". "scale" is 1 / (n_features * X.var()), where the weights of
        samples count as repetitions; "auto" is 1 / n_features.
    degree : int, default=3
        Degree of "poly".
    coef0 : float, default=0.0
        Constant term of "poly" and "sigmoid".
    monotonic_cst : array-like of int of shape (n_features,) or dict, default=None
        Signs of the weights: 1 for not negative, -1 for not positive, 0 for any. A dict has them by the names of
        the features. For two classes without a kernel.
    coef_bounds : pair of array-likes or floats, or dict, default=None
        Lower and upper bounds on the weights. A dict has pairs (low, high) by the names of
        the features. For two classes without a kernel.
    max_violations : float or dict, default=None
        Limits on the total weight of the samples that may be given up, of all of them or by label, as in
        :func:`hardmargin.solve`. With more than two classes, a number limits every binary problem by itself.
        ``fit`` raises a :class:`hardmargin.BudgetError` if no hyperplane within them is found.
    options : dict or the method's options dataclass, default=None
        The method's own settings, as in :func:`hardmargin.solve`.
    warm_start : bool, default=False
        Whether ``fit`` starts from the hyperplanes of the previous fit, if the classes and the features are as many
        as then.
    checkpoint : path, default=None
        A file for the state of the search, as in :func:`hardmargin.solve`. If it exists, the search continues from
        it. With more than two classes, every binary problem has a file of its own, with its number in the name.
    callback : callable, default=None
        ``callback(time, upper, lower, nodes)``, called as the bounds change. With more than two classes, the bounds
        are the sums over all binary problems.

    Attributes
    ----------
    coef_ : ndarray of shape (n_problems, n_features)
        The normal vectors w, one per binary problem: a single one for two classes, one per class for "ovr", one per
        pair of classes (0, 1), (0, 2), ..., (1, 2), ... for "ovo". Only without a kernel.
    intercept_ : ndarray of shape (n_problems,)
        The offsets b.
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted. Of two, the first one is the negative side.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X has names and all of them are strings.
    objective_ : float
        1/2 ||w||^2 plus the costs of the violated samples that ``max_violations`` does not limit; the sum over the
        binary problems.
    C_ : float or None
        The penalty as a number; None if ``max_violations`` limits all samples, so that it is not used.
    lower_bound_ : float
        No hyperplane has a smaller objective than this; with several binary problems, no choice of hyperplanes has
        a smaller sum.
    gap_ : float
        ``(objective_ - lower_bound_) / objective_``.
    optimal_ : bool
        Whether the objective is proven minimal, up to ``gap``, in every binary problem.
    status_ : str
        Why the search ended: "optimal", "time_limit", "stalled", "interrupted", "node_limit" or "heuristic".
    violations_ : ndarray of int
        Sorted rows of X with a margin below 1 in at least one binary problem; rows of weight zero are listed too,
        though they cost nothing.
    n_iter_ : int
        Number of subproblems examined, at least 1.
    results_ : list of Result
        Everything else, one result per binary problem: run time, bounds over time, the JSON form. With "ovr", its
        labels are False and True, for ``y == classes_[i]``. With "ovo", its rows are those of the two classes. With
        a kernel, it is the result of the factored problem.
    result_ : Result
        The only one of ``results_``, for two classes.
    dual_coef_ : ndarray of shape (n_problems, n_SV)
        With a kernel: the coefficients of the support vectors, signed.
    support_ : ndarray of int of shape (n_SV,)
        With a kernel: the rows of X that have a coefficient in at least one binary problem.
    support_vectors_ : ndarray or sparse matrix of shape (n_SV, n_features)
        With a kernel: these rows; empty if it is "precomputed".
    gram_error_ : float
        With a kernel: the bounds hold for every positive semidefinite Gram matrix whose entries differ from those
        of the factored one by at most this.

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
        multi_class: str = OVO,
        kernel: str | Callable[[Any, Any], Any] = "linear",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        monotonic_cst: ArrayLike | Mapping[str, int] | None = None,
        coef_bounds: Any = None,
        max_violations: Mapping[Any, float] | float | None = None,
        options: Any = None,
        warm_start: bool = False,
        checkpoint: str | os.PathLike[str] | None = None,
        callback: Report | None = None,
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
        self.multi_class = multi_class
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.monotonic_cst = monotonic_cst
        self.coef_bounds = coef_bounds
        self.max_violations = max_violations
        self.options = options
        self.warm_start = warm_start
        self.checkpoint = checkpoint
        self.callback = callback

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        trusted: ArrayLike | None = None,
    ) -> HardMarginSVC:
        """Find the best hyperplanes and prove a bound on all others.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
            Samples; every value finite. With ``kernel="precomputed"``, the Gram matrix.
        y : array-like of shape (n_samples,)
            Labels, any two or more values.
        sample_weight : array-like of shape (n_samples,), optional
            Factors of C, not negative; a weight of zero drops the sample.
        trusted : array-like of bool of shape (n_samples,), optional
            Samples that must be kept, in every binary problem that they belong to.

        Returns
        -------
        HardMarginSVC
            The fitted estimator itself.

        Raises
        ------
        KeyboardInterrupt
            After Ctrl-C. The estimator is fitted nevertheless, with what was found until then, unless samples are
            trusted and binary problems have not begun.
        """
        warning = self._fit(X, y, sample_weight, trusted)
        if warning is not None:
            warnings.warn(warning, stacklevel=2)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any, trusted: Any) -> Warning | None:
        """Fit, and return the warning that the caller should get."""
        if y is not None:
            refuse_missing_labels(y)
        self._training_data = X, y
        X, y = validate_data(self, X, y, accept_sparse=self._sparse_formats(), dtype=np.float64)
        labels = np.asarray(y)
        classes = sorted_classes(labels)
        if len(classes) > 2:
            # Two labels may be any two values, but many real values indicate a regression target.
            check_classification_targets(labels)
        problems = binary_problems(labels, classes, self.multi_class)
        begun = time.monotonic()
        weights = None if sample_weight is None else validated_weights(sample_weight, len(labels))
        kernel = parsed_kernel(self.kernel, self.gamma, self.degree, self.coef0, X, weights)
        limit = validated_time_limit(self.time_limit)
        gram = None if kernel.name == "linear" else factored_gram(kernel, X, problems, limit)
        job = fit_job(self, gram or PlainSamples(X, problems), labels, classes, weights, trusted)
        job = replace(job, spent=0.0 if gram is None else time.monotonic() - begun)
        with reporting(self.verbose) as progress:
            starts = warm_starts(self, problems, classes, X, kernel, gram)
            results = solve_all(problems, starts, job, combined(progress, self.callback))
        if gram is None:
            names = getattr(self, "feature_names_in_", None)
            results = [replace(each, feature_names=None if names is None else names.tolist()) for each in results]
            models = [linear_model(*pair) for pair in zip(problems, results, strict=True)]
        else:
            models = [kernel_model(*each) for each in zip(problems, results, gram.factors, strict=True)]
        self._keep(classes, results, models)
        self._keep_weights(problems, models, X, kernel, gram)
        if self.status_ == Status.INTERRUPTED.value:
            # Otherwise a grid search around this fit would treat Ctrl-C as the end of one fit and continue.
            raise KeyboardInterrupt
        return fit_warning(problems, results, models, job)

    def _keep(self, classes: NDArray[Any], results: list[Result], models: Sequence[BinaryModel]) -> None:
        self.classes_ = classes
        self.intercept_ = np.array([model.intercept for model in models])
        self.C_ = results[0].C
        self.objective_ = float(sum(model.objective for model in models))
        self.lower_bound_ = float(sum(model.lower_bound for model in models))
        self.gap_ = relative_gap(self.objective_, self.lower_bound_)
        self.status_ = total_status(models).value
        self.optimal_ = self.status_ == Status.OPTIMAL.value
        self.violations_ = np.unique(np.concatenate([model.violations for model in models]))
        self.n_iter_ = max(1, sum(result.nodes for result in results))
        self.results_ = results
        self.__dict__.pop("result_", None)
        if len(results) == 1:
            self.result_ = results[0]

    def _keep_weights(
        self,
        problems: Sequence[BinaryProblem],
        models: Sequence[BinaryModel],
        X: Any,
        kernel: Kernel,
        gram: FactoredGram | None,
    ) -> None:
        for name in ("coef_", *_KERNEL_ATTRIBUTES):
            self.__dict__.pop(name, None)
        self._kernel = kernel
        self._split = self.multi_class
        if gram is None:
            self.coef_ = np.array([model.weights for model in models])
            return
        weights = np.zeros((len(problems), X.shape[0]))
        for row, problem, model in zip(weights, problems, models, strict=True):
            row[problem.rows] = model.weights
        self.support_ = np.flatnonzero(weights.any(axis=0))
        self.dual_coef_ = weights[:, self.support_]
        self.support_vectors_ = X[:0] if kernel.name == "precomputed" else X[self.support_]
        self.gram_error_ = gram.error

    def decision_function(self, X: ArrayLike) -> FloatArray:
        """Compute w.x + b for every row of X: ||w|| times the signed distance from the hyperplane.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
            Samples. With ``kernel="precomputed"``, their kernel with all training samples.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes, positive on the side of ``classes_[1]``. For more, one column per class; with "ovo",
            the number of pairs that a class wins, plus a term between -1/3 and 1/3 that decides ties, as
            ``sklearn.multiclass.OneVsOneClassifier`` has it.
        """
        check_is_fitted(self, "classes_")
        samples = validate_data(self, X, accept_sparse=self._sparse_formats(), dtype=np.float64, reset=False)
        values: FloatArray = self._products(samples) + self.intercept_
        if len(self.classes_) == 2:
            return np.asarray(values[:, 0])
        return votes(values, len(self.classes_)) if self._split == OVO else values

    def _products(self, X: Any) -> FloatArray:
        """Inner products of the samples with the normal vectors of all binary problems."""
        products: FloatArray
        if hasattr(self, "coef_"):
            products = X @ self.coef_.T
        elif self._kernel.name == "precomputed":
            products = X[:, self.support_] @ self.dual_coef_.T
        else:
            products = self._kernel.combination(X, self.support_vectors_, self.dual_coef_)
        return products

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict the label of every row of X: the side of the hyperplane that it lies on.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
            Samples. With ``kernel="precomputed"``, their kernel with all training samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            For two classes, ``classes_[1]`` where the decision function is positive, ``classes_[0]`` elsewhere. For
            more, the class with the largest value of the decision function.
        """
        values = self.decision_function(X)
        chosen = values > 0 if values.ndim == 1 else values.argmax(axis=1)
        labels: NDArray[Any] = self.classes_[chosen.astype(np.intp)]
        return labels

    def outliers(
        self,
        X: ArrayLike | None = None,
        y: ArrayLike | None = None,
        *,
        samples: str = "given-up",
        within: float = 0.01,
        time_limit: float | None = 60.0,
    ) -> Outliers:
        """Price the samples that the model gives up: by how much does the optimum rise if one must be kept?

        For two classes. With a kernel, distances are those in its feature space.

        Parameters
        ----------
        X, y : array-like, optional
            The training data; by default those of the last ``fit``, which a model that was pickled or copied does
            not have.
        samples, within, time_limit
            As in :func:`hardmargin.outliers`.

        Returns
        -------
        Outliers
            A table, sorted by price.

        Raises
        ------
        ValueError
            If there are more than two classes, or if the data are missing or not those of the fit.
        """
        check_is_fitted(self, "classes_")
        if len(self.classes_) > 2:
            raise ValueError(
                f"the model has {len(self.classes_)} classes; expected two. For each of its binary problems, use "
                "hardmargin.outliers(result, X, y) with the result from results_ and the data of that problem."
            )
        if X is None or y is None:
            if not hasattr(self, "_training_data"):
                raise ValueError("this model was pickled or copied, without its data; pass X and y as in training.")
            X, y = self._training_data
        if self._kernel.name != "linear":
            formats = self._sparse_formats()
            X = validate_data(self, X, accept_sparse=formats, dtype=np.float64, reset=False)
            X = gram_factor(gram_matrix(self._kernel, X)).rows
        settings: dict[str, Any] = {"threads": threads_of(self.n_jobs), "seed": seed_of(self.random_state)}
        return outliers(self, X, y, samples=samples, within=within, time_limit=time_limit, **settings)

    def __getstate__(self) -> dict[str, Any]:
        # Models are stored without the data that they were trained on.
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_training_data"}

    def _sparse_formats(self) -> str | bool:
        return False if self.kernel == "precomputed" else "csr"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.kernel != "precomputed"
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags
