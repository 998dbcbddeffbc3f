"""The parts of a proof that a solve collects for a file: records of the core, and what they prove.

``docs/proofs.md`` describes the records. A method offers a complete set of them whenever it has proven a bound;
the best offer counts. Records of searches that are not complete, or not needed any longer, are removed.
"""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardmargin import _core
from hardmargin.arrays import FloatArray
from hardmargin.presolve import Presolved
from hardmargin.problem import Problem

# What is left for rounding in the costs, and in the samples if dependent features were replaced: the searches see
# samples that are rounded, a proof is about those of the caller.
_COST_ROUNDING = 1e-11
_PROJECTION_ROUNDING = 1e-8
# For the rounding of sums of bounds and shares.
_SUM_FACTOR = 1 + 1e-14


@dataclass(frozen=True, eq=False)
class Piece:
    """A bound for some samples of a problem, and the records that prove it; see ``docs/proofs.md``.

    Attributes
    ----------
    kind : str
        The kind of records.
    files : tuple of str
        The files that contain them, one record after the other.
    bound : float
        What is proven, rounding included.
    groups : sequence of ndarray of int
        The rows of the problem that each sample stands for.
    share : float
        The share of the norm that the bound counts.
    exponent : int
        The power of two by which weights in the records are multiplied.
    copies : tuple of int
        How many samples of the records each sample is; empty if each is one.
    frame : ndarray of shape (r, m) or None
        The axes of a search over directions, one per row.
    bounds : tuple of int
        The bounds on weights that are rows of the records: 2 k is the lower one of feature k, 2 k + 1 the upper.
    prices : tuple of float
        What costs are per unit of weight, for each limit of a budget.
    limited : bool
        Whether the records know the limits: then the bound is one for the problem with the budget.
    """

    kind: str
    files: tuple[str, ...]
    bound: float
    groups: Sequence[NDArray[np.intp]]
    share: float = 1.0
    exponent: int = 0
    copies: tuple[int, ...] = ()
    frame: FloatArray | None = None
    bounds: tuple[int, ...] = ()
    prices: tuple[float, ...] = ()
    limited: bool = False

    @classmethod
    def whole(cls, kind: str, files: Iterable[str], bound: float, problem: Problem) -> Piece:
        """A piece of all samples of a problem."""
        rows = np.arange(problem.n, dtype=np.intp)
        bounds: tuple[int, ...] = ()
        if problem.core_bounds is not None:
            # In the order of the core's rows: feature by feature, the lower one first.
            bounds = tuple(np.flatnonzero(np.isfinite(np.stack(problem.core_bounds, axis=1))).tolist())
        return cls(kind, tuple(files), bound * (1 - _COST_ROUNDING), np.split(rows, problem.n), bounds=bounds)

    def restored(self, reduced: Presolved) -> Piece:
        """The same for the problem from which presolve has made the one of this piece."""
        rows = np.argsort(reduced.representative, kind="stable")
        places = reduced.representative[rows]
        begins, ends = (np.searchsorted(places, np.arange(reduced.problem.n), side) for side in ("left", "right"))
        rounding = 0.0 if reduced.projection is None else _PROJECTION_ROUNDING
        frame = self.frame
        if frame is not None and reduced.projection is not None:
            frame = frame @ reduced.projection.basis.T
        restored = replace(
            self,
            bound=self.bound * reduced.objective_factor * (1 - rounding),
            groups=[np.concatenate([rows[begins[k] : ends[k]] for k in group]) for group in self.groups],
            exponent=self.exponent + 2 * int(np.log2(reduced.scale)),
            frame=frame,
        )
        return restored.among(reduced.features, reduced.n_features)

    def among(self, features: NDArray[np.intp], count: int) -> Piece:
        """The same for a problem with this number of features, of which the piece has these."""
        frame = self.frame
        if frame is not None:
            frame = np.zeros((len(frame), count))
            frame[:, features] = self.frame
        bounds = tuple(2 * int(features[side >> 1]) + (side & 1) for side in self.bounds)
        return replace(self, frame=frame, bounds=bounds)

    def part(self, samples: NDArray[np.intp], share: float) -> Piece:
        """The same for a problem of which these samples are a block, with this share of the norm.

        The costs of the block were divided by the share.
        """
        return replace(
            self,
            bound=self.bound * share * (1 - _COST_ROUNDING),
            groups=[samples[group] for group in self.groups],
            share=self.share * share,
        )


def sum_of(pieces: Sequence[Piece]) -> float:
    """The bound that pieces of different samples prove together: see :mod:`hardmargin.search.blocks`."""
    total, shares = math.fsum(piece.bound for piece in pieces), math.fsum(piece.share for piece in pieces)
    # Without rounding if there is one piece.
    return total if shares == 1 and len(pieces) == 1 else total / max(1.0, shares * _SUM_FACTOR) / _SUM_FACTOR


