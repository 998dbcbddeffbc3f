"""The search on a Dask cluster: the same optimum, whatever happens to the workers."""

from __future__ import annotations

import contextlib
import importlib
import math
import os
import signal
import socket
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator

import pytest

from hardmargin import Problem, Status, solve, verify
from hardmargin.cli import main
from hardmargin.data import generate
from hardmargin.frontier import FORMAT
from waiting import until

pytest.importorskip("distributed", reason="Dask is not installed")

import distributed

from hardmargin.cluster import engine, link, spread, spread_batch

# Dask and its dependencies warn about things that are not ours, and warnings are errors here.
pytestmark = pytest.mark.filterwarnings("ignore")

# Little is done before the cluster is used.
FIRST_NODES = 50
QUICK_START = {"heuristic_effort": 0.01, "first_nodes": FIRST_NODES}

#: Seconds by which a busy machine may prolong a call that is timed here.
ALLOWANCE = 60.0


@contextlib.contextmanager
def two_workers() -> Iterator[distributed.Client]:
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", memory_limit=0
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def client():
    with two_workers() as client:
        yield client


@pytest.fixture
def doomed_client():
    """A client of workers that may be killed. On a busy machine Dask does not always replace them."""
    with two_workers() as client:
        yield client


@pytest.fixture(scope="module")
def hard():
    """Data of a problem with some thousand subproblems, and its optimum with C = 10."""
    data = generate("B", 100, 8, 3)
    return data, solve(data.X, data.y, 10.0, method="packing", time_limit=None)


@pytest.fixture
def slices(monkeypatch) -> list[int]:
    """The numbers of all slices that are handed out; there is something to hand out early.

    However long a busy machine takes to distribute the problem, this process does not do the work meanwhile.
    """
    given: list[int] = []
    submit = link.Link.submit

    def submitted(self, *arguments) -> int:
        given.append(submit(self, *arguments))
        return given[-1]

    monkeypatch.setattr(link.Link, "submit", submitted)
    monkeypatch.setattr(spread, "PATIENCE", math.inf)
    return given


@pytest.fixture
def outside():
    """A scheduler with a worker in another process: the process and the address."""
    program = """
import sys
from distributed import LocalCluster
if __name__ == "__main__":
    with LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, protocol="tcp", dashboard_address=":0", memory_limit=0
    ) as cluster:
        print(cluster.scheduler_address, flush=True)
        sys.stdin.read()
"""
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process, process.stdout.readline().strip()
        finally:
            process.kill()


@pytest.fixture
def links(monkeypatch) -> list[link.Link]:
    """The links to clusters that are created."""
    made: list[link.Link] = []

    class Recorded(link.Link):
        def __init__(self, *arguments) -> None:
            super().__init__(*arguments)
            made.append(self)

    monkeypatch.setattr(engine, "Link", Recorded)
    return made


@pytest.mark.parametrize("method", ["auto", "packing", "directions"])
def test_the_same_optimum_as_without(method, client, slices) -> None:
    data = generate("B", 90, 5, 3)
    reference = solve(data.X, data.y, 10.0, method=method, time_limit=None)
    result = solve(data.X, data.y, 10.0, method=method, cluster=client, time_limit=None, options=QUICK_START)
    assert slices
    assert result.optimal
    assert result.objective == pytest.approx(reference.objective, rel=1e-6)
    assert verify(result, data.X, data.y)


def test_lost_workers_cost_nothing_but_time(doomed_client, hard, slices, monkeypatch) -> None:
    # If they are not replaced, this process does the work in the end, which only costs time.
    monkeypatch.setattr(spread, "PATIENCE", ALLOWANCE)
    data, reference = hard
    lost: list[int] = []

    def kill_workers(seconds, upper, lower, nodes) -> None:
        # All of them, with their work; those that replace them lose nothing more.
        if slices and not lost:
            lost.extend(doomed_client.run(os.getpid).values())
            for pid in lost:
                os.kill(pid, signal.SIGKILL)

    result = solve(
        data.X,
        data.y,
        10.0,
        method="packing",
        cluster=doomed_client,
        time_limit=None,
        report=kill_workers,
        options=QUICK_START,
    )
    assert len(set(lost)) == 2
    assert not set(doomed_client.run(os.getpid).values()) & set(lost)
    assert result.optimal
    assert result.objective == pytest.approx(reference.objective, rel=1e-6)
    assert result.lower_bound <= reference.objective * (1 + 1e-9)
    lowers = [point.lower for point in result.trace]
    assert lowers == sorted(lowers)


