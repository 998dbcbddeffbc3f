"""What ``import hardmargin`` provides, and what it loads only on demand."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import hardmargin

SOURCE = Path(hardmargin.__file__)


@pytest.mark.parametrize("name", hardmargin.__all__)
def test_every_public_name_is_there(name) -> None:
    home = importlib.import_module(f"hardmargin.{hardmargin._MODULES[name]}")
    assert getattr(hardmargin, name) is getattr(home, name)
    assert name in dir(hardmargin)


def test_type_checkers_see_the_same_names_in_the_same_modules() -> None:
    for_types = {
        alias.name: node.module
        for node in ast.walk(ast.parse(SOURCE.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module.startswith("hardmargin.")
        for alias in node.names
    }
    assert for_types == {name: f"hardmargin.{module}" for name, module in hardmargin._MODULES.items()}
    assert sorted(for_types) == hardmargin.__all__


def test_no_module_can_take_the_place_of_a_public_name() -> None:
    assert not {module.name for module in pkgutil.iter_modules(hardmargin.__path__)} & set(hardmargin.__all__)


def test_other_names_are_refused() -> None:
    with pytest.raises(AttributeError, match="module 'hardmargin' has no attribute 'sovle'"):
        hardmargin.sovle  # noqa: B018


def test_what_needs_no_search_does_not_wait_for_scikit_learn() -> None:
    """One process checks all commands; it must not import these packages for any of them."""
    program = """
import contextlib, sys
from hardmargin.cli import main
for words in (["--version"], ["polish"], ["solve", "--help"], ["solve", "missing.txt"]):
    with contextlib.suppress(SystemExit):
        main(words)
    assert not {"sklearn", "scipy", "rich", "hardmargin._core"} & set(sys.modules), words
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_estimator_does_not_wait_for_what_few_fits_need() -> None:
    """Beyond what scikit-learn imports itself; a linear fit does not need these packages either."""
    program = """
import sys
import sklearn.base
before = set(sys.modules)
from hardmargin import HardMarginSVC
imported = set(sys.modules) - before
heavy = {"rich", "pyscipopt", "cplex", "dask", "distributed", "pandas", "pyarrow", "matplotlib", "highspy"}
assert not heavy & {name.partition(".")[0] for name in imported}, imported
assert not {name for name in imported if name.startswith(("sklearn.metrics", "sklearn.svm", "scipy.linalg"))}
assert not {name for name in imported if name.startswith(("hardmargin.mip", "hardmargin.bench", "hardmargin.cli"))}
HardMarginSVC(C=10).fit([[0.0], [1.0], [3.0]], [0, 0, 1])
assert not heavy & {name.partition(".")[0] for name in set(sys.modules) - before}
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_nothing_that_is_imported_warns() -> None:
    """Users run their own tests with warnings as errors."""
    program = "import hardmargin, hardmargin.data; [getattr(hardmargin, name) for name in hardmargin.__all__]"
    words = [sys.executable, "-W", "error", "-c", program]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
