"""Proofs whose records come from the slices of a cluster."""

from __future__ import annotations

import contextlib
import math
from pathlib import Path

import pytest

from hardmargin import Problem, _core, solve
from hardmargin.checker import check_proof
from hardmargin.data import generate
from hardmargin.frontier import Frontier
from hardmargin.methods import directions, packing
from hardmargin.methods.base import Limits
from hardmargin.proof_file import write_proof
from hardmargin.search.context import Context
from hardmargin.search.recording import ProofRecorder

pytest.importorskip("distributed", reason="Dask is not installed")

from cluster_fakes import UnreliableClient
from hardmargin.cluster import engine, link, records, spread
from hardmargin.cluster.engine import ClusterEngine


@pytest.mark.filterwarnings("ignore:a worker of the cluster failed", "ignore:the cluster has no workers")
@pytest.mark.parametrize("threads", [2, 0])
@pytest.mark.parametrize("method", [packing, directions], ids=["packing", "directions"])
def test_records_of_slices_are_one_proof_whatever_becomes_of_some(method, threads, tmp_path, monkeypatch) -> None:
    """Without workers, the same slices are searched in this process."""
    for module, name, value in (
        (spread, "_FIRST_SLICE", 0.0),
        (spread, "_SLICE", 0.0),
        (spread, "_POLL", 0.001),
        (spread, "PATIENCE", math.inf if threads else 0.0),
        (link, "_CENSUS", 0.001),
        (engine, "_FEW_NODES", 0),
    ):
        monkeypatch.setattr(module, name, value)
    lost = made = 0
    options = method.Options(slice=1, heuristic_effort=0.01, first_nodes=3)
    trees = [generate(kind, 40, 4, seed) for seed in range(2) for kind in "AB"]
    for index, data in enumerate(trees):
        problem = Problem.from_data(data.X, data.y, 10.0)
        folder, proof = tmp_path / str(index), tmp_path / "proof"
        folder.mkdir()
        recorder = ProofRecorder(folder)
        with contextlib.closing(UnreliableClient(index, threads)) as client:
            cluster = ClusterEngine(client)
            context = Context(cluster, recorder=recorder)
            result = method.run(
                problem, None, Limits(time_limit=math.inf, gap=1e-6), lambda *_: None, options, context
            )
            cluster.close()
            lost, made = lost + client.lost, made + client.made
        assert result.gap <= 1e-6
        write_proof(proof, problem, recorder.pieces, result.lower_bound)
        checked = check_proof(proof, problem.X, problem.y, problem.costs)
        least = solve(data.X, data.y, 10.0).objective
        assert least * (1 - 2e-6) <= checked.bound <= least * (1 + 1e-12)
    assert made > 30 or not threads
    assert lost > 10 or not threads


def test_numbers_stay_with_their_subproblems() -> None:
    roots = [Frontier(*_core.packing_root(3, [], [], bound, 9.0)) for bound in (3.0, 1.0, 2.0)]
    frontier = records._joined(Frontier.joined(roots), [7, 2**52, 1])
    plain, numbers = records.without_numbers(frontier.by_bound())
    assert plain.bounds.tolist() == [1.0, 2.0, 3.0]
    assert numbers == [2**52, 1, 7]


def test_another_sink_gives_out_the_numbers_that_are_reserved(tmp_path) -> None:
    sink = _core.ProofSink(str(tmp_path / "here"))
    assert sink.new_number() == 1
    last = sink.reserve(10)
    assert _core.ProofSink(str(tmp_path / "there"), last).new_number() == 2
    assert sink.new_number() == 12


def test_records_of_a_slice_that_could_not_be_justified_are_no_proof(tmp_path: Path) -> None:
    sink = _core.ProofSink(str(tmp_path / "records"))
    records.Records(b"\x02ab\x01c", valid=False).add_to(sink)
    sink.close()
    assert not sink.valid
    assert (tmp_path / "records").read_bytes() == b"\x02ab\x01c"
