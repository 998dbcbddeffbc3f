"""Distinct rows in sorted order.

Rows are compared by their first columns as far as these suffice. Only rows that are still tied are compared in the
next columns, so samples with continuous features need little more than one sort, however many there are.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from hardmargin.arrays import FloatArray

# Values that are compared at once: this takes some hundredths of a second.
_BLOCK = 1_000_000


def distinct_rows(
    first_column: FloatArray, others: FloatArray, check: Callable[[], None]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Sort rows by their columns, first column first, and find those that are equal.

    Parameters
    ----------
    first_column : ndarray of shape (n,)
    others : ndarray of shape (n, m)
        The other columns.
    check : callable
        Called before each piece of work; may raise to stop.

    Returns
    -------
    rows : ndarray of int
        The first row of each set of equal rows, in sorted order.
    place : ndarray of int of shape (n,)
        For every row, the index in ``rows`` of the row that it is equal to.

    Examples
    --------
    >>> X = np.array([[5.0, 1.0], [4.0, 2.0], [5.0, 1.0], [5.0, 0.0]])
    >>> [found.tolist() for found in distinct_rows(np.zeros(4), X, lambda: None)]
    [[1, 3, 0], [2, 0, 2, 1]]
    """
    # Where the group of rows that equal a row so far starts in the sorted order.
    begin: NDArray[np.intp] = np.searchsorted(np.sort(first_column), first_column)
    tied = np.arange(len(others))
    column, width = 0, 1
    while len(tied) > 1 and column < others.shape[1]:
        check()
        block = others[tied, column : column + width]
        order = np.lexsort((*block.T[::-1], begin[tied]))
        tied = _split_ties(tied[order], block[order], begin)
        column += width
        width = max(1, min(2 * width, _BLOCK // max(1, len(tied))))
    check()
    order = np.argsort(begin, kind="stable")
    is_first = np.diff(begin[order], prepend=-1) > 0
    place = np.empty(len(others), dtype=np.intp)
    place[order] = np.cumsum(is_first) - 1
    return order[is_first], place


def _split_ties(rows: NDArray[np.intp], block: FloatArray, begin: NDArray[np.intp]) -> NDArray[np.intp]:
    """Update ``begin`` for rows sorted by it and by the block, and return the rows that are still tied."""
    index = np.arange(len(rows))
    before = begin[rows]
    is_new_group = np.diff(before, prepend=-1) > 0
    is_first = is_new_group.copy()
    is_first[1:] |= (block[1:] != block[:-1]).any(axis=1)
    group_start = np.maximum.accumulate(np.where(is_new_group, index, 0))
    own_start = np.maximum.accumulate(np.where(is_first, index, 0))
    begin[rows] = before + own_start - group_start
    is_tied = ~(is_first & np.append(is_first[1:], True))
    tied: NDArray[np.intp] = rows[is_tied]
    return tied
