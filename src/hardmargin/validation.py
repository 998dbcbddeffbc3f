"""Validation of samples, labels and weights, with error messages that say what was expected."""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardmargin.arrays import FloatArray, SampleArray, dense_bytes, is_worth_making_dense, sparse_bytes
from hardmargin.memory import require_memory

#: Larger values overflow when they are squared in a norm.
LARGEST_VALUE = 1e150


def is_real(value: object) -> bool:
    """Whether a value is a real number, of Python or NumPy; True and False do not count."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def is_whole(value: object) -> bool:
    """Whether a value is a whole number, of Python or NumPy; True and False do not count."""
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def import_converters(X: Any) -> None:
    """Import the packages that :func:`validated_samples` needs for X, to keep that off a caller's clock."""
    if not _is_plain(X):
        # Importing this takes longer than all the rest; the command line and a solver's process do not need it.
        import sklearn.utils  # noqa: F401


def validated_samples(X: Any) -> SampleArray:
    """Turn an array-like, DataFrame or sparse matrix into an array of finite float64 values.

    Sparse samples stay sparse, unless they are small as a dense array
    (:func:`hardmargin.arrays.is_worth_making_dense`).

    Returns
    -------
    ndarray or scipy.sparse.csr_array of shape (n, m)
        Dense and C-contiguous, or sparse with sorted indices and without duplicates. Not a copy, if X already is
        such an array.

    Raises
    ------
    ValueError
        If X is not two-dimensional, has no rows or columns, or has values that are not finite or too large.
    MemoryError
        If X has to be converted and there is no memory for that.
    """
    samples = _compact(X) if _is_plain(X) else None
    largest = np.inf if samples is None else _largest_magnitude(samples)
    # A value that is not finite makes the largest one so, and scikit-learn says what is wrong.
    if samples is None or not np.isfinite(largest):
        samples = _compact(_converted(X))
        largest = _largest_magnitude(samples)
    if not largest <= LARGEST_VALUE:
        raise ValueError(
            f"X has a value of magnitude {largest:.3g}; at most {LARGEST_VALUE:g} is supported. "
            "Divide all features by one common factor."
        )
    if isinstance(samples, np.ndarray):
        return np.ascontiguousarray(samples)
    return samples


def _is_plain(X: Any) -> bool:
    """Whether the samples can be used as they are, if their values can: an array or a CSR matrix of float64."""
    if type(X) is not np.ndarray:
        from scipy.sparse import csr_array, csr_matrix

        if type(X) not in (csr_array, csr_matrix):
            return False
    return bool(X.dtype == np.float64 and X.ndim == 2 and min(X.shape) > 0)


def _largest_magnitude(samples: SampleArray) -> float:
    """The largest absolute value, without a copy; not a number if a value is not."""
    values: FloatArray = samples if isinstance(samples, np.ndarray) else samples.data
    if values.size == 0:
        return 0.0
    with np.errstate(invalid="ignore"):
        return float(np.maximum(values.max(), -values.min()))


def _converted(X: Any) -> Any:
    """The samples as float64, in a dense array or as CSR."""
    from sklearn.utils import check_array

    shape: tuple[int, ...] = getattr(X, "shape", ())
    if len(shape) == 2 and not hasattr(X, "tocsr") and not _is_plain(X):
        require_memory(
            dense_bytes(shape[0], shape[1]),
            f"converting the {shape[0]} x {shape[1]} samples to float64",
            "use fewer samples, or a machine with more memory",
        )
    return check_array(X, accept_sparse="csr", dtype=np.float64, order="C", input_name="X")


def _compact(samples: Any) -> SampleArray:
    """CSR samples in canonical form, or as a dense array if that is small; dense samples as they are."""
    from scipy.sparse import csr_array

    if isinstance(samples, np.ndarray):
        return samples

    n, m = samples.shape
    if is_worth_making_dense(n, m, sparse_bytes(samples)):
        return samples.toarray(order="C")
    compact = csr_array(samples)
    if not compact.has_canonical_format:
        # A copy, because the caller's arrays stay as they are.
        compact = csr_array(samples, copy=True)
        compact.sum_duplicates()
    return compact


def validated_labels(y: Any, n: int) -> NDArray[Any]:
    """Turn an array-like into n labels, none of them missing.

    Raises
    ------
    ValueError
        If the number of labels is not n, or if labels are missing or cannot be ordered.
    """
    if y is None:
        raise ValueError("y is None; expected one label for every row of X.")
    labels = np.asarray(y)
    # NumPy would convert the 1 and the NaN of ["a", 1, nan] to text, and so make labels of them.
    if labels.dtype.kind in "US" and isinstance(y, (list, tuple)):
        labels = np.array(y, dtype=object)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels.ravel()
    if labels.ndim != 1:
        raise ValueError(f"y has shape {labels.shape}; expected one label per row, shape ({n},).")
    if len(labels) != n:
        raise ValueError(f"X has {n} rows but y has {len(labels)} labels; expected as many labels as rows.")
    if labels.dtype.kind == "f" and not np.all(np.isfinite(labels)):
        raise ValueError("y contains NaN or infinity; expected two finite labels.")
    if labels.dtype.kind in "cV":
        raise ValueError(f"y is of type {labels.dtype}; expected numbers, text or other values in order.")
    refuse_missing_labels(labels)
    return labels


