"""The code that runs on the workers: slices of a search, on the problem that every worker has."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple

from distributed import WorkerPlugin

from hardmargin.cluster.records import Records, open_with_numbers, search_slice
from hardmargin.frontier import FORMAT, Frontier
from hardmargin.problem import Problem
from hardmargin.search.engine import LocalEngine, Search, SearchResult, knowledge_of
from hardmargin.search.settings import PackingSettings
from hardmargin.search.tasks import Run
from hardmargin.versions import __version__

# By name of the solve: the problem, and what the slices on this worker learn from each other. By name of the
# search: the best objective that this worker was told.
_problems: dict[str, Problem] = {}
_knowledge: dict[str, Any] = {}
_told: dict[str, float] = {}

# Workers must interpret the numbers of a subproblem in the same way.
_VERSION = f"{__version__}, format {FORMAT}"

#: Sent instead of an objective: slices of this search have to end.
STOP = -math.inf


class OtherVersion(RuntimeError):  # noqa: N818
    """A worker has another version, which may interpret the same numbers differently."""


class Slice(NamedTuple):
    """What a slice found, proved and left open, as plain data."""

    weights: list[float]
    bias: float
    objective: float
    upper: float
    nodes: int
    work: int
    exhausted: bool
    open: Frontier
    records: Records | None = None

    @classmethod
    def of(cls, found: SearchResult, *, numbered: bool = False, records: Records | None = None) -> Slice:
        """The plain data of a finished search; what is open has numbers if there are records."""
        return cls(
            list(found.weights),
            found.bias,
            found.objective,
            found.upper,
            found.nodes,
            found.work,
            found.exhausted,
            open_with_numbers(found) if numbered else Frontier(*found.open),
            records,
        )


class ProblemOnWorkers(WorkerPlugin):
    """Gives the problem to every worker, including those that join later.

    Parameters
    ----------
    solve : str
        The name of the solve.
    problem : Problem or None
        None if the workers get only tasks, which bring all they need.
    recorded : bool
        Whether searches write records of a proof.
    """

    def __init__(self, solve: str, problem: Problem | None, *, recorded: bool = False) -> None:
        self.name = solve
        self.problem = problem
        self.recorded = recorded
        self._version = _VERSION

    def setup(self, worker: Any) -> None:
        """Called on every worker."""
        if self._version != _VERSION:
            raise OtherVersion(f"hardmargin {self._version} hands out the work, but this worker has {_VERSION}")
        if self.problem is not None:
            _problems[self.name] = self.problem
            _knowledge[self.name] = knowledge_of(self.problem, keeps_certificates=self.recorded)

    def teardown(self, worker: Any) -> None:
        """Called when the solve is over."""
        _problems.pop(self.name, None)
        _knowledge.pop(self.name, None)
        for search in [name for name in _told if name.startswith(self.name)]:
            del _told[search]


def tell(name: str, objective: float) -> None:
    """Tell the slices of a search on this worker about a better objective: they end, and continue with it."""
    _told[name] = min(objective, _told.get(name, math.inf))


def run_task(name: str, run: Run, task: Any, seconds: float) -> Any:
    """Run a task of a batch until it is finished, its time is up, or the batch has ended."""
    return run(task, seconds, lambda: _told.get(name, math.inf) > STOP)


def run_slice(solve: str, name: str, frontier: Frontier, search: Search, last_number: int | None = None) -> Slice:
    """Search below a frontier until the slice's time is up, or a better hyperplane is found anywhere.

    If ``last_number`` is given, the subproblems have numbers, and the slice returns records of a proof; numbers up
    to this one were given out before.
    """

    def go_on(upper: float, lower: float, nodes: int) -> bool:
        return upper >= search.upper and _told.get(name, math.inf) >= search.upper

    if isinstance(search.settings, PackingSettings):
        search = replace(search, knowledge=_knowledge.get(solve))
    if last_number is None:
        return Slice.of(LocalEngine().search(_problems[solve], frontier, search, go_on))
    found, records = search_slice(_problems[solve], frontier, search, last_number, go_on)
    return Slice.of(found, numbered=True, records=records)
