"""The search on a Dask cluster: the same optimum, whatever happens to the workers."""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from hardmargin import Problem, Status, solve, verify
from hardmargin.cli import main
from hardmargin.data import generate
from hardmargin.frontier import FORMAT

distributed = pytest.importorskip("distributed", reason="Dask is not installed")

# Dask and what it stands on warn of things that are not ours, and warnings are errors here.
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(
            n_workers=3, threads_per_worker=1, processes=True, dashboard_address=None, memory_limit=0
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def hard():
    """Data, and their optimum with C = 10."""
    data = generate("B", 130, 8, 3)
    return data, solve(data.X, data.y, 10.0, threads=2)


@pytest.mark.parametrize("method", ["auto", "packing", "directions"])
def test_the_same_optimum_as_without(method, client) -> None:
    data = generate("B", 90, 5, 3)
    reference = solve(data.X, data.y, 10.0, method=method)
    result = solve(data.X, data.y, 10.0, method=method, cluster=client)
    assert result.optimal
    assert result.objective == pytest.approx(reference.objective, rel=1e-6)
    assert verify(result, data.X, data.y)


def test_lost_workers_cost_nothing_but_time(client, hard) -> None:
    data, reference = hard
    lost: list[int] = []
    over = threading.Event()

    def kill_workers() -> None:
        while not over.wait(0.7) and len(lost) < 6:
            pids = list(client.run(os.getpid).values())
            if pids:
                os.kill(pids[len(lost) % len(pids)], signal.SIGKILL)
                lost.append(pids[0])

    killer = threading.Thread(target=kill_workers)
    killer.start()
    try:
        result = solve(data.X, data.y, 10.0, method="packing", cluster=client, time_limit=120)
    finally:
        over.set()
        killer.join()
    assert len(lost) > 1
    assert result.optimal
    assert result.objective == pytest.approx(reference.objective, rel=1e-6)
    assert result.lower_bound <= reference.objective * (1 + 1e-9)
    lowers = [point.lower for point in result.trace]
    assert lowers == sorted(lowers)


def test_without_any_worker_it_goes_on_here(hard, monkeypatch) -> None:
    monkeypatch.setattr("hardmargin.cluster.engine._PATIENCE", 0.2)
    monkeypatch.setattr("hardmargin.methods.packing._FIRST_NODES", 50)
    data, reference = hard
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
        pytest.warns(RuntimeWarning, match="no worker of the cluster is there"),
    ):
        result = solve(
            data.X, data.y, 10.0, method="packing", cluster=client, time_limit=8, options={"heuristic_effort": 0.01}
        )
    assert result.nodes > 50
    assert 0 < result.lower_bound <= reference.objective * (1 + 1e-9)


def test_the_death_of_the_scheduler_is_survived(hard, monkeypatch) -> None:
    monkeypatch.setattr("hardmargin.cluster.engine._PATIENCE", 0.2)
    monkeypatch.setattr("hardmargin.cluster.engine._GATHER", 0.5)
    data, reference = hard
    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, memory_limit=0)
    client = distributed.Client(cluster, timeout=2)
    closer = threading.Timer(3.0, cluster.close, kwargs={"timeout": 5})
    closer.start()
    try:
        result = solve(data.X, data.y, 10.0, method="packing", cluster=client, time_limit=8)
    finally:
        closer.join()
        client.close(timeout=1)
    assert result.status in (Status.TIME_LIMIT, Status.OPTIMAL)
    assert 0 < result.lower_bound <= reference.objective * (1 + 1e-9)


def test_a_worker_that_cannot_do_it_is_no_reason_to_end(client, monkeypatch) -> None:
    monkeypatch.setattr("hardmargin.methods.packing._FIRST_NODES", 50)
    monkeypatch.setattr("hardmargin.cluster.worker.run_slice", _broken)
    data = generate("B", 90, 5, 3)
    with pytest.warns(RuntimeWarning, match="a worker of the cluster failed"):
        result = solve(data.X, data.y, 10.0, method="packing", cluster=client)
    assert result.optimal
    assert result.objective == pytest.approx(solve(data.X, data.y, 10.0).objective, rel=1e-6)


