"""Whose turn it is in a portfolio."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pytest

from hardmargin.search import turns


def expecting(work: int, remaining: float) -> turns.Member:
    """A member whose proof has done this much work and expects to need this much more."""
    proof = SimpleNamespace(
        work=work, remaining_work=lambda: remaining, steps=lambda: iter(()), only_bounds=False, own_bound=5.0
    )
    return turns.Member(proof)


def bounding(work: int, bound: float, insured: float = 0.0, needed: float = 0.0) -> turns.Member:
    """A member that only provides a bound, expected to be this one, and needs so much work for a step."""
    proof = SimpleNamespace(
        work=work, expected_bound=lambda: bound, steps=lambda: iter(()), only_bounds=True, own_bound=0.0
    )
    proof.step_work_needed = lambda: needed
    return turns.Member(proof, insured_share=insured)


@pytest.mark.parametrize(
    ("done", "remaining", "chosen"),
    [
        ((99, 0), (math.inf, math.inf), 0),  # its head start is not over
        ((101, 0), (math.inf, math.inf), 1),
        ((101, 0), (101.0, math.inf), 0),  # it is half done
        ((101, 0), (102.0, math.inf), 1),
        ((102, 1), (102.0, math.inf), 1),  # the other one has begun
    ],
)
def test_whose_turn_it_is(done, remaining, chosen) -> None:
    members = [expecting(*each) for each in zip(done, remaining, strict=True)]
    assert turns.next_member(members, head_start=100) is members[chosen]


def working(remaining: float) -> turns.Member:
    """A member that does ten units of work in every turn, and expects to need this much more."""
    proof = SimpleNamespace(work=0, stuck=False, finished=False, only_bounds=False, own_bound=0.0, nodes=0)
    proof.remaining_work = lambda: remaining
    proof.take_over = lambda _: None

    def steps():
        while True:
            proof.work += 10
            yield

    proof.steps = steps
    return turns.Member(proof)


def works(members: list[turns.Member], count: int) -> list[int]:
    """The work of the members after this many turns."""
    for _ in zip(range(count), turns.turns(members, head_start=100), strict=False):
        pass
    return [member.proof.work for member in members]


@pytest.mark.parametrize(
    ("remaining", "second"),
    [
        ((math.inf, math.inf), 500),  # equal shares
        ((1e4, math.inf), 500),
        ((1e4, 2e4), 200),  # half the work, four times the share
        ((2e4, 1e4), 800),
        ((1e4, 1e9), 100),  # and never less than a tenth
    ],
)
def test_members_work_by_their_shares(remaining, second) -> None:
    first, other = works([working(each) for each in remaining], 110)
    assert first - 100 == pytest.approx(1000 - second, abs=20)
    assert other == pytest.approx(second, abs=20)


def test_what_was_done_before_is_not_made_up_for() -> None:
    members = [working(1e4), working(1e9)]
    before = works(members, 110)
    # Now the second one is expected to finish much earlier. The first one may be almost done, and does not wait.
    members[0]._forecast, members[1]._forecast = 1e9, 1e4
    members[0].proof.remaining_work, members[1].proof.remaining_work = lambda: 1e9, lambda: 1e4
    after = works(members, 100)
    assert after[0] - before[0] == pytest.approx(100, abs=30)


@pytest.mark.parametrize(
    ("done", "remaining", "bound", "chosen"),
    [
        ((99, 0), math.inf, 9.0, 0),  # the head start is not over
        ((101, 0), math.inf, 9.0, 1),
        ((101, 0), 2 * (1000 - 101), 9.0, 0),  # it may still finish
        ((101, 0), 2 * (1000 - 101) + 2, 9.0, 1),
        ((1200, 0), 600.0, 9.0, 0),  # more work was done than was expected to be possible
        ((1200, 0), 602.0, 9.0, 1),
        ((100 + 21, 79), math.inf, 9.0, 1),  # most of the work
        ((100 + 19, 81), math.inf, 9.0, 0),
        ((100 + 91, 9), math.inf, 4.0, 1),  # a tenth if it proves less
        ((100 + 89, 11), math.inf, 4.0, 0),
    ],
)
def test_when_blocks_have_their_turn(done, remaining, bound, chosen) -> None:
    members = [expecting(done[0], remaining), bounding(done[1], bound)]
    assert turns.next_member(members, head_start=100, allowed_work=1000) is members[chosen]


@pytest.mark.parametrize(
    ("done", "remaining", "chosen"),
    [
        (0, math.inf, 1),  # it is not known whether it can finish
        (99, math.inf, 1),
        (101, math.inf, 2),  # it has had its trial
        (50, 1e6, 2),  # it knows
    ],
)
def test_a_member_is_tried_before_blocks(done, remaining, chosen) -> None:
    members = [expecting(150 + done, math.inf), expecting(done, remaining), bounding(0, 9.0)]
    assert turns.next_member(members, head_start=100, allowed_work=2000) is members[chosen]


@pytest.mark.parametrize(
    ("done", "bound", "insured", "chosen"),
    [
        (29, 9.0, 0.3, 1),
        (31, 9.0, 0.3, 0),
        (0, 9.0, 0.0, 0),
        (0, 4.0, 0.3, 0),  # it proves less
    ],
)
def test_blocks_have_an_insured_share(done, bound, insured, chosen) -> None:
    members = [expecting(100 + 100 - done, 10.0), bounding(done, bound, insured)]
    assert turns.next_member(members, head_start=100, allowed_work=1000) is members[chosen]


@pytest.mark.parametrize(("left", "needed"), [(39.0, True), (41.0, False)])
def test_an_insured_share_is_not_needed_if_the_proof_will_be_complete_early(left, needed) -> None:
    """Even if it needed four times the work that it expects."""
    exact, bounds = expecting(90, 10.0), bounding(10, 6.0, 0.3)
    assert turns.next_member([exact, bounds], 0, allowed_work=100 + left) is bounds
    bounds.insured_doubt = 4.0
    assert turns.next_member([exact, bounds], 0, allowed_work=100 + left) is (bounds if needed else exact)


@pytest.mark.parametrize(("remaining", "doubt", "insured"), [(10.0, 4.0, False), (10.0, math.inf, True)])
def test_without_a_time_limit_an_insured_share_depends_on_what_is_known(remaining, doubt, insured) -> None:
    exact, bounds = expecting(90, remaining), bounding(10, 6.0, 0.3)
    bounds.insured_doubt = doubt
    assert turns.next_member([exact, bounds], 0) is (bounds if insured else exact)


@pytest.mark.parametrize("doubt", [4.0, math.inf])
def test_without_forecasts_there_is_an_insured_share(doubt) -> None:
    exact, bounds = expecting(90, math.inf), bounding(10, 6.0, 0.3)
    bounds.insured_doubt = doubt
    assert turns.next_member([exact, bounds], 0) is bounds


def test_an_insured_share_must_suffice_for_a_step() -> None:
    for needed, chosen in ((5.0, 1), (15.0, 0)):
        members = [expecting(180, 10.0), bounding(20, 9.0, 0.3, needed)]
        assert turns.next_member(members, head_start=100, allowed_work=1000) is members[chosen]
    # Where bounds are all there is to get, they are worth it.
    members = [expecting(180, 1e9), bounding(20, 9.0, 0.3, 15.0)]
    assert turns.next_member(members, head_start=100, allowed_work=1000) is members[1]


def test_forecasts_are_smoothed_over_turns() -> None:
    forecasts = iter([math.inf, 100.0, 400.0, 1e4, math.inf, 9.0])
    proof = SimpleNamespace(
        work=0, stuck=False, step_work=0, remaining_work=lambda: next(forecasts), steps=lambda: iter(range(9))
    )
    member = turns.Member(proof)
    seen = []
    for _ in range(6):
        member.take_turn(alone=False)
        seen.append(member.forecast())
    assert seen == pytest.approx([math.inf, 100.0, 200.0, math.sqrt(2e6), math.inf, 9.0])


def test_trials_are_short_if_there_is_little_time() -> None:
    members = [expecting(150, math.inf), expecting(50, math.inf), bounding(0, 9.0)]
    assert turns.next_member(members, head_start=100, allowed_work=400) is members[2]
    assert turns.next_member(members, head_start=100, allowed_work=600) is members[1]


def test_one_that_is_left_has_all_turns() -> None:
    alone = expecting(0, math.inf)
    assert turns.next_member([alone], head_start=100) is alone
    alone = bounding(0, 0.0)
    assert turns.next_member([alone], head_start=100) is alone
