"""Articles against real ones: the coherence workflow, run in a folder, and what it found."""

import filecmp
import html
import json
import os
import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from textcritic.api.articles.configure import Sample
from textcritic.api.articles.decide import Compared
from textcritic.api.articles.run import criticise, jobs_of
from textcritic.api.documents import Documents
from textcritic.api.options import CriticiseOptions
from textcritic.api.results import Result
from textcritic.corpora.readers.records import plain_name, shown_path
from textcritic.errors import TextcriticError
from textcritic.files import require_ours, whole_file, write_text
from textcritic.measures.causes import Comparison

ROW_MARK = rb'\A(?:\{"id": ".*?, "title": .*?, "sections": \[|\Z)'
Kept: TypeAlias = "tempfile.TemporaryDirectory[str] | None"
"""The folder of a result, if it is a temporary one."""
GIVEN = "given"  # folder, in that of the results, of the articles that came from memory


@dataclass(frozen=True, repr=False, kw_only=True)
class ArticlesResult(Result):
    """What a study of articles found; `scores` has every measure that real text has too.

    Attributes:
        text: the tables as `textcritic show` prints them, and the path of the report.
        folder: of the configuration and the results. A temporary one is removed together with this result.
        causes: by sample what is wrong with it: the tests with p < 0.05 after Holm's correction for all tests of that
            sample, the first cause first; each has `measure`, `p` and `says`, a clause. None where nothing is.
        not_measured: (what, why).
    """

    text: str
    folder: Path
    page: Path
    causes: Mapping[str, Sequence[Comparison]]
    not_measured: Sequence[tuple[str, str]]
    _kept: Kept = field(default=None, compare=False)

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Sets:
    """Texts or articles that are compared: samples with `test`, or, if that is None, with `reference` or part of it."""

    reference: Documents
    test: Documents | None
    samples: Mapping[str, Documents]
    controls: Mapping[str, Documents]


def criticise_articles(sets: Sets, output: str | os.PathLike[str] | None, options: CriticiseOptions) -> ArticlesResult:
    """Compare texts or articles with real ones, as `textcritic criticise` does.

    Args:
        sets: the documents.
        output: folder for configuration and results; None: a temporary one, which lives as long as the result.
        options: see `CriticiseOptions`.

    Raises:
        TextcriticError: as `criticise`.
    """
    from textcritic.measures.card_file import read_card
    from textcritic.report.show import front_of, show_study

    compared, kept = _compared(sets, output, options.force)
    study = criticise(compared, options)
    front = front_of(study)
    result = ArticlesResult(
        title=f"{sets.reference.kind.capitalize()} against real ones",
        scores=tuple(score for scores in read_card(study).values() for score in scores if score.compared),
        facts=(("Folder", str(compared.folder)),),
        text=show_study(study),
        folder=compared.folder,
        page=study / "report.html",
        causes={one.row.label: one.causes for one in front.judged},
        not_measured=front.not_measured,
        warnings=tuple(one.says for one in front.warnings),
        _kept=kept,
    )
    write_text(compared.folder / "table.csv", result.table.to_csv(index=False, lineterminator="\n"))
    return result


def jobs_of_articles(sets: Sets, output: str | os.PathLike[str], options: CriticiseOptions) -> str:
    """What `criticise_articles` would do, in words; raises likewise."""
    return jobs_of(_compared(sets, output, options.force)[0], options)


def _compared(sets: Sets, output: str | os.PathLike[str] | None, force: bool) -> tuple[Compared, Kept]:
    """The files, and what keeps their folder, if it is a temporary one."""
    kept = tempfile.TemporaryDirectory(prefix="textcritic-") if output is None else None
    folder = Path(kept.name if kept else output).expanduser().resolve()  # type: ignore[arg-type]
    if shown_path(folder) != str(folder):
        raise TextcriticError(
            f"output: {shown_path(folder)}: its name is not UTF-8, which configurations are; name another"
        )
    test = {} if sets.test is None else {"test": sets.test}
    given = [("reference", sets.reference), *test.items(), *sets.samples.items(), *sets.controls.items()]
    names = list(_file_names([_stem(one.path) if one.path else label for label, one in given]))
    for (_, documents), name in zip(given, names, strict=True):
        if not _used_as_is(documents):
            require_ours(folder / GIVEN / name, ROW_MARK, force)
    paths = [
        _path_of(documents, folder / GIVEN / name, "test-" * (documents is sets.test))
        for (_, documents), name in zip(given, names, strict=True)
    ]
    drawn = zip([*sets.samples, *sets.controls], paths[1 + len(test) :], strict=True)
    origins = {
        path: shown_path(documents.path.absolute())
        for path, (_, documents) in zip(paths, given, strict=True)
        if documents.path is not None and documents.path.absolute() != path
    }
    compared = Compared(
        folder=folder,
        reference=paths[0],
        test=paths[1] if test else None,
        samples=tuple(Sample(path, label, label in sets.controls) for label, path in drawn),
        given=origins,
        texts=sets.reference.kind == "texts",
    )
    return compared, kept


def _path_of(documents: Documents, otherwise: Path, prefix: str) -> Path:
    """The file of articles: the user's own, or one that is written here.

    It is written for texts, for articles in memory, and where the path does not say how the file is read
    (`Documents.usual`). One that is there already and holds the same is not written again.

    Args:
        documents: texts or articles.
        otherwise: the file that is written.
        prefix: before the ids that are written, as reference and test make one corpus.
    """
    articles = documents.articles() if documents.kind == "articles" else documents.as_articles()
    if _used_as_is(documents):
        return documents.file.absolute()
    new = otherwise.with_name(f"{otherwise.name}.new")
    used: Counter[str] = Counter()
    with whole_file(new) as temporary, temporary.open("w", encoding="utf-8") as handle:
        for article in articles:
            used[article.id] += 1  # texts may share an id, such as that of a prompt
            name = prefix + (article.id if used[article.id] == 1 else f"{article.id}-{used[article.id]}")
            sections = [{"title": section.title, "text": section.text} for section in article.sections]
            row = {"id": name, "title": article.title, "sections": sections, "group": article.group}
            handle.write(json.dumps(row) + "\n")
        if not used:
            raise TextcriticError(f"{documents.name}: there is no document in it")
    if otherwise.is_file() and filecmp.cmp(new, otherwise, shallow=False):
        new.unlink()  # a newer file would be taken for a changed one
    else:
        with whole_file(otherwise) as temporary:
            new.replace(temporary)
    return otherwise


def _used_as_is(documents: Documents) -> bool:
    """Whether a user's file is read as it is, without a copy in our format."""
    return documents.path is not None and documents.kind == "articles" and documents.usual


def _stem(path: Path) -> str:
    """The name of a file without the suffix of its format."""
    return re.sub(r"\.txt(\.gz)?$", "", plain_name(path), flags=re.IGNORECASE)


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
