"""`textcritic.criticise`: samples against real documents, by the critic that goes with what the documents are."""

import os
from collections.abc import Iterator, Mapping, Sequence, Set, Sized
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, TypedDict, Unpack

import numpy as np

from textcritic.api.arguments import from_zero, share, whole
from textcritic.api.documents import Documents, Given, Kind, documents_of
from textcritic.api.results import REAL, Result
from textcritic.errors import TextcriticError, suggestion
from textcritic.files import write_text

HELD_OUT = 0.2  # of the reference, as of the corpora entry `my-articles`
NUM_TOPICS = 20
SPLIT = ("output", "test", "held_out", "resamples", "seed")
OF_KIND: Mapping[Kind, tuple[str, ...]] = {
    "chains": (*SPLIT, "smoothing", "as_released"),
    "mentions": (*SPLIT, "order", "discount", "gender"),
    "texts": (*SPLIT, "num_topics", "iterations", "tolerance", "stop_words", "minimum_count", "workers"),
    "articles": (
        "output",
        "titles",
        "minimum_title_count",
        "minimum_sections",
        "cores",
        "model",
        "fine_tune",
        "articles",
        "max_tokens",
    ),
}


class Keywords(TypedDict, total=False):
    """Options of `criticise`; which of them go with what the documents are is in `OF_KIND`.

    Attributes:
        output: of articles: the folder for configuration and results; None: a temporary one, which lives as long as
            the result. Of anything else: a folder for report.html and table.csv; None: neither is written.
        test: not of articles: real documents that are the yardstick; the critic is then fitted on all of the
            reference. None: a share of the reference, drawn at random.
        held_out: that share; 0.2 by default.
        resamples: of bootstrap and permutation tests; 10,000 by default.
        seed: of all that is drawn; 1 by default.
        smoothing, as_released: of chains, see `chains`.
        order, discount, gender: of chains of mentions, see `coreference`.
        num_topics, iterations, tolerance, stop_words, minimum_count, workers: of texts, see `topics`; 20 topics by
            default.
        titles, minimum_title_count, minimum_sections, cores, fine_tune, articles, max_tokens: of articles, see
            `api.articles.Options`.
        model: of articles: a causal language model that samples are drawn from, or several: a folder, or a name on the
            hub, `OWNER/NAME` or `OWNER/NAME@COMMIT`.
    """

    output: str | os.PathLike[str] | None
    test: Given
    held_out: float
    resamples: int
    seed: int
    smoothing: float | None
    as_released: bool
    order: int
    discount: Literal["kneser-ney", "as_released", "modified"]
    gender: bool
    num_topics: int
    iterations: int
    tolerance: float
    stop_words: str | None
    minimum_count: int | None
    workers: int | None
    titles: Literal["given", "inferred"] | None
    minimum_title_count: int | None
    minimum_sections: int | None
    cores: int | None
    model: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None
    fine_tune: float | None
    articles: int | None
    max_tokens: int | None


def criticise(reference: Given, samples: Given = (), **options: Unpack[Keywords]) -> Result:
    """Compare samples with real documents, by a critic that has learnt from real ones alone.

    What the documents are decides how, and what the first one of the reference is decides what they are:

    - chains (lists of titles): a transition critic, in this process; the Latent PPL of each source.
    - chains of mentions (dicts with `mentions`): an n-gram critic, in this process; the Latent PPL of each source.
    - articles (dicts with `sections`): the coherence workflow, as the command `textcritic criticise` runs it.
    - texts (strings): a correlated topic model, in this process; the Latent NLL of each source, and how far the
      covariances of its topics are from real text's.

    Every value has a 95% interval by document bootstrap, and every sample the p-value of a permutation test against
    real documents that the critic was not fitted on.

    Args:
        reference: real documents: a list, a data frame, a `datasets.Dataset`, or the path of a file.
        samples: what a model wrote, in any of these forms; a dict of them by label; or a list of `Path`s. May be
            left out with the option `model`.
        options: see `Keywords`.

    Raises:
        TextcriticError: bad input, in one line that names the argument and the item.
    """
    real = documents_of(reference, "reference")
    given: dict[str, Any] = {key: value for key, value in options.items() if value is not None}
    _check_options(given, real)
    no_samples = isinstance(samples, Sized) and not len(samples) and "model" in given
    compared = {} if no_samples else dict(_samples(samples, real.kind))
    output = given.pop("output", None)
    if real.kind == "articles":
        from textcritic.api.articles.result import criticise_articles

        return criticise_articles(real, compared, output, _models(given))
    result = {"chains": _chains, "mentions": _mentions, "texts": _texts}[real.kind](real, compared, given)
    return result if output is None else _written(result, Path(output).expanduser().absolute())


