"""Mixed languages in long format: how much each source mixes, and how that compares with real translations."""

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from textcritic.corpora import iter_articles
from textcritic.critics import rejections
from textcritic.critics.lda import LDA, Posteriors, mixing_columns, topic_languages
from textcritic.errors import TextcriticError
from textcritic.experiments.mixing.files import Documents, MixingFiles, RealText, Sample
from textcritic.files import read_json, read_table
from textcritic.inference import (
    bootstrap_difference,
    bootstrap_interval,
    energy_test,
    permutation_test,
    ratio_of_sums,
    with_ones,
)
from textcritic.latents.bags import Vocabulary
from textcritic.report.names import KEYS, Names, data_keys, sample_keys
from textcritic.report.published import Published
from textcritic.report.scored import add_seeds, check_counts, perplexity_of, reasons_in_words

REAL = {"data": "real translations"}
"""What a row of real text is called."""
PERCENT = 100.0
WORDS = 10  # of a topic that are shown; the paper's Table 10 has as many
STATISTICS = ("mixed", "divided", "corners", "entropy", "latent_nll")
COLUMNS = (
    *("label", "iterations"),
    *(f"{name}{end}" for name in STATISTICS for end in ("", "_low", "_high")),
    *("mixed_p", "distance", "distance_low", "distance_high", "distance_measured", "distance_p"),
    *("ppl_all", "ppl_all_low", "ppl_all_high", "parameters_millions", "published", "difference"),
    *("documents", "words_per_sentence", "rejected", "rejected_share", "rejected_by_reason"),
    *("seeds", "seeds_mean", "seeds_sd"),
)
WHOLE = ("seed", "iterations", "documents", "rejected", "seeds")
TEXTS = ("label", "rejected_by_reason")
Matrix = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Source:
    """The sentences of one source that could be scored.

    Attributes:
        files: of the source.
        posteriors: of its sentences.
        english: the sentence that each translates.
        languages: of each, where it is known: of real translations.
        scores: of all its sentences, those that could not be scored too.
    """

    files: Documents
    posteriors: Posteriors
    english: tuple[str, ...]
    languages: tuple[str, ...]
    scores: pa.Table

    @classmethod
    def of(cls, files: Documents) -> Self:
        """Read one source.

        Raises:
            TextcriticError: a file is missing or damaged, or files do not belong together.
        """
        posteriors, scores = Posteriors.load(files.posteriors), read_table(files.scores)
        if isinstance(files, Sample):
            check_counts(scores, files)
        about = {
            article.id: (article.title or "", article.sections[0].title or "")
            for article in iter_articles(files.articles)
        }
        missing = [str(name) for name in posteriors.ids if name not in about]
        if missing:
            raise TextcriticError(
                f"{files.posteriors}: {missing[0]!r} is not in {files.articles}; delete the posteriors and rerun the "
                "rule that makes them"
            )
        english, languages = (tuple(about[name][part] for name in posteriors.ids) for part in (0, 1))
        return cls(files, posteriors, english, languages, scores)

    @property
    def keys(self) -> dict[str, Any]:
        """The key columns of a row."""
        return sample_keys(self.files) if isinstance(self.files, Sample) else data_keys(self.files.corpus)

    @property
    def outside(self) -> Matrix:
        """Expected words outside the main topic, and words of the vocabulary: [sentences, 2]."""
        return self.columns["mixed"]

    @cached_property
    def columns(self) -> dict[str, Matrix]:
        """For each statistic the columns whose ratio of sums it is: [sentences, 2]."""
        nll = self.scores.filter(pc.invert(self.scores["rejected"]))["nll"].to_numpy()
        return {**mixing_columns(self.posteriors), "latent_nll": with_ones(nll)}


