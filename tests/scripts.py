"""Scripts outside the package, imported by tests."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

FOLDER = Path(__file__).parents[1]


def loaded(path: str) -> ModuleType:
    """A script of the project as a module, by its path from the project's folder."""
    file = FOLDER / path
    specification = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module
