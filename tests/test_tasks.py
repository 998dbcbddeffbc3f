"""Independent tasks that an engine runs side by side, or in turns."""

from __future__ import annotations

import threading
import time

import pytest

from hardmargin.search import tasks


def batch(run, count, threads, **functions) -> list[tuple[int, object]]:
    answers: list[tuple[int, object]] = []
    defaults = {"go_on": lambda: True, "more": lambda: True}
    tasks.run_here(
        tasks.Batch(
            run, range(count), 100.0, threads, lambda *each: answers.append(each), **{**defaults, **functions}
        )
    )
    return answers


def told_to_end(count, threads, **settings) -> list[tuple[int, object]]:
    """The answers of tasks that go on until they are told to end, which is when the first one has begun."""
    began = threading.Event()

    def run(task, seconds, go_on):
        began.set()
        while go_on():
            pass
        return "ended"

    return batch(run, count, threads, go_on=lambda: not began.is_set(), **settings)


@pytest.mark.parametrize("threads", [1, 3])
def test_all_tasks_are_run(threads) -> None:
    answers = batch(lambda task, *_: task**2, 10, threads)
    assert sorted(answers) == [(k, k**2) for k in range(10)]


@pytest.mark.parametrize("threads", [1, 3])
def test_no_more_tasks_than_wanted(threads) -> None:
    wanted = iter([True] * 4 + [False] * 100)
    assert len(batch(lambda task, *_: task, 10, threads, more=lambda: next(wanted))) == 4


@pytest.mark.parametrize("threads", [1, 2])
def test_running_tasks_are_told_to_end(threads) -> None:
    answers = told_to_end(10, threads)
    assert 1 <= len(answers) <= threads
    assert {answer for _, answer in answers} == {"ended"}


@pytest.mark.parametrize("threads", [1, 2])
def test_what_a_task_raises_is_raised(threads) -> None:
    def run(task, *_):
        raise MemoryError(task)

    with pytest.raises(MemoryError):
        batch(run, 3, threads)


@pytest.mark.parametrize("threads", [1, 2])
def test_tasks_take_turns_if_more_are_under_way_than_threads(threads, monkeypatch) -> None:
    """All of them get on before any is done, but no more than the threads compute at a time."""
    monkeypatch.setattr(tasks, "_TURN", 0.0)
    lock, began, computing = threading.Lock(), set(), []
    most = 0

    def run(task, seconds, go_on):
        nonlocal most
        # Some must wait until a thread of the pool gets time on a busy machine.
        for step in range(100_000):
            with lock:
                computing.append(task)
                most = max(most, len(computing))
                began.add(task)
                all_began = len(began) == 4
            time.sleep(0.001)
            with lock:
                computing.remove(task)
            go_on()
            if all_began and step >= 20:
                return "with the others"
        return "alone"

    answers = batch(run, 4, threads, under_way=4)
    assert sorted(answers) == [(k, "with the others") for k in range(4)]
    assert most <= threads


def test_tasks_that_wait_for_their_turn_are_told_to_end() -> None:
    answers = told_to_end(3, 1, under_way=3)
    assert [answer for _, answer in answers] == ["ended"] * len(answers)
    assert 1 <= len(answers) <= 3


def test_a_task_that_fails_lets_the_others_end() -> None:
    def run(task, seconds, go_on):
        if task == 1:
            raise MemoryError(task)
        while go_on():
            pass

    with pytest.raises(MemoryError):
        batch(run, 3, 1, under_way=3)
