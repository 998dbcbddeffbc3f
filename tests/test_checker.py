"""Proofs in files: what solve writes is accepted, and nothing else is."""

from __future__ import annotations

import ast
import random
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import hardmargin
from brute_force import case_and_optimum, random_case, start_from_nothing
from forged_proofs import PieceNumbers, body_of, doubles, parts, pieces_of, write
from hardmargin import Problem, Result, solve
from hardmargin.checker import ProofError, UnreadableProofError, Verdict, check_proof, regions
from hardmargin.checker.checking import _Coverage
from hardmargin.checker.decisions import Outcome
from hardmargin.checker.frame import Frame
from hardmargin.checker.piece import Piece
from hardmargin.checker.reading import MAGIC, decoded
from hardmargin.checker.samples import Samples, exponent_of, samples_hash, scaled
from hardmargin.data import generate
from hardmargin.search import primal
from hardmargin.search.recording import number_bytes

CHECKER = Path(hardmargin.__file__).parent / "checker"


def checked(path: Path, problem: Problem, **settings: Any) -> Verdict:
    return check_proof(path, problem.X, problem.y, problem.costs, **settings)


# ---- independence


@pytest.mark.parametrize("module", sorted(CHECKER.glob("*.py")), ids=lambda path: path.stem)
def test_the_checker_imports_only_itself_numpy_and_the_standard_library(module) -> None:
    allowed = {*sys.stdlib_module_names, "numpy"}
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        for name in names:
            assert name.startswith("hardmargin.checker") or name.split(".")[0] in allowed, name


def test_the_checker_is_short_enough_to_be_read() -> None:
    assert sum(len(module.read_text(encoding="utf-8").splitlines()) for module in CHECKER.glob("*.py")) < 2600


# ---- what solve writes is accepted, and is true

