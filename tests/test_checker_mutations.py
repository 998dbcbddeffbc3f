"""Proofs of small problems, altered at random: none claims more than the optimum and is accepted, none crashes."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from brute_force import case_and_optimum
from budget_cases import optimum, problem_of, random_limits
from forged_proofs import PieceNumbers, body_of, parts, pieces_of, write
from hardmargin import BudgetError, Problem, solve
from hardmargin.checker import ProofError, UnreadableProofError, check_proof

_ROUNDING = 1e-9
_MUTANTS = 800
# Smaller proofs have hardly any steps, larger ones take too long to check.
_BODY_BYTES = range(100, 2000)
_PROOFS = 3

WAYS: dict[str, tuple[str, dict[str, Any] | None]] = {
    "packing": ("packing", None),
    "packing with targets and covers": ("packing", {"cover_distance": 0.0, "first_nodes": 1}),
    "directions": ("directions", None),
    "directions in short slices": ("directions", {"slice": 3}),
    "blocks that stay small": ("blocks", {"first_size": 4, "last_size": 5}),
    "auto": ("auto", None),
    "packing within limits": ("packing", None),
    "packing within limits, with targets and covers": ("packing", {"cover_distance": 0.0, "first_nodes": 1}),
    "auto within limits": ("auto", {"first_nodes": 1}),
}

# Steps, limits of fields, and the upper halves of infinity, the largest number, -0 and 1.
NUMBERS = [*range(12), *range(20, 32), 127, 128, 1 << 16, 1 << 32, 1 << 52, (1 << 63) - 1]
NUMBERS += [0x7FF00000, 0x7FEFFFFF, 0x80000000, 0x3FF00000]


class Proof(NamedTuple):
    """A proof, taken apart, and the optimum of its problem."""

    problem: Problem
    best: float
    raw: bytes
    header: dict[str, Any]
    body: bytes
    pieces: list[PieceNumbers]


def proofs(way: str, folder: Path) -> list[Proof]:
    """Proofs of the first problems that have small ones."""
    method, options = WAYS[way]
    path = folder / "proof"
    found: list[Proof] = []
    for index in range(100):
        case, best = case_and_optimum(43, index)
        limits = random_limits(43, index, case) if "limits" in way else None
        problem = problem_of(case, limits)
        settings = {"method": method, "options": options, "node_limit": 300, "max_violations": limits}
        try:
            solve(case.X, case.y, case.C, **case.weights, **settings, proof=path)
        except BudgetError:
            continue
        best = best if limits is None else optimum(problem)
        header, body = parts(path)
        if len(body) in _BODY_BYTES and header["bound"] > 0:
            found.append(Proof(problem, best, path.read_bytes(), header, body, pieces_of(header, body, problem.m)))
        if len(found) == _PROOFS:
            break
    return found


def replacement(rng: random.Random, numbers: list[int], value: int) -> list[int]:
    """What replaces one of the numbers."""
    kind, other = rng.randrange(7), rng.randrange(len(numbers))
    if kind == 0:
        return [rng.choice(NUMBERS)]
    if kind == 1:
        return [max(0, value + rng.choice([-2, -1, 1, 2]))]
    if kind == 2:
        return [value ^ 1 << rng.randrange(min(62, value.bit_length() + 1))]
    if kind == 3:
        return [min(2 * value, 1 << 62)]
    if kind == 4:
        return [numbers[other]]
    if kind == 5:
        return [value, *numbers[other : other + rng.randrange(1, 12)]]
    return []


def altered_numbers(rng: random.Random, numbers: list[int]) -> list[int]:
    numbers = [*numbers]
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        place = rng.randrange(len(numbers))
        numbers[place : place + 1] = replacement(rng, numbers, numbers[place])
        numbers = numbers or [0]
    return numbers


def altered_pieces(rng: random.Random, pieces: list[PieceNumbers]) -> bytes:
    """The lengths of records fit: what is altered is what they say."""
    place = rng.randrange(len(pieces))
    before, records = pieces[place].before, [*pieces[place].records]
    which = rng.randrange(len(records))
    kind = rng.randrange(10)
    if kind == 0:
        before = altered_numbers(rng, before)
    elif kind == 1:
        records.append(altered_numbers(rng, records[which]))
    else:
        records[which] = altered_numbers(rng, records[which])
    return body_of([*pieces[:place], PieceNumbers(before, records), *pieces[place + 1 :]])


def altered_bits(rng: random.Random, content: bytes) -> bytes:
    altered = bytearray(content)
    for _ in range(rng.choice([1, 1, 3])):
        altered[rng.randrange(len(altered))] ^= 1 << rng.randrange(8)
    return bytes(altered)


def altered_header(rng: random.Random, header: dict[str, Any], best: float) -> dict[str, Any]:
    """Half of them claim more than the optimum, by little or by much."""
    pieces = [dict(piece) for piece in header["pieces"]]
    bound = header["bound"]
    if rng.random() < 0.5:
        factor = best / bound * (1 + 10 ** rng.uniform(-8, 0.5))
        bound *= factor
        for piece in pieces:
            piece["bound"] *= factor * (1 + 1e-13)
    if rng.random() < 0.1:
        piece = rng.choice(pieces)
        key = rng.choice(
            ["exponent", "share", "bound", "kind", *(["prices", "limited"] if "prices" in piece else [])]
        )
        values = {
            "exponent": [piece["exponent"] + change for change in (-40, -2, -1, 1, 2, 40, 65000)],
            "share": [1.0, 5e-324, 1e-300, piece["share"] / 2, piece["share"] * (1 - 1e-9)],
            "bound": [5e-324, 1e300, piece["bound"] * 2, piece["bound"] / 2],
            "kind": ["samples", "directions"],
            "prices": [
                *([change * price for price in piece.get("prices", [])] for change in (0.0, 0.5, 2.0, 1e300, -1.0)),
                [],
            ],
            "limited": [True, False],
        }
        piece[key] = rng.choice(values[key])
    return header | {"bound": bound, "pieces": pieces}


@pytest.mark.parametrize("way", WAYS)
def test_altered_proofs_prove_no_more_than_the_optimum_and_never_crash(way, tmp_path) -> None:
    rng = random.Random(f"mutants of {way}")
    file = tmp_path / "mutant"
    originals = proofs(way, tmp_path)
    assert len(originals) == _PROOFS
    accepted = 0
    for count in range(_MUTANTS):
        proof = originals[count % len(originals)]
        problem, best = proof.problem, proof.best
        kind = rng.randrange(5)
        if kind == 0:
            file.write_bytes(altered_bits(rng, proof.raw))
        else:
            header = altered_header(rng, proof.header, best)
            body = altered_bits(rng, proof.body) if kind == 1 else altered_pieces(rng, proof.pieces)
            write(file, header, body)
        try:
            limits = problem.budget and problem.budget.as_argument((-1, 1))
            verdict = check_proof(file, problem.X, problem.y, problem.costs, max_violations=limits)
        except (ProofError, UnreadableProofError):
            continue
        # Another multiplier may prove the same.
        accepted += 1
        assert verdict.bound <= best * (1 + _ROUNDING)
    assert 0 < accepted < 0.3 * _MUTANTS
