"""Signals that wait: for the end of the block, or until they are let through."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator

import pytest

from hardmargin.signals import ENDING, HeldSignals, LaterTermination


@pytest.fixture
def heard(monkeypatch) -> list[int]:
    """The signals that reached handlers that do not raise."""
    numbers: list[int] = []
    before = [signal.signal(number, lambda number, frame: numbers.append(number)) for number in ENDING]
    yield numbers
    for number, handler in zip(ENDING, before, strict=True):
        signal.signal(number, handler)


def test_signals_wait_for_the_end_of_the_block_in_their_order(heard) -> None:
    handlers = [signal.getsignal(number) for number in ENDING]
    with HeldSignals():
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGTERM):
            signal.raise_signal(number)
        assert heard == []
    assert heard == [signal.SIGTERM, signal.SIGINT, signal.SIGTERM]
    assert [signal.getsignal(number) for number in ENDING] == handlers


def test_signals_may_be_let_through_before(heard) -> None:
    with HeldSignals() as signals:
        signals.let_through()
        signal.raise_signal(signal.SIGINT)
        signals.let_through()
        assert heard == [signal.SIGINT]
        signals.let_through()
    assert heard == [signal.SIGINT]


@pytest.mark.usefixtures("heard")
def test_what_a_handler_raises_comes_out_and_the_next_signal_waits_on() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with HeldSignals() as signals:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        for _ in range(2):
            with pytest.raises(KeyboardInterrupt):
                signals.let_through()
        signals.let_through()


def test_blocks_may_be_nested(heard) -> None:
    with HeldSignals() as outer:
        with HeldSignals() as inner:
            signal.raise_signal(signal.SIGINT)
            inner.let_through()
            assert heard == []
            outer.let_through()
            assert heard == [signal.SIGINT]
            signal.raise_signal(signal.SIGTERM)
        assert heard == [signal.SIGINT]
    assert heard == [signal.SIGINT, signal.SIGTERM]


@pytest.mark.usefixtures("heard")
@pytest.mark.parametrize("handler", [signal.SIG_IGN, signal.SIG_DFL])
def test_signals_that_python_does_not_handle_are_left_alone(handler) -> None:
    signal.signal(signal.SIGTERM, handler)
    with HeldSignals():
        assert signal.getsignal(signal.SIGTERM) is handler


def test_other_threads_change_nothing(heard) -> None:
    found = []

    def work() -> None:
        with HeldSignals():
            found.extend(signal.getsignal(number) for number in ENDING)

    expected = [signal.getsignal(number) for number in ENDING]
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == expected


@pytest.fixture
def ended(monkeypatch) -> Iterator[list[int]]:
    """SIGTERM with its default handler; ending the process is recorded instead."""
    before = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    numbers: list[int] = []
    monkeypatch.setattr("hardmargin.signals.signal.raise_signal", numbers.append)
    yield numbers
    signal.signal(signal.SIGTERM, before)


def told_to_end() -> None:
    """Send SIGTERM to this thread: it has arrived, and its handler has run, when the call returns."""
    signal.pthread_kill(threading.get_ident(), signal.SIGTERM)


def test_termination_interrupts_and_ends_the_process_later(ended) -> None:
    with LaterTermination():
        with pytest.raises(KeyboardInterrupt):
            told_to_end()
        assert ended == []
    assert ended == [signal.SIGTERM]
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_termination_waits_while_signals_are_held(ended) -> None:
    with LaterTermination(), HeldSignals() as signals:
        told_to_end()
        with pytest.raises(KeyboardInterrupt):
            signals.let_through()
        assert ended == []
    assert ended == [signal.SIGTERM]


def test_nothing_is_changed_if_nothing_came_or_somebody_else_listens(ended) -> None:
    with LaterTermination():
        pass
    with LaterTermination(wanted=False):
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with LaterTermination():
        assert signal.getsignal(signal.SIGTERM) is signal.default_int_handler
    assert signal.getsignal(signal.SIGTERM) is signal.default_int_handler
    assert ended == []
