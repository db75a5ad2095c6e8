"""Known processes in a study: their files, and the checks before anything runs."""

from pathlib import Path

from textcritic.errors import TextcriticError
from textcritic.experiments.process.block import KnownProcessBlock
from textcritic.experiments.process.files import KnownData, ProcessFiles, Sequences
from textcritic.plan.checks.corpora import PROCESS
from textcritic.plan.checks.sources import FP32, PLAIN, check_plain, check_supported, reads_of
from textcritic.plan.entries import Corpus, Hsmm
from textcritic.plan.entries.encodings import SYMBOLS
from textcritic.plan.experiment import Experiment
from textcritic.plan.registries import Registries
from textcritic.plan.sources import Source, decodings_of, drawn, entries_of, measured, real_scores

# What a decoding must have besides `PLAIN` for an HSMM: only transformers have a context window and a precision.
PLAIN_TABLES = {**PLAIN, "stride": None, **FP32}


class KnownProcess(Experiment[KnownProcessBlock]):
    """Word-level and latent perplexity where the truth is known (model criticism paper, section 3)."""

    kind = "process"
    critic_kind = "process"
    version = 3
    tables = ("process", "parsing")

    def check_source(self, source: Source, where: str) -> None:
        """See that a source is sequences of a process, from a model that can be drawn from as it is."""
        _check_sequences(source, self.registries, where)

    def files(self, part: str | None = None) -> ProcessFiles:
        """The process, scores of its own sequences and of the samples compared."""
        corpora, sources = self.compared(part)
        return ProcessFiles(
            data=tuple(self._data(corpus) for corpus in corpora),
            samples=tuple(self._sequences(source) for source in sources),
            decodings=decodings_of(sources, self.registries),
            resamples=self.config.resamples,
        )

    def _data(self, corpus: str) -> KnownData:
        drawn_from = Path(f"results/corpora/{corpus}")
        return KnownData(
            **real_scores(corpus, self.block.critic),
            process=drawn_from / "process.npz",
            statistics=drawn_from / "statistics.json",
        )

    def _sequences(self, source: Source) -> Sequences:
        return Sequences(
            **drawn(source, self.block.critic, self.registries),
            **measured(source, self.registries),
            rejected=Path(f"{source.sample}.rejected.parquet"),
        )


def steps(corpus: str, registries: Registries) -> int:
    """Sub-sequences in a sequence of a known process.

    Raises:
        TextcriticError: the corpus is text, whose options for processes mean nothing.
    """
    entry = registries.entry("corpora", corpus)
    if entry.extractor != PROCESS:
        raise TextcriticError(
            f"{registries.where('corpora', corpus)}: has the extractor {entry.extractor}; only those with the"
            f" extractor {PROCESS} have sub-sequences"
        )
    return entry.options.process.steps


def _check_sequences(source: Source, registries: Registries, where: str) -> None:
    corpus, generator, decoding = entries_of(source, registries)
    name = f"{where}: {source.generator}"
    if corpus.extractor != PROCESS:
        raise TextcriticError(
            f"{where}: {source.corpus} has the extractor {corpus.extractor}; name a corpus with the extractor {PROCESS}"
        )
    if generator.kind not in ("causal", "hsmm"):
        raise TextcriticError(f"{name} is of kind {generator.kind}; sequences come from the kinds causal and hsmm")
    if reads_of(generator, registries) != SYMBOLS:
        raise TextcriticError(
            f"{name} has the encoding {generator.encoding}; on the process {source.corpus} it must be one whose"
            f" tokenizer is {SYMBOLS}"
        )
    if generator.kind == "hsmm":
        check_plain(source, decoding, PLAIN_TABLES, f"{name} is an HSMM")
        _check_longest(source, corpus, generator, name)
    check_supported(source, generator, decoding, where)


def _check_longest(source: Source, corpus: Corpus, generator: Hsmm, name: str) -> None:
    """An n-gram is a number of 64 bits in a lexicon, see `generators.hsmm.lexicon`."""
    symbols, longest = corpus.options.process.letters + 1, generator.longest
    if symbols**longest > 2**64:
        fits = max(n for n in range(1, 65) if symbols**n <= 2**64)
        raise TextcriticError(
            f"{name} has segments of up to {longest} tokens (longest); with the {symbols} symbols of {source.corpus}"
            f" only segments of up to {fits} fit in 64 bits"
        )
