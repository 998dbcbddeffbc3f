"""The sources of the documentation site, without building it: menus, links, and the names of the API reference."""

from __future__ import annotations

import re

import pytest

import hardmargin
import hardmargin.data
from hardmargin import methods
from scripts import loaded

stage = loaded("docs/site/stage.py")
SECTIONS = [stage.ROOT / section for section in stage.SECTIONS]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The sources of the site."""
    folder = tmp_path_factory.mktemp("site")
    stage.stage(folder)
    return folder


def test_every_page_is_in_one_menu() -> None:
    listed = [name for section in SECTIONS for name in stage.listed_pages(section)]
    assert sorted(listed) == sorted({*stage.sources(), "gallery/index.rst"} - {"index.md"})


def test_no_list_of_pages_names_a_file_that_is_not_on_the_site() -> None:
    for section in SECTIONS:
        items = stage._ITEM.findall(section.read_text(encoding="utf-8"))
        assert len(items) == len(stage.listed_pages(section)), section.name


def test_links_of_the_site_stay_within_it(folder) -> None:
    for page in folder.glob("*.md"):
        for found in stage._LINK.finditer(page.read_text(encoding="utf-8")):
            target = found["target"]
            assert target == "gallery/index.rst" or (folder / target).is_file(), f"{page.name}: {target}"


def test_a_link_to_a_file_that_is_not_on_the_site_names_the_file() -> None:
    page = stage.adapted(stage.DOCS / "long-runs.md")
    assert "([frontier.py](" not in page
    assert "`src/hardmargin/frontier.py`" in page


def test_staging_again_replaces_only_what_has_changed(folder) -> None:
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}
    (folder / "index.md").write_text("old")
    (folder / "renamed.md").write_text("old")
    for generated in ("api/hardmargin.gone.rst", "gallery/plot_gone.rst", "gallery/plot_gone.py.md5"):
        (folder / generated).parent.mkdir(exist_ok=True)
        (folder / generated).write_text("old")
    stage.stage(folder)
    after = {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}
    assert {path.name for path in before if after[path] != before[path]} == {"index.md"}
    assert after.keys() == before.keys()
    assert "toctree" in (folder / "index.md").read_text(encoding="utf-8")


def test_every_public_name_is_in_the_api_reference() -> None:
    page = (stage.DOCS / "api.md").read_text(encoding="utf-8")
    names = {*hardmargin.__all__, *hardmargin.data.__all__, *(f"{method}.Options" for method in methods.names())}
    assert sorted(name for name in names if not re.search(rf"(?<!\w){re.escape(name)}\b", page)) == []
