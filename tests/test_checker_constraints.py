"""Proofs about hyperplanes that respect prior knowledge: accepted with it, and refused with any other."""

from __future__ import annotations

import json
import zlib
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from brute_force import optimum, random_case, start_from_nothing, with_constraints
from hardmargin import Problem, Result, solve, verify
from hardmargin.checker import ProofError, UnreadableProofError, Verdict, check_proof
from hardmargin.checker.constraints import Constraints
from hardmargin.checker.piece import check_groups
from hardmargin.checker.reading import MAGIC
from hardmargin.checker.samples import Samples
from hardmargin.cli import main
from hardmargin.constrained import ContradictoryTrustError
from hardmargin.data import generate
from hardmargin.methods.block import BlockTask, bound_block
from hardmargin.proof_file import write_proof
from hardmargin.search import primal

WAYS = {
    "packing": ("packing", None, 1),
    "packing with targets and covers": ("packing", {"cover_distance": 0.0, "first_nodes": 1}, 1),
    "directions": ("directions", None, 1),
    "directions, threads and short slices": ("directions", {"slice": 3}, 2),
    "blocks that stay small": ("blocks", {"first_size": 4, "last_size": 5}, 1),
    "auto": ("auto", None, 1),
}


def checked(path: Path, problem: Problem, **others: Any) -> Verdict:
    known = {"trusted": problem.trusted, "coef_bounds": problem.core_bounds}
    return check_proof(path, problem.X, problem.y, problem.costs, **(known | others))


# ---- what solve writes is accepted, and is true


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("from_nothing", [False, True], ids=["from a good start", "from nothing"])
def test_proofs_hold_and_claim_no_more_than_the_optimum(way, from_nothing, tmp_path, monkeypatch) -> None:
    method, options, threads = WAYS[way]
    if from_nothing:
        monkeypatch.setattr(primal, "search", primal.search)
        start_from_nothing()
    proven = 0
    for index in range(14):
        case = with_constraints(random_case(50 + from_nothing, index), 50, index)
        problem = Problem.from_data(case.X, case.y, case.C, **case.weights)
        limits = {"node_limit": 3000, "threads": threads, "options": options, "proof": tmp_path / "proof"}
        try:
            result = solve(case.X, case.y, case.C, **case.weights, method=method, **limits)
        except ContradictoryTrustError:
            continue
        verdict = checked(tmp_path / "proof", problem)
        assert verdict.bound == result.proof_bound
        assert verdict.bound <= optimum(problem) * (1 + 1e-9)
        proven += 1
        if result.optimal and not (from_nothing or "small" in way):
            assert verdict.bound >= result.lower_bound * (1 - 2e-8)
    assert proven > 8


def training(n: int = 60, d: int = 4) -> tuple[np.ndarray, np.ndarray, Result]:
    """Samples, labels, and the best hyperplane without constraints."""
    data = generate("B", n, d, 1)
    return data.X, data.y, solve(data.X, data.y, 10.0)


def prior_knowledge(free: Result) -> dict[str, dict[str, Any]]:
    """Constraints that the best hyperplane without them does not satisfy."""
    largest = int(np.abs(free.coef).argmax())
    signs = np.zeros(free.m, dtype=int)
    signs[largest] = -np.sign(free.coef[largest])
    size = abs(free.coef[largest])
    trusted = np.isin(np.arange(free.n), free.violations[:2])
    return {
        "trusted": {"trusted": trusted},
        "monotonic_cst": {"monotonic_cst": signs},
        "coef_bounds": {"coef_bounds": (-0.6 * size, 0.6 * size)},
        "both": {"trusted": trusted, "coef_bounds": (-2.0 * size, 0.9 * size)},
    }


KNOWLEDGE = ["trusted", "monotonic_cst", "coef_bounds", "both"]


