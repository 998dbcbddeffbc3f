"""Files of proofs that cannot be written: the result of a solve is not lost."""

from __future__ import annotations

import pytest

from hardmargin import solve, verify
from hardmargin.data import generate

resource = pytest.importorskip("resource", reason="this system has no limits on the size of files")


@pytest.fixture
def small_files():
    """No file may be larger than 20 kB, as if the disk were full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.usefixtures("small_files")
@pytest.mark.parametrize(("method", "d"), [("packing", 8), ("directions", 5)])
def test_records_that_do_not_fit_cost_the_proof_only(method, d, tmp_path) -> None:
    data = generate("B", 60, d, 1)
    with pytest.warns(UserWarning, match="records of the proof could not be written; is the disk full"):
        result = solve(data.X, data.y, 1.0, method=method, proof=tmp_path / "proof")
    assert result.optimal
    assert result.proof_bound < result.lower_bound
    assert verify(result, data.X, data.y, proof=tmp_path / "proof")


def test_a_proof_that_cannot_be_written_costs_no_result(tmp_path, monkeypatch) -> None:
    def full(*_: object) -> float:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("hardmargin.proof_file.write_proof", full)
    with pytest.warns(UserWarning, match="the proof could not be written .*No space left"):
        result = solve([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1], proof=tmp_path / "proof")
    assert result.optimal
    assert result.proof_bound is None


def test_a_solve_that_ends_before_its_search_leaves_an_older_proof_alone(tmp_path) -> None:
    data = generate("B", 60, 4, 2)
    path = tmp_path / "proof"
    path.write_bytes(b"older")
    with pytest.warns(UserWarning, match="before there was a proof"):
        result = solve(data.X, data.y, 10.0, time_limit=1e-9, proof=path)
    assert result.proof_bound is None
    assert path.read_bytes() == b"older"
    assert list(tmp_path.iterdir()) == [path]
