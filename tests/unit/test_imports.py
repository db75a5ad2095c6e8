"""The graph of imports inside the package: no circle, and what must not know the kinds of experiments does not."""

import ast
import re
from collections.abc import Iterator
from functools import cache
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


@cache
def trees_of(source: Path) -> dict[str, ast.Module]:
    return {module_name(path, source): ast.parse(path.read_text()) for path in sorted(source.rglob("*.py"))}


def every_import(tree: ast.Module) -> list[ast.Import | ast.ImportFrom]:
    """Those of functions and those for type checkers too."""
    return [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]


def graph_of(source: Path) -> dict[str, set[str]]:
    """Each module and those that it imports when it is loaded."""
    trees = trees_of(source)
    return {name: imported(list(imports_when_loaded(tree.body)), set(trees)) - {name} for name, tree in trees.items()}


def whole_graph_of(source: Path, package: str) -> dict[str, set[str]]:
    """Each module and those that it imports anywhere; the door of the package, which has its version, is left out."""
    trees = trees_of(source)
    return {
        name: imported(every_import(tree), set(trees)) - {name, package}
        for name, tree in trees.items()
        if name != package
    }


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


def test_no_circle_hides_in_functions_or_behind_type_checking():
    assert not circle(whole_graph_of(SOURCE, "textcritic"))


def test_a_circle_is_seen(tmp_path):
    (tmp_path / "room").mkdir()
    (tmp_path / "room/__init__.py").write_text("from room.one import a\n")
    (tmp_path / "room/one.py").write_text("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import room.two\n")
    (tmp_path / "room/two.py").write_text("def f():\n    import room.one\n")
    assert not circle(graph_of(tmp_path))
    assert "room.two" in circle(whole_graph_of(tmp_path, "room"))
    trees_of.cache_clear()
    (tmp_path / "room/one.py").write_text("try:\n    from room import two\nexcept ImportError:\n    pass\n")
    (tmp_path / "room/two.py").write_text("import room.one\n")
    assert "room.two" in circle(graph_of(tmp_path))


# Rooms, from the ground up: a module imports from its own room and from those before it, also inside functions.

GROUND = (
    "batches",
    "digests",
    "download",
    "download_dataset",
    "errors",
    "extras",
    "files",
    "host",
    "place",
    "runlog",
    "values",
    "workers",
)
ROOMS = (
    *GROUND,
    "inference",
    "plan",
    "measures",
    "corpora",
    "report",
    "training",
    "generators",
    "latents",
    "critics",
    "annotation",
    "experiments",
    "workflow",
    "rehearsal",
    "api",
    "commands",
    "cli",
)
# The one exception: the plan reads the list of kinds.
EXCEPTION = ("plan", "textcritic.experiments")


def arrows_up(source: Path, package: str, rooms: tuple[str, ...], ground: tuple[str, ...]) -> list[str]:
    """`MODULE -> MODULE` for each import of a room that stands later in the list."""
    trees = trees_of(source)
    height = {room: 0 if room in ground else place for place, room in enumerate(rooms, 1)}
    arrows = []
    for name, tree in trees.items():
        for other in sorted(imported(every_import(tree), set(trees)) - {package}):
            one, two = (module.split(".")[1] for module in (name, other)) if name != package else ("", "")
            if one and height[two] > height[one] and (one, other) != EXCEPTION:
                arrows.append(f"{name} -> {other}")
    return arrows


def test_no_module_imports_from_a_room_above_its_own():
    rooms = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()}
    assert rooms - {"__init__"} <= set(ROOMS), "a room that the list does not have"
    assert not arrows_up(SOURCE, "textcritic", ROOMS, GROUND)


def test_an_arrow_up_is_seen_inside_functions_too(tmp_path):
    for room, text in (("low", "def f():\n    from pack.high import one\n"), ("high", "import pack.low\n")):
        (tmp_path / "pack" / room).mkdir(parents=True)
        (tmp_path / "pack" / room / "__init__.py").write_text("")
        (tmp_path / "pack" / room / "one.py").write_text(text)
    assert arrows_up(tmp_path, "pack", ("low", "high"), ()) == ["pack.low.one -> pack.high.one"]


# What serves every kind of experiment does not know one of them.

KINDS = sorted(path.parent.name for path in (PACKAGE / "experiments").glob("*/plan.py"))
# A kind may have the name of a registry, which generic modules do name.
REGISTRIES = {path.stem for path in (SOURCE.parent / "config/schemas").glob("*.json")}
# So may an extractor of the corpora registry, which its checks name; and this one is a word of every day, too.
IN_CHECKS, EVERYDAY = {"process"}, {"order"}
# The table of costs has every rule, whatever kind it belongs to; and keys of registries say what they are for.
NAMED = (PACKAGE / "plan/costs", PACKAGE / "plan/entries")
GENERIC = sorted(
    path
    for room in ("measures", "report", "plan")
    for path in (PACKAGE / room).rglob("*.py")
    if path.parent not in NAMED
)


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
    allowed = REGISTRIES | EVERYDAY | (IN_CHECKS if path.parent.name == "checks" else set())
    for kind in KINDS:
        assert f"textcritic.experiments.{kind}" not in text
        if kind not in allowed:
            assert not re.search(rf"(?<![a-zA-Z]){re.escape(kind)}(?![a-zA-Z])", text), f"{path} names the kind {kind}"
