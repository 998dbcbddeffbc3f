"""Proofs about hyperplanes within limits on violations: accepted with these limits, and refused with any others."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from brute_force import Case, random_case, start_from_nothing
from forged_proofs import content, header_of, line, parts, piece_header, write
from hardmargin import BudgetError, Problem, Result, solve, verify
from hardmargin.checker import ProofError, UnreadableProofError, Verdict, check_proof
from hardmargin.checker.limits import Limits, common_unit
from hardmargin.checker.samples import Samples
from hardmargin.cli import main
from hardmargin.data import generate
from hardmargin.search import primal
from test_budget import NARROW, optimum, problem_of, random_limits

WAYS: dict[str, tuple[str, dict[str, Any] | None, int]] = {
    "packing": ("packing", None, 1),
    "packing with targets and covers": ("packing", {"cover_distance": 0.0, "first_nodes": 1}, 1),
    "packing, threads and short slices": ("packing", {"first_nodes": 1, "slice": 3}, 2),
    "auto": ("auto", None, 1),
    "auto, short slices": ("auto", {"slice": 3, "first_nodes": 1}, 1),
}


def checked(path: Path, problem: Problem, **others: Any) -> Verdict:
    known = {"max_violations": problem.budget and problem.budget.as_argument((-1, 1))}
    return check_proof(path, problem.X, problem.y, problem.costs, **(known | others))


def solved(case: Case, limits: Any, way: str, path: Path) -> Result | None:
    """The result for a case; None if there is no hyperplane within the limits, or none was found."""
    method, options, threads = WAYS[way]
    settings = {"method": method, "options": options, "threads": threads, "node_limit": 3000}
    try:
        return solve(case.X, case.y, case.C, **case.weights, **settings, max_violations=limits, proof=path)
    except BudgetError:
        return None


# ---- what solve writes is accepted, and is true


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("from_nothing", [False, True], ids=["from a good start", "from nothing"])
def test_proofs_hold_and_claim_no_more_than_the_optimum(way, from_nothing, tmp_path, monkeypatch) -> None:
    if from_nothing:
        monkeypatch.setattr(primal, "search", primal.search)
        start_from_nothing()
    found: Counter[str] = Counter()
    for index in range(40):
        case = random_case(70 + from_nothing, index)
        limits = random_limits(70, index, case)
        problem, path = problem_of(case, limits), tmp_path / "proof"
        best = optimum(problem)
        path.unlink(missing_ok=True)
        result = solved(case, limits, way, path)
        if result is None:
            found["without a model"] += 1
            if path.exists():
                # Only hyperplanes with margins that are too narrow to be seen are within the limits, if any are.
                size = float(np.abs(case.X - np.median(case.X, axis=0)).max())
                bound = checked(path, problem).bound
                assert 0 < bound <= best * (1 + 1e-9)
                assert bound * size**2 > NARROW
                found["impossible"] += 1
            continue
        verdict = checked(path, problem)
        assert verdict.bound == result.proof_bound
        assert verdict.bound <= best * (1 + 1e-9)
        assert result.proof_bound <= result.lower_bound
        found["within"] += 1
        found["limited"] += any(piece["limited"] for piece in parts(path)[0]["pieces"])
        found["priced"] += any(not piece["limited"] for piece in parts(path)[0]["pieces"])
        if result.optimal and result.lower_bound > 0:
            assert verdict.bound >= result.lower_bound * (1 - 2e-8)
            found["proven"] += 1
    assert found["within"] >= 20
    assert found["proven"] >= 10
    assert found["limited"] >= 5
