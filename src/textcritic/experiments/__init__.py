"""The kinds of experiment, one package each; `textcritic.plan.experiment` describes what a kind provides."""

import importlib
import importlib.util
import inspect
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from textcritic.errors import TextcriticError, first_line

if TYPE_CHECKING:
    from textcritic.plan.entries import Registry
    from textcritic.plan.experiment import Experiment

KINDS = (
    *(
        "coherence",
        "coreference",
        "corpora",
        "importance",
        "intruders",
        "metrics",
        "mixing",
        "order",
        "people",
        "process",
    ),
    *("recitation", "tendencies", "topics"),
)


def kind_of(package: str) -> "type[Experiment]":
    """The class of a kind of experiment.

    Args:
        package: one of `KINDS`, or the dotted name of somebody's own package.

    Raises:
        TextcriticError: there is no such package, or its plan.py does not define one subclass of `Experiment`.
    """
    from textcritic.plan.experiment import Experiment

    plan, where = _module_of(package, "plan"), f"experiment_packages: {package}"
    kinds = [
        value
        for value in vars(plan).values()
        if inspect.isclass(value) and issubclass(value, Experiment) and value.__module__ == plan.__name__
    ]
    if len(kinds) != 1:
        raise TextcriticError(f"{plan.__file__}: defines {len(kinds)} subclasses of Experiment; it should define one")
    (kind,) = kinds
    for module in ("tables", *["figures"] * kind.standing_figures, "section"):
        path = Path(str(plan.__file__)).with_name(f"{module}.py")
        if not path.is_file():
            raise TextcriticError(f"{where}: no {module}.py next to {plan.__file__}; a kind of experiment has one")
    return kind


def registries_with(packages: Sequence[str]) -> "Mapping[str, Registry]":
    """Our registries, with the kinds of entries that packages add.

    Args:
        packages: dotted names of packages; the file entries.py of a package, if it has one, defines `ENTRIES`, models
            (subclasses of `plan.entries.base.Entry`) by the name of their registry.

    Raises:
        TextcriticError: entries.py cannot be imported; an unknown registry, or one without kinds; something that is no
            model with a `kind` of its own.
    """
    from textcritic.plan.entries import REGISTRIES

    registries = dict(REGISTRIES)
    for package in packages:
        if importlib.util.find_spec(f"{package}.entries") is None:
            continue
        added, where = getattr(_module_of(package, "entries"), "ENTRIES", None), f"{package}.entries: ENTRIES"
        if not isinstance(added, dict):
            raise TextcriticError(f"{where} should be a mapping of registries to models, {{'critics': [MyCritic]}}")
        for registry, models in added.items():
            if not (known := registries.get(registry)) or not known.kinds:
                names = ", ".join(name for name, about in REGISTRIES.items() if about.kinds)
                raise TextcriticError(f"{where}: {registry!r} is no registry with kinds; these are {names}")
            registries[registry] = known.with_models(models, f"{where}: {registry}")
    return registries


def _module_of(package: str, part: str) -> ModuleType:
    """A module of the package of a kind; whatever is wrong with it is one line."""
    name = f"{__name__}.{package}" if package in KINDS else package
    where = f"experiment_packages: {package}"
    try:
        return importlib.import_module(f"{name}.{part}")
    except ModuleNotFoundError as error:
        if not f"{name}.{part}".startswith(str(error.name)):
            raise
        raise TextcriticError(
            f"{where}: no module {error.name!r}; it should be a package with a plan.py, in the working directory or"
            " installed"
        ) from error
    except SyntaxError as error:
        raise TextcriticError(f"{where}: {error.filename}, line {error.lineno}: {error.msg}") from error
    except Exception as error:  # whatever somebody's own module raises
        raise TextcriticError(f"{where}: {type(error).__name__}: {first_line(error)}, while it was imported") from error