class ProofRecorder:
    """Collects the proof of a problem's bound.

    Parameters
    ----------
    folder : path
        Where the records are while the solve is under way.
    keeps : bool
        Whether files that are no longer needed stay: the last saved state may refer to them.

    Attributes
    ----------
    bound : float
        The best bound that has a complete proof.
    pieces : list of Piece
        This proof.
    """

    def __init__(self, folder: str | os.PathLike[str], *, keeps: bool = False) -> None:
        self.folder = os.fspath(folder)
        self.bound = 0.0
        self.pieces: list[Piece] = []
        #: What the proofs of the solve had recorded in the state that it goes on from, by kind.
        self.saved: dict[str, Any] = {}
        #: Whether records could not be written.
        self.failed = False
        # Files that only the best proof needs.
        self._released: set[str] = set()
        self._keeps = keeps

    def new_file(self) -> str:
        """The name of a file for records."""
        descriptor, path = tempfile.mkstemp(suffix=".records", dir=self.folder)
        os.close(descriptor)
        return path

    def path_of(self, name: str) -> str:
        """The file of this name."""
        return os.path.join(self.folder, name)

    def stored(self, pieces: Iterable[Piece], records: Mapping[str, bytes]) -> tuple[Piece, ...]:
        """Pieces that were made elsewhere, after their records were written to files of this recorder."""
        paths = {name: self.new_file() for name in records}
        for name, content in records.items():
            Path(paths[name]).write_bytes(content)
        return tuple(replace(piece, files=tuple(paths[name] for name in piece.files)) for piece in pieces)

    def offer(self, bound: float, pieces: Sequence[Piece]) -> None:
        """Take over a complete proof if it proves more."""
        if bound > self.bound:
            self.bound, self.pieces = bound, list(pieces)
            self.release(())

    def take_over(
        self, other: ProofRecorder, bound: float, prices: Iterable[float], *, limited: bool = False
    ) -> None:
        """Take over the proof of a problem with these prices, if it proves more for the one with the budget.

        Parameters
        ----------
        other : ProofRecorder
            In the same folder; it is not used any longer.
        bound : float
            What its proof means for the problem with the budget.
        prices, limited
            See :class:`Piece`.
        """
        self.failed |= other.failed
        self.offer(bound, [replace(piece, prices=tuple(prices), limited=limited) for piece in other.pieces])
        self.release(other.pieces)

    def release(self, pieces: Iterable[Piece]) -> None:
        """Remove files that their owner does not need, as soon as they are not part of the best proof either."""
        self._released |= {path for piece in pieces for path in piece.files}
        in_use = {path for piece in self.pieces for path in piece.files}
        for path in self._released - in_use:
            self.remove(path)
        self._released &= in_use

    def remove(self, path: str) -> None:
        """Remove a file that nothing needs, except perhaps a saved state."""
        if not self._keeps:
            Path(path).unlink(missing_ok=True)

    def offer_record(self, bound: float, record: bytes, problem: Problem) -> None:
        """The same for one record over all samples."""
        if bound > self.bound:
            path = self.new_file()
            sink = _core.ProofSink(path)
            sink.write(record)
            sink.close()
            if not sink.valid:
                self.failed = True
                self.remove(path)
                return
            piece = Piece.whole("samples", [path], bound, problem)
            self.offer(bound, [piece])
            self.release([piece])


class SampleRecords:
    """The records of one search over samples, from its root to the proof of its target.

    Parameters
    ----------
    recorder : ProofRecorder
    decided : sequence of (int, bool, bytes)
        Samples that were decided before, in this order: each with whether it is kept, and the record of the
        subproblem with the opposite decision.
    """

    def __init__(self, recorder: ProofRecorder, decided: Sequence[tuple[int, bool, bytes]]) -> None:
        self._recorder = recorder
        self.path = recorder.new_file()
        self.sink = _core.ProofSink(self.path)
        self.number = 0
        self._write_root(decided)
        self.mark()

    @classmethod
    def resumed(cls, recorder: ProofRecorder, state: Mapping[str, Any]) -> SampleRecords:
        """The inverse of :meth:`state`."""
        records = cls.__new__(cls)
        records._recorder = recorder
        records.path = recorder.path_of(state["file"])
        records.sink = _core.ProofSink(records.path, state["numbers"])
        records.number = state["number"]
        records.mark()
        return records

    def mark(self) -> None:
        """Note that what is open now has these records, whatever follows."""
        self._marked = self.sink.size, self.sink.numbers

    def state(self) -> dict[str, Any]:
        """The records up to the last mark, as plain data; an OSError if they cannot be written."""
        _flush(self.sink)
        size, numbers = self._marked
        return {"file": Path(self.path).name, "size": size, "numbers": numbers, "number": self.number}

    def _write_root(self, decided: Sequence[tuple[int, bool, bytes]]) -> None:
        """Write what was decided before the search."""
        if decided:
            for _, _, record in decided:
                self.sink.write(record)
                self.sink.new_number()
            self.number = self.sink.new_number()
            self.sink.write(_root_record([(sample, kept) for sample, kept, _ in decided], self.number))

    def complete(self, bound: float, problem: Problem) -> None:
        """Offer the proof of a bound: nothing is open."""
        self.sink.close()
        if not self.sink.valid:
            self.drop()
            return
        piece = Piece.whole("samples", [self.path], bound, problem)
        self._recorder.offer(bound, [piece])
        self._recorder.release([piece])

    def drop(self) -> None:
        """Remove the records: the search was given up."""
        self.sink.close()
        self._recorder.failed |= self.sink.failed
        self._recorder.remove(self.path)


