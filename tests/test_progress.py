"""The table of bounds: which reports get a row, the content of a row, and where it is shown."""

from __future__ import annotations

import io
import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardmargin.progress import Bounds, Progress, RowFilter, row


class Terminal(io.StringIO):
    """A stream that claims to be a terminal."""

    def isatty(self) -> bool:
        return True


@st.composite
def searches(draw):
    """The reports of a search: time advances, the upper bound falls and the lower one rises."""
    steps = draw(st.lists(st.tuples(*[st.floats(0, 1)] * 3), min_size=1, max_size=60))
    reports, time, upper, lower = [], 0.0, 100.0, 0.0
    for nodes, (pause, fall, rise) in enumerate(steps):
        time += pause
        upper -= (upper - lower) * max(0.0, fall - 0.7)
        lower += (upper - lower) * max(0.0, rise - 0.7)
        reports.append(Bounds(time, upper, lower, nodes))
    return reports


def logged(reports):
    """The rows, without the header, that a search leaves behind."""
    stream = io.StringIO()
    with Progress(stream, style="log") as progress:
        for report in reports:
            progress(*report)
    return stream.getvalue().splitlines()[1:]


@given(searches())
def test_rows_are_half_a_second_apart(reports):
    rows, printed = RowFilter(), []
    for bounds in reports:
        if rows.due(bounds):
            printed.append(bounds.time)
            rows.printed(bounds)
    assert printed[0] == reports[0].time
    assert all(later - earlier >= 0.5 for earlier, later in itertools.pairwise(printed))


@given(searches())
def test_the_last_row_shows_the_final_bounds(reports):
    final = row(reports[-1]).split()
    assert logged(reports)[-1].replace("*", " ").split()[2:] == final[2:]


@given(searches())
def test_a_star_marks_every_row_with_a_better_hyperplane(reports):
    rows = [line.replace("*", "* ").split() for line in logged(reports)]
    best = math.inf
    for cells in rows:
        upper = float(cells[-3])
        # Improvements beyond the printed digits are marked too.
        if upper < best:
            assert cells[0] == "*"
        best = min(best, upper)


def test_a_falling_gap_is_worth_a_row_and_a_still_one_is_not():
    rows = RowFilter()
    rows.printed(Bounds(1.0, 100.0, 50.0, 1))
    assert not rows.due(Bounds(2.0, 100.0, 54.0, 2))
    assert rows.due(Bounds(2.0, 100.0, 55.0, 2))


@pytest.mark.parametrize(("printed", "too_soon", "due"), [(1.0, 5.9, 6.0), (1000.0, 1050.0, 1053.0)])
def test_a_search_without_news_is_heard_of_every_five_seconds_and_a_long_one_more_rarely(printed, too_soon, due):
    rows = RowFilter()
    rows.printed(Bounds(printed, 100.0, 50.0, 1))
    assert not rows.due(Bounds(too_soon, 100.0, 50.0, 2))
    assert rows.due(Bounds(due, 100.0, 50.0, 2))


def test_no_hyperplane_yet_is_shown_as_a_dash_and_not_marked():
    (line,) = logged([Bounds(0.1, math.inf, 3.0, 0)])
    assert line.split() == ["0.1s", "0", "-", "3", "-"]


def test_the_first_hyperplane_is_marked():
    lines = logged([Bounds(0.1, math.inf, 3.0, 0), Bounds(0.9, 30.0, 3.0, 5)])
    assert lines[1].split() == ["*", "0.9s", "5", "30", "3", "90.00%"]


def test_quiet_where_there_is_no_terminal(monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    stream = io.StringIO()
    with Progress(stream) as progress:
        progress.say("data")
        progress(0.1, 10.0, 1.0, 1)
    assert stream.getvalue() == ""


def test_standard_error_is_the_default(capsys):
    with Progress(style="log") as progress:
        progress(0.1, 10.0, 1.0, 1)
    out, err = capsys.readouterr()
    assert out == ""
    assert "90.00%" in err


def test_a_terminal_gets_rows_above_a_status_line(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    stream = Terminal()
    with Progress(stream) as progress:
        progress.say("data")
        progress(0.1, 10.0, 1.0, 1)
        progress(0.2, 10.0, 2.0, 2)
    shown = stream.getvalue()
    assert shown.index("data") < shown.index("upper bound") < shown.index("* ")
    assert "Ctrl-C stops" in shown
    # The withheld report follows once the status line is erased.
    assert shown.rstrip().endswith("80.00%")


def test_the_status_line_speaks_before_the_first_report(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    stream = Terminal()
    with Progress(stream):
        pass
    assert "searching" in stream.getvalue()


def test_a_dumb_terminal_gets_plain_rows(monkeypatch):
    monkeypatch.setenv("TERM", "dumb")
    stream = Terminal()
    with Progress(stream) as progress:
        progress(0.1, 10.0, 1.0, 1)
    assert "\x1b" not in stream.getvalue()
    assert "90.00%" in stream.getvalue()


@pytest.mark.parametrize("style", ["live", "log"])
def test_an_error_passes_through(style):
    stream = Terminal()

    def interrupted_search():
        with Progress(stream, style=style) as progress:
            progress(0.1, 10.0, 1.0, 1)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted_search()
    assert "90.00%" in stream.getvalue()


def test_the_status_line_makes_room_for_other_text(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    stream = Terminal()
    with Progress(stream) as progress:
        with progress.paused():
            before = stream.getvalue()
            stream.write("other text\n")
        progress(0.1, 25.0, 0.0, 0)
    # The line is erased before the text, and the cursor is at its start.
    assert "searching" in before
    assert before.rstrip().endswith(("\x1b[2K", "\x1b[?25h", "\r"))
