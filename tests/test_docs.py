"""Runs every example in docs/ and in the pages beside the README."""

from __future__ import annotations

import doctest
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from hardmargin.cli import main
from hardmargin.methods.base import Limits

ROOT = Path(__file__).resolve().parent.parent
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]

SHELL = {"sh", "bash", "shell", "console"}
SHOWN_ONLY = {"text", "json", "bibtex", "cpp", "toml", "yaml", "{eval-rst}"}

FENCE = re.compile(r"^```(?P<language>[^\n]*)\n(?P<code>.*?)^```[ ]*$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:|mailto:|#)(?P<target>[^)#\s]+)")


# The limits in examples are long for what they solve. On a loaded machine they may take this many times as long,
# unless a limit is so short that the example is about reaching it.
LENIENCE = 100
SHORT_LIMIT = 5.0


@pytest.fixture
def patience(monkeypatch) -> None:
    """No result of an example depends on the speed of the machine."""

    def remaining(limits: Limits) -> float:
        factor = LENIENCE if limits.time_limit >= SHORT_LIMIT else 1
        return max(0.0, factor * limits.time_limit - limits.elapsed())

    monkeypatch.setattr(Limits, "remaining", remaining)


class Block(NamedTuple):
    """A fenced block of a page."""

    language: str
    code: str
    line: int


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text(encoding="utf-8")
    for found in FENCE.finditer(text):
        yield Block(found["language"].strip(), found["code"], text.count("\n", 0, found.start()) + 2)


def run_python(block: Block, page: Path, namespace: dict[str, object]) -> None:
    if ">>>" not in block.code:
        padding = "\n" * (block.line - 1)
        exec(compile(padding + block.code, str(page), "exec"), namespace)
        return
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    example = doctest.DocTestParser().get_doctest(block.code, namespace, page.name, str(page), block.line - 1)
    runner = doctest.DebugRunner(optionflags=flags)
    try:
        runner.run(example, clear_globs=False)
    except doctest.DocTestFailure as failure:
        where = f"{page.name}, line {block.line + failure.example.lineno}"
        pytest.fail(f"{where}: {failure.example.source}expected {failure.example.want}got {failure.got}")
    namespace.update(example.globs)


def run_shell(block: Block) -> None:
    for command in block.code.replace("\\\n", " ").splitlines():
        words = shlex.split(command.removeprefix("$ "), comments=True)
        if words[:1] == ["hardmargin"]:
            assert main(words[1:]) == 0, command


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_example_runs(page, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    namespace: dict[str, object] = {"__name__": "__main__"}
    for block in blocks(page):
        if block.language == "python":
            run_python(block, page, namespace)
        elif block.language in SHELL:
            run_shell(block)
        else:
            assert block.language in SHOWN_ONLY, f"line {block.line}: name the block's language"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page) -> None:
    for found in LINK.finditer(page.read_text(encoding="utf-8")):
        assert (page.parent / found["target"]).exists(), found["target"]


def test_every_file_of_the_package_has_its_place_on_the_page_for_developers() -> None:
    core = ROOT / "src" / "hardmargin" / "core" / "README.md"
    page = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "development.md", core))
    files = [path for pattern in ("*.py", "*.cpp", "*.h") for path in (ROOT / "src" / "hardmargin").rglob(pattern)]
    # Folders are listed as a whole, and so are the variants of the kernels.
    names = {path.stem for path in files if not path.stem.startswith(("_", "kernels_"))}
    assert sorted(name for name in names if not re.search(rf"\b{name}\b", page)) == []
