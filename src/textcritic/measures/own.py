"""A measure of one's own: one number of a document, by a function that `measure` declares. Loads nothing heavy.

    @textcritic.measure(title="Distinct-2", aim="real")
    def distinct_2(document):
        words = document.text.split()
        return len(set(zip(words, words[1:]))) / max(len(words) - 1, 1)

Value, interval, test, verdict, chart and scorecard follow from it: `critics.own` applies it to documents.
"""

import hashlib
import importlib
import re
import symtable
import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.machinery import PathFinder
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar, overload

from textcritic.errors import TextcriticError, first_line, suggestion

REAL, HIGHER, LOWER = "real", "higher", "lower"
CHOICES = {"aim": (REAL, HIGHER, LOWER), "of": ("documents", "sections"), "statistic": ("mean", "median", "ratio")}
NEEDS = ("title", "section titles", "group")
OURS = (
    *("Called coherent", "Distance of topic covariances", "Draws in a corner", "Energy distance", "Entropy"),
    *("Latent NLL", "Latent NLL minus real text's", "Latent NLL, at the mean", "Latent PPL", "Latent PPL of mentions"),
    *(
        "MAUVE",
        "Order of sentences",
        "Parameters",
        "Perplexity",
        "Recited 13-grams",
        "Sentences below 90%",
        "Tendencies that differ",
    ),
    *("Unlikely mentions", "Word-level PPL", "Words of another language", "Words of another topic"),
)
"""Names of the measures that textcritic has, without their units."""
KEYS = ("distance", "energy", "latent_nll", "latent_ppl", "mixed", "nll_gap", "not_kept", "recited")
"""Their names in Python, except the measures of a single tendency."""
NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*", re.ASCII)
NO_VALUE = "no value"
DECLARATION, FIT = "__textcritic_measure__", "__textcritic_fit__"


