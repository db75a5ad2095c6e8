"""Files of a small coreference experiment in the formats of the workflow, by the functions that write them there."""

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from textcritic.corpora import Article, Section, write_articles
from textcritic.critics.mentions.job import chain_options, fit_on_mentions, score_file
from textcritic.critics.mentions.measure import chains_of_both
from textcritic.critics.mentions.power import measure_power
from textcritic.critics.mentions.resolver_error import error_summary, resolver_error
from textcritic.critics.mentions.variants import vary_mentions
from textcritic.experiments.coreference.files import Annotated, CoreferenceFiles, RealText, Sample
from textcritic.files import write_json
from textcritic.inference import PowerOptions
from textcritic.latents.resolvers import Mention, Resolved, Unresolved, write_mentions
from textcritic.latents.resolvers.quality import measure_resolver, summary_of
from textcritic.latents.resolvers.resolve import resolver_of
from textcritic.plan.entries import Mentions, Nearest, Persons

# Names that HTML and LaTeX would take for their own are among them; one has an accent that is a character of its own.
PEOPLE = {"MALE": ("Tom", "Mr. O'Neil", "<b>Bob</b>", "Jose\u0301"), "FEMALE": ("Anna", "Mrs. Y & Z", "$Eve$")}
PRONOUNS = {"MALE": ("he", "him", "his"), "FEMALE": ("she", "her", "her")}
# Generator: label, how often a pronoun has the other gender.
GENERATORS: Mapping[str, tuple[str, float]] = {"gpt2-demo": ("small GPT-2", 0.1), "ngram-3": ("trigram", 0.4)}
BROKEN = "untrained"  # a generator of which nothing can be scored
UNREAD = 3  # texts of each sample that did not parse
CRITIC = Mentions(kind="mentions", resolver="persons")
POWER = PowerOptions(shares=(0.1, 0.4), articles=(5, 8), repetitions=20)
RESOLVER = Persons(kind="persons")


def tiny(root: Path, *, documents: int = 20, empty: bool = False) -> CoreferenceFiles:
    """Every file of a complete experiment below `root`.

    Args:
        root: where the files go.
        documents: of each sample.
        empty: of one sample nothing can be scored.
    """
    generators = (*GENERATORS, BROKEN) if empty else tuple(GENERATORS)
    return build_coreference(root, generators=generators, drawn=documents)


def build_coreference(
    root: Path,
    *,
    corpus: str = "stories",
    documents: int = 20,
    drawn: int | None = None,
    generators: Sequence[str] = tuple(GENERATORS),
    seeds: Sequence[int] = (1,),
    resamples: int = 50,
    of_a_book: int = 0,
) -> CoreferenceFiles:
    """Write every file that the tables, figures and section read below `root`.

    Args:
        root: where the files go.
        corpus: its name.
        documents: of real text.
        drawn: of each sample; by default as many.
        generators: keys of `GENERATORS`, or BROKEN.
        seeds: of each generator.
        resamples: of intervals and tests.
        of_a_book: how many of the real documents are one group.
    """
    folder = root / corpus
    folder.mkdir(parents=True)
    rng = random.Random(corpus)
    options = chain_options(CRITIC, RESOLVER)
    paths = {name: folder / f"{name}.parquet" for name in ("mentions", "scores", "articles")}
    critic, training, train = folder / "critic.npz", folder / "training.json", folder / "train.parquet"
    write_mentions(train, stories(rng, "train", 3 * documents))
    fit_on_mentions(train, critic, training, CRITIC, options)
    real = stories(rng, "test", documents)
    _write(real, paths["articles"], paths["mentions"], of_a_book)
    score_file(paths["mentions"], paths["articles"], critic, paths["scores"], options)
    power, variants = folder / "power.parquet", folder / "variants.parquet"
    measure_power(paths["mentions"], critic, power, (CRITIC, RESOLVER), POWER)
    vary_mentions(train, paths["mentions"], variants, CRITIC, RESOLVER)
    data = RealText(corpus=corpus, critic=critic, training=training, variants=variants, power=power, **paths)
    samples = [
        _sample(folder, rng, data, generator, seed, documents if drawn is None else drawn)
        for generator in generators
        for seed in seeds
    ]
    return CoreferenceFiles(
        data=(data,),
        samples=tuple(samples),
        annotated=(_annotated(root / "annotated"),),
        measured=None,
        resolver={"name": "persons", **RESOLVER.plain()},
        critic={"name": "mentions", **CRITIC.plain()},
        decodings={"demo": {"articles": documents}},
        resamples=resamples,
        report_articles=3,
    )


