"""The stubs of the compiled core name exactly its members."""

from __future__ import annotations

import ast
import enum
import re
from pathlib import Path

import pytest

import hardmargin
from hardmargin import _core

STUBS = ast.parse(Path(hardmargin.__file__).with_name("_core.pyi").read_text(encoding="utf-8"))
CLASSES = {node.name: node for node in STUBS.body if isinstance(node, ast.ClassDef)}


def is_public(name: str) -> bool:
    return not name.startswith("_")


def kind_in_stub(node: ast.stmt) -> tuple[str, str] | None:
    """The name and kind of a member, or None for docstrings."""
    if isinstance(node, ast.FunctionDef):
        decorators = {ast.unparse(decorator) for decorator in node.decorator_list}
        return node.name, "property" if "property" in decorators else "method"
    if isinstance(node, ast.AnnAssign):
        return ast.unparse(node.target), "property"
    if isinstance(node, ast.Assign):
        return ast.unparse(node.targets[0]), "value"
    return None


def kind_in_core(kind: type, name: str) -> str:
    if issubclass(kind, enum.Enum):
        return "value"
    return "property" if isinstance(vars(kind)[name], property) else "method"


def members_in_core(kind: type) -> list[str]:
    return list(kind.__members__) if issubclass(kind, enum.Enum) else list(vars(kind))


def test_the_module_has_these_names() -> None:
    functions = {node.name for node in STUBS.body if isinstance(node, ast.FunctionDef)}
    assert {*CLASSES, *functions} == {name for name in vars(_core) if is_public(name)}


@pytest.mark.parametrize("name", CLASSES)
def test_the_class_has_these_members(name) -> None:
    kind = getattr(_core, name)
    stub = dict(filter(None, map(kind_in_stub, CLASSES[name].body)))
    core = {member: kind_in_core(kind, member) for member in members_in_core(kind) if is_public(member)}
    assert {member: what for member, what in stub.items() if is_public(member)} == core


@pytest.mark.parametrize("name", [name for name in CLASSES if not issubclass(getattr(_core, name), enum.Enum)])
def test_the_parameters_have_these_names(name) -> None:
    """nanobind writes a method's signature into its docstring."""
    for node in CLASSES[name].body:
        if isinstance(node, ast.FunctionDef) and not node.decorator_list:
            signature = getattr(getattr(_core, name), node.name).__doc__.splitlines()[0]
            declared = [argument.arg for argument in node.args.args]
            assert declared == ["self", *re.findall(r"(\w+): ", signature)]
