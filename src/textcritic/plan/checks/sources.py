"""Checks of the samples that an experiment compares: whether corpus, generator and decoding go together."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from textcritic.errors import TextcriticError
from textcritic.plan.checks.corpora import is_parallel, is_structured, is_text
from textcritic.plan.checks.decodings import DRAW, GIVEN, KINDS, LIKELIEST, check_architecture, translates
from textcritic.plan.checks.latent import LATENT
from textcritic.plan.entries import Causal, Decoding, Fairseq, Generator, Hsmm, Ngram, SampleFile
from textcritic.plan.entries.encodings import SUBWORDS, SYMBOLS
from textcritic.plan.registries import Registries
from textcritic.plan.sources import Source, entries_of, from_file, label_of

# What a decoding must have where articles are drawn as the model has them.
PLAIN = {"temperature": 1, "top_k": 0, "top_p": 1, "opening": 0}
FP32 = {"precision": "fp32", "float32_matmul_precision": "highest"}  # of a model that reads no other
# What a decoding must have for a model of fairseq: a text is never longer than the model's positions and begins afresh.
FAIRSEQ_IGNORES = {"stride": None, "opening": 0}
# Values of a decoding's keys that not all kinds of generators can do, and those that can.
SOME_KINDS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "stop": {GIVEN: ("hsmm", "entitynlm", "kglm", "lstm")},
    "method": KINDS,
}


def check_labels(sources: list[Source], registries: Registries, where: str) -> None:
    """See that generators differ in their labels, by which alone tables and figures tell them apart."""
    seen: dict[str, str] = {}
    for generator in dict.fromkeys(source.generator for source in sources):
        label = label_of(generator, registries)
        if label in seen:
            raise TextcriticError(
                f"{where}: the generators {seen[label]} and {generator} have the same label {label!r}; give one another"
            )
        seen[label] = generator


def check_runs(sources: list[Source], registries: Registries, where: str) -> None:
    """See that no sample is compared twice: a file has one training and one draw, and `likeliest` draws nothing.

    Raises:
        TextcriticError: the line names the generator or the decoding.
    """
    counts = Counter(replace(source, seed=1, draw=1) for source in sources if from_file(source, registries))
    if several := next((source for source, count in counts.items() if count > 1), None):
        raise TextcriticError(
            f"{where}: {several.generator} is read from a file, which is one sample: put it into a block without"
            " `seeds` and `draws`"
        )
    counts = Counter(replace(source, draw=1) for source in sources)
    for source, count in counts.items():
        if count > 1 and registries.entry("decodings", source.decoding).method == LIKELIEST:
            raise TextcriticError(
                f"{where}: {source.decoding} has `method: {LIKELIEST}`, which gives the same texts in every draw: put"
                " it into a block without `draws`"
            )


def check_file(source: Source, registries: Registries, where: str) -> None:
    """See that a file of samples that were read before is still there: Snakemake would go on with what it has of it.

    Raises:
        TextcriticError: it is not; the line names the entry and the path.
    """
    entry = registries.entry("generators", source.generator)
    if not isinstance(entry, SampleFile) or not Path(f"{source.sample}.parquet").exists():
        return
    if not Path(entry.path).exists():
        raise TextcriticError(f"{where}: {source.generator}: path: {entry.path}: no such file or folder")


def check_text(source: Source, registries: Registries, where: str) -> None:
    """See that a source is articles of text, from a generator of text, in a way that the generator can be drawn from.

    Raises:
        TextcriticError: it is not; the line names the entry that does not fit.
    """
    corpus, generator, decoding = entries_of(source, registries)
    name = f"{where}: {source.generator}"
    if is_parallel(corpus):
        raise TextcriticError(f"{where}: {source.corpus} is a parallel corpus; this experiment is for articles of text")
    if is_structured(corpus):
        raise TextcriticError(
            f"{where}: {source.corpus} is tokens with a structure behind them, for latent language models; this"
            " experiment is for articles of text"
        )
    if generator.kind in LATENT:
        raise TextcriticError(
            f"{name} is of kind {generator.kind}, a latent language model; it draws tokens with a structure behind"
            f" them, and {source.corpus} is articles of text"
        )
    if not is_text(corpus):
        raise TextcriticError(f"{where}: {source.corpus} is not text but synthetic; this experiment is for text")
    if generator.kind == "hsmm":
        raise TextcriticError(f"{name} is of kind hsmm, which is for synthetic sequences")
    other = {SYMBOLS: "synthetic sequences", SUBWORDS: "parallel corpora"}
    if isinstance(generator, Causal | Fairseq) and (reads := reads_of(generator, registries)) in other:
        raise TextcriticError(
            f"{name} has the encoding {generator.encoding}, which is for {other[reads]}; {source.corpus} is text"
        )
    if isinstance(generator, Ngram):
        check_ngram(source, generator, decoding, where)
    if isinstance(generator, Fairseq):
        check_fairseq(source, registries, where)
    check_supported(source, generator, decoding, where)


def check_fairseq(source: Source, registries: Registries, where: str) -> None:
    """See that a model of fairseq goes with the corpus, and the decoding with the model.

    Raises:
        TextcriticError: a translator on articles of text, or a language model on a parallel corpus; a decoding that
            asks for what the architecture cannot do, or has keys that have no effect on it.
    """
    corpus, generator, decoding = entries_of(source, registries)
    if not isinstance(generator, Fairseq):
        raise TextcriticError(f"{where}: {source.generator} is of kind {generator.kind}; name one of kind fairseq")
    architecture, parallel = generator.architecture, is_parallel(corpus)
    name = f"{where}: {source.generator}"
    if translates(architecture) is not parallel:
        what, needed = (
            ("translates", "a parallel corpus") if not parallel else ("is a language model", "articles of text")
        )
        raise TextcriticError(
            f"{name} has the architecture {architecture}, which {what} and needs {needed}; {source.corpus} has the"
            f" extractor {corpus.extractor}"
        )
    for key, value in FAIRSEQ_IGNORES.items():
        if getattr(decoding, key) != value:
            raise TextcriticError(f"{name} is of kind fairseq, on which {key} has no effect; {source.decoding} has it")
    try:
        check_architecture(decoding, architecture)
    except TextcriticError as error:
        raise TextcriticError(f"{name} with {source.decoding}: {error}") from error


def check_ngram(source: Source, generator: Ngram, decoding: Decoding, where: str) -> None:
    """See that a decoding goes with an n-gram model.

    Raises:
        TextcriticError: it begins with words that are given; or it is not plain drawing, and the model is a mixture of
            all orders.
    """
    name = f"{where}: {source.generator} is an n-gram model"
    if decoding.opening:
        raise TextcriticError(f"{name}, whose articles begin with no given words; {source.decoding} has an opening")
    if generator.smoothing == "interpolated":
        check_plain(source, decoding, {**PLAIN, "method": DRAW}, f"{name} with `smoothing: interpolated`")


def check_plain(source: Source, decoding: Decoding, plain: Mapping[str, object], what: str) -> None:
    """See that a decoding draws from the model as it is."""
    if any(getattr(decoding, key) != value for key, value in plain.items()):
        *keys, last = plain
        raise TextcriticError(
            f"{what}, which is drawn from as it is; {source.decoding} has a {', '.join(keys)} or {last}"
        )


def check_supported(source: Source, generator: Generator, decoding: Decoding, where: str) -> None:
    """See that a generator can do what a decoding asks for and only some kinds of generators can do."""
    for key, kinds_of in SOME_KINDS.items():
        value = getattr(decoding, key)
        kinds = kinds_of.get(value, (generator.kind,))
        if generator.kind not in kinds:
            raise TextcriticError(
                f"{where}: {source.decoding} has `{key}: {value}`, for generators of kind"
                f" {' or '.join(kinds)} alone; {source.generator} is of kind {generator.kind}"
            )


def check_critic(name: str, kind: str, registries: Registries, where: str) -> None:
    """See that a critic is of the kind that an experiment needs."""
    actual = registries.entry("critics", name).kind
    if actual != kind:
        raise TextcriticError(f"{where}: {name} is of kind {actual}; name an entry of kind {kind}")


def reads_of(generator: Causal | Fairseq | Hsmm, registries: Registries) -> str:
    """What a generator's encoding makes tokens of, see `Encoding.reads`."""
    return registries.entry("encodings", generator.encoding).reads