@dataclass(frozen=True, slots=True)
class Declared:
    """What a function measures.

    Attributes:
        title: what tables call it.
        aim: "real": real text's value is the aim; "higher", "lower": the sample with the highest or lowest is the best.
        unit: behind the title, e.g. "%" or "words".
        of: "documents", or "sections": the function gets each section. Those of a document belong together.
        statistic: of a source: the mean or the median of all values; "ratio": the function returns (numerator,
            denominator), and the sum of numerators is divided by the sum of denominators.
        needs: what a document must have, of `NEEDS`; one without it is left out.
        batch: whether the function takes a list and returns as many values.
        means: what it measures, in a few words that begin with a small letter.
    """

    title: str
    aim: str = REAL
    unit: str = ""
    of: str = "documents"
    statistic: str = "mean"
    needs: tuple[str, ...] = ()
    batch: bool = False
    means: str = ""

    def __post_init__(self) -> None:
        where = f"measure {self.title!r}"
        for key in ("title", "unit", "means"):
            text = getattr(self, key)
            if not isinstance(text, str) or "\n" in text or (key == "title" and not text.strip()):
                raise TextcriticError(f"{where}: {key}: {text!r} should be text in one line")
        for key, choices in CHOICES.items():
            if getattr(self, key) not in choices:
                raise TextcriticError(f"{where}: {key}: {getattr(self, key)!r} is not one of {', '.join(choices)}")
        if not isinstance(self.batch, bool):
            raise TextcriticError(f"{where}: batch: {self.batch!r} should be True or False")
        if not isinstance(self.needs, tuple | list) or (wrong := [need for need in self.needs if need not in NEEDS]):
            shown = wrong[0] if isinstance(self.needs, tuple | list) else self.needs
            raise TextcriticError(f"{where}: needs: {shown!r}: give a tuple of {', '.join(map(repr, NEEDS))}")
        object.__setattr__(self, "needs", tuple(self.needs))

    @property
    def name(self) -> str:
        """The title with its unit, the head in card and tables."""
        return f"{self.title}, {self.unit}" if self.unit else self.title


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What a function returns for a document that it cannot measure."""

    reason: str


Function = TypeVar("Function", bound=Callable[..., object])


@dataclass(frozen=True, slots=True)
class Metric:
    """A function with its declaration and its name, `module:function`; `fit` if it learns from real text first."""

    name: str
    declared: Declared
    function: Callable[..., object]
    fit: Callable[..., object] | None = None

    @property
    def key(self) -> str:
        """The name of the function, by which scores are known in Python."""
        return self.name.partition(":")[2]


@overload
def measure(function: Function, /) -> Function: ...
@overload
def measure(
    *, title: str = "", fit: Callable[..., object] | None = None, **declared: Any
) -> Callable[[Function], Function]: ...
def measure(
    function: Callable[..., object] | None = None,
    /,
    *,
    title: str = "",
    fit: Callable[..., object] | None = None,
    **declared: Any,
) -> Any:
    """Declare that a function measures a document (`.id`, `.title`, `.text`, `.sections`, `.group`), or a section.

    The function returns a finite number; None, or `left_out(reason)`, leaves the document out.

    Args:
        function: without any keyword, the function itself.
        title: what tables call the measure; by default the name of the function.
        fit: a function of a list of real documents, the part that critics are fitted on. What it returns is the second
            argument of the measure.
        declared: `aim`, `unit`, `of`, `statistic`, `needs`, `batch`, `means`, see `Declared`.

    Returns:
        The function itself, with its declaration attached.

    Raises:
        TextcriticError: a keyword or its value is not known.
    """
    if fit is not None and not callable(fit):
        raise TextcriticError(f"measure {title!r}: fit: {fit!r} should be a function of a list of documents")
    if unknown := set(declared) - set(Declared.__dataclass_fields__):
        keys = [*Declared.__dataclass_fields__, "fit"]
        hint = suggestion(min(unknown), keys, f"known are {', '.join(keys)}")
        raise TextcriticError(f"measure: unknown key {min(unknown)!r}; {hint}")

    def declare(plain: Callable[..., object]) -> Callable[..., object]:
        setattr(plain, DECLARATION, Declared(title or getattr(plain, "__name__", "measure"), **declared))
        setattr(plain, FIT, fit)
        return plain

    return declare if function is None else declare(function)


def left_out(reason: str) -> LeftOut:
    """What a measure returns for a document that it cannot measure: it is left out, and counted under the reason."""
    return LeftOut(reason)


def metric_of(function: object, name: str = "") -> Metric:
    """A function as a measure: as it was declared, or the mean of its values, under its own name.

    Args:
        function: takes a document.
        name: `module:function`; by default from the function.

    Raises:
        TextcriticError: it is no function, or textcritic has a measure of this title.
    """
    called = getattr(function, "__name__", "")
    if not callable(function) or isinstance(function, type) or (not name and not called.isidentifier()):
        shown = name or repr(function)
        raise TextcriticError(f"{shown}: is no function with a name; a measure is `def NAME(document): return NUMBER`")
    declared = getattr(function, DECLARATION, None)
    if declared is None:
        declared = Declared(called if called.isidentifier() else name.partition(":")[2])
    name = name or f"{function.__module__}:{called}"
    metric = Metric(name, declared, function, getattr(function, FIT, None))
    if declared.title.casefold() in map(str.casefold, OURS):
        raise TextcriticError(f"{name}: textcritic has a measure of the name {declared.title!r}; give another `title`")
    if metric.key in KEYS:
        raise TextcriticError(f"{name}: textcritic has a measure of the name {metric.key!r}; rename the function")
    return metric


def load_metric(name: str, folders: Sequence[str | Path] = (".",)) -> Metric:
    """Import a measure.

    Args:
        name: `module:function`.
        folders: where the module is looked for, before what is installed.

    Raises:
        TextcriticError: there is no such module or function, or the module raises an error; the line names it.
    """
    module, _, function = _parted(name)
    path = source_of(name, folders)
    first = [str(Path(folder).absolute()) for folder in folders]
    sys.path[:] = [*first, *(place for place in sys.path if place not in first)]
    try:
        names = vars(_imported(module, path))
    except TextcriticError as error:
        raise TextcriticError(f"{name}: {error}") from error
    except (Exception, SystemExit) as error:
        raise TextcriticError(f"{name}: {raised_at(error, str(path))}") from error
    if function not in names:
        raise _no_function(name, path, [key for key, value in names.items() if callable(value)])
    return metric_of(names[function], name)


def check_source(name: str, folders: Sequence[str | Path]) -> None:
    """Check that a module exists, is Python, and defines the function; nothing is imported.

    Raises:
        TextcriticError: as `load_metric`.
    """
    path, function = source_of(name, folders), _parted(name)[2]
    if path.suffix != ".py":
        return
    try:
        text = path.read_text(encoding="utf-8")
        table = symtable.symtable(text, str(path), "exec")
    except SyntaxError as error:
        raise TextcriticError(f"{name}: {path}, line {error.lineno}: {error.msg}") from error
    except (OSError, ValueError) as error:
        raise TextcriticError(f"{name}: {path}: {first_line(error)}") from error
    defined = [symbol.get_name() for symbol in table.get_symbols() if symbol.is_assigned() or symbol.is_imported()]
    if function not in defined and not re.search(r"import\s*\*|__getattr__", text):
        raise _no_function(name, path, defined)


def source_of(name: str, folders: Sequence[str | Path]) -> Path:
    """The file of a measure's module; nothing is imported. Raises as `load_metric`."""
    module = _parted(name)[0]
    if module.split(".")[0] in sys.stdlib_module_names:
        raise TextcriticError(
            f"{name}: {module!r} is a module of Python itself; give the file of your measures another name"
        )
    places: Sequence[str] | None = [*(str(Path(folder).absolute()) for folder in folders), *sys.path]
    whole = ""
    for part in module.split("."):
        whole = f"{whole}.{part}" if whole else part
        spec = PathFinder.find_spec(whole, places) or (find_spec(whole) if whole == module.split(".")[0] else None)
        if spec is None:
            looked = ", ".join(str(Path(folder).absolute()) for folder in folders)
            raise TextcriticError(f"{name}: no module {whole!r} in {looked}, and none is installed")
        places = spec.submodule_search_locations and list(spec.submodule_search_locations)
        if places is None and whole != module:
            raise TextcriticError(f"{name}: {whole!r} is a module and has no modules in it")
    if spec is None or spec.origin is None:
        raise TextcriticError(f"{name}: {module!r} is a folder without an __init__.py; name a module in it")
    return Path(spec.origin)


