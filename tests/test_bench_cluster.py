"""``bench run --cluster``: runs on Dask workers."""

from __future__ import annotations

import pytest

from hardmargin.bench.machine import available_cores
from hardmargin.bench.records import read_records
from hardmargin.cli import main

distributed = pytest.importorskip("distributed", reason="the cluster extra is not installed")

WORDS = ["--generated", "--instances", "gen60d2", "--C", "10", "--sample", "3", "--time-limit", "20"]


# What Dask leaves to the garbage collector is not ours to tidy up.
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
    monkeypatch.setattr("hardmargin.bench.cluster._CONNECT_SECONDS", 1)
    assert main(["bench", "run", "--out", str(tmp_path / "c.jsonl"), *WORDS, "--cluster", address]) == 2
    assert "hardmargin: error: --cluster" in capsys.readouterr().err
