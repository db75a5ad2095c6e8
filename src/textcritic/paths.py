"""Which files a rule needs: the input functions of the workflow, read off the registries."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from textcritic.corpora import given_paths
from textcritic.errors import TextcriticError
from textcritic.project import WITHOUT_EFFECT, Project, Source
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


class StudyFiles:
    """The artefacts of one study, as the report reads them (see `textcritic.report.inputs`).

    `SHEETS` are the tables that are made for reading too, as LaTeX and HTML; `TABLES` are all of them. `SYNTHETIC` are
    those of a study's synthetic processes, for reading too; they need nothing that the others do.
    """

    SHEETS = (
        *("coherence", "perplexity", "decomposition", "transition-errors", "repetition-rates", "repetitions"),
        *("statistics", "audit"),
    )
    TABLES = (*SHEETS, "titles")
    SYNTHETIC = ("table1", "table1-audit")

    def __init__(self, paths: Paths, study: str) -> None:
        self.paths, self.project, self.name = paths, paths.project, study
        self.study = self.project.studies[study]
        self.critic = self.study["critic"]
        self.classifier = self.project.entry("critics", self.critic)["classifier"]

    def description(self) -> dict[str, Any]:
        """The study in words and paths: what `textcritic.report.read_study` takes."""
        return self.coherence() | self.synthetic() | {"tables": self.study["tables"]}

    def coherence(self) -> dict[str, Any]:
        """The study without its synthetic processes."""
        sources, audit_sources = (self.project.sources(self.name, audit) for audit in (False, True))
        return {
            **self._head(),
            "report_articles": self.project.config["report_articles"],
            "title": self.study["title"],
            "summary": self.study["summary"],
            "corpora": [self._corpus(corpus) for corpus in self.project.corpora(self.name)],
            "sources": [self._source(source) for source in sources],
            "audit_sources": [self._source(source) for source in audit_sources],
            "decodings": self._decodings([*sources, *audit_sources]),
            "synthetic": None,
        }

    def synthetic(self) -> dict[str, Any]:
        """The study's synthetic processes alone, under the key `synthetic`; None where it has none."""
        block = self.study["synthetic"]
        if block is None:
            return {**self._head(), "synthetic": None}
        sources = self.project.synthetic_sources(self.name)
        corpora = self.project.processes(self.name)
        found = {
            "corpora": [self._process(corpus, block["critic"]) for corpus in corpora],
            "sources": [self._sequences(source, block["critic"]) for source in sources],
            "decodings": self._decodings(sources),
        }
        return {**self._head(), "synthetic": found}

    def part(self, name: str) -> dict[str, Any]:
        """The study cut down to what one of its `tables` or `figures` is made of, and that table under the key `part`.

        Raises:
            TextcriticError: the study has none of that name.
        """
        part = next((p for p in (*self.study["tables"], *self.study["figures"]) if p["name"] == name), None)
        if part is None:
            raise TextcriticError(f"study {self.name}: tables and figures: there is no {name!r}")
        corpora = [self._corpus(corpus) for corpus in part["corpora"]]
        if part.get("kind") == "statistics":
            corpora = [{key: corpus[key] for key in ("corpus", "statistics")} for corpus in corpora]
        sources = [source for source in self.project.sources(self.name) if source.corpus in part["corpora"]]
        chosen = [source for generator in part["generators"] for source in sources if source.generator == generator]
        head = {**self._head(), "title": self.study["title"], "part": part}
        files = {"sources": [self._source(source) for source in chosen], "decodings": self._decodings(chosen)}
        return {**head, "corpora": corpora, **files, "synthetic": None}

    def part_inputs(self, name: str) -> list[str]:
        """Every file that one of the study's `tables` or `figures` is made of."""
        part = self.part(name)
        return _artefacts(part["corpora"] + part["sources"])

    def part_tables(self) -> list[str]:
        """The study's `tables` in every format; none where it has none."""
        return self._tables(table["name"] for table in self.study["tables"])

    def part_figures(self) -> list[str]:
        """The folders of the study's `figures`; none where it has none."""
        return [f"results/studies/{self.name}/{figure['name']}" for figure in self.study["figures"]]

    def published(self) -> str | list[str]:
        """The file of published values; none where the study names none."""
        name = self.study["published"]
        if name is None:
            return []
        path = self.project.root / "config" / "published" / f"{name}.csv"
        return str(path.relative_to(self.project.here) if path.is_relative_to(self.project.here) else path)

    def inputs(self) -> list[str]:
        """Every file that the figures and the report of the study read."""
        return list(dict.fromkeys([*self.coherence_inputs(), *self.synthetic_inputs()]))

    def coherence_inputs(self) -> list[str]:
        """Those of them that have nothing to do with synthetic processes."""
        description = self.coherence()
        return _artefacts(description["corpora"] + description["sources"] + description["audit_sources"])

    def synthetic_inputs(self) -> list[str]:
        """Those of the study's synthetic processes; none where it has none."""
        found = self.synthetic()["synthetic"]
        return [] if found is None else _artefacts(found["corpora"] + found["sources"])

    def synthetic_tables(self) -> list[str]:
        """The tables of the study's synthetic processes in every format; none where it has none."""
        return self._tables(self.SYNTHETIC) if self.study["synthetic"] is not None else []

    def synthetic_figures(self) -> list[str]:
        """The folder of their figures; none where the study has no synthetic process."""
        return [] if self.study["synthetic"] is None else [f"results/studies/{self.name}/synthetic-figures"]

    def _tables(self, names: Iterable[str]) -> list[str]:
        formats = ("csv", "tex", "html")
        return [f"results/studies/{self.name}/tables/{name}.{suffix}" for name in names for suffix in formats]

    def _head(self) -> dict[str, Any]:
        return {"name": self.name, "resamples": self.project.config["resamples"]}

    def _corpus(self, corpus: str) -> dict[str, Any]:
        scores = f"results/scores/{self.critic}/{corpus}/data"
        return {
            "corpus": corpus,
            "critic": f"results/critics/{self.critic}/{corpus}/critic.json",
            "statistics": f"results/corpora/{corpus}/statistics.json",
            "accuracy": self.paths.accuracy(self.critic, corpus),
            "gold": f"{scores}/test-gold.parquet",
            "inferred": f"{scores}/test-inferred.parquet",
            "validation": f"results/corpora/{corpus}/validation.parquet",
            "articles": f"results/corpora/{corpus}/test.parquet",
            "latents": self.paths.latents(self.critic, corpus, "data/test"),
        }

    def _decodings(self, sources: Iterable[Source]) -> dict[str, dict[str, Any]]:
        found = {source.decoding: self.project.entry("decodings", source.decoding) for source in sources}
        return {name: {k: v for k, v in entry.items() if k not in WITHOUT_EFFECT} for name, entry in found.items()}

    def _source(self, source: Source) -> dict[str, Any]:
        sample = source.under(f"results/samples/{source.corpus}")
        perplexity = next(iter(self.paths.perplexity(source)), None)
        return {
            **{key: getattr(source, key) for key in ("corpus", "setting", "generator", "decoding", "seed")},
            "label": self.project.entry("generators", source.generator).get("label", source.generator),
            "scores": source.under(f"results/scores/{self.critic}/{source.corpus}/samples") + ".parquet",
            "latents": source.under(f"results/latents/{self.classifier}/{source.corpus}/samples") + ".parquet",
            "articles": f"{sample}.parquet",
            "counts": f"{sample}.json",
            "perplexity": perplexity,
            "training": perplexity and perplexity.replace("perplexity.json", "training.json"),
        }

    def _process(self, corpus: str, critic: str) -> dict[str, Any]:
        return {
            "corpus": corpus,
            "process": f"results/corpora/{corpus}/process.npz",
            "statistics": f"results/corpora/{corpus}/statistics.json",
            "scores": f"results/scores/{critic}/{corpus}/data/test.parquet",
            "articles": f"results/corpora/{corpus}/test.parquet",
        }

    def _sequences(self, source: Source, critic: str) -> dict[str, Any]:
        whole = self._source(source)
        sample = whole["articles"].removesuffix(".parquet")
        return {
            **{key: value for key, value in whole.items() if key != "latents"},
            "scores": source.under(f"results/scores/{critic}/{source.corpus}/samples") + ".parquet",
            "rejected": f"{sample}.rejected.parquet",
        }


def _artefacts(entries: Iterable[Mapping[str, Any]]) -> list[str]:
    """The files that the entries of a description name, each once."""
    return list(dict.fromkeys(str(v) for entry in entries for v in entry.values() if str(v).startswith("results/")))
