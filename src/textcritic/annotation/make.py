"""A campaign is made: texts are chosen from finished samples and real text, blinded, and put into a database."""

import json
import random
import secrets
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path

from textcritic.annotation.answers import (
    ATTENTION,
    INTRUDER,
    TASK,
    TRAINING,
    Given,
    IntruderAnswer,
    RealSource,
    SectionsAnswer,
    text_hash,
)
from textcritic.annotation.links import new_id
from textcritic.annotation.store import Store
from textcritic.annotation.wording import Worded, with_wording
from textcritic.corpora.articles import Article, gold_chains, num_articles, read_articles
from textcritic.corpora.intruders.documents import Document, iter_documents
from textcritic.errors import TextcriticError
from textcritic.plan.entries import Campaign
from textcritic.plan.sources import Source, sources_of

MOST_TITLES = 100
"""The longest list of titles that people can be asked to choose from."""


@dataclass(frozen=True, slots=True)
class Text:
    """A text of a campaign, before it has an id.

    Attributes:
        document: its id in its corpus or sample.
        source: who wrote it.
        parts: its sections or sentences, as they are shown.
        right: the right answer, where it is known and is shown or checked.
    """

    document: str
    source: Source | RealSource
    parts: tuple[str, ...]
    right: Given | None = None


@dataclass(frozen=True, slots=True)
class Made:
    """What was made: the database, how many texts of each phase, and how many were left out, by reason."""

    path: Path
    texts: Mapping[str, int]
    left_out: Mapping[str, int]


def folder_of(here: Path, name: str) -> Path:
    """Where the files of a campaign are, below the working directory."""
    return here / "results/annotations" / name


def database_of(here: Path, name: str) -> Path:
    """The database of a campaign."""
    return folder_of(here, name) / "campaign.sqlite"


def make_campaign(name: str, entry: Campaign, here: Path) -> Made:
    """Make the database of a campaign from its entry in the registry.

    Args:
        name: of the entry.
        entry: what is asked, and about which texts.
        here: the working directory, whose `results` have the corpus and the samples.

    Raises:
        TextcriticError: there is a campaign of this name already; a corpus or sample is not built, or has too few
            texts; or its sections have no titles to choose from.
    """
    path = database_of(here, name)
    if path.exists():
        raise TextcriticError(
            f"{path}: there is a campaign {name!r} already; give the new one another name in the registry, or move the"
            " folder away"
        )
    left_out: Counter[str] = Counter()
    if entry.task == INTRUDER:
        titles: tuple[str, ...] = ()
        texts = {TASK: _documents(entry, here, left_out), TRAINING: [], ATTENTION: []}
        texts[ATTENTION] = [_attention_document(entry, number) for number in range(entry.attention)]
    else:
        titles = _titles(entry, here)
        texts = _sections(entry, titles, here, left_out)
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".making")
    unfinished.unlink(missing_ok=True)
    with Store(unfinished, create=True) as store, store.transaction():
        _fill(store, name, with_wording(entry), titles)
        _insert(store, entry, texts)
    unfinished.rename(path)
    return Made(path, {phase: len(of_phase) for phase, of_phase in texts.items()}, left_out)


def consent_version(text: str) -> str:
    """The version of a consent page: it changes with every letter of the text."""
    return sha256(text.encode()).hexdigest()[:12]


def _titles(entry: Campaign, here: Path) -> tuple[str, ...]:
    path = _split(entry, here, "train")
    counts = Counter(title for chain in gold_chains(path) for title in chain if title)
    titles = tuple(entry.titles) or tuple(title for title, _ in counts.most_common())
    if len(titles) < 2:
        raise TextcriticError(
            f"{path}: the sections have no titles to choose from; a campaign needs a corpus with section titles, or"
            " give `titles`"
        )
    if len(titles) > MOST_TITLES:
        raise TextcriticError(
            f"{path}: {len(titles):,} section titles are too many to choose from ({MOST_TITLES} at most); raise the"
            " corpus' minimum_title_count, or give `titles`"
        )
    return titles


def _sections(entry: Campaign, titles: Sequence[str], here: Path, left_out: Counter[str]) -> dict[str, list[Text]]:
    rng, corpus = random.Random(entry.seed), entry.corpus
    real = RealSource(corpus)
    chosen = _chosen(_articles(_split(entry, here, "test"), real, entry, left_out), entry, rng, "test")
    for source in sources_of(entry.sources):
        path = _built(here / f"{source.sample}.parquet", "the samples of the study")
        chosen += _chosen(_articles(path, source, entry, left_out), entry, rng, source.sample)
    training = entry.training
    wanted = training.texts * training.rounds
    with_types = [
        _trainer(article, real)
        for article in _some(_split(entry, here, "train"), rng, 20 * wanted)
        if {section.title for section in article.sections} <= set(titles) and _fits(article, entry)
    ]
    if len(with_types) < wanted:
        raise TextcriticError(
            f"{entry.corpus}: {len(with_types)} texts of the train split can be used in training, which needs"
            f" {wanted}; lower training.texts or training.rounds"
        )
    attention = [_attention(titles, real, number, rng) for number in range(entry.attention)]
    return {TASK: chosen, TRAINING: with_types[:wanted], ATTENTION: attention}