@dataclass(frozen=True, eq=False)
class Compared:
    """Real translations of one corpus and the samples beside them.

    Attributes:
        critic: the model.
        words: its vocabulary [V].
        topics: of each topic the language that it fits best, "" where there are fewer languages [K].
        sources: real translations first.
    """

    critic: LDA
    words: tuple[str, ...]
    topics: tuple[str, ...]
    sources: tuple[Source, ...]

    @classmethod
    def of(cls, real: RealText, files: MixingFiles) -> Self:
        """Read one corpus.

        Raises:
            TextcriticError: a file is missing or damaged, or no real translation could be scored.
        """
        sources = tuple(Source.of(source) for source in files.of(real))
        if not sources[0].english:
            reasons = reasons_in_words(rejections(sources[0].scores))
            raise TextcriticError(f"{real.scores}: no sentence could be scored ({reasons})")
        topics = topic_languages(sources[0].posteriors, sources[0].languages)
        return cls(LDA.load(real.critic), Vocabulary.load(real.vocabulary).words, topics, sources)

    @property
    def real(self) -> Source:
        """Real translations."""
        return self.sources[0]

    @property
    def order(self) -> list[int]:
        """The topics in the order of their languages' names, so that a language has one colour in every corpus."""
        return sorted(range(len(self.topics)), key=lambda topic: (not self.topics[topic], self.topics[topic]))

    def name(self, topic: int) -> str:
        """What a topic is called."""
        return self.topics[topic] or f"topic {topic + 1}"

    def paired(self, sample: Source) -> tuple[Matrix, Matrix]:
        """Posterior means of a sample and of real translations of the same English sentences, both [pairs, K].

        Of the real translations of a sentence one is taken, in turn: the first language of the first sentence, the
        second of the second, and so on.
        """
        by_english: dict[str, list[int]] = {}
        for place, english in enumerate(self.real.english):
            by_english.setdefault(english, []).append(place)
        rank = {english: number for number, english in enumerate(by_english)}
        pairs = [
            (place, by_english[english][rank[english] % len(by_english[english])])
            for place, english in enumerate(sample.english)
            if english in by_english
        ]
        of_sample, of_real = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        return sample.posteriors.mean[of_sample], self.real.posteriors.mean[of_real]


def mixing_rows(compared: list[Compared], files: MixingFiles, names: Names, published: Published) -> pd.DataFrame:
    """How much every source mixes, one row a source.

    Columns: the keys; `label`; `iterations` of the decoding (empty where it draws); of `critics.lda.mixing_statistics`,
    with 95% document-bootstrap intervals (`..._low`, `..._high`), `mixed` (in percent), `divided`, `corners` and
    `entropy` (nats), and as well `latent_nll` (nats per sentence); `mixed_p`, permutation test against real
    translations; `distance` (energy distance of posterior means without the bias of few sentences, paired by English
    sentence) with its interval, `distance_measured` (with that bias) and the p-value of swaps within pairs,
    `distance_p`; `ppl_all` of the generator, its `parameters_millions` beside the `published` ones and the
    `difference`; `documents` scored, `words_per_sentence` of the vocabulary, `rejected`, `rejected_share`,
    `rejected_by_reason`; `seeds`, `seeds_mean`, `seeds_sd` of `mixed`.
    """
    rows = []
    for one in compared:
        for source in one.sources:
            row = source.keys | {"label": names.source(source.keys, corpus=False)} | _scored(source, files.resamples)
            if isinstance(source.files, Sample):
                decoding = files.decodings[source.files.decoding]
                row["iterations"] = decoding["iterations"] if decoding.get("method") == "likeliest" else None
                row |= _against(source, one, files.resamples)
                row |= _parameters(source.files)
                row["published"] = published.value("parameters_millions", source.keys)
                row |= {key: value for key, value in perplexity_of(source.files.perplexity).items() if key in COLUMNS}
            rows.append(row)
    table = pd.DataFrame(rows).reindex(columns=[*KEYS, *COLUMNS])
    table = table.astype({column: float for column in COLUMNS if column not in TEXTS})
    table["difference"] = table["parameters_millions"] - table["published"]
    add_seeds(table, "mixed")
    return table.astype(dict.fromkeys(WHOLE, "Int64"))


def pair_rows(compared: list[Compared], files: MixingFiles, names: Names) -> pd.DataFrame:
    """Every two samples of a corpus, of the first seed: `difference` of `mixed`, `low`, `high`, `p_value`."""
    columns = ["corpus", "more", "less", "difference", "low", "high", "p_value", "documents_more", "documents_less"]
    rows = []
    for real, one in zip(files.data, compared, strict=True):
        shown = files.shown(real)
        samples = [source for source in one.sources[1:] if source.files in shown and source.english]
        for pair in combinations(samples, 2):
            less, more = sorted(pair, key=lambda source: _ratio(source.outside))
            interval = bootstrap_difference(more.outside, less.outside, ratio_of_sums, files.resamples)
            labels = [names.source(source.keys, corpus=False, seed=False) for source in (more, less)]
            p = permutation_test(more.outside, less.outside, ratio_of_sums, files.resamples).p
            points = (PERCENT * value for value in (interval.estimate, interval.low, interval.high))
            numbers = (*points, p, len(more.english), len(less.english))
            rows.append((real.corpus, *labels, *numbers))
    return pd.DataFrame(rows, columns=columns).sort_values("difference", ascending=False, kind="stable")


