"""The kinds of experiment, one package each; `textcritic.plan.experiment` describes what a kind provides."""

import importlib
import inspect
from pathlib import Path
from typing import TYPE_CHECKING

from textcritic.errors import TextcriticError, first_line

if TYPE_CHECKING:
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

    name = f"{__name__}.{package}" if package in KINDS else package
    where = f"experiment_packages: {package}"
    try:
        plan = importlib.import_module(f"{name}.plan")
    except ModuleNotFoundError as error:
        if not f"{name}.plan".startswith(str(error.name)):
            raise
        raise TextcriticError(
            f"{where}: no module {error.name!r}; it should be a package with a plan.py, in the working directory or"
            " installed"
        ) from error
    except SyntaxError as error:
        raise TextcriticError(f"{where}: {error.filename}, line {error.lineno}: {error.msg}") from error
    except Exception as error:  # whatever somebody's own module raises
        raise TextcriticError(f"{where}: {type(error).__name__}: {first_line(error)}, while it was imported") from error
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
