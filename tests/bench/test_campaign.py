"""``bench run``: small campaigns on generated data, as a user makes them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest

from hardmargin.bench.records.record import read_records
from hardmargin.bench.running import worker
from hardmargin.cli import main
from hardmargin.cores import available_cores
from waiting import NEVER, has_a_line, until

EASY = ["--generated", "--instances", "gen60d2", "--time-limit", str(NEVER)]

# A solver so fast that a campaign of many runs takes no time: the hyperplane w = 0.
QUICK = """
import json, sys
task = json.loads(sys.stdin.readline())
y = task["y"]
side = 1 if sum(y) >= 0 else -1
violations = [k for k, label in enumerate(y) if label != side]
objective = task["C"] * len(violations)
print("{}")
print(json.dumps({"peak_memory": 1, "result": dict(
    status="time_limit", objective=objective, lower_bound=BOUND, gap=(objective - BOUND) / objective,
    coef=[0.0] * len(task["X"][0]), intercept=float(side), classes=[-1, 1], violations=violations, runtime=0.0,
    nodes=0, method="auto", C=task["C"], weights=None, n=len(y), m=len(task["X"][0]), trace=[], version="0",
    target_gap=1e-6, n_violations=len(violations))}))
"""


@pytest.fixture
def quick(monkeypatch):
    def use(bound="0.0", before=""):
        monkeypatch.setattr(worker, "CHILD", ["-c", before + QUICK.replace("BOUND", bound)])

    use()
    return use


def campaign(path, *words):
    return main(["bench", "run", "--out", str(path), *words])


def test_a_campaign_from_end_to_end(tmp_path, capsys):
    out, solu = tmp_path / "c.jsonl", tmp_path / "best.solu"
    words = [*EASY, "--C", "10", "--sample", "2", "--methods", "auto,packing", "--best-known", str(solu)]
    jobs = str(min(2, len(available_cores())))
    assert campaign(out, *words, "--jobs", jobs) == 0
    assert "4 of 4 runs, 4 proven" in capsys.readouterr().out
    records = read_records(out)
    assert {(record.method, record.set) for record in records} == {
        (method, kind) for method in ("auto", "packing") for kind in "AB"
    }
    assert all(record.checked and record.optimal and record.gap <= 1e-6 for record in records)
    assert all(record.versions["hardmargin"] and record.machine["cores"] for record in records)
    assert [line.split()[0] for line in solu.read_text().splitlines()] == ["=opt=", "=opt="]


@pytest.mark.usefixtures("quick")
def test_what_is_done_is_skipped(tmp_path, capsys):
    out = tmp_path / "c.jsonl"
    assert campaign(out, *EASY, "--C", "1", "--sample", "2") == 0
    assert campaign(out, *EASY, "--C", "1", "--sample", "4", "--verbose") == 0
    printed = capsys.readouterr()
    assert "4 of 4 runs, 0 proven, mean gap 100 %; 2 made now" in printed.out
    assert printed.err.startswith("2 of 4 runs")
    assert len(out.read_text().splitlines()) == 4


def test_failed_runs_are_made_again_if_asked(tmp_path, capsys, quick):
    out = tmp_path / "c.jsonl"
    quick(before="raise SystemExit('out of luck')\n")
    assert campaign(out, *EASY, "--sample", "1") == 0
    (failed,) = read_records(out)
    assert (failed.status, failed.checked) == ("failed", False)
    assert "out of luck" in failed.error
    quick()
    assert campaign(out, *EASY, "--sample", "1") == 0
    assert read_records(out) == [failed]
    assert campaign(out, *EASY, "--sample", "1", "--retry-failed") == 0
    assert [record.status for record in read_records(out)] == ["time_limit"]


@pytest.mark.parametrize(
    ("line", "bound", "reason"),
    [
        ("=best= gen60d2A0_C1 5.5", "6.0", "bound 6.0 above the objective 5.5 of"),
        ("=opt= gen60d2A0_C1 1000", "6.0", "below the optimum 1000.0 of"),
        ("=best= gen60d2A0_C1 50", "1e9", "lower bound: claimed 1000000000.0"),
    ],
)
def test_a_contradiction_is_an_error_and_not_a_row(tmp_path, capsys, quick, line, bound, reason):
    quick(bound)
    out, solu = tmp_path / "c.jsonl", tmp_path / "best.solu"
    solu.write_text(line + "\n")
    words = ["--generated", "--instances", "gen60d2A0", "--C", "1", "--best-known", str(solu)]
    assert campaign(out, *words) == 1
    printed = capsys.readouterr()
    assert "CONTRADICTION: gen60d2A0, C = 1, auto default" in printed.err
    assert reason in printed.err
    assert "1 contradictions; see" in printed.out
    assert read_records(out) == []
    (entry,) = (tmp_path / "c.contradictions.jsonl").read_text().splitlines()
    assert reason in json.loads(entry)["reason"]


def test_a_bound_that_a_later_run_disproves_is_withdrawn(tmp_path, capsys, quick):
    out = tmp_path / "c.jsonl"
    words = ["--generated", "--instances", "gen60d2A0", "--C", "1", "--seeds"]
    quick("objective")
    assert campaign(out, *words, "0") == 0
    (wrong,) = read_records(out)
    assert wrong.lower_bound == wrong.objective
    # The better hyperplane comes from a real solve.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(worker, "CHILD", ["-m", "hardmargin.bench.running.child"])
        assert campaign(out, *words, "1") == 1
    assert "CONTRADICTION: gen60d2A0, C = 1, auto default, seed 0: bound" in capsys.readouterr().err
    by_seed = {record.seed: record for record in read_records(out)}
    assert by_seed[0].status == "failed"
    assert by_seed[0].error.startswith("contradiction: bound")
    assert by_seed[1].optimal


@pytest.mark.usefixtures("quick")
def test_a_torn_record_is_made_again(tmp_path):
    out = tmp_path / "c.jsonl"
    assert campaign(out, *EASY, "--sample", "2") == 0
    out.write_bytes(out.read_bytes()[:-100])
    assert campaign(out, *EASY, "--sample", "2") == 0
    assert len(read_records(out)) == 2


def test_no_process_is_started_for_a_dry_run(tmp_path, capsys):
    out = tmp_path / "c.jsonl"
    assert campaign(out, "--generated", "--sample", "1", "--configurations", "--dry-run") == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 9
    assert lines[3].endswith("benders cb_5_5 seed=0 T_S=0.05 T_B=0.05")
    assert lines[8].startswith("8 runs, 1 at a time: 8 min if each takes its 60 s, 10 min if")
    assert not out.exists()


@pytest.mark.usefixtures("quick")
def test_a_dry_run_leaves_out_what_is_done(tmp_path, capsys):
    out = tmp_path / "c.jsonl"
    assert campaign(out, *EASY, "--sample", "2") == 0
    capsys.readouterr()
    assert campaign(out, *EASY, "--sample", "3", "--dry-run") == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2
    assert lines[1].startswith("1 run, 1 at a time: 10 min")


@pytest.mark.usefixtures("quick")
def test_no_cluster_is_started_for_nothing(tmp_path, monkeypatch):
    out = tmp_path / "c.jsonl"
    assert campaign(out, *EASY, "--sample", "1") == 0
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert campaign(out, *EASY, "--sample", "1", "--cluster", "local:2") == 0


@pytest.mark.usefixtures("quick")
def test_a_converted_file_is_named(tmp_path, capsys):
    pytest.importorskip("pyarrow", reason="the extra bench is not installed")
    out, table = tmp_path / "c.jsonl", str(tmp_path / "c.parquet")
    assert campaign(out, *EASY, "--sample", "1") == 0
    capsys.readouterr()
    assert main(["bench", "convert", str(out), "--out", table]) == 0
    assert capsys.readouterr().out == f"{table}\n"
    assert main(["bench", "convert", str(out), "--out", table, "--quiet"]) == 0
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_campaign_goes_on_where_it_was(number, status, tmp_path, quick):
    out = tmp_path / "c.jsonl"
    words = [*EASY, "--C", "1", "--sample", "4"]
    # The first run ends at once, the others never do.
    stuck = f"import os, sys\nif os.path.getsize({str(out)!r}): sys.stdin.read()\n"
    quick(before=stuck)
    program = f"""
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from hardmargin.bench.running import worker
from hardmargin.cli import main
worker.CHILD = {worker.CHILD!r}
sys.exit(main())
"""
    command = [sys.executable, "-c", program, "bench", "run", "--out", str(out), *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        until(lambda: has_a_line(out))
        process.send_signal(number)
        printed, error = process.communicate(timeout=NEVER)
    assert process.returncode == status
    assert "1 of 4 runs" in printed
    assert "left" not in printed
    assert "Traceback" not in error
    assert len(read_records(out)) == 1
    quick()
    assert campaign(out, *words) == 0
    records = read_records(out)
    assert len(records) == 4
    assert len(out.read_text().splitlines()) == 4


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a pseudo-terminal")
def test_on_a_terminal_a_line_moves(tmp_path):
    terminal, screen = os.openpty()
    command = [sys.executable, "-m", "hardmargin", "bench", "run", "--out", str(tmp_path / "c.jsonl"), *EASY]
    with subprocess.Popen(
        [*command, "--sample", "1"], stdout=subprocess.PIPE, stderr=screen, env={**os.environ, "TERM": "xterm"}
    ) as process:
        os.close(screen)
        shown = b""
        while b"0 of 1 runs" not in shown:
            shown += os.read(terminal, 1024)
        process.communicate(timeout=NEVER)
    os.close(terminal)
    assert process.returncode == 0