@pytest.mark.parametrize("method", ["packing", "directions", "blocks"])
@pytest.mark.parametrize("kind", KNOWLEDGE)
def test_trees_of_several_records_hold(kind, method, tmp_path) -> None:
    X, y, free = training()
    known = prior_knowledge(free)[kind]
    options = {"first_size": 15, "last_size": 30} if method == "blocks" else {"slice": 16}
    result = solve(X, y, 10.0, **known, method=method, options=options, proof=tmp_path / "proof")
    verification = verify(result, X, y, proof=tmp_path / "proof")
    assert verification.ok
    assert verification.proof.records > 2
    assert result.proof_bound >= result.lower_bound * (1 - 1e-9)
    assert "of those that" in verification.summary()
    if method != "blocks":
        assert result.proof_bound > free.objective


def test_signs_and_ranges_are_bounds(tmp_path) -> None:
    X, y, _ = training(30, 3)
    problem = Problem.from_data(X, y, 10.0)
    ranges = (np.array([-1.0, -0.5, -np.inf]), np.array([np.inf, 0.5, 2.0]))
    solve(X, y, 10.0, monotonic_cst=[1, 0, 0], coef_bounds=ranges, proof=tmp_path / "proof")
    verdict = checked(tmp_path / "proof", problem, monotonic_cst=[1, 0, 0], coef_bounds=ranges)
    merged = (np.array([0.0, -0.5, -np.inf]), ranges[1])
    assert checked(tmp_path / "proof", problem, coef_bounds=merged) == verdict


def test_blocks_of_sparse_samples_have_proofs(tmp_path) -> None:
    X, y, _ = training(60, 3)
    # Every second feature occurs in no sample, and so not in the dense problem of the block.
    wide = np.zeros((60, 6))
    wide[:, ::2] = X
    for known in ({}, {"monotonic_cst": [-1, 0, 1, 0, 0, 0]}):
        problem = Problem.from_data(wide, y, 10.0, **known)
        task = BlockTask(
            replace(problem, X=csr_array(wide)), np.zeros(6), 1.0, 1e-6, 1e9, 0.1, None, 0, str(tmp_path)
        )
        answer = bound_block(task, 60.0, lambda: True)
        assert [piece.kind for piece in answer.pieces] == ["directions"]
        bound = write_proof(tmp_path / "proof", problem, answer.pieces, answer.lower_bound)
        assert checked(tmp_path / "proof", problem).bound == bound > 0


def test_the_command_line_takes_prior_knowledge_from_the_model(tmp_path, capsys) -> None:
    X, y, free = training(30, 3)
    data, model, proof = (str(tmp_path / name) for name in ("data.csv", "model.json", "proof"))
    np.savetxt(data, np.column_stack([X, y]), delimiter=",", header="a,b,c,y", comments="")
    (tmp_path / "trusted.txt").write_text(f"{free.violations[0]} 3", encoding="utf-8")
    known = ["--trusted", str(tmp_path / "trusted.txt"), "--monotonic", "a=+1", "--coef-bounds", "b=-0.3:0.3"]
    assert main(["solve", data, "--C", "10", *known, "--json", model, "--proof", proof]) == 0
    assert main(["verify", model, data, "--proof", proof]) == 0
    assert "keep the trusted samples and respect the bounds on weights" in capsys.readouterr().out
    claims = json.loads(Path(model).read_text(encoding="utf-8"))
    del claims["trusted"]
    Path(model).write_text(json.dumps(claims), encoding="utf-8")
    assert main(["verify", model, data, "--proof", proof]) == 1
    assert "trusted samples, and none were given" in capsys.readouterr().out


# ---- other constraints


@pytest.fixture(scope="module", params=KNOWLEDGE)
def constrained(request, tmp_path_factory) -> tuple[Path, Problem, float]:
    """A proof of a bound above the optimum without constraints, its problem, and that optimum."""
    X, y, free = training(30, 3)
    known = prior_knowledge(free)[request.param]
    path = tmp_path_factory.mktemp("proof") / "proof"
    result = solve(X, y, 10.0, **known, proof=path)
    assert result.proof_bound > free.objective * (1 + 1e-6)
    return path, Problem.from_data(X, y, 10.0, **known), free.objective