WAYS = {
    "packing": ("packing", None, 1),
    "packing with targets and covers": ("packing", {"cover_distance": 0.0, "first_nodes": 1}, 1),
    "packing, threads": ("packing", {"first_nodes": 1}, 2),
    "directions": ("directions", None, 1),
    "directions, threads and short slices": ("directions", {"slice": 3}, 2),
    "blocks": ("blocks", {"first_size": 4}, 1),
    "blocks that stay small": ("blocks", {"first_size": 4, "last_size": 5}, 1),
    "auto": ("auto", None, 1),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("from_nothing", [False, True], ids=["from a good start", "from nothing"])
def test_proofs_hold_and_claim_no_more_than_the_optimum(way, from_nothing, tmp_path, monkeypatch) -> None:
    method, options, threads = WAYS[way]
    if from_nothing:
        monkeypatch.setattr(primal, "search", primal.search)
        start_from_nothing()
    for index in range(14 if from_nothing else 28):
        case, best = case_and_optimum(40 + from_nothing, index)
        problem = Problem.from_data(case.X, case.y, case.C, **case.weights)
        limits = {"node_limit": 3000, "threads": threads, "options": options, "proof": tmp_path / "proof"}
        result = solve(case.X, case.y, case.C, **case.weights, method=method, **limits)
        verdict = checked(tmp_path / "proof", problem)
        assert verdict.bound == result.proof_bound
        assert verdict.bound <= best * (1 + 1e-9)
        if result.optimal and not (from_nothing or "small" in way):
            assert verdict.bound >= result.lower_bound * (1 - 2e-8)


@pytest.mark.parametrize("index", [140, 145, 229])
def test_regions_that_were_stuck_below_a_far_larger_objective_do_not_leave_a_proof_incomplete(
    index, tmp_path, monkeypatch
) -> None:
    """From w = 0, with a very distant outlier and a large penalty: the first hyperplanes cost 1e13 and more."""
    monkeypatch.setattr(primal, "search", primal.search)
    start_from_nothing()
    rng = np.random.default_rng([5, index, 8])
    case = random_case(5, index)
    case.X[rng.integers(len(case.X))] *= 10 ** rng.uniform(3, 7)
    C = case.C * 10 ** np.random.default_rng([5, index, 7]).uniform(0, 6)
    result = solve(case.X, case.y, C, **case.weights, method="directions", proof=tmp_path / "proof")
    assert result.optimal
    verdict = checked(tmp_path / "proof", Problem.from_data(case.X, case.y, C, **case.weights))
    assert verdict.bound == result.proof_bound >= result.lower_bound * (1 - 2e-8)


def larger_problem(kind: str = "B", n: int = 60, d: int = 4, C: float = 10.0, **weights: Any) -> Problem:
    data = generate(kind, n, d, 1)
    return Problem.from_data(data.X, data.y, C, **weights)


def solved(problem: Problem, path: Path, **settings: Any) -> Result:
    return solve(problem.X, problem.y, problem.C, sample_weight=problem.weights, proof=path, **settings)


def weights(*choices: float) -> dict[str, Any]:
    return {"sample_weight": np.random.default_rng(1).choice(choices, 60)}


# Samples of weight 1e3 cost more than any good hyperplane: no better one gives them up.
COSTS = {
    "equal": {},
    "unequal": weights(0.5, 1.0, 2.5),
    "small multiples": weights(*[1.0] * 9, 2.0),
    "some certain": weights(*[1.0] * 9, 1e3),
    "some certain, others unequal": weights(0.5, 1.0, 0.7, 1.0, 1.3, 1.0, 1e3),
}


@pytest.mark.parametrize("method", ["packing", "directions"])
@pytest.mark.parametrize("weights", COSTS.values(), ids=COSTS.keys())
def test_trees_of_several_records_hold(method, weights, tmp_path) -> None:
    problem = larger_problem(**weights)
    result = solved(problem, tmp_path / "proof", method=method, options={"slice": 16})
    assert result.optimal
    verdict = checked(tmp_path / "proof", problem)
    assert verdict.bound >= result.lower_bound * (1 - 1e-9)
    assert verdict.records > 2
    assert verdict.kinds == ("samples" if method == "packing" else "directions",)


@pytest.mark.parametrize("method", ["packing", "directions", "auto"])
@pytest.mark.parametrize("largest", [1e4, 1e6, 1e9, 1e13])
def test_weights_are_exact_enough_beside_far_larger_ones(method, largest, tmp_path) -> None:
    costs = np.array([largest, 0.3, 0.1, largest])
    for scale in (1.0, 2.5e-6):
        problem = Problem.from_data(
            scale * np.array([[0.0], [1.0], [1.0], [0.0]]), [1, -1, -1, 1], sample_weight=costs
        )
        result = solved(problem, tmp_path / "proof", method=method)
        assert result.optimal
        assert checked(tmp_path / "proof", problem).bound >= result.lower_bound * (1 - 1e-9)


def test_the_lengths_of_regions_count_if_the_objective_allows_far_longer_weights(tmp_path) -> None:
    rng = np.random.default_rng([64, 7])
    rng.integers(15, 50), rng.integers(2, 5)
    X, y = rng.integers(-2, 3, (33, 4)).astype(float), np.where(rng.random(33) < 0.5, 1, -1)
    y[:2] = 1, -1
    problem = Problem.from_data(X, y, 1e19)
    result = solved(problem, tmp_path / "proof", method="directions")
    assert result.optimal
    assert checked(tmp_path / "proof", problem).bound >= result.lower_bound * (1 - 1e-9)


def test_processes_share_the_work(tmp_path, monkeypatch) -> None:
    problem = larger_problem()
    solved(problem, tmp_path / "proof", method="directions", options={"slice": 16})
    monkeypatch.setattr("hardmargin.checker.checking._BATCH", 1)
    seen: list[int] = []
    alone = checked(tmp_path / "proof", problem, progress=seen.append)
    assert seen == sorted(seen)
    assert len(seen) > 2
    assert checked(tmp_path / "proof", problem, processes=2) == alone


def test_sparse_samples_have_the_same_proof(tmp_path) -> None:
    problem = larger_problem()
    solved(problem, tmp_path / "proof", method="packing")
    verdict = check_proof(tmp_path / "proof", csr_array(problem.X), problem.y, problem.costs)
    assert verdict == checked(tmp_path / "proof", problem)


def test_a_stopped_search_has_a_proof_of_what_was_complete(tmp_path) -> None:
    problem = larger_problem()
    result = solved(problem, tmp_path / "proof", method="directions", node_limit=2)
    verdict = checked(tmp_path / "proof", problem)
    assert 0 < verdict.bound <= result.lower_bound
    assert f"{verdict.bound:.9g}" in result.summary()


def test_the_last_proven_target_counts(tmp_path) -> None:
    problem = larger_problem(n=80, d=8, C=1.0)
    options = {"first_nodes": 1, "later_effort": 1e-3, "heuristic_effort": 1e-3}
    result = solved(problem, tmp_path / "proof", method="packing", options=options, node_limit=300)
    assert checked(tmp_path / "proof", problem).bound <= result.objective


def test_what_a_proof_cannot_be_written_for_is_refused(tmp_path) -> None:
    with pytest.raises(ValueError, match="proof"):
        solve([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1], proof=tmp_path / "proof", method="heuristic")
    assert list(tmp_path.iterdir()) == []


def test_nothing_but_the_proof_is_left_behind(tmp_path) -> None:
    solved(larger_problem(), tmp_path / "proof", method="auto")
    assert [path.name for path in tmp_path.iterdir()] == ["proof"]
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        solved(larger_problem(), tmp_path / "missing" / "proof")
    with pytest.raises(IsADirectoryError, match="expected a file"):
        solved(larger_problem(), tmp_path)


# ---- other data

OTHERS = {
    "a value": lambda p: (np.where(np.arange(p.X.size).reshape(p.X.shape) == 5, p.X + 1e-9, p.X), p.y, p.costs),
    "a label": lambda p: (p.X, np.where(np.arange(p.n) == 3, -p.y, p.y), p.costs),
    "C": lambda p: (p.X, p.y, p.costs * 1.0000001),
    "a weight": lambda p: (p.X, p.y, np.where(np.arange(p.n) == 3, 2 * p.costs, p.costs)),
    "fewer rows": lambda p: (p.X[1:], p.y[1:], p.costs[1:]),
    "the order of rows": lambda p: (p.X[::-1], p.y[::-1], p.costs[::-1]),
}


@pytest.mark.parametrize("change", OTHERS.values(), ids=OTHERS.keys())
def test_a_proof_for_other_data_is_refused(change, small_proof) -> None:
    path, problem, _ = small_proof
    with pytest.raises(ProofError, match=r"not those of the proof|samples; the data are"):
        check_proof(path, *change(problem))


# ---- altered proofs


@pytest.fixture(scope="module", params=["packing", "directions", "blocks"])
def small_proof(request, tmp_path_factory) -> tuple[Path, Problem, float]:
    """A proof, its problem and the optimum, up to the gap."""
    problem = larger_problem(n=30, d=3)
    path = tmp_path_factory.mktemp("proof") / "proof"
    options = {"first_size": 10, "last_size": 15} if request.param == "blocks" else None
    solved(problem, path, method=request.param, options=options)
    best = solve(problem.X, problem.y, problem.C, gap=1e-9).objective
    assert checked(path, problem).bound > 0
    return path, problem, best


def alterations(body: bytes, count: int) -> Iterator[bytes]:
    rng = random.Random(7)
    for _ in range(count):
        altered, place = bytearray(body), rng.randrange(len(body))
        altered[place] ^= 1 << rng.randrange(8)
        yield bytes(altered)
        yield body[:place] + body[place + rng.randrange(1, 9) :]
        yield body[:place] + bytes([rng.randrange(256)]) + body[place:]


def test_altered_bodies_prove_no_more_and_never_crash(small_proof, tmp_path) -> None:
    path, problem, best = small_proof
    header, body = parts(path)
    accepted = total = 0
    for altered in alterations(body, 60):
        total += 1
        try:
            bound = checked(write(tmp_path / "altered", header, altered), problem).bound
        except (ProofError, UnreadableProofError):
            continue
        # Another multiplier, or a pair less, may prove the same.
        accepted += 1
        assert bound == header["bound"] <= best
    assert accepted < 0.3 * total


def test_files_that_are_cut_off_or_damaged_are_unreadable(small_proof, tmp_path) -> None:
    path, problem, _ = small_proof
    content = path.read_bytes()
    begin = content.index(b"\n", len(MAGIC)) + 1
    rng = random.Random(3)
    for _ in range(40):
        (tmp_path / "cut").write_bytes(content[: rng.randrange(len(content))])
        with pytest.raises(UnreadableProofError):
            checked(tmp_path / "cut", problem)
        damaged = bytearray(content)
        damaged[rng.randrange(begin, len(content))] ^= 1 << rng.randrange(8)
        (tmp_path / "damaged").write_bytes(damaged)
        with pytest.raises((ProofError, UnreadableProofError)):
            checked(tmp_path / "damaged", problem)
    (tmp_path / "longer").write_bytes(content + b"x")
    with pytest.raises(UnreadableProofError, match="follows"):
        checked(tmp_path / "longer", problem)


HEADERS = {
    "not an object": lambda h: [h],
    "no bound": lambda h: h | {"bound": None},
    "an infinite bound": lambda h: h | {"bound": float("inf")},
    "no pieces": lambda h: h | {"pieces": None},
    "fewer pieces": lambda h: h | {"pieces": h["pieces"][1:]},
    "more pieces": lambda h: h | {"pieces": [*h["pieces"], h["pieces"][0]]},
    "another kind": lambda h: with_pieces(h, kind="magic"),
    "no share": lambda h: with_pieces(h, share=None),
    "no norm": lambda h: with_pieces(h, share=0.0),
    "twice the norm": lambda h: with_pieces(h, share=2.0),
    "a huge exponent": lambda h: with_pieces(h, exponent=10**9),
    "a larger bound": lambda h: h | {"bound": h["bound"] * (1 + 1e-9)},
    "a huge bound": lambda h: with_pieces(h, bound=1e308) | {"bound": 1e307},
    "a negative bound": lambda h: with_pieces(h, bound=-1.0) | {"bound": -1.0},
}


def with_pieces(header: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return header | {"pieces": [piece | changes for piece in header["pieces"]]}


@pytest.mark.parametrize("change", HEADERS.values(), ids=HEADERS.keys())
def test_altered_headers_are_refused(change, small_proof, tmp_path) -> None:
    path, problem, _ = small_proof
    header, body = parts(path)
    with pytest.raises((ProofError, UnreadableProofError)):
        checked(write(tmp_path / "altered", change(header), body), problem)


def test_bounds_above_the_optimum_are_refused(small_proof, tmp_path) -> None:
    path, problem, best = small_proof
    header, body = parts(path)
    for factor in (1 + 1e-6, 1.001, 1.1, 2.0, 1e9):
        scale = factor * best / header["bound"]
        raised = [piece | {"bound": scale * piece["bound"]} for piece in header["pieces"]]
        altered = write(tmp_path / "altered", header | {"bound": factor * best, "pieces": raised}, body)
        with pytest.raises(ProofError):
            checked(altered, problem)


@pytest.mark.parametrize("method", ["packing", "directions"])
def test_no_record_can_be_left_out_or_repeated(method, tmp_path) -> None:
    problem = larger_problem()
    solved(problem, tmp_path / "proof", method=method, options={"slice": 16})
    header, body = parts(tmp_path / "proof")
    ((before, records),) = pieces_of(header, body, problem.m)

    def check(chosen: list[list[int]]) -> Verdict:
        altered = body_of([PieceNumbers(before, chosen)])
        return checked(write(tmp_path / "altered", header, altered), problem)

    assert check(records[::-1]).records == len(records) > 3
    for place in range(min(len(records), 8)):
        with pytest.raises(ProofError, match="left open"):
            check(records[:place] + records[place + 1 :])
        with pytest.raises(ProofError, match="two records"):
            check([*records, records[place]])


def test_what_is_not_a_proof_is_unreadable(tmp_path) -> None:
    problem = larger_problem(n=10, d=2)
    for content in (b"", b"x", MAGIC, MAGIC + b"{}\n", MAGIC + b"\xff\n", b'{"objective": 1}'):
        (tmp_path / "other").write_bytes(content)
        with pytest.raises(UnreadableProofError):
            checked(tmp_path / "other", problem)
    with pytest.raises(FileNotFoundError):
        checked(tmp_path / "missing", problem)


# ---- parts of the checker


def test_numbers_are_read_as_they_are_written() -> None:
    numbers = [0, 1, 127, 128, 300, 2**32, 2**62]
    assert decoded(b"".join(map(number_bytes, numbers))) == numbers
    assert decoded(b"") == []
    for record in (b"\x80", b"\x01\x80", b"\xff" * 10 + b"\x01"):
        with pytest.raises(UnreadableProofError):
            decoded(record)


def test_floats_become_integers_exactly() -> None:
    values = [0.1, -3.0, 1e-300, 5e-324, 1e10, 0.0]
    exponent = exponent_of(values)
    assert [Fraction(scaled(value, exponent), 2**exponent) for value in values] == [Fraction(v) for v in values]
    assert exponent_of([1.5, 0.25]) == 2
    assert exponent_of([]) == exponent_of([4.0]) == 0


def test_the_hash_of_samples_sees_values_and_places() -> None:
    X = np.array([[1.0, 0.0], [0.0, 2.0]])
    assert samples_hash(X) == samples_hash(csr_array(X)) == samples_hash(np.where(X == 0, -0.0, X))
    assert len({samples_hash(each) for each in (X, X.T, X[:, ::-1], X[:1], np.hstack([X, 0 * X]))}) == 4


def forged_record(*steps: int, sign: int = 0) -> bytes:
    """A record of one whole face of the cube of one axis."""
    side = -1.0 if sign else 1.0
    return b"".join(map(number_bytes, [1 + sign, 0, 0, sign, *doubles(side, side, 0.0, 9.0), *steps]))


@pytest.mark.parametrize("sign", [0, 1])
def test_the_sample_of_a_case_is_not_kept_in_it(sign) -> None:
    """Giving it up is paid for already: a record that counts its cost once more proves too much."""
    # The optimum is 1: one of the two is given up. In either direction both cannot be kept below 1.5.
    samples = Samples(np.array([[0.0], [1.0]]), [1.0, -1.0], [1.0, 1.0])
    piece = Piece(samples, [[0], [1]], {"kind": "directions", "share": 1.0, "bound": 1.5, "exponent": 0}, [1, 1])
    frame = Frame(samples, piece.rows, np.eye(1), regions.longest_of(piece, piece.bound), 0)
    both_kept = [2, 0, 1, 2, 1]
    no_changes = [0, 0]

    def case(given_up: int) -> list[int]:
        # The other one is kept, so this one is given up; and no certificate follows.
        deduction = [1, int(given_up == 1), 0, 1, 0]
        return [regions.Step.CASE, given_up, *no_changes, regions.Step.CLOSE_EXACTLY, *deduction, 0]

    steps = [regions.Step.CASES, *both_kept, *case(0), *case(1), regions.Step.END_CASES]
    with pytest.raises(ProofError, match="too small a norm"):
        regions.check_record(piece, frame, forged_record(*steps, sign=sign))
    # The pair itself conflicts, and one of the two is not enough.
    pair = [regions.Step.PAIRS, 0, 1, 0, 1, 0, 0]
    with pytest.raises(ProofError, match="below the bound"):
        regions.check_record(piece, frame, forged_record(*pair, regions.Step.CLOSE, sign=sign))


def test_what_is_left_open_is_not_taken_for_a_root() -> None:
    roots = dict.fromkeys((1, 2), regions.ROOT)
    coverage = _Coverage(roots)
    coverage.take(Outcome(1, regions.ROOT, [(2, b"a part of face 1")], 1))
    coverage.take(Outcome(2, regions.ROOT, [], 1))
    with pytest.raises(ProofError, match="does not start from"):
        coverage.check()


def test_records_rely_only_on_later_ones() -> None:
    coverage = _Coverage({0: b"x"})
    with pytest.raises(ProofError, match="larger number"):
        coverage.take(Outcome(3, b"x", [(3, b"x")], 1))
    with pytest.raises(ProofError, match="larger number"):
        _Coverage({0: b"x"}).take(Outcome(3, b"x", [(1, b"y")], 1))
    coverage = _Coverage({0: b"x"})
    coverage.take(Outcome(0, b"x", [(5, b"y")], 1))
    with pytest.raises(ProofError, match="different decisions"):
        coverage.take(Outcome(1, b"x", [(5, b"z")], 1))
