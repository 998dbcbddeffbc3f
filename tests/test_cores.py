"""How many threads are started."""

from __future__ import annotations

import pytest

from hardmargin import cores, solve
from hardmargin.cores import THREADS_PER_CORE, available_cores, useful_threads


@pytest.mark.parametrize(
    ("wanted", "started"), [(-1, 3), (1, 1), (3, 3), (12, 12), (13, 12), (10**6, 12), (10**30, 12)]
)
def test_no_more_threads_are_started_than_cores_can_use(wanted, started, monkeypatch) -> None:
    monkeypatch.setattr(cores, "available_cores", lambda: [0, 2, 5])
    assert THREADS_PER_CORE == 4
    assert useful_threads(wanted) == started


def test_a_method_is_told_what_is_started(line, stub_method) -> None:
    stub = stub_method([0.0], -1.0)
    solve(*line, method="stub", threads=10**6)
    assert stub.calls[0].limits.threads == 4 * len(available_cores())


@pytest.mark.parametrize("method", ["auto", "packing", "directions"])
def test_too_many_threads_find_what_one_finds(method, blobs) -> None:
    X, y = blobs
    many, one = (solve(X, y, 0.5, method=method, threads=threads, time_limit=None) for threads in (10**6, 1))
    assert many.optimal
    assert many.objective == pytest.approx(one.objective, rel=1e-6)
