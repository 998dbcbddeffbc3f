"""Linear algebra on one thread.

NumPy's BLAS starts one thread per core, and these threads wait for each other in busy loops. If other processes
need the cores, a factorisation of a few milliseconds takes seconds. It is also more than ``threads=1`` allows.
"""

from __future__ import annotations

from threading import Lock
from types import TracebackType
from typing import Any

from threadpoolctl import ThreadpoolController


class OneBlasThread:
    """A context in which BLAS uses one thread; when the last open context ends, the previous number is restored.

    The setting applies to the whole process. Contexts of several threads may overlap in any order.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._inside = 0
        self._libraries: Any = None
        self._limits: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if self._libraries is None:
                # Finding the libraries takes longer than solving a small problem. NumPy has loaded its own by now.
                self._libraries = ThreadpoolController().select(user_api="blas")
            if self._inside == 0:
                self._limits = self._libraries.limit(limits=1)
            self._inside += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._limits.restore_original_limits()


one_blas_thread = OneBlasThread()
