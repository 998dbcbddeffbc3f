"""The required form of a saved state, checked before any of it is used.

Everything that can be checked without searching is checked: the keys, the types and ranges of their values, the
shapes of arrays, and that subproblems belong to the problem. Whether the open subproblems together contain every
better solution cannot be checked; there the file has to be trusted.
"""

from __future__ import annotations

import math
import reprlib
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardmargin.arrays import FloatArray
from hardmargin.frontier import Frontier, Regions
from hardmargin.problem import Problem
from hardmargin.projection import SMALLEST_FACTOR, Projection
from hardmargin.validation import is_whole

# Counts of nodes and of work. The core gets at most half of a count, as 64 bits. A thousand cores reach 2**61 in
# a week.
_MOST = 2**63
# A bound above the objective by less than this, relatively, is a rounding error.
_ROUNDING = 1e-9
# Flags of decided samples that are checked together.
_FLAGS = 2**24

_Check = Callable[[Any], bool]


def _is_float(value: Any) -> bool:
    """Whether it is a number, possibly infinite; JSON has whole numbers of any length."""
    return isinstance(value, float) or (is_whole(value) and abs(value) <= 2**53)


def _number(least: float, most: float = math.inf) -> _Check:
    # Comparisons with NaN are false.
    return lambda value: _is_float(value) and least <= value <= most


def _finite(least: float = -math.inf) -> _Check:
    return lambda value: _is_float(value) and math.isfinite(value) and value >= least


def _is_count(value: Any) -> bool:
    return is_whole(value) and 0 <= value < _MOST


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _is_anything(value: Any) -> bool:
    return True


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_mapping(value: Any) -> bool:
    return isinstance(value, Mapping)


def _are_marks(value: Any) -> bool:
    """Whether these are open shares after some work, in the order of the work."""
    if not isinstance(value, list) or not all(isinstance(mark, list) and len(mark) == 2 for mark in value):
        return False
    if not all(_is_count(work) and _finite(0.0)(share) for work, share in value):
        return False
    return all(before[0] < after[0] for before, after in pairwise(value))


_OUTLINE = {"solve": _is_mapping, "projection": _is_anything, "reduced": _is_text}
_PROJECTION = {
    "samples": _is_anything,
    "basis": _is_anything,
    "centre": _is_anything,
    "bound_factor": _number(SMALLEST_FACTOR, 1.0),
}
_SOLVE = {
    "gap": _number(0.0, 1.0),
    "coef": _is_anything,
    "intercept": _finite(),
    "lower_bound": _finite(0.0),
    "nodes": _is_count,
    "proofs": _is_mapping,
    "records": lambda value: value is None or _is_text(value),
}
_PROOF = {
    "nodes": _is_count,
    "work": _is_count,
    "stuck": _is_flag,
    "primal_searches": _is_count,
}
_PACKING = {
    "open": _is_anything,
    "first_nodes": _is_count,
    "first_over": _is_flag,
    "step": _finite(0.0),
    "target": lambda value: value is None or _finite(0.0)(value),
    "target_work": _is_count,
    "target_nodes": _is_count,
    "last_target": _finite(0.0),
    "last_work": _is_count,
    "work_rate": _finite(0.0),
    "reduction": lambda value: value is None or _is_mapping(value),
}
_REDUCTION = {"given_up": _is_anything, "kept": _is_anything, "derived_under": _number(0.0)}
_DIRECTIONS = {
    "open": _is_anything,
    "axes": _is_mapping,
    "sample_nodes": lambda value: _is_count(value) and value > 0,
    "open_shares": _are_marks,
}
_BLOCKS = {
    "waiting": _is_mapping,
    "done": _is_mapping,
    "groups": lambda value: isinstance(value, list),
    "share_value": _finite(0.0),
    "first_round": _is_flag,
    "block_work": _finite(0.0),
    "growth": _number(1.0, 10.0),
    "work_before": _is_count,
    "count_before": _is_count,
    "round": _is_mapping,
}
_SOME_BLOCKS = {"samples": _is_anything, "sizes": _is_anything, "numbers": _is_anything}
_GROUP = {
    "before": _is_count,
    "after": _is_mapping,
    "unknown": lambda value: isinstance(value, list),
    "open": lambda value: isinstance(value, list),
    "cut": _is_flag,
}
_ROUND = {"work": _is_count, "blocks": _is_count, "cut": _is_count, "improved": _is_flag}
_AXES = {"first_axis": _is_anything, "mirrored": _is_count}


