"""The imports of the package follow the table of layers in docs/development.md."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "hardmargin"
PAGE = (ROOT / "docs" / "development.md").read_text(encoding="utf-8")


class Layer(NamedTuple):
    """A row of the table."""

    name: str
    modules: list[str]
    layers: list[str]
    single_modules: list[str]


class Import(NamedTuple):
    """A module and one that it imports, both without the name of the package."""

    module: str
    imported: str


def rows(heading: str) -> Iterator[list[str]]:
    """The rows of the first table below a heading of the page."""
    _, _, below = PAGE.partition(f"\n{heading}\n")
    table = re.search(r"^\|.*\n\|[-|]+\|\n((?:\|.*\n)+)", below, re.MULTILINE)
    assert table, heading
    for line in table[1].splitlines():
        yield [cell.strip() for cell in line.strip("|").split("|")]


def names(cell: str) -> list[str]:
    return [name.strip() for name in cell.split(",") if name.strip()]


def layer_table() -> dict[str, Layer]:
    found = {}
    for name, modules, allowed in rows("## Layers"):
        quoted = [word.strip("`") for word in names(allowed) if word.startswith("`")]
        plain = [word for word in names(allowed) if not word.startswith("`")]
        found[name] = Layer(name, [word.strip("`") for word in names(modules)], plain, quoted)
    return found


def package_modules() -> dict[str, Path]:
    """Every module by its name inside the package: ``bench.running.plan``; the package itself is ``__init__``."""
    found = {"_core": PACKAGE / "_core.pyi"}
    for path in PACKAGE.rglob("*.py"):
        *folders, stem = path.relative_to(PACKAGE).with_suffix("").parts
        found[".".join(folders if stem == "__init__" and folders else [*folders, stem])] = path
    return found


LAYERS = layer_table()
ORDER = list(LAYERS)
MODULES = package_modules()


def layer_of(module: str) -> str:
    fitting = [
        layer.name
        for layer in LAYERS.values()
        for name in layer.modules
        if module == name or (name.endswith("/") and f"{module}/".replace(".", "/").startswith(name))
    ]
    assert len(fitting) == 1, f"{module} is in {len(fitting)} layers of docs/development.md; expected one"
    return fitting[0]


def has_statements(path: Path) -> bool:
    body = ast.parse(path.read_text(encoding="utf-8")).body
    return len(body) > 1 or any(not isinstance(node, ast.Expr) for node in body)


def full_names(node: ast.AST) -> Iterator[str]:
    """The modules of any package that a statement imports."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        assert node.level == 0, "imports are absolute"
        for alias in node.names:
            inside = f"{node.module}.{alias.name}"
            yield inside if inside.removeprefix("hardmargin.") in MODULES else str(node.module)


def imports_of(module: str) -> Iterator[Import]:
    for node in ast.walk(ast.parse(MODULES[module].read_text(encoding="utf-8"))):
        for name in full_names(node):
            if name == "hardmargin":
                yield Import(module, "__init__")
            elif name.startswith("hardmargin."):
                yield Import(module, name.removeprefix("hardmargin."))


IMPORTS = sorted({found for module in MODULES for found in imports_of(module)})


def leaves_its_layer(found: Import) -> bool:
    return layer_of(found.module) != layer_of(found.imported)


def is_allowed(found: Import) -> bool:
    layer = LAYERS[layer_of(found.module)]
    return layer_of(found.imported) in layer.layers or found.imported in layer.single_modules


def test_every_module_is_in_one_layer() -> None:
    for module, path in MODULES.items():
        if has_statements(path):
            layer_of(module)


def test_every_name_in_the_table_is_one_of_the_sources() -> None:
    for layer in LAYERS.values():
        for name in layer.modules:
            assert (PACKAGE / name).is_dir() if name.endswith("/") else name in MODULES, name


def test_layers_name_those_above_them_only() -> None:
    for layer in LAYERS.values():
        for name in [*layer.layers, *map(layer_of, layer.single_modules)]:
            assert ORDER.index(name) < ORDER.index(layer.name), f"{layer.name} may import {name}"


def test_imports_follow_the_table() -> None:
    wrong = [found for found in IMPORTS if leaves_its_layer(found) and not is_allowed(found)]
    assert wrong == []


def test_the_table_allows_nothing_that_is_not_needed() -> None:
    needed = {(layer_of(found.module), layer_of(found.imported)) for found in IMPORTS}
    needed |= {(layer_of(found.module), found.imported) for found in IMPORTS}
    for layer in LAYERS.values():
        for name in [*layer.layers, *layer.single_modules]:
            assert (layer.name, name) in needed, f"{layer.name} does not import {name}"
        # A single module is redundant if its whole layer may be imported.
        assert not set(map(layer_of, layer.single_modules)) & set(layer.layers), layer.name


def test_nothing_in_the_solver_imports_the_bench_or_the_command_line() -> None:
    """Whatever the table says."""
    outside = [found for found in IMPORTS if found.module.split(".")[0] not in ("bench", "cli", "__main__")]
    assert [found for found in outside if found.imported.split(".")[0] in ("bench", "cli")] == []
    bench = [found for found in IMPORTS if found.module.split(".")[0] == "bench"]
    assert [found for found in bench if found.imported.split(".")[0] == "cli"] == []
