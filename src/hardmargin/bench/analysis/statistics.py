"""Whether the gaps of two systems differ: the paired Wilcoxon signed-rank test of the paper's Table 7.

The paper does not correct for the number of tests. :attr:`Comparison.p` is that of one test, as in the paper, and
:func:`holm` gives the values by which to judge all tests of a table together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from hardmargin.bench.analysis.runs import SystemRun, by_pair

#: The paper's level of significance.
LEVEL = 0.05

# Gaps are percentages, of which a millionth may be rounding: two optimal runs are equal.
_TIE = 1e-4


class Comparison(NamedTuple):
    """The gaps of one system against those of another.

    Attributes
    ----------
    pairs : int
        Pairs of instance and C that both have run.
    smaller, larger : int
        How often the first has the smaller or larger gap.
    p : float or None
        Two-sided; None if no gap differs.
    """

    pairs: int
    smaller: int
    larger: int
    p: float | None
    smaller_ranks: float
    larger_ranks: float

    @property
    def verdict(self) -> str:
        """The conclusion at the level of significance, if this is the only test."""
        return self.verdict_at(self.p)

    def verdict_at(self, p: float | None) -> str:
        """The conclusion at the level of significance, given the p-value to judge by."""
        if p is None:
            return "equal gaps"
        if p >= LEVEL:
            return "not significant"
        return "smaller gaps" if self.smaller_ranks > self.larger_ranks else "larger gaps"


def holm(values: Sequence[float | None]) -> list[float | None]:
    """The p-values of several tests, corrected for their number by Holm's method.

    Judged at one level, the corrected values keep the probability of any wrong conclusion below that level, even
    if the tests depend on each other. None stands for a test that could not be made, and does not count.

    Examples
    --------
    >>> holm([0.01, None, 0.04, 0.03])
    [0.03, None, 0.06, 0.06]
    """
    corrected: list[float | None] = [None] * len(values)
    tests = sorted((value, place) for place, value in enumerate(values) if value is not None)
    least = 0.0
    for rank, (value, place) in enumerate(tests):
        least = max(least, min(1.0, (len(tests) - rank) * value))
        corrected[place] = least
    return corrected


def compare_gaps(runs: Sequence[SystemRun], others: Sequence[SystemRun]) -> Comparison | None:
    """Test the gaps of two systems on the pairs of instance and C that both have run; None if there are none.

    Equal gaps are left out, as in Wilcoxon's test. Gaps count as equal within a ten-thousandth of a percent, the
    difference that a proof may leave.
    """
    from scipy.stats import rankdata, wilcoxon

    first, second = (by_pair(chosen, lambda run: run.gap) for chosen in (runs, others))
    shared = sorted(first.keys() & second.keys())
    if not shared:
        return None
    differences = np.array([first[pair] - second[pair] for pair in shared])
    differing = differences[np.abs(differences) > _TIE]
    if not len(differing):
        return Comparison(len(shared), 0, 0, None, 0.0, 0.0)
    ranks = rankdata(np.abs(differing))
    return Comparison(
        pairs=len(shared),
        smaller=int(np.sum(differing < 0)),
        larger=int(np.sum(differing > 0)),
        p=float(wilcoxon(differing).pvalue),
        smaller_ranks=float(ranks[differing < 0].sum()),
        larger_ranks=float(ranks[differing > 0].sum()),
    )
