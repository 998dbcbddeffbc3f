"""States of a solve in files: written in one step, refused if they do not fit, and continued from."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from math import inf, isfinite
from types import SimpleNamespace

import numpy as np
import pytest

from hardmargin import Problem, Result, Status, _core, presolve, solve, solver, verify
from hardmargin.checkpoint import Identity, read_checkpoint, write_checkpoint
from hardmargin.checkpoint.keeper import Keeper
from hardmargin.cli import main
from hardmargin.data import generate
from hardmargin.frontier import FORMAT, Frontier
from hardmargin.search import portfolio
from hardmargin.search.engine import LocalEngine

IDENTITY = Identity("auto", 3, 2, 1.0, "abc")

# The first search over samples is short.
SHORT: dict = {"method": "packing", "options": {"first_nodes": 100}}

# No process of a test takes a second on an idle machine; one that takes this many hangs.
PATIENCE = 900


def interrupted_at_once(time, upper, lower, nodes) -> None:
    """A report that presses Ctrl-C when it is called."""
    raise KeyboardInterrupt


def interrupted_in_the_tree(time, upper, lower, nodes) -> None:
    """A report that presses Ctrl-C when there are open subproblems."""
    if nodes > 0:
        raise KeyboardInterrupt


def interrupted_after(moments):
    """A report that presses Ctrl-C after this many calls with open subproblems."""
    left = moments

    def report(time, upper, lower, nodes) -> None:
        nonlocal left
        left -= nodes > 0
        if left < 0:
            raise KeyboardInterrupt

    return report


@pytest.fixture
def always_due(monkeypatch):
    """States are written, and bounds reported, after every subproblem: the clock does not decide how often."""
    monkeypatch.setattr(Keeper, "seconds_until_due", lambda keeper: 0.0 if keeper.path is not None else inf)
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.fixture
def hard():
    """A few hundred subproblems over samples, and a thousand over directions."""
    return generate("B", 110, 5, 3)


@pytest.fixture
def harder():
    """A few thousand subproblems over samples, with SHORT reported for the first time after a few hundred."""
    return generate("B", 130, 8, 3)


@pytest.fixture
def clock(monkeypatch):
    """The clock of keepers, in seconds, which a test advances."""
    clock = SimpleNamespace(now=1000.0)
    monkeypatch.setattr("hardmargin.checkpoint.keeper.time", SimpleNamespace(monotonic=lambda: clock.now))
    return clock


def test_what_is_written_is_read(tmp_path) -> None:
    root = Frontier(*_core.packing_root(3, [], [], 1.0, 2.0))
    state = {"gap": 1e-6, "coef": np.array([1.0, 2.0]), "proofs": {"packing": {"open": root}}}
    write_checkpoint(tmp_path / "state", IDENTITY, state)
    read = read_checkpoint(tmp_path / "state", IDENTITY)
    assert read["gap"] == 1e-6
    assert read["coef"].tolist() == [1.0, 2.0]
    assert Frontier(*read["proofs"]["packing"]["open"]).lower_bound() == 1.0
    assert os.listdir(tmp_path) == ["state"]


@pytest.mark.parametrize("place", [0, 20, 40, 120, -1])
def test_a_damaged_file_is_refused_and_left_alone(tmp_path, place) -> None:
    path = tmp_path / "state"
    write_checkpoint(path, IDENTITY, {"coef": np.arange(100.0)})
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"state (is damaged|is not a checkpoint|has format)"):
        read_checkpoint(path, IDENTITY)
    assert path.read_bytes() == content


@pytest.mark.parametrize("size", [0, 10, 50, 100, 500])
def test_a_file_cut_short_is_refused(tmp_path, size) -> None:
    path = tmp_path / "state"
    write_checkpoint(path, IDENTITY, {"coef": np.arange(100.0)})
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(ValueError, match=r"is damaged|is not a checkpoint"):
        read_checkpoint(path, IDENTITY)


def test_another_format_is_named(tmp_path) -> None:
    path = tmp_path / "state"
    write_checkpoint(path, IDENTITY, {})
    path.write_bytes(path.read_bytes().replace(f"format {FORMAT}".encode(), b"format 999", 1))
    with pytest.raises(ValueError, match="has format 999, and this version"):
        read_checkpoint(path, IDENTITY)


def test_other_data_are_refused(hard, tmp_path) -> None:
    path = tmp_path / "state"
    solve(hard.X, hard.y, 10.0, checkpoint=path, node_limit=100)
    written = path.read_bytes()
    for X, y, C, method, words in [
        (
            hard.X[:-1],
            hard.y[:-1],
            10.0,
            "auto",
            "it is about 110 samples x 5 features with C = 10, and this is 109",
        ),
        (hard.X * 1.01, hard.y, 10.0, "auto", "with other values"),
        (hard.X, hard.y, 11.0, "auto", "C = 11"),
        (hard.X, hard.y, 10.0, "packing", "resume with method 'auto'"),
    ]:
        with pytest.raises(ValueError, match=words):
            solve(X, y, C, method=method, resume=path)
    assert path.read_bytes() == written


def test_a_state_of_data_that_are_reduced_in_another_way_is_refused(hard, tmp_path, monkeypatch) -> None:
    path = tmp_path / "state"
    solve(hard.X, hard.y, 10.0, checkpoint=path, node_limit=100)
    monkeypatch.setattr(solver, "presolve", lambda problem, **_: presolve.presolve(problem, reduce=False))
    with pytest.raises(ValueError, match="reduces these data in another way"):
        solve(hard.X, hard.y, 10.0, resume=path)


def test_a_worse_search_does_not_replace_what_was_saved(hard, tmp_path, monkeypatch) -> None:
    def interrupted_with_a_hyperplane(time, upper, lower, nodes) -> None:
        if isfinite(upper):
            raise KeyboardInterrupt

    path = tmp_path / "state"
    first = solve(hard.X, hard.y, 10.0, checkpoint=path, report=interrupted_with_a_hyperplane)
    assert (first.status, first.nodes) == (Status.INTERRUPTED, 0)
    search = portfolio._searched

    def poor(problem, incumbent, limits, report, effort, recorder):
        found = search(problem, incumbent, limits, report, effort, recorder)
        flat = Result.of(
            problem,
            np.zeros(problem.m),
            1.0,
            lower_bound=0.0,
            status=Status.TIME_LIMIT,
            method="heuristic",
            runtime=found.runtime,
        )
        assert flat.objective > found.objective
        return flat

    monkeypatch.setattr(portfolio, "_searched", poor)
    again = solve(hard.X, hard.y, 10.0, checkpoint=path, resume=path)
    assert again.objective <= first.objective
    assert again.status is Status.TIME_LIMIT
    assert solve(hard.X, hard.y, 10.0, resume=path).objective <= first.objective


def test_a_state_is_not_overwritten_by_mistake(hard, tmp_path) -> None:
    path = tmp_path / "state"
    path.write_text("precious")
    with pytest.raises(ValueError, match=r"exists already; resume from it"):
        solve(hard.X, hard.y, checkpoint=path)
    assert path.read_text() == "precious"


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"method": "heuristic", "checkpoint": "x"}, "does not support checkpoint"),
        ({"method": "benders", "resume": "x"}, "does not support resume"),
        ({"method": "indicator", "cluster": "local"}, "does not support cluster"),
        ({"checkpoint": "no/such/folder/x"}, "no such folder"),
        ({"checkpoint": "x", "checkpoint_interval": 0}, "checkpoint_interval is 0"),
        ({"checkpoint_interval": -1}, "checkpoint_interval is -1"),
        ({"resume": "no-such-file"}, "No such file"),
        ({"resume": "/dev/zero"}, "a folder or a device"),
        ({"checkpoint": "/dev/null"}, "a folder or a device"),
    ],
)
def test_what_cannot_be_done_is_refused_at_once(settings, words) -> None:
    with pytest.raises((ValueError, OSError), match=words):
        solve([[0.0], [1.0]], [0, 1], **settings)


@pytest.mark.usefixtures("always_due")
@pytest.mark.parametrize("method", ["auto", "packing", "directions"])
def test_many_interruptions_change_nothing(method, hard, tmp_path) -> None:
    reference = solve(hard.X, hard.y, 10.0, method=method, time_limit=None)
    path = tmp_path / "state"
    settings: dict = {"method": method, "checkpoint": path, "time_limit": None}
    bounds, runs = [0.0], 0
    result = solve(hard.X, hard.y, 10.0, report=interrupted_at_once, **settings)
    while result.status is Status.INTERRUPTED and runs < 100:
        runs += 1
        bounds.append(result.lower_bound)
        # Runs get longer, and the first ones are far from the end: there are hundreds of subproblems.
        result = solve(hard.X, hard.y, 10.0, resume=path, report=interrupted_after(10 * runs), **settings)
    assert runs > 5
    assert result.optimal
    assert result.objective == pytest.approx(reference.objective, rel=1e-6)
    assert verify(result, hard.X, hard.y)
    assert bounds == sorted(bounds)
    assert max(bounds) <= reference.objective * (1 + 1e-9)


def test_a_finished_solve_is_told_without_a_search(hard, tmp_path, monkeypatch) -> None:
    path = tmp_path / "state"
    first = solve(hard.X, hard.y, 10.0, checkpoint=path, time_limit=None)
    monkeypatch.setattr(portfolio, "_searched", None)
    monkeypatch.setattr(LocalEngine, "search", None)
    again = solve(hard.X, hard.y, 10.0, resume=path)
    assert again.optimal
    assert (again.objective, again.coef, again.nodes) == (first.objective, first.coef, first.nodes)


def test_a_finer_gap_does_not_replace_the_state_of_a_coarser_one(harder, tmp_path) -> None:
    path = tmp_path / "state"
    first = solve(harder.X, harder.y, 10.0, **SHORT, gap=0.01, checkpoint=path, report=interrupted_in_the_tree)
    assert first.status is Status.INTERRUPTED
    written = path.read_bytes()
    with pytest.raises(ValueError, match=r"of a proof to a gap of 0.01; one to 1e-06 has to start again"):
        solve(harder.X, harder.y, 10.0, **SHORT, checkpoint=path, resume=path)
    assert path.read_bytes() == written
    other = tmp_path / "other"
    again = solve(harder.X, harder.y, 10.0, **SHORT, checkpoint=other, resume=path, node_limit=first.nodes + 100)
    assert again.lower_bound >= first.lower_bound
    assert again.nodes > first.nodes
    assert other.exists()
    assert path.read_bytes() == written


def test_a_run_that_ends_at_once_passes_the_state_on(harder, tmp_path) -> None:
    path, other = tmp_path / "state", tmp_path / "other"
    solve(harder.X, harder.y, 10.0, **SHORT, checkpoint=path, report=interrupted_in_the_tree)
    solve(harder.X, harder.y, 10.0, **SHORT, checkpoint=other, resume=path, report=interrupted_at_once)
    before = open_subproblems(path, harder, method="packing")
    assert open_subproblems(other, harder, method="packing") == before
    assert sum(before.values()) > 0


# It waits, so that the search cannot end before the signal arrives.
TERMINATED = """
import sys
from hardmargin import solve
from hardmargin.data import generate
data = generate("B", 200, 10, 3)
def report(time, upper, lower, nodes):
    if nodes > 0:
        print("searching", flush=True)
        sys.stdin.readline()
