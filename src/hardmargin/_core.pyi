"""Compiled core of hardmargin."""

from collections.abc import Callable
from enum import Enum

import numpy as np
from numpy.typing import NDArray

_Array = NDArray[np.float64]
_Observer = Callable[[float, float, int], bool] | None
_Bounds = tuple[_Array, _Array] | None

def kernels() -> str:
    """The kind of CPU that the innermost loops in use are compiled for."""

def checks_contracts() -> bool:
    """Whether the core was compiled with its assertions, which makes it slower."""

class MaxMarginStatus(Enum):
    """How a max-margin solve ended."""

    optimal = 0
    threshold = 1
    infeasible = 2
    failed = 3

class MaxMargin:
    """Shortest w with y (w.x + b) >= 1 over a changing set of samples.

    Row i < n keeps sample i; row n + i is its flip, the reversed constraint.
    """

    def __init__(self, features: _Array, labels: _Array, bounds: _Bounds = None) -> None: ...
    def enable(self, row: int) -> None: ...
    def disable(self, row: int) -> None: ...
    def forget(self) -> None: ...
    def solve(self, threshold: float = ..., seconds: float = ...) -> MaxMarginStatus:
        """Fails if the time is up."""

    @property
    def value(self) -> float: ...
    @property
    def weights(self) -> list[float]: ...
    @property
    def bias(self) -> float: ...
    @property
    def proof(self) -> list[int]:
        """The rows that the last solve has proven to be unsatisfiable, below its threshold or at all."""

    @property
    def support(self) -> list[tuple[int, float]]: ...

class Outcome:
    """Why a search ended."""

    @property
    def timed_out(self) -> bool: ...
    @property
    def interrupted(self) -> bool: ...
    @property
    def error(self) -> BaseException | None:
        """The exception raised by the observer or a signal handler, or None."""

class PrimalSearch:
    """Good hyperplanes, and a first lower bound."""

    def __init__(
        self,
        features: _Array,
        labels: _Array,
        costs: _Array,
        seed: int,
        upper: float = ...,
        bounds: _Bounds = None,
    ) -> None: ...
    def start(
        self, seconds: float, work: int, target: float, lower_bound: float, observer: _Observer
    ) -> Outcome: ...
    def walk(
        self, seconds: float, work: int, tries: int, target: float, lower_bound: float, observer: _Observer
    ) -> Outcome: ...
    def offer(self, weights: _Array, bias: float, work: int, seconds: float) -> Outcome: ...
    def root_bound(self, gap: float, seconds: float, observer: _Observer) -> tuple[float, Outcome, bytes]:
        """The bound, why it ended, and a record that proves it."""

    @property
    def weights(self) -> list[float]: ...
    @property
    def bias(self) -> float: ...
    @property
    def objective(self) -> float: ...
    @property
    def rounds(self) -> int: ...
    @property
    def work(self) -> int:
        """Multiply-adds, approximately."""

def best_offset(
    projections: _Array, labels: _Array, costs: _Array, norm_squared: float
) -> tuple[float, float, float]:
    """The least objective of the hyperplanes w = scale s along a direction s, with the scale and the offset.

    The projections are s.x; `norm_squared` is ||s||^2. The scale is 0 if the cheaper class is given up.
    """

def line_minimum(
    margins: _Array,
    slopes: _Array,
    costs: _Array,
    norm_squared: float,
    product: float,
    direction_squared: float,
    limit: float,
) -> tuple[float, float]:
    """The best step along a line of hyperplanes, and its objective; infinity if no step stays below the limit.

    The norms are ||w||^2, w.dw and ||dw||^2 of the line (w, b) + step (dw, db).
    """

_Frontier = tuple[NDArray[np.uint32], NDArray[np.uint64], NDArray[np.float64]]

class ProofSink:
    """A file of proof records."""

    def __init__(self, path: str, numbers: int | None = None) -> None: ...
    def new_number(self) -> int:
        """A number for an open subproblem; 0 is the whole problem."""

    def reserve(self, count: int) -> int:
        """Leaves out this many numbers, and returns the last one before them: another sink may give them out."""

    def invalidate(self) -> None:
        """Marks the records as incomplete: a step could not be justified."""

    def write(self, record: bytes) -> None: ...
    def flush(self) -> None: ...
    def close(self) -> None: ...
    def last_record(self) -> bytes:
        """The last record, of a sink without a file."""

    @property
    def valid(self) -> bool:
        """Whether every step could be justified."""

    @property
    def failed(self) -> bool:
        """Whether something could not be written."""

    @property
    def size(self) -> int:
        """Bytes so far."""

    @property
    def numbers(self) -> int:
        """The last number that was given out."""

class PackingKnowledge:
    """What searches over the same samples share."""

    def __init__(
        self,
        features: _Array,
        labels: _Array,
        costs: _Array,
        bounds: _Bounds = None,
        keeps_certificates: bool = False,
    ) -> None: ...
    @property
    def sets(self) -> int:
        """The number of certified sets."""

    @property
    def cover_distance(self) -> int:
        """The cover bound is used from this distance on, in samples."""

class Budget:
    """Limits on the cost of given-up samples; infinity: priced instead."""

    negatives: float
    positives: float
    total: float
    def __init__(self) -> None: ...

class PackingOptions:
    """How subproblems are bounded and branched on."""

    budget: Budget
    gap: float
    cover_distance: float | None
    pool_memory: int
    terms: list[tuple[float, float]]
    knowledge: PackingKnowledge | None
    proof: ProofSink | None
    proof_number: int
    def __init__(self) -> None: ...

