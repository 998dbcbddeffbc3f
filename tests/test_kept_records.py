"""Proofs of solves that are saved and resumed: their records are those of all runs together."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hardmargin import Problem, Result, solve
from hardmargin.checker import check_proof
from hardmargin.checkpoint import Identity, read_checkpoint, records_folder, write_checkpoint
from hardmargin.cli.resuming import _set_aside
from hardmargin.data import generate
from hardmargin.search.recording import ProofRecorder, SampleRecords

SHORT = {"heuristic_effort": 1e-3}
WAYS: dict[str, tuple[str, dict[str, Any], int]] = {
    "packing": ("packing", {"slice": 16, "first_nodes": 5, **SHORT}, 20),
    "packing, rising targets": ("packing", {"slice": 4, "first_nodes": 1, "cover_distance": 0.0, **SHORT}, 6),
    "directions": ("directions", {"slice": 4, "first_nodes": 2}, 60),
    "blocks": ("blocks", {"first_size": 10, **SHORT}, 35),
    "auto": ("auto", {"slice": 8, "first_nodes": 3, **SHORT}, 60),
}


@pytest.fixture(scope="module")
def problem() -> Problem:
    data = generate("B", 60, 4, 2)
    return Problem.from_data(data.X, data.y, 10.0)


@pytest.fixture
def problem_of_way(way, problem) -> Problem:
    """One whose blocks can each be bounded within the limit of a run, because a run begins with whole blocks."""
    if way != "blocks":
        return problem
    data = generate("A", 90, 2, 1)
    return Problem.from_data(data.X, data.y, 10.0)


def solved(problem: Problem, way: str, path: Path, **settings: Any) -> Result:
    """Solve, and check the proof."""
    method, options, _ = WAYS[way]
    data = (problem.X, problem.y, problem.C)
    known = {"trusted": problem.trusted, "coef_bounds": problem.core_bounds}
    result = solve(*data, method=method, options=options, proof=path, **known, **settings)
    verdict = check_proof(path, problem.X, problem.y, problem.costs, **known)
    assert verdict.bound == result.proof_bound
    return result


def saved(problem: Problem, way: str, folder: Path, *, later: int = 0) -> Path:
    """The checkpoint of a solve that was ended early, or so many subproblems later."""
    limit = WAYS[way][2] + later
    result = solved(problem, way, folder / "proof", node_limit=limit, checkpoint=folder / "state")
    assert not result.optimal
    return folder / "state"


def description(problem: Problem, state: Path) -> Path:
    """The file that describes the records of a checkpoint of ``packing``."""
    content = read_checkpoint(state, Identity.of(problem, "packing"))
    return records_folder(state) / f"{content['solve']['records']}.json"


def saved_in_a_search(problem: Problem, folder: Path) -> Path:
    """A checkpoint of ``packing`` in the middle of a search, whose records are not complete."""
    for later in range(20):
        state = saved(problem, "packing", folder, later=later)
        if json.loads(description(problem, state).read_bytes())["parts"]["packing"]["records"] is not None:
            return state
        state.unlink()
        shutil.rmtree(records_folder(state))
    raise AssertionError("no search is left open at any of these limits")


def names(folder: Path) -> list[str]:
    return sorted(path.suffix for path in folder.iterdir())


def write_on(folder: Path) -> None:
    """What a run leaves that is killed after its last checkpoint: longer files, and new ones."""
    for path in folder.glob("*.records"):
        with path.open("ab") as file:
            file.write(b"more records")
    (folder / "new.records").write_bytes(b"x")


@pytest.mark.parametrize("way", WAYS)
def test_the_records_of_all_runs_make_one_proof(way, problem_of_way, tmp_path) -> None:
    state = saved(problem_of_way, way, tmp_path)
    records = tmp_path / "state.records"
    result, runs, before = None, 1, 0.0
    while result is None or not result.optimal:
        write_on(records)
        runs += 1
        limit = runs * WAYS[way][2]
        result = solved(problem_of_way, way, tmp_path / "proof", node_limit=limit, checkpoint=state, resume=state)
        assert result.proof_bound >= before
        before = result.proof_bound
        assert runs < 60
    assert runs > 2
    assert result.proof_bound >= result.lower_bound * (1 - 1e-9)
    # What no state refers to is gone.
    assert len(names(records)) <= 3
    # Nothing is left to do, and the proof is still there.
    again = solved(problem_of_way, way, tmp_path / "again", resume=state)
    assert again.proof_bound == result.proof_bound


def test_records_are_removed_with_the_state_that_needed_them(problem, tmp_path) -> None:
    state = saved(problem, "packing", tmp_path)
    records = tmp_path / "state.records"
    before = names(records)
    assert len(before) > 1
    settings = {"method": "packing", "options": WAYS["packing"][1], "resume": state}
    # The state stays as it is, and so do its records.
    solve(problem.X, problem.y, problem.C, **settings)
    assert names(records) == before
    solve(problem.X, problem.y, problem.C, **settings, checkpoint=state)
    assert not records.exists()


@pytest.mark.parametrize("way", WAYS)
def test_every_state_of_a_run_that_is_killed_has_its_records(way, problem_of_way, tmp_path) -> None:
    state, copies = tmp_path / "state", []

    def copy(*_: float) -> None:
        if state.exists() and len(copies) < 2:
            copies.append(tmp_path / f"copy{len(copies)}")
            shutil.copy(state, copies[-1])
            shutil.copytree(tmp_path / "state.records", f"{copies[-1]}.records")

    settings = {"checkpoint": state, "checkpoint_interval": 1e-9, "report": copy}
    limit = 3 * WAYS[way][2]
    solved(problem_of_way, way, tmp_path / "proof", node_limit=limit, **settings)
    assert copies
    for path in copies:
        result = solved(problem_of_way, way, tmp_path / "proof", resume=path, checkpoint=path)
        assert result.optimal
        assert result.proof_bound >= result.lower_bound * (1 - 1e-9)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("share", [0.1, 0.6])
def test_a_state_after_an_error_has_the_records_of_what_it_has_closed(way, share, problem_of_way, tmp_path) -> None:
    def fail(_: float, __: float, ___: float, nodes: int) -> None:
        if nodes >= share * WAYS[way][2]:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        solved(problem_of_way, way, tmp_path / "proof", checkpoint=tmp_path / "state", report=fail)
    # The error came when all was closed already, or before: no record is missing or there twice.
    assert solved(problem_of_way, way, tmp_path / "proof", resume=tmp_path / "state").optimal


def test_constraints_are_part_of_it(tmp_path) -> None:
    data = generate("B", 60, 4, 2)
    trusted = np.arange(60) < 2
    problem = Problem.from_data(data.X, data.y, 10.0, trusted=trusted, coef_bounds=(-0.5, 0.5))
    state = saved(problem, "directions", tmp_path)
    assert solved(problem, "directions", tmp_path / "proof", resume=state, checkpoint=state).optimal


def test_another_checkpoint_gets_records_of_its_own(problem, tmp_path) -> None:
    state = saved(problem, "packing", tmp_path)
    content = {path.name: path.read_bytes() for path in (tmp_path / "state.records").iterdir()}
    solved(problem, "packing", tmp_path / "proof", resume=state, checkpoint=tmp_path / "other", node_limit=30)
    solved(problem, "packing", tmp_path / "proof", resume=state)
    assert {path.name: path.read_bytes() for path in (tmp_path / "state.records").iterdir()} == content
    solved(problem, "packing", tmp_path / "proof", resume=tmp_path / "other")
    assert not list(tmp_path.glob(".hardmargin-proof-*"))


def test_states_without_records_are_refused(problem, tmp_path) -> None:
    plain = (problem.X, problem.y, problem.C)
    settings = {"method": "packing", "options": WAYS["packing"][1], "node_limit": 20}
    solve(*plain, **settings, checkpoint=tmp_path / "state")
    with pytest.raises(ValueError, match="was written without proof"):
        solve(*plain, **settings, resume=tmp_path / "state", proof=tmp_path / "proof")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["state"]


def test_a_state_with_records_can_be_resumed_without(problem, tmp_path) -> None:
    state = saved(problem, "packing", tmp_path)
    plain = (problem.X, problem.y, problem.C)
    settings = {"method": "packing", "options": WAYS["packing"][1]}
    assert solve(*plain, **settings, resume=state, checkpoint=state).optimal
    with pytest.raises(ValueError, match="was written without proof"):
        solve(*plain, **settings, resume=state, proof=tmp_path / "proof")


def test_missing_and_damaged_records_are_refused(problem, tmp_path) -> None:
    state = saved(problem, "packing", tmp_path)
    records = tmp_path / "state.records"
    plain = (problem.X, problem.y, problem.C)
    settings = {"method": "packing", "options": WAYS["packing"][1], "resume": state, "proof": tmp_path / "proof"}
    for pattern, change in (
        ("*.json", lambda path: path.write_bytes(path.read_bytes().replace(b"samples", b"sampled"))),
        ("*.json", lambda path: path.unlink()),
        ("*.records", lambda path: path.write_bytes(path.read_bytes()[:-1])),
        ("*.records", lambda path: path.unlink()),
    ):
        shutil.copytree(records, tmp_path / "intact")
        for path in records.glob(pattern):
            change(path)
        with pytest.raises(ValueError, match="missing or damaged"):
            solve(*plain, **settings)
        shutil.rmtree(records)
        (tmp_path / "intact").rename(records)
    assert solve(*plain, **settings).optimal


def forge(problem: Problem, state: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    """Change the description of the records of a checkpoint, hashes included."""
    identity = Identity.of(problem, "packing")
    content = read_checkpoint(state, identity)
    described = json.loads(description(problem, state).read_bytes())
    change(described)
    text = json.dumps(described).encode()
    content["solve"]["records"] = hashlib.sha256(text).hexdigest()
    (records_folder(state) / f"{content['solve']['records']}.json").write_bytes(text)
    write_checkpoint(state, identity, content)


def test_a_forged_description_cannot_have_other_files_changed(problem, tmp_path) -> None:
    other = tmp_path / "other.records"
    other.write_bytes(b"nothing but text" * 1000)

    def as_link(described: dict[str, Any]) -> None:
        name = described["parts"]["packing"]["records"]["file"]
        (tmp_path / "state.records" / name).unlink()
        (tmp_path / "state.records" / name).symlink_to(other)

    changes: list[Callable[[dict[str, Any]], Any]] = [
        lambda described: described["parts"]["packing"]["records"].update(file=str(other)),
        lambda described: described["parts"]["packing"]["records"].update(file="../other.records"),
        lambda described: described["best"].append({"files": [str(other)]}),
        lambda described: described["files"].update({"../other.records": 1}),
        lambda described: described.pop("best"),
        lambda described: described.update(best=[{}]),
        lambda described: described.update(files=1),
        as_link,
    ]
    plain = (problem.X, problem.y, problem.C)
    settings = {"method": "packing", "options": WAYS["packing"][1], "proof": tmp_path / "proof"}
    state = saved_in_a_search(problem, tmp_path)
    shutil.copy(state, tmp_path / "intact")
    shutil.copytree(tmp_path / "state.records", tmp_path / "intact.records")
    for change in changes:
        shutil.rmtree(tmp_path / "state.records")
        shutil.copytree(tmp_path / "intact.records", tmp_path / "state.records")
        shutil.copy(tmp_path / "intact", state)
        forge(problem, state, change)
        with pytest.raises(ValueError, match="missing or damaged"):
            solve(*plain, **settings, resume=state, checkpoint=state)
    assert other.read_bytes() == b"nothing but text" * 1000


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_state_whose_records_cannot_be_written_is_not_saved(tmp_path, monkeypatch) -> None:
    # An OSError is what a checkpoint that cannot be written is, and does not end the search.
    monkeypatch.setattr(ProofRecorder, "new_file", lambda _: "/dev/full")
    records = SampleRecords(ProofRecorder(tmp_path), [])
    records.sink.write(b"x")
    with pytest.raises(OSError, match="disk full"):
        records.state()


def test_records_of_a_removed_checkpoint_are_removed(problem, tmp_path) -> None:
    saved(problem, "packing", tmp_path)
    (tmp_path / "state").unlink()
    before = {path.name for path in (tmp_path / "state.records").iterdir()}
    saved(problem, "packing", tmp_path)
    assert not before & {path.name for path in (tmp_path / "state.records").iterdir() if path.suffix == ".records"}


def test_records_are_set_aside_with_their_checkpoint(problem, tmp_path) -> None:
    state = saved(problem, "packing", tmp_path)
    assert _set_aside(str(state)) == f"{state}.1"
    assert solved(problem, "packing", tmp_path / "proof", resume=f"{state}.1").optimal
    # A folder of records that somebody has left there is not in the way.
    (tmp_path / "left").write_text("")
    (tmp_path / "left.1.records").mkdir()
    assert _set_aside(str(tmp_path / "left")) == str(tmp_path / "left.2")
    (tmp_path / "link").symlink_to(f"{state}.1")
    assert _set_aside(str(tmp_path / "link")) == str(tmp_path / "link.1")
    assert solved(problem, "packing", tmp_path / "proof", resume=tmp_path / "link.1").optimal
