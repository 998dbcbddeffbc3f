"""The medians of features that are far from zero relative to their spread; counting rules out most others."""

from __future__ import annotations

import numpy as np

from hardmargin.arrays import FloatArray

# With more samples than this, counts may save medians.
_MANY_SAMPLES = 4000
# The ends of the interval in which values are counted come from about this many samples.
_QUANTILE_SAMPLES = 1000


def far_medians(values: FloatArray) -> FloatArray:
    """The medians of features, one per row; zero if the median is near zero relative to the feature's spread.

    Examples
    --------
    >>> far_medians(np.array([[-1.0, 0.5, 2.0], [99.0, 100.0, 101.0]])).tolist()
    [0.0, 100.0]
    """
    if values.shape[1] > _MANY_SAMPLES:
        doubtful = np.array([not _is_surely_near_zero(feature) for feature in values])
        medians = np.zeros(len(values))
        if doubtful.any():
            medians[doubtful] = _by_medians(values if doubtful.all() else values[doubtful])
        return medians
    return _by_medians(values)


def _is_surely_near_zero(values: FloatArray) -> bool:
    """Whether counting shows that :func:`far_medians` is zero, which takes less time than finding the median.

    Let low and high enclose the median, and let M be the larger one of their magnitudes. If fewer than half of the
    values lie between low - M / 2 and high + M / 2, the others are at least M / 2 away from the median. So the
    spread is at least M / 2, which is half of the median or more.
    """
    some = np.sort(values[:: len(values) // _QUANTILE_SAMPLES])
    low, high = some[int(0.4 * len(some))], some[int(0.6 * len(some))]
    most = max(abs(low), abs(high))
    # A little more than a half, for rounding.
    reach = 0.51 * most
    below_middle = (len(values) - 1) // 2
    return bool(
        np.count_nonzero(values < low) <= below_middle
        and np.count_nonzero(values > high) <= below_middle
        and np.count_nonzero((values > low - reach) & (values < high + reach)) <= below_middle
    )


def _by_medians(values: FloatArray) -> FloatArray:
    """The same, found by medians."""
    median = np.median(values, axis=1)
    spread = np.median(np.abs(values - median[:, None]), axis=1, overwrite_input=True)
    return np.where(np.abs(median) > 2 * spread, median, 0.0)
