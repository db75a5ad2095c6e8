"""The demo corpus: numpydoc docstrings of installed packages, whose sections are as regular as those of articles."""

import contextlib
import importlib
import importlib.metadata
import inspect
import io
import pkgutil
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from types import ModuleType

import numpy as np

from textcritic.corpora.articles import Article, Section
from textcritic.corpora.layout import clean_text
from textcritic.corpora.readers.near_duplicates import near_duplicates
from textcritic.errors import TextcriticError

SUMMARY = "summary"
NEAR_DUPLICATE = 0.8
# Numpydoc's own section names; these count as headings even where the blank line before them was forgotten.
NUMPYDOC_HEADINGS = frozenset(
    {"attributes", "examples", "methods", "notes", "other parameters", "parameters", "raises", "receives"}
    | {"references", "returns", "see also", "warnings", "warns", "yields"}
)
# Tests are not documentation. Whether a drawing backend can be imported depends on the machine, and numpy.distutils
# exists on old Python versions only: both would make the harvest differ between machines with the same packages.
SKIPPED_MODULES = frozenset({"tests", "conftest", "setup", "__main__"})
SKIPPED_PATHS = frozenset({"matplotlib.backends", "numpy.distutils"})
# Docstrings written at import, with random numbers or in the order of a set: they differ from run to run.
UNSTABLE = frozenset(
    {"scipy.signal.lombscargle", "scipy.stats.Binomial", "scipy.stats.Logistic", "scipy.stats.Normal"}
    | {"scipy.stats.Uniform"}
)

_HEADING = re.compile(r"[A-Za-z]+(?: [A-Za-z]+){0,3}:?")
_UNDERLINE = re.compile(r"-{3,}")


def extract_docstrings(packages: Sequence[str], skipped: Counter[str] | None = None) -> Iterator[Article]:
    """Harvest the numpydoc docstrings of the public modules, classes, functions and methods of installed packages.

    Exact duplicates and near-duplicates (three-word shingles with Jaccard similarity of at least 0.8) are left out:
    the document whose qualified name sorts first stays.

    Args:
        packages: names of distributions (`scikit-learn`) or of their import packages (`sklearn`).
        skipped: counts what was left out, by reason.

    Yields:
        Articles sorted by id, the qualified name; text before the first heading is the section `summary`; `source` is
        `distribution==version`, `group` the module that defines the object, as it says itself.

    Raises:
        TextcriticError: a package is not installed.
    """
    skipped = Counter() if skipped is None else skipped
    sources = dict(_source(package) for package in packages)
    articles = []
    for name, (docstring, module) in sorted(_harvest(sources, skipped).items()):
        sections, empty = numpydoc_sections(docstring)
        skipped["empty section"] += empty
        if any(section.title != SUMMARY for section in sections):
            source = sources[name.partition(".")[0]]
            articles.append(Article(name, name.rpartition(".")[2], sections, source, module))
        else:
            skipped["docstring without headings"] += 1
    kept_instead = near_duplicates(
        ["\n".join(section.text for section in article.sections) for article in articles], NEAR_DUPLICATE
    )
    for article, duplicate_of in zip(articles, kept_instead, strict=True):
        if duplicate_of is None:
            yield article
        else:
            skipped["near-duplicate"] += 1


def numpydoc_sections(docstring: str) -> tuple[tuple[Section, ...], int]:
    """Split a docstring at its headings: a line of up to four words above a line of about as many dashes.

    Args:
        docstring: as in the source, with its indentation.

    Returns:
        The sections with lower-cased titles and text without blank lines, and the number of headings that had
        no text below them, which are left out.
    """
    lines = inspect.cleandoc(docstring).split("\n")
    starts = [number for number in range(len(lines) - 1) if _is_heading(lines, number)]
    stops = [*starts, len(lines)]
    parts = [(SUMMARY, lines[: stops[0]])]
    for start, stop in pairwise(stops):
        parts.append((lines[start].strip().rstrip(":").lower(), lines[start + 2 : stop]))
    sections = [Section(title, clean_text("\n".join(body))) for title, body in parts]
    full = tuple(section for section in sections if section.text)
    return full, sum(1 for section in sections[1:] if not section.text)


def _is_heading(lines: list[str], number: int) -> bool:
    title, underline = lines[number].strip(), lines[number + 1].strip()
    if not (_HEADING.fullmatch(title) and _UNDERLINE.fullmatch(underline) and abs(len(title) - len(underline)) <= 3):
        return False
    follows_blank = number == 0 or not lines[number - 1].strip()
    return follows_blank or title.rstrip(":").lower() in NUMPYDOC_HEADINGS


