"""``bench run --cluster``: runs on Dask workers."""

from __future__ import annotations

import pytest

from hardmargin.bench.records.record import read_records
from hardmargin.bench.running import cluster
from hardmargin.bench.running.leases import leased_cores
from hardmargin.cli import main
from hardmargin.cores import available_cores
from waiting import NEVER

distributed = pytest.importorskip("distributed", reason="the cluster extra is not installed")

WORDS = ["--generated", "--instances", "gen60d2", "--C", "10", "--sample", "3", "--time-limit", str(NEVER)]


# Dask leaves some objects to the garbage collector, which are not ours to close.
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_runs_on_workers_are_like_runs_here(tmp_path, capsys):
    out = tmp_path / "c.jsonl"
    count = min(2, len(available_cores()))
    assert main(["bench", "run", "--out", str(out), *WORDS, "--cluster", f"local:{count}"]) == 0
    assert "3 of 3 runs, 3 proven" in capsys.readouterr().out
    assert all(record.checked for record in read_records(out))


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "local:0", "local:9999"])
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_cluster_that_cannot_be_is_an_error(address, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("hardmargin.cluster.connection._TIMEOUT", 0.1)
    assert main(["bench", "run", "--out", str(tmp_path / "c.jsonl"), *WORDS, "--cluster", address]) == 2
    error = capsys.readouterr().err
    assert error.startswith("hardmargin: error: ")
    assert address in error


def test_leased_cores_are_not_given_out_twice(tmp_path):
    pytest.importorskip("fcntl")
    count = len(available_cores())
    questions = iter([True, True, False])
    with leased_cores(tmp_path, count, lambda: True) as all_cores:
        assert all_cores == available_cores()
        with leased_cores(tmp_path, 1, lambda: next(questions)) as none:
            assert none == []
    with leased_cores(tmp_path, 1, lambda: True) as one:
        assert len(one) == 1


def test_a_stopped_campaign_starts_no_run(tmp_path, monkeypatch):
    monkeypatch.setattr(cluster, "_lease_folder", lambda _: tmp_path)
    monkeypatch.setattr(cluster, "_stopped", {"campaign"})
    with pytest.raises(RuntimeError, match="stopped"):
        cluster.run_on_worker({"threads": 1}, "campaign")