class SearchLimits:
    """Limits of a search."""

    threads: int
    node_limit: int
    work_limit: int
    slice: int
    memory: int
    pause: float
    keep_below: float
    def __init__(self) -> None: ...

class PackingResult:
    """What the search found, proved and left open."""

    @property
    def weights(self) -> list[float]:
        """Empty if nothing better than `upper` or `keep_below` was found."""

    @property
    def bias(self) -> float: ...
    @property
    def objective(self) -> float: ...
    @property
    def upper(self) -> float:
        """What is closed contains no solution better than this."""

    @property
    def lower_bound(self) -> float: ...
    @property
    def nodes(self) -> int: ...
    @property
    def work(self) -> int:
        """Multiply-adds, approximately."""

    @property
    def exhausted(self) -> bool:
        """Whether everything was searched; what is still open then cannot be closed because of rounding."""

    @property
    def open(self) -> _Frontier:
        """The open subproblems as arrays: integers, their ends by subproblem, numbers by subproblem."""

    @property
    def proof_numbers(self) -> list[int]:
        """The numbers of the open subproblems in a proof."""

    @property
    def outcome(self) -> Outcome: ...

def packing_root(count: int, kept: list[int], given_up: list[int], bound: float, upper: float) -> _Frontier:
    """The whole problem of `count` samples as a frontier, or the part of it with these decisions."""

def packing_resumed(
    features: _Array,
    labels: _Array,
    costs: _Array,
    frontier: _Frontier,
    proof_numbers: list[int],
    bounds: _Bounds = None,
) -> PackingResult:
    """What a search has left open, numbered as in its proof."""

def packing_search(
    features: _Array,
    labels: _Array,
    costs: _Array,
    frontier: _Frontier | PackingResult,
    upper: float,
    options: PackingOptions,
    limits: SearchLimits,
    seconds: float,
    observer: _Observer,
    bounds: _Bounds = None,
) -> PackingResult: ...

class DirectionOptions:
    """How regions are bounded and split."""

    gap: float
    first_axis: list[float]
    mirrored: int
    path_memory: int
    sample_nodes: int
    budget: Budget
    terms: list[tuple[float, float]]
    proof: ProofSink | None
    def __init__(self) -> None: ...

class DirectionResult:
    """What the search found, proved and left open."""

    @property
    def weights(self) -> list[float]:
        """Empty if nothing better than `upper` or `keep_below` was found."""

    @property
    def bias(self) -> float: ...
    @property
    def objective(self) -> float: ...
    @property
    def upper(self) -> float:
        """What is closed contains no solution better than this."""

    @property
    def lower_bound(self) -> float: ...
    @property
    def nodes(self) -> int: ...
    @property
    def work(self) -> int:
        """Multiply-adds, approximately."""

    @property
    def exhausted(self) -> bool:
        """Whether everything was searched; what is still open then cannot be closed because of rounding."""

    @property
    def open(self) -> _Frontier:
        """The open subproblems as arrays: integers, their ends by subproblem, numbers by subproblem."""

    @property
    def proof_numbers(self) -> list[int]:
        """The numbers of the open subproblems in a proof."""

    @property
    def outcome(self) -> Outcome: ...

def direction_root(
    features: _Array,
    labels: _Array,
    costs: _Array,
    upper: float,
    options: DirectionOptions,
    bounds: _Bounds = None,
) -> _Frontier:
    """All directions as a frontier."""

def direction_axes(features: _Array, labels: _Array, costs: _Array, options: DirectionOptions) -> _Array:
    """The axes of the cube, one per row."""

def direction_copies(costs: _Array, upper: float) -> list[int]:
    """How often each sample is copied so that all cost the same; empty if none is."""

def direction_resumed(
    features: _Array,
    labels: _Array,
    costs: _Array,
    frontier: _Frontier,
    proof_numbers: list[int],
    bounds: _Bounds = None,
) -> DirectionResult:
    """What a search has left open, numbered as in its proof."""

def direction_search(
    features: _Array,
    labels: _Array,
    costs: _Array,
    frontier: _Frontier | DirectionResult,
    upper: float,
    options: DirectionOptions,
    limits: SearchLimits,
    seconds: float,
    observer: _Observer,
    bounds: _Bounds = None,
) -> DirectionResult: ...

class WeightRegion(Enum):
    """The hyperplanes for which a cut holds."""

    unbounded = 0
    box = 1
    ball = 2

class CutOracle:
    """Minimal sets of samples that no hyperplane of a region keeps together."""

    def __init__(self, features: _Array, labels: _Array, region: WeightRegion, radius: float) -> None: ...
    def stop(self) -> None:
        """End a call of separate() in another thread soon, and later calls immediately."""

    def separate(self, values: _Array, zero: float, most: int = 0) -> tuple[list[list[int]], bool]:
        """Disjoint sets among the samples with a value below `zero`, at most `most` (0: no limit), and whether the
        rest of these samples can be kept together."""

def soft_margin(
    features: _Array, labels: _Array, costs: _Array, tolerance: float, seconds: float, observer: _Observer
) -> tuple[list[float], float, Outcome]:
    """The hinge-loss support vector machine: weights, bias, outcome."""

def read_table(
    text: str, delimiter: str, roles: list[int], skip_first: bool, most_values: int, longest_cell: int
) -> tuple[_Array, NDArray[np.int32], list[str]] | None:
    """The numbers of a table, the number of every row's label, and the labels; None if it is not simple.

    A role is the number of a feature, -1 for a column to ignore, or -2 for the labels.
    """
