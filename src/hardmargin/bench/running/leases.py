"""Cores for the runs of several processes on one machine, none assigned twice."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from hardmargin.cores import available_cores
from hardmargin.processes import INTERVAL


@contextlib.contextmanager
def leased_cores(folder: Path, count: int, go_on: Callable[[], bool]) -> Iterator[list[int] | None]:
    """Cores of this machine that nobody else has leased in the same folder; waits until enough are free.

    Parameters
    ----------
    folder : Path
        Locked files in it mark the cores in use; the locks end with the process that holds them.
    count : int
        How many cores.
    go_on : callable
        Called while waiting; if it returns False, no cores are leased.

    Yields
    ------
    cores : list of int or None
        None if files cannot be locked.
    """
    try:
        import fcntl
    except ImportError:
        yield None
        return
    folder.mkdir(exist_ok=True)
    count = min(count, len(available_cores()))

    def locked(name: str, operation: int) -> int | None:
        file = os.open(folder / name, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(file, operation)
        except OSError:
            os.close(file)
            return None
        return file

    taken: dict[int, int] = {}
    try:
        while len(taken) < count and go_on():
            choosing = locked("choosing", fcntl.LOCK_EX)
            for core in available_cores():
                if len(taken) < count and (file := locked(str(core), fcntl.LOCK_EX | fcntl.LOCK_NB)) is not None:
                    taken[core] = file
            if len(taken) < count:
                # All or nothing: two runs with half of what they need would wait for each other forever.
                while taken:
                    os.close(taken.popitem()[1])
            if choosing is not None:
                os.close(choosing)
            if not taken:
                time.sleep(INTERVAL)
        yield sorted(taken)
    finally:
        for file in taken.values():
            os.close(file)
