"""What `criticise` decides before anything runs: which measures apply, whether titles are given, what is recorded."""

import os
import shlex
import sys
import sysconfig
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from textcritic.api.articles.configure import KINDS, Sample, Wanted, corpus_template, labels_of, recorded_commits
from textcritic.api.articles.files import Outline, outlines
from textcritic.api.articles.models import OPENING, Drawing, models_of
from textcritic.api.options import NUM_TOPICS, CriticiseOptions
from textcritic.api.own import folder_of, metrics_of
from textcritic.corpora.words import CHARACTERS, SPACES, said_of_characters, said_of_writing
from textcritic.critics.tendencies.options import NO_STOP_WORDS
from textcritic.errors import TextcriticError
from textcritic.experiments.metrics.plan import FROM_MEMORY
from textcritic.extras import lacks
from textcritic.measures.numbers import plural
from textcritic.plan.checks.critics import MOST
from textcritic.values import JsonObject

TitlesMode = Literal["given", "inferred"]
# A title is rare if it has fewer than one section in so many articles; the limit is at most that of the registry.
ARTICLES_PER_TITLE = 50
DOCUMENTS_PER_TOPIC = 10
MAX_TOKENS = 20_000  # of an article that is drawn, as in the decoding `ancestral`
# The share of a sample's articles that need a title on every section, for titles to be given; the others are left out.
MOSTLY_TITLED = 0.9
ABOUT = {
    "order": "order of sections",
    "topics": "topics",
    "mentions": "mentions of people",
    "sentences": "order of sentences",
}
LEAST_ORDERED = 20  # real documents with two sentences, for their order to be judged where nobody asks for it
TOPIC_KEYS = {
    "topics": "num_topics",
    "starts": "starts",
    "iterations": "iterations",
    "tolerance": "tolerance",
    "seed": "seed",
}
"""Keys of a topic model in the registry, and the options for them."""
RECORDED = (
    *("titles", "minimum_title_count", "minimum_sections", "held_out", "seed", "resamples", "workflow"),
    *("parts", "splits", "unpaired"),
    *("text_key", "title_key", "id_key", "keep_reasoning", "words"),
    *("num_topics", "starts", "iterations", "tolerance", "stop_words", "minimum_count", "order", "discount", "gender"),
)
"""The options that are recorded in the command line if they are not at their defaults."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """What is compared, as files of articles.

    Attributes:
        folder: for configuration and results.
        reference: real articles; critics are fitted on part of them. Without titles, their order is not judged.
        test: real articles that samples are compared with; None: a part of the reference.
        samples: files of articles to compare, the same format; titles may be left out.
        given: the files as the user gave them, by these paths, where they are others: of texts.
        texts: whether they are texts, each an article of one section, and not articles.
    """

    folder: Path
    reference: Path
    test: Path | None = None
    samples: tuple[Sample, ...] = ()
    given: Mapping[Path, str] = field(default_factory=dict)
    texts: bool = False


def checked(compared: Compared, options: CriticiseOptions) -> tuple[Wanted, int]:
    """What is compared and how, and the words of all files; see `criticise`."""
    extra = [compared.test] if compared.test else []
    real, *others = outlines(
        [compared.reference, *extra, *(s.path for s in compared.samples)], corpus_template().titles
    )
    drawn = others[len(extra) :]
    _require_text(compared, real, others)
    titled = not compared.texts and _titled(real, options)
    given = titled and _given(drawn, options)
    _warn_of_copies(real, [(sample.label, outline) for sample, outline in zip(compared.samples, drawn, strict=True)])
    words = _words(compared, real, drawn, options)
    own = {metric: folder_of(metric) for metric in metrics_of(options.metrics)}
    measures, not_measured = _measures(real, titled, options)
    wanted = Wanted(
        reference=real.path,
        test=compared.test,
        samples=compared.samples,
        given=given,
        titled=titled,
        minimum_title_count=_title_count(real, options.minimum_title_count) if titled else 1,
        minimum_sections=options.minimum_sections,
        splits=_splits(options),
        measures=measures,
        not_measured=not_measured,
        critics=_critics(real, options, words),
        resamples=options.asked().get("resamples"),
        command=shlex.join(_command(compared, options)),
        models=tuple(models_of(options.models, recorded_commits(compared.folder))),
        drawing=_drawing(real, options, titled and (given or bool(options.fine_tune))) if options.models else None,
        metrics=tuple(metric.name if place else f"{FROM_MEMORY}:{metric.key}" for metric, place in own.items()),
        metric_folders=tuple(dict.fromkeys(str(place) for place in own.values() if place)),
        crossed=_crossed(compared, real, titled and not given, options),
    )
    return wanted, sum(outline.words for outline in (real, *others))


def _crossed(compared: Compared, real: Outline, inferred: bool, options: CriticiseOptions) -> bool:
    """Whether real text is judged by cross-fitting; said on stderr.

    Raises:
        TextcriticError: an option is about it, and it is not.
    """
    split = compared.test is not None or options.held_out is not None
    workflow = options.workflow or bool(options.models) or inferred
    if split or workflow or real.articles > MOST:
        if asked := {"parts", "splits", "unpaired"} & options.asked().keys():
            why = "the workflow has one split" if workflow else "one split is asked for" if split else f"over {MOST:,}"
            raise TextcriticError(f"{min(asked)}: is about real text that is cross-fitted; {why}")
        return False
    if options.parts > real.articles and "parts" in options.asked():
        raise TextcriticError(
            f"parts: {options.parts}, and {real.path.name} has {plural(real.articles, 'document')}; give fewer"
        )
    say(
        f"{real.path.name}: all {real.articles:,} documents are judged by critics that have not seen them "
        f"({options.parts} parts, seed {options.seed}; --held-out 0.2 holds one fifth out instead)"
    )
    return True


def _require_text(compared: Compared, real: Outline, others: Sequence[Outline]) -> None:
    """Check that each file has text, and that the reference has enough documents to be split.

    Raises:
        TextcriticError: a file has no text, or the reference has too few documents.
    """
    for outline in (real, *others):
        if not outline.digests:
            name = compared.given.get(outline.path, str(outline.path))
            raise TextcriticError(f"{name}: none of its {plural(outline.articles, 'document')} has any text")
    if compared.test is None and sum(real.digests.values()) < 2:
        name = compared.given.get(real.path, str(real.path))
        raise TextcriticError(
            f"{name}: 1 document with text; one part is for fitting and the other for comparison, so give two or more"
        )


def _warn_of_copies(real: Outline, drawn: Sequence[tuple[str, Outline]]) -> None:
    for label, outline in drawn:
        if copied := outline.copies_of(real):
            say(
                f"warning: {copied:,} of {outline.articles:,} documents of {label} are copies of documents of the"
                " reference, from which critics learn: they look better than they are"
            )


def _measures(real: Outline, titled: bool, options: CriticiseOptions) -> tuple[tuple[str, ...], dict[str, str]]:
    """The measures that are wanted and apply; and those that do not, with the reason, by what they are about.

    Raises:
        TextcriticError: one was asked for that does not apply.
    """
    asked = options.chosen
    lacking: dict[str, str] = {}
    if not titled:
        lacking["order"] = "there are no sections with titles"
    for name in ("mentions", "sentences"):
        if name not in asked and not real.looks_english:
            lacking[name] = (
                f"the text does not look English; `--measures` with `{name}` in it measures them all the same"
            )
    if real.ordered < (2 if "sentences" in asked else LEAST_ORDERED):
        lacking["sentences"] = (
            f"{plural(real.ordered, 'real document has', 'real documents have')} two sentences in a section"
        )
    if missing := lacks("torch"):
        lacking["topics"] = f"this {missing}"
        if not asked:
            say(f"topics are left out: {lacking['topics']}")
    if found := next((name for name in asked if name in lacking), None):
        raise TextcriticError(f"measures: {found}: {lacking[found]}")
    chosen = tuple(name for name in asked or KINDS if name not in lacking)
    return chosen, {} if asked else {ABOUT[name]: why for name, why in lacking.items() if name != "order"}


def _splits(options: CriticiseOptions) -> JsonObject:
    """What of the reference's splits is not as in the template; validation is for models that are trained."""
    asked = {"seed": options.asked().get("seed"), "test": options.held_out}
    trains = bool(options.models) or options.titles == "inferred"
    return {key: value for key, value in asked.items() if value is not None} | ({} if trains else {"validation": 0})


