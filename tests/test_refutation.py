"""Exported proofs: lemmas that hold for the data, and refutations of the problems over them."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hardmargin
from brute_force import candidates, optimum, random_case, violated
from hardmargin import Problem, Result, export_proof, solve
from hardmargin.checker import ProofError, UnreadableProofError
from hardmargin.checker.samples import Samples
from hardmargin.cli import main
from hardmargin.data import generate
from hardmargin.proof_file import write_proof
from hardmargin.refutation import ExportedProof, check_lemmas
from hardmargin.refutation import lemmas as lemmas_module
from hardmargin.refutation.lemmas import Lemma, Subject
from hardmargin.refutation.translation import LemmaPool, Translator
from pseudo_boolean import RefutationError, check_refutation, constraints_of


class Export:
    """The files of an exported proof."""

    def __init__(self, folder: Path, problem: Problem, **settings: Any) -> None:
        self.problem = problem
        self.files = {name: folder / f"model.{name}" for name in ("proof", "lemmas", "opb", "veripb")}
        method = {"method": "packing", "threads": 1, **settings}
        weights = {"sample_weight": problem.weights}
        self.result: Result = solve(problem.X, problem.y, problem.C, **weights, proof=self.files["proof"], **method)
        self.exported: ExportedProof = export_proof(self.result, problem.X, problem.y, **self.files)

    def check_lemmas(self) -> float:
        data = self.problem.X, self.problem.y, self.problem.costs
        return check_lemmas(self.files["lemmas"], self.files["opb"], *data).bound

    def check(self) -> float:
        check_refutation(self.files["opb"], self.files["veripb"])
        return self.check_lemmas()


def small_problem(index: int) -> Problem:
    """A problem with equal costs, or with costs that are multiples of a unit."""
    case = random_case(70, index)
    rng = np.random.default_rng([70, index])
    choices = ([1], [1, 2], [2, 3], [1, 1000], [1, 4])[index % 5]
    # With few digits, so that products are exact.
    C = float(np.float16(case.C)) if 1e-3 < case.C < 6e4 else float(2.0 ** np.round(np.log2(case.C)))
    weights = rng.choice(choices, len(case.y)).astype(float)
    if sum(case.y == case.y[0]) > 1:
        weights[0] = 0
    return Problem.from_data(case.X, case.y, C, sample_weight=None if len(choices) == 1 else weights)


def larger_problem(C: float = 10.0, d: int = 4, **weights: Any) -> Problem:
    data = generate("B", 60, d, 1)
    return Problem.from_data(data.X, data.y, C, **weights)


@pytest.fixture(scope="module")
def export(tmp_path_factory) -> Export:
    return Export(tmp_path_factory.mktemp("export"), larger_problem(), options={"slice": 16})


def copied(export: Export, folder: Path) -> dict[str, Path]:
    return {name: Path(shutil.copy(path, folder)) for name, path in export.files.items()}


# ---- what is exported is accepted, and is true


def test_exports_of_small_problems_hold_and_claim_no_more_than_the_optimum(tmp_path) -> None:
    for index in range(42):
        problem = small_problem(index)
        export = Export(tmp_path, problem, node_limit=3000, options={"first_nodes": 1} if index % 2 else None)
        bound = export.check()
        assert bound == export.exported.bound == export.result.proof_bound
        assert bound <= optimum(problem) * (1 + 1e-9)


def relimited(subject: Subject, lemma: Lemma) -> Lemma:
    """A lemma with the least limit for another bound."""
    return lemma._replace(limit=LemmaPool(subject).limit(subject.certificate(lemma)))


def test_no_lemma_excludes_a_hyperplane_below_the_bound(tmp_path) -> None:
    excluded = 0
    for index in range(28):
        problem = small_problem(index)
        export = Export(tmp_path, problem, node_limit=3000)
        samples = Samples(problem.X, problem.y, problem.costs)
        with export.files["lemmas"].open(encoding="ascii") as file:
            own = lemmas_module._read_subject(file, samples)
            listed = [lemmas_module._lemma(line, len(own.groups)) for line in file]
        unit = float(own.unit / 2**own.piece.unit_exponent)
        # Some hyperplanes cost less than these.
        for factor in (1.1, 1.5, 3.0):
            bound = optimum(problem) * factor
            subject = Subject(samples, own.groups, bound, unit)
            lemmas = [
                lemma for lemma in (relimited(subject, each) for each in listed) if lemma.limit < subject.most
            ]
            for lemma in lemmas:
                subject.check(lemma)
            opb = tmp_path / "other.opb"
            opb.write_text("\n".join(subject.problem_lines(lemmas)), encoding="ascii")
            constraints = constraints_of(opb)
            first = [group[0] for group in own.groups]
            for half_norms, margins in candidates(problem):
                lost = violated(margins)
                below = half_norms + lost @ problem.costs < bound * (1 - 1e-6)
                for given_up, is_below in zip(lost[:, first], below, strict=True):
                    values = {f"x{i + 1}": int(value) for i, value in enumerate(given_up)}
                    holds = all(
                        sum(abs(c) * (values[name] if c > 0 else 1 - values[name]) for name, c in terms.items())
                        >= degree
                        for terms, degree in constraints
                    )
                    assert holds or not is_below
                    excluded += not holds
    assert excluded > 0


WEIGHTS = {
    "equal": [1.0],
    "small multiples": [*[1.0] * 9, 2.0],
    "no small ones": [4.0, 5.0],
    "some certain": [*[1.0] * 9, 1e3],
}


@pytest.mark.parametrize("choices", WEIGHTS.values(), ids=WEIGHTS.keys())
@pytest.mark.parametrize(
    "options", [{"slice": 16}, {"slice": 64, "cover_distance": 0.0}], ids=["packing", "covers"]
)
def test_exports_of_trees_of_several_records_hold(choices, options, tmp_path) -> None:
    weights = np.random.default_rng(1).choice(choices, 60)
    export = Export(tmp_path, larger_problem(sample_weight=weights), options=options)
    assert export.result.optimal
    assert export.check() >= export.result.lower_bound * (1 - 1e-9)


@pytest.mark.parametrize("weights", [[1.0], [1.0, 1.0, 1.0, 2.0]], ids=["equal", "multiples"])
def test_covers_norms_and_samples_that_are_too_dear_are_translated(weights, tmp_path, monkeypatch) -> None:
    rng = np.random.default_rng(3)
    X = rng.standard_normal((50, 8))
    y = np.where(X[:, 0] + rng.standard_normal(50) > 0, 1, -1)
    reasons: list[bool] = []
    derived = Translator._too_dear

    def watched(self: Translator, sample: int) -> str:
        reasons.append(self._state.norm is not None)
        return derived(self, sample)

    monkeypatch.setattr(Translator, "_too_dear", watched)
    problem = Problem.from_data(X, y, 0.5, sample_weight=rng.choice(weights, 50))
    export = Export(tmp_path, problem, options={"cover_distance": 0.0, "first_nodes": 1})
    assert export.check() == export.result.proof_bound
    assert {True, False} == set(reasons)


def test_the_standard_checker_accepts_exports(export) -> None:
    program = shutil.which("veripb")
    if program is None:
        pytest.skip("VeriPB is not installed")
    command = [program, export.files["opb"], export.files["veripb"]]
    assert subprocess.run(command, check=False, capture_output=True).returncode == 0


# ---- nothing else is accepted


def test_a_forged_lemma_is_rejected(export, tmp_path) -> None:
    files, problem = copied(export, tmp_path), export.problem
    lines = files["lemmas"].read_text(encoding="ascii").splitlines()
    place = next(i for i, line in enumerate(lines) if line.startswith("lemma") and not line.startswith("lemma -1"))
    word, limit, *rest = lines[place].split()
    forgeries = {
        "prove too small a norm": f"{word} {int(limit) - 1} {' '.join(rest)}",
        "do not cancel the offset": f"{word} {limit} {' '.join(rest[:-1])}",
        "its limit is": f"{word} {10**6} {' '.join(rest)}",
    }
    for complaint, forged in forgeries.items():
        text = "\n".join([*lines[:place], forged, *lines[place + 1 :], ""])
        files["lemmas"].write_text(text, encoding="ascii")
        with pytest.raises(ProofError, match=complaint):
            check_lemmas(files["lemmas"], files["opb"], problem.X, problem.y, problem.costs)


def test_an_opb_file_that_says_more_than_the_lemmas_is_rejected(export, tmp_path) -> None:
    files, problem = copied(export, tmp_path), export.problem
    lines = files["opb"].read_text(encoding="ascii").splitlines()
    for forged in ([*lines, "+1 x1 >= 1 ;"], lines[:-1], [lines[0], "-1 x1 >= 0 ;", *lines[2:]]):
        files["opb"].write_text("\n".join([*forged, ""]), encoding="ascii")
        with pytest.raises(ProofError, match=r"constraint \d+ of the OPB file"):
            check_lemmas(files["lemmas"], files["opb"], problem.X, problem.y, problem.costs)


@pytest.mark.parametrize("end", ["\r", "\v", "\f", "\x1c", "\x85", "\u2028", "\t"])
def test_no_comment_of_an_opb_file_hides_a_constraint(end, export, tmp_path) -> None:
    # Programs differ in what ends a line.
    files, problem = copied(export, tmp_path), export.problem
    text = files["opb"].read_text(encoding="ascii")
    for forged in (f"*{end}-1 x1 >= 1 ;\n{text}", text.replace(" ;\n", f" ;{end}* -1 x1 >= 1 ;\n", 1)):
        files["opb"].write_bytes(forged.encode())
        with pytest.raises(ProofError, match=r"neither printable|of the OPB file"):
            check_lemmas(files["lemmas"], files["opb"], problem.X, problem.y, problem.costs)


def test_lemmas_about_other_data_or_another_bound_are_rejected(export, tmp_path) -> None:
    files, problem = copied(export, tmp_path), export.problem
    X = problem.X.copy()
    X[0] += 1
    for data in ((X, problem.y, problem.costs), (problem.X, problem.y, 1.5 * problem.costs)):
        with pytest.raises(ProofError):
            check_lemmas(files["lemmas"], files["opb"], *data)
    text = files["lemmas"].read_text(encoding="ascii")
    bound = export.exported.bound
    files["lemmas"].write_text(text.replace(repr(bound), repr(1.1 * bound)), encoding="ascii")
    with pytest.raises(ProofError):
        check_lemmas(files["lemmas"], files["opb"], problem.X, problem.y, problem.costs)


@pytest.mark.parametrize(
    "content",
    [
        "",
        "hardmargin lemmas 1\nbound 1\n",
        "hardmargin lemmas 1\nbound x\nunit 1\n",
        f"hardmargin lemmas 1\nbound 1\nunit 1\nsamples {'9' * 5000}\n",
    ],
)
def test_what_is_no_file_of_lemmas_is_unreadable(content, export, tmp_path) -> None:
    (tmp_path / "lemmas").write_text(content, encoding="ascii")
    with pytest.raises(UnreadableProofError):
        check_lemmas(
            tmp_path / "lemmas", export.files["opb"], *(getattr(export.problem, n) for n in ("X", "y", "costs"))
        )


def test_a_refutation_needs_its_lemmas(export, tmp_path) -> None:
    files = copied(export, tmp_path)
    lines = files["opb"].read_text(encoding="ascii").splitlines()
    assert len(lines) > 100
    # The lemma is replaced by what always holds, so that the others keep their numbers.
    for place in range(1, len(lines), 23):
        files["opb"].write_text("\n".join([*lines[:place], ">= 0 ;", *lines[place + 1 :], ""]), encoding="ascii")
        with pytest.raises(RefutationError):
            check_refutation(files["opb"], files["veripb"])


# ---- independence, refusals, the command line


def test_the_lemma_checker_imports_only_the_checker_and_the_standard_library() -> None:
    for node in ast.walk(ast.parse(Path(lemmas_module.__file__).read_text(encoding="utf-8"))):
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        for name in names:
            assert name.startswith("hardmargin.checker.") or name.split(".")[0] in sys.stdlib_module_names, name


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"method": "directions"}, "is about directions"),
        ({"method": "blocks", "options": {"first_size": 4, "last_size": 5}}, "several pieces"),
        ({"sample_weight": np.linspace(0.7, 1.9, 30)}, "no common unit"),
    ],
    ids=["directions", "blocks", "costs"],
)
def test_other_proofs_are_refused(settings, complaint, tmp_path) -> None:
    data = generate("A", 30, 2, 1)
    weights = {"sample_weight": settings.pop("sample_weight", None)}
    files = {name: tmp_path / name for name in ("proof", "lemmas", "opb", "veripb")}
    result = solve(data.X, data.y, 10.0, **weights, **{"method": "packing", **settings}, proof=files["proof"])
    with pytest.raises(ValueError, match=rf"{complaint}.*method='packing'"):
        export_proof(result, data.X, data.y, **files)
    assert not files["lemmas"].exists()


def test_a_proof_of_nothing_is_refused(export, tmp_path) -> None:
    write_proof(tmp_path / "proof", export.problem, [], 0.0)
    files = {name: tmp_path / name for name in export.files}
    with pytest.raises(ValueError, match="is empty"):
        export_proof(export.result, export.problem.X, export.problem.y, **files)


def test_prior_knowledge_is_refused(export, tmp_path) -> None:
    problem = export.problem
    result = solve(problem.X, problem.y, problem.C, monotonic_cst=[1, 0, 0, 0], node_limit=1)
    with pytest.raises(ValueError, match="prior knowledge"):
        export_proof(result, problem.X, problem.y, **{**export.files, "lemmas": tmp_path / "lemmas"})


def test_the_commands(tmp_path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["generate", "--type", "B", "--n", "20", "--d", "2", "--output", "data.txt"]) == 0
    solve_it = ["solve", "data.txt", "--C", "10", "--method", "packing", "--json", "model.json", "--quiet"]
    assert main([*solve_it, "--proof", "model.proof"]) == 0
    written = ["--lemmas", "model.lemmas", "--opb", "model.opb"]
    assert (
        main(["export-proof", "model.json", "data.txt", "--proof", "model.proof", *written, "--veripb", "p"]) == 0
    )
    assert "lemmas about 20 samples" in capsys.readouterr().out
    check = ["check-lemmas", "model.json", "data.txt", *written]
    assert main(check) == 0
    assert "lemmas hold" in capsys.readouterr().out
    overwriting = ["--lemmas", "model.proof", "--opb", "model.opb", "--veripb", "p"]
    assert main(["export-proof", "model.json", "data.txt", "--proof", "model.proof", *overwriting]) == 2
    assert "model.proof" in capsys.readouterr().err
    opb = Path("model.opb")
    opb.write_text(opb.read_text(encoding="ascii") + "+1 x1 >= 1 ;\n", encoding="ascii")
    assert main(check) == 1
    assert "DOES NOT HOLD" in capsys.readouterr().out
    Path("model.lemmas").write_text("nothing", encoding="ascii")
    assert main(check) == 2
    assert "not a file of lemmas" in capsys.readouterr().err
    assert hardmargin.export_proof is export_proof
