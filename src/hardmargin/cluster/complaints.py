"""What is wrong with a cluster, in words for the user; the solve continues in this process."""

from __future__ import annotations

from collections.abc import Callable

from distributed import CancelledError, KilledWorker
from distributed.comm.core import CommClosedError

from hardmargin.cluster.link import Link
from hardmargin.cluster.worker import OtherVersion

#: After this many seconds without a worker, this process does the work itself.
PATIENCE = 5.0
#: What has failed this often is not handed out again.
MOST_FAILURES = 3

_LOST = (KilledWorker, CancelledError, CommClosedError, TimeoutError)
_HERE = "the remaining work is done in this process"

#: ``warn(kind, message)`` warns once per solve and kind.
Warn = Callable[[str, str], None]


def complain_of_refusal(link: Link, warn: Warn) -> None:
    """Warn if the workers refused the problem.

    Raises
    ------
    ValueError
        If they have another version.
    """
    refusal = link.refusal()
    if isinstance(refusal, OtherVersion):
        raise ValueError(f"cluster: {refusal}; install the same version everywhere.") from refusal
    if refusal is not None and link.lost:
        complain_of_absence(link, warn)
    elif refusal is not None:
        why = f"{type(refusal).__name__}: {refusal}"
        warn("refusal", f"the cluster did not accept the problem ({why}); {_HERE}.")


def complain_of_absence(link: Link, warn: Warn) -> None:
    """Warn that there are no workers, or no scheduler."""
    silent = link.silent_for()
    if not link.lost:
        warn("absence", f"the cluster has no workers; {_HERE}.")
        return
    why = f"its scheduler has not answered for {silent:.0f} s" if silent >= 1 else "its scheduler is gone"
    warn("lost", f"the cluster was lost: {why}; {_HERE}, and the result and its bound are kept.")


def complain_of_failure(error: BaseException, warn: Warn) -> None:
    """Warn that a worker failed, unless it was only lost."""
    if not isinstance(error, _LOST):
        why = f"{type(error).__name__}: {error}"
        warn("failure", f"a worker of the cluster failed ({why}); its work is done again.")
