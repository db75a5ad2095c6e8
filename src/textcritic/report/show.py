"""The results of a study as plain text for the terminal: what is wrong with each sample, the scorecard, the report."""

import os
import shutil
from pathlib import Path
from textwrap import wrap

from textcritic.errors import TextcriticError
from textcritic.files import read_json
from textcritic.measures.card_file import sections_of
from textcritic.measures.causes import UNSEEN, unmarked
from textcritic.measures.sentences import separations
from textcritic.report.card_text import card_lines
from textcritic.report.front import MOST_LINES, Front, front_page
from textcritic.report.rehearsed import CAPTION, rehearsed

USUAL, NARROWEST, WIDEST = 100, 40, 120  # characters of a line


def show_study(folder: str | os.PathLike[str], width: int | None = None) -> str:
    """The headline, what is wrong with each sample, warnings, scorecard, at most five sentences, and the report's path.

    Args:
        folder: `results/studies/{study}`, or a folder with such a study and no other, as `--output` names one.
        width: characters of a line; None: those of the terminal within limits, or 100 where there is none.

    Raises:
        TextcriticError: the study has not been built, or a file is damaged.
    """
    folder = study_in(Path(folder))
    front = front_of(folder)
    room = width or min(max(shutil.get_terminal_size((USUAL, 24)).columns, NARROWEST), WIDEST)
    failing = [f"- {sample.name}: {sample.line}" for sample in front.failing]
    more = len(failing) - MOST_LINES
    failing = [*failing[:MOST_LINES], *[f"- and {more} more, in the report"] * (more > 0)]
    missing = [f"Not measured: {what}: {why}" for what, why in front.not_measured]
    sentences = [f"- {sentence.about}: {sentence.says}" for sentence in front.sentences]
    warned = [f"warning: {sentence.about}: {sentence.says}" for sentence in front.warnings]
    lists = [
        [*failing, *unmarked(front.judged), *separations(front.blocks), *[UNSEEN] * bool(front.judged)],
        warned,
        missing,
    ]
    blocks = [[CAPTION]] if any(map(rehearsed, folder.resolve().parents[:3])) else []
    blocks += [_wrapped(front.headline, room) if front.headline else []]
    blocks += [[line for words in each for line in _wrapped(words, room, "  ")] for each in lists]
    blocks += [card_lines(front.blocks, room)]
    blocks += [[line for words in front.notes for line in _wrapped(words, room)]]
    blocks += [[line for words in sentences for line in _wrapped(words, room, "  ")]]
    for name, facts in front.facts.items():
        headed = bool(facts["lines"]) and front.titles[name] != facts["title"]
        lines = [front.titles[name]] * headed + list(facts["lines"])
        blocks.append([part for line in lines for part in _wrapped(line, room)])
    report = Path(folder) / "report.html"
    blocks.append([f"report: {report}"] if report.is_file() else [])
    return "\n\n".join("\n".join(lines).strip("\n") for lines in blocks if lines)


def front_of(folder: Path) -> Front:
    """The front page of a study by its folder; raises as `show_study`."""
    manifest = folder / "manifest.json"
    contents = read_json(manifest) if manifest.is_file() else {}
    return front_page(sections_of(folder), contents.get("configuration", {}).get("study", {}))


def study_in(folder: Path) -> Path:
    """The folder of the study: the one given, or the only study below it.

    Raises:
        TextcriticError: there are several studies below it.
    """
    studies = sorted({path.parent.parent for path in folder.glob("results/studies/*/*/section.json")})
    if len(studies) > 1:
        raise TextcriticError(f"{folder}: has several studies; give one of them: {', '.join(map(str, studies))}")
    return studies[0] if studies else folder


def _wrapped(line: str, width: int, indent: str = "") -> list[str]:
    """A line that is too long as several; one that fits stays as it is, as it may be part of a table."""
    return wrap(line, width, subsequent_indent=indent) if len(line) > width else [line]