def test_other_constraints_are_refused(constrained) -> None:
    path, problem, _ = constrained
    checked(path, problem)
    with pytest.raises(ProofError, match="none were given"):
        check_proof(path, problem.X, problem.y, problem.costs)
    if problem.trusted is not None:
        for row in (0, int(np.flatnonzero(problem.trusted)[0])):
            with pytest.raises(ProofError, match="trusted samples are not those"):
                checked(path, problem, trusted=problem.trusted ^ (np.arange(problem.n) == row))
    else:
        with pytest.raises(ProofError, match="not about hyperplanes with trusted"):
            checked(path, problem, trusted=np.arange(problem.n) == 0)
    if problem.bounds is not None:
        looser = (problem.bounds.lower - 1e-12, problem.bounds.upper)
        with pytest.raises(ProofError, match="bounds on weights are not those"):
            checked(path, problem, coef_bounds=looser)
    else:
        with pytest.raises(ProofError, match="not about hyperplanes with bounds"):
            checked(path, problem, coef_bounds=(np.zeros(problem.m), np.ones(problem.m)))


def test_a_proof_without_constraints_is_not_one_with_them(tmp_path) -> None:
    X, y, free = training(30, 3)
    solve(X, y, 10.0, proof=tmp_path / "proof")
    for known in prior_knowledge(free).values():
        with pytest.raises(ProofError, match="not about hyperplanes with"):
            checked(tmp_path / "proof", Problem.from_data(X, y, 10.0, **known))


def forged(path: Path, source: Path, **changes: Any) -> Path:
    """A copy of a proof with another header; None removes an entry."""
    content = source.read_bytes()
    end = content.index(b"\n", len(MAGIC)) + 1
    header = json.loads(content[len(MAGIC) : end]) | changes
    header = {key: value for key, value in header.items() if value is not None}
    path.write_bytes(MAGIC + json.dumps(header).encode() + b"\n" + content[end:])
    return path


def test_forged_statements_of_constraints_are_refused(constrained, tmp_path) -> None:
    path, problem, _ = constrained
    pieces = json.loads(path.read_bytes().split(b"\n")[1])["pieces"]
    bare = [{key: value for key, value in piece.items() if key != "bounds"} for piece in pieces]
    nothing = {"trusted": None, "coef_bounds": None}
    for changes in ({}, {"pieces": bare}):
        plain = forged(tmp_path / "forged", path, **nothing, **changes)
        with pytest.raises(ProofError):
            check_proof(plain, problem.X, problem.y, problem.costs)
    if problem.bounds is not None:
        # Bounds that are so loose that the best hyperplane without any satisfies them.
        looser = (problem.bounds.lower - 1e3, problem.bounds.upper + 1e3)
        stated = Constraints(problem.n, problem.m, problem.trusted, None, looser).stated()
        with pytest.raises(ProofError):
            checked(forged(tmp_path / "forged", path, **stated), problem, coef_bounds=looser)
        for numbers in ([2 * problem.m], [-1], ["0"], None, [0.0]):
            changed = [piece | {"bounds": numbers} for piece in pieces]
            with pytest.raises((ProofError, UnreadableProofError)):
                checked(forged(tmp_path / "forged", path, pieces=changed), problem)
    if problem.trusted is not None:
        for mask in (np.arange(problem.n) == 0, problem.trusted & False):
            stated = Constraints(problem.n, problem.m, mask, None, problem.core_bounds).stated()
            with pytest.raises(ProofError):
                checked(forged(tmp_path / "forged", path, **stated), problem, trusted=mask)


