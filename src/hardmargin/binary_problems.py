"""More than two classes: the binary problems that they are split into, and one decision from all of them.

"ovr" (one versus rest) has one problem per class, over all samples: is a sample of this class or not? The class
with the largest decision value is predicted. "ovo" (one versus one) has one problem per pair of classes, over the
samples of these two. Every pair casts a vote, and the class with the most votes is predicted.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hardmargin.arrays import FloatArray

OVR, OVO = "ovr", "ovo"


class BinaryProblem(NamedTuple):
    """The samples and labels of one problem.

    Attributes
    ----------
    rows : ndarray of int
        The rows of X that belong to it.
    labels : ndarray
        One label for each of these, of two kinds.
    name : str
        What it tells apart, in words.
    whole : bool
        Whether these are all rows.
    """

    rows: NDArray[np.intp]
    labels: NDArray[Any]
    name: str
    whole: bool


def binary_problems(y: NDArray[Any], classes: NDArray[Any], multi_class: str) -> list[BinaryProblem]:
    """Split labels into binary problems.

    Parameters
    ----------
    y : ndarray of shape (n,)
    classes : ndarray
        The different labels, sorted.
    multi_class : "ovr" or "ovo"
        Makes no difference for two classes.

    Returns
    -------
    list of BinaryProblem
        "ovr": one per class, with the labels False and True. "ovo": one per pair of classes, in the order (0, 1),
        (0, 2), ..., (1, 2), ..., with their labels.

    Raises
    ------
    ValueError
        If ``multi_class`` is something else.

    Examples
    --------
    >>> y, classes = np.array(["a", "b", "c", "b"]), np.array(["a", "b", "c"])
    >>> [problem.name for problem in binary_problems(y, classes, "ovr")]
    ["'a' against the rest", "'b' against the rest", "'c' against the rest"]
    >>> [problem.rows.tolist() for problem in binary_problems(y, classes, "ovo")]
    [[0, 1, 3], [0, 2], [1, 2, 3]]
    """
    if multi_class not in (OVR, OVO):
        raise ValueError(f"multi_class is {multi_class!r}; expected 'ovr' or 'ovo'.")
    everything = np.arange(len(y))
    shown = [repr(label) for label in classes.tolist()]
    if len(classes) <= 2:
        return [BinaryProblem(everything, y, " against ".join(shown), True)]
    if multi_class == OVR:
        return [
            BinaryProblem(everything, y == label, f"{name} against the rest", True)
            for label, name in zip(classes, shown, strict=True)
        ]
    pairs = [np.flatnonzero((y == classes[i]) | (y == classes[j])) for i, j in class_pairs(len(classes))]
    return [
        BinaryProblem(rows, y[rows], f"{shown[i]} against {shown[j]}", False)
        for rows, (i, j) in zip(pairs, class_pairs(len(classes)), strict=True)
    ]


def class_pairs(count: int) -> list[tuple[int, int]]:
    """The pairs of classes in the order of their problems.

    Examples
    --------
    >>> class_pairs(3)
    [(0, 1), (0, 2), (1, 2)]
    """
    return [(i, j) for i in range(count) for j in range(i + 1, count)]


def votes(values: FloatArray, count: int) -> FloatArray:
    """One value per class from the decision values of all pairs, as ``sklearn.multiclass.OneVsOneClassifier``.

    Parameters
    ----------
    values : ndarray of shape (n, count * (count - 1) / 2)
        Positive for the second class of a pair.
    count : int
        Number of classes.

    Returns
    -------
    ndarray of shape (n, count)
        The votes of a class, plus the sum of its decision values mapped to (-1/3, 1/3), which decides ties.

    Examples
    --------
    >>> votes(np.array([[-1.0, 1.0, 2.0]]), 3).round(2).tolist()
    [[1.0, -0.25, 2.25]]
    """
    won, confidence = np.zeros((len(values), count)), np.zeros((len(values), count))
    for column, (i, j) in enumerate(class_pairs(count)):
        confidence[:, i] -= values[:, column]
        confidence[:, j] += values[:, column]
        second = values[:, column] > 0
        won[:, i] += ~second
        won[:, j] += second
    values_by_class: FloatArray = won + confidence / (3 * (np.abs(confidence) + 1))
    return values_by_class