def refuse_missing_labels(y: Any) -> None:
    """Raise ValueError if labels are None, pandas.NA and the like; NaN among numbers is not checked here."""
    labels = np.array(y, dtype=object) if isinstance(y, (list, tuple)) else np.asarray(y)
    if labels.dtype.kind in "OmM" and any(_is_missing(label) for label in labels.ravel()):
        raise ValueError("y contains missing labels; expected one label for every row of X.")


def sorted_classes(labels: NDArray[Any]) -> NDArray[Any]:
    """The distinct labels in sorted order.

    Raises
    ------
    TypeError
        If the labels have no order.
    """
    if labels.dtype.kind in "biuf" and labels.size > 0:
        # Sorting all of them takes far longer.
        ends = np.array([labels.min(), labels.max()], dtype=labels.dtype)
        if ends[0] < ends[1] and bool(((labels == ends[0]) | (labels == ends[1])).all()):
            return ends
    try:
        return np.unique(labels)
    except TypeError:
        kinds = sorted({type(label).__name__ for label in labels})
        raise TypeError(f"y mixes labels of types {', '.join(kinds)}, which have no order; use one type.") from None


def signs_and_classes(labels: NDArray[Any]) -> tuple[FloatArray, tuple[Any, Any]]:
    """-1.0 or +1.0 for every label, and the two labels in sorted order, that of -1.0 first.

    Raises
    ------
    ValueError
        If there are not exactly two labels.
    TypeError
        If the labels have no order.
    """
    classes = sorted_classes(labels)
    if len(classes) > 2:
        raise ValueError(
            f"y has {shown_classes(classes)}; expected two. For more, use HardMarginSVC, which solves one "
            "problem per class or per pair of classes."
        )
    if len(classes) < 2:
        raise ValueError(f"y has 1 class ({_plain(classes[0])!r}); expected two classes to tell apart.")
    return np.where(labels == classes[1], 1.0, -1.0), (_plain(classes[0]), _plain(classes[1]))


def validated_penalty(C: Any) -> float:
    """C as a float.

    Raises
    ------
    ValueError
        If C is not positive and finite.
    TypeError
        If C is not a number.
    """
    refusal = TypeError(f"C is {C!r}; expected a positive number or 'scale'.")
    if isinstance(C, (str, bytes)):
        raise refusal
    try:
        penalty = float(C)
    except (TypeError, ValueError, OverflowError):
        raise refusal from None
    if not (np.isfinite(penalty) and penalty > 0):
        raise ValueError(f"C is {penalty}; expected a positive finite number.")
    return penalty


def validated_time_limit(time_limit: Any) -> float:
    """A time limit in seconds; infinite for None.

    Raises
    ------
    ValueError
        If it is not a positive number.
    """
    if time_limit is None:
        return np.inf
    if not is_real(time_limit) or not time_limit > 0:
        raise ValueError(f"time_limit is {time_limit!r}; expected a positive number of seconds, or None.")
    return float(time_limit)


def combined_weights(
    signs: FloatArray, classes: tuple[Any, Any], sample_weight: Any, class_weight: Any
) -> FloatArray | None:
    """Sample weights times class weights, or None if neither is given.

    Raises
    ------
    ValueError
        If a weight is negative or not finite, if a label is unknown, or if a class is left without weight.
    TypeError
        If the sample weights are not numbers.
    """
    if sample_weight is None and class_weight is None:
        return None
    weights = np.ones(len(signs)) if sample_weight is None else validated_weights(sample_weight, len(signs))
    _check_both_sides(signs, classes, weights)
    if class_weight is not None:
        by_class = _class_factors(class_weight, classes, weights, signs)
        weights = weights * np.where(signs > 0, by_class[1], by_class[0])
        _check_both_sides(signs, classes, weights)
    return weights


def multiclass_weights(
    y: Any, classes: NDArray[Any], sample_weight: Any, class_weight: Any
) -> tuple[FloatArray | None, str | None]:
    """The weights of samples of more than two classes, and the class weights that are left to every binary problem.

    Weights by label become weights of the samples. "balanced" is left: it means something else in every problem.

    Raises
    ------
    ValueError, TypeError
        As in :func:`combined_weights`.
    """
    weights = None if sample_weight is None else validated_weights(sample_weight, len(y))
    left = None
    if isinstance(class_weight, str) and class_weight == "balanced":
        left = class_weight
    elif class_weight is not None:
        factors = _factors_by_label(class_weight, [_plain(label) for label in classes])
        weights = np.ones(len(y)) if weights is None else weights
        weights = weights * np.array(factors)[np.searchsorted(classes, y)]
    if weights is not None:
        lost = [_plain(label) for label in classes if not weights[y == label].any()]
        if lost:
            raise ValueError(
                f"y has no class {lost[0]!r} once rows of weight zero are left out; expected some of every class."
            )
    return weights, left


