"""Lower bounds for any number of samples: blocks of samples, each solved as a problem of its own.

``search/blocks.py`` has the bound and its argument, ``methods/block.py`` solves a block. This module chooses the
blocks. They are dealt out so that all are alike, start small, and are merged as long as time is left: groups of
three are replaced by two larger blocks that have the same samples, and every group improves the bound at once.
When a single block is left, it is the whole problem, and the bound may reach the optimum.

Blocks are independent tasks with a budget of work, so the bound does not depend on how many workers of a cluster
run them, nor on the number of threads as long as the budgets suffice.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardmargin.arrays import FloatArray
from hardmargin.bounds import Report
from hardmargin.incumbent import Incumbent
from hardmargin.limits import Limits
from hardmargin.methods.base import SMALLEST_GAP as SMALLEST_GAP
from hardmargin.methods.base import ProofOptions, memory_of, require_memory_limit
from hardmargin.methods.block import BlockAnswer, BlockTask, bound_block
from hardmargin.methods.block_groups import Group, Round, consecutive, restored_groups
from hardmargin.problem import Problem
from hardmargin.result import Result
from hardmargin.search import primal
from hardmargin.search.blocks import (
    SMALLEST_GROWTH,
    Block,
    evened_shares,
    group_sizes,
    merged,
    merged_count,
    plain,
    restored,
    stratified,
    suitable_growth,
    total_bound,
)
from hardmargin.search.context import Context
from hardmargin.search.kept_records import piece_of, plain_piece
from hardmargin.search.portfolio import prove_alone
from hardmargin.search.proof import Proof
from hardmargin.search.recording import ProofRecorder, sum_of
from hardmargin.search.tasks import Batch
from hardmargin.units import GIGABYTE
from hardmargin.validation import is_whole

HAS_FRONTIER = True

# Blocks have at least this many samples, and at first as many as can all be bounded with this much work.
_SMALLEST = 20
_SAMPLES_PER_FEATURE = 2
_MOST_AT_FIRST = 200
_FIRST_WORK = 10_000_000_000
# By how much the size of trial blocks grows, and how many times the least work larger blocks are worth.
_TRIAL_GROWTH = 1.5
_WORTHWHILE = 2.0
# A block that needs this many times the work of those before it, or the work planned at first, is left as it is.
_PATIENCE = 50.0
_LEAST_WORK = 1_000_000_000
# A trial may take this much work in any case.
_LEAST_TRIAL = 100_000_000
# But every block of a round may take this share of its part of the work that is left.
_SHARE_OF_REST = 0.5
# If a round of merging proves nothing, the next one may take this many times the work.
_MORE_WORK = 4.0
# Hyperplanes of blocks that are tried on all samples after a round.
_POLISHED = 200
# Into how many parts the memory is divided, one for each block that is searched; the gigabytes that each has at
# least; and bytes per number of a block, of the samples, their reduced form, and the copies of the core.
_SIDE_BY_SIDE = 4
_LEAST_MEMORY = 0.06
_BYTES_PER_NUMBER = 60
# Up to this many samples, a few blocks are searched together even by fewer threads: memory does not matter then.
_FEW_SAMPLES = 2000
# The samples of a block have at most this many numbers: up to here, dependent features are replaced by fewer.
_MOST_NUMBERS = 2_000_000
# Seconds between two reports of a better bound.
_REPORT_INTERVAL = 0.2
# Relative gap of a block that is one of several.
_BLOCK_GAP = 1e-4


@dataclass(frozen=True)
class Options(ProofOptions):
    """Settings of the bounds by blocks, in addition to those of :class:`ProofOptions`.

    Attributes
    ----------
    first_size : int or None
        Samples of a block at first; None finds out how many can be bounded quickly.
    last_size : int or None
        Blocks are not merged to more samples than this; None means no limit.
    memory : float or None
        Gigabytes of open subproblems, for all blocks that are searched at the same time. None means
        :func:`hardmargin.limits.default_memory`.
    """

    first_size: int | None = None
    last_size: int | None = None
    memory: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        require_memory_limit(self)
        for name in ("first_size", "last_size"):
            value = getattr(self, name)
            if value is not None and not (is_whole(value) and 1 <= value < 2**32):
                raise ValueError(f"{name} is {value!r}; expected a whole number from 1 to 2**32 - 1, or None.")


def run(
    problem: Problem,
    incumbent: Incumbent | None,
    limits: Limits,
    report: Report,
    options: Options | None = None,
    context: Context | None = None,
) -> Result:
    """Search for a hyperplane and bound the optimum; see :class:`hardmargin.methods.base.Method`."""
    return prove_alone(BlocksProof, problem, incumbent, limits, report, options or Options(), context)


class BlocksProof(Proof):
    """A bound by blocks that are merged round by round."""

    kind = "blocks"
    only_bounds = True

    def __init__(
        self,
        problem: Problem,
        found: Result,
        limits: Limits,
        report: Report,
        options: Options,
        context: Context | None = None,
    ) -> None:
        super().__init__(problem, found, limits, report, context)
        self._options = options
        self._effort = options.later_effort * options.heuristic_effort
        # The blocks that this round has yet to look at, and those that it is done with.
        self._waiting: list[Block] = []
        self._done: list[Block] = []
        # Whether this is the first round, which only bounds the blocks.
        self._first = True
        # The most work that a block may take; 0 means no limit.
        self._block_work = 0.0
        self._round = Round()
        # By how much blocks grow, and the work and the number of blocks of the round before.
        self._growth = SMALLEST_GROWTH
        self._work_before, self._count_before = 0, 0
        # The groups of the blocks that wait, with what is proven about the blocks that may replace them.
        self._groups: list[Group] = []
        self._share_value = 0.0
        self._hyperplanes: list[Incumbent] = []
        # Whether more is proven than was reported, and when to report it.
        self._unreported = False
        self._prove_at = 0.0

    def state(self) -> dict[str, Any]:
        """See :class:`Proof`."""
        return {
            **super().state(),
            "waiting": plain(self._waiting),
            "done": plain(self._done),
            "groups": [group.state() for group in self._groups],
            "share_value": self._share_value,
            "first_round": self._first,
            "block_work": self._block_work,
            "growth": self._growth,
            "work_before": self._work_before,
            "count_before": self._count_before,
            "round": asdict(self._round),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """See :class:`Proof`."""
        super().restore(state)
        self._waiting, self._done = restored(state["waiting"]), restored(state["done"])
        self._first = state["first_round"]
        self._block_work = state["block_work"]
        self._growth = state["growth"]
        self._work_before, self._count_before = state["work_before"], state["count_before"]
        self._share_value = state["share_value"]
        self._round = Round(**state["round"])
        self._groups = restored_groups(state["groups"], self._waiting)
        self.own_bound = total_bound([*self._done, *self._waiting])
        if self.context.recorder is not None:
            self._restore_records(self.context.recorder, self.context.recorder.saved[self.kind])

    def recorded(self) -> Any:
        """See :class:`Proof`."""
        lists = (self._done, self._waiting, *(group.after for group in self._groups))
        return [[[plain_piece(piece) for piece in block.pieces] for block in blocks] for blocks in lists]

    def _restore_records(self, recorder: ProofRecorder, recorded: Any) -> None:
        """The inverse of :meth:`recorded`."""

        def proven(blocks: list[Block], pieces: list[list[Any]]) -> list[Block]:
            return [
                replace(block, pieces=tuple(piece_of(recorder, piece) for piece in of_block))
                for block, of_block in zip(blocks, pieces, strict=True)
            ]

        self._done, waiting = proven(self._done, recorded[0]), iter(proven(self._waiting, recorded[1]))
        for group, pieces in zip(self._groups, recorded[2:], strict=True):
            group.before = [next(waiting) for _ in group.before]
            group.after = proven(group.after, pieces)
        self._waiting = [*chain.from_iterable(group.before for group in self._groups), *waiting]

    def step_work_needed(self) -> float:
        """See :class:`Proof`: a few blocks are searched together, and larger ones take far more work."""
        begins = not self._waiting and len(self._done) > 0
        few = begins and merged_count(len(self._done), self._growth) <= _SIDE_BY_SIDE
        return _MORE_WORK * self._round.work if few else 0.0

    def expected_bound(self) -> float:
        """See :class:`Proof`: in the first round, other blocks are expected to prove as much as those before."""
        blocks = [block for block in chain(self._done, self._waiting) if block.norm > 0 or block.bound > 0]
        shares = math.fsum(block.share for block in blocks)
        return math.inf if not blocks else self.own_bound / shares if self._first else self.own_bound

    def steps(self) -> Iterator[None]:
        """See :class:`Proof`."""
        if not (self._waiting or self._done):
            self._deal_first()
        while not (self.finished or self.stuck):
            if not self._waiting:
                self._begin_round()
            if not (self.finished or self.stuck):
                self._run_groups()
                yield

    def _deal_first(self) -> None:
        """Deal the samples out to blocks of a size that can be bounded quickly."""
        order = stratified(np.arange(self.problem.n), self.problem.y, self._margins())
        size = self._options.first_size or self._size_by_trials(order)
        if self.finished:
            return
        count = max(1, math.ceil(self.problem.n / min(size, self._most_samples)))
        self._waiting = [Block(np.sort(order[first::count]), 1 / count) for first in range(count)]
        self._block_work = max(_LEAST_WORK, _PATIENCE * _FIRST_WORK / count) if count > 1 else 0.0

    def _size_by_trials(self, order: NDArray[np.intp]) -> float:
        """The number of samples per block with which all blocks together take little work.

        Small blocks take little work each, but there are many of them: sizes grow at least until the total rises.
        """
        n = self._most_samples
        size = float(min(n, max(_SMALLEST, min(_SAMPLES_PER_FEATURE * (self.problem.m + 1), _MOST_AT_FIRST))))
        last = least = self._trial(order, size, math.inf)
        while size < n and not self.finished:
            larger = min(float(n), _TRIAL_GROWTH * size)
            most = max(_FIRST_WORK, _WORTHWHILE * least)
            total = self._trial(order, larger, most)
            self._set_growth(total, last, larger / size)
            if not math.isfinite(total) or total > most:
                break
            size, last, least = larger, total, min(least, total)
        return size

    def _set_growth(self, work: float, work_before: float, size_ratio: float) -> None:
        """Choose by how much blocks grow, given the work of two rounds, if known, and the ratio of their sizes."""
        if 0 < work < math.inf and 0 < work_before < math.inf and size_ratio > 1:
            self._growth = suitable_growth(math.log(work / work_before) / math.log(size_ratio))

    def _trial(self, order: NDArray[np.intp], size: float, most: float) -> float:
        """The work of all blocks of this size, judged by one of them; infinite if it may be more than ``most``."""
        count = max(1, round(self.problem.n / size))
        answers: list[BlockAnswer] = []
        work = max(_LEAST_TRIAL, min(most / count, _FIRST_WORK))
        self._run([Block(np.sort(order[::count]), 1 / count)], work, partial(_add, answers), recorded=False)
        return count * float(answers[0].work) if answers and not answers[0].cut else math.inf

    def _begin_round(self) -> None:
        """Begin the next round of merging; stuck if there is nothing left to merge."""
        self._polish()
        if self.is_worth_a_primal_search(self._effort):
            self.improve(self._effort)
        ended = self._round
        count = len(self._done)
        # The order in which groups were completed depends on the threads.
        self._done.sort(key=lambda block: int(block.samples[0]))
        if not self._first:
            self._set_growth(ended.work, self._work_before, self._count_before / count)
        size = self.problem.n / merged_count(count, self._growth)
        too_large = size > self._most_samples
        if too_large or (len(self._done) == 1 and not ended.cut):
            self.stuck = True
            return
        if self._first or ended.improved:
            left = self.work_left / merged_count(count, self._growth)
            in_time = _SHARE_OF_REST * left if left < math.inf else 0.0
            self._block_work = max(_LEAST_WORK, _PATIENCE * ended.work / max(1, ended.blocks), in_time)
        else:
            self._block_work *= _MORE_WORK
        self._work_before, self._count_before = ended.work, count
        shares = evened_shares(self._done)
        self._waiting = [replace(block, next_share=share) for block, share in zip(self._done, shares, strict=True)]
        self._done, self._first, self._round = [], False, Round()

    def _form_groups(self) -> list[Group]:
        """The blocks that wait, in groups, each with the blocks that may replace it."""
        if self._first:
            return [Group([block], [block]) for block in self._waiting]
        margins = self._margins()
        groups = consecutive(self._waiting, group_sizes(len(self._waiting), self._growth))
        return [Group(list(group), merged(group, self.problem.y, margins, self._growth)) for group in groups]

    def _run_groups(self) -> None:
        """Bound merged blocks, and replace the groups that prove less, until a step or the round is over."""
        if not self._groups:
            self._groups = self._form_groups()
            # The value of a share, for comparing groups whose shares differ.
            self._share_value = total_bound([*self._done, *self._waiting])
        places = [(group, k) for group in self._groups for k in group.open]
        work_before = self.work
        hyperplanes: dict[int, Incumbent] = {}

        def take(place: int, answer: BlockAnswer) -> None:
            group, k = places[place]
            group.take(k, answer, self.problem)
            self._round.take(answer)
            hyperplanes[place] = Incumbent(answer.coef, answer.intercept)
            if group.is_replaced(self._share_value):
                self._round.improved = self._unreported = True

        keeper = self.context.keeper

        def more() -> bool:
            step_over = 0 < self.step_work <= self.work - work_before
            return not (step_over or self.out_of_nodes or (keeper is not None and keeper.is_due))

        self._run([group.after[k] for group, k in places], self._block_work or math.inf, take, more)
        self._hyperplanes += [hyperplanes[place] for place in sorted(hyperplanes)]
        over = [group for group in self._groups if not group.open]
        self._groups = [group for group in self._groups if group.open]
        self._done += chain.from_iterable(group.best(self._share_value) for group in over)
        if self.context.recorder is not None:
            self._prove()
            self.context.recorder.release(piece for group in over for piece in group.not_needed(self._share_value))
        self._waiting = list(chain.from_iterable(group.before for group in self._groups))
        self._prove()

    def _prove(self) -> None:
        """Update the lower bound."""
        blocks = list(chain(self._done, *(group.best(self._share_value) for group in self._groups)))
        self.own_bound = max(self.own_bound, total_bound(blocks))
        if self.context.recorder is not None:
            pieces = [piece for block in blocks for piece in block.pieces]
            self.context.recorder.offer(sum_of(pieces), pieces)
        self.learn(self.incumbent, self.objective, self.own_bound)

    @property
    def _block_memory(self) -> float:
        """Gigabytes for one block; it does not depend on the threads, because the bound should not."""
        return max(_LEAST_MEMORY, memory_of(self._options, self.problem) / _SIDE_BY_SIDE)

    @property
    def _most_samples(self) -> int:
        """The largest size of a block: the option ``last_size``, and what can be handled."""
        n, m = self.problem.n, self.problem.m
        # The features of a block of sparse samples are those that occur in it.
        per_sample = self.problem.stored_values / n if self.problem.sparse else math.inf
        numbers = min(self._block_memory * GIGABYTE / _BYTES_PER_NUMBER, _MOST_NUMBERS)
        fits = max(numbers / max(m, 1), math.sqrt(numbers / max(per_sample, 1.0)))
        return min(n, self._options.last_size or n, max(_SMALLEST, int(fits)))

    def _nodes_per_block(self, side_by_side: int) -> int | None:
        """Subproblems that each of so many blocks may examine."""
        allowed = self.nodes_allowed()
        return max(1, allowed // side_by_side) if allowed > 0 else None

    def _run(
        self,
        blocks: list[Block],
        work: float,
        take: Callable[[int, BlockAnswer], None],
        more: Callable[[], bool] = lambda: True,
        *,
        recorded: bool = True,
    ) -> None:
        """Bound blocks, each with a limited amount of work; without a proof in a file unless ``recorded``."""
        recorder = self.context.recorder if recorded else None
        folder = None if recorder is None else recorder.folder if self.context.engine.shares_files else ""
        # A few large blocks prove nothing before all of them are searched.
        together = len(blocks) <= _SIDE_BY_SIDE and self.problem.n <= _FEW_SAMPLES
        under_way = len(blocks) if together else 0

        def task(block: Block) -> BlockTask:
            whole = len(block.samples) == self.problem.n
            return BlockTask(
                block.problem(self.problem),
                self.coef,
                self.intercept,
                self.limits.gap if whole else max(self.limits.gap, _BLOCK_GAP),
                work,
                self._block_memory,
                self._nodes_per_block(max(self.limits.threads, under_way)),
                self.limits.seed,
                folder,
                max(0.0, self.work_left) / len(blocks) if under_way else math.inf,
            )

        def count(place: int, answer: BlockAnswer) -> None:
            self.nodes += answer.nodes
            self.work += answer.work
            if recorder is not None and answer.records:
                answer = answer._replace(pieces=recorder.stored(answer.pieces, answer.records), records=None)
            take(place, answer)

        self.context.engine.run_tasks(
            Batch(
                bound_block,
                map(task, blocks),
                self.limits.remaining(),
                self.limits.threads,
                count,
                self._go_on,
                more,
                under_way,
            )
        )
        self.watch.take_note(None)

    def _go_on(self) -> bool:
        """Report; False if the search has to end."""
        now = time.monotonic()
        if self._unreported and now >= self._prove_at:
            # Adding up thousands of bounds takes a while.
            self._prove()
            self._unreported, self._prove_at = False, now + _REPORT_INTERVAL
        return self.watch.report(self.objective, self.lower_bound, self.all_nodes)

    def _margins(self) -> FloatArray:
        return self.problem.evaluate(self.coef, self.intercept).margins

    def _polish(self) -> None:
        """Try the hyperplanes of the blocks on all samples."""
        hyperplanes, self._hyperplanes = self._hyperplanes[:_POLISHED], []
        found = primal.polish(
            self.problem, self.incumbent, hyperplanes, self.limits, self.watch, self._options.heuristic_effort
        )
        self.learn(found, self.problem.evaluate(*found).objective)
        self.watch.report(self.objective, self.lower_bound, self.all_nodes)


def _add(answers: list[BlockAnswer], _: int, answer: BlockAnswer) -> None:
    answers.append(answer)
