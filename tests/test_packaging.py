"""What is written down more than once about the package is the same everywhere."""

from __future__ import annotations

import re

import pytest

from hardmargin import __version__


@pytest.fixture
def text(repository):
    return lambda name: (repository / name).read_text(encoding="utf-8")


def requirements(lines: str) -> set[str]:
    """Names and least versions, in lower case: ``{"numpy>=1.24"}``."""
    return {line.replace(" ", "").lower() for line in re.findall(r"[\w-]+ ?>=[\d.]+", lines)}


def test_versions_agree(text) -> None:
    assert re.search(r'^version = "(.*)"', text("pyproject.toml"), re.MULTILINE)[1] == __version__
    assert re.search(r"^version: (.*)", text("CITATION.cff"), re.MULTILINE)[1] == __version__
    assert re.search(r'version: "(.*)"', text("packaging/conda/recipe.yaml"))[1] == __version__
    assert f"## {__version__}" in text("CHANGELOG.md")


def test_the_conda_recipe_has_the_requirements_of_the_package(text) -> None:
    project = text("pyproject.toml")
    needed = requirements(re.search(r"^dependencies = (.*)", project, re.MULTILINE)[1])
    python = "python" + re.search(r'^requires-python = "(.*)"', project, re.MULTILINE)[1]
    run = re.search(r"^  run:\n(.*?)\n\n", text("packaging/conda/recipe.yaml"), re.MULTILINE | re.DOTALL)[1]
    assert requirements(run) == {*needed, python}


def test_every_python_version_that_is_promised_is_tested(text) -> None:
    promised = set(re.findall(r"Python :: (3\.\d+)", text("pyproject.toml")))
    assert promised <= set(re.findall(r'"(3\.\d+)"', text(".github/workflows/ci.yml")))
