"""The compiled loops: which ones are in use, and that all of them solve the same problem."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from hardmargin import _core, solve
from hardmargin.data import generate

NAMES = ("baseline", "avx2", "avx512")
SOLVE = """
from hardmargin import _core, solve
from hardmargin.data import generate
data = generate("B", 60, 3, 1)
result = solve(data.X, data.y, 10.0, method="directions")
print(_core.kernels(), result.status.value, repr(result.objective))
"""


def run(kernels: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "HARDMARGIN_KERNELS": kernels}
    return subprocess.run(
        [sys.executable, "-c", SOLVE], env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("kernels", NAMES)
def test_all_kernels_solve_the_same_problem(kernels) -> None:
    done = run(kernels)
    if kernels not in ("baseline", _core.kernels()) and "expected one of" in done.stderr:
        pytest.skip(f"this CPU has no {kernels}")
    assert done.returncode == 0, done.stderr
    name, status, objective = done.stdout.split()
    assert (name, status) == (kernels, "optimal")
    data = generate("B", 60, 3, 1)
    expected = solve(data.X, data.y, 10.0, method="directions").objective
    assert float(objective) == pytest.approx(expected, rel=1e-6)


def test_unknown_kernels_are_refused() -> None:
    done = run("sse9")
    assert done.returncode != 0
    assert "HARDMARGIN_KERNELS is 'sse9'" in done.stderr
    assert "expected one of those that this CPU has (baseline" in done.stderr


def test_the_best_kernels_are_used_by_default() -> None:
    done = run("")
    assert done.returncode == 0, done.stderr
    usable = [name for name in NAMES if run(name).returncode == 0]
    assert done.stdout.split()[0] == usable[-1]
