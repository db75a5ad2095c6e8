"""Articles against real ones: the coherence workflow, run in a folder, and what it found."""

import filecmp
import html
import json
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from textcritic.api.articles.run import criticise
from textcritic.api.documents import Documents
from textcritic.api.options import ArticleOptions
from textcritic.api.results import Result
from textcritic.files import whole_file, write_text

GIVEN = "given"  # folder, in that of the results, of the articles that came from memory


@dataclass(frozen=True, repr=False, kw_only=True)
class ArticlesResult(Result):
    """What a study of articles found; `scores` has every measure that real text has too.

    Attributes:
        text: the tables as `textcritic show` prints them, and the path of the report.
        folder: of the configuration and the results. A temporary one is removed together with this result.
    """

    text: str
    folder: Path
    page: Path
    _kept: Any = field(default=None, compare=False)

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write a copy of the report, one HTML file; its links to tables lead into `folder`. Gives its path."""
        target = Path(path).expanduser().absolute()
        page = self.page.read_text(encoding="utf-8")

        def from_there(found: re.Match[str]) -> str:
            linked = self.page.parent / html.unescape(found[1])
            return f'href="{html.escape(os.path.relpath(linked, target.parent))}"' if linked.is_file() else found[0]

        write_text(target, re.sub(r'href="([^"#:]+)"', from_there, page))
        return target

    def __repr__(self) -> str:
        return self.text


def criticise_articles(
    reference: Documents,
    samples: Mapping[str, Documents],
    output: str | os.PathLike[str] | None,
    options: ArticleOptions,
) -> ArticlesResult:
    """Run the workflow on articles, as `textcritic criticise` does.

    Args:
        reference: real articles.
        samples: articles by label.
        output: folder for configuration and results; None: a temporary one, which lives as long as the result.
        options: see `ArticleOptions`.

    Raises:
        TextcriticError: as `criticise`.
    """
    from textcritic.measures.score import read_card, read_facts, sections_of
    from textcritic.report.show import show_study

    kept = tempfile.TemporaryDirectory(prefix="textcritic-") if output is None else None
    folder = Path(kept.name if kept else output).expanduser().resolve()  # type: ignore[arg-type]
    names = iter(_file_names(["reference", *samples]))
    real = _path_of(reference, folder / GIVEN / next(names))
    paths = [_path_of(sample, folder / GIVEN / name) for sample, name in zip(samples.values(), names, strict=True)]
    study = criticise(real, paths, folder, options, tuple(samples))
    return ArticlesResult(
        title="Articles against real ones",
        scores=tuple(score for scores in read_card(study).values() for score in scores if score.compared),
        facts=(("Folder", str(folder)),),
        text=show_study(study),
        folder=folder,
        page=study / "report.html",
        warnings=tuple(words for path in sections_of(study).values() for words in read_facts(path).get("warnings", ())),
        _kept=kept,
    )


def _path_of(documents: Documents, otherwise: Path) -> Path:
    """The file of articles; those in memory are written to one, which is left alone if it holds the same."""
    articles = documents.articles()
    if documents.path is not None:
        return documents.path
    new = otherwise.with_name(f"{otherwise.name}.new")
    with whole_file(new) as temporary, temporary.open("w", encoding="utf-8") as handle:
        for article in articles:
            sections = [{"title": section.title, "text": section.text} for section in article.sections]
            row = {"id": article.id, "title": article.title, "sections": sections, "group": article.group}
            handle.write(json.dumps(row) + "\n")
    if otherwise.is_file() and filecmp.cmp(new, otherwise, shallow=False):
        new.unlink()  # the workflow would take a newer file for a changed one
    else:
        new.replace(otherwise)
    return otherwise


def _file_names(labels: list[str]) -> Iterator[str]:
    """A name for the file of each label, no two the same."""
    used: set[str] = set()
    for label in labels:
        plain = re.sub(r"[^\w.-]+", "-", label).strip("-.") or "samples"
        name, number = plain, 1
        while name in used:
            number += 1
            name = f"{plain}-{number}"
        used.add(name)
        yield f"{name}.jsonl"