def check_outline(state: Any) -> None:
    """Check which parts a state has.

    Raises
    ------
    ValueError
        If it is not the state of a solve; the message says where.
    """
    _check_values(state, _OUTLINE, "the state")


def checked_projection(values: Any, n: int, m: int) -> Projection | None:
    """The projection of n samples with m features that a state was reached with.

    Raises
    ------
    ValueError
        If the values are not a valid projection.
    """
    if values is None:
        return None
    _check_values(values, _PROJECTION, "projection")
    samples = _floats(values["samples"], "projection.samples", (n, None))
    rank = samples.shape[1]
    _require(0 < rank < m, f"projection.samples has {rank} columns; expected 1 to {m - 1}")
    basis = _floats(values["basis"], "projection.basis", (m, rank))
    centre = _floats(values["centre"], "projection.centre", (m,))
    return Projection(samples, basis, centre, float(values["bound_factor"]))


def check_solve(state: Mapping[str, Any], problem: Problem) -> None:
    """Check the state of a method on a problem, after presolve.

    Raises
    ------
    ValueError
        If it is not valid; the message says where.
    """
    _check_values(state, _SOLVE, "solve")
    coef = _floats(state["coef"], "solve.coef", (problem.m,))
    objective = problem.evaluate(coef, state["intercept"]).objective
    _require(math.isfinite(objective), "the hyperplane has no finite objective")
    _require(
        state["lower_bound"] <= objective * (1 + _ROUNDING),
        f"the bound {state['lower_bound']:g} is above the objective {objective:g} of the hyperplane",
    )
    for kind, proof in state["proofs"].items():
        _require(kind in _KINDS, f"proofs has {kind!r:.40}; expected {' or '.join(_KINDS)}")
        _KINDS[kind](proof, problem)


def _check_packing(proof: Any, problem: Problem) -> None:
    _check_values(proof, {**_PROOF, **_PACKING}, "packing")
    # Steps are never shorter than the cost of a sample; with very short ones it would take for ever.
    _require(proof["step"] >= 0.5 * problem.typical_cost, f"packing.step is {proof['step']}, too short")
    if proof["reduction"] is not None:
        _check_values(proof["reduction"], _REDUCTION, "packing.reduction")
        decided = [
            sample for part in ("given_up", "kept") for sample in _samples(proof["reduction"], part, problem)
        ]
        _require(len(set(decided)) == len(decided), "packing.reduction decides a sample twice")
    if proof["open"] is not None:
        _check_decisions(_frontier(proof["open"], "packing.open", 2), problem.n)


def _samples(reduction: Mapping[str, Any], part: str, problem: Problem) -> Sequence[int]:
    given = reduction[part]
    _require(
        isinstance(given, list) and all(is_whole(sample) and 0 <= sample < problem.n for sample in given),
        f"packing.reduction.{part} is {_short(given)}; expected samples from 0 to {problem.n - 1}",
    )
    samples: list[int] = given
    return samples