def _some(path: Path, rng: random.Random, count: int) -> list[Article]:
    """Articles at random from a large file."""
    places = rng.sample(range(total := num_articles(path)), min(count, total))
    chosen = set(places)
    by_place = {place: article for place, article in enumerate(read_articles(path)) if place in chosen}
    return [by_place[place] for place in places]


def _trainer(article: Article, real: RealSource) -> Text:
    titles = tuple(section.title or "" for section in article.sections)
    return Text(article.id, real, tuple(section.text for section in article.sections), SectionsAnswer(titles, True))


def _articles(path: Path, source: Source | RealSource, entry: Campaign, left_out: Counter[str]) -> Iterator[Text]:
    for article in read_articles(path):
        if _fits(article, entry):
            yield Text(article.id, source, tuple(section.text for section in article.sections))
        else:
            left_out["no section" if not article.sections else f"over {entry.longest:,} characters"] += 1


def _fits(article: Article, entry: Campaign) -> bool:
    return 0 < sum(len(section.text) for section in article.sections) <= entry.longest


def _chosen(texts: Iterable[Text], entry: Campaign, rng: random.Random, what: str) -> list[Text]:
    """Texts at random, no two of them the same."""
    different = list({text.parts: text for text in texts}.values())
    if len(different) < entry.texts:
        raise TextcriticError(
            f"{what}: {len(different):,} different texts; the campaign wants {entry.texts:,} of each (`texts`)"
        )
    return rng.sample(different, entry.texts)


def _attention(titles: Sequence[str], real: RealSource, number: int, rng: random.Random) -> Text:
    """A text that contains the answer to give."""
    wanted = rng.choices(titles, k=3)
    parts = tuple(
        f"This is not an article: it checks that texts are read. For this section, choose the type “{title}”."
        for title in wanted
    )
    last = f"{parts[-1]} To the question at the end, answer no."
    return Text(f"attention-{number + 1}", real, (*parts[:-1], last), SectionsAnswer(tuple(wanted), False))


def _documents(entry: Campaign, here: Path, left_out: Counter[str]) -> list[Text]:
    """Texts of an intruder corpus; which of them have an intruder is in the corpus, not here."""
    texts = []
    for document in iter_documents(_split(entry, here, "test")):
        if sum(map(len, document.sentences)) > entry.longest:
            left_out[f"over {entry.longest:,} characters"] += 1
        else:
            texts.append(_text_of(document, entry.corpus))
    return _chosen(texts, entry, random.Random(entry.seed), f"{entry.corpus}, test")


def _text_of(document: Document, corpus: str) -> Text:
    return Text(document.id, RealSource(corpus), document.sentences)


def _attention_document(entry: Campaign, number: int) -> Text:
    parts = (
        "This is not a document: it checks that texts are read.",
        "Please say of the next sentence that it does not belong.",
        "This is the sentence.",
        "This is not the sentence.",
    )
    return Text(f"attention-{number + 1}", RealSource(entry.corpus), parts, IntruderAnswer(2))


def _split(entry: Campaign, here: Path, split: str) -> Path:
    corpus = entry.corpus
    return _built(here / f"results/corpora/{corpus}/{split}.parquet", f"the corpus, by `textcritic corpus {corpus}`")


def _built(path: Path, what: str) -> Path:
    if not path.is_file():
        raise TextcriticError(f"{path}: no such file; build {what} first")
    return path


def _fill(store: Store, name: str, entry: Worded, titles: Sequence[str]) -> None:
    version = consent_version(entry.consent)
    store.insert("consent", ("version", "text"), [(version, entry.consent)])
    values = {"campaign": name, "entry": entry.plain(), "titles": titles, "consent_version": version, "withdrawn": 0}
    for key, value in {**values, "secret": secrets.token_urlsafe(32), "simulated": False}.items():
        store.set_about(key, value)


def _insert(store: Store, entry: Campaign, texts: Mapping[str, Sequence[Text]]) -> None:
    """Insert the texts in random order; the texts that more annotators answer are chosen here."""
    rng, overlap = random.Random(entry.seed + 1), entry.overlap
    by_source: dict[Source | RealSource, list[Text]] = {}
    for text in texts[TASK]:
        by_source.setdefault(text.source, []).append(text)
    shared = {
        (text.source, text.document)
        for of_source in by_source.values()
        for text in rng.sample(of_source, round(overlap.share * len(of_source)))
    }
    rows = []
    for phase, of_phase in texts.items():
        for text in of_phase:
            source = asdict(text.source) | ({"real": True} if isinstance(text.source, RealSource) else {})
            several = phase == TASK and (text.source, text.document) in shared
            wanted = max(entry.answers, overlap.answers) if several else entry.answers
            right = None if text.right is None else json.dumps(asdict(text.right), ensure_ascii=False)
            shown = json.dumps(text.parts, ensure_ascii=False)
            digest = text_hash(text.parts)
            rows.append((new_id(), phase, text.document, json.dumps(source), shown, digest, right, wanted))
    columns = ("id", "phase", "document", "source", "texts", "sha256", "right_answer", "wanted")
    store.insert("item", columns, sorted(rows))
