"""Checks a whole proof: its data, its pieces, and that its records together leave nothing open."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import isfinite
from multiprocessing import get_context
from typing import Any, NamedTuple

import numpy as np

from hardmargin.checker import decisions, regions
from hardmargin.checker.constraints import Constraints
from hardmargin.checker.decisions import Outcome
from hardmargin.checker.errors import ProofError, UnreadableProofError
from hardmargin.checker.frame import Frame
from hardmargin.checker.known import Known
from hardmargin.checker.limits import Limits, same_prices
from hardmargin.checker.piece import Piece, check_groups
from hardmargin.checker.reading import Body, read_header
from hardmargin.checker.samples import Samples

# Bytes of records that a process gets at a time, and how many such batches wait for each process.
_BATCH = 1 << 18
_WAITING = 4
# Copies per sample, at most: on average, over a piece.
_MOST_COPIES = 16
_ALL_BITS = (1 << 64) - 1

#: ``progress(bytes)`` is called with the number of bytes of records checked so far.
Progress = Callable[[int], None]


@dataclass(frozen=True)
class Verdict:
    """What was checked, without an error.

    Attributes
    ----------
    bound : float
        No admissible hyperplane has a smaller objective.
    pieces, records, steps : int
        How much was checked.
    kinds : tuple of str
        The kinds of pieces.
    constraints : tuple of str
        What makes a hyperplane admissible; all are if it is empty.
    """

    bound: float
    pieces: int
    records: int
    steps: int
    kinds: tuple[str, ...]
    constraints: tuple[str, ...] = ()

    def summary(self) -> str:
        """What was verified and what is trusted, in a few lines."""
        admissible = f" of those that {' and '.join(self.constraints)}" if self.constraints else ""
        return (
            f"proof holds: no hyperplane{admissible} has an objective below {self.bound!r}\n"
            f"  checked: {self.pieces} piece{'s' if self.pieces != 1 else ''} ({', '.join(self.kinds)}), "
            f"{self.records} records, {self.steps} steps; data, labels and costs are those of the proof\n"
            "  trusted: this checker, Python's integers, numpy, and how the data were read from their file"
        )


class _Content(NamedTuple):
    """What a piece consists of besides its records."""

    header: dict[str, Any]
    groups: list[list[int]]
    copies: list[int]
    axes: Any


class _Batch(NamedTuple):
    """Records of one piece, for one process."""

    piece: int
    content: _Content
    records: list[bytes]


class _Worker:
    """Checks batches of records."""

    def __init__(self, samples: Samples, constraints: Constraints) -> None:
        self.samples = samples
        self.constraints = constraints
        self._place = -1
        self._check: Callable[[bytes], Outcome] | None = None

    def check(self, batch: _Batch) -> list[Outcome]:
        if self._check is None or self._place != batch.piece:
            self._place, self._check = batch.piece, _record_checker(self.samples, batch.content, self.constraints)
        return [self._check(record) for record in batch.records]


def _record_checker(samples: Samples, content: _Content, constraints: Constraints) -> Callable[[bytes], Outcome]:
    """What checks the records of a piece."""
    piece = Piece(samples, content.groups, content.header, content.copies, constraints)
    if piece.kind == "samples":
        return partial(decisions.check_record, piece)
    longest = regions.longest_of(piece, piece.room(0))
    with np.errstate(all="ignore"):
        first = piece.extra, piece.extra_exponent
        frame = Frame(samples, piece.rows, content.axes, longest, piece.exponent // 2, *first)
    return partial(regions.check_record, piece, frame)


_worker: _Worker | None = None


def _start_worker(X: Any, y: Any, costs: Any, constraints: Constraints) -> None:
    global _worker
    _worker = _Worker(Samples(X, y, costs), constraints)


def _check_in_worker(batch: _Batch) -> list[Outcome]:
    assert _worker is not None
    return _worker.check(batch)


#: Checks a batch now or later: the answer is a function that waits for it.
_Submit = Callable[[_Batch], Callable[[], list[Outcome]]]


@contextmanager
def _processes(
    count: int, X: Any, y: Any, costs: Any, samples: Samples, constraints: Constraints
) -> Iterator[tuple[_Submit, int]]:
    """Where batches are checked, and how many of them may wait."""
    if count <= 1:
        worker = _Worker(samples, constraints)
        yield lambda batch: lambda: worker.check(batch), 1
        return
    with ProcessPoolExecutor(count, get_context("spawn"), _start_worker, (X, y, costs, constraints)) as pool:

        def submit(batch: _Batch) -> Callable[[], list[Outcome]]:
            future: Future[list[Outcome]] = pool.submit(_check_in_worker, batch)
            return future.result

        try:
            yield submit, _WAITING * count
        except BrokenProcessPool:
            raise OSError(
                "a process that checked records has ended; check with fewer, or with more memory."
            ) from None
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


class _Coverage:
    """Which subproblems of a piece are dealt with, and which are left open by others; ``roots`` are the whole."""

    def __init__(self, roots: dict[int, bytes]) -> None:
        self._roots = roots
        self._starts: dict[int, bytes] = {}
        self._open: dict[int, bytes] = {}
        self.steps = 0

    def take(self, outcome: Outcome) -> None:
        if outcome.number in self._starts:
            raise ProofError(f"two records have the number {outcome.number}.")
        self._starts[outcome.number] = outcome.start
        self.steps += outcome.steps
        for number, digest in outcome.open:
            # So no record can rely on itself.
            if number <= outcome.number:
                raise ProofError(f"record {outcome.number} leaves {number} open; expected a larger number.")
            if self._open.setdefault(number, digest) != digest:
                raise ProofError(f"subproblem {number} is left open twice, with different decisions.")

    def check(self) -> None:
        # One number may be in both: what is left open must not be taken for a root.
        for number, digest in (*self._roots.items(), *self._open.items()):
            if number not in self._starts:
                raise ProofError(f"subproblem {number} is left open: no record deals with it.")
            if self._starts[number] != digest:
                raise ProofError(f"record {number} does not start from the subproblem that was left open.")

    @property
    def records(self) -> int:
        return len(self._starts)


def check_proof(
    path: str | os.PathLike[str],
    X: Any,
    y: Any,
    costs: Any,
    *,
    trusted: Any = None,
    monotonic_cst: Any = None,
    coef_bounds: Any = None,
    max_violations: Any = None,
    processes: int = 1,
    progress: Progress | None = None,
) -> Verdict:
    """Check a proof that no admissible hyperplane has an objective below a bound.

    Without constraints, all hyperplanes are admissible. The constraints must be those that the proof is about.

    Parameters
    ----------
    path : path
        The proof.
    X : ndarray or CSR matrix of shape (n, m)
        Samples, float64.
    y : sequence of n numbers
        Labels, -1 and 1.
    costs : sequence of n numbers
        What it costs to violate each sample; the weight of one that ``max_violations`` limits.
    trusted : sequence of n booleans, optional
        Admissible hyperplanes keep these samples.
    monotonic_cst : sequence of m numbers, optional
        1 if admissible weights are not negative, -1 if they are not positive, 0 otherwise.
    coef_bounds : pair of sequences of m numbers, optional
        The least and the greatest admissible weights, infinite where they are free.
    max_violations : number or dict, optional
        Admissible hyperplanes give up no more weight than this: of all samples, or by label (-1 and 1). Samples
        that are limited cost nothing in the objective.
    processes : int
        Processes that check records side by side.
    progress : callable, optional
        ``progress(bytes)`` is called now and then.

    Returns
    -------
    Verdict

    Raises
    ------
    ProofError
        If the proof does not hold, or is a proof for other data or other constraints.
    UnreadableProofError
        If the file is not a proof, or was cut off or damaged.
    OSError
        If the file cannot be read, or if a process ends before its work.
    """
    samples = Samples(X, y, costs)
    limits = Limits(max_violations)
    constraints = Constraints(samples.n, samples.m, trusted, monotonic_cst, coef_bounds, limits)
    with open(path, "rb") as file:
        header = read_header(file)
        bound = _checked_header(header, samples, constraints)
        pieces = header["pieces"]
        body = Body(file)
        total, shares = Fraction(0), Fraction(0)
        used: set[int] = set()
        coverages: list[_Coverage] = []
        # Batches that are being checked, each with the coverage of its piece.
        pending: deque[tuple[_Coverage, Callable[[], list[Outcome]]]] = deque()
        with _processes(processes, X, y, costs, samples, constraints) as (submit, waiting):
            read = 0
            for place, piece_header in enumerate(pieces):
                content = _content(body, piece_header, samples)
                check_groups(samples, content.groups, used, constraints)
                piece = Piece(samples, content.groups, piece_header, content.copies, constraints)
                coverage = _Coverage(_roots(piece, content))
                coverages.append(coverage)
                for batch in _batches(body, place, content):
                    pending.append((coverage, submit(batch)))
                    read += sum(map(len, batch.records))
                    while len(pending) >= waiting:
                        _take(pending)
                    if progress is not None:
                        progress(read)
                total += piece.exact_bound
                shares += Fraction(*piece.share)
            while pending:
                _take(pending)
        body.end()
    for coverage in coverages:
        coverage.check()
    proven = total / max(Fraction(1), shares) - _credit(pieces, limits)
    if Fraction(bound) > proven:
        raise ProofError(f"the bounds of the pieces add up to {float(proven)!r}; claimed is {bound!r}.")
    kinds = tuple(sorted({piece["kind"] for piece in pieces}))
    records, steps = (sum(getattr(each, name) for each in coverages) for name in ("records", "steps"))
    return Verdict(bound, len(pieces), records, steps, kinds, constraints.names)


def _credit(pieces: list[dict[str, Any]], limits: Limits) -> Fraction:
    """What is subtracted from the sum of the pieces, because of the prices of limits."""
    if any(piece.get("limited") for piece in pieces):
        if len(pieces) > 1:
            raise ProofError("records know the limits, and there are several pieces.")
        # It has been subtracted from its bound.
        return Fraction(0)
    return limits.priced(same_prices(pieces)).credit if pieces else Fraction(0)


def _take(pending: deque[tuple[_Coverage, Callable[[], list[Outcome]]]]) -> None:
    coverage, outcomes = pending.popleft()
    for outcome in outcomes():
        coverage.take(outcome)


def _roots(piece: Piece, content: _Content) -> dict[int, bytes]:
    """The subproblems that together are the whole piece."""
    if piece.kind == "samples":
        return {0: Known(bytearray(len(piece.rows))).digest()}
    if len(content.axes) == 0:
        raise ProofError("a piece has no axes.")
    return dict.fromkeys(range(1, 2 * len(content.axes) + 1), regions.ROOT)


def _content(body: Body, header: dict[str, Any], samples: Samples) -> _Content:
    """What precedes the records of a piece."""
    kind = header.get("kind")
    if kind not in ("samples", "directions"):
        raise UnreadableProofError("a piece is of a kind that this version does not know.")
    groups = _groups(body, samples.n)
    if kind == "samples":
        return _Content(header, groups, [], None)
    copies = [body.number() for _ in groups]
    if not all(copies) or sum(copies) > _MOST_COPIES * len(groups):
        raise ProofError("a sample has no copy, or too many.")
    count = body.number()
    if count > samples.m:
        raise ProofError("a piece has more axes than there are features.")
    bits = [body.number() << 32 | body.number() for _ in range(count * samples.m)]
    axes = np.array([value & _ALL_BITS for value in bits], dtype=np.uint64).view(np.float64)
    return _Content(header, groups, copies, axes.reshape(count, samples.m))


def _checked_header(header: dict[str, Any], samples: Samples, constraints: Constraints) -> float:
    """The claimed bound; the data and the constraints must be those of the proof."""
    bound, pieces = header.get("bound"), header.get("pieces")
    if not isinstance(bound, float) or not isfinite(bound):
        raise UnreadableProofError("it claims no bound.")
    if not isinstance(pieces, list) or not all(isinstance(piece, dict) for piece in pieces):
        raise UnreadableProofError("it has no list of pieces.")
    n, m = header.get("n"), header.get("m")
    if type(n) is not int or type(m) is not int:
        raise UnreadableProofError("it does not say how many samples and features it is about.")
    if (n, m) != (samples.n, samples.m):
        raise ProofError(f"it is about {n} x {m} samples; the data are {samples.n} x {samples.m}.")
    for name, found in samples.hashes().items():
        if header.get(name) != found:
            hint = "other C or weights" if name == "costs" else "other data"
            raise ProofError(f"the {name} are not those of the proof: {hint}.")
    for name, required in constraints.stated().items():
        if header.get(name) != required:
            raise ProofError(_other_constraints(name, header.get(name), required))
    return bound


def _other_constraints(name: str, stated: Any, required: Any) -> str:
    words = {"trusted": "trusted samples", "coef_bounds": "bounds on weights", "limits": "limits on violations"}
    what = words[name]
    if required is None:
        return f"it is about hyperplanes with {what}, and none were given."
    if stated is None:
        return f"it is not about hyperplanes with {what}."
    return f"the {what} are not those of the proof."


def _groups(body: Body, n: int) -> list[list[int]]:
    """The rows that each sample of a piece stands for."""
    count = body.number()
    if count > n:
        raise UnreadableProofError("a piece has more samples than there are rows.")
    groups = []
    left = n
    for _ in range(count):
        size = body.number()
        if not 1 <= size <= left:
            raise UnreadableProofError("a sample of a piece stands for no row, or for more than there are.")
        left -= size
        groups.append([body.number() for _ in range(size)])
    return groups


def _batches(body: Body, piece: int, content: _Content) -> Iterator[_Batch]:
    records: list[bytes] = []
    size = 0
    for record in body.records():
        records.append(record)
        size += len(record)
        if size >= _BATCH:
            yield _Batch(piece, content, records)
            records, size = [], 0
    if records:
        yield _Batch(piece, content, records)
