"""Time limits on a cluster that does not answer: how long a search waits, by a clock that advances only then."""

from __future__ import annotations

import contextlib
import math
import threading

import numpy as np
import pytest

from hardmargin.data import generate
from hardmargin.frontier import Frontier
from hardmargin.problem import Problem
from hardmargin.search.engine import Search
from hardmargin.search.roots import packing_root
from hardmargin.search.settings import PackingSettings
from waiting import NEVER

pytest.importorskip("distributed", reason="Dask is not installed")

from cluster_fakes import FakeClient, SilentClient, WaitingClock
from hardmargin.cluster import engine, spread
from hardmargin.cluster.connection import Connection
from hardmargin.cluster.engine import ClusterEngine
from hardmargin.cluster.worker import OtherVersion

LIMIT = 7.0
#: Seconds by which a time limit may be missed.
OVER = 1.0

CALLS = {"nthreads", "register_plugin", "submit", "cancel", "run", "unregister_worker_plugin"}


@pytest.fixture(scope="module")
def problem() -> Problem:
    """A problem that is far from proven when the time is up."""
    data = generate("A", 200, 10, 1)
    return Problem.from_data(data.X, data.y, 100.0)


def frontier(problem: Problem) -> Frontier:
    """Several subproblems with their own bounds, the smallest of which is 1."""
    total = float(problem.costs.sum())
    return Frontier.joined([packing_root(problem, 1.0 + row, total, kept=[row]) for row in range(6)])


def packing(problem: Problem, seconds: float) -> Search:
    return Search(PackingSettings(gap=1e-6), float(problem.costs.sum()), seconds)


def opened(client, *, processes: bool = False) -> Connection:
    """A connection that was opened here, and therefore has to be closed here."""
    connection = Connection.__new__(Connection)
    connection.client, connection._own, connection._has_processes = client, [client], processes
    return connection


class ClosesNever:
    """Like a client, or the processes of a local cluster, whose scheduler does not answer."""

    def __init__(self) -> None:
        self.released = threading.Event()
        self.closer: threading.Thread | None = None

    def close(self) -> None:
        self.closer = threading.current_thread()
        self.released.wait()


@pytest.mark.parametrize(
    ("silent", "awaited"),
    [
        (CALLS, "nthreads"),
        ({"nthreads"}, "nthreads"),
        ({"register_plugin"}, "register_plugin"),
        ({"submit"}, "submit"),
        ({"cancel", "run", "unregister_worker_plugin"}, "submit"),
        (set(), "submit"),
    ],
    ids=["every call", "who is there", "the problem", "slices", "the end", "only the slices' results"],
)
@pytest.mark.filterwarnings("ignore:the cluster has no workers", "ignore:the cluster was lost")
def test_no_call_that_never_returns_makes_a_search_late(silent, awaited, problem, monkeypatch) -> None:
    # Work in this process takes real time meanwhile, which the clock does not count.
    monkeypatch.setattr(spread, "_FIRST_SLICE", 0.0)
    client, closes_never = SilentClient(silent, awaited), ClosesNever()
    clock = WaitingClock(client.reached)
    with contextlib.closing(client):
        cluster = ClusterEngine(client, clock)
        begun = frontier(problem)
        found = cluster.search(problem, begun, packing(problem, LIMIT), None)
        assert LIMIT <= clock.time <= LIMIT + OVER
        leave_by = cluster.leave_by()
        cluster.close(leave_by)
        opened(closes_never).close(leave_by - clock.now(), clock)
        assert clock.time <= LIMIT + OVER
    closes_never.released.set()
    # No call was made that would have been waited for.
    assert {name for name, _ in client.callers} >= {awaited}
    assert threading.current_thread() not in [thread for _, thread in client.callers] + [closes_never.closer]
    assert found.outcome.timed_out
    assert not found.exhausted
    # No open subproblem is lost, and nothing is claimed that was not proven.
    assert 1.0 <= found.lower_bound <= Frontier(*found.open).lower_bound()
    assert found.nodes > 0 or np.array_equal(np.sort(found.open.bounds), np.sort(begun.bounds))


def test_a_cluster_that_never_answers_is_said_to_be_lost(problem, monkeypatch) -> None:
    monkeypatch.setattr(spread, "_FIRST_SLICE", 0.0)
    client = SilentClient(CALLS, "nthreads")
    clock = WaitingClock(client.reached)
    with contextlib.closing(client):
        cluster = ClusterEngine(client, clock)
        with pytest.warns(
            RuntimeWarning, match=r"the cluster was lost: .* not answered for \d s; .* bound are kept"
        ):
            cluster.search(problem, frontier(problem), packing(problem, LIMIT), None)
        # A second search does not wait for it again, and does not warn again.
        begun = clock.time
        found = cluster.search(problem, frontier(problem), packing(problem, LIMIT), lambda _, __, nodes: nodes == 0)
        assert clock.time <= begun + spread._POLL
        assert found.nodes > 0
        # There is nothing to wait for.
        assert cluster.leave_by() == clock.now()


