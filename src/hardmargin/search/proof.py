"""What the exact methods share: the best hyperplane, the best bound, and how a search of the core improves them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from hardmargin.bounds import Report
from hardmargin.frontier import Frontier
from hardmargin.incumbent import Incumbent
from hardmargin.limits import Limits
from hardmargin.problem import Problem
from hardmargin.result import Result
from hardmargin.search import primal
from hardmargin.search.context import Context
from hardmargin.search.engine import Search, SearchResult
from hardmargin.search.recording import DirectionRecords, SampleRecords
from hardmargin.search.settings import Settings
from hardmargin.search.watch import Watch
from hardmargin.status import Status

# The first of the longer primal searches is this share of the time until the second one. The work at which further
# ones are due rises with this power of their number, because later ones rarely find a better hyperplane.
_PRIMAL_SHARE = 0.1
_PRIMAL_POWER = 1.5
# Completing the records of a proof may take at least this much work, which is a moment.
_LEAST_WORK = 1_000_000_000


class Proof:
    """A proof in the making, by one kind of search.

    Attributes
    ----------
    coef, intercept, objective
        The best hyperplane.
    lower_bound : float
        The best bound, whichever proof of the solve has proven it.
    own_bound : float
        The best bound that this proof has proven by itself.
    nodes : int
        Number of subproblems examined.
    nodes_elsewhere : int
        Subproblems of other proofs of the same solve: reports and node limits count all of them.
    work_elsewhere : int
        Work of other proofs of the same solve.
    work : int
        Approximate number of multiply-adds of the searches.
    step_work : int
        Work after which a step ends; 0 means that a step lasts as long as the search.
    work_limit : float
        The work of all proofs of the solve at which the time will be up, as far as that is known. It does not end
        anything.
    stuck : bool
        Whether the search cannot continue because of rounding.
    primal_searches : int
        How many longer searches for a better hyperplane there have been.
    memory : int
        Bytes of open subproblems before they go depth first.
    slice : int
        Subproblems that a thread searches before it checks the limits.
    knowledge : object or None
        What the core's searches learn from each other; see :class:`hardmargin.search.engine.Search`.
    """

    #: The kind of search, and the name of the method.
    kind: str
    #: Whether it provides a bound, and can hardly be expected to prove optimality.
    only_bounds = False

    def __init__(
        self, problem: Problem, found: Result, limits: Limits, report: Report, context: Context | None = None
    ) -> None:
        self.problem = problem
        self.limits = limits
        self.context = context or Context()
        self.watch = Watch(limits, report)
        self.memory = 0
        self.slice = Search.slice
        self.knowledge: Any = None
        self.coef = np.array(found.coef)
        self.intercept = found.intercept
        self.objective = found.objective
        self.lower_bound = found.lower_bound
        self.own_bound = 0.0
        self.nodes = 0
        self.nodes_elsewhere = 0
        self.work_elsewhere = 0
        self.work = 0
        self.step_work = 0
        self.work_limit = math.inf
        self.stuck = False
        self.primal_searches = 0

    def steps(self) -> Iterator[None]:
        """The whole proof, in steps; it ends when it is finished or stuck."""
        raise NotImplementedError

    def remaining_work(self) -> float:
        """The work that the proof is expected to need still; infinite if unknown.

        It decides how the proofs of a portfolio share the work, and nothing that is proven depends on it.
        """
        return math.inf

    @property
    def work_left(self) -> float:
        """The work until the time is up, as far as that is known; negative if there was more time than expected."""
        return self.work_limit - self.work - self.work_elsewhere

    def step_work_needed(self) -> float:
        """The work that a step is expected to take at least, however small :attr:`step_work` is."""
        return 0.0

    def expected_bound(self) -> float:
        """The bound that it will have proven by itself when it is done with what it is about."""
        return self.own_bound

    def state(self) -> dict[str, Any]:
        """Where the proof is, as plain data; hyperplane and bound are kept elsewhere, for all proofs together."""
        return {
            "nodes": self.nodes,
            "work": self.work,
            "stuck": self.stuck,
            "primal_searches": self.primal_searches,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a state."""
        self.nodes, self.work = state["nodes"], state["work"]
        self.stuck, self.primal_searches = state["stuck"], state["primal_searches"]

    def recorded(self) -> Any:
        """What the proof has recorded for a proof in a file, as plain data that belongs to its state."""
        return None

    def take_over(self, other: Proof) -> None:
        """Learn what another proof of the same problem knows."""
        self.learn(Incumbent(other.coef, other.intercept), other.objective, other.lower_bound)
        self.primal_searches = max(self.primal_searches, other.primal_searches)

    def learn(self, hyperplane: Incumbent, objective: float, lower_bound: float = 0.0) -> None:
        """Take over a hyperplane and a bound, each if it is better."""
        if objective < self.objective:
            self.coef, self.intercept, self.objective = np.array(hyperplane.coef), hyperplane.intercept, objective
        self.lower_bound = min(max(self.lower_bound, lower_bound), self.objective)

    @property
    def incumbent(self) -> Incumbent:
        """The best hyperplane."""
        return Incumbent(self.coef, self.intercept)

    @property
    def reduced(self) -> str:
        """One line on what was decided before the search, empty if nothing was."""
        return ""

    @property
    def all_nodes(self) -> int:
        """Subproblems that all proofs of the solve have examined."""
        return self.nodes + self.nodes_elsewhere

    @property
    def proven(self) -> bool:
        """Whether the requested gap is reached."""
        return self.lower_bound >= self.objective * (1 - self.limits.gap)

    @property
    def finished(self) -> bool:
        """Whether the proof is complete or a limit was reached."""
        return self.proven or self.watch.ended is not None or self.out_of_nodes

    @property
    def out_of_nodes(self) -> bool:
        """Whether the node limit is reached."""
        return self.limits.node_limit is not None and self.all_nodes >= self.limits.node_limit

    def nodes_allowed(self, nodes: int | None = None) -> int:
        """What is left of the node limit, or ``nodes`` if that is less; 0 means no limit."""
        limits = [nodes] if nodes is not None else []
        if self.limits.node_limit is not None:
            limits.append(max(1, self.limits.node_limit - self.all_nodes))
        return min(limits, default=0)

    def search(
        self,
        frontier: Frontier | SearchResult,
        settings: Settings,
        upper: float,
        *,
        nodes: int | None = None,
        work: int = 0,
        records: SampleRecords | DirectionRecords | None = None,
    ) -> SearchResult:
        """Search below a frontier for hyperplanes that cost less than ``upper``, and take over what is found.

        It ends after ``nodes`` subproblems, after ``work`` multiply-adds (0 means no limit) or those of a step, and
        when a checkpoint is due. Records of a proof are written to ``records``, if given. They are of use only if
        nothing is left open. So a search that has reached the gap by then is completed, unless that takes as much
        work as all before it.
        """
        work = min(filter(None, (work, self.step_work)), default=0)
        keeper = self.context.keeper
        pause = keeper.seconds_until_due() if keeper is not None else math.inf
        found = self._search(frontier, settings, upper, nodes, work, pause, records)
        if records is not None and self._only_records_are_incomplete(found, upper):
            # Below the best objective: what cannot be closed below a far larger one may be closed there.
            upper = min(upper, self.objective)
            if self._has_same_samples(records):
                found = self._search(found, settings, upper, None, max(_LEAST_WORK, self.work), math.inf, records)
        return found

    def _only_records_are_incomplete(self, found: SearchResult, upper: float) -> bool:
        """Whether a search has proven what it is for, but not closed everything, and no limit was reached."""
        reached = found.lower_bound >= min(upper, self.objective) * (1 - self.limits.gap)
        return reached and not (found.exhausted or self.watch.ended is not None or self.out_of_nodes)

    def _has_same_samples(self, records: Any) -> bool:
        """Whether records may be continued below the present objective."""
        return True

    def _search(
        self,
        frontier: Frontier | SearchResult,
        settings: Settings,
        upper: float,
        nodes: int | None,
        work: int,
        pause: float,
        records: SampleRecords | DirectionRecords | None,
    ) -> SearchResult:
        """One search of the core; see :meth:`search`."""
        search = Search(
            settings,
            upper,
            self.limits.remaining(),
            pause=pause,
            keep_below=self.objective,
            threads=self.limits.threads,
            memory=self.memory,
            slice=self.slice,
            node_limit=self.nodes_allowed(nodes),
            work_limit=work,
            knowledge=self.knowledge,
            proof=None if records is None else records.sink,
            proof_number=0 if records is None else records.number,
        )
        found = self.context.engine.search(self.problem, frontier, search, self.observe)
        self._add(found)
        return found

    def _add(self, found: SearchResult) -> None:
        """Take over what a search found and proved, and why it ended."""
        self.nodes += found.nodes
        self.work += found.work
        # Without weights nothing better was found, and the objective is the one it started from.
        objective = found.objective if found.weights else np.inf
        self.learn(Incumbent(np.array(found.weights), found.bias), objective, found.lower_bound)
        self.own_bound = max(self.own_bound, min(found.lower_bound, self.objective))
        self.watch.report(self.objective, self.lower_bound, self.all_nodes)
        self.watch.take_note(found.outcome)

    def work_until_primal_search(self, effort: float) -> int:
        """Work until the next longer primal search is due; 0 if it is due now."""
        return max(0, self._work_for(self.primal_searches, effort) - self.work)

    def is_worth_a_primal_search(self, effort: float) -> bool:
        """Whether one more longer primal search would be a small share of the work."""
        return self.work >= self._work_for(self.primal_searches + 1, effort)

    def _work_for(self, searches: int, effort: float) -> int:
        """The work of which this many longer primal searches are a small share."""
        # A primal search has one thread, and the others wait.
        planned = self.limits.threads * primal.planned_work(self.problem, effort)
        return int(searches**_PRIMAL_POWER * planned / _PRIMAL_SHARE)

    def improve(self, effort: float) -> None:
        """Run a longer primal search if one is due: the first time, and again now and then in a long proof.

        Every search uses another seed, and starts from the best hyperplane so far.
        """
        if self.finished or self.work_until_primal_search(effort) > 0:
            return
        limits = replace(self.limits, seed=(self.limits.seed + self.primal_searches) % 2**64)
        found = primal.search(
            self.problem, self.incumbent, limits, self._observe_primal_search, effort, self.context.recorder
        )
        self.learn(Incumbent(np.array(found.coef), found.intercept), found.objective, found.lower_bound)
        if found.status is Status.HEURISTIC:
            self.primal_searches += 1
        else:
            self.watch.ended = found.status

    def observe(self, upper: float, lower: float, nodes: int) -> bool:
        """Report the progress of a search; False if it has to end."""
        # While a target is searched below, `upper` is that target and not what a hyperplane reaches.
        lower_bound = max(self.lower_bound, min(lower, self.objective))
        return self.watch.report(self.objective, lower_bound, self.all_nodes + nodes)

    def result(self) -> Result:
        """The best hyperplane, with the best bound."""
        unfinished = Status.NODE_LIMIT if self.out_of_nodes else Status.HEURISTIC
        ended = self.watch.ended or (Status.OPTIMAL if self.proven else unfinished)
        return Result.of(
            self.problem,
            self.coef,
            self.intercept,
            lower_bound=self.lower_bound,
            status=ended,
            method=self.kind,
            runtime=self.limits.elapsed(),
            nodes=self.nodes,
        )

    def _observe_primal_search(self, _: float, upper: float, lower: float, __: int) -> None:
        self.watch.pass_on(min(upper, self.objective), max(lower, self.lower_bound), self.all_nodes)