def language_rows(compared: list[Compared], files: MixingFiles, names: Names) -> pd.DataFrame:
    """A row for each source and topic: its share of sentences and of words, and how right it is of real translations.

    Columns: the keys, `label`, `topic` (from 1), `language`, `share_of_sentences`, `share_of_words`; of real
    translations into the language `right_words`, `right_sentences`, each with `..._low`, `..._high`.
    """
    rows = []
    for real, one in zip(files.data, compared, strict=True):
        for source in one.sources:
            if source.files not in files.shown(real):
                continue
            counts = np.asarray(source.posteriors.counts, np.float64)
            main = np.bincount(counts.argmax(axis=1), minlength=counts.shape[1]) if len(counts) else None
            for topic, language in enumerate(one.topics):
                row = source.keys | {"label": names.source(source.keys, corpus=False), "topic": topic + 1}
                row["language"] = language
                if main is not None:
                    row["share_of_sentences"] = main[topic] / len(counts)
                    row["share_of_words"] = counts[:, topic].sum() / counts.sum()
                if source is one.real and language:
                    row |= _right(one, topic, language, files.resamples)
                rows.append(row)
    ends = [f"{name}{end}" for name in ("right_words", "right_sentences") for end in ("", "_low", "_high")]
    shares = ["share_of_sentences", "share_of_words"]
    table = pd.DataFrame(rows).reindex(columns=[*KEYS, "label", "topic", "language", *shares, *ends])
    return table.astype({"seed": "Int64", **dict.fromkeys([*shares, *ends], float)})


def word_rows(compared: list[Compared]) -> pd.DataFrame:
    """The topics (paper, Table 10): `corpus`, `topic`, `language`, `share` of words of real text, `alpha`, `words`."""
    rows = []
    for one in compared:
        counts = np.asarray(one.real.posteriors.counts, np.float64).sum(axis=0)
        for topic, likeliest in enumerate(one.critic.top_words(one.words, WORDS)):
            row = {"corpus": one.real.files.corpus, "topic": topic + 1, "language": one.topics[topic]}
            row |= {"share": counts[topic] / counts.sum(), "alpha": one.critic.alpha[topic]}
            rows.append(row | {"words": " ".join(likeliest)})
    return pd.DataFrame(rows)


def _scored(source: Source, resamples: int) -> dict[str, Any]:
    reasons = rejections(source.scores)
    rejected = sum(reasons.values())
    row: dict[str, Any] = {"documents": len(source.english), "rejected": rejected}
    row |= {
        "rejected_share": rejected / max(source.scores.num_rows, 1),
        "rejected_by_reason": reasons_in_words(reasons),
    }
    if source.english:
        row["words_per_sentence"] = float(source.posteriors.tokens.mean())
        for name, values in source.columns.items():
            interval, scale = bootstrap_interval(values, ratio_of_sums, resamples), PERCENT if name == "mixed" else 1.0
            ends = zip(("", "_low", "_high"), (interval.estimate, interval.low, interval.high), strict=True)
            row |= {f"{name}{end}": scale * value for end, value in ends}
    return row


def _parameters(sample: Sample) -> dict[str, float]:
    """Millions of parameters of a generator that was trained here."""
    if sample.training is None:
        return {}
    report = read_json(sample.training)
    if "parameters" not in report:
        raise TextcriticError(f"{sample.training}: no 'parameters' in it; delete it and rerun the rule that makes it")
    return {"parameters_millions": report["parameters"] / 1e6}


def _against(sample: Source, one: Compared, resamples: int) -> dict[str, Any]:
    if not sample.english:
        return {}
    row: dict[str, Any] = {"mixed_p": permutation_test(sample.outside, one.real.outside, ratio_of_sums, resamples).p}
    of_sample, of_real = one.paired(sample)
    if len(of_sample) > 1:
        test = energy_test(of_sample, of_real, paired=True, resamples=resamples)
        row |= {"distance": test.corrected, "distance_low": test.low, "distance_high": test.high}
        row |= {"distance_measured": test.distance, "distance_p": test.p}
    return row


def _right(one: Compared, topic: int, language: str, resamples: int) -> dict[str, float]:
    found: dict[str, float] = {}
    counts = np.asarray(one.real.posteriors.counts, np.float64)
    into = np.array([name == language for name in one.real.languages])
    words = np.stack([counts[into, topic], counts[into].sum(axis=1)], axis=1)
    sentences = with_ones(counts[into].argmax(axis=1) == topic)
    for name, columns in (("right_words", words), ("right_sentences", sentences)):
        interval = bootstrap_interval(columns, ratio_of_sums, resamples)
        found |= {name: interval.estimate, f"{name}_low": interval.low, f"{name}_high": interval.high}
    return found


def _ratio(columns: Matrix) -> float:
    return float(ratio_of_sums(columns.sum(axis=0, keepdims=True))[0])
