"""A section of the report: what a kind of experiment writes, and the helpers that it writes it with."""

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TypeVar

import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from markupsafe import Markup, escape

from textcritic.errors import TextcriticError
from textcritic.files import finite, write_json, write_text
from textcritic.measures.card import scorecard
from textcritic.measures.card_file import card_to_json
from textcritic.measures.causes import Comparison, comparisons, comparisons_to_json
from textcritic.measures.measure import Measure
from textcritic.measures.score import Score, scores_of
from textcritic.measures.sentences import sentences
from textcritic.plan.sources import DATA
from textcritic.report.prose import definitions
from textcritic.report.reader import Reading, reader_html
from textcritic.report.sheet import Sheet, to_html
from textcritic.report.svg import inline_forms

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Finding:
    """A result, in words.

    Attributes:
        about: what it is about, or "".
        says: what it says. One sentence, if it has a strength.
        strength: the size of the difference that it reports, on the scale of `score.strength`. The front page shows the
            strongest findings of a study. 0 keeps a finding in its section, e.g. if it says no more than a score does.
    """

    about: str
    says: str
    strength: float = 0.0


def said_of(card: Sequence[Score]) -> list[Finding]:
    """The scores of an experiment in words: for each corpus and measure, the sentence that the front page may show."""
    return [Finding(sentence.about, sentence.says) for sentence in sentences(scorecard({"": card}, {"": ""}))]


@dataclass(frozen=True, slots=True)
class Section:
    """One experiment in the report.

    Attributes:
        title: its heading.
        html: what follows the heading. Its parts, as `Place.part` makes them, are in the list of contents.
        question: what it asks, in a line under its heading.
        card: its scores for the report's front page, as `score.scores_of` makes them; none is fine.
        findings: the results: `said_of` the scores, and what only this kind can say, such as doubts.
        definitions: (term, what it means), for the end of the report.
        headline: the report's first sentence, if this is its first experiment; "": made of its scores.
        tests: of each sample and each measure that was tested, p and what is wrong in words; None: made of its scores.
        not_measured: (what, why) of what could not be measured.
        lines: plain text for `textcritic show`.
        warnings: what a reader has to know before any of the numbers: sentences for the log, the front page and the
            terminal.
        script, style: JavaScript and CSS that only this kind needs.
    """

    title: str
    html: Markup
    question: str = ""
    card: tuple[Score, ...] = ()
    findings: tuple[Finding, ...] = ()
    definitions: tuple[tuple[str, str], ...] = ()
    headline: str = ""
    tests: tuple[Comparison, ...] | None = None
    not_measured: tuple[tuple[str, str], ...] = ()
    lines: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    script: str = ""
    style: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a section: its experiment's name, files, and templates.

    Attributes:
        experiment: name of the experiment; part of every id, so that two of one kind fit into one page.
        templates: the folder of the kind's templates.
        tables: the folder of its tables.
        figures: the folder of its standing figures, if it has any.
        parts: what each numbered table or figure of it is `of`, by name.
    """

    experiment: str
    templates: Path
    tables: Path
    figures: Path
    parts: Mapping[str, str] = field(default_factory=dict)

    def id(self, name: str) -> str:
        """An element id, or a name of a group of panes, that no other section has."""
        return f"{self.experiment}-{plain_id(name)}"

    def table(self, name: str) -> Markup:
        """A table that was made before, standing or numbered.

        Raises:
            TextcriticError: it was not made.
        """
        text = _text(self.tables / f"{name}.html").replace(f'id="table-{name}"', f'id="{self.id(f"table-{name}")}"', 1)
        return Markup(text)

    def sheet(self, sheet: Sheet) -> Markup:
        """A table that only the section shows."""
        return Markup(to_html(replace(sheet, name=plain_id(self.id(sheet.name)))))

    def figure(self, name: str, description: str) -> Markup:
        """A standing figure in its wide and its narrow form, one of which is shown; `description` is read aloud."""
        return inline_forms(self.figures / name, self.id(name), description)

    def part(self, name: str, heading: str, caller: Callable[[], Markup], shown: bool = False) -> Markup:
        """A part of the section, which a click opens.

        In a template: `{% call part("values", "Latent PPL") %} ... {% endcall %}`.

        Args:
            name: its id, see `id`.
            heading: of the part.
            caller: gives what is in it.
            shown: whether it is open from the start. Parts with results are, parts about methods are not.
        """
        start = Markup('<details class="part" id="{}"{}><summary><h3>{}</h3></summary>')
        return start.format(self.id(name), Markup(" open" * shown), heading) + caller() + Markup("</details>")

    def picker(
        self, group: str, label: str, entries: Iterable[Mapping[str, str]], stepped: bool = False, start: int = 0
    ) -> Markup:
        """A choice among the panes `data-pane="{{ id(group) }}"`, with previous/next buttons if `stepped`.

        The pane of the entry at place `start` is shown first.
        """
        options = "".join(
            f'<option value="{escape(e["key"])}"{" selected" * (place == start > 0)}>{escape(e["label"])}</option>'
            for place, e in enumerate(entries)
        )
        select = f'<label>{escape(label)} <select data-group="{escape(self.id(group))}">{options}</select></label>'
        words = {-1: "Previous", 1: "Next"} if stepped else {}
        buttons = "".join(f'<button type="button" data-move="{by}">{name}</button>' for by, name in words.items())
        return Markup(f'<div class="controls" hidden>{select}{buttons}</div>')

    def reader(self, group: str, reading: Reading, caller: Callable[[object], Markup]) -> Markup:
        """Documents to read, next to the table of their scores.

        In a template: `{% call(document) reader("articles", reading) %} ... {% endcall %}`, where `document` is what
        `Document.shown` has.
        """
        return reader_html(self.id(group), reading, caller)

    def card(
        self,
        rows: pd.DataFrame,
        measures: Sequence[Measure],
        name: Callable[..., str],
        real: Sequence[str] = (DATA,),
    ) -> tuple[Score, ...]:
        """The scores of several measures for the front page, as `score.scores_of` makes them."""
        ids = [self.id(measure.section) if measure.section else self.experiment for measure in measures]
        of_each = (scores_of(rows, measure, name, where, real) for measure, where in zip(measures, ids, strict=True))
        return tuple(score for scores in of_each for score in scores)

    def numbered(self, *of: str) -> list[str]:
        """The numbered tables that some of the kind's recipes make."""
        return [name for name, recipe in self.parts.items() if name.startswith("table") and recipe in of]

    def render(self, template: str, variables: Mapping[str, object]) -> Markup:
        """A template of the kind, with `part`, `table`, `figure`, `picker`, `reader` and `id` as its helpers."""
        names = ("part", "table", "figure", "picker", "reader", "id")
        helpers = {name: getattr(self, name) for name in names}
        return Markup(environment(self.templates).get_template(template).render(**helpers, **variables))

    def definitions(self, leave_out: Sequence[str] = (), **values: object) -> tuple[tuple[str, str], ...]:
        """The terms of definitions.md and what they mean, except some; `values` as in `prose.definitions`."""
        return tuple(pair for pair in definitions(self.templates, **values) if pair[0] not in leave_out)

    def text(self, name: str) -> str:
        """A file in the folder of the templates: script or style."""
        return _text(self.templates / name)


