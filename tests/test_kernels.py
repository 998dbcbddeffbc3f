"""Which table of inner loops serves."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from hardmargin import _core

PROGRAM = """
from hardmargin import _core, solve
from hardmargin.data import generate
data = generate("B", 60, 3, 1)
results = [solve(data.X, data.y, 10.0, method=name) for name in ("packing", "directions")]
print(_core.kernels_in_use(), *(result.objective for result in results))
"""


def run_with(kernels: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "HARDMARGIN_KERNELS": kernels}
    return subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("name", ["baseline", "avx2"])
def test_the_environment_chooses_and_the_optimum_is_the_same(name) -> None:
    done = run_with(name)
    assert done.returncode == 0, done.stderr
    used, *objectives = done.stdout.split()
    # A CPU without AVX2 uses the baseline whatever is asked for.
    assert used in (name, "baseline")
    chosen = run_with("")
    assert chosen.returncode == 0, chosen.stderr
    for objective, expected in zip(objectives, chosen.stdout.split()[1:], strict=True):
        assert float(objective) == pytest.approx(float(expected), rel=1e-6)


def test_an_unknown_table_is_refused() -> None:
    done = run_with("sse9")
    assert done.returncode != 0
    assert "HARDMARGIN_KERNELS is 'sse9'; expected baseline or avx2" in done.stderr


def test_the_table_in_use_has_a_name() -> None:
    assert _core.kernels_in_use() in ("baseline", "avx2")
