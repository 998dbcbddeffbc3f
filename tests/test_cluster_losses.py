"""Slices that are lost, late or broken. The search starts without a solution, so that a lost subproblem shows."""

from __future__ import annotations

import contextlib
import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from brute_force import optimum, problems_with_trees
from hardmargin.frontier import Frontier
from hardmargin.problem import Problem
from hardmargin.search.engine import Search, SearchResult
from hardmargin.search.roots import direction_root, packing_root
from hardmargin.search.settings import DirectionSettings, PackingSettings

pytest.importorskip("distributed", reason="Dask is not installed")

from cluster_fakes import UnreliableClient
from hardmargin.cluster import link, spread
from hardmargin.cluster.engine import ClusterEngine
from hardmargin.cluster.waiting import Clock
from hardmargin.cluster.worker import Slice


def exhausted(problem: Problem, client, search: Search) -> SearchResult:
    """The result if the search continues after every pause."""
    cluster, open_ = ClusterEngine(client), packing_root(problem, 0.0, search.upper)
    upper = search.upper
    for _ in range(1000):
        found = cluster.search(problem, open_, replace(search, upper=upper), None)
        upper = min(upper, found.objective)
        if found.exhausted:
            break
        assert found.nodes > 0, "nothing was done before the pause"
        open_ = Frontier(*found.open)
    cluster.close()
    return found


@pytest.mark.filterwarnings("ignore:a worker of the cluster failed", "ignore:the cluster has no workers")
@pytest.mark.parametrize("threads", [2, 0])
def test_a_search_that_pauses_all_the_time_gets_on(threads, monkeypatch) -> None:
    """Even if there are no workers."""
    # Without workers, waiting for one would only take time.
    monkeypatch.setattr(spread, "PATIENCE", math.inf if threads else 0.0)
    problem = list(problems_with_trees())[-1]
    search = Search(PackingSettings(gap=1e-6), float(problem.costs.sum()), math.inf, pause=0.0)
    with contextlib.closing(UnreliableClient(1, threads)) as client:
        found = exhausted(problem, client, search)
    assert found.exhausted
    assert found.lower_bound == pytest.approx(optimum(problem), rel=2e-6)


@pytest.mark.filterwarnings("ignore:a worker of the cluster failed")
@pytest.mark.parametrize("kind", ["packing", "directions"])
def test_no_subproblem_is_lost_whatever_becomes_of_slices(kind, monkeypatch) -> None:
    # Slices as short as possible, so that there are many; a restored connection is noticed at once.
    for module, name, value in (
        (spread, "_FIRST_SLICE", 0.0),
        (spread, "_SLICE", 0.0),
        (spread, "PATIENCE", math.inf),
        (link, "_CENSUS", 0.001),
    ):
        monkeypatch.setattr(module, name, value)
    lost = made = 0
    for index, problem in enumerate(problems_with_trees()):
        least, total = optimum(problem), float(problem.costs.sum())
        # Without the cover bound there are more subproblems.
        samples = PackingSettings(gap=1e-6, cover_distance=math.inf)
        regions = DirectionSettings(gap=1e-6, first_axis=(1.0, *[0.0] * (problem.m - 1)))
        search = Search(samples if kind == "packing" else regions, total, math.inf, slice=1)
        bounds = []

        def observe(upper: float, lower: float, nodes: int, bounds=bounds) -> bool:
            bounds.append(lower)
            return True

        open_ = packing_root(problem, 0.0, total) if kind == "packing" else direction_root(problem, regions, total)
        with contextlib.closing(UnreliableClient(index)) as client:
            cluster = ClusterEngine(client)
            for _ in range(1000):
                found = cluster.search(problem, open_, search, observe)
                if found.exhausted:
                    break
                open_ = Frontier(*found.open)
                search = replace(search, upper=min(search.upper, found.objective))
            cluster.close()
        assert found.exhausted
        assert min(search.upper, found.objective) == pytest.approx(least, rel=2e-6, abs=1e-12)
        assert found.lower_bound <= least * (1 + 1e-9)
        assert all(np.array(bounds) <= least * (1 + 1e-9))
        lost, made = lost + client.lost, made + client.made
    assert lost > 30
    assert made > 100


@pytest.mark.parametrize(("better", "retried"), [(60.0, True), (100.0, False), (100.0 * (1 - 1e-9), False)])
def test_what_is_stuck_is_searched_again_below_a_better_objective(better, retried) -> None:
    problem = next(problems_with_trees())
    frontier = packing_root(problem, 0.0, 100.0)
    link_ = cast("Any", SimpleNamespace(tell=lambda *_: None))
    search = Search(PackingSettings(gap=1e-6), 100.0, math.inf)
    spread_ = spread.Spread(link_, Clock(), "", problem, frontier, search, None, lambda _: None)
    spread_._pool.take(1, math.inf)
    other = cast("Any", object())
    spread_._running[0] = other
    spread_._add(frontier, Slice([], 0.0, math.inf, 100.0, 1, 1, True, frontier))
    assert spread_._pool.size == 0, "another slice is still running"
    del spread_._running[0]
    spread_._add(frontier, Slice([0.0], 1.0, better, better, 1, 1, True, Frontier.empty()))
    assert spread_._unfinished() == retried
    assert spread_._pool.size == (1 if retried else 0)
    # It is never lost.
    assert spread_._lower_bound() == 0.0
