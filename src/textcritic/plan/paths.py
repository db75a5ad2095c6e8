"""Which files a rule needs: the input functions of the workflow, read off the registries."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from textcritic.errors import TextcriticError
from textcritic.options.corpora import given_paths
from textcritic.options.vocabulary import STOP_LISTS
from textcritic.project import Project, Source
from textcritic.runlog import versions
from textcritic.studies import PROCESS

# Packages whose names on the package index differ from those they are imported by.
DISTRIBUTIONS = {"sklearn": "scikit-learn"}


class Paths:
    """Input functions over a project; `w` is Snakemake's wildcards, or anything with the same attributes.

    Where a rule may need a file or not, the function returns its path, or an empty list: Snakemake's word for none.
    """

    def __init__(self, project: Project) -> None:
        self.project = project

    def corpus(self, corpus: str) -> list[str]:
        """The files that a corpus is extracted from; none for one that is made from installed packages."""
        return [str(path) for _, path in given_paths(self.project.entry("corpora", corpus)["options"])]

    def corpus_packages(self, corpus: str) -> dict[str, str]:
        """Versions of the packages whose docstrings make a corpus, so that an upgrade rebuilds it."""
        entry = self.project.entry("corpora", corpus)
        if entry["extractor"] != "docstrings":
            return {}
        return versions(*(DISTRIBUTIONS.get(package, package) for package in entry["options"]["packages"]))

    def length_tokenizer(self, corpus: str) -> str | list[str]:
        """The hub folder whose tokenizer measures a corpus' sections; none where length is counted in words."""
        unit = self.project.entry("corpora", corpus)["sections"]["length_unit"]
        return [] if unit == "words" else hub_folder(unit)

    def pretrained(self, kind: str, name: str) -> str | list[str]:
        """The folder that an encoding, a generator or a classifier starts from; none where it starts from nothing."""
        entry = self.project.entry(kind, name)
        init: Mapping[str, Any] = entry["tokenizer" if kind == "encodings" else "init"]
        if "hub" in init:
            return hub_folder(init["hub"])
        return str(init["folder"]) if "folder" in init else []

    def tokenizer(self, w: Any) -> str:
        """The tokenizer of a generator on a corpus."""
        return f"results/encodings/{w.corpus}/{self.project.entry('generators', w.generator)['encoding']}/tokenizer"

    def token_streams(self, w: Any, splits: Iterable[str]) -> list[str]:
        """Token streams of a generator's corpus and setting: for each split its tokens, then their kinds."""
        encoding = self.project.entry("generators", w.generator)["encoding"]
        prefix = f"results/encodings/{w.corpus}/{encoding}/{w.setting}"
        return [f"{prefix}/{split}.{part}.npy" for split in splits for part in ("tokens", "kinds")]

    def classifier_tokenizer(self, w: Any) -> str | list[str]:
        """The tokenizer of a classifier that is initialised from a configuration; others bring their own."""
        entry = self.project.entry("classifiers", w.classifier)
        return f"results/encodings/{w.corpus}/{entry['encoding']}/tokenizer" if "config" in entry["init"] else []

    def perplexity_windows(self, generator: str) -> str:
        """How the test split is cut for a generator's perplexity: the released code's way goes with its boundary."""
        blocks: str = self.project.entry("generators", generator)["training"]["blocks"]
        return "as_released" if self.boundary(generator) == "as_released" else blocks

    def boundary(self, generator: str) -> str:
        """What stands between two articles in a generator's token stream."""
        encoding = self.project.entry("generators", generator)["encoding"]
        boundary: str = self.project.entry("encodings", encoding)["boundary"]
        return boundary

    def shards(self, prefix: str, decoding: str) -> list[str]:
        """The shards of a sample."""
        return [f"{prefix}/shard{n}.parquet" for n in range(self.project.entry("decodings", decoding)["shards"])]

    def steps(self, corpus: str) -> int:
        """Sub-sequences in a sequence of a known process.

        Raises:
            TextcriticError: the corpus is text, whose options for processes mean nothing.
        """
        entry = self.project.entry("corpora", corpus)
        if entry["extractor"] != PROCESS:
            raise TextcriticError(
                f"config/registry/corpora.yaml: {corpus}: has the extractor {entry['extractor']}; only those with the"
                f" extractor {PROCESS} have sub-sequences"
            )
        steps: int = entry["options"]["process"]["steps"]
        return steps

    def latents(self, critic: str, corpus: str, tail: str) -> str:
        """The section posteriors that a critic reads."""
        return f"results/latents/{self.project.entry('critics', critic)['classifier']}/{corpus}/{tail}.parquet"

    def stop_words(self, critic: str) -> list[str]:
        """The file of stop words that a topic model's vocabulary names, if it names one."""
        words: str = self.project.entry("critics", critic)["vocabulary"]["stop_words"]
        return [] if words in STOP_LISTS else [words]

    def accuracy(self, critic: str, corpus: str) -> str | None:
        """How well a critic's classifier does on a corpus; None where titles are given."""
        classifier = self.project.entry("critics", critic)["classifier"]
        given = self.project.entry("classifiers", classifier)["kind"] == "given"
        return None if given else f"results/classifiers/{corpus}/{classifier}/accuracy.json"

    def perplexity(self, source: Source) -> list[str]:
        """The perplexity of a source's generator; none for samples from a file."""
        if self.project.entry("generators", source.generator)["kind"] == "file":
            return []
        return [
            f"results/generators/{source.corpus}/{source.setting}/{source.generator}/seed{source.seed}/perplexity.json"
        ]


def hub_folder(name: str) -> str:
    """Where the files of a hub entry lie."""
    return str(Path("results/raw/hub") / name)
