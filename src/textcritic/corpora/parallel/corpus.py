"""Sentences with their translations as a corpus: an article is one translation, and splits go by sentence."""

import hashlib
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from textcritic.corpora.articles import ARTICLE_SCHEMA, Article, Section, iter_batches, write_articles
from textcritic.errors import TextcriticError
from textcritic.files import whole_file, write_json
from textcritic.plan.checks.corpora import SPLITS
from textcritic.plan.entries.corpora import Splits
from textcritic.runlog import log, versions
from textcritic.values import JsonObject


@dataclass(frozen=True, slots=True)
class Sentence:
    """An English sentence and its translations by language; tokens are joined by single spaces.

    `source` says where it came from: a document, a package, or the corpus.
    """

    text: str
    translations: Mapping[str, str]
    source: str


@dataclass(frozen=True, slots=True, eq=False)
class Sentences:
    """Sentences as an extractor gives them.

    Attributes:
        stream: the sentences, each with one translation at least.
        skipped: what the stream leaves out, by reason; complete when the stream has ended.
        provenance: recorded in the statistics of the corpus.
    """

    stream: Iterable[Sentence]
    skipped: Counter[str] = field(default_factory=Counter)
    provenance: Mapping[str, object] = field(default_factory=dict)


def write_parallel_corpus(sentences: Sentences, splits: Splits, out_dir: str | os.PathLike[str]) -> JsonObject:
    """Write `train`, `validation` and `test` Parquet files and `statistics.json` of a parallel corpus.

    An article is one translation. Its id is the number of the sentence and the language, its title is the English
    sentence, and its group is the number of the distinct English sentence. Its only section is named after the language
    and holds the translation. Splits go by group: all translations of a sentence are in one split, also if the sentence
    is repeated. Articles keep their order. Memory holds a hash of each distinct sentence; texts are streamed through a
    file in the folder of the splits.

    Args:
        sentences: the sentences.
        splits: `validation` and `test`, shares of the distinct sentences, and `seed`.
        out_dir: folder of the corpus; its name is the corpus' name.

    Returns:
        The content of statistics.json: `corpus`, `sentences`, `translations` by language, `tokens` by language and of
        the English side (`source`), `splits` {split: {"sentences", "articles"}}, `skipped` {reason: n}, `provenance`.

    Raises:
        TextcriticError: a split ends up without sentences, or a fault that the stream reports.
    """
    folder = Path(out_dir)
    folder.mkdir(parents=True, exist_ok=True)
    tally = _Tally()
    with TemporaryDirectory(dir=folder, prefix=".collected.") as temporary:
        collected = Path(temporary) / "collected.parquet"
        write_articles(collected, tally.watch(sentences.stream))
        split_of = _split_of_groups(folder.name, len(tally.groups), splits, sentences.skipped)
        articles = _write_splits(collected, split_of, folder)
    record = {
        "corpus": folder.name,
        "sentences": tally.sentences,
        "translations": dict(tally.translations),
        "tokens": dict(tally.tokens),
        "splits": {
            split: {"sentences": int((split_of == number).sum()), "articles": articles[number]}
            for number, split in enumerate(SPLITS)
        },
        "skipped": {reason: count for reason, count in sentences.skipped.items() if count},
        "provenance": {
            "harvest_sha256": tally.sha256.hexdigest(),
            **sentences.provenance,
            "built_with": versions("textcritic", "numpy"),
        },
    }
    write_json(folder / "statistics.json", record)
    log.info(
        "%s: %s sentences, translations: %s; left out: %s",
        folder.name,
        f"{tally.sentences:,}",
        record["translations"],
        record["skipped"] or "nothing",
    )
    return record


def article_id(sentence: int, language: str) -> str:
    """The id of a translation, e.g. 000017-de."""
    return f"{sentence:06d}-{language}"


def sentence_number(article: str) -> int:
    """The number of the sentence that an article translates, from its id.

    Raises:
        TextcriticError: the id is not one of a parallel corpus.
    """
    number, _, language = article.partition("-")
    if not (number.isascii() and number.isdigit() and language):
        raise TextcriticError(f"id '{article}': should be a number and a language, e.g. 000017-de")
    return int(number)


class _Tally:
    """Numbers and counts the sentences that pass through `watch`."""

    def __init__(self) -> None:
        self.sentences = 0
        self.groups: dict[bytes, int] = {}
        self.translations: Counter[str] = Counter()
        self.tokens: Counter[str] = Counter()
        self.sha256 = hashlib.sha256()

    def watch(self, stream: Iterable[Sentence]) -> Iterator[Article]:
        """The articles of each sentence."""
        for sentence in stream:
            key = hashlib.blake2b(sentence.text.encode(), digest_size=16).digest()
            group = self.groups.setdefault(key, len(self.groups))
            self.tokens["source"] += len(sentence.text.split())
            for language, text in sentence.translations.items():
                self.translations[language] += 1
                self.tokens[language] += len(text.split())
                self.sha256.update(f"{sentence.text}\n{language}\n{text}\n".encode())
                name = article_id(self.sentences, language)
                yield Article(name, sentence.text, (Section(language, text),), sentence.source, str(group))
            self.sentences += 1


def _split_of_groups(name: str, groups: int, shares: Splits, skipped: Mapping[str, int]) -> np.ndarray:
    """The number of the split of each distinct sentence, by a seeded permutation: [groups]."""
    if shares.validation + shares.test >= 1:
        raise TextcriticError("splits: validation and test together should be less than 1, so that train gets a share")
    validation, test = round(shares.validation * groups), round(shares.test * groups)
    if min(validation, test, groups - validation - test) < 1:
        left_out = ", ".join(f"{reason} {count:,}" for reason, count in skipped.items() if count) or "none"
        raise TextcriticError(
            f"corpus '{name}': {groups} distinct sentences are too few for three splits; left out: {left_out}"
        )
    order = np.random.default_rng(shares.seed).permutation(groups)
    split_of = np.zeros(groups, np.int8)
    split_of[order[:validation]] = 1
    split_of[order[validation:][:test]] = 2
    return split_of


def _write_splits(collected: Path, split_of: np.ndarray, folder: Path) -> list[int]:
    """Write each article to its split, batch by batch; returns the number of articles of each split."""
    counts = [0] * len(SPLITS)
    with ExitStack() as stack:
        files = [stack.enter_context(whole_file(folder / f"{split}.parquet")) for split in SPLITS]
        writers = [stack.enter_context(pq.ParquetWriter(file, ARTICLE_SCHEMA, compression="zstd")) for file in files]
        for articles in iter_batches(collected, ARTICLE_SCHEMA):
            splits = split_of[pc.cast(articles["group"], pa.int64()).to_numpy()]
            for number, writer in enumerate(writers):
                part = articles.filter(pa.array(splits == number))
                counts[number] += part.num_rows
                if part.num_rows:
                    writer.write_batch(part)
    return counts
