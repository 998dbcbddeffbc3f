"""The method ``blocks``: bounds of parts of the samples add up to a bound of the whole."""

from __future__ import annotations

import math

import numpy as np
import pytest

from brute_force import KINDS, case_and_optimum, compared, optimum
from hardmargin import Problem, Status, solve, verify
from hardmargin.data import generate
from hardmargin.methods import blocks as method
from hardmargin.methods.block import BlockTask, bound_block
from hardmargin.presolve import presolve
from hardmargin.search import blocks
from hardmargin.search.blocks import Block

SMALL = {"first_size": 5, "last_size": 5}


def problem_of(seed: int, n: int = 24, m: int = 2, C: float = 10.0) -> Problem:
    data = generate("B", n, m, seed)
    return presolve(Problem.from_data(data.X, data.y, C)).problem


# ---- the bound


def test_the_bound_is_the_sum_of_the_optima_of_the_blocks() -> None:
    """Also noticed: costs that are not divided by the share, or optima that are not multiplied by it."""
    problem = problem_of(3)
    margins = problem.evaluate(np.ones(problem.m), 0.0).margins
    parts = blocks.dealt(np.arange(problem.n), problem.y, margins, 3)
    for shares in ([1 / 3, 1 / 3, 1 / 3], [0.5, 0.3, 0.2]):
        split = [Block(part, share) for part, share in zip(parts, shares, strict=True)]
        optima = [optimum(block.problem(problem)) for block in split]
        proven = [
            Block(block.samples, block.share, blocks.contribution(block.share, value))
            for block, value in zip(split, optima, strict=True)
        ]
        expected = sum(share * value for share, value in zip(shares, optima, strict=True))
        assert blocks.total_bound(proven) == pytest.approx(expected, rel=1e-9)
        assert 0 < blocks.total_bound(proven) <= optimum(problem)


def test_shares_of_more_than_one_count_less() -> None:
    parts = [Block(np.array([k]), 0.75, bound=3.0) for k in range(2)]
    assert blocks.total_bound(parts) == pytest.approx(6.0 / 1.5)
    assert blocks.total_bound(parts[:1]) == pytest.approx(3.0)


@pytest.mark.parametrize("seed", range(20))
def test_mixed_shares_are_valid(seed) -> None:
    """Shares that add up to more than one, as in the middle of a round that changes them."""
    rng = np.random.default_rng(seed)
    problem = problem_of(seed, n=12)
    parts = np.array_split(rng.permutation(problem.n), 3)
    split = [Block(np.sort(part), float(share)) for part, share in zip(parts, rng.uniform(0.1, 1, 3), strict=True)]
    proven = [
        Block(each.samples, each.share, blocks.contribution(each.share, optimum(each.problem(problem))))
        for each in split
    ]
    assert blocks.total_bound(proven) <= optimum(problem) * (1 + 1e-9)


def test_a_block_may_have_no_trusted_sample() -> None:
    """Too many are trusted to be in every block, and all of them are in the last ones."""
    rng = np.random.default_rng(4)
    X = rng.standard_normal((24, 2))
    y = np.where(X[:, 0] + 0.5 * rng.standard_normal(24) > 0, 1, -1)
    trusted = np.abs(X[:, 0]) > np.sort(np.abs(X[:, 0]))[-8]
    trusted &= (X[:, 0] > 0) == (y > 0)
    case = {"C": 10.0, "trusted": trusted}
    best = optimum(Problem.from_data(X, y, **case))
    result = solve(X, y, **case, method="blocks", options={"first_size": 3, "last_size": 3})
    assert trusted.sum() > 3
    assert 0 < result.lower_bound <= best * (1 + 1e-9)
    assert verify(result, X, y)


@pytest.mark.parametrize("count", [1, 2, 3, 7, 24])
def test_samples_are_dealt_out_evenly(count) -> None:
    problem = problem_of(1)
    margins = problem.evaluate(np.ones(problem.m), 0.0).margins
    parts = blocks.dealt(np.arange(problem.n), problem.y, margins, count)
    assert sorted(np.concatenate(parts)) == list(range(problem.n))
    assert max(map(len, parts)) - min(map(len, parts)) <= 1
    positives = [int((problem.y[part] > 0).sum()) for part in parts]
    assert max(positives) - min(positives) <= 1


@pytest.mark.parametrize("count", range(1, 60))
def test_merging_ends_with_one_block(count) -> None:
    assert sum(blocks.group_sizes(count)) == count
    after = sum(map(blocks.merged_count, blocks.group_sizes(count)))
    assert after < count or count == 1


def test_merged_blocks_have_the_same_samples_and_shares() -> None:
    problem = problem_of(1)
    margins = problem.evaluate(np.ones(problem.m), 0.0).margins
    parts = blocks.dealt(np.arange(problem.n), problem.y, margins, 4)
    before = [Block(part, 0.25, next_share=share) for part, share in zip(parts, (0.1, 0.2, 0.3, 0.4), strict=True)]
    after = blocks.merged(before, problem.y, margins)
    assert len(after) == 3
    assert sorted(np.concatenate([block.samples for block in after])) == list(range(problem.n))
    assert math.fsum(block.share for block in after) == pytest.approx(1.0)


