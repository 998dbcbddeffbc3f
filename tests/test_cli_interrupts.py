"""Ctrl-C and SIGTERM: never a traceback, and no loss during the search."""

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

# No process of a test takes a second on an idle machine; one that takes this many hangs.
PATIENCE = 900

SIGNALS = [(signal.SIGINT, 130), (signal.SIGTERM, 143)]

# A process in the background of a script ignores SIGINT, which is right, but not for these tests.
LISTENING = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from hardmargin.cli import main
"""


def run_listening(program, *words):
    """Run a program after the lines above, with these arguments."""
    command = [sys.executable, "-c", LISTENING + program, *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)


@pytest.fixture
def hard_data(generated):
    """Data on which no search finishes before it is stopped."""
    return generated("A", 400, 10)


@pytest.fixture
def easy_data(generated):
    """Data on which every search finishes at once."""
    return generated("A", 30, 2)


@pytest.fixture
def handlers():
    """Signal handlers of the test run, which are restored after each test."""
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
def test_between_search_and_writing_the_model_is_written(easy_data, tmp_path, monkeypatch, capsys):
    search = hardmargin.solve

    def interrupted(*arguments, **settings):
        result = search(*arguments, **settings)
        signal.raise_signal(signal.SIGINT)
        return result

    monkeypatch.setattr(hardmargin, "solve", interrupted)
    model = tmp_path / "model.json"
    assert main(["solve", easy_data, "--json", str(model)]) == 130
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


# Becomes the command many times, each time with a signal at the call of another function after that of main(): all
# calls that are made before a Python handler can be in place, and some of the following ones, up to the last.
STARTING = """
import os, signal, sys
# Much of the work of a start, and none of ours.
import numpy, rich.console, rich.live
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGTERM, signal.SIG_DFL)

def command(number, moment, counted=lambda calls: None):
    calls = 0
    def at_a_call(frame, event, argument):
        nonlocal calls
        if calls or (frame.f_code.co_name == "main" and frame.f_globals["__name__"] == "hardmargin.cli"):
            calls += 1
            counted(calls)
            if calls == moment:
                signal.raise_signal(number)
    sys.settrace(at_a_call)
    from hardmargin.cli import main
    sys.exit(main())

def outcome(number, moment):
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(writing, 2)
        command(number, moment)
    os.close(writing)
    with os.fdopen(reading) as file:
        said = file.read()
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), said

def all_calls():
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        import atexit
        most = 0
        def counted(calls):
            nonlocal most
            most = calls
        atexit.register(lambda: os.write(writing, str(most).encode()))
        command(signal.SIGINT, 0, counted)
    os.close(writing)
    os.waitpid(child, 0)
    with os.fdopen(reading) as file:
        return int(file.read())

number, status = int(sys.argv.pop(1)), int(sys.argv.pop(1))
total = all_calls()
# The first is that of main() itself.
moments = [*range(2, 8), *(total * k // 12 for k in range(1, 12)), total - 5]
for moment in moments:
    print(moment, *outcome(number, moment), sep="|", end="\\0")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize(("number", "status"), SIGNALS)
def test_at_any_moment_of_the_command_there_is_no_traceback(number, status, easy_data):
    words = [str(int(number)), str(status), "solve", easy_data, "--quiet"]
    command = [sys.executable, "-c", STARTING, *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    outcomes = [outcome.split("|") for outcome in done.stdout.split("\0")[:-1]]
    assert len(outcomes) == 18
    for moment, found, said in outcomes:
        # Before Python code can handle SIGTERM, it ends the process. When everything is done, there is nothing left
        # to interrupt.
        early, late = int(moment) < 1000, moment == outcomes[-1][0]
        expected = {status, *([-number] if early and number == signal.SIGTERM else []), *([0] if late else [])}
        assert int(found) in expected, (moment, said)
        assert said in ("", "hardmargin: interrupted\n"), moment


def test_what_comes_before_the_command_imports_nothing():
    program = """
before = set(sys.modules)
import hardmargin.cli
print(*sorted(name for name in set(sys.modules) - before if not name.startswith("importlib")))
"""
    listening = LISTENING.replace("from hardmargin.cli import main\n", "import contextlib, types, warnings\n")
    done = subprocess.run(
        [sys.executable, "-c", listening + program], capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    assert done.stdout.split() == ["hardmargin", "hardmargin.cli"]


@pytest.mark.parametrize(("number", "status"), SIGNALS)
def test_between_the_imports_of_a_script_and_its_command(number, status, tmp_path):
    """The script that pip makes for the command compiles a regular expression in between."""
    script = tmp_path / "hardmargin"
    script.write_text(f"{LISTENING}\nsignal.raise_signal({int(number)})\nsys.exit(main())\n")
    command = [sys.executable, str(script), "--version"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (status, "", "hardmargin: interrupted\n")


def test_processes_that_the_command_starts_have_the_usual_handlers(tmp_path):
    """They import its script, but are not the command."""
    script = tmp_path / "hardmargin"
    script.write_text("""
import signal
from hardmargin.cli import main
if __name__ == "__main__":
    assert signal.getsignal(signal.SIGTERM) != signal.SIG_DFL
    import multiprocessing
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(pool.apply(signal.getsignal, (signal.SIGTERM,)) == signal.SIG_DFL)
""")
    command = [sys.executable, str(script)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "True\n", "")


def test_to_import_the_command_line_changes_no_handlers():
    done = run_listening("print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)")
    assert (done.stdout, done.stderr) == ("True\n", "")


def test_after_the_command_of_a_process_nothing_interrupts_its_end():
    done = run_listening("status = main(); signal.raise_signal(signal.SIGINT); sys.exit(status)", "show-versions")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.usefixtures("handlers")
def test_while_writing_the_model_is_finished(easy_data, tmp_path, monkeypatch, capsys):
    save = Result.save

    def interrupted(result, path):
        signal.raise_signal(signal.SIGINT)
        save(result, path)

    monkeypatch.setattr(Result, "save", interrupted)
    model = tmp_path / "model.json"
    assert main(["solve", easy_data, "--json", str(model)]) == 130
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
    # Only the signal ends it.
    words = ["solve", hard_data, "--json", str(model), "--method", "heuristic", "--option", "effort=1e9"]
    words += ["--time-limit", "inf"]
    terminal, screen = os.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", LISTENING + "sys.exit(main())", *words],
        stdout=subprocess.PIPE,
        stderr=screen,
        text=True,
        env={**os.environ, "TERM": "xterm"},
    ) as process:
        os.close(screen)
        # The star of the first row: a hyperplane is known and the search is running.
        shown = b""
        while b"*" not in shown:
            shown += os.read(terminal, 1024)
        process.send_signal(number)
        summary, _ = process.communicate(timeout=PATIENCE)
    os.close(terminal)
    assert process.returncode == status
    result = Result.load(model)
    assert result.status is Status.INTERRUPTED
    assert result.lower_bound <= result.objective
    assert summary.endswith(result.summary() + "\n")
    assert b"Traceback" not in shown
