"""The artefacts of one study: which files its tables, figures and report are made of, read off the registries."""

from collections.abc import Iterable, Mapping
from typing import Any

from textcritic.errors import TextcriticError
from textcritic.paths import Paths
from textcritic.project import WITHOUT_EFFECT, Source
from textcritic.studies import OF_TOPICS, label_of


class StudyFiles:
    """The artefacts of one study, as the report reads them (see `textcritic.report.inputs`).

    `SHEETS` are the tables that are made for reading too, as LaTeX and HTML; `TABLES` are all of them. `SYNTHETIC` are
    those of a study's synthetic processes and `TOPICS` those of its topics, for reading too; neither needs anything
    that the others do.
    """

    SHEETS = (
        *("coherence", "perplexity", "decomposition", "transition-errors", "repetition-rates", "repetitions"),
        *("statistics", "audit"),
    )
    TABLES = (*SHEETS, "titles")
    SYNTHETIC = ("table1", "table1-audit")
    TOPICS = ("topics", "topic-words", "topic-outliers")

    def __init__(self, paths: Paths, study: str) -> None:
        self.paths, self.project, self.name = paths, paths.project, study
        self.study = self.project.studies[study]
        self.critic = self.study["critic"]
        self.classifier = self.project.entry("critics", self.critic)["classifier"]

    def description(self) -> dict[str, Any]:
        """The study in words and paths: what `textcritic.report.read_study` takes."""
        return self.coherence() | self.synthetic() | self.topics() | {"tables": self.study["tables"]}

    def coherence(self) -> dict[str, Any]:
        """The study without its synthetic processes and its topics."""
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

    def topics(self) -> dict[str, Any]:
        """The study's topics alone, under the key `topics`; None where it has none."""
        return self._topics(self.project.topic_sources(self.name), self.project.topic_corpora(self.name))

    def part(self, name: str) -> dict[str, Any]:
        """The study cut down to what one of its `tables` or `figures` is made of, and that table under the key `part`.

        Raises:
            TextcriticError: the study has none of that name.
        """
        part = next((p for p in (*self.study["tables"], *self.study["figures"]) if p["name"] == name), None)
        if part is None:
            raise TextcriticError(f"study {self.name}: tables and figures: there is no {name!r}")
        of_topics = part["kind"] in OF_TOPICS
        compared = self.project.topic_sources(self.name) if of_topics else self.project.sources(self.name)
        sources = [source for source in compared if source.corpus in part["corpora"]]
        chosen = [source for generator in part["generators"] for source in sources if source.generator == generator]
        head = {**self._head(), "title": self.study["title"], "part": part}
        if of_topics:
            return head | self._topics(chosen, part["corpora"])
        corpora = [self._corpus(corpus) for corpus in part["corpora"]]
        if part["kind"] == "statistics":
            corpora = [{key: corpus[key] for key in ("corpus", "statistics")} for corpus in corpora]
        files = {"sources": [self._source(source) for source in chosen], "decodings": self._decodings(chosen)}
        return {**head, "corpora": corpora, **files, "synthetic": None}

    def part_inputs(self, name: str) -> list[str]:
        """Every file that one of the study's `tables` or `figures` is made of."""
        part = self.part(name)
        made_of = part.get("topics", part)
        return _artefacts(made_of["corpora"] + made_of["sources"])

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
        return list(dict.fromkeys([*self.coherence_inputs(), *self.synthetic_inputs(), *self.topic_inputs()]))

    def coherence_inputs(self) -> list[str]:
        """Those of them that have nothing to do with synthetic processes or topics."""
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

    def topic_inputs(self) -> list[str]:
        """Those of the study's topics; none where it has none."""
        found = self.topics()["topics"]
        return [] if found is None else _artefacts(found["corpora"] + found["sources"])

    def topic_tables(self) -> list[str]:
        """The tables of the study's topics in every format; none where it has none."""
        return self._tables(self.TOPICS) if self.study["topics"] is not None else []

    def topic_figures(self) -> list[str]:
        """The folder of their figures; none where the study has no topics."""
        return [] if self.study["topics"] is None else [f"results/studies/{self.name}/topic-figures"]

    def _topics(self, sources: Iterable[Source], corpora: Iterable[str]) -> dict[str, Any]:
        block = self.study["topics"]
        if block is None:
            return {**self._head(), "topics": None}
        found = {
            "corpora": [self._topic_corpus(corpus, block["critic"]) for corpus in corpora],
            "sources": [self._topic_source(source, block["critic"]) for source in sources],
            "decodings": self._decodings(sources),
        }
        return {**self._head(), "topics": found}

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
            "label": label_of(source.generator, self.project.entry),
            "scores": source.under(f"results/scores/{self.critic}/{source.corpus}/samples") + ".parquet",
            "latents": source.under(f"results/latents/{self.classifier}/{source.corpus}/samples") + ".parquet",
            "articles": f"{sample}.parquet",
            "counts": f"{sample}.json",
            "perplexity": perplexity,
            "training": perplexity and perplexity.replace("perplexity.json", "training.json"),
            "from_file": self.project.entry("generators", source.generator)["kind"] == "file",
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

    def _topic_corpus(self, corpus: str, critic: str) -> dict[str, Any]:
        fitted = f"results/critics/{critic}/{corpus}"
        return {
            "corpus": corpus,
            "critic": f"{fitted}/critic.npz",
            "vocabulary": f"{fitted}/vocabulary.parquet",
            "vocabulary_counts": f"{fitted}/vocabulary.json",
            "training": f"{fitted}/training.json",
            "posteriors": f"results/topics/{critic}/{corpus}/data/test.parquet",
            "scores": f"results/scores/{critic}/{corpus}/data/test.parquet",
            "articles": f"results/corpora/{corpus}/test.parquet",
        }

    def _topic_source(self, source: Source, critic: str) -> dict[str, Any]:
        left_out = ("latents", "perplexity", "training")
        return {
            **{key: value for key, value in self._source(source).items() if key not in left_out},
            "baseline": bool(self.project.entry("generators", source.generator).get("shuffled")),
            "scores": source.under(f"results/scores/{critic}/{source.corpus}/samples") + ".parquet",
            "posteriors": source.under(f"results/topics/{critic}/{source.corpus}/samples") + ".parquet",
        }


def _artefacts(entries: Iterable[Mapping[str, Any]]) -> list[str]:
    """The files that the entries of a description name, each once."""
    return list(dict.fromkeys(str(v) for entry in entries for v in entry.values() if str(v).startswith("results/")))
