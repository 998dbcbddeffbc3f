"""Runs a solver with a watcher in another thread, so that limits, progress and Ctrl-C do not wait for callbacks."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from hardmargin.mip.base import Answer, SolverLimits

# Seconds between two checks of a running solver.
_INTERVAL = 0.05


class Callbacks:
    """Remembers the first exception of a solver's callbacks; exceptions must not pass through the solver."""

    def __init__(self) -> None:
        self.error: BaseException | None = None

    def guarded(self, function: Callable[[], object]) -> bool:
        """Call a function, unless one has failed before; return whether it succeeded."""
        if self.error is None:
            try:
                function()
            except BaseException as error:
                self.error = error
        return self.error is None


class WatchedSolver:
    """A solver and its watcher.

    Parameters
    ----------
    solve, stop : callable
        Run the solver and stop it; ``stop`` makes ``solve`` return soon, and is called from another thread.
    answer : Answer
        Kept up to date by the solver's callbacks, and passed to the observer.
    limits : SolverLimits
    callbacks : Callbacks
        Exceptions of the callbacks and of ``solve`` are raised at the end.
    """

    def __init__(
        self,
        solve: Callable[[], object],
        stop: Callable[[], object],
        answer: Answer,
        limits: SolverLimits,
        callbacks: Callbacks,
    ) -> None:
        self._solve = solve
        self._stop = stop
        self._answer = answer
        self._limits = limits
        self._callbacks = callbacks
        self._deadline = time.monotonic() + limits.seconds
        self._finished = threading.Event()
        self._ending = False

    def solver_apart(self) -> None:
        """Run the solver in another thread: the observer is called from this one."""
        self._run_both(apart=self._run_solver, here=self._watch)

    def watcher_apart(self) -> None:
        """Run the solver in this thread, for solvers that must always run in the same one."""
        self._run_both(apart=self._watch, here=self._run_solver)

    def _run_both(self, apart: Callable[[], None], here: Callable[[], None]) -> None:
        thread = threading.Thread(target=apart, name="hardmargin-mip", daemon=True)
        thread.start()
        try:
            here()
        finally:
            if not self._finished.is_set():
                self._stop()
            thread.join()
        if self._callbacks.error is not None:
            raise self._callbacks.error

    def _run_solver(self) -> None:
        self._callbacks.guarded(self._solve)
        self._finished.set()

    def _watch(self) -> None:
        while not self._finished.wait(_INTERVAL):
            self._callbacks.guarded(self._observe)
            if self._ending or self._callbacks.error is not None or time.monotonic() > self._deadline:
                self._stop()

    def _observe(self) -> None:
        observe = self._limits.observe
        self._ending = self._ending or (observe is not None and not observe(self._answer))