def _broken(*_: object) -> None:
    raise ArithmeticError("this worker cannot do it")


def test_limits_are_kept_and_the_state_can_be_gone_on_from(client, tmp_path) -> None:
    data, state = generate("A", 200, 10, 1), tmp_path / "state"
    begun = time.monotonic()
    first = solve(data.X, data.y, 100.0, cluster=client, time_limit=5, checkpoint=state)
    assert time.monotonic() - begun < 7
    assert first.status is Status.TIME_LIMIT
    # The other way round too: what a cluster began goes on without it.
    second = solve(data.X, data.y, 100.0, time_limit=2, resume=state)
    assert second.lower_bound >= first.lower_bound
    assert second.objective <= first.objective
    assert second.nodes > first.nodes


def test_ctrl_c_ends_it_with_what_is_known(client) -> None:
    data = generate("A", 200, 10, 1)
    pressed: list[float] = []

    def press(seconds, upper, lower, nodes) -> None:
        if seconds > 3:
            pressed.append(time.monotonic())
            raise KeyboardInterrupt

    result = solve(data.X, data.y, 100.0, cluster=client, report=press)
    assert time.monotonic() - pressed[0] < 2
    assert result.status is Status.INTERRUPTED
    assert 0 < result.lower_bound < result.objective


@pytest.mark.parametrize(
    ("cluster", "words"),
    [("local:0", "local:N"), ("local:x", "local:N"), (7, "expected the address"), ("tcp://127.0.0.1:9", "answers")],
)
def test_what_is_no_cluster_is_refused(cluster, words, monkeypatch) -> None:
    monkeypatch.setattr("hardmargin.cluster.connection._TIMEOUT", 1)
    with pytest.raises(ValueError, match=words):
        solve([[0.0], [1.0], [0.5]], [0, 1, 1], cluster=cluster)


def test_processes_on_this_machine_from_the_command_line(generated, capsys) -> None:
    assert main(["solve", generated("B", 60, 5), "--C", "10", "--cluster", "local:2"]) == 0
    assert "proven minimal" in capsys.readouterr().out


def test_a_frozen_scheduler_is_no_reason_to_be_late(hard, monkeypatch) -> None:
    """As a network that is cut looks: nothing fails, and nothing answers."""
    monkeypatch.setattr("hardmargin.cluster.engine._PATIENCE", 1.0)
    monkeypatch.setattr("hardmargin.cluster.engine._ANSWER", 1.0)
    monkeypatch.setattr("hardmargin.methods.packing._FIRST_NODES", 50)
    data, reference = hard
    scheduler = subprocess.Popen(
        [sys.executable, "-m", "distributed.cli.dask_scheduler", "--port", "0", "--no-dashboard", "--no-show"],
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        address = next(line for line in scheduler.stderr if "Scheduler at:" in line).split()[-1]
        threading.Timer(3.0, scheduler.send_signal, (signal.SIGSTOP,)).start()
        begun = time.monotonic()
        result = solve(data.X, data.y, 10.0, method="packing", cluster=address, time_limit=8)
        assert time.monotonic() - begun < 8 + 6
    finally:
        scheduler.kill()
        scheduler.wait()
        scheduler.stderr.close()
    assert 0 < result.lower_bound <= reference.objective * (1 + 1e-9)


def test_a_worker_that_means_something_else_by_subproblems_is_refused(monkeypatch) -> None:
    worker = importlib.import_module("hardmargin.cluster.worker")
    data = generate("A", 20, 2, seed=1)
    plugin = worker.ProblemOnWorkers("a solve", Problem.from_data(data.X, data.y, 1.0))
    monkeypatch.setattr(worker, "_VERSION", f"format {FORMAT + 1}")
    with pytest.raises(worker.OtherVersion, match=f"format {FORMAT} gives out the work"):
        plugin.setup(None)
