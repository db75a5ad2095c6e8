"""Which files of tests mutants are tried with, by rule: all that import what is mutated, but for a few."""

import ast
import tomllib
from pathlib import Path

TESTS = Path(__file__).parent
# They take long, or start processes, which mutmut does not see into.
LEFT_OUT = (
    *("oracle/test_processes_oracle", "unit/test_launch", "unit/test_python", "oracle/test_sample_oracle"),
    *("oracle/test_ctm_fit", "unit/test_ctm_resume", "oracle/test_hsmm_precision"),
)


def is_chosen(path: Path, tests: Path = TESTS) -> bool:
    """Whether mutants are tried with a file: it, or a helper that it imports, imports a module that is mutated."""
    return f"{path.parent.name}/{path.stem}" not in LEFT_OUT and reaches_mutants(path, tests)


def reaches_mutants(path: Path, tests: Path = TESTS) -> bool:
    """Whether a file imports a module that is mutated, itself or through helpers."""
    return any(f"{name}.".startswith(room) for name in imported(path, tests) for room in mutated())


def imported(path: Path, tests: Path = TESTS) -> set[str]:
    """What a file imports, and what the helpers that it imports do: names of modules, and of what is in them."""
    found: set[str] = set()
    files = [path]
    while files:
        new = _imports(files.pop()) - found
        found |= new
        files += [helper for name in new if (helper := tests / f"{name.replace('.', '/')}.py").is_file()]
    return found


def mutated() -> list[str]:
    """How the names of the modules begin that are mutated, with a point at the end: `textcritic.critics.`."""
    return [f"{p.removeprefix('src/').removesuffix('.py').removesuffix('/*').replace('/', '.')}." for p in patterns()]


def patterns() -> list[str]:
    """The files that are mutated, as pyproject.toml names them."""
    settings = tomllib.loads((TESTS.parent / "pyproject.toml").read_text(encoding="utf-8"))
    named: list[str] = settings["tool"]["mutmut"]["only_mutate"]
    return named


def _imports(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names
