"""The optimum by exhaustive search, and random problems small enough for it; shares no code with the core.

Some optimal hyperplane is either w = 0, or the shortest one with y (w.x + b) = 1 on at most m + 1 affinely
independent samples: by Caratheodory's theorem no more of them are needed to write w as a sum of multiples of y x,
as in the max-margin problem over the kept samples. The best of all these candidates is the optimum.

``python tests/brute_force.py --count 20000`` compares the solver with it on this many problems; ``--constraints``
adds trusted samples and bounds on weights to them, and ``--pauses`` stops every solve after a few subproblems and
resumes it from a file, again and again.
"""

from __future__ import annotations

import argparse
import itertools
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hardmargin import Problem, Result, Status, solve, verify
from hardmargin.data import generate
from hardmargin.incumbent import Incumbent
from hardmargin.methods.base import Limits
from hardmargin.presolve import presolve
from hardmargin.search import primal

# Rows that depend on each other up to this are left out; hyperplanes through them cost 1e20 and more.
_INDEPENDENT = 1e-10
_ROUNDING = 1e-9
_GAP = 1e-6


def optimum(problem: Problem) -> float:
    """The smallest objective of all feasible hyperplanes; infinite if there are none."""
    objectives = (_objectives(problem, *found) for found in candidates(problem))
    return float(min(values.min(initial=np.inf) for values in objectives))


def _objectives(problem: Problem, half_norms: np.ndarray, margins: np.ndarray) -> np.ndarray:
    lost = violated(margins)
    objectives = half_norms + lost @ problem.costs
    if problem.trusted is not None:
        objectives[lost[:, problem.trusted].any(axis=1)] = np.inf
    return objectives


def candidates(problem: Problem) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Values of 1/2 ||w||^2 and the margins of all samples, for hyperplanes of which one is optimal."""
    if problem.bounds is not None:
        yield from _candidates_within_bounds(problem)
        return
    yield np.zeros(2), np.stack([problem.y, -problem.y])
    # The most central sample comes first, also in every subset, because differences to it lose the fewest digits.
    order = np.argsort(np.linalg.norm(problem.X - np.median(problem.X, axis=0), axis=1))
    X, y = problem.X[order].astype(np.longdouble), problem.y[order]
    X -= X[0].copy()
    for size in range(2, problem.m + 2):
        rows = np.array(list(itertools.combinations(range(problem.n), size)), dtype=int).reshape(-1, size)
        rows = rows[np.ptp(y[rows], axis=1) > 0]
        w, b = _shortest_through(X[rows], y[rows])
        if len(w) > 0:
            margins = y * (w @ X.T + b[:, None])
            yield np.sum(w * w, axis=1) / 2, margins[:, np.argsort(order)]


def _candidates_within_bounds(problem: Problem) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The same for bounds on the weights.

    In an optimum, some weights are at a bound. The others are the shortest with y (w.x + b) = 1 on at most one
    sample more than there are of them, given the weights at bounds; or they are zero, and b makes one sample tight.
    """
    lower, upper = problem.bounds.lower, problem.bounds.upper
    order = np.argsort(np.linalg.norm(problem.X - np.median(problem.X, axis=0), axis=1))
    X, y = problem.X[order].astype(np.longdouble), problem.y[order]
    X -= X[0].copy()
    ends = [
        [None, *{end for end in (low, high) if np.isfinite(end)}] for low, high in zip(lower, upper, strict=True)
    ]
    for fixed in itertools.product(*ends):
        free = np.array([end is None for end in fixed])
        given = np.array([end or 0.0 for end in fixed], dtype=np.longdouble)
        at_ends = X @ given
        for size in range(1, int(free.sum()) + 2):
            rows = np.array(list(itertools.combinations(range(problem.n), size)), dtype=int).reshape(-1, size)
            targets = y[rows] - at_ends[rows]
            found, b = np.zeros((len(rows), int(free.sum())), dtype=np.longdouble), targets[:, 0]
            if size > 1:
                found, b = _shortest_through(X[rows][:, :, free], targets)
            w = np.tile(given, (len(found), 1))
            w[:, free] = found
            low, high = (side + sign * _ROUNDING * np.abs(side) for side, sign in ((lower, -1), (upper, 1)))
            tiny = _ROUNDING * np.abs(w).max(axis=1, initial=0.0)[:, None]
            within = np.all(
                (w >= np.where(np.isfinite(lower), low, -np.inf) - tiny)
                & (w <= np.where(np.isfinite(upper), high, np.inf) + tiny),
                axis=1,
            )
            w, b = w[within], b[within]
            if len(w) > 0:
                margins = y * (w @ X.T + b[:, None])
                yield np.sum(w * w, axis=1) / 2, margins[:, np.argsort(order)]


