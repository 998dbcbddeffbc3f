"""Random instances like the Type A and Type B files of the benchmark.

Properties of the 120 published files that are reproduced here:

- the two classes are unit Gaussians, +1 around the origin and -1 around the point with ``2 / sqrt(d)`` in
  every coordinate, so that the centres are 2 apart;
- the last tenth of the rows are outliers. In files named A they have the centre of their own class but
  covariance 100 I; the first half of them is +1, the second half -1. In files named B all are +1, around
  ``10 / sqrt(d)`` in every coordinate with covariance 0.01 I: a tight cluster behind the negative class;
- the other rows are in random order, with about as many of either class. The class sizes vary less than coin
  tosses would (0.43 times the variance); drawing without replacement from a balanced pool of twice the size gives
  0.5 times.

The same arguments give the same bits on every machine. That rules out library normals, whose stream may
change between versions, and any logarithm or cosine in a value, because these differ in the last bit between
maths libraries. The raw stream of PCG64 is fixed, and the ratio of uniforms (Kinderman and Monahan, 1977)
needs only one division: its logarithm only decides whether a draw is accepted.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardmargin.data.dataset import MAX_CELLS, Dataset
from hardmargin.validation import is_whole

_CENTRE_DISTANCE = 2.0
_CLUSTER_DISTANCE = 10.0
_SPREAD_DEVIATION = 10.0
_CLUSTER_DEVIATION = 0.1

#: sqrt(2 / e), half the height of the region from which the ratio of uniforms draws.
_HALF_HEIGHT = 0.8577638849607068


def generate(kind: str, n: int, d: int, seed: int = 0) -> Dataset:
    """Draw an instance like the benchmark's Type A or Type B files.

    The types are named as in the files and the published tables; the text of the paper swaps them.

    Parameters
    ----------
    kind : "A" or "B"
        A: a tenth of the samples are spread outliers. B: a tenth are a cluster behind the other class.
    n : int
        Number of samples, at least 2; the last ``n // 10`` are the outliers.
    d : int
        Number of features.
    seed : int
        The same seed gives the same data, bit for bit, on every machine.

    Returns
    -------
    Dataset
        With the labels -1 and 1; both occur.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Examples
    --------
    >>> dataset = generate("B", n=200, d=5, seed=1)
    >>> dataset.X.shape, dataset.y[-20:].tolist() == [1] * 20
    ((200, 5), True)
    >>> bool(np.allclose(dataset.X[-20:].mean(axis=0), 10 / np.sqrt(5), atol=0.1))
    True
    """
    _validate(kind, n, d, seed)
    bits = np.random.PCG64(int(seed))
    outliers = n // 10
    labels = np.concatenate([_ordinary_labels(bits, n - outliers), _outlier_labels(kind, outliers)])
    if len(set(labels.tolist())) < 2:
        labels[0] = -labels[0]
    centres = np.where(labels > 0, 0.0, _CENTRE_DISTANCE / math.sqrt(d))
    deviations = np.ones(n)
    if kind == "A":
        deviations[n - outliers :] = _SPREAD_DEVIATION
    else:
        centres[n - outliers :] = _CLUSTER_DISTANCE / math.sqrt(d)
        deviations[n - outliers :] = _CLUSTER_DEVIATION
    X = centres[:, None] + deviations[:, None] * _normals(bits, n * d).reshape(n, d)
    return Dataset(X, labels)


def _ordinary_labels(bits: np.random.PCG64, count: int) -> NDArray[np.int64]:
    """Labels drawn without replacement from a pool that has ``count`` labels of either class."""
    pool = np.repeat(np.array([1, -1], dtype=np.int64), count)
    order = np.argsort(bits.random_raw(2 * count), kind="stable")
    return pool[order[:count]]


def _outlier_labels(kind: str, count: int) -> NDArray[np.int64]:
    labels = np.ones(count, dtype=np.int64)
    if kind == "A":
        labels[(count + 1) // 2 :] = -1
    return labels


def _normals(bits: np.random.PCG64, count: int) -> NDArray[np.float64]:
    """Standard normal draws: v / u for points (u, v) uniform in the region u^2 <= exp(-(v / u)^2 / 2)."""
    taken = np.empty(0)
    while len(taken) < count:
        u = _uniforms(bits, count)
        v = _HALF_HEIGHT * (2.0 * _uniforms(bits, count) - 1.0)
        ratios = v / u
        taken = np.concatenate([taken, ratios[ratios * ratios <= -4.0 * np.log(u)]])
    return taken[:count]


def _uniforms(bits: np.random.PCG64, count: int) -> NDArray[np.float64]:
    """Multiples of 2^-53 in (0, 1]; every operation is exact."""
    integers = np.asarray(bits.random_raw(count), dtype=np.uint64) >> np.uint64(11)
    return (integers + np.uint64(1)).astype(np.float64) * 2.0**-53


def _validate(kind: Any, n: Any, d: Any, seed: Any) -> None:
    if kind not in ("A", "B"):
        raise ValueError(f"kind is {kind!r}; expected 'A' (spread outliers) or 'B' (clustered outliers).")
    if not is_whole(n) or n < 2:
        raise ValueError(f"n is {n!r}; expected a whole number >= 2.")
    if not is_whole(d) or d < 1:
        raise ValueError(f"d is {d!r}; expected a whole number >= 1.")
    if n * d > MAX_CELLS:
        raise ValueError(f"n * d is {n * d}; expected at most {MAX_CELLS}.")
    if not is_whole(seed) or not 0 <= seed < 2**64:
        raise ValueError(f"seed is {seed!r}; expected a whole number from 0 to 2**64 - 1.")
