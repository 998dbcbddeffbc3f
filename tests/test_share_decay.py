"""Forecasts from the open share of all directions and lengths."""

from __future__ import annotations

import math

import pytest

from hardmargin.search.share_decay import ShareDecay


def noted(*marks: tuple[int, float]) -> ShareDecay:
    decay = ShareDecay()
    for mark in marks:
        decay.note(*mark)
    return decay


def test_an_exponential_decay_is_forecast_exactly() -> None:
    decay = noted(*((work, math.exp(-work / 1000)) for work in range(0, 4001, 100)))
    # From exp(-4) to the share at which a proof is finished.
    assert decay.remaining_work() == pytest.approx(1000 * (math.log(1000) - 4))


def test_a_decay_that_slows_down_is_forecast_between_its_rates() -> None:
    """0.01 per unit of work before 100, then 0.001: on average since the beginning, 0.0028."""
    decay = noted((0, 1.0), (100, math.exp(-1.0)), (500, math.exp(-1.4)))
    rest = math.log(1000) - 1.4
    assert decay.remaining_work() == pytest.approx(rest / math.sqrt(0.001 * 0.0028))


def test_only_the_marks_that_matter_are_kept() -> None:
    decay = noted(*((work, 1 / work) for work in range(1, 1001)))
    assert decay.marks[0] == (1, 1.0)
    assert [work for work, _ in decay.marks[1:]] == list(range(500, 1001))
    again = ShareDecay(decay.marks)
    assert again.remaining_work() == decay.remaining_work() < math.inf
    # The same work counts once.
    decay.note(1000, 0.5e-3)
    assert decay.marks[-2:] == [(999, 1 / 999), (1000, 0.5e-3)]


@pytest.mark.parametrize(
    "marks",
    [(), ((5, 0.5),), ((5, 0.5), (6, 0.5)), ((5, 0.5), (6, 0.0)), ((5, 0.5), (6, 0.2), (60, 0.2))],
    ids=["nothing", "one", "no decay", "all closed", "no decay any more"],
)
def test_there_is_no_forecast_without_a_decay(marks) -> None:
    assert noted(*marks).remaining_work() == math.inf


def test_shares_that_hardly_differ_can_be_divided() -> None:
    share = 1.0
    assert math.isfinite(noted((1, math.nextafter(share, 2)), (2, share)).remaining_work())
    assert math.isfinite(noted((1, 2.0), (2, math.nextafter(2, 0))).remaining_work())


def test_marks_out_of_order_are_refused() -> None:
    with pytest.raises(ValueError, match="does not rise"):
        ShareDecay([(2, 0.5), (1, 0.6)])
    with pytest.raises(ValueError, match="falls from 2 to 1"):
        ShareDecay([(2, 0.5)]).note(1, 0.4)
