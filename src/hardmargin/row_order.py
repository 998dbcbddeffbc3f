"""Distinct rows: in sorted order, or in their own order and without sorting them.

To sort them, rows are compared by their first columns as far as these suffice. Only rows that are still tied are
compared in the next columns, so samples with continuous features need little more than one sort, however many there
are.

Without an order, one number per row is enough: equal rows have the same hash. Rows with the same hash are compared,
so a coincidence cannot merge different rows.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from hardmargin.arrays import FloatArray, SampleArray, rows_per_block

# Values that are compared at once: this takes some hundredths of a second.
_BLOCK = 1_000_000
# Values of a column that are sorted one after the other.
_FEW_VALUES = 2


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
    begin = np.empty(len(others), dtype=np.intp)
    tied = np.arange(len(others))
    column, width = 0, 1
    if others.shape[1] > 0 and len(others) > 0:
        check()
        order = _sorted_by_two(first_column, others[:, 0])
        is_first = np.append(True, others[order[1:], 0] != others[order[:-1], 0])
        is_first[1:] |= first_column[order[1:]] != first_column[order[:-1]]
        if is_first.all():
            begin[order] = tied
            return order, begin
        begin[order] = np.maximum.accumulate(np.where(is_first, tied, 0))
        tied = order[~(is_first & np.append(is_first[1:], True))]
        column = 1
    else:
        begin[:] = np.searchsorted(np.sort(first_column), first_column)
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


def equal_rows(
    first_column: FloatArray, others: SampleArray, rows: NDArray[np.intp], check: Callable[[], None]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Find rows that are equal, without sorting or copying them.

    Parameters
    ----------
    first_column : ndarray of shape (n,)
    others : ndarray or scipy.sparse.csr_array of shape (n, m)
        The other columns.
    rows : ndarray of int
        The rows to consider, ascending.
    check : callable
        Called before each piece of work; may raise to stop.

    Returns
    -------
    first : ndarray of int
        The first row of each set of equal rows, ascending.
    place : ndarray of int, one for each of ``rows``
        The index in ``first`` of the row that it is equal to.

    Examples
    --------
    >>> X = np.array([[5.0, 1.0], [4.0, 2.0], [5.0, 1.0], [5.0, 0.0]])
    >>> [found.tolist() for found in equal_rows(np.zeros(4), X, np.arange(4), lambda: None)]
    [[0, 1, 3], [0, 1, 0, 2]]
    """
    hashes = _hashes(others, check)[rows]
    hashes ^= first_column[rows].view(np.uint64)
    check()
    ascending = np.sort(hashes)
    if not (ascending[1:] == ascending[:-1]).any():
        return rows, np.arange(len(rows))
    check()
    # Stable, so the first of equal hashes is the first row that has it.
    order = np.argsort(hashes, kind="stable")
    is_first = np.append(True, hashes[order[1:]] != hashes[order[:-1]])
    # Where in `rows` the first one with the same hash is.
    leader = np.empty(len(rows), dtype=np.intp)
    leader[order] = order[np.maximum.accumulate(np.where(is_first, np.arange(len(rows)), 0))]
    followers = np.flatnonzero(leader != np.arange(len(rows)))
    step = rows_per_block(others, _BLOCK)
    for begin in range(0, len(followers), step):
        check()
        block = followers[begin : begin + step]
        pair = rows[block], rows[leader[block]]
        same = (first_column[pair[0]] == first_column[pair[1]]) & _same(others[pair[0]], others[pair[1]])
        leader[block[~same]] = block[~same]
    check()
    is_leader = leader == np.arange(len(rows))
    place: NDArray[np.intp] = (np.cumsum(is_leader) - 1)[leader]
    return rows[is_leader], place


def _same(left: SampleArray, right: SampleArray) -> NDArray[np.bool_]:
    """Which rows of two arrays are equal."""
    if isinstance(left, np.ndarray):
        equal: NDArray[np.bool_] = (left == right).all(axis=1)
        return equal
    different = (left != right).tocoo()
    equal = np.ones(left.shape[0], dtype=bool)
    equal[different.row[different.data]] = False
    return equal


def _hashes(X: SampleArray, check: Callable[[], None]) -> NDArray[np.uint64]:
    """A number for every row, the same for equal rows: zeros count nothing, stored or not, and have no sign."""
    n, m = X.shape
    # Odd, so that no bits of a value are lost.
    factors: NDArray[np.uint64] = np.random.default_rng(0).integers(0, 2**63, size=(m,), dtype=np.uint64)
    factors = 2 * factors + 1
    hashes = np.empty(n, dtype=np.uint64)
    # Small blocks, because their copies are then made in the cache.
    step = rows_per_block(X, _BLOCK // 16)
    for begin in range(0, n, step):
        check()
        block = slice(begin, min(begin + step, n))
        if isinstance(X, np.ndarray):
            hashes[block] = _mixed(X[block]) @ factors
        else:
            starts = X.indptr[begin : block.stop + 1]
            stored = slice(starts[0], starts[-1])
            terms = _mixed(X.data[stored]) * factors[X.indices[stored]]
            sums = np.zeros(len(terms) + 1, dtype=np.uint64)
            np.cumsum(terms, out=sums[1:])
            hashes[block] = np.diff(sums[starts - starts[0]])
    return hashes


def _mixed(values: FloatArray) -> NDArray[np.uint64]:
    """The bits of values, mixed so that similar values are far apart; 0 for zero of either sign."""
    # Adding zero removes the sign of zero.
    bits = (values + 0.0).view(np.uint64)
    bits ^= bits >> np.uint64(29)
    bits *= np.uint64(0xBF58476D1CE4E5B9)
    bits ^= bits >> np.uint64(32)
    return bits


def _sorted_by_two(first: FloatArray, second: FloatArray) -> NDArray[np.intp]:
    """An order of rows by two columns; the first one has few values, as labels have."""
    groups: list[NDArray[np.intp]] = []
    left = np.arange(len(first))
    # One fast sort per value of the first column; a sort by both columns at once takes several times as long.
    while len(left) > 0 and len(groups) < _FEW_VALUES:
        lowest = first[left] == first[left].min()
        group = left[lowest]
        groups.append(group[np.argsort(second[group])])
        left = left[~lowest]
    groups.append(left[np.lexsort((second[left], first[left]))])
    return np.concatenate(groups)


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
