"""Exports a proof for the tools of the proof community: lemmas, a pseudo-Boolean problem, and its refutation."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TextIO

from numpy.typing import ArrayLike

from hardmargin.arrays import FloatArray
from hardmargin.atomic import replace_file
from hardmargin.checker import ProofError, UnreadableProofError, check_proof
from hardmargin.checker.limits import common_unit
from hardmargin.checker.piece import Piece
from hardmargin.checker.reading import Body, read_header
from hardmargin.checker.samples import Samples
from hardmargin.problem import Problem
from hardmargin.refutation.derivation import Derivation, final_line
from hardmargin.refutation.lemmas import Subject
from hardmargin.refutation.translation import refute
from hardmargin.result import Result
from hardmargin.verification import training_problem

# Costs are whole multiples of a unit; above this, they have none that is worth the name.
_LARGEST_MULTIPLE = 10**6
_INSTEAD = "solve with method='packing' and with costs that are equal or small multiples of each other"


@dataclass(frozen=True)
class ExportedProof:
    """What was written.

    Attributes
    ----------
    bound : float
        What the files prove together.
    samples, lemmas, steps : int
        Variables of the problem, its constraints but one, and the steps of the refutation.
    """

    bound: float
    samples: int
    lemmas: int
    steps: int

    def summary(self) -> str:
        """What was written, in one line."""
        return (
            f"no hyperplane has an objective below {self.bound!r}: {self.lemmas} lemmas about {self.samples} "
            f"samples, and a refutation with {self.steps} steps"
        )


def export_proof(
    result: Result,
    X: ArrayLike,
    y: ArrayLike,
    *,
    proof: str | os.PathLike[str],
    lemmas: str | os.PathLike[str],
    opb: str | os.PathLike[str],
    veripb: str | os.PathLike[str],
) -> ExportedProof:
    """Write a proof of a bound as lemmas, and a refutation of the pseudo-Boolean problem over them.

    The proof is checked first. ``docs/proofs.md`` describes the three files, and what each of them shows.

    Parameters
    ----------
    result : Result
        The model whose bound was proven.
    X, y : array-like
        The data that the model was trained on.
    proof : path
        A proof that :func:`hardmargin.solve` has written with ``method="packing"``.
    lemmas, opb, veripb : path
        The files to write: lemmas that :func:`hardmargin.refutation.check_lemmas` checks, the problem in OPB
        format, and its refutation in the format of VeriPB, version 2.0.

    Returns
    -------
    ExportedProof

    Raises
    ------
    ValueError
        If the proof does not hold, cannot be read or cannot be exported: directions, blocks, constraints, or costs
        without a common unit.
    OSError
        If a file cannot be read or written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from hardmargin import export_proof, solve
    >>> X, y = [[0.0], [1.0], [3.0], [4.0], [2.5], [2.0]], [0, 0, 1, 1, 0, 1]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     files = {name: Path(folder, name) for name in ("proof", "lemmas", "opb", "veripb")}
    ...     result = solve(X, y, C=10, method="packing", proof=files["proof"])
    ...     exported = export_proof(result, X, y, **files)
    >>> exported.bound == result.proof_bound
    True
    """
    problem = training_problem(result, X, y)
    if problem.budget is not None or problem.constrained:
        raise ValueError(
            "the model has limits on violations or prior knowledge; only proofs without them can be exported."
        )
    piece, subject, records = _content(proof, problem)
    with tempfile.TemporaryFile("w+", encoding="ascii") as steps:
        found, contradiction = refute(piece, subject, records, Derivation(steps))
        constraints = 1 + len(found)
        written = _write_refutation(veripb, steps, constraints, contradiction)
    problem_lines = subject.problem_lines(found)
    comments = [f"* #variable= {len(subject.groups)} #constraint= {constraints}"]
    _write_lines(lemmas, [*subject.lines(), *(lemma.line() for lemma in found)])
    _write_lines(opb, [*comments, *problem_lines])
    return ExportedProof(subject.bound, len(subject.groups), len(found), written)


def _content(path: str | os.PathLike[str], problem: Problem) -> tuple[Piece, Subject, list[bytes]]:
    """The samples and the records of a proof that holds."""
    try:
        verdict = check_proof(path, problem.X, problem.y, problem.costs)
    except (ProofError, UnreadableProofError) as error:
        raise ValueError(f"{os.fspath(path)}: the proof cannot be exported: {error}") from None
    if verdict.pieces == 0:
        raise ValueError(f"{os.fspath(path)}: the proof is empty, so there is nothing to export; solve for longer.")
    if verdict.kinds != ("samples",) or verdict.pieces != 1:
        what = "consists of several pieces" if verdict.pieces > 1 else "is about directions"
        raise ValueError(f"{os.fspath(path)}: the proof {what}; to export one, {_INSTEAD}.")
    samples = Samples(problem.X, problem.y, problem.costs)
    with open(path, "rb") as file:
        header = read_header(file)
        body = Body(file)
        groups = [[body.number() for _ in range(body.number())] for _ in range(body.number())]
        records = list(body.records())
    unit = _unit(problem.costs)
    if any(sum(problem.costs[group]) > _LARGEST_MULTIPLE * unit for group in groups):
        raise ValueError(f"the costs of the samples have no common unit; {_INSTEAD}.")
    piece = Piece(samples, groups, header["pieces"][0])
    return piece, Subject(samples, groups, float(piece.exact_bound), unit), records


def _unit(costs: FloatArray) -> float:
    """The largest number of which all costs are whole multiples; 1 if there are none.

    Examples
    --------
    >>> import numpy as np
    >>> _unit(np.array([2.5, 10.0, 0.0]))
    2.5
    """
    return float(common_unit({Fraction(float(cost)) for cost in costs if cost > 0}) or 1)


def _write_refutation(path: str | os.PathLike[str], steps: TextIO, constraints: int, contradiction: str) -> int:
    """Write the refutation; the number of its steps."""
    count = 0

    def lines() -> Iterator[str]:
        nonlocal count
        yield "pseudo-Boolean proof version 2.0"
        yield f"f {constraints}"
        steps.seek(0)
        for line in steps:
            count += 1
            yield final_line(line.rstrip("\n"), constraints)
        yield "output NONE"
        yield f"conclusion UNSAT : {final_line(contradiction, constraints)}"
        yield "end pseudo-Boolean proof"

    _write_lines(path, lines())
    return count


def _write_lines(path: str | os.PathLike[str], lines: Iterable[str]) -> None:
    replace_file(path, *(f"{line}\n".encode("ascii") for line in lines))