def worst_and_middle(ranked: Sequence[Item], most: int) -> tuple[list[Item], list[Item]]:
    """Select `most` of some ranked items: two thirds are the first ones, one third is from the middle, in order."""
    worst, rest = list(ranked[: most - most // 3]), ranked[most - most // 3 :]
    middle = len(ranked) / 2 - len(worst)
    near = sorted(range(len(rest)), key=lambda place: (abs(place + 0.5 - middle), place))[: most // 3]
    return worst, [rest[place] for place in sorted(near)]


def environment(folder: Path) -> Environment:
    """Templates of a folder; a variable that is missing is an error."""
    templates = Environment(
        loader=FileSystemLoader(folder),
        autoescape=select_autoescape(("html.j2",)),
        undefined=StrictUndefined,
        trim_blocks=True,
    )
    templates.filters["unbroken"] = lambda text: re.sub(r"\bp ([=<]) (?=[\d.])", "p\u00a0\\1\u00a0", text)
    return templates


def write_section(
    section: Section, place: Place, tables: Sequence[str], figures: Sequence[Path], html: str | Path, facts: str | Path
) -> None:
    """Write section.html, and section.json with everything else that the report and `textcritic show` need.

    Args:
        section: what the kind wrote.
        place: its experiment and files.
        tables: names of all its tables, standing and numbered.
        figures: the folders of all its figures, standing and numbered.
        html: the path of section.html; links are relative to the folder above, where the report is.
        facts: the path of section.json.

    Raises:
        TextcriticError: a score or a test leads to a part that is not there.
    """
    linked: tuple[Score | Comparison, ...] = (*section.card, *(section.tests or ()))
    for item in linked:
        if item.section not in ("", place.experiment) and f'id="{item.section}"' not in section.html:
            named = item.section.removeprefix(place.id(""))
            raise TextcriticError(
                f"{place.experiment}: Measure {item.measure!r}: section: {named!r} is no part of the section; name one"
                " that `place.part` makes, or `table-NAME`"
            )
    page = Path(html).parent.parent
    links = [os.path.relpath(place.tables / f"{name}.csv", page) for name in tables]
    drawn = [path for folder in figures for path in _prints(folder)]
    prints = [(os.path.relpath(path, page), _print_name(path)) for path in drawn]
    tests = comparisons(section.card) if section.tests is None else section.tests
    facts_of = {key: value for key, value in asdict(section).items() if key not in {"html", "card", "tests"}}
    facts_of |= {
        "findings": finite(facts_of["findings"]),
        "card": card_to_json(section.card),
        "contents": _parts(section.html),
    }
    facts_of["tests"] = finite(comparisons_to_json(tests))
    write_text(html, str(section.html))
    write_json(facts, facts_of | {"tables": links, "prints": prints})


def _prints(folder: Path) -> list[Path]:
    """The figures of a folder, to print: as PDF where it has them, otherwise the wide ones as SVG."""
    wide = (path for path in folder.glob("*.svg") if not path.name.endswith(".narrow.svg"))
    return sorted(folder.glob("*.pdf")) or sorted(wide)


def _parts(html: str) -> list[tuple[str, str]]:
    """(id, heading) of the parts of a section."""
    parts = re.findall(r'<details class="part" id="([^"]*)"[^>]*><summary><h3>(.*?)</h3></summary>', html)
    return [(name, str(Markup(heading).unescape())) for name, heading in parts]


def _print_name(path: Path) -> str:
    number = path.parent.name.removeprefix("figure")
    return f"Figure {number}: {path.name}" if number.isdigit() else path.name


def plain_id(name: str) -> str:
    """A name as part of an element id."""
    return "".join(character if character.isalnum() else "-" for character in name)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise TextcriticError(f"{path}: no such file; make the tables and figures of the experiment first") from error
