"""Which folders may include which: these tests compare the sources with the table in ``core/README.md``."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CORE = ROOT / "src" / "hardmargin" / "core"
TESTS = ROOT / "tests" / "cpp"
README = (CORE / "README.md").read_text(encoding="utf-8")
NAME = re.compile(r"`([\w./]+)`")
INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)


def rows(heading: str) -> list[list[str]]:
    """The cells of the table whose first heading is this."""
    lines = README[README.index(f"| {heading} |") :].splitlines()[2:]
    table = lines[: next(k for k, line in enumerate(lines) if not line.startswith("|"))]
    return [line.strip("|").split("|") for line in table]


ALLOWED = {NAME.findall(row[0])[0]: NAME.findall(row[-1]) for row in rows("room")}
PARTS = {name for row in rows("source") for name in NAME.findall(row[0])}
FILES = sorted(path for path in CORE.rglob("*") if path.suffix in {".h", ".cpp"})


def name_of(path: Path) -> str:
    return path.relative_to(CORE).as_posix()


def test_the_table_has_every_room() -> None:
    assert set(ALLOWED) == {path.parent.name for path in FILES}
    assert all(path.parent.parent == CORE for path in FILES)


def test_rooms_are_stacked() -> None:
    seen: set[str] = set()
    for room, below in ALLOWED.items():
        assert set(below) <= seen, f"{room} may only include rooms that stand above it in the table"
        seen.add(room)


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_a_file_includes_no_room_above_its_own(path) -> None:
    for included in INCLUDE.findall(path.read_text(encoding="utf-8")):
        assert (CORE / included).is_file(), f"{included} is not written from the core's root"
        room = included.split("/")[0]
        assert room in {path.parent.name, *ALLOWED[path.parent.name]}, f"{name_of(path)} includes {included}"


def test_every_source_has_its_header() -> None:
    without = {name_of(path) for path in FILES if path.suffix == ".cpp" and not path.with_suffix(".h").exists()}
    assert without == PARTS


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_the_map_has_every_file(path) -> None:
    room = README[README.index(f"| `{path.parent.name}/` |") :].split("\n\n")[0]
    stem = re.sub(r"_(avx2|avx512|baseline)$", "", path.stem)
    assert stem in NAME.findall(room)


def test_cmake_has_every_source() -> None:
    """A test that is not compiled would pass unnoticed."""
    cmake = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8").replace("${CORE}", "src/hardmargin/core")
    sources = {path.relative_to(ROOT).as_posix() for folder in (CORE, TESTS) for path in folder.rglob("*.cpp")}
    assert sources <= set(cmake.replace(")", " ").split())
