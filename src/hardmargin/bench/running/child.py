"""The other side of :mod:`hardmargin.bench.running.worker`: solves in a separate process, one after the other.

Run as ``python -m hardmargin.bench.running.child``. Every line of standard input is a task. For each, the process
writes two lines of JSON to standard output: an empty object when the solve starts, and the answer. If the answer
says that it is ready, the process waits for the next task, otherwise it ends. When standard input is closed, nobody
waits for an answer any more, and the process ends at once.

It is ready only if the next run cannot notice the last one: that has ended with a result of one of our own methods,
left no process behind, and the memory is back to what it was before the first solve.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from hardmargin.processes import descendants, requests_of_parent, take_output

if TYPE_CHECKING:
    from hardmargin import Result


# How much more memory than before its first solve a process may have when it takes the next task.
_SLACK = 1.1


def main() -> None:
    """Solve the tasks that are read from standard input."""
    # Output printed by a solver must not get into the answer.
    answers = take_output()
    requests = requests_of_parent(lambda: os._exit(1))
    before: int | None = None
    while True:
        task = json.loads(requests.get())
        # Before the import of numpy, whose libraries count the cores.
        _confine(task["cores"], task["memory_limit"])
        answer, memory = _answer(task, answers)
        before = memory if before is None else before
        answer["peak_memory"] = _peak_memory()
        ready = "result" in answer and not _foreign(task)
        del task
        answer["ready"] = ready and _as_before(before)
        _say(answers, answer)
        if not answer["ready"]:
            os._exit(0)


def _answer(task: dict[str, Any], answers: BinaryIO) -> tuple[dict[str, Any], int | None]:
    """What to say about a task, and the memory before its solve."""
    memory = None
    try:
        import numpy as np

        from hardmargin import Problem, solve
        from hardmargin.methods import get_method

        task["X"] = np.array(task["X"], dtype=np.float64)
        # The first use of the solver imports packages, which is not part of the solve.
        Problem.from_data(task["X"], task["y"], task["C"])
        if not _foreign(task):
            get_method(task["method"])
        memory = _peak_memory()
        _say(answers, {})
        return {"result": _solved(solve, task)}, memory
    except MemoryError:
        return {"error": "out of memory", "out_of_memory": True}, memory
    except Exception as error:
        text = " ".join(str(error).split())
        return {"error": text if isinstance(error, ValueError) else f"{type(error).__name__}: {text}"}, memory


def _as_before(memory: int | None) -> bool:
    """Whether nothing of a run is left; the peak memory then begins again."""
    from hardmargin.bench.running.memory import reset_peak_memory

    gc.collect()
    if memory is None or descendants(os.getpid()) or not reset_peak_memory():
        return False
    left = _peak_memory()
    return left is not None and left <= _SLACK * memory


def _foreign(task: dict[str, Any]) -> bool:
    from hardmargin.bench.running.foreign import is_foreign

    return is_foreign(task["method"])


def _say(answers: BinaryIO, line: dict[str, Any]) -> None:
    answers.write(json.dumps(line, allow_nan=False).encode() + b"\n")
    answers.flush()


def _solved(solve: Callable[..., Result], task: dict[str, Any]) -> dict[str, Any]:
    if _foreign(task):
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