def _source(package: str) -> tuple[str, str]:
    """The import package that `package` names, and `distribution==version`."""
    providers = importlib.metadata.packages_distributions()
    if package not in providers:
        wanted = package.lower().replace("_", "-")
        roots = sorted(r for r, names in providers.items() if wanted in (n.lower().replace("_", "-") for n in names))
        if not roots:
            raise TextcriticError(
                f"docstrings: package '{package}' is not installed; install it or remove it from packages"
            )
        package = roots[0]
    distribution = providers[package][0]
    return package, f"{distribution}=={importlib.metadata.version(distribution)}"


def _harvest(roots: Iterable[str], skipped: Counter[str]) -> dict[str, tuple[str, str]]:
    """(docstring, module that defines it) by qualified name; an object keeps the name that ranks first."""
    # The objects are kept alive, so that ids stay unique.
    best: dict[int, tuple[tuple[bool, int, str], object, str]] = {}
    for root in roots:
        for rank, thing, module in _documented(root, skipped):
            if id(thing) in best:
                skipped["same object under another name"] += 1
            if id(thing) not in best or rank < best[id(thing)][0]:
                best[id(thing)] = (rank, thing, module)
    docstrings = {
        name: (str(thing.__doc__), module) for (_, _, name), thing, module in best.values() if name not in UNSTABLE
    }
    skipped["docstring that changes from run to run"] += len(best) - len(docstrings)
    return _without_exact_duplicates(docstrings, skipped)


def _without_exact_duplicates(
    docstrings: dict[str, tuple[str, str]], skipped: Counter[str]
) -> dict[str, tuple[str, str]]:
    first: dict[str, str] = {}
    for name in sorted(docstrings):
        if first.setdefault(" ".join(docstrings[name][0].split()), name) != name:
            skipped["exact duplicate"] += 1
    return {name: docstrings[name] for name in first.values()}


def _documented(root: str, skipped: Counter[str]) -> Iterator[tuple[tuple[bool, int, str], object, str]]:
    """Public classes, routines and members of classes that have a docstring of their own.

    Yields:
        The rank of the name of each object, the object, and the module that defines it or its class. Names in that
        module, or in a package around it, rank before names it was merely imported under; then fewer dots are better;
        the name itself is last.
    """
    for module in _public_modules(root, skipped):
        for name, thing in _public(vars(module)):
            is_class = inspect.isclass(thing)
            if not (is_class or inspect.isroutine(thing) or isinstance(thing, np.ufunc)):
                continue
            home = getattr(thing, "__module__", None) or root
            if home.partition(".")[0] != root:
                continue
            imported = not f"{home}.".startswith(f"{module.__name__}.")
            named = [(f"{module.__name__}.{name}", thing)]
            if is_class:
                named += [(f"{module.__name__}.{name}.{member}", value) for member, value in _public(vars(thing))]
            for path, value in named:
                if _has_own_docstring(value):
                    yield (imported, path.count("."), path), value, home


def _public(names: Mapping[str, object]) -> list[tuple[str, object]]:
    return [(name, value) for name, value in sorted(names.items()) if not name.startswith("_")]


def _has_own_docstring(thing: object) -> bool:
    docstring = getattr(thing, "__doc__", None)
    return isinstance(docstring, str) and docstring is not type(thing).__doc__


def _public_modules(root: str, skipped: Counter[str]) -> Iterator[ModuleType]:
    waiting = [root]
    while waiting:
        name = waiting.pop(0)
        module = _import_quietly(name)
        if module is None:
            skipped["module that cannot be imported"] += 1
            continue
        yield module
        for submodule in pkgutil.iter_modules(getattr(module, "__path__", [])):
            path = f"{name}.{submodule.name}"
            if not (submodule.name.startswith("_") or submodule.name in SKIPPED_MODULES or path in SKIPPED_PATHS):
                waiting.append(path)


def _import_quietly(name: str) -> ModuleType | None:
    """Import a module without its output and warnings; None if it fails, as optional parts of packages often do."""
    silence = io.StringIO()
    with warnings.catch_warnings(), contextlib.redirect_stdout(silence), contextlib.redirect_stderr(silence):
        warnings.simplefilter("ignore")
        try:
            return importlib.import_module(name)
        except (Exception, SystemExit):
            return None