def validated_trusted(trusted: Any, n: int) -> NDArray[np.bool_] | None:
    """The mask of the trusted samples; None if there are none.

    Raises
    ------
    ValueError
        If it has another shape.
    TypeError
        If it is not a mask of True and False.
    """
    if trusted is None:
        return None
    mask = np.asarray(trusted)
    if mask.dtype == object and all(isinstance(value, (bool, np.bool_)) for value in mask.ravel().tolist()):
        mask = mask.astype(bool)
    if mask.dtype != bool:
        raise TypeError(
            f"trusted has values of type {mask.dtype}; expected a mask, True for each row of X that must be kept. "
            "From row numbers: mask = numpy.zeros(len(X), dtype=bool); mask[rows] = True."
        )
    if mask.shape != (n,):
        raise ValueError(f"trusted has shape {mask.shape}; expected ({n},), True or False for each row of X.")
    return mask if mask.any() else None


def scaled_costs(penalty: float, weights: FloatArray) -> FloatArray:
    """C times the weights.

    Raises
    ------
    ValueError
        If they overflow, or if a positive one vanishes.
    """
    with np.errstate(over="ignore", under="ignore"):
        costs = penalty * weights
        total = costs.sum()
    if not np.isfinite(total):
        raise ValueError(f"C = {penalty:g}, times the weights if any, overflows in sum; use smaller ones.")
    if np.any(costs[weights > 0] == 0):
        raise ValueError(f"C = {penalty:g} times the smallest weight underflows; use larger ones.")
    return costs


def _is_missing(label: Any) -> bool:
    try:
        return label is None or bool(label != label)
    except TypeError:  # pandas.NA has no truth value
        return True


def shown_classes(classes: NDArray[Any]) -> str:
    """How many classes there are, and the first of them.

    Examples
    --------
    >>> shown_classes(np.array(["a", "b", "c"]))
    "3 classes ('a', 'b', 'c')"
    """
    shown = ", ".join([*(repr(_plain(label)) for label in classes[:5]), "..."][: len(classes)])
    return f"{len(classes)} classes ({shown})"


def _plain(label: Any) -> Any:
    # item() would turn a datetime64 into a bare count of nanoseconds.
    return label.item() if isinstance(label, np.generic) and label.dtype.kind not in "mM" else label


def validated_weights(sample_weight: Any, n: int) -> FloatArray:
    """Sample weights as n finite numbers that are not negative.

    Raises
    ------
    ValueError, TypeError
        If they are something else.
    """
    try:
        given = np.asarray(sample_weight)
        weights = given.astype(np.float64, casting="unsafe" if given.dtype.kind in "OUS" else "same_kind")
    except (TypeError, ValueError):
        raise TypeError("sample_weight is not numeric; expected one weight per row of X.") from None
    if weights.ndim == 0:
        weights = np.full(n, float(weights))
    if weights.shape != (n,):
        raise ValueError(f"sample_weight has shape {weights.shape}; expected ({n},), one weight per row of X.")
    if not np.all(np.isfinite(weights)):
        raise ValueError("sample_weight contains NaN or infinity; expected finite weights.")
    if weights.min() < 0:
        row = int(weights.argmin())
        raise ValueError(f"sample_weight of row {row} is {weights[row]:g}; expected no negative weights.")
    return weights


def _class_factors(
    class_weight: Any, classes: tuple[Any, Any], weights: FloatArray, signs: FloatArray
) -> tuple[float, float]:
    """The class weights of the two sides, the negative one first."""
    if isinstance(class_weight, str) and class_weight == "balanced":
        total = float(weights.sum())
        return total / (2 * float(weights[signs < 0].sum())), total / (2 * float(weights[signs > 0].sum()))
    negative, positive = _factors_by_label(class_weight, classes)
    return negative, positive


def _factors_by_label(class_weight: Any, classes: Sequence[Any]) -> list[float]:
    """One factor per label; 1 for those that are not named."""
    if not isinstance(class_weight, Mapping):
        raise ValueError(f"class_weight is {class_weight!r}; expected 'balanced', a dict by label or None.")
    for label, weight in class_weight.items():
        if label not in classes:
            raise ValueError(
                f"class_weight names {label!r}, which is not a label in y; "
                f"expected {', '.join(map(repr, classes[:-1]))} and {classes[-1]!r}."
            )
        if not isinstance(weight, numbers.Real) or not 0 <= float(weight) < np.inf:
            raise ValueError(f"class_weight of {label!r} is {weight!r}; expected a finite number >= 0.")
    return [float(class_weight.get(label, 1.0)) for label in classes]


def _check_both_sides(signs: FloatArray, classes: tuple[Any, Any], weights: FloatArray) -> None:
    left = [label for label, side in zip(classes, (-1, 1), strict=True) if np.any(weights[signs == side] > 0)]
    if len(left) < 2:
        shown = f"1 class ({left[0]!r})" if left else "no class"
        raise ValueError(
            f"y has {shown} once rows of weight zero are left out; expected two classes to tell apart, "
            f"{classes[0]!r} and {classes[1]!r}."
        )