@pytest.mark.usefixtures("slices")
def test_without_any_worker_it_goes_on_here(hard, monkeypatch) -> None:
    monkeypatch.setattr(spread, "PATIENCE", 0.0)
    data, reference = hard
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
        pytest.warns(RuntimeWarning, match="the cluster has no workers"),
    ):
        result = solve(data.X, data.y, 10.0, method="packing", cluster=client, time_limit=None, options=QUICK_START)
    assert result.nodes > FIRST_NODES
    assert result.optimal
    assert result.objective == pytest.approx(reference.objective, rel=1e-6)


@pytest.mark.parametrize("fate", [signal.SIGKILL, signal.SIGSTOP], ids=["killed", "frozen"])
def test_the_end_of_the_scheduler_is_survived(fate, hard, outside, slices, links, monkeypatch) -> None:
    """If it is frozen, it is as if the network were cut: nothing fails, and nothing answers."""
    data, reference = hard
    scheduler, address = outside
    struck: list[int] = []

    def strike(seconds, upper, lower, nodes) -> None:
        if slices and not struck:
            struck.append(nodes)
            scheduler.send_signal(fate)
            # From now on there is no waiting, and a worker that does not answer is lost.
            monkeypatch.setattr(spread, "PATIENCE", 0.0)
            monkeypatch.setattr(link, "_SILENCE", 0.0)
            until(lambda: links[-1].lost)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = solve(
            data.X,
            data.y,
            10.0,
            method="packing",
            cluster=address,
            time_limit=None,
            report=strike,
            options=QUICK_START,
        )
    assert struck
    assert any("the cluster was lost" in str(warning.message) for warning in caught)
    assert result.optimal
    assert result.objective == pytest.approx(reference.objective, rel=1e-6)


def test_a_frozen_scheduler_is_no_reason_to_be_late(outside, slices) -> None:
    """test_cluster_limits.py tests exactly what is waited for, and how long; this is a test of the whole."""
    data, limit = generate("A", 200, 10, 1), 2.0
    scheduler, address = outside
    frozen: list[float] = []
    begun = time.monotonic()

    def freeze(seconds, upper, lower, nodes) -> None:
        if not frozen:
            scheduler.send_signal(signal.SIGSTOP)
            frozen.append(time.monotonic())

    result = solve(
        data.X,
        data.y,
        100.0,
        method="packing",
        cluster=address,
        time_limit=limit,
        report=freeze,
        options=QUICK_START,
    )
    ended = time.monotonic()
    assert result.status is Status.TIME_LIMIT
    assert limit <= result.runtime <= ended - begun
    assert ended - frozen[0] <= limit + ALLOWANCE
    # The reported time is what the caller has waited, except for joining the cluster.
    assert ended - frozen[0] - result.runtime <= ALLOWANCE / 10
    assert 0 <= result.lower_bound < result.objective


def test_a_worker_that_cannot_do_it_is_no_reason_to_end(client, slices, monkeypatch) -> None:
    monkeypatch.setattr("hardmargin.cluster.worker.run_slice", _broken)
    data = generate("B", 90, 5, 3)
    with pytest.warns(RuntimeWarning, match="a worker of the cluster failed .*cannot do it"):
        result = solve(data.X, data.y, 10.0, method="packing", cluster=client, time_limit=None, options=QUICK_START)
    assert slices
    assert result.optimal
    assert result.objective == pytest.approx(solve(data.X, data.y, 10.0).objective, rel=1e-6)


def _broken(*_: object) -> None:
    raise ArithmeticError("this worker cannot do it")