def test_shares_follow_the_norms() -> None:
    parts = [Block(np.array([k]), 0.25, norm=norm) for k, norm in enumerate((0.0, 1.0, 2.0, 9.0))]
    shares = blocks.evened_shares(parts)
    assert math.fsum(shares) == pytest.approx(1.0)
    assert shares == sorted(shares)
    assert min(shares) > 0
    nothing_known = [Block(np.array([k]), 0.5) for k in range(2)]
    assert blocks.evened_shares(nothing_known) == [0.5, 0.5]


# ---- the method


@pytest.mark.parametrize("index", range(2 * len(KINDS)))
@pytest.mark.parametrize("first", [2, 4])
def test_every_promise_is_kept(index, first) -> None:
    case, best = case_and_optimum(5, index)
    for last in (first, 2 * first, None):
        options = {"first_size": first, "last_size": last}
        comparison = compared(case, "blocks", best=best, options=options, node_limit=2000)
        assert not comparison.broken


def test_it_proves_small_problems() -> None:
    data = generate("A", 60, 3, 0)
    result = solve(data.X, data.y, 10.0, method="blocks", time_limit=None)
    assert result.optimal
    assert result.method == "blocks"
    assert verify(result, data.X, data.y)
    assert result.objective == pytest.approx(solve(data.X, data.y, 10.0).objective, rel=1e-6)


def test_blocks_of_one_class_prove_nothing_and_break_nothing() -> None:
    X, y = np.arange(12.0).reshape(-1, 1), np.array([0] * 11 + [1])
    result = solve(X, y, 1e3, method="blocks", options={"first_size": 2, "last_size": 4})
    assert 0 <= result.lower_bound <= result.objective


def test_costs_out_of_range_prove_nothing() -> None:
    assert blocks.contribution(0.5, math.inf) == 0.0
    whole = problem_of(1, C=1e305)
    part = Block(np.arange(whole.n), 1e-10).problem(whole)
    assert np.isinf(part.costs).all()
    task = BlockTask(part, np.zeros(whole.m), 1.0, 1e-4, math.inf, 1.0, None, 0)
    assert bound_block(task, math.inf, lambda: True).lower_bound == 0.0


@pytest.mark.parametrize(("first", "last"), [(2, 3), (4, 9), (5, 5), (9, 4)])
def test_no_block_is_larger_than_asked(first, last, monkeypatch) -> None:
    sizes: list[int] = []

    def noted(task, *arguments):
        sizes.append(task.problem.n)
        return bound_block(task, *arguments)

    monkeypatch.setattr(method, "bound_block", noted)
    data = generate("A", 40, 2, 0)
    options = {"first_size": first, "last_size": last}
    solve(data.X, data.y, 10.0, method="blocks", options=options)
    assert sizes
    assert max(sizes) <= last


def test_larger_blocks_prove_more() -> None:
    data = generate("B", 300, 3, 0)
    bounds = [
        solve(data.X, data.y, 10.0, method="blocks", options={"first_size": 20, "last_size": last}).lower_bound
        for last in (20, 60, 150)
    ]
    assert bounds[0] < bounds[1] < bounds[2]


@pytest.mark.parametrize("weighted", [False, True])
def test_the_bound_does_not_depend_on_the_threads(weighted) -> None:
    data = generate("A", 200, 3, 1)
    weight = np.linspace(0.5, 2.0, 200) if weighted else None
    options = {"first_size": 20, "last_size": 70}
    results = [
        solve(data.X, data.y, 10.0, sample_weight=weight, method="blocks", options=options, threads=threads)
        for threads in (1, 2, 3)
    ]
    assert {result.status for result in results} == {Status.HEURISTIC}
    assert len({result.lower_bound for result in results}) == 1
    assert len({result.nodes for result in results}) == 1


def test_a_run_can_be_stopped_and_resumed(tmp_path) -> None:
    data = generate("A", 200, 3, 1)
    options = {"first_size": 20, "last_size": 70}
    settings = {"method": "blocks", "options": options, "time_limit": None}
    whole = solve(data.X, data.y, 10.0, **settings)
    path, pauses = tmp_path / "state", 0
    result = solve(data.X, data.y, 10.0, checkpoint=path, node_limit=60, **settings)
    while result.status is Status.NODE_LIMIT and pauses < 1000:
        pauses += 1
        later = {"checkpoint": path, "resume": path, "node_limit": result.nodes + 60}
        result = solve(data.X, data.y, 10.0, **later, **settings)
    assert pauses >= 2
    assert result.lower_bound == pytest.approx(whole.lower_bound, rel=1e-12)


@pytest.mark.parametrize("value", [0, -3, 1.5, "many"])
def test_sizes_are_checked(value) -> None:
    with pytest.raises(ValueError, match="first_size"):
        method.Options(first_size=value)
