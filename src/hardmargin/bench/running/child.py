"""The other side of :mod:`hardmargin.bench.running.execution`: one solve in a separate process.

Run as ``python -m hardmargin.bench.running.child``. The first line of standard input is the task. The process
writes two lines of JSON to standard output: an empty object when the solve starts, and the answer. When standard
input is closed, nobody waits for the answer any more, and the process ends at once.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from hardmargin.processes import take_output, when_input_ends

if TYPE_CHECKING:
    from hardmargin import Result


def main() -> None:
    """Solve the task that is read from standard input."""
    # Output printed by a solver must not get into the answer.
    answers = take_output()
    task = json.loads(sys.stdin.buffer.readline())
    when_input_ends(lambda: os._exit(1))
    # Before the import of numpy, whose libraries count the cores.
    _confine(task["cores"], task["memory_limit"])
    try:
        import numpy as np

        from hardmargin import Problem, solve

        task["X"] = np.array(task["X"], dtype=np.float64)
        # The first use of the solver imports packages, which is not part of the solve.
        Problem.from_data(task["X"], task["y"], task["C"])
        _say(answers, {})
        answer: dict[str, Any] = {"result": _solved(solve, task)}
    except MemoryError:
        answer = {"error": "out of memory", "out_of_memory": True}
    except Exception as error:
        text = " ".join(str(error).split())
        answer = {"error": text if isinstance(error, ValueError) else f"{type(error).__name__}: {text}"}
    answer["peak_memory"] = _peak_memory()
    _say(answers, answer)
    os._exit(0)


def _say(answers: BinaryIO, line: dict[str, Any]) -> None:
    answers.write(json.dumps(line, allow_nan=False).encode() + b"\n")
    answers.flush()


def _solved(solve: Callable[..., Result], task: dict[str, Any]) -> dict[str, Any]:
    from hardmargin.bench.running.foreign import is_foreign

    if is_foreign(task["method"]):
        return _solved_by_others(task)
    result = solve(
        task["X"],
        task["y"],
        task["C"],
        method=task["method"],
        time_limit=task["time_limit"],
        gap=task["gap"],
        threads=task["threads"],
        seed=task["seed"],
        options=task["options"],
    )
    return result.to_dict()


def _solved_by_others(task: dict[str, Any]) -> dict[str, Any]:
    from hardmargin import Problem
    from hardmargin.bench.running.foreign import foreign_function, solve_with
    from hardmargin.limits import Limits

    function = foreign_function(task["method"], task["folder"])
    problem = Problem.from_data(task["X"], task["y"], task["C"])
    limits = Limits(task["time_limit"], task["gap"], task["threads"], seed=task["seed"])
    return solve_with(function, problem, limits, task["method"]).to_dict()


def _confine(cores: list[int] | None, memory_limit: int | None) -> None:
    if cores is not None and hasattr(os, "sched_setaffinity"):
        # A core may have been removed from this machine meanwhile; the run then uses the others.
        with contextlib.suppress(OSError):
            os.sched_setaffinity(0, cores)
    if memory_limit is not None and not Path("/proc/self/status").exists():
        # If memory cannot be watched from outside, the system has to enforce the limit.
        import resource

        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_DATA, (memory_limit, memory_limit))


def _peak_memory() -> int | None:
    from hardmargin.bench.running.memory import peak_memory

    return peak_memory(os.getpid())


if __name__ == "__main__":
    main()
