"""The graph of imports inside the package: no circle, and what must not know the kinds of experiments does not."""

import ast
import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src"
PACKAGE = SOURCE / "textcritic"


def module_name(path: Path, source: Path = SOURCE) -> str:
    parts = path.relative_to(source).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def is_type_checking(node: ast.If) -> bool:
    test = node.test
    return (test.attr if isinstance(test, ast.Attribute) else getattr(test, "id", "")) == "TYPE_CHECKING"


def imports_when_loaded(nodes: list[ast.stmt]) -> Iterator[ast.Import | ast.ImportFrom]:
    """The imports that run when a module is loaded: not those of functions, nor those for type checkers."""
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif isinstance(node, ast.If) and is_type_checking(node):
            yield from imports_when_loaded(node.orelse)
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for block in ("body", "orelse", "finalbody"):
                yield from imports_when_loaded(getattr(node, block, []))
            for handler in getattr(node, "handlers", []):
                yield from imports_when_loaded(handler.body)


def imported(nodes: list[ast.Import | ast.ImportFrom], known: set[str]) -> set[str]:
    """The modules of `known` that are imported, by their full names; a package stands for its `__init__`."""
    names = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        else:
            assert not node.level, "imports are absolute"
            for alias in node.names:
                submodule = f"{node.module}.{alias.name}"
                names.add(submodule if submodule in known else str(node.module))
    return names & known


def graph_of(source: Path) -> dict[str, set[str]]:
    """Each module and those that it imports when it is loaded."""
    trees = {module_name(path, source): ast.parse(path.read_text()) for path in sorted(source.rglob("*.py"))}
    return {name: imported(list(imports_when_loaded(tree.body)), set(trees)) - {name} for name, tree in trees.items()}


def circle(graph: dict[str, set[str]]) -> str:
    """A circle in words, or nothing."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return " <- ".join(error.args[1])
    return ""


def test_no_module_imports_itself_through_others():
    graph = graph_of(SOURCE)
    assert len(graph) > 100
    assert not circle(graph)


def test_a_circle_is_seen(tmp_path):
    (tmp_path / "room").mkdir()
    (tmp_path / "room/__init__.py").write_text("from room.one import a\n")
    (tmp_path / "room/one.py").write_text("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import room.two\n")
    (tmp_path / "room/two.py").write_text("def f():\n    import room.one\n")
    assert not circle(graph_of(tmp_path))
    (tmp_path / "room/one.py").write_text("try:\n    from room import two\nexcept ImportError:\n    pass\n")
    (tmp_path / "room/two.py").write_text("import room.one\n")
    assert "room.two" in circle(graph_of(tmp_path))


# What serves every kind of experiment does not know one of them.

KINDS = sorted(path.parent.name for path in (PACKAGE / "experiments").glob("*/plan.py"))
# A kind may have the name of a registry, which generic modules do name.
REGISTRIES = {path.stem for path in (SOURCE.parent / "config/schemas").glob("*.yaml")}
GENERIC = sorted(path for room in ("report", "plan") for path in (PACKAGE / room).rglob("*.py"))


def words_of(tree: ast.Module) -> Iterator[str]:
    """Names and strings of a module, docstrings not included."""
    documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, documented) and node.body and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.value
        for key in ("id", "attr", "name", "arg", "module"):
            if isinstance(name := getattr(node, key, None), str):
                yield name


@pytest.mark.parametrize("path", GENERIC, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_generic_modules_name_no_kind_of_experiment(path):
    text = "\n".join(words_of(ast.parse(path.read_text())))
    for kind in KINDS:
        assert f"textcritic.experiments.{kind}" not in text
        if kind not in REGISTRIES:
            assert not re.search(rf"(?<![a-zA-Z]){re.escape(kind)}(?![a-zA-Z])", text), f"{path} names the kind {kind}"