def violated(margins: np.ndarray) -> np.ndarray:
    """Whether margins are below 1 by more than rounding."""
    return margins < 1 - _ROUNDING


def problems_with_trees() -> Iterator[Problem]:
    """Problems in the form that methods get, some with trees of a few subproblems and some with more."""
    for index in range(12):
        case = random_case(11, index)
        yield presolve(Problem.from_data(case.X, case.y, case.C, **case.weights)).problem
    for seed in range(6):
        data = generate("B", 30, 3, seed)
        yield presolve(Problem.from_data(data.X, data.y, 10.0)).problem


def _shortest_through(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The shortest w, and its b, with w.x + b = y on all samples of a subset, for every subset that has one."""
    normals = X[:, 1:] - X[:, :1]
    lengths = np.sqrt(np.sum(normals * normals, axis=2))
    apart = np.all(lengths > 0, axis=1)
    X, y, lengths = X[apart], y[apart], lengths[apart]
    normals = normals[apart] / lengths[:, :, None]
    targets = (y[:, 1:] - y[:, :1]) / lengths
    left, values, right = np.linalg.svd(normals.astype(float), full_matrices=False)
    independent = values[:, -1] > _INDEPENDENT
    X, y, normals, targets = X[independent], y[independent], normals[independent], targets[independent]
    # The pseudoinverses, from the factors computed above.
    inverses = (left[independent] / values[independent, None, :] @ right[independent]).transpose(0, 2, 1)
    w = np.zeros((len(X), X.shape[2]), dtype=X.dtype)
    for _ in range(4):
        # Every round removes the error that the last one left, up to the rounding of the residuals.
        w += np.einsum("sij,sj->si", inverses, targets - np.einsum("sij,sj->si", normals, w))
    return w, y[:, 0] - np.sum(w * X[:, 0], axis=1)


KINDS = (
    "gaussian",
    "duplicates",
    "collinear",
    "constant feature",
    "integer grid",
    "offset",
    "tiny",
    "huge",
    "far outlier",
    "separable",
    "class on a point",
    "dependent features",
    "more features than samples",
    "one-hot features",
)


class Case(NamedTuple):
    """A random training problem, as a caller would pass it."""

    kind: str
    X: np.ndarray
    y: np.ndarray
    C: float
    weights: dict[str, Any]


def random_case(seed: int, index: int) -> Case:
    """The case with this index in the series of this seed; the kinds alternate."""
    rng = np.random.default_rng([seed, index])
    kind = KINDS[index % len(KINDS)]
    n, m = int(rng.integers(3, 13)), int(rng.integers(1, 4))
    X = rng.standard_normal((n, m))
    scores = X @ rng.standard_normal(m) + rng.choice([0.1, 1.0, 3.0]) * rng.standard_normal(n)
    C = 10 ** rng.uniform(-2, 4)
    if kind == "duplicates":
        X = X[rng.integers(0, n, size=n) // 2]
    elif kind == "collinear":
        X = X[:, :1] * rng.standard_normal(m) + rng.standard_normal(m)
    elif kind == "constant feature":
        X[:, rng.integers(m)] = rng.standard_normal()
    elif kind == "integer grid":
        X = rng.integers(-2, 3, size=(n, m)).astype(float)
    elif kind == "offset":
        X += 1e6 * rng.choice([-1.0, 0.0, 1.0], size=m)
    elif kind in ("tiny", "huge"):
        scale = 1e-8 if kind == "tiny" else 1e8
        X, C = scale * X, C / scale**2
    elif kind == "far outlier":
        X[rng.integers(n)] *= 10 ** rng.uniform(2, 7)
    elif kind == "separable":
        scores = X @ rng.standard_normal(m)
    elif kind == "dependent features":
        scale = 10 ** rng.uniform(-8, 8)
        X, C = scale * _with_dependent_features(rng, X), C / scale**2
    elif kind == "more features than samples":
        # All subsets have to be tried, so only few samples may span a space of as many dimensions.
        wide = rng.standard_normal((m, n + int(rng.integers(0, 4))))
        X = X @ wide if n > 7 or rng.random() < 0.5 else rng.standard_normal((n, wide.shape[1]))
    elif kind == "one-hot features":
        X = np.eye(3)[rng.integers(0, 3, size=n)] * rng.choice([1.0, 0.1, 7.0], size=3)
        X = np.hstack([X, rng.integers(0, 4, size=(n, 1))])
    y = np.where(scores > np.quantile(scores, rng.uniform(0.2, 0.8)), 1, -1)
    if kind == "class on a point":
        X[y > 0] = X[0]
    return Case(kind, X, y, float(C), _random_weights(rng, y))


def _with_dependent_features(rng: np.random.Generator, X: np.ndarray) -> np.ndarray:
    """Copies, multiples, sums or other combinations of the features, at any position, and any offsets."""
    m = X.shape[1]
    combinations = rng.choice([rng.standard_normal(), -1.0, 0.0, 1.0, 0.1], size=(m, int(rng.integers(1, 4))))
    X = np.hstack([X, X @ combinations])[:, rng.permutation(m + combinations.shape[1])]
    return X + rng.choice([0.0, 1.0, 1e3]) * rng.standard_normal(X.shape[1])


def _random_weights(rng: np.random.Generator, y: np.ndarray) -> dict[str, Any]:
    weights: dict[str, Any] = {}
    if rng.random() < 0.3:
        weights["sample_weight"] = rng.choice([0.0, 0.5, 1.0, rng.uniform(0, 3)], size=len(y))
        # Neither class may lose all its weight.
        weights["sample_weight"][[y.argmin(), y.argmax()]] = 1.0
    if rng.random() < 0.3:
        weights["class_weight"] = "balanced" if rng.random() < 0.5 else {-1: rng.uniform(0.1, 9), 1: 1.0}
    return weights


def with_constraints(case: Case, seed: int, index: int) -> Case:
    """The case with prior knowledge: a few samples are trusted, or a few weights bounded, or both."""
    rng = np.random.default_rng([seed, index, 1])
    known: dict[str, Any] = {}
    n = len(case.y)
    kind = rng.integers(3)
    if kind != 1:
        known["trusted"] = rng.random(n) < rng.choice([0.1, 0.2, 0.4])
        known["trusted"][rng.integers(n)] = True
    if kind != 0:
        known.update(_random_bounds(rng, case.X))
    return case._replace(weights={**case.weights, **known})


def _random_bounds(rng: np.random.Generator, X: np.ndarray) -> dict[str, Any]:
    """Signs and ranges of at most three weights: all combinations of them have to be tried."""
    m = X.shape[1]
    chosen = rng.permutation(m)[:3]
    signs, lower, upper = np.zeros(m, dtype=int), np.full(m, -np.inf), np.full(m, np.inf)
    signs[chosen] = rng.integers(-1, 2, size=len(chosen))
    unit = 1 / float(np.abs(X).mean())
    for j in chosen:
        ends = sorted(unit * rng.choice([-1.0, -0.3, 0.0, 0.1, 1.0, 5.0], size=2))
        lower[j] = ends[0] if rng.random() < 0.5 else -np.inf
        upper[j] = ends[1] if rng.random() < 0.5 else np.inf
    # Where both are given, they must leave something.
    fitting = (
        np.where(signs > 0, np.maximum(lower, 0), lower) <= np.where(signs < 0, np.minimum(upper, 0), upper)
    ).all()
    kind = rng.integers(3)
    known: dict[str, Any] = {}
    if kind != 1:
        known["monotonic_cst"] = signs
    if kind == 1 or (kind == 2 and fitting):
        known["coef_bounds"] = (lower, upper)
    return known


class Comparison(NamedTuple):
    """What the solver returned for a case, and the true optimum."""

    case: Case
    result: Result
    optimum: float
    broken: list[str]

    @property
    def reached(self) -> bool:
        """Whether the solver found an optimal hyperplane."""
        return self.result.objective <= self.optimum * (1 + (self.result.target_gap or _GAP))


@cache
def case_and_optimum(seed: int, index: int) -> tuple[Case, float]:
    """A random case and its optimum, which several methods are compared with."""
    case = random_case(seed, index)
    return case, optimum(Problem.from_data(case.X, case.y, case.C, **case.weights))


def compared(
    case: Case,
    method: str = "auto",
    *,
    best: float | None = None,
    solved: Callable[..., Result] = solve,
    **settings: Any,
) -> Comparison:
    """Solve a case and list the promises that the answer breaks; ``best`` is its optimum, if known."""
    result = solved(case.X, case.y, case.C, **case.weights, method=method, gap=_GAP, **settings)
    gap = result.target_gap or _GAP
    if best is None:
        best = optimum(Problem.from_data(case.X, case.y, case.C, **case.weights))
    promises = {
        "the bound is at most the optimum": result.lower_bound <= best * (1 + _ROUNDING),
        "the objective is at least the optimum": result.objective >= best * (1 - _ROUNDING),
        "optimal means within the gap": not result.optimal or result.objective <= best * (1 + 1.01 * gap),
        "every claim can be verified": bool(verify(result, case.X, case.y)),
    }
    return Comparison(case, result, best, [promise for promise, kept in promises.items() if not kept])


def solved_with_pauses(*data: Any, nodes: int = 3, **settings: Any) -> Result:
    """The result of a solve that ends after every few subproblems, and continues from its checkpoint."""
    with tempfile.TemporaryDirectory() as folder:
        state = Path(folder) / "state"
        result = solve(*data, checkpoint=state, node_limit=nodes, **settings)
        while result.status is Status.NODE_LIMIT:
            limit = result.nodes + nodes
            result = solve(*data, checkpoint=state, resume=state, node_limit=limit, **settings)
    return result


def refusal_fault(case: Case, method: str = "auto") -> str | None:
    """What is wrong with the refusal of a case without a feasible hyperplane; None if there is a feasible one."""
    problem = Problem.from_data(case.X, case.y, case.C, **case.weights)
    if optimum(problem) < np.inf:
        return None
    try:
        solve(case.X, case.y, case.C, **case.weights, method=method)
    except ValueError as error:
        named = re.search(r"the rows ([\d, ]+) contradict", str(error))
        if named is None:
            return f"no rows are named: {error}"
        rows = [int(row) for row in named[1].split(",")]
        parts = [rows, *(rows[:k] + rows[k + 1 :] for k in range(len(rows)))]
        masks = [np.isin(np.arange(len(case.y)), part) for part in parts]
        bounds = {name: case.weights.get(name) for name in ("monotonic_cst", "coef_bounds")}
        best = [optimum(Problem.from_data(case.X, case.y, case.C, trusted=mask, **bounds)) for mask in masks]
        irreducible = best[0] == np.inf and max(best[1:]) < np.inf
        return "" if irreducible and problem.trusted[rows].all() else f"{rows} is not an irreducible set"
    return "it was not refused"


def start_from_nothing() -> None:
    """Make the exact methods start with w = 0: after an optimal start, a wrong prune is hard to notice."""

    def flat(problem: Problem, known: Incumbent | None, limits: Limits, *__: object) -> Result:
        side = 1.0 if problem.costs[problem.y > 0].sum() >= problem.costs[problem.y < 0].sum() else -1.0
        nothing = np.zeros(problem.m)
        facts = {"lower_bound": 0.0, "status": Status.HEURISTIC, "method": "heuristic", "runtime": limits.elapsed()}
        first = known if known is not None and problem.constrained else (nothing, side)
        return Result.of(problem, *first, **facts)

    primal.search = flat


def main() -> int:
    """Compare on many problems and print one line, after the cases that break a promise."""
    parser = argparse.ArgumentParser(description="Compare the solver with brute force on random problems.")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--method", default="auto")
    parser.add_argument("--from-nothing", action="store_true", help="begin with w = 0 instead of a primal search")
    parser.add_argument("--pauses", action="store_true", help="stop and resume every solve")
    parser.add_argument("--constraints", action="store_true", help="add prior knowledge to the problems")
    arguments = parser.parse_args()
    if arguments.from_nothing:
        start_from_nothing()
    settings: dict[str, Any] = {}
    if arguments.pauses:
        # A slice is the shortest turn there is.
        settings = {"solved": solved_with_pauses, "options": {"first_nodes": 3, "slice": 2}}
        if arguments.method == "auto":
            settings["options"] |= {"head_start": 1000, "first_turn": 1000}
    started = time.monotonic()
    found: Counter[str] = Counter()
    for index in range(arguments.count):
        case = random_case(arguments.seed, index)
        if arguments.constraints:
            case = with_constraints(case, arguments.seed, index)
            if (fault := refusal_fault(case, arguments.method)) is not None:
                found.update(refused=1, broken=bool(fault))
                if fault:
                    print(f"seed {arguments.seed}, index {index}: {case}: {fault}", flush=True)
                continue
        comparison = compared(case, arguments.method, **settings)
        found.update(reached=comparison.reached, proven=comparison.result.optimal, broken=bool(comparison.broken))
        if comparison.broken:
            print(f"seed {arguments.seed}, index {index}: {comparison}", flush=True)
    solved = arguments.count - found["refused"]
    shares = [f"{name} {100 * found[name] / max(solved, 1):.2f} %" for name in ("reached", "proven")]
    shares[0] += f" of {solved}"
    print(
        f"{arguments.count} problems in {time.monotonic() - started:.0f} s, method {arguments.method}: "
        f"optimum {' and '.join(shares)}; promises broken on {found['broken']}"
    )
    return 1 if found["broken"] else 0


if __name__ == "__main__":
    sys.exit(main())
