"""Between a search of the core and the caller: reports progress, and remembers why the search ended."""

from __future__ import annotations

from collections.abc import Callable

from hardmargin import _core
from hardmargin.bounds import Report
from hardmargin.limits import Limits
from hardmargin.status import Status
from hardmargin.stopping import StalledError


class Watch:
    """The watcher of one method's run.

    Attributes
    ----------
    ended : Status or None
        TIME_LIMIT, INTERRUPTED or STALLED once a phase has ended for that reason; None while the method may
        continue.
    """

    def __init__(self, limits: Limits, report: Report) -> None:
        self._limits = limits
        self._report = report
        self._raised: BaseException | None = None
        self.ended: Status | None = None

    @property
    def interrupted(self) -> bool:
        """Whether the user, or the caller's stop rule, asked it to stop."""
        return self.ended in (Status.INTERRUPTED, Status.STALLED)

    def run(self, phase: Callable[[], _core.Outcome]) -> None:
        """Run a phase of the method, unless it was interrupted before."""
        if not self.interrupted:
            self.take_note(phase())

    def pass_on(self, upper: float, lower: float, nodes: int) -> None:
        """Report, letting through whatever that raises."""
        self._report(self._limits.elapsed(), upper, lower, nodes)

    def report(self, upper: float, lower: float, nodes: int) -> bool:
        """Report; False, which ends the phase, if that raised something."""
        try:
            self.pass_on(upper, lower, nodes)
        except StalledError as error:
            # It does not replace Ctrl-C, which may have come first.
            self._raised = self._raised or error
        except BaseException as error:
            # Not kept in the outcome: the two would refer to each other and never be freed.
            self._raised = error
        return self._raised is None

    def take_note(self, outcome: _core.Outcome | None) -> None:
        """Remember why a phase ended, compiled or not; an exception other than KeyboardInterrupt is raised."""
        error = self._raised or (None if outcome is None else outcome.error)
        if error is not None and not isinstance(error, KeyboardInterrupt):
            raise error
        timed_out = (outcome is not None and outcome.timed_out) or self._limits.remaining() == 0
        if error is not None or (outcome is not None and outcome.interrupted):
            self.ended = Status.STALLED if isinstance(error, StalledError) else Status.INTERRUPTED
        elif self.ended is None and timed_out:
            self.ended = Status.TIME_LIMIT
