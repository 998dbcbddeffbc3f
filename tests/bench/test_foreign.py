"""Methods and results of other people in campaigns."""

from __future__ import annotations

import json

import numpy as np
import pytest

from hardmargin import Problem, solve
from hardmargin.bench.records.record import Record, read_records
from hardmargin.bench.running.configurations import variants
from hardmargin.bench.running.foreign import foreign_function, is_foreign, solve_with
from hardmargin.cli import main
from hardmargin.data import generate
from hardmargin.limits import Limits

MODULE = """
import numpy as np

def fit(X, y, C, time_limit):
    w = X[y > 0].mean(axis=0) - X[y < 0].mean(axis=0)
    return w, -w @ X.mean(axis=0), None

def run(problem, incumbent, limits, report, options=None):
    from hardmargin.methods import packing
    return packing.run(problem, incumbent, limits, report)

def boast(X, y, C, time_limit):
    return np.zeros(X.shape[1]), 1.0, 1e9

def nonsense(X, y, C, time_limit):
    return "a hyperplane"

number = 3
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    name = f"solver_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    return name


@pytest.fixture
def problem():
    data = generate("A", 20, 2, seed=1)
    return Problem.from_data(data.X, data.y, 10.0)


def test_names():
    assert is_foreign("a.b:c")
    assert not is_foreign("auto")


def test_a_function_without_a_bound_is_a_heuristic(module, problem):
    result = solve_with(foreign_function(f"{module}:fit"), problem, Limits(), "mine")
    assert (result.status.value, result.lower_bound, result.method) == ("heuristic", 0.0, "mine")
    assert result.objective == pytest.approx(problem.evaluate(result.coef, result.intercept).objective)


def test_a_function_with_our_signature_proves_what_ours_proves(module, problem):
    result = solve_with(foreign_function(f"{module}:run"), problem, Limits(), "mine")
    best = solve(problem.X, problem.y, C=10.0)
    assert result.optimal
    assert result.objective == pytest.approx(best.objective)


def test_samples_kept_within_a_tolerance_are_kept(problem):
    best = solve(problem.X, problem.y, C=10.0)
    nearly = np.array(best.coef) * (1 - 1e-8), best.intercept * (1 - 1e-8), best.lower_bound * (1 - 1e-7)
    result = solve_with(lambda X, y, C, time_limit: nearly, problem, Limits(), "mine")
    assert result.violations == best.violations
    assert result.optimal


@pytest.mark.parametrize(
    ("function", "message"),
    [("boast", "claims the bound 1e\\+09"), ("nonsense", "expected \\(coef, intercept, lower_bound\\)")],
)
def test_wrong_answers_are_refused(module, problem, function, message):
    with pytest.raises(ValueError, match=message):
        solve_with(foreign_function(f"{module}:{function}"), problem, Limits(), "mine")


@pytest.mark.parametrize("name", ["no_such_module:fit", ":fit", "{}:absent", "{}:number"])
def test_what_cannot_be_called_is_refused_before_the_campaign(module, name):
    with pytest.raises(ValueError, match="expected MODULE:FUNCTION"):
        variants([name.format(module)], ["default"], {})


def test_a_campaign_with_a_function_of_ones_own(module, tmp_path, capsys):
    out = tmp_path / "runs.jsonl"
    chosen = ["--generated", "--instances", "gen60d2A0", "--C", "10", "--methods", f"{module}:fit"]
    assert main(["bench", "run", "--out", str(out), *chosen]) == 0
    (record,) = read_records(out)
    assert (record.method, record.checked, record.lower_bound) == (f"{module}:fit", True, 0.0)
    assert main(["bench", "tables", str(out), "--per-instance"]) == 0
    assert f"{module}:fit" in capsys.readouterr().out


def test_a_minimal_record_joins_the_tables(tmp_path, capsys):
    line = {"instance": "n60d2ATj0", "C": 10, "method": "gurobi", "objective": 61.3, "lower_bound": 61.3}
    line |= {"runtime": 2.5, "time_limit": 600}
    record = Record.from_json(json.dumps(line))
    assert (record.set, record.n, record.m, record.status, record.gap) == ("A", 60, 2, "optimal", 0.0)
    assert not record.checked
    assert Record.from_json(record.to_json()) == record
    path = tmp_path / "gurobi.jsonl"
    path.write_text(json.dumps(line) + "\n" + json.dumps({**line, "C": 1, "lower_bound": 50}) + "\n")
    assert main(["bench", "tables", str(path), "--per-instance", "--format", "csv"]) == 0
    out = capsys.readouterr().out
    assert "optimal" in out
    assert "time_limit" in out


def test_minimal_records_of_other_instances_name_their_size():
    line = {"instance": "mine", "C": 10, "method": "x", "objective": 1, "lower_bound": None, "runtime": 1}
    with pytest.raises(ValueError, match="the key 'set' is missing"):
        Record.from_json(json.dumps({**line, "time_limit": 60}))
    sized = {**line, "time_limit": 60, "set": "UCI", "n": 10, "m": 2}
    assert Record.from_json(json.dumps(sized)).status == "failed"
