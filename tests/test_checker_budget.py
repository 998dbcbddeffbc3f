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
from budget_cases import NARROW, optimum, problem_of, random_limits
from forged_proofs import parts
from hardmargin import BudgetError, Problem, Result, solve, verify
from hardmargin.checker import ProofError, Verdict, check_proof
from hardmargin.checker.limits import Limits, common_unit
from hardmargin.cli import main
from hardmargin.data import generate
from hardmargin.methods import budget
from hardmargin.search import primal

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
    assert found["priced"] >= 2
    assert found["impossible"] >= 3


@pytest.mark.parametrize("method", ["auto", "packing"])
@pytest.mark.parametrize("limits", [15, {-1: 6, 1: 10}, {-1: 3}, {1: 4}], ids=str)
@pytest.mark.parametrize("weighted", [False, True], ids=["counts", "weights"])
def test_trees_of_several_records_hold(weighted, limits, method, tmp_path) -> None:
    data = generate("B", 60, 3, 1)
    weights = np.random.default_rng(3).uniform(0.5, 1.5, 60) if weighted else None
    settings = {"method": method, "options": {"slice": 16}, "max_violations": limits, "sample_weight": weights}
    result = solve(data.X, data.y, 2.0, **settings, proof=tmp_path / "proof")
    assert result.optimal
    verification = verify(result, data.X, data.y, proof=tmp_path / "proof")
    assert verification.ok, verification.summary()
    assert verification.proof.records > 2
    assert result.proof_bound >= result.lower_bound * (1 - 1e-8)
    assert "within the limits on violations" in verification.summary()


def test_a_search_over_directions_has_a_proof_too(tmp_path) -> None:
    data = generate("A", 120, 2, 1)
    result = solve(data.X, data.y, max_violations=25, options={"head_start": 1e12}, proof=tmp_path / "proof")
    (piece,) = parts(tmp_path / "proof")[0]["pieces"]
    assert (piece["kind"], piece["limited"]) == ("directions", True)
    assert verify(result, data.X, data.y, proof=tmp_path / "proof").ok
    assert result.proof_bound >= result.lower_bound * (1 - 1e-8)


def test_a_search_that_ends_early_says_what_is_proven(tmp_path) -> None:
    data = generate("B", 80, 4, 1)
    settings = {"max_violations": 20, "method": "packing", "node_limit": 30}
    result = solve(data.X, data.y, **settings, proof=tmp_path / "proof")
    assert not result.optimal
    assert 0 < result.proof_bound <= result.lower_bound < 0.99 * result.objective
    verification = verify(result, data.X, data.y, proof=tmp_path / "proof")
    assert verification.ok
    assert verification.proof.bound == result.proof_bound


def test_impossible_limits_have_a_proof_without_a_model(tmp_path) -> None:
    X, y = np.zeros((4, 1)), [1, 1, -1, -1]
    X[0] = 1.0
    with pytest.raises(BudgetError) as error:
        solve(X, y, max_violations={-1: 0, 1: 0}, proof=tmp_path / "proof")
    assert error.value.proven
    problem = Problem.from_data(X, y, max_violations={-1: 0, 1: 0})
    assert checked(tmp_path / "proof", problem).bound > 1e15