def test_slices_that_are_lost_at_the_end_are_told_too(problem) -> None:
    """The scheduler dies so late that there was no time to consider it lost."""
    client = SilentClient(set(), "submit")
    clock = WaitingClock(client.reached)

    def observe(*_: object) -> bool:
        client.status = "connecting"
        return True

    with contextlib.closing(client):
        cluster = ClusterEngine(client, clock)
        with pytest.warns(RuntimeWarning, match="the cluster was lost: its scheduler is gone"):
            found = cluster.search(problem, frontier(problem), packing(problem, spread._POLL), observe)
    assert clock.time == pytest.approx(spread._POLL)
    assert (found.nodes, found.open.size) == (0, 6)


def test_an_interruption_does_not_wait_for_slices_for_long(problem) -> None:
    client = SilentClient(set(), "submit")
    clock = WaitingClock(client.reached)
    with contextlib.closing(client):
        found = ClusterEngine(client, clock).search(
            problem, frontier(problem), packing(problem, math.inf), client.not_reached
        )
    assert found.outcome.interrupted
    assert not found.outcome.timed_out
    assert clock.time <= spread._POLL + spread._FAREWELL + 1e-9


@pytest.mark.parametrize(
    ("seconds", "waited"), [(100.0, engine._LEAVING), (1.0, 1.0 + engine._LEFT_AFTER), (math.inf, engine._LEAVING)]
)
def test_leaving_takes_a_while_only_where_there_is_time(seconds, waited, problem) -> None:
    client = SilentClient({"unregister_worker_plugin"}, "submit")
    clock = WaitingClock(client.reached)
    with contextlib.closing(client):
        cluster = ClusterEngine(client, clock)
        cluster.search(problem, frontier(problem), packing(problem, seconds), client.not_reached)
        ended = clock.time
        cluster.close()
    assert clock.time == pytest.approx(ended + waited - (ended if seconds == 1.0 else 0.0))


@pytest.mark.parametrize("processes", [True, False])
def test_local_processes_that_still_end_are_waited_for_at_exit(processes, monkeypatch) -> None:
    at_exit = []
    monkeypatch.setattr("atexit.register", lambda *call: at_exit.append(call))
    closes_never, clock = ClosesNever(), WaitingClock()
    opened(closes_never, processes=processes).close(0.5, clock)
    assert clock.time == 0.5
    closes_never.released.set()
    assert len(at_exit) == processes
    assert all(wait(NEVER) for wait, _ in at_exit)


def test_workers_of_another_version_are_an_error(problem) -> None:
    class Other(FakeClient):
        def register_plugin(self, plugin) -> None:
            raise OtherVersion("hardmargin 1 hands out the work, but this worker has 2")

    with (
        contextlib.closing(Other()) as client,
        pytest.raises(ValueError, match="install the same version everywhere"),
    ):
        ClusterEngine(client).search(problem, frontier(problem), packing(problem, NEVER), None)


def test_a_cluster_that_does_not_take_the_problem_is_asked_again(problem, monkeypatch) -> None:
    monkeypatch.setattr(spread, "PATIENCE", math.inf)
    refused = threading.Event()

    class Full(FakeClient):
        def register_plugin(self, plugin) -> None:
            if not refused.is_set():
                refused.set()
                raise OSError("no room")
            super().register_plugin(plugin)

    def until_refused(*_: object) -> bool:
        return not cluster._warned & {"refusal"}

    with contextlib.closing(Full()) as client:
        cluster = ClusterEngine(client)
        with pytest.warns(RuntimeWarning, match="did not accept the problem"):
            cluster.search(problem, frontier(problem), packing(problem, NEVER), until_refused)
        found = cluster.search(problem, frontier(problem), packing(problem, NEVER), lambda _, __, nodes: nodes == 0)
        cluster.close()
    assert found.nodes > 0


def test_what_a_cluster_does_not_take_is_done_here() -> None:
    """Although its workers are there, and are seen again and again."""

    class Refusing(FakeClient):
        def register_plugin(self, plugin) -> None:
            raise ModuleNotFoundError("No module named 'hardmargin'")

    data = generate("A", 40, 3, 1)
    problem = Problem.from_data(data.X, data.y, 10.0)
    with contextlib.closing(Refusing()) as client:
        cluster = ClusterEngine(client)
        with pytest.warns(RuntimeWarning) as warned:
            found = cluster.search(problem, frontier(problem), packing(problem, NEVER), None)
        cluster.close()
    assert ["did not accept the problem" in str(warning.message) for warning in warned] == [True]
    assert found.exhausted
    assert found.nodes > 0