@dataclass
class Story:
    """A text that grows, with its mentions."""

    text: str = ""
    sentences: list[tuple[int, int]] = field(default_factory=list)
    mentions: list[Mention] = field(default_factory=list)
    entities: dict[str, int] = field(default_factory=dict)

    def say(self, *parts: str | tuple[str, str]) -> None:
        """Add a sentence of words and of (mention, name of the entity)."""
        start = len(self.text) + bool(self.text)
        self.text += " " * bool(self.text)
        for number, part in enumerate(parts):
            word, person = part if isinstance(part, tuple) else (part, None)
            self.text += " " * bool(number)
            if person is not None:
                self._mention(word, person)
            self.text += word
        self.text += " ."
        self.sentences.append((start, len(self.text)))

    def _mention(self, word: str, person: str) -> None:
        place = len(self.text)
        head = place + len(word) - len(word.split()[-1])
        entity = self.entities.setdefault(person, len(self.entities))
        end = place + len(word)
        self.mentions.append(Mention(place, end, head, end, entity, len(self.sentences), True))


def stories(rng: random.Random, name: str, documents: int, wrong: float = 0.0) -> list[Resolved | Unresolved]:
    """Stories of two people; the last but one has no people, if there are several.

    Args:
        rng: random numbers.
        name: of the set, part of the ids.
        documents: how many.
        wrong: how often a pronoun has the other gender.
    """
    return [_story(rng, f"{name}-{n}", wrong, people=n != documents - 2) for n in range(documents)]


def _story(rng: random.Random, name: str, wrong: float, people: bool) -> Resolved:
    story = Story()
    story.say("It", "was", "a 🎉", "day")
    if people:
        genders = rng.sample(("MALE", "FEMALE"), 2)
        persons = {gender: rng.choice(PEOPLE[gender]) for gender in genders}
        for _ in range(rng.randint(2, 6)):
            gender, other = rng.sample(genders, 2)
            story.say((persons[gender], gender), "met", (persons[other], other))
            said = PRONOUNS[other if rng.random() < wrong else gender]
            story.say((said[0].capitalize(), gender), "saw", (said[2], gender), "dog with", (persons[other], other))
    return Resolved(name, story.text, tuple(story.sentences), tuple(story.mentions))


def _annotated(folder: Path) -> Annotated:
    """Stories whose mentions count as those that people have marked; the resolver reads their texts."""
    folder.mkdir(exist_ok=True)
    rng = random.Random("annotated")
    gold = [story for story in stories(rng, "annotated", 6) if isinstance(story, Resolved)]
    found, nearest = resolver_of(RESOLVER), resolver_of(Nearest(kind="nearest"))
    write_json(folder / "quality.json", summary_of(measure_resolver(found, gold), resamples=20))
    write_json(folder / "nearest.json", summary_of(measure_resolver(nearest, gold), resamples=20))
    chains = chains_of_both(gold, found, chain_options(CRITIC, RESOLVER))
    write_json(folder / "error.json", error_summary(resolver_error(*chains, folds=3), resamples=20))
    return Annotated(
        name="annotated",
        quality=folder / "quality.json",
        baseline=folder / "nearest.json",
        error=folder / "error.json",
    )


def _write(resolved: Iterable[Resolved | Unresolved], articles: Path, mentions: Path, of_a_book: int = 0) -> None:
    kept = [item for item in resolved if isinstance(item, Resolved)]
    texts = [Article(item.id, None, (Section(None, item.text),), "made up") for item in kept]
    write_articles(articles, [replace(text, group="a book") for text in texts[:of_a_book]] + texts[of_a_book:])
    write_mentions(mentions, resolved)


def _sample(folder: Path, rng: random.Random, real: RealText, generator: str, seed: int, documents: int) -> Sample:
    place = folder / generator / f"seed{seed}"
    place.mkdir(parents=True)
    label, wrong = GENERATORS.get(generator, ("untrained model", 1.0))
    kept = 0 if generator == BROKEN else documents
    drawn = stories(rng, f"{generator}-{seed}", kept, wrong)
    unread = [Unresolved(f"{generator}-x{n}", "malformed") for n in range(UNREAD + documents - kept)]
    paths: dict[str, Any] = {name: place / f"{name}.parquet" for name in ("articles", "mentions", "scores")}
    _write([*drawn, *unread], paths["articles"], paths["mentions"])
    write_json(place / "counts.json", {"drawn": len(drawn) + len(unread), "kept": len(drawn)})
    score_file(paths["mentions"], paths["articles"], real.critic, paths["scores"], chain_options(CRITIC, RESOLVER))
    vary_mentions(folder / "train.parquet", paths["mentions"], place / "variants.parquet", CRITIC, RESOLVER)
    return Sample(
        corpus=real.corpus,
        setting="wo-title",
        generator=generator,
        decoding="demo",
        seed=seed,
        label=label,
        from_file=False,
        counts=place / "counts.json",
        variants=place / "variants.parquet",
        **paths,
    )
