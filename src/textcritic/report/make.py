"""Tables, figures and the section of one experiment: the recipes of its kind, found by name, and their files."""

import importlib
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType

import pandas as pd

from textcritic.errors import TextcriticError
from textcritic.measures.crossed import read_crossed
from textcritic.measures.labels import Labels, labelled
from textcritic.measures.material import Material
from textcritic.measures.measure import Scored
from textcritic.measures.published import KEYS, read_published
from textcritic.plan.bundle import Files, Nothing, join_request
from textcritic.plan.experiment import Part
from textcritic.report.section import Place, write_section
from textcritic.report.tables import Table, published_table, read_rows, write_table
from textcritic.runlog import log


@dataclass(frozen=True, slots=True)
class Request:
    """What a job makes, as `Experiment.request` describes it.

    Attributes:
        package: the package of the kind.
        experiment: the experiment's name.
        tables: its standing tables.
        part: the numbered table or figure to make; None for the standing ones.
        parts: what each numbered table or figure is `of`.
        labels: of the entries of registries that are named in words.
        files: what it is made of; all of them are there.
        left_out: what a numbered table lacks because files are missing: the reason by label.
    """

    package: str
    experiment: str
    tables: tuple[str, ...]
    part: Part | None
    parts: Mapping[str, str]
    labels: Labels
    files: Files
    left_out: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, texts: Mapping[str, str]) -> "Request":
        """A request from what `Experiment.request` makes; other keys are ignored.

        Raises:
            TextcriticError: a file that it is made of is missing.
        """
        request = join_request(texts)
        module, _, name = request["files_type"].partition(":")
        kind: type[Files] = getattr(_imported(module), name)
        files = kind.from_json(json.dumps(request["files"]))
        files.require()
        part = Part(**request["part"]) if request["part"] else None
        names = request["package"], request["experiment"], tuple(request["tables"])
        return cls(*names, part, request["parts"], request["labels"], files, request.get("left_out", {}))

    def module(self, name: str) -> ModuleType:
        """A module of the kind: `tables`, `figures` or `section`."""
        return _imported(f"{self.package}.{name}")


def make_tables(
    request: Mapping[str, str],
    folder: str | Path,
    published: str | Path | None = None,
    crossed: str | Path | None = None,
    paired: bool = True,
) -> list[Path]:
    """Write the standing tables of an experiment, or a numbered one, each as .csv, .tex and .html.

    Args:
        request: as `Experiment.request` makes it.
        folder: where the tables go.
        published: CSV of published values, which tables show next to ours; a numbered table shows only its own.
        crossed: JSON of the results of cross-fitting for the sources, which replace those from their scores.
        paired: see `Material`.

    Returns:
        The files written.

    Raises:
        TextcriticError: a file is missing or damaged, or files do not belong together.
    """
    wanted = Request.read(request)
    with labelled(wanted.labels):
        return _tables(wanted, folder, published, (read_crossed(crossed), paired))


def _tables(
    wanted: Request, folder: str | Path, published: str | Path | None, more: tuple[Mapping[str, Scored], bool]
) -> list[Path]:
    recipes = wanted.module("tables")
    values = read_published(published, getattr(recipes, "KEYS", KEYS))
    alone = isinstance(wanted.files, Nothing)
    names = recipes.NAMES(wanted.files) if hasattr(recipes, "NAMES") and not alone else None
    if wanted.part is None:
        material = Material(wanted.files, values, names, *more)
        if lacking := [name for name in wanted.tables if name not in recipes.TABLES]:
            raise TextcriticError(
                f"{wanted.package}.tables: TABLES has no {lacking[0]!r}, a name in `tables` of plan.py; "
                f"it has {', '.join(recipes.TABLES)}"
            )
        tables = (_named(recipes.TABLES[name](material), name) for name in wanted.tables)
        return [path for table in tables for path in write_table(table, folder)]
    number = wanted.part.name.removeprefix("table")
    table: Table = (
        published_table(values, number)
        if alone
        else recipes.PAPER_TABLES[wanted.part.of](Material(wanted.files, values.in_table(number), names))
    )
    caption, left_out = f"Table {number}. {wanted.part.caption}", tuple(wanted.left_out.items())
    sheet = replace(table.sheet, name=wanted.part.name, caption=caption, left_out=left_out)
    return write_table(Table(sheet, table.rows), folder)


def make_figures(request: Mapping[str, str], tables: str | Path, folder: str | Path, pdf: bool = True) -> list[Path]:
    """Write the standing figures of an experiment, or a numbered one: each as .svg, as .narrow.svg and as .pdf.

    Args:
        request: as `Experiment.request` makes it.
        tables: the folder of the standing tables; standing figures may read some of them.
        folder: where the figures go.
        pdf: whether they are written as .pdf too.

    Raises:
        TextcriticError: as `make_tables`.
    """
    from textcritic.report.drawings import write_figures  # Matplotlib, which nothing else here needs

    wanted = Request.read(request)
    recipe = wanted.module("figures").FIGURES[wanted.part.of if wanted.part else "figures"]
    Path(folder).mkdir(parents=True, exist_ok=True)
    with labelled(wanted.labels):
        return write_figures(recipe(wanted.files, Rows(wanted, tables)), folder, pdf)


def make_section(
    request: Mapping[str, str], tables: str | Path, figures: list[str], html: str | Path, facts: str | Path
) -> None:
    """Write the section of an experiment: section.html and section.json.

    Args:
        request: as `Experiment.request` makes it.
        tables: the folder of its tables.
        figures: the folders of its figures, the standing ones first if it has any.
        html: section.html, to write.
        facts: section.json, to write.

    Raises:
        TextcriticError: as `make_tables`.
    """
    wanted = Request.read(request)
    module = wanted.module("section")
    folder = Path(str(module.__file__)).parent
    place = Place(wanted.experiment, folder, Path(tables), Path(next(iter(figures), "")), wanted.parts)
    controls = (sample.generator for sample in getattr(wanted.files, "samples", ()) if sample.control)
    with labelled(wanted.labels, controls):
        section = module.section(wanted.files, Rows(wanted, tables), place)
    for words in section.warnings:
        log.warning("%s", words)
    tables_made = [*wanted.tables, *(name for name in wanted.parts if name.startswith("table"))]
    write_section(section, place, tables_made, [Path(path) for path in figures], html, facts)


class Rows(dict[str, pd.DataFrame]):
    """The rows of an experiment's standing tables by name, each read on first use."""

    def __init__(self, wanted: Request, folder: str | Path) -> None:
        super().__init__()
        self._text = tuple(getattr(wanted.module("tables"), "TEXT", ()))
        self._folder = folder

    def __missing__(self, name: str) -> pd.DataFrame:
        self[name] = read_rows(self._folder, name, self._text)
        return self[name]


def _named(table: Table, name: str) -> Table:
    return Table(replace(table.sheet, name=name), table.rows)


def _imported(module: str) -> ModuleType:
    """A module of textcritic, or of a user's own kind of experiment, in the working directory or installed."""
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise TextcriticError(
            f"{module}: no module {error.name!r}; see experiment_packages in the configuration"
        ) from error