def test_altered_bodies_prove_no_more(constrained, tmp_path) -> None:
    path, problem, _ = constrained
    best = solve(problem.X, problem.y, 10.0, **_constraints_of(problem), gap=1e-9).objective
    content = path.read_bytes()
    end = content.index(b"\n", len(MAGIC)) + 1
    body = zlib.decompress(content[end:])
    rng = np.random.default_rng(3)
    for place in rng.integers(len(body), size=25).tolist():
        changed = bytearray(body)
        changed[place] ^= 1 << int(rng.integers(8))
        (tmp_path / "altered").write_bytes(content[:end] + zlib.compress(bytes(changed)))
        try:
            assert checked(tmp_path / "altered", problem).bound <= best
        except (ProofError, UnreadableProofError):
            continue


def _constraints_of(problem: Problem) -> dict[str, Any]:
    return {"trusted": problem.trusted, "coef_bounds": problem.core_bounds}


# ---- parts


@pytest.mark.parametrize("scale_exponent", [-7, 0, 9, 40])
@pytest.mark.parametrize("exponent", [0, 12])
def test_rows_of_bounds_are_exact(scale_exponent, exponent) -> None:
    lower, upper = np.array([-0.1, -np.inf, 3.0]), np.array([0.7, 1e-300, 1e20])
    rows, extra = Constraints(1, 3, coef_bounds=(lower, upper)).rows([0, 1, 3, 4, 5], exponent, scale_exponent)
    expected = [(0, 1, -0.1), (0, -1, -0.7), (1, -1, -1e-300), (2, 1, 3.0), (2, -1, -1e20)]
    scale = Fraction(2) ** scale_exponent
    for (normal, demand), (column, sign, bound) in zip(rows, expected, strict=True):
        assert [(k, value / (Fraction(2) ** (exponent + extra))) for k, value in normal] == [(column, sign / scale)]
        assert demand / Fraction(2) ** extra == Fraction(bound) / scale


def test_only_trusted_samples_may_be_in_several_pieces() -> None:
    samples = Samples(np.array([[0.0], [0.0], [1.0]]), [1, 1, -1], [1.0, 1.0, 1.0])
    trusting = Constraints(3, 1, [True, False, False])
    used: set[int] = set()
    for _ in range(2):
        # Row 1 is identical to row 0, which every admissible hyperplane keeps.
        check_groups(samples, [[0, 1]], used, trusting)
    with pytest.raises(ProofError, match="used twice"):
        check_groups(samples, [[1]], used, trusting)
    with pytest.raises(ProofError, match="not identical"):
        check_groups(samples, [[0, 2]], set(), trusting)
    with pytest.raises(ProofError, match="used twice"):
        check_groups(samples, [[0, 1]], used)


@pytest.mark.parametrize(
    "given",
    [
        {"trusted": [0, 1]},
        {"trusted": [True]},
        {"monotonic_cst": [2.0]},
        {"monotonic_cst": [1, 1]},
        {"coef_bounds": ([1.0], [0.0])},
        {"coef_bounds": ([np.nan], [0.0])},
        {"coef_bounds": ([np.inf], [np.inf])},
        {"coef_bounds": ([0.0, 0.0], [1.0, 1.0])},
        {"coef_bounds": ([1.0], [2.0]), "monotonic_cst": [-1]},
    ],
    ids=str,
)
def test_unusable_constraints_are_refused(given) -> None:
    with pytest.raises(ValueError, match=r"must be|no weight"):
        Constraints(2, 1, **given)


def test_constraints_that_say_nothing_are_none() -> None:
    nothing = Constraints(2, 1, [False, False], [0], ([-np.inf], [np.inf]))
    assert nothing.stated() == Constraints(2, 1).stated() == dict.fromkeys(("trusted", "coef_bounds", "limits"))
    signs = Constraints(2, 1, coef_bounds=([-0.0], [np.inf]))
    assert signs.stated() == Constraints(2, 1, monotonic_cst=[1]).stated()
