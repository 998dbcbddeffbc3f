"""States between all steps of a proof. The proof starts with a poor hyperplane, so that a lost subproblem shows."""

from __future__ import annotations

import math
import os

import numpy as np
import pytest

from brute_force import optimum, problems_with_trees
from hardmargin import Result, Status
from hardmargin.checkpoint import Identity, read_checkpoint, write_checkpoint
from hardmargin.methods import directions, packing
from hardmargin.methods.base import Limits
from hardmargin.methods.directions import DirectionProof
from hardmargin.methods.packing import PackingProof


@pytest.fixture(scope="module")
def problems_and_optima():
    """Problems and their optima by brute force, which takes most of the time."""
    return [(problem, optimum(problem)) for problem in problems_with_trees()]


# Small steps, and without the cover bound, so that there are more subproblems.
STEPS = {"first_nodes": 2, "later_effort": 1e-6, "slice": 1}
OPTIONS = {
    PackingProof: packing.Options(cover_distance=math.inf, **STEPS),
    DirectionProof: directions.Options(**STEPS),
}


@pytest.mark.parametrize("kind", OPTIONS)
def test_no_subproblem_is_lost_between_two_states(kind, problems_and_optima, tmp_path, monkeypatch) -> None:
    """The first hyperplane is poor, so the optimum is missed if an open subproblem is lost."""
    monkeypatch.setattr(os, "fsync", lambda _: None)
    states = improved = 0
    path = tmp_path / "state"
    for problem, least in problems_and_optima:
        found = Result.of(
            problem,
            np.zeros(problem.m),
            1.0,
            lower_bound=0.0,
            status=Status.HEURISTIC,
            method="heuristic",
            runtime=0.0,
        )
        start, identity = found.objective, Identity.of(problem, kind.kind)
        search = kind(problem, found, Limits(), lambda *_: None, OPTIONS[kind])
        while not search.proven:
            search.step_work = 1
            next(search.steps(), None)
            assert search.lower_bound <= least * (1 + 1e-9)
            write_checkpoint(path, identity, search.state())
            found = search.result()
            search = kind(problem, found, Limits(), lambda *_: None, OPTIONS[kind])
            search.restore(read_checkpoint(path, identity))
            states += 1
            assert states < 10_000
        assert search.objective == pytest.approx(least, rel=2e-6, abs=1e-12)
        improved += start > least * (1 + 1e-6)
    assert states > 100
    assert improved > 10
