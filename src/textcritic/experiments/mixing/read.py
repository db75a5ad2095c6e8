"""What the report reads of one corpus: real translations, the samples compared with them, and the critic."""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from textcritic.corpora import iter_articles
from textcritic.critics import groups_of, rejections
from textcritic.critics.lda import LDA, Posteriors, mixing_columns, topic_languages
from textcritic.errors import TextcriticError
from textcritic.experiments.mixing.files import Documents, MixingFiles, RealText
from textcritic.inference import Groups, with_ones
from textcritic.latents.bags import Vocabulary
from textcritic.measures.material import Material
from textcritic.measures.scored import reasons_in_words, source_scores

Matrix = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Source:
    """The sentences of one source that could be scored.

    Attributes:
        files: of the source.
        posteriors: of its sentences.
        english: the sentence that each translates.
        languages: of each sentence; known only for real translations.
        scores: of all its sentences, also of those that could not be scored.
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
        posteriors, scores = (
            Posteriors.load(files.posteriors),
            source_scores(files, ("id", "nll", "rejected", "why", "group")),
        )
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
    def outside(self) -> Matrix:
        """Expected words outside the main topic, and words of the vocabulary: [sentences, 2]."""
        return self.columns["mixed"]

    @cached_property
    def groups(self) -> Groups:
        """Of the sentences."""
        return groups_of(self.scores)

    @cached_property
    def columns(self) -> dict[str, Matrix]:
        """For each statistic the columns whose ratio of sums it is: [sentences, 2]."""
        nll = self.scores.filter(pc.invert(self.scores["rejected"]))["nll"].to_numpy()
        return {**mixing_columns(self.posteriors), "latent_nll": with_ones(nll)}


@dataclass(frozen=True, eq=False)
class Compared:
    """Real translations of one corpus and the samples compared with them.

    Attributes:
        critic: the model.
        words: its vocabulary [V].
        topics: for each topic the language that it fits best; "" if there are fewer languages than topics [K].
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
        """The name of a topic."""
        return self.topics[topic] or f"topic {topic + 1}"

    def pairs(self, sample: Source, other: Source | None = None) -> tuple[Places, Places]:
        """Which sentences of a sample and of another source translate the same English: places in both, [pairs] each.

        Args:
            sample: the source of the first of each pair.
            other: the source of the second; None: real translations. If a sentence has several translations, one is
                taken, in turn: the first language of the first sentence, the second of the second, and so on.
        """
        by_english: dict[str, list[int]] = {}
        for place, english in enumerate((other or self.real).english):
            by_english.setdefault(english, []).append(place)
        rank = {english: number for number, english in enumerate(by_english)}
        pairs = [
            (place, by_english[english][rank[english] % len(by_english[english])])
            for place, english in enumerate(sample.english)
            if english in by_english
        ]
        first, second = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        return first, second


def compared_of(material: Material[MixingFiles]) -> list[Compared]:
    """The posteriors of every corpus and its samples, which most tables read."""
    return [Compared.of(real, material.files) for real in material.files.data]