def test_impossible_limits_without_a_proof_of_that_leave_an_older_file(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(budget, "_suits_proof", lambda *_: False)
    X, y = np.zeros((4, 1)), [1, 1, -1, -1]
    X[0] = 1.0
    (tmp_path / "proof").write_text("older")
    with pytest.raises(BudgetError) as error:
        solve(X, y, max_violations=0, proof=tmp_path / "proof")
    assert error.value.proven
    assert (tmp_path / "proof").read_text() == "older"


def test_no_file_is_written_if_nothing_is_known(tmp_path) -> None:
    data = generate("B", 150, 9, 1)
    (tmp_path / "proof").write_text("older")
    with pytest.raises(BudgetError) as error:
        solve(data.X, data.y, max_violations=18, time_limit=1e-9, proof=tmp_path / "proof")
    assert not error.value.proven
    assert (tmp_path / "proof").read_text() == "older"
    assert [path.name for path in tmp_path.iterdir()] == ["proof"]


# ---- limits belong to a proof


@pytest.fixture(scope="module")
def limited(tmp_path_factory) -> tuple[Problem, Path, Result]:
    data, path = generate("B", 40, 2, 1), tmp_path_factory.mktemp("limited") / "proof"
    result = solve(data.X, data.y, max_violations={-1: 4, 1: 8}, proof=path)
    return Problem.from_data(data.X, data.y, max_violations={-1: 4, 1: 8}), path, result


def test_other_limits_are_refused(limited) -> None:
    problem, path, result = limited
    assert checked(path, problem).bound == result.proof_bound
    for other in (12, {-1: 4}, {-1: 4, 1: 7}, {-1: 8, 1: 4}, {-1: 4, 1: 8.5}):
        with pytest.raises(ProofError, match="limits on violations are not those"):
            checked(path, problem, max_violations=other)
    with pytest.raises(ProofError, match="limits on violations, and none were given"):
        checked(path, problem, max_violations=None)


def test_a_proof_without_limits_is_not_one_with_them(limited, tmp_path) -> None:
    problem, path, result = limited
    unlimited = solve(problem.X, problem.y, 1.0, proof=tmp_path / "proof")
    verification = verify(result, problem.X, problem.y, proof=tmp_path / "proof")
    assert not verification.ok
    assert "not about hyperplanes with limits on violations" in verification.summary()
    assert not verify(unlimited, problem.X, problem.y, proof=path).ok


def test_the_command_line_takes_limits_from_the_model(tmp_path, capsys) -> None:
    data, proof, model = (str(tmp_path / name) for name in ("data", "proof", "model"))
    assert main(["generate", "--type", "B", "--n", "40", "--d", "2", "--seed", "1", "--output", data]) == 0
    arguments = ["--max-violations", "9", "--quiet", "--json", model, "--proof", proof]
    assert main(["solve", data, *arguments]) == 0
    capsys.readouterr()
    assert main(["verify", model, data, "--proof", proof]) == 0
    assert "no hyperplane of those that are within the limits on violations" in capsys.readouterr().out
    assert main(["solve", data, "--max-violations", "10", "--quiet", "--json", model]) == 0
    assert main(["verify", model, data, "--proof", proof]) == 1


@pytest.mark.parametrize("given", [-1, math.inf, math.nan, {}, {0: 1}, {-1: -1}])
def test_unusable_limits_are_refused(given) -> None:
    with pytest.raises(ValueError, match="violations"):
        Limits(given)


def test_limits_are_rounded_down_to_what_can_be_given_up() -> None:
    weights = [(0, Fraction(3)), (0, Fraction(9, 2)), (1, Fraction(2))]
    assert common_unit(weight for _, weight in weights) == Fraction(1, 2)
    assert Limits(4.9).priced([2.0]).credits(weights) == [((0, 1), Fraction(9))]
    both = Limits({1: 3.9, -1: 4.4}).priced([2.0, 10.0])
    assert both.credits(weights) == [((0,), Fraction(6)), ((1,), Fraction(20))]
    assert both.rates == (2, 10)
    assert both.unlimited == ()
    # Sums may exceed a limit by a relative 1e-9, and by the rounding of that in double precision.
    assert Limits(3).priced([1.0]).credit == 3 + Fraction(3, 10**9) + Fraction(3, 2**50)
    assert Limits(4.5 * (1 - 1e-10)).priced([1.0]).credits(weights) == [((0, 1), Fraction(9, 2))]
    one = Limits({1: 3.9}).priced([2.0])
    assert one.rates == (1, 2)
    assert one.unlimited == (0,)
