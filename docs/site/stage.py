"""Collects the sources of the documentation site in one folder, from which Sphinx builds it.

The pages are plain Markdown that reads well without Sphinx. What only a site needs is added to the copies:

- **Navigation.** The pages in the lists of a page (``- [Title](page.md): what is in it``) follow it in the menus.
  So one line in the list of its section puts a new page on the site.
- **Pages from outside docs/**, such as the changelog. Links between them and the other pages are adapted; a link to
  a file that is not on the site becomes the name of the file.

Nothing generated is written to the checkout.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
DOCS = ROOT / "docs"

#: Files outside docs/ that are pages of the site, with the names of these pages.
OUTSIDE = {
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "RELEASING.md": "releasing.md",
    "SECURITY.md": "security.md",
    "src/hardmargin/core/README.md": "core.md",
    # Written by sphinx-gallery, from the header and the scripts beside it.
    "examples/gallery/GALLERY_HEADER.rst": "gallery/index.rst",
}

#: The pages whose lists of pages are the menus of the site.
SECTIONS = (
    "docs/index.md",
    "docs/guide.md",
    "docs/how-it-works.md",
    "docs/benchmarks.md",
    "CONTRIBUTING.md",
)

_ITEM = re.compile(r"^- \[(?P<text>[^\]]*)\]\((?P<target>[^)#\s]+)\)", re.MULTILINE)
# Doctest wants an empty line after the last output, readers do not.
_EMPTY_END = re.compile(r"\n\n```$", re.MULTILINE)
_LINK = re.compile(
    r"(?P<image>!?)\[(?P<text>[^\]]*)\]\((?P<target>(?!https?:|mailto:|#)[^)#\s]+)(?P<anchor>#[^)\s]*)?\)"
)


def sources() -> dict[str, Path]:
    """The Markdown pages of the site: their names there, and their files."""
    inside = {page.name: page for page in sorted(DOCS.glob("*.md"))}
    outside = {name: ROOT / path for path, name in OUTSIDE.items() if path.endswith(".md")}
    return inside | outside


def listed_pages(page: Path) -> dict[str, str]:
    """The pages that the lists of a page name: their names on the site, and the texts of the links to them."""
    items = _ITEM.finditer(page.read_text(encoding="utf-8"))
    found = {_on_site(page, item["target"]): item["text"] for item in items}
    return {name: text for name, text in found.items() if name is not None}


def adapted(page: Path) -> str:
    """The text of a page as it is on the site: with the site's links and, for a section, with its menu."""

    def link(found: re.Match[str]) -> str:
        text, target = found["text"], found["target"]
        if found["image"]:
            return found[0]
        name = _on_site(page, target)
        if name is None:
            path = os.path.relpath((page.parent / target).resolve(), ROOT)
            return f"`{path}`" if text.strip("`") in path else f"{text} (`{path}`)"
        return f"[{text}]({name}{found['anchor'] or ''})"

    text = _EMPTY_END.sub("\n```", _LINK.sub(link, page.read_text(encoding="utf-8")))
    if page.relative_to(ROOT).as_posix() in SECTIONS:
        pages = (
            f"{title.replace('`', '')} <{name.rpartition('.')[0]}>" for name, title in listed_pages(page).items()
        )
        text += "\n```{toctree}\n:hidden:\n\n" + "\n".join(pages) + "\n```\n"
    return text


def stage(folder: Path) -> None:
    """Write the sources of the site. Files that have not changed keep their times, so that a rebuild is quick."""
    wanted = {name: adapted(page).encode() for name, page in sources().items()}
    pictures = [path for path in DOCS.iterdir() if path.suffix in {".png", ".svg"}]
    settings = [path for path in (DOCS / "site").rglob("*") if path.is_file() and path.suffix != ".pyc"]
    wanted |= {path.name: path.read_bytes() for path in pictures}
    wanted |= {path.relative_to(DOCS / "site").as_posix(): path.read_bytes() for path in settings}
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in wanted.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists() or target.read_bytes() != content:
            target.write_bytes(content)
    for stale in folder.glob("*.md"):
        if stale.name not in wanted:
            stale.unlink()
    # What Sphinx has generated there for names and programs that may be gone.
    shutil.rmtree(folder / "api", ignore_errors=True)
    for generated in folder.glob("gallery/plot_*"):
        if not (ROOT / "examples" / "gallery" / f"{generated.name.partition('.')[0]}.py").exists():
            generated.unlink()


def _on_site(page: Path, target: str) -> str | None:
    """The name of the page that a link of a page leads to; None if it is not a page."""
    path = (page.parent / target).resolve()
    names = {file.resolve(): name for name, file in sources().items()}
    names |= {(ROOT / file).resolve(): name for file, name in OUTSIDE.items()}
    return names.get(path)


if __name__ == "__main__":
    stage(Path(sys.argv[1]))