limits = {"time_limit": None, "checkpoint_interval": 1e9, "options": {"first_nodes": 100}}
solve(data.X, data.y, 10.0, method="packing", checkpoint=sys.argv[1], report=report, **limits)
print("not reached")
"""


def test_a_program_that_is_told_to_end_keeps_the_state_first(tmp_path) -> None:
    path = tmp_path / "state"
    child = subprocess.Popen(
        [sys.executable, "-c", TERMINATED, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "searching\n"
    assert not path.exists()
    child.send_signal(signal.SIGTERM)
    try:
        output, _ = child.communicate("go on\n", timeout=PATIENCE)
    finally:
        child.kill()
    assert child.returncode == -signal.SIGTERM
    assert "not reached" not in output
    data = generate("B", 200, 10, 3)
    assert sum(open_subproblems(path, data, method="packing").values()) > 0
    assert os.listdir(tmp_path) == ["state"]


def test_a_finer_gap_is_proven_from_a_coarse_state(tmp_path) -> None:
    data, path = generate("B", 60, 3, 5), tmp_path / "state"
    coarse = solve(data.X, data.y, 10.0, gap=0.2, checkpoint=path)
    fine = solve(data.X, data.y, 10.0, resume=path)
    assert coarse.lower_bound <= fine.lower_bound
    assert fine.optimal
    assert fine.objective == pytest.approx(solve(data.X, data.y, 10.0).objective, rel=1e-6)


def open_subproblems(path, data, C=10.0, method="auto"):
    """How many open subproblems a checkpoint has, by the kind of search."""
    state = read_checkpoint(path, Identity.of(Problem.from_data(data.X, data.y, C), method))["solve"]
    return {kind: 0 if proof["open"] is None else len(proof["open"][1]) for kind, proof in state["proofs"].items()}


def test_a_coarser_gap_does_not_cost_the_state(harder, tmp_path) -> None:
    path = tmp_path / "state"
    first = solve(harder.X, harder.y, 10.0, **SHORT, checkpoint=path, report=interrupted_in_the_tree)
    assert first.status is Status.INTERRUPTED
    before = open_subproblems(path, harder, method="packing")
    coarse = solve(harder.X, harder.y, 10.0, **SHORT, gap=0.99, checkpoint=path, resume=path)
    assert coarse.optimal
    assert open_subproblems(path, harder, method="packing") == before
    assert sum(before.values()) > 0


def test_ctrl_c_at_the_first_report_of_a_resumed_run(harder, tmp_path) -> None:
    path = tmp_path / "state"
    first = solve(harder.X, harder.y, 10.0, **SHORT, checkpoint=path, report=interrupted_in_the_tree)
    written = path.read_bytes()
    again = solve(harder.X, harder.y, 10.0, **SHORT, checkpoint=path, resume=path, report=interrupted_at_once)
    assert again.status is Status.INTERRUPTED
    assert (again.objective, again.lower_bound) == (first.objective, first.lower_bound)
    assert path.read_bytes() == written


def test_an_error_in_the_callers_report_keeps_the_state(harder, tmp_path) -> None:
    def fail(time, upper, lower, nodes) -> None:
        if nodes > 0:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        solve(harder.X, harder.y, 10.0, **SHORT, checkpoint=tmp_path / "state", report=fail)
    assert sum(open_subproblems(tmp_path / "state", harder, method="packing").values()) > 0


def test_going_on_does_not_repeat_what_was_done(tmp_path) -> None:
    """A proof that is stopped and restored many times examines about as many subproblems as one that is not."""
    # One search, however many subproblems the stops add to it.
    one_search = {"first_nodes": 10**6}
    data, path, runs = generate("B", 100, 10, 3), tmp_path / "state", 0
    whole = solve(data.X, data.y, 10.0, method="packing", options=one_search)
    settings: dict = {"method": "packing", "checkpoint": path, "options": one_search}
    result = solve(data.X, data.y, 10.0, node_limit=300, **settings)
    while result.status is Status.NODE_LIMIT:
        runs += 1
        result = solve(data.X, data.y, 10.0, resume=path, node_limit=result.nodes + 300, **settings)
    assert runs > 5
    assert result.optimal
    assert result.nodes < 1.5 * whole.nodes


def test_the_projection_of_dependent_features_is_part_of_the_state(hard, tmp_path, monkeypatch) -> None:
    """Its last digits depend on the machine, and the open subproblems refer to the projected data."""
    X = np.column_stack([hard.X, hard.X @ np.arange(1.0, 6.0), hard.X[:, 0]])
    path = tmp_path / "state"
    first = solve(X, hard.y, 10.0, checkpoint=path, node_limit=100)
    assert "2 dependent features" in first.presolve
    monkeypatch.setattr("hardmargin.checkpoint.keeper.projection", None)
    second = solve(X, hard.y, 10.0, resume=path)
    assert second.optimal
    assert second.objective == pytest.approx(solve(X, hard.y, 10.0).objective, rel=1e-6)


def test_a_disk_that_is_full_does_not_end_the_search(tmp_path, monkeypatch, clock) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("hardmargin.checkpoint.keeper.write_checkpoint", full)
    keeper = Keeper(IDENTITY, tmp_path / "state", 0.01)
    with pytest.warns(RuntimeWarning, match="No space left on device; the search goes on"):
        keeper.save(dict)
    assert keeper.seconds_until_due() == pytest.approx(20), "it will not be better at once"
    clock.now += 15
    assert keeper.seconds_until_due() == pytest.approx(5)
    with pytest.warns(RuntimeWarning, match="the search has ended, and its last state is NOT saved"):
        keeper.save(dict, last=True)


def test_writing_takes_a_small_share_of_the_time(tmp_path, monkeypatch, clock) -> None:
    def write(*_: object) -> None:
        clock.now += 0.05

    monkeypatch.setattr("hardmargin.checkpoint.keeper.write_checkpoint", write)
    keeper = Keeper(IDENTITY, tmp_path / "state", 0.01)
    assert keeper.seconds_until_due() == pytest.approx(0.01)
    keeper.save(dict)
    assert keeper.seconds_until_due() == pytest.approx(1.0)


# Children of one parent, so that no time is spent on imports. Each writes a state after every subproblem and kills
# itself after some of them: while writing, after writing, or in the next search.
KILLING = """
import os, random, signal, sys
import hardmargin.cli.commands, hardmargin.progress
from hardmargin.cli import main
from hardmargin.checkpoint.keeper import Keeper
from hardmargin.search.watch import Watch
hardmargin.solve([[0.0], [1.0]], [0, 1])
most, words, state, model = int(sys.argv[1]), sys.argv[2:-2], sys.argv[-2], sys.argv[-1]
replace, report = os.replace, Watch.report
def live(moment, count):
    def killed(present):
        if count == 0 and present == moment:
            os.kill(os.getpid(), signal.SIGKILL)
    def replace_or_die(source, target):
        nonlocal count
        count -= os.path.basename(target) == os.path.basename(state)
        killed("while writing")
        replace(source, target)
        killed("when written")
    def report_or_die(watch, *bounds):
        killed("in a search")
        return report(watch, *bounds)
    os.replace, Watch.report, os.fsync = replace_or_die, report_or_die, lambda _: None
    Keeper.seconds_until_due = lambda keeper: 0.0
    os._exit(main(words + (["--resume", state] if os.path.exists(state) else [])))
