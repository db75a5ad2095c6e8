"""The files of the coherence of a study."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from textcritic.plan.sources import Compared, Drawn, data_keys
from textcritic.plan.sources import RealText as Real
from textcritic.values import JsonObject, Row

DATA_INFERRED, DATA_GOLD = "data-inferred", "data-gold"
"""Real text by the kind of its titles; if titles are given there is only `DATA_INFERRED`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RealText(Real):
    """Real text of one corpus and the critic that was fitted on it.

    Attributes:
        critic: critic.json.
        accuracy: accuracy.json of the section classifier; None if titles are given.
        gold: scores of the test split with its own titles.
        inferred: scores of the test split with inferred titles.
        articles: the test split.
        latents: posteriors of the test split.
        train: the split that the critic was fitted on; only the audit reads it.
        labelled: posteriors of the validation split, which show the classifier's errors; None if titles are given.
    """

    critic: Path
    accuracy: Path | None
    gold: Path
    inferred: Path
    articles: Path
    latents: Path
    train: Path
    labelled: Path | None

    @property
    def titles_given(self) -> bool:
        """Whether the given titles are the section types: `inferred` then equals `gold`."""
        return self.accuracy is None

    def titled(self) -> list["Titled"]:
        """The real text as a source: with inferred titles, and with its own titles if those differ."""
        ways = {DATA_INFERRED: self.inferred} | ({} if self.titles_given else {DATA_GOLD: self.gold})
        return [Titled(self, source, scores) for source, scores in ways.items()]


@dataclass(frozen=True, slots=True)
class Titled:
    """Real text with titles of one kind."""

    real: RealText
    source: str
    scores: Path

    @property
    def corpus(self) -> str:
        """The name of the corpus."""
        return self.real.corpus

    @property
    def keys(self) -> Row:
        """The key columns of a row about it."""
        return data_keys(self.corpus, self.source)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample(Drawn):
    """Articles of a generator.

    Attributes:
        latents: the posteriors of the kept ones.
        perplexity, training: perplexity.json and training.json of the generator, if it has them.
    """

    latents: Path
    perplexity: Path | None
    training: Path | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CoherenceFiles(Compared[RealText, Sample]):
    """Real text of each corpus, samples in the order of the tables, and how to read them.

    Attributes:
        audit_samples: further samples, only for the audit.
        undrawn: the keys of those that are not drawn because costly audits are off.
        report_articles: articles of each source that can be read in the report.
        power: the key `power` of the block; None for a numbered table or figure, which does not use it.
    """

    audit_samples: tuple[Sample, ...]
    undrawn: tuple[Row, ...] = ()
    report_articles: int
    power: JsonObject | None

    def titled(self, real: RealText) -> list[Titled | Sample]:
        """The real text of one corpus with inferred titles and with its own, and the samples compared with it."""
        return [*real.titled(), *self.samples_of(real)]

    def groups(self) -> Iterator[tuple[Titled | Sample, list[Titled | Sample]]]:
        """As `Compared.groups`; the reference is real text with inferred titles."""
        return ((sources[0], sources) for sources in map(self.titled, self.data))

    @property
    def titles_given(self) -> bool:
        """Whether the given titles are the section types; this is the same for all corpora, as there is one critic."""
        return all(real.titles_given for real in self.data)

    @property
    def single(self) -> tuple[str, ...]:
        """What a Latent PPL depends on besides the critic's training text, if the whole experiment has only one."""
        return () if self.titles_given else ("classifier",)

    def bases(self, audit: Sample) -> list[Sample]:
        """The samples that differ from an audit sample only in the decoding."""
        same = ("corpus", "setting", "generator", "seed", "draw")
        return [s for s in self.samples if all(getattr(s, key) == getattr(audit, key) for key in same)]
