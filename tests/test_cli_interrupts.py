"""Ctrl-C and SIGTERM: at any moment without a traceback, and during the search without a loss."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

import pytest

import hardmargin
from hardmargin import Result, Status, data
from hardmargin.cli import main
from hardmargin.cli.interrupts import Interrupts

SIGNALS = [(signal.SIGINT, 130), (signal.SIGTERM, 143)]

# A process in the background of a script ignores SIGINT, and rightly so, but not in a test of it.
LISTENING = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from hardmargin.cli import main
"""


def run_listening(program, *words):
    """Run a program after the lines above, with these arguments."""
    command = [sys.executable, "-c", LISTENING + program, *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture
def hard_data(generated):
    """Data on which no search is done before it is stopped."""
    return generated("A", 400, 10)


@pytest.fixture
def handlers():
    """Signal handlers of the test run, which no test may change for good."""
    before = [signal.getsignal(number) for number, _ in SIGNALS]
    yield
    assert [signal.getsignal(number) for number, _ in SIGNALS] == before


@pytest.mark.usefixtures("handlers")
@pytest.mark.parametrize(("number", "status"), SIGNALS)
def test_during_the_search_the_incumbent_is_written(number, status, hard_data, tmp_path, monkeypatch, capsys):
    search = hardmargin.solve

    def interrupted(*arguments, report, **settings):
        def interrupt(*bounds):
            signal.raise_signal(number)
            report(*bounds)

        return search(*arguments, report=interrupt, **settings)

    monkeypatch.setattr(hardmargin, "solve", interrupted)
    model = tmp_path / "model.json"
    assert main(["solve", hard_data, "--json", str(model)]) == status
    assert Result.load(model).status is Status.INTERRUPTED
    assert "interrupted" in capsys.readouterr().out


@pytest.mark.usefixtures("handlers")
@pytest.mark.parametrize(("number", "status"), SIGNALS)
def test_while_loading_nothing_is_written(number, status, hard_data, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(data, "load", lambda *_, **__: signal.raise_signal(number))
    model = tmp_path / "model.json"
    assert main(["solve", hard_data, "--json", str(model)]) == status
    assert capsys.readouterr().err == "hardmargin: interrupted\n"
    assert not model.exists()


def test_an_ignored_signal_stays_ignored():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with Interrupts():
            signal.raise_signal(signal.SIGINT)
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_second_signal_is_passed_over_and_a_third_is_not():
    interrupts, came_through = Interrupts(), []
    with interrupts:
        for number in (signal.SIGINT, signal.SIGINT, signal.SIGTERM):
            try:
                signal.raise_signal(number)
            except KeyboardInterrupt:
                came_through.append(interrupts.status)
    assert came_through == [130, 143]


@pytest.mark.usefixtures("handlers")
def test_between_search_and_writing_the_model_is_written(hard_data, tmp_path, monkeypatch, capsys):
    search = hardmargin.solve

    def interrupted(*arguments, **settings):
        result = search(*arguments, **settings)
        signal.raise_signal(signal.SIGINT)
        return result

    monkeypatch.setattr(hardmargin, "solve", interrupted)
    model = tmp_path / "model.json"
    assert main(["solve", hard_data, "--time-limit", "1", "--json", str(model)]) == 130
    out, err = capsys.readouterr()
    assert Result.load(model).summary() in out
    assert err == "hardmargin: interrupted\n"


@pytest.mark.parametrize(("number", "status"), SIGNALS)
def test_while_importing_there_is_no_traceback(number, status):
    program = f"""
class Interrupting:
    def find_spec(self, name, path, target=None):
        if name == "numpy":
            signal.raise_signal({int(number)})
sys.meta_path.insert(0, Interrupting())
sys.exit(main())
"""
    done = run_listening(program, "--version")
    assert (done.returncode, done.stdout, done.stderr) == (status, "", "hardmargin: interrupted\n")


def test_after_the_command_of_a_process_nothing_interrupts_its_end():
    done = run_listening("status = main(); signal.raise_signal(signal.SIGINT); sys.exit(status)", "show-versions")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.usefixtures("handlers")
def test_while_writing_the_model_is_finished(hard_data, tmp_path, monkeypatch, capsys):
    save = Result.save

    def interrupted(result, path):
        signal.raise_signal(signal.SIGINT)
        save(result, path)

    monkeypatch.setattr(Result, "save", interrupted)
    model = tmp_path / "model.json"
    assert main(["solve", hard_data, "--time-limit", "1", "--json", str(model)]) == 130
    assert Result.load(model).summary() in capsys.readouterr().out


def test_other_threads_may_run_commands_too():
    statuses = []
    thread = threading.Thread(target=lambda: statuses.append(main(["show-versions"])))
    thread.start()
    thread.join()
    assert statuses == [0]


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a pseudo-terminal")
@pytest.mark.parametrize(("number", "status"), SIGNALS)
def test_a_searching_process_stops_and_keeps_what_it_has(number, status, hard_data, tmp_path):
    model = tmp_path / "model.json"
    words = ["solve", hard_data, "--json", str(model), "--method", "heuristic", "--option", "effort=1e9"]
    terminal, screen = os.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", LISTENING + "sys.exit(main())", *words],
        stdout=subprocess.PIPE,
        stderr=screen,
        text=True,
        env={**os.environ, "TERM": "xterm"},
    ) as process:
        os.close(screen)
        # The star of the first row: a hyperplane is known and the search is on.
        shown = b""
        while b"*" not in shown:
            shown += os.read(terminal, 1024)
        process.send_signal(number)
        summary, _ = process.communicate(timeout=60)
    os.close(terminal)
    assert process.returncode == status
    result = Result.load(model)
    assert result.status is Status.INTERRUPTED
    assert result.lower_bound <= result.objective
    assert summary.endswith(result.summary() + "\n")
    assert b"Traceback" not in shown
