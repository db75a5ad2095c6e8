"""The report: one self-contained HTML page, put together from the sections of a study's experiments."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from pathlib import Path

from markupsafe import Markup

from textcritic.errors import TextcriticError
from textcritic.files import read_json, write_text
from textcritic.measures.causes import UNSEEN, Judged, unmarked
from textcritic.report.card_html import card_html
from textcritic.report.front import MOST_LINES, Front, front_page
from textcritic.report.manifest import provenance
from textcritic.report.rehearsed import WORD, rehearsed
from textcritic.report.section import environment
from textcritic.report.svg import shared_styles
from textcritic.values import JsonObject

TEMPLATES = Path(__file__).parent / "templates"


def make_report(sections: Mapping[str, str | Path], manifest: str | Path, out_path: str | Path) -> None:
    """Write report.html.

    Args:
        sections: section.html of each experiment by its name, in the order of the study; section.json is in the same
            folder.
        manifest: manifest.json that `manifest.make_manifest` wrote.
        out_path: the page; links to tables and figures are relative to it.

    Raises:
        TextcriticError: a file is missing or damaged.
    """
    contents = read_json(manifest)
    study = contents["configuration"]["study"]
    facts = {name: Path(path).with_suffix(".json") for name, path in sections.items()}
    front = front_page(facts, study)
    parts = [_part(name, Path(path), front) for name, path in sections.items()]
    written, classes = shared_styles([part["html"] for part in parts])
    for part, html in zip(parts, written, strict=True):
        part["html"] = Markup(html)
    page = (
        environment(TEMPLATES)
        .get_template("report.html.j2")
        .render(
            rehearsal=WORD if rehearsed() else "",
            name=contents["study"],
            title=study["title"],
            summary=study["summary"],
            date=datetime.fromisoformat(contents["created"]).strftime("%-d %B %Y"),
            sections=parts,
            headline=front.headline,
            failing=[_line(sample) for sample in front.failing],
            most=MOST_LINES,
            unmarked=[*unmarked(front.judged), *[UNSEEN] * bool(front.judged)],
            notes=front.notes,
            not_measured=front.not_measured,
            card=card_html(front.blocks, TEMPLATES) if front.blocks else "",
            findings=front.sentences,
            warnings=front.warnings,
            definitions=_once(definition for part in parts for definition in part["definitions"]),
            tables=[(table, f"{part['name']}/{Path(table).name}") for part in parts for table in part["tables"]],
            prints=[print_ for part in parts for print_ in part["prints"]],
            scripts=list(dict.fromkeys(part["script"] for part in parts if part["script"])),
            styles=[*dict.fromkeys(part["style"] for part in parts if part["style"]), classes],
            **provenance(contents),
        )
    )
    write_text(out_path, page)


def _line(sample: Judged) -> dict[str, str]:
    """What is wrong with a sample, as the template shows it."""
    return {"name": sample.name, "whole": sample.row.name, "line": sample.line, "section": sample.causes[0].section}


def _part(name: str, path: Path, front: Front) -> JsonObject:
    try:
        html = Markup(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise TextcriticError(f"{path}: no such file; make the section of {name} first") from error
    facts = front.facts[name]
    own = {"title": front.titles[name], "findings": _by_source(facts.get("findings", ()))}
    return {"name": name, "html": html, **facts, **own}


def _by_source(findings: Sequence[JsonObject]) -> list[dict[str, str]]:
    """Findings in which neighbours about the same thing are joined, so that its name appears once."""
    named = groupby(findings, key=lambda finding: finding["about"])
    grouped = [(about, [finding["says"] for finding in group]) for about, group in named]
    return [
        {"about": about, "says": says} for about, lines in grouped for says in ([" ".join(lines)] if about else lines)
    ]


def _once(definitions: Iterable[Sequence[str]]) -> list[tuple[str, str]]:
    """Each term once: if two kinds define it, the first definition is kept."""
    terms: dict[str, str] = {}
    for term, words in definitions:
        terms.setdefault(term, words)
    return list(terms.items())