moments, kills, states = random.Random(7), 0, set()
while not os.path.exists(model):
    moment = moments.choice(["while writing", "when written", "in a search"])
    count = moments.randint(1, most)
    child = os.fork()
    if child == 0:
        live(moment, count)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status in (0, -signal.SIGKILL), status
    kills += status != 0
    states.add(os.stat(state).st_mtime_ns if os.path.exists(state) else 0)
print(kills, len(states))
"""


@pytest.mark.parametrize(
    ("method", "sizes", "subproblems"), [("auto", (60, 3, 5), 120), ("packing", (60, 6, 3), 100)]
)
def test_killed_at_any_moment_it_goes_on_from_its_last_state(method, sizes, subproblems, tmp_path) -> None:
    data = generate("B", *sizes)
    reference = solve(data.X, data.y, 10.0, method=method, time_limit=None)
    table, state, model = tmp_path / "data.csv", tmp_path / "state", tmp_path / "model.json"
    np.savetxt(table, np.column_stack([data.X, data.y]), delimiter=",", fmt="%.17g")
    words = ["solve", str(table), "--C", "10", "--method", method, "--json", str(model), "--quiet"]
    # The primal search is short.
    words += ["--checkpoint", str(state), "--option", "heuristic_effort=0.01", "--time-limit", "inf"]
    # No child does more than an eighth of the work, so that it takes eight of them on any machine.
    command = [sys.executable, "-c", KILLING, str(subproblems // 8), *words, str(state), str(model)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=True)
    kills, states = map(int, done.stdout.split())
    assert kills > 5, "it ended too soon to be killed"
    assert states > 5, "hardly any state was kept"
    found = Result.load(model)
    assert found.nodes >= subproblems
    assert verify(found, data.X, data.y)
    assert found.optimal
    assert found.objective == pytest.approx(reference.objective, rel=1e-6)
    assert found.lower_bound == pytest.approx(reference.lower_bound, rel=2e-6)
    assert sorted(os.listdir(tmp_path)) == ["data.csv", "model.json", "state"], "something was left behind"


def test_bad_states_are_one_line_on_the_command_line(tmp_path, generated, capsys) -> None:
    state = tmp_path / "state"
    state.write_text("something else")
    data = generated("A", 30, 2)
    assert main(["solve", data, "--resume", str(state), "--json", str(tmp_path / "m.json")]) == 2
    assert main(["solve", data, "--checkpoint", str(state)]) == 2
    assert main(["solve", data, "--resume", str(tmp_path / "none")]) == 2
    assert main(["solve", data, "--checkpoint", "x", "--json", "x"]) == 2
    err = capsys.readouterr().err.splitlines()
    assert [line.startswith("hardmargin: error: ") for line in err] == [True] * 4
    assert "is not a checkpoint" in err[0]
    assert "exists already" in err[1]
    assert "--json and --checkpoint are both 'x'; expected different files" in err[3]
    assert not (tmp_path / "m.json").exists()
    assert state.read_text() == "something else"
