"""The jobs of the report, one after the other as Snakemake would run them, on files that a test has built."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from textcritic.experiments import kind_of
from textcritic.plan.bundle import Files
from textcritic.plan.experiment import Part, request_of
from textcritic.report import make_figures, make_manifest, make_report, make_section, make_tables

TITLE = "Do small language models order the sections of a docstring?"
SUMMARY = "Two generators are trained on docstrings, once with section titles in the text and once without."


@dataclass(frozen=True)
class Made:
    """An experiment of a study.

    Attributes:
        kind: its kind.
        files: what its standing tables and figures are made of.
        parts: its numbered tables and figures, each with the files that it is made of.
        name: its name; by default its kind.
        published: CSV of published values.
        pdf: whether figures are written as .pdf too, which takes a third of the time.
    """

    kind: str
    files: Files
    parts: Mapping[Part, Files] = field(default_factory=dict)
    name: str = ""
    published: Path | None = None
    pdf: bool = True

    def request(self, part: Part | None = None, section: bool = False) -> dict[str, str]:
        """As `Experiment.request` makes it."""
        files = self.files if part is None else self.parts[part]
        parts = {other.name: other for other in self.parts} if section else {}
        return request_of(kind_of(self.kind), self.name or self.kind, files, part, parts)

    def tables(self, folder: Path) -> list[Path]:
        """Make the standing tables."""
        return make_tables(self.request(), folder, self.published)

    def figures(self, tables: Path, folder: Path) -> list[Path]:
        """Make the standing figures."""
        return make_figures(self.request(), tables, folder, self.pdf)

    def all(self, study: Path) -> list[Path]:
        """Make tables, figures and section, standing and numbered, where they are in the folder of a study."""
        return [*self.all_tables(study), *self.drawn(study)]

    def all_tables(self, study: Path) -> list[Path]:
        """Make the tables, standing and numbered."""
        place = study / (self.name or self.kind)
        made = self.tables(place / "tables")
        for part in self.parts:
            if part.name.startswith("table"):
                made += make_tables(self.request(part), place / "tables", self.published)
        return made

    def drawn(self, study: Path) -> list[Path]:
        """Make the figures, standing and numbered, and the section, of tables that are there."""
        place = study / (self.name or self.kind)
        made = self.figures(place / "tables", place / "figures")
        for part in self.parts:
            if part.name.startswith("figure"):
                made += make_figures(self.request(part), place / "tables", place / part.name, self.pdf)
        self.section(study)
        return made

    def section(self, study: Path) -> None:
        """Make the section alone, of tables and figures that are there."""
        place = study / (self.name or self.kind)
        folders = ["figures", *(part.name for part in self.parts if part.name.startswith("figure"))]
        figures = [str(place / folder) for folder in folders]
        html, facts = (place / f"section.{suffix}" for suffix in ("html", "json"))
        make_section(self.request(section=True), place / "tables", figures, html, facts)


def make_part(kind: str, part: Part, files: Files, folder: Path, published: Path | None = None) -> list[Path]:
    """Make a numbered table or figure alone."""
    request = request_of(kind_of(kind), kind, files, part)
    if part.name.startswith("table"):
        return make_tables(request, folder, published)
    return make_figures(request, folder, folder)


def make_study(study: Path, *experiments: Made) -> str:
    """Make everything of a study below its folder, the report last; returns the report's text."""
    made = [path for experiment in experiments for path in experiment.all(study)]
    names = [experiment.name or experiment.kind for experiment in experiments]
    make_manifest(description(names, seeds_of(*experiments)), made, study / "manifest.json", ["snakemake --cores 2"])
    return report_of(study, *names)


def report_of(study: Path, *names: str) -> str:
    """Make the report of the sections that are there; returns its text."""
    sections = {name: study / name / "section.html" for name in names}
    make_report(sections, study / "manifest.json", study / "report.html")
    return (study / "report.html").read_text(encoding="utf-8")


def description(names: list[str], seeds: list[int]) -> dict[str, object]:
    """What `Project.describe` says of a study, as far as the report reads it."""
    study = {"title": TITLE, "summary": SUMMARY}
    return {"name": "demo", "experiments": names, "study": study, "sources": [{"seed": seed} for seed in seeds]}


def seeds_of(*experiments: Made) -> list[int]:
    """The seeds of all samples."""
    return [sample.seed for e in experiments for sample in getattr(e.files, "samples", ())]