def test_ctrl_c_ends_it_and_the_state_can_be_gone_on_from(client, slices, tmp_path) -> None:
    data, state = generate("A", 200, 10, 1), tmp_path / "state"
    pressed: list[int] = []

    def press(seconds, upper, lower, nodes) -> None:
        # When some of the workers' results have come back.
        if slices and nodes > 2 * FIRST_NODES:
            pressed.append(nodes)
            raise KeyboardInterrupt

    first = solve(
        data.X,
        data.y,
        100.0,
        method="packing",
        cluster=client,
        time_limit=None,
        report=press,
        checkpoint=state,
        options=QUICK_START,
    )
    assert pressed
    assert first.status is Status.INTERRUPTED
    assert 0 < first.lower_bound < first.objective
    # What a cluster started continues without it.
    second = solve(
        data.X,
        data.y,
        100.0,
        method="packing",
        time_limit=None,
        node_limit=first.nodes + 100,
        resume=state,
        options=QUICK_START,
    )
    assert second.status is Status.NODE_LIMIT
    assert second.lower_bound >= first.lower_bound
    assert second.objective <= first.objective
    assert second.nodes > first.nodes


@pytest.mark.parametrize(
    ("cluster", "words"),
    [
        ("local:0", r"'local:0'; expected local:N with a whole number N >= 1"),
        ("local:-1", r"'local:-1'; expected local:N with a whole number N >= 1"),
        ("local:abc", r"'local:abc'; expected local:N with a whole number N >= 1"),
        ("local:", r"'local:'; expected local:N with a whole number N >= 1"),
        ("local:1000000", "'local:1000000'; expected at most"),
        ("local:" + 9999 * "9", r"'local:9+'; expected at most"),
        ("nowhere", "expected the address"),
        (7, "expected the address"),
    ],
)
def test_what_is_no_cluster_is_refused_at_once(cluster, words, generated, monkeypatch, capsys) -> None:
    """Nothing is started and no connection is made."""
    for name in ("Client", "LocalCluster"):
        monkeypatch.setattr(distributed, name, type(name, (), {"__init__": lambda *_, **__: pytest.fail("tried")}))
    with pytest.raises(ValueError, match=words):
        solve([[0.0], [1.0], [0.5]], [0, 1, 1], cluster=cluster)
    assert main(["solve", generated("B", 20, 2), "--cluster", str(cluster)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_where_no_scheduler_is_there_is_no_cluster(monkeypatch) -> None:
    monkeypatch.setattr("hardmargin.cluster.connection._TIMEOUT", 0.1)
    with pytest.raises(ValueError, match=r"'tcp://127\.0\.0\.1:9', where no scheduler answers"):
        solve([[0.0], [1.0], [0.5]], [0, 1, 1], cluster="tcp://127.0.0.1:9")


def test_another_kind_of_server_is_no_scheduler(monkeypatch) -> None:
    """Its answer may look like a message of exabytes."""

    def client(*_: object, **__: object) -> None:
        raise MemoryError("Unable to allocate 3.07 EiB")

    monkeypatch.setattr(distributed, "Client", type("Client", (), {"__new__": client}))
    with pytest.raises(ValueError, match=r"'tcp://127\.0\.0\.1:80', where no scheduler answers"):
        solve([[0.0], [1.0], [0.5]], [0, 1, 1], cluster="tcp://127.0.0.1:80")


def test_a_scheduler_that_says_nothing_is_not_waited_for(monkeypatch) -> None:
    """It accepts the connection, like a frozen one."""
    for name in ("_TIMEOUT", "_MARGIN"):
        monkeypatch.setattr(f"hardmargin.cluster.connection.{name}", 0.1)
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as silent:
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(ValueError, match="where no scheduler answers"):
            solve([[0.0], [1.0], [0.5]], [0, 1, 1], cluster=address)


def test_processes_that_do_not_start_are_told_with_the_reason(generated, monkeypatch, capsys) -> None:
    def fails(**_: object) -> None:
        try:
            raise OSError(24, "Too many open files")
        except OSError as error:
            raise RuntimeError("Nanny failed to start.") from error

    monkeypatch.setattr(distributed, "LocalCluster", fails)
    with pytest.raises(ValueError, match="'local:2', but its worker processes could not be started") as refusal:
        solve([[0.0], [1.0], [0.5]], [0, 1, 1], cluster="local:2")
    assert "OSError: [Errno 24] Too many open files" in str(refusal.value)
    assert "__main__" in str(refusal.value)
    assert main(["solve", generated("B", 20, 2), "--cluster", "local:2"]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert told.startswith("hardmargin: error: cluster is 'local:2', but")


def test_processes_on_this_machine_from_the_command_line(generated, slices, capsys) -> None:
    words = ["--C", "10", "--method", "packing", "--option", "heuristic_effort=0.01", "--time-limit", "inf"]
    words += ["--option", f"first_nodes={FIRST_NODES}"]
    assert main(["solve", generated("B", 100, 8), *words, "--cluster", "local:2"]) == 0
    assert slices
    assert "proven minimal" in capsys.readouterr().out


def test_a_worker_that_means_something_else_by_subproblems_is_refused(monkeypatch) -> None:
    worker = importlib.import_module("hardmargin.cluster.worker")
    data = generate("A", 20, 2, seed=1)
    plugin = worker.ProblemOnWorkers("a solve", Problem.from_data(data.X, data.y, 1.0))
    monkeypatch.setattr(worker, "_VERSION", f"format {FORMAT + 1}")
    with pytest.raises(worker.OtherVersion, match=f"format {FORMAT} hands out the work"):
        plugin.setup(None)


BLOCKS = {"method": "blocks", "options": {"first_size": 20, "last_size": 70}, "time_limit": None}


@pytest.fixture(scope="module")
def bounded():
    """Data, and the bound that blocks of up to 70 samples prove in this process."""
    data = generate("A", 200, 3, 1)
    return data, solve(data.X, data.y, 10.0, **BLOCKS).lower_bound


def test_blocks_prove_the_same_on_a_cluster(client, bounded, monkeypatch) -> None:
    monkeypatch.setattr(spread_batch, "PATIENCE", ALLOWANCE)
    data, bound = bounded
    result = solve(data.X, data.y, 10.0, cluster=client, **BLOCKS)
    assert result.lower_bound == bound
    assert verify(result, data.X, data.y)


def test_blocks_on_a_cluster_return_their_records(client, bounded, monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(spread_batch, "PATIENCE", ALLOWANCE)
    data, bound = bounded
    proof, state = tmp_path / "proof", tmp_path / "state"
    result = solve(data.X, data.y, 10.0, cluster=client, proof=proof, checkpoint=state, **BLOCKS)
    assert result.proof_bound >= bound * (1 - 1e-9)
    assert verify(result, data.X, data.y, proof=proof)
    # The records are here, and another run has them.
    again = solve(data.X, data.y, 10.0, proof=proof, resume=state, **BLOCKS)
    assert again.proof_bound == result.proof_bound
    assert verify(again, data.X, data.y, proof=proof)


@pytest.mark.parametrize("method", ["auto", "packing", "directions"])
def test_slices_return_the_records_of_a_proof(method, client, tmp_path, slices) -> None:
    data, proof = generate("B", 90, 5, 3), tmp_path / "proof"
    result = solve(data.X, data.y, 10.0, method=method, cluster=client, proof=proof, options=QUICK_START)
    assert result.optimal
    assert slices
    assert result.proof_bound >= result.lower_bound * (1 - 1e-9)
    assert verify(result, data.X, data.y, proof=proof)


def test_a_killed_worker_costs_no_block(doomed_client, bounded, monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(spread_batch, "PATIENCE", ALLOWANCE)
    data, bound = bounded
    doomed = list(doomed_client.run(os.getpid).values())[:1]

    def kill(*_: object) -> None:
        if doomed:
            os.kill(doomed.pop(), signal.SIGKILL)

    proof = tmp_path / "proof"
    result = solve(data.X, data.y, 10.0, cluster=doomed_client, report=kill, proof=proof, **BLOCKS)
    assert result.lower_bound == bound
    assert result.proof_bound >= bound * (1 - 1e-9)
    assert verify(result, data.X, data.y, proof=proof)
    assert not doomed
