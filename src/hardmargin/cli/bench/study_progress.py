"""Progress of a running robustness study: a bar on a terminal, an occasional line elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def study_progress(path: str, *, verbose: bool) -> Iterator[Callable[[int, int], None]]:
    """Show how many evaluations are done; after Ctrl-C, say that they are kept.

    Parameters
    ----------
    path : str
        The file with the records.
    verbose : bool
        Whether to print an occasional line if there is no terminal.

    Yields
    ------
    report : callable
        Called with the number of evaluations done and their total.
    """
    counts = (0, 0)
    with (_bar if sys.stderr.isatty() else _lines)(verbose) as show:

        def report(done: int, total: int) -> None:
            nonlocal counts
            counts = done, total
            show(done, total)

        try:
            yield report
            return
        except KeyboardInterrupt as error:
            interrupt = error
    # Only after the bar is gone, because it would overwrite the message.
    done, total = counts
    if total:
        print(f"{path}: {done} of {total} evaluations are kept; the same command makes the rest", file=sys.stderr)
    raise interrupt


@contextmanager
def _bar(verbose: bool) -> Iterator[Callable[[int, int], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("evaluations"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@contextmanager
def _lines(verbose: bool) -> Iterator[Callable[[int, int], None]]:
    def show(done: int, total: int) -> None:
        if verbose and done % max(1, total // 100) == 0:
            print(f"{done} of {total} evaluations", file=sys.stderr, flush=True)

    yield show