def _check_decisions(frontier: Frontier, n: int) -> None:
    """Check subproblems of the search over samples: how many are kept, these, and those given up, each once."""
    starts, lengths = frontier.starts, frontier.lengths
    ends = starts + lengths
    is_sample = np.ones(len(frontier.integers), dtype=np.bool_)
    is_sample[starts] = False
    _require(bool((frontier.integers[starts] < lengths).all()), "packing.open has more samples kept than decided")
    _require(bool((frontier.integers[is_sample] < n).all()), f"packing.open has samples that are not below {n}")
    step = max(1, _FLAGS // n)
    for first in range(0, frontier.size, step):
        last = min(first + step, frontier.size)
        part = slice(starts[first], ends[last - 1])
        owner = np.repeat(np.arange(last - first), lengths[first:last])
        seen = np.zeros((last - first) * n, dtype=np.bool_)
        places = (owner * n + frontier.integers[part])[is_sample[part]]
        seen[places] = True
        _require(np.count_nonzero(seen) == len(places), "packing.open decides a sample twice")


def _check_directions(proof: Any, problem: Problem) -> None:
    m = problem.m
    _check_values(proof, {**_PROOF, **_DIRECTIONS}, "directions")
    _check_values(proof["axes"], _AXES, "directions.axes")
    axis, mirrored = proof["axes"]["first_axis"], proof["axes"]["mirrored"]
    _require(
        isinstance(axis, list) and len(axis) == m and all(map(_finite(), axis)),
        f"directions.axes.first_axis is {_short(axis)}; expected {m} numbers",
    )
    marks, work = proof["open_shares"], proof["work"]
    _require(
        not marks or marks[-1][0] <= work,
        f"directions.open_shares is {_short(marks)}; expected no more work than {work}",
    )
    _require(mirrored < m, f"directions.axes.mirrored is {mirrored}; expected a feature from 0 to {m - 1}")
    if proof["open"] is not None:
        _check_regions(_frontier(proof["open"], "directions.open", Regions.width(m)), m)


def _check_regions(frontier: Frontier, m: int) -> None:
    """Check regions of directions: a box on a face of the cube, and an interval of lengths."""
    faces, signs, low, high, shortest, longest = Regions.of(frontier)
    every = np.arange(frontier.size)
    _require(len(faces) == frontier.size and bool((faces < m).all()), f"directions.open has faces not below {m}")
    fits = (np.abs(signs) == 1) & (low[every, faces] == signs) & (high[every, faces] == signs)
    fits &= ((low >= -1) & (low <= high) & (high <= 1)).all(axis=1)
    fits &= (shortest >= 0) & (shortest <= longest) & np.isfinite(longest)
    _require(bool(fits.all()), "directions.open has regions that are not boxes on a face of the cube")


def _check_blocks(proof: Any, problem: Problem) -> None:
    _check_values(proof, {**_PROOF, **_BLOCKS}, "blocks")
    _check_values(proof["round"], _ROUND, "blocks.round")
    waiting = _samples_of_blocks(proof["waiting"], "blocks.waiting")
    done = _samples_of_blocks(proof["done"], "blocks.done")
    together = np.sort(np.concatenate([np.zeros(0, np.int64), *waiting, *done]))
    complete = np.array_equal(together, np.arange(problem.n)) or len(together) == 0
    _require(
        complete, f"blocks.waiting and blocks.done do not have the samples from 0 to {problem.n - 1} once each"
    )
    place = 0
    for number, group in enumerate(proof["groups"]):
        name = f"blocks.groups[{number}]"
        _check_values(group, _GROUP, name)
        before = waiting[place : place + group["before"]]
        place += group["before"]
        after = _samples_of_blocks(group["after"], f"{name}.after")
        _require(len(before) == group["before"] > 0 and len(after) > 0, f"{name} does not fit the blocks that wait")
        same = np.array_equal(np.sort(np.concatenate(before)), np.sort(np.concatenate(after)))
        _require(same, f"{name}.after has other samples than the blocks before")
        for kind in ("unknown", "open"):
            places = all(is_whole(each) and 0 <= each < len(after) for each in group[kind])
            _require(places, f"{name}.{kind} is {_short(group[kind])}; expected places below {len(after)}")
    _require(place in (0, len(waiting)), "blocks.groups does not have all blocks that wait")


def _samples_of_blocks(blocks: Any, name: str) -> list[NDArray[Any]]:
    """The samples of each block."""
    _check_values(blocks, _SOME_BLOCKS, name)
    samples = _array(blocks["samples"], f"{name}.samples", np.dtype(np.int64), (None,))
    sizes = _array(blocks["sizes"], f"{name}.sizes", np.dtype(np.int64), (None,))
    numbers = _floats(blocks["numbers"], f"{name}.numbers", (len(sizes), 4))
    fits = bool((sizes > 0).all()) and sum(sizes.tolist()) == len(samples)
    _require(fits, f"{name}.sizes does not fit its samples")
    _require(bool((numbers >= 0).all() and (numbers[:, 0] > 0).all()), f"{name}.numbers has values out of range")
    return np.split(samples, np.cumsum(sizes)[:-1]) if len(sizes) else []


_KINDS: Mapping[str, Callable[[Any, Problem], None]] = {
    "packing": _check_packing,
    "directions": _check_directions,
    "blocks": _check_blocks,
}


def _frontier(value: Any, name: str, width: int) -> Frontier:
    """Open subproblems whose arrays fit together, with ``width`` numbers each; at least one."""
    _require(isinstance(value, list) and len(value) == 3, f"{name} is not made of three arrays")
    integers = _array(value[0], f"{name}.integers", np.dtype(np.uint32), (None,))
    ends = _array(value[1], f"{name}.ends", np.dtype(np.uint64), (None,))
    _require(len(ends) > 0, f"{name} has no subproblem; expected None where nothing is open")
    numbers = _array(value[2], f"{name}.numbers", np.dtype(np.float64), (len(ends), width))
    _require(numbers.flags.c_contiguous, f"{name}.numbers does not have its numbers row by row")
    _require(not np.isnan(numbers).any(), f"{name}.numbers has values that are not numbers")
    _require(int(ends[-1]) == len(integers), f"{name}.ends does not end with its integers")
    _require(ends[0] > 0 and bool((ends[1:] > ends[:-1]).all()), f"{name}.ends does not always rise")
    return Frontier(integers, ends, numbers)


def _floats(value: Any, name: str, shape: tuple[int | None, ...]) -> FloatArray:
    """An array of finite numbers."""
    array: FloatArray = _array(value, name, np.dtype(np.float64), shape)
    _require(bool(np.isfinite(array).all()), f"{name} has values that are not finite")
    return array


def _array(value: Any, name: str, kind: np.dtype[Any], shape: tuple[int | None, ...]) -> NDArray[Any]:
    """An array of this type and shape; None stands for any length."""
    wanted = (
        f"{name} is not an array of {kind} of shape ({', '.join('any' if k is None else str(k) for k in shape)})"
    )
    _require(isinstance(value, np.ndarray) and value.dtype == kind and value.ndim == len(shape), wanted)
    _require(all(k in (None, size) for k, size in zip(shape, value.shape, strict=True)), wanted)
    array: NDArray[Any] = value
    return array


def _check_values(given: Any, expected: Mapping[str, _Check], name: str) -> None:
    """Check that a mapping has these keys and no others, and values that pass their checks."""
    if not isinstance(given, Mapping):
        raise ValueError(f"{name} is {_short(given)}; expected names with values")
    missing, unknown = sorted(set(expected) - set(given)), sorted(set(given) - set(expected))
    _require(not missing, f"{name} has no {', '.join(missing)}")
    _require(not unknown, f"{name} has {unknown[:1]!r:.40}, which is not known")
    for key, check in expected.items():
        if not check(given[key]):
            raise ValueError(f"{name}.{key} is {_short(given[key])}, which is out of range or of another type")


def _short(value: Any) -> str:
    """A short description of a value, however large or deep it is."""
    return f"{reprlib.repr(value):.60}"


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise ValueError(what)
