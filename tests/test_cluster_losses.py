"""Slices that are lost, late or broken: the search begins without a solution, so that a lost subproblem shows."""

from __future__ import annotations

import random
import threading
import time
from dataclasses import replace

import numpy as np
import pytest

from brute_force import optimum, problems_with_trees
from hardmargin.frontier import Frontier
from hardmargin.methods.engine import Found, Search
from hardmargin.problem import Problem

distributed = pytest.importorskip("distributed", reason="Dask is not installed")
engine = pytest.importorskip("hardmargin.cluster.engine")


class Future:
    """What a submitted slice returns or raises, some time later."""

    def __init__(self, work, delay: float) -> None:
        self._done = threading.Event()
        self._callbacks = []
        self._outcome = None
        self._thread = threading.Thread(target=self._run, args=(work, delay), daemon=True)

    def start(self) -> None:
        self._thread.start()

    def _run(self, work, delay: float) -> None:
        time.sleep(delay)
        try:
            self._outcome = work()
        except Exception as error:
            self._outcome = error
        self._done.set()
        for callback in self._callbacks:
            callback(self)

    def add_done_callback(self, callback) -> None:
        self._callbacks.append(callback)
        self.start()

    def result(self, timeout: float):
        assert self._done.wait(timeout)
        if isinstance(self._outcome, Exception):
            raise self._outcome
        return self._outcome

    def cancel(self, force: bool = False) -> None:
        """It goes on all the same, and its result comes too late."""


class UnreliableClient:
    """A cluster in this process that loses slices before or after they are made."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self.lost = self.made = 0

    def nthreads(self) -> dict[str, int]:
        return {"worker": 2}

    def register_plugin(self, plugin) -> None:
        plugin.setup(None)

    def unregister_worker_plugin(self, name: str) -> None:
        """The problem stays; there are few."""

    def run(self, function, *arguments, on_error: str) -> None:
        function(*arguments)

    def submit(self, function, *arguments, pure: bool) -> Future:
        fate = self._random.random()

        def work():
            if fate < 0.15:
                self.lost += 1
                raise distributed.CancelledError("before")
            found = function(*arguments)
            if fate < 0.3:
                self.lost += 1
                raise ArithmeticError("after") if fate < 0.22 else TimeoutError("after")
            self.made += 1
            return found

        if fate > 0.95:
            raise OSError("no connection")
        return Future(work, self._random.random() * 0.01)


def exhausted(problem: Problem, client, search: Search) -> Found:
    """What is found when the search goes on after every pause."""
    cluster, open_ = engine.ClusterEngine(client), Frontier.whole(0.0, search.upper)
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


@pytest.mark.filterwarnings("ignore:a worker of the cluster failed", "ignore:no worker of the cluster")
@pytest.mark.parametrize("threads", [2, 0])
def test_a_search_that_pauses_all_the_time_gets_on(threads, monkeypatch) -> None:
    """Also if there is nobody to do it."""
    for name, seconds in (("_POLL", 0.005), ("_CENSUS", 0.01), ("_PATIENCE", 0.05)):
        monkeypatch.setattr(engine, name, seconds)
    client = UnreliableClient(1)
    monkeypatch.setattr(client, "nthreads", lambda: {"worker": threads})
    problem = list(problems_with_trees())[-1]
    search = Search("packing", {"gap": 1e-6}, float(problem.costs.sum()), 60.0, pause=0.0)
    found = exhausted(problem, client, search)
    assert found.exhausted
    assert found.lower_bound == pytest.approx(optimum(problem), rel=2e-6)


@pytest.mark.filterwarnings("ignore:a worker of the cluster failed")
@pytest.mark.parametrize("kind", ["packing", "directions"])
def test_no_subproblem_is_lost_whatever_becomes_of_slices(kind, monkeypatch) -> None:
    for name, seconds in (("_FIRST_SLICE", 0.0), ("_SLICE", 0.0), ("_POLL", 0.005), ("_CENSUS", 0.01)):
        monkeypatch.setattr(engine, name, seconds)
    lost = made = 0
    for index, problem in enumerate(problems_with_trees()):
        least, total = optimum(problem), float(problem.costs.sum())
        client = UnreliableClient(index)
        cluster = engine.ClusterEngine(client)
        axis = {"first_axis": [1.0] + [0.0] * (problem.m - 1)} if kind == "directions" else {}
        settings = {"gap": 1e-6, **axis}
        search = Search(kind, settings, total, 60.0, slice=1)
        bounds = []

        def observe(upper: float, lower: float, nodes: int, bounds=bounds) -> bool:
            bounds.append(lower)
            return True

        open_ = Frontier.whole(0.0, total) if kind == "packing" else Frontier.empty()
        for _ in range(1000):
            found = cluster.search(problem, open_, search, observe)
            if found.exhausted:
                break
            open_ = Frontier(*found.open)
            search = Search(kind, settings, min(search.upper, found.objective), 60.0, slice=1)
        cluster.close()
        assert found.exhausted
        assert min(search.upper, found.objective) == pytest.approx(least, rel=2e-6, abs=1e-12)
        assert found.lower_bound <= least * (1 + 1e-9)
        assert all(np.array(bounds) <= least * (1 + 1e-9))
        lost, made = lost + client.lost, made + client.made
    assert lost > 30
    assert made > 100
