"""Lower bounds from blocks: parts of the samples, each a small problem of its own.

Split the samples into blocks U_1, ..., U_B and the norm into shares s_b >= 0 that add up to 1. For every (w, b)

    1/2 ||w||^2 + sum_i c_i [i violated]  =  sum_b ( s_b/2 ||w||^2 + sum_{i in U_b} c_i [i violated] ),

and the minimum of a sum is at least the sum of the minima. The minimum of a term is s_b times the optimum of the
block alone with costs c_i / s_b, so if that is proven to be at least L_b, then

    optimum  >=  sum_b s_b L_b.

Bounds of blocks that are not solved to the end count as they are. If the shares add up to S > 1, the sum divided by
S is a bound: with the shares s_b / S, the costs of the blocks are larger, and so are their optima.

Few large blocks prove more than many small ones, but take much longer. So blocks start small and are merged, a few
at a time: three are replaced by two, if these prove more. The bound can be read at any time.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hardmargin.arrays import FloatArray
from hardmargin.problem import Problem
from hardmargin.search.recording import Piece

#: Relative rounding error of a bound: costs are divided by a share, and a sum of products is formed.
ROUNDING = 1e-12

#: Merged blocks are at least this many times as large.
SMALLEST_GROWTH = 1.5
# The factors by which sizes may grow, and by how much longer than the last one a round may then take.
_GROWTHS = (SMALLEST_GROWTH, 2.0)
_LONGER = 2.5
# Up to this many blocks are merged all at once.
_FEW = 9
# How strongly shares follow the norms of the blocks' hyperplanes.
_SHARE_POWER = 0.5
# A share is changed at most by this factor at a time.
_LARGEST_CHANGE = 2.0


@dataclass(frozen=True, eq=False)
class Block:
    """Some samples, their share of the norm, and what is proven about them.

    Attributes
    ----------
    samples : ndarray of int
        Rows of the problem, ascending.
    share : float
        Share of the norm.
    bound : float
        What the block contributes to the lower bound: its share times the proven bound of its problem.
    norm : float
        1/2 ||w||^2 of its best hyperplane; 0 if it has not been searched.
    next_share : float
        The share that it gives to the block that it is merged into; 0 means its own.
    pieces : tuple of Piece
        The proof of its bound, if one is wanted.
    """

    samples: NDArray[np.intp]
    share: float
    bound: float = 0.0
    norm: float = 0.0
    next_share: float = 0.0
    pieces: tuple[Piece, ...] = ()

    def rows(self, whole: Problem) -> NDArray[np.intp]:
        """The rows of the block's problem.

        Trusted samples are part of every block, unless they are more than its own. That is valid because they add
        no cost to a feasible hyperplane, in however many blocks they are.
        """
        if whole.trusted is None or np.count_nonzero(whole.trusted) > len(self.samples):
            return self.samples
        return np.union1d(self.samples, np.flatnonzero(whole.trusted))

    def problem(self, whole: Problem) -> Problem:
        """The block as a problem of its own; its costs may be infinite."""
        rows = self.rows(whole)
        with np.errstate(over="ignore"):
            costs = whole.costs[rows] / self.share
        return Problem(
            whole.X[rows],
            whole.y[rows],
            costs,
            whole.classes,
            whole.C,
            trusted=None if whole.trusted is None else whole.trusted[rows],
            bounds=whole.bounds,
        )


def total_bound(blocks: Iterable[Block]) -> float:
    """The lower bound of the whole problem, from blocks that together contain every sample at most once."""
    bounds, shares = _sums(blocks)
    return bounds / max(1.0, shares) * (1 - ROUNDING)


def contribution(share: float, lower_bound: float) -> float:
    """What a block with a proven bound contributes; nothing if its costs are out of range."""
    return max(0.0, share * lower_bound * (1 - ROUNDING)) if math.isfinite(lower_bound) else 0.0


def proves_more(after: Sequence[Block], before: Sequence[Block], share_value: float) -> bool:
    """Whether blocks are worth more than others of the same samples.

    Parameters
    ----------
    after, before : sequence of Block
    share_value : float
        What a share of 1 is worth: the shares of the two may differ, and what one group takes, the others lose.
    """
    (after_bound, after_share), (before_bound, before_share) = _sums(after), _sums(before)
    return after_bound - before_bound > share_value * (after_share - before_share)


def _sums(blocks: Iterable[Block]) -> tuple[float, float]:
    listed = list(blocks)
    return math.fsum(block.bound for block in listed), math.fsum(block.share for block in listed)


def dealt(samples: NDArray[np.intp], labels: FloatArray, margins: FloatArray, count: int) -> list[NDArray[np.intp]]:
    """Deal samples out to blocks that are alike: each class in the order of its margins, one after the other.

    Parameters
    ----------
    samples : ndarray of int
        Rows of the problem.
    labels, margins : ndarray
        Of all rows of the problem; the margins of a good hyperplane.
    count : int
        Number of blocks, at most the number of samples.

    Returns
    -------
    list of ndarray of int
        The blocks' rows, ascending. Their sizes differ by at most one.

    Examples
    --------
    >>> labels, margins = np.array([1.0, -1.0, 1.0, -1.0, 1.0]), np.array([3.0, 1.0, 1.0, 2.0, 2.0])
    >>> [block.tolist() for block in dealt(np.arange(5), labels, margins, 2)]
    [[0, 2, 3], [1, 4]]
    """
    order = stratified(samples, labels, margins)
    return [np.sort(order[first::count]) for first in range(count)]


def stratified(samples: NDArray[np.intp], labels: FloatArray, margins: FloatArray) -> NDArray[np.intp]:
    """Samples in an order of which every B-th one makes a block like the others: by class, then by margin."""
    return samples[np.lexsort((samples, margins[samples], -labels[samples]))]


def group_sizes(blocks: int, growth: float = SMALLEST_GROWTH) -> list[int]:
    """How many blocks, one after the other, are merged together.

    Many blocks are merged in groups of two or three, so that the bound improves bit by bit; few are merged all at
    once, so that the new ones have the same size.

    Examples
    --------
    >>> group_sizes(7), group_sizes(12), group_sizes(13), group_sizes(13, 2.0)
    ([7], [3, 3, 3, 3], [3, 3, 3, 4], [2, 2, 2, 2, 2, 3])
    """
    if blocks <= _FEW:
        return [blocks] if blocks > 0 else []
    size = 2 if growth == 2 else 3
    groups = blocks // size
    return [size] * (groups - 1) + [blocks - size * (groups - 1)]


def merged_count(blocks: int, growth: float = SMALLEST_GROWTH) -> int:
    """How many blocks replace this many, if sizes grow by this factor.

    Examples
    --------
    >>> [merged_count(blocks) for blocks in (1, 2, 3, 4, 5, 6, 7, 8, 9)]
    [1, 1, 2, 3, 3, 4, 5, 5, 6]
    >>> merged_count(2, 2.0), merged_count(3, 2.0)
    (1, 2)
    """
    return max(1, round(blocks / growth))


def suitable_growth(exponent: float) -> float:
    """By how much blocks should grow, if the work of a round grows with this power of their size.

    Rounds that take far longer than those before prove little until they are over. If they do not, rounds in
    between are a waste.

    Examples
    --------
    >>> [suitable_growth(exponent) for exponent in (-0.5, 0.8, 1.2, 6.0)]
    [2.0, 2.0, 2.0, 1.5]
    """
    affordable = (growth for growth in _GROWTHS if exponent <= 0 or growth**exponent <= _LONGER)
    return max(affordable, default=SMALLEST_GROWTH)


def merged(
    group: Sequence[Block], labels: FloatArray, margins: FloatArray, growth: float = SMALLEST_GROWTH
) -> list[Block]:
    """Fewer and larger blocks of the same samples, with the same share of the norm, and nothing proven yet."""
    samples = np.concatenate([block.samples for block in group])
    count = merged_count(len(group), growth)
    share = math.fsum(block.next_share or block.share for block in group) / count
    return [Block(part, share) for part in dealt(samples, labels, margins, count)]


def evened_shares(blocks: Sequence[Block]) -> list[float]:
    """Shares that prove more: the bound of a block rises by 1/2 ||w||^2 of its hyperplane per share.

    The norms fall as shares rise, and the best shares make them equal. The shares add up to 1.
    """
    norms = np.array([block.norm for block in blocks])
    shares = np.array([block.share for block in blocks])
    typical = float(norms @ shares) / float(shares.sum())
    if typical > 0:
        factors = (np.maximum(norms, 0.0) / typical) ** _SHARE_POWER
        shares = shares * np.clip(factors, 1 / _LARGEST_CHANGE, _LARGEST_CHANGE)
    fair: list[float] = (shares / shares.sum()).tolist()
    return fair


def plain(blocks: Sequence[Block]) -> dict[str, NDArray[np.generic]]:
    """Blocks as plain data, for a state."""
    numbers = [(block.share, block.bound, block.norm, block.next_share) for block in blocks]
    return {
        "samples": np.concatenate([np.zeros(0, np.int64), *(block.samples for block in blocks)]).astype(np.int64),
        "sizes": np.array([len(block.samples) for block in blocks], dtype=np.int64),
        "numbers": np.array(numbers, dtype=np.float64).reshape(-1, 4),
    }


def restored(state: Mapping[str, NDArray[np.generic]]) -> list[Block]:
    """The inverse of :func:`plain`."""
    if len(state["sizes"]) == 0:
        return []
    samples = np.split(state["samples"].astype(np.intp), np.cumsum(state["sizes"].astype(np.intp))[:-1])
    return [Block(rows, *values) for rows, values in zip(samples, state["numbers"].tolist(), strict=True)]