def _models(given: dict[str, Any]) -> dict[str, Any]:
    """The options with the models as a tuple of strings, and their numbers checked."""
    model = given.pop("model", ())
    models = [model] if isinstance(model, str | os.PathLike) else model
    for name in ("fine_tune", "articles", "max_tokens"):
        if name in given:
            from_zero(given[name], name) if name == "fine_tune" else whole(given[name], name, 1)
            if not models:
                raise TextcriticError(f"{name}: is about models; name one with `model`")
    return given | {"models": tuple(map(os.fspath, models))}


def _check_options(given: Mapping[str, Any], real: Documents) -> None:
    known = [*dict.fromkeys(name for names in OF_KIND.values() for name in names)]
    for name in given:
        if name not in known:
            raise TypeError(f"criticise() has no option {name!r}; {suggestion(name, known, ', '.join(known))}")
        if name not in OF_KIND[real.kind]:
            kinds = " and ".join(kind for kind, names in OF_KIND.items() if name in names)
            raise TextcriticError(f"{name}: is for {kinds}; {real.name} holds {real.kind}")


def _samples(samples: Given, kind: Kind) -> Iterator[tuple[str, Documents]]:
    """Each sample with its label."""
    for label, name, sample in labelled(samples):
        is_file = isinstance(sample, str | os.PathLike)  # lines of a file say themselves what is wrong with them
        documents = documents_of(sample, name, kind if is_file else None)
        if documents.kind != kind:
            raise TextcriticError(f"{name}: holds {documents.kind}, while the reference holds {kind}")
        yield label, documents


def labelled(samples: Given) -> Iterator[tuple[str, str, Given]]:
    """Label, name for errors, and documents of each sample.

    Raises:
        TextcriticError: there is none, or a bad label.
    """
    for label, name, sample in _labelled(samples):
        if not isinstance(label, str) or not label:
            raise TextcriticError(f"{name}: the label of a sample is a string that is not empty")
        if label == REAL:
            raise TextcriticError(f"{name}: {REAL!r} is what the reference is called; choose another label")
        yield label, name, sample


def _labelled(samples: Given) -> Iterator[tuple[Any, str, Given]]:
    """Label, name for errors, and documents of each sample."""
    from textcritic.api.articles.configure import labels_of

    if isinstance(samples, Mapping):
        if not samples:
            raise TextcriticError("samples: there is none; give {label: documents}")
        yield from ((label, f"samples[{label!r}]", sample) for label, sample in samples.items())
        return
    paths = [samples] if isinstance(samples, str | os.PathLike) else samples
    if isinstance(paths, Sequence) and paths and (paths[0] is samples or _are_paths(paths)):
        whole_paths = [Path(path).expanduser().absolute() for path in paths]
        yield from zip(labels_of(whole_paths), ["samples"] * len(paths), paths, strict=True)
        return
    yield "samples", "samples", samples


def _are_paths(items: Sequence[Any]) -> bool:
    return all(isinstance(item, os.PathLike) for item in items)