def _flush(sink: _core.ProofSink) -> None:
    """Hand records over to the system; that they could not be written must not end the search."""
    try:
        sink.flush()
    except RuntimeError as error:
        raise OSError(str(error)) from None


# Steps of a record; see docs/proofs.md.
_BRANCH, _OPEN = 5, 8


def number_bytes(value: int) -> bytes:
    """A number as records contain it.

    Examples
    --------
    >>> number_bytes(5), number_bytes(257)
    (b'\\x05', b'\\x81\\x02')
    """
    digits = []
    while value >= 128:
        digits.append(value & 127 | 128)
        value >>= 7
    return bytes([*digits, value])


def records_of(content: bytes) -> Iterator[bytes]:
    """The records of a file, one after the other.

    Examples
    --------
    >>> list(records_of(b"\\x02ab\\x01c"))
    [b'ab', b'c']
    """
    place = 0
    while place < len(content):
        size = shift = 0
        while True:
            digit = content[place]
            place += 1
            size |= (digit & 127) << shift
            shift += 7
            if digit < 128:
                break
        yield content[place : place + size]
        place += size


def _root_record(decided: Sequence[tuple[int, bool]], main: int) -> bytes:
    """The whole problem, split by the samples that were decided before the search below ``main``."""
    # Number, unit of weights, and no decisions.
    before = [0, 0, 0, 0]
    after: list[int] = []
    for place, (sample, kept) in enumerate(decided):
        refuted = [_OPEN, place + 1]
        before += [_BRANCH, sample]
        # The part in which the sample is given up comes first.
        if kept:
            before += refuted
        else:
            after = refuted + after
    return b"".join(map(number_bytes, [*before, _OPEN, main, *after]))


class DirectionRecords:
    """The records of a search over directions.

    Parameters
    ----------
    recorder : ProofRecorder
    problem : Problem
    axes : ndarray of shape (m, m)
        The axes of the search, one per row.
    upper : float
        The objective that the search starts from.
    """

    number = 0

    def __init__(self, recorder: ProofRecorder, problem: Problem, axes: FloatArray, upper: float) -> None:
        self._recorder = recorder
        self._copies = tuple(_core.direction_copies(problem.costs, upper))
        self._problem = problem
        self._axes = axes
        self.path = recorder.new_file()
        self.sink = _core.ProofSink(self.path)
        for _ in range(2 * problem.m):
            # Numbers of the faces.
            self.sink.new_number()
        self.mark()

    @classmethod
    def resumed(cls, recorder: ProofRecorder, problem: Problem, state: Mapping[str, Any]) -> DirectionRecords:
        """The inverse of :meth:`state`."""
        records = cls.__new__(cls)
        records._recorder, records._problem = recorder, problem
        records._copies = tuple(state["copies"])
        records._axes = np.array(state["axes"])
        records.path = recorder.path_of(state["file"])
        records.sink = _core.ProofSink(records.path, state["numbers"])
        records.mark()
        return records

    def mark(self) -> None:
        """See :meth:`SampleRecords.mark`."""
        self._marked = self.sink.size, self.sink.numbers

    def state(self) -> dict[str, Any] | None:
        """See :meth:`SampleRecords.state`; None if a step could not be justified."""
        if not self.sink.valid:
            return None
        _flush(self.sink)
        size, numbers = self._marked
        axes = self._axes.tolist()
        return {
            "file": Path(self.path).name,
            "size": size,
            "numbers": numbers,
            "copies": self._copies,
            "axes": axes,
        }

    def fit(self, upper: float) -> bool:
        """Whether a search for hyperplanes better than this has the same samples: copies depend on it."""
        return tuple(_core.direction_copies(self._problem.costs, upper)) == self._copies

    def complete(self, bound: float) -> None:
        """Offer the proof of a bound: nothing is open."""
        self.sink.close()
        if not self.sink.valid:
            self.drop()
            return
        piece = Piece.whole("directions", [self.path], bound, self._problem)
        piece = replace(piece, copies=self._copies, frame=self._axes)
        self._recorder.offer(bound, [piece])
        self._recorder.release([piece])

    def drop(self) -> None:
        """Remove the records: the search cannot be completed."""
        self.sink.close()
        self._recorder.failed |= self.sink.failed
        self._recorder.remove(self.path)


def memory_sink() -> _core.ProofSink:
    """Stores the last record in memory."""
    return _core.ProofSink("")