def _critics(real: Outline, options: CriticiseOptions, found: str) -> dict[str, JsonObject]:
    """What of the critics is not as it ships, by kind of experiment; of few documents there are fewer topics."""
    asked = options.asked()
    most = max(2, real.articles // DOCUMENTS_PER_TOPIC)
    asked |= {"num_topics": most} if most < NUM_TOPICS and "num_topics" not in asked else {}
    cut = {} if found == SPACES else {"words": found}
    words = {key: asked[key] for key in ("stop_words", "minimum_count") if key in asked} | cut
    topics = {name: asked[key] for name, key in TOPIC_KEYS.items() if key in asked}
    mentions = {key: asked[key] for key in ("order", "discount") if key in asked}
    resampled = {key: asked[key] for key in ("resamples", "seed") if key in asked}
    changed = {
        "topics": topics | ({"vocabulary": words} if words else {}),
        "coreference": mentions | ({} if options.gender else {"chains": {"gender": "none"}}),
        "tendencies": resampled | cut | ({"stop_words": NO_STOP_WORDS} if found == CHARACTERS else {}),
        "recitation": cut,
    }
    return {kind: keys for kind, keys in changed.items() if keys}


def _words(compared: Compared, real: Outline, drawn: Sequence[Outline], options: CriticiseOptions) -> str:
    """How words are found; said on stderr where it is not at spaces, or a sample is written in another way."""
    words = options.words or real.usual_words
    if options.words is None and words != SPACES:
        say(said_of_characters(compared.given.get(real.path, str(real.path))))
    for sample, outline in zip(compared.samples, drawn, strict=False):
        if warning := said_of_writing(sample.label, outline.usual_words, real.usual_words):
            say(warning)
    return words


def _titled(real: Outline, options: CriticiseOptions) -> bool:
    """Whether articles of the reference have titles; reported on stderr where all or some have none.

    Raises:
        TextcriticError: none has, and an option is about titles.
    """
    if not real.titled:
        bare = f"{real.path}: no article has a title for every section"
        about = {"--titles": options.titles, "--minimum-title-count": options.minimum_title_count}
        if asked := [
            name for name, value in (about | {"--minimum-sections": options.minimum_sections}).items() if value
        ]:
            raise TextcriticError(
                f"{bare}, and {' and '.join(asked)} {'needs' if len(asked) == 1 else 'need'} titles; give every section"
                ' of the reference a title: {"title": ..., "text": ...}'
            )
        say(
            f"{bare}: the order of sections is not judged; with titles in the reference,"
            ' {"title": ..., "text": ...}, it is'
        )
    elif real.titled < real.articles:
        say(f"{real.path.name}: {real.articles - real.titled:,} of {real.articles:,} articles lack a title: left out")
    return bool(real.titled)


def _given(drawn: Sequence[Outline], options: CriticiseOptions) -> bool:
    """Whether titles are given. Models without fine-tuning write none, so they are inferred unless asked otherwise."""
    if options.models and not options.fine_tune and options.titles is None:
        say(
            "titles: inferred, as models that are not fine-tuned on the reference write none (--titles given asks for"
            " them)"
        )
        return False
    return _mode(drawn, options.titles) == "given"


def _drawing(real: Outline, options: CriticiseOptions, titles: bool) -> Drawing:
    """How samples are drawn from models; reported on stderr."""
    most = options.max_tokens or min(MAX_TOKENS, 2 * real.longest)
    say(f"models: {options.articles:,} articles from each, of {most:,} tokens at most; longer ones are rejected")
    if not options.fine_tune:
        say(
            f"models: as they are; each article goes on from the first {OPENING} tokens of a real one, and a blank line"
            " ends a section (--fine-tune EPOCHS trains them on the reference first)"
        )
    return Drawing(options.fine_tune, options.articles, most, titles, options.cores or os.cpu_count() or 1)


def _mode(drawn: Sequence[Outline], titles: TitlesMode | None) -> TitlesMode:
    """Whether titles are given or inferred; reported on stderr with the reason."""
    bare = [outline for outline in drawn if outline.untitled]
    lacking = ", ".join(f"{o.untitled:,} of {o.sections:,} sections of {o.path.name}" for o in bare)
    if titles == "given":
        if none := next((outline for outline in drawn if not outline.titled), None):
            raise TextcriticError(
                f"{none.path}: no article has a title for every section; --titles inferred finds them"
            )
        say("titles: given, as asked" + (f"; articles with an untitled section are rejected ({lacking})" * bool(bare)))
        return "given"
    if titles is None and not bare:
        say("titles: given, every section of the samples has one; nothing is inferred")
        return "given"
    if titles is None and all(outline.titled >= MOSTLY_TITLED * outline.articles for outline in drawn):
        say(f"titles: given; articles with an untitled section are left out ({lacking}; --titles inferred infers all)")
        return "given"
    why = "as asked" if titles else f"{lacking} have none (--titles given uses the others)"
    say(f"titles: inferred for all samples by a classifier trained on the reference; {why}")
    return "inferred"


def _title_count(real: Outline, asked: int | None) -> int:
    usual = corpus_template().sections.minimum_title_count
    count = asked or min(usual, max(2, real.articles // ARTICLES_PER_TITLE))
    why = "as asked" if asked else f"--minimum-title-count changes it; {usual} from {usual * ARTICLES_PER_TITLE} on"
    rare = f"those with a title on fewer than {count} training sections are left out"
    say(f"{real.path.name}: {real.articles:,} articles; {rare} ({why})")
    return count


def _command(compared: Compared, options: CriticiseOptions) -> list[str]:
    """The command line that makes the study again, from any folder."""
    asked = {name: value for name, value in options.asked().items() if name in RECORDED}
    if options.models:
        asked |= {name: getattr(options, name) for name in ("fine_tune", "articles", "max_tokens")}
    if options.chosen:
        asked["measures"] = ",".join(options.chosen)
    words: list[str] = []
    for name, value in asked.items():
        flag = f"--{name.replace('_', '-')}"
        words += [f"--no-{name}" if value is False else flag] if isinstance(value, bool) else []
        words += [flag, str(value)] if value is not None and not isinstance(value, bool) else []
    for model in options.models:
        local = Path(model).expanduser().absolute()
        words += ["--model", str(local) if local.is_dir() else model]
    for metric in metrics_of(options.metrics):
        module = metric.name.partition(":")[0]
        if place := folder_of(metric):
            words += ["--metric", metric.name if "." in module else f"{place / module}.py:{metric.key}"]
    if compared.test:
        words += ["--test", compared.given.get(compared.test, str(compared.test))]
    usual = dict(zip([s.path for s in compared.samples], labels_of([s.path for s in compared.samples]), strict=True))
    files = [compared.given.get(compared.reference, str(compared.reference))]
    for sample in compared.samples:
        path = compared.given.get(sample.path, str(sample.path))
        named = path if sample.label == usual[sample.path] else f"{sample.label}={path}"
        words += ["--control", named] if sample.control else []
        files += [] if sample.control else [named]
    # With `make` it is not on the PATH. `sys.executable` does not help: forked processes have it in another folder.
    script = Path(sysconfig.get_path("scripts")) / "textcritic"
    command = str(script) if script.is_file() else script.name
    return [command, "criticise", *files, "--output", str(compared.folder), *words]


def say(line: str) -> None:
    """Print a line for the user on stderr."""
    print(line, file=sys.stderr, flush=True)