def _chains(real: Documents, samples: Mapping[str, Documents], given: dict[str, Any]) -> Result:
    from textcritic.api.chains import ChainOptions, criticise_chains

    test, held_out = given.pop("test", None), given.pop("held_out", None)
    options = ChainOptions(**given)
    chains = real.chains()
    if test is not None:
        train, tested, words = chains, documents_of(test, "test", "chains").chains(), _given_words(held_out)
    else:
        kept = held_out_of(len(chains), held_out, options.seed)
        train = [chain for number, chain in enumerate(chains) if number not in kept]
        tested = [chain for number, chain in enumerate(chains) if number in kept]
        words = _split_words(len(train), len(tested), options.seed)
    drawn = {label: documents.chains() for label, documents in samples.items()}
    return criticise_chains(train, tested, drawn, options, ("Real text", words))


def _mentions(real: Documents, samples: Mapping[str, Documents], given: dict[str, Any]) -> Result:
    from textcritic.api.coreference import CoreferenceOptions, criticise_mentions, mentions_of

    test, held_out = given.pop("test", None), given.pop("held_out", None)
    options = CoreferenceOptions(**given)
    chains = mentions_of(real, options)
    if test is not None:
        tested = mentions_of(documents_of(test, "test", "mentions"), options)
        train, words = chains, _given_words(held_out)
    else:
        kept = np.zeros(len(chains.lengths), dtype=bool)
        kept[list(held_out_of(len(kept), held_out, options.seed))] = True
        train, tested = chains.some(~kept), chains.some(kept)
        words = _split_words(len(train.lengths), len(tested.lengths), options.seed)
    drawn = {label: mentions_of(documents, options) for label, documents in samples.items()}
    return criticise_mentions(train, tested, drawn, options, ("Real text", words))


def _texts(real: Documents, samples: Mapping[str, Documents], given: dict[str, Any]) -> Result:
    from textcritic.api.topic_options import TopicOptions
    from textcritic.api.topics import criticise_topics

    test, held_out = given.pop("test", None), given.pop("held_out", None)
    options = TopicOptions(**{"num_topics": NUM_TOPICS, **given})

    def part(held: Set[int], inside: bool) -> Iterator[list[str]]:
        return (text for number, text in enumerate(real.tokens()) if (number in held) is inside)

    if test is not None:
        train, tested, words = real.tokens, documents_of(test, "test", "texts").tokens, _given_words(held_out)
    else:
        number = sum(1 for _ in real.tokens())
        kept = held_out_of(number, held_out, options.seed)
        train, tested = (lambda: part(kept, False)), (lambda: part(kept, True))
        words = _split_words(number - len(kept), len(kept), options.seed)
    drawn = {label: documents.tokens for label, documents in samples.items()}
    return criticise_topics(train, tested, drawn, options, ("Real text", words))


def _written(result: Result, folder: Path) -> Result:
    write_text(folder / "table.csv", result.table.to_csv(index=False, lineterminator="\n"))
    return replace(result, page=result.report(folder / "report.html"))


def held_out_of(documents: int, asked: float | None, seed: int) -> set[int]:
    """The documents that are held out, drawn at random: at least one, and not all."""
    part = HELD_OUT if asked is None else share(asked, "held_out")
    if documents < 2:
        raise TextcriticError(
            f"reference: {documents} documents; one part is fitted on and another is the yardstick, so give two or more"
        )
    number = min(documents - 1, max(1, round(part * documents)))
    whole(seed, "seed", 0)
    return set(np.random.default_rng(seed).permutation(documents)[:number].tolist())


def _given_words(held_out: float | None) -> str:
    if held_out is not None:
        raise TextcriticError("held_out: with `test`, nothing of the reference is held out; give one of the two")
    return "the critic is fitted on all of the reference; `test` is the yardstick"


def _split_words(train: int, test: int, seed: int) -> str:
    return f"parted at random (seed {seed}): the critic is fitted on {train:,}, and {test:,} are the yardstick"
