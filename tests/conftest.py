"""Shared by several test modules: data, and a method that returns what it is given."""

from __future__ import annotations

import math
import os
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st

import hardmargin.methods
import hardmargin.solver
import hardmargin.stopping
from hardmargin import Problem, Result, Status, data
from hardmargin.methods.base import Limits
from hardmargin.stopping import Stall

# Without deadlines, because other work on the machine must not fail a test.
settings.register_profile("hardmargin", deadline=None, database=None, max_examples=60)
settings.load_profile("hardmargin")

REPOSITORY = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session", autouse=True)
def listening() -> Iterator[None]:
    """Ctrl-C as in the foreground: tests that run in the background of a script would ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the repository."""
    return REPOSITORY


@pytest.fixture(scope="session")
def data_directory() -> Path:
    """The directory of benchmark instances, which are not part of the repository."""
    named = os.environ.get("HARDMARGIN_DATA")
    directory = Path(named) if named else REPOSITORY.parent / "shared" / "data"
    if not (directory / "brooks").is_dir():
        pytest.skip(f"no benchmark instances in {directory}; set HARDMARGIN_DATA to where they are")
    return directory


@pytest.fixture
def generated(tmp_path: Path) -> Callable[..., str]:
    """Writes a random instance and returns the file name."""

    def generate(type: str, n: int, d: int) -> str:
        file = tmp_path / f"{type}-{n}-{d}.txt"
        data.save(data.generate(type, n, d, seed=0), file, "brooks")
        return str(file)

    return generate


@pytest.fixture
def line() -> tuple[np.ndarray, np.ndarray]:
    """Five samples on a line, the last one an outlier: at C = 10 the optimum gives it up and costs 10.5."""
    return np.array([[0.0], [1.0], [3.0], [4.0], [9.0]]), np.array([0, 0, 1, 1, 0])


@pytest.fixture
def blobs() -> tuple[np.ndarray, np.ndarray]:
    """Two separable clouds in the plane and two samples on the wrong side."""
    rng = np.random.default_rng(7)
    centres = np.repeat([[-2.0, 0.0], [2.0, 0.0]], 20, axis=0)
    X = centres + 0.5 * rng.standard_normal((40, 2))
    y = np.repeat([-1, 1], 20)
    X[[3, 30]] = [[9.0, 1.0], [-8.0, 2.0]]
    return X, y


@pytest.fixture(scope="session")
def small_problems() -> st.SearchStrategy[Problem]:
    """Problems small enough for brute force, with duplicates, ties, constant features and zero weights."""

    @st.composite
    def problems(draw: st.DrawFn) -> Problem:
        n, m = draw(st.integers(2, 7)), draw(st.integers(1, 3))
        values = st.sampled_from([-2.0, -1.0, -0.5, 0.0, 0.25, 1.0, 3.0])
        X = np.array(draw(st.lists(st.lists(values, min_size=m, max_size=m), min_size=n, max_size=n)))
        y = np.array([-1, 1, *draw(st.lists(st.sampled_from([-1, 1]), min_size=n - 2, max_size=n - 2))])
        weight = st.sampled_from([0.0, 0.5, 1.0, 2.0])
        weights = [1.0, 1.0, *draw(st.lists(weight, min_size=n - 2, max_size=n - 2))]
        C = draw(st.sampled_from([0.1, 1.0, 100.0]))
        return Problem.from_data(X, y, C, sample_weight=draw(st.sampled_from([None, weights])))

    return problems()


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """No search stalls by default, however slow the machine is; a test that is about stalling passes a rule."""
    parsed = hardmargin.stopping.parsed_stop
    monkeypatch.setattr(
        hardmargin.solver, "parsed_stop", lambda stop: Stall(seconds=1e9) if stop == "stall" else parsed(stop)
    )


class FakeClock:
    """The time that a solve has left, when Python asks for it: plenty, or none."""

    def __init__(self) -> None:
        self.left = math.inf
        self.looks = 0

    def start(self) -> None:
        """There is time, and nobody has checked it yet."""
        self.left, self.looks = math.inf, 0

    def end(self, after_looks: int = 0) -> None:
        """The time is over after this many checks of the clock from now on."""
        self.left, self.looks = after_looks, 0

    def look(self) -> float:
        """The time that a solve gets."""
        self.looks += 1
        return math.inf if self.looks <= self.left else 0.0


@pytest.fixture
def fake_clock(monkeypatch: pytest.MonkeyPatch) -> FakeClock:
    """Time limits that are reached when a test says so, however fast the machine is."""
    clock = FakeClock()
    monkeypatch.setattr(Limits, "remaining", lambda _: clock.look())
    return clock


@pytest.fixture(params=["scip", "cplex"])
def backend_name(request: pytest.FixtureRequest) -> str:
    """A back end of the paper's methods whose solver is installed."""
    # Without importing it: the back end has its own way to do that.
    package = {"scip": "pyscipopt", "cplex": "cplex"}[request.param]
    if find_spec(package) is None:
        pytest.skip(f"no {package}")
    return request.param


@dataclass(frozen=True)
class StubOptions:
    """Options of the stub method."""

    number: float = 1.0


@pytest.fixture
def stub_method(monkeypatch: pytest.MonkeyPatch) -> Callable[..., SimpleNamespace]:
    """Registers a method "stub" that returns a given hyperplane and bound, and records its arguments."""

    def register(coef, intercept, *, lower_bound=0.0, status=Status.HEURISTIC) -> SimpleNamespace:
        calls = []

        def run(problem, incumbent, limits, report, options) -> Result:
            calls.append(SimpleNamespace(problem=problem, incumbent=incumbent, limits=limits, options=options))
            result = Result.of(
                problem,
                coef,
                intercept,
                lower_bound=lower_bound,
                status=status,
                method="stub",
                runtime=limits.elapsed(),
                nodes=17,
            )
            report(0.25, result.objective, result.lower_bound, 17)
            return result

        method = SimpleNamespace(Options=StubOptions, SMALLEST_GAP=1e-9, HAS_FRONTIER=False, run=run, calls=calls)
        monkeypatch.setitem(hardmargin.methods._MODULES, "stub", "stub_method")
        monkeypatch.setitem(sys.modules, "stub_method", method)
        return method

    return register
