"""The script that measures growth: what it computes, and that it resumes."""

from __future__ import annotations

import json
import math
import subprocess
import sys

import numpy as np
import pytest

from hardmargin import Problem
from hardmargin.data import generate
from scripts import FOLDER, loaded

pytest.importorskip("matplotlib", reason="the extra plot is not installed")

FILE = "benchmarks/growth.py"


@pytest.fixture(scope="module")
def growth():
    return loaded(FILE)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_the_best_scale_and_offset(growth, seed, C) -> None:
    data = generate("A", 60, 1, seed)
    objective, factor, offset = growth.best_on_line(data.X[:, 0], data.y, C)
    problem = Problem.from_data(data.X, data.y, C)
    assert problem.evaluate([factor], offset).objective == pytest.approx(objective, rel=1e-6)
    lows, highs = np.meshgrid(data.X[data.y < 0], data.X[data.y > 0])
    widths = (highs - lows)[highs > lows]
    exact = min(
        problem.evaluate([2 / width], -1 - 2 * low / width).objective
        for low, width in zip(lows[highs > lows], widths, strict=True)
    )
    flat = C * min(np.sum(data.y > 0), np.sum(data.y < 0))
    assert objective == pytest.approx(min(exact, flat), rel=1e-9)


def test_samples_on_one_point(growth) -> None:
    assert growth.best_on_line(np.zeros(3), np.array([1.0, -1.0, 1.0]), 2.0) == (2.0, 0.0, 1.0)


@pytest.mark.parametrize("kind", ["noise", "A", "B"])
def test_the_data(growth, kind) -> None:
    X, y, X_test, y_test = growth.make_data(kind, 50, 3, 7)
    assert (X.shape, X_test.shape[1], len(y_test)) == ((50, 3), 3, len(X_test))
    assert set(y) == set(y_test) == {-1.0, 1.0}
    again = growth.make_data(kind, 50, 3, 7)
    assert np.array_equal(X, again[0])


def test_the_exponent_of_a_power(growth) -> None:
    sizes = [10, 100, 1000]
    assert growth.exponent(sizes, [3 * size**1.5 for size in sizes]) == pytest.approx(1.5)
    assert growth.exponent(sizes, [1.0, math.nan, 10.0]) == pytest.approx(0.5)
    assert math.isnan(growth.exponent([10], [1.0]))


def test_a_run_is_done_once_and_failures_again(growth, tmp_path, monkeypatch) -> None:
    run = growth.Run(growth.OURS, "noise", 30, 2, 0, 1.0, 60.0, 1)
    outcomes = [{"status": "failed", "error": "memory"}, {"status": "optimal", "seconds": 1.0, "mb": 5.0}]
    calls = []

    def measured(asked):
        calls.append(asked)
        return {**asked._asdict(), **outcomes[len(calls) - 1]}

    monkeypatch.setattr(growth, "measure_apart", measured)
    path = tmp_path / "growth.jsonl"
    for _ in range(3):
        growth.run_missing([run], path)
    assert calls == [run, run]
    assert growth.load(path)[run]["status"] == "optimal"


def test_a_torn_line_is_no_run_and_harms_no_other(growth, tmp_path, monkeypatch) -> None:
    first, second = (growth.Run(growth.OURS, "noise", n, 2, 0, 1.0, 60.0, 1) for n in (30, 31))
    answer = {"status": "optimal", "seconds": 1.0, "mb": 5.0}
    monkeypatch.setattr(growth, "measure_apart", lambda asked: {**asked._asdict(), **answer})
    path = tmp_path / "growth.jsonl"
    growth.run_missing([first], path)
    path.write_text(path.read_text() + '{"torn')
    growth.run_missing([second], path)
    assert list(growth.load(path)) == [first, second]


def test_a_process_that_fails_is_told(growth) -> None:
    record = growth.measure_apart(growth.Run(growth.OURS, "none such", 30, 2, 0, 1.0, 60.0, 1))
    assert record["status"] == "failed"
    assert record["error"].startswith("exit status 1: ValueError")


def test_a_small_measurement(tmp_path) -> None:
    words = [
        sys.executable,
        str(FOLDER / FILE),
        "--output",
        str(tmp_path),
        "--sizes",
        "20",
        "40",
        "--features",
        "2",
    ]
    for _ in range(2):
        done = subprocess.run([*words, "--C", "10"], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    records = [json.loads(line) for line in (tmp_path / "growth.jsonl").read_text().splitlines()]
    assert [(one["solver"], one["n"], one["status"]) for one in records] == [
        ("LinearSVC", 20, "fitted"),
        ("SGDClassifier", 20, "fitted"),
        ("hardmargin", 20, "optimal"),
        ("LinearSVC", 40, "fitted"),
        ("SGDClassifier", 40, "fitted"),
        ("hardmargin", 40, "optimal"),
    ]
    for *others, ours in (records[:3], records[3:]):
        assert ours["objective"] <= min(other["objective"] for other in others) * (1 + 1e-6)
        assert ours["mb"] > 0
    text = (tmp_path / "growth.md").read_text()
    assert "2 features:" in text
    assert "| 40 |" in text
    for name in ("seconds", "memory", "proven"):
        assert (tmp_path / f"growth-noise-{name}.svg").stat().st_size > 1000
