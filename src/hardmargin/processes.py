"""What processes of this package that start others of it give them."""

from __future__ import annotations

import os
import sys


def child_environment() -> dict[str, str]:
    """This process's environment, with modules from where it has them, not from where it happens to be."""
    paths = os.pathsep.join(path for path in sys.path if isinstance(path, str) and path)
    return {**os.environ, "PYTHONPATH": paths, "PYTHONSAFEPATH": "1"}