def digest_of(name: str, folders: Sequence[str | Path]) -> str:
    """A digest of the file of a measure's module: if it changes, documents are measured again."""
    return hashlib.sha256(source_of(name, folders).read_bytes()).hexdigest()[:16]


def raised_at(error: BaseException, file: str) -> str:
    """`FILE:LINE: TYPE: MESSAGE` of an error: the last line in this file of its traceback, if there is one."""
    frames = traceback.extract_tb(error.__traceback__)
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno}: SyntaxError: {error.msg}"
    inside = [frame for frame in frames if frame.filename == file] or frames[-1:]
    place = f"{inside[-1].filename}:{inside[-1].lineno}: " if inside else ""
    return f"{place}{type(error).__name__}: {first_line(error)}"


def _parted(name: str) -> tuple[str, str, str]:
    if not NAME.fullmatch(name):
        raise TextcriticError(
            f"{name}: is not the name of a measure; write MODULE:FUNCTION, e.g. mymeasures:distinct_2"
        )
    return name.partition(":")


def _imported(module: str, path: Path) -> ModuleType:
    """The module of a file. A module of the same name that was imported from another file is dropped first."""
    imported = getattr(sys.modules.get(module), "__file__", None)
    if module in sys.modules and not (imported and path.samefile(imported)):
        del sys.modules[module]
    importlib.invalidate_caches()
    return importlib.import_module(module)


def _no_function(name: str, path: Path, known: Sequence[str]) -> TextcriticError:
    function = _parted(name)[2]
    public = [other for other in known if not other.startswith("_")]
    hint = suggestion(function, public, f"it has {', '.join(public) or 'none'}")
    return TextcriticError(f"{name}: {path} has no function {function!r}; {hint}")
