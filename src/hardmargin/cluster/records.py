"""Records of a proof that workers write: which subproblem has which number, and how they are put together.

The numbers travel with the subproblems, as a first column of their frontier. Every slice has a range of numbers of
its own for what it leaves open, above all that were given out before. So records of different slices fit together,
and those of a slice that is lost are not missed: what it should have searched is searched again.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np

from hardmargin import _core
from hardmargin.frontier import Frontier
from hardmargin.problem import Problem
from hardmargin.search.engine import LocalEngine, Observer, Search, SearchResult, numbered, numbers_of
from hardmargin.search.recording import records_of
from hardmargin.search.settings import PackingSettings

#: The numbers of one slice. A float has room for those of half a billion slices.
NUMBERS_OF_SLICE = 2**24


class Records(NamedTuple):
    """The records of a slice.

    Attributes
    ----------
    content : bytes
        One record after the other.
    valid : bool
        Whether every step could be justified.
    """

    content: bytes
    valid: bool

    def add_to(self, sink: _core.ProofSink) -> None:
        """Write them to the records of the search."""
        for record in records_of(self.content):
            sink.write(record)
        if not self.valid:
            sink.invalidate()


def with_numbers(frontier: Frontier | SearchResult, search: Search) -> Frontier:
    """The subproblems that a search starts with, and their numbers as a first column.

    Examples
    --------
    >>> from hardmargin.search.settings import PackingSettings
    >>> root = Frontier(*_core.packing_root(3, [], [], 1.0, 9.0))
    >>> search = Search(PackingSettings(), 9.0, 1.0, proof_number=4)
    >>> without_numbers(with_numbers(root, search))[1]
    [4]
    """
    numbers = numbers_of(frontier)
    if isinstance(search.settings, PackingSettings):
        numbers = [number or search.proof_number for number in numbers]
    else:
        # The faces of the cube have the first numbers.
        numbers = [number or face + 1 for face, number in enumerate(numbers)]
    return _joined(frontier if isinstance(frontier, Frontier) else Frontier(*frontier.open), numbers)


def open_with_numbers(found: SearchResult) -> Frontier:
    """What a search of the core has left open, with its numbers."""
    return _joined(Frontier(*found.open), cast("Any", found).proof_numbers)


def without_numbers(frontier: Frontier) -> tuple[Frontier, list[int]]:
    """The inverse of :func:`with_numbers`."""
    if frontier.size == 0:
        return frontier, []
    numbers: list[int] = frontier.numbers[:, 0].astype(np.int64).tolist()
    return frontier._replace(numbers=frontier.numbers[:, 1:].copy()), numbers


def search_here(problem: Problem, frontier: Frontier, search: Search, observe: Observer | None) -> SearchResult:
    """Search below subproblems with numbers, in this process."""
    plain, numbers = without_numbers(frontier)
    kind = "packing" if isinstance(search.settings, PackingSettings) else "directions"
    return LocalEngine().search(problem, numbered(problem, kind, plain, numbers), search, observe)


def search_slice(
    problem: Problem, frontier: Frontier, search: Search, last_number: int, observe: Observer | None
) -> tuple[SearchResult, Records]:
    """The same on a worker; numbers up to ``last_number`` are those of others."""
    with tempfile.TemporaryDirectory(prefix="hardmargin-") as folder:
        path = Path(folder) / "records"
        sink = _core.ProofSink(str(path), last_number)
        try:
            found = search_here(problem, frontier, replace(search, proof=sink), observe)
        finally:
            sink.close()
        if sink.numbers > last_number + NUMBERS_OF_SLICE:
            raise RuntimeError("a slice has left too many subproblems open.")
        return found, Records(path.read_bytes(), sink.valid)


def _joined(frontier: Frontier, numbers: list[int]) -> Frontier:
    if frontier.size == 0:
        return frontier
    column = np.array(numbers, dtype=np.float64)[:, None]
    return frontier._replace(numbers=np.hstack([column, frontier.numbers]))
