"""The workflow's configuration as one object: registries, studies, and the sources that a study compares."""

import difflib
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from textcritic.errors import TextcriticError
from textcritic.files import read_json
from textcritic.options.corpora import given_paths
from textcritic.registries import check_registries, check_stop_words, download_of
from textcritic.spec import canonical, complete, load_yaml
from textcritic.studies import Source, check_study, sources_of

__all__ = ["REGISTRIES", "WITHOUT_EFFECT", "Project", "Source"]

REGISTRIES = ("hub", "downloads", "corpora", "encodings", "generators", "decodings", "classifiers", "critics")
# Keys of an entry that change what it is called or how it runs, never what comes out.
WITHOUT_EFFECT = (
    *("label", "threads", "gpu", "mem_mb", "runtime", "batch_size"),
    *("training.checkpoint_seconds", "options.shards"),
)


class Project:
    """Everything the YAML files say, validated.

    Args:
        config: Snakemake's config (config/config.yaml and what the command line laid over it).
        root: folder of the Snakefile; relative `registry` and `studies` folders are looked up there and in `here`.
        here: the working directory.

    Raises:
        TextcriticError: the first fault found, naming file and key.
    """

    def __init__(self, config: Mapping[str, Any], root: Path, here: Path | None = None) -> None:
        self.root, self.here = root, here or Path.cwd()
        self.config = complete(dict(config), "config", "config")
        self.registry: dict[str, dict[str, Any]] = {kind: {} for kind in REGISTRIES}
        for folder in self.config["registry_folders"]:
            for kind in REGISTRIES:
                self._load_registry(kind, self._find(folder) / f"{kind}.yaml")
        check_registries(self.registry, self.entry)
        self.studies = {name: self._load_study(name) for name in self.config["studies"]}

    def entry(self, kind: str, name: str) -> dict[str, Any]:
        """A registry entry with all its defaults.

        Raises:
            TextcriticError: no such name; the line lists close ones.
        """
        entries = self.registry[kind]
        if name not in entries:
            close = difflib.get_close_matches(name, entries, 1)
            hint = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(sorted(entries)) or 'none'}"
            raise TextcriticError(f"config/registry/{kind}.yaml has no entry {name!r}; {hint}")
        found: dict[str, Any] = entries[name]
        return found

    def spec(self, kind: str, name: str, *keys: str) -> str:
        """The canonical string of what determines an entry's results, for a rule's params: no label, no resources.

        Args:
            kind: the registry.
            name: the entry.
            keys: only these top-level keys, for a rule that reads part of an entry.
        """
        entry = self.entry(kind, name)
        return canonical(_deciding({k: v for k, v in entry.items() if not keys or k in keys}), kind)

    def threads_of_fit(self, kind: str, name: str) -> int:
        """CPU threads of the job that fits an entry: two at most beside a GPU, where cores have little to do."""
        entry = self.entry(kind, name)
        threads: int = entry["threads"]
        return min(2, threads) if entry["gpu"] else threads

    def names(self, registry: str, others: bool = False, **wanted: list[Any]) -> str:
        """A regular expression that matches the names of a registry, for wildcard constraints.

        Args:
            registry: the registry.
            others: all entries but the wanted ones.
            wanted: only entries whose key has one of these values, e.g. `kind=["causal", "ngram"]`.
        """
        chosen = [
            name
            for name, entry in self.registry[registry].items()
            if all(entry.get(key) in values for key, values in wanted.items()) is not others
        ]
        return "|".join(sorted(chosen)) or "(?!)"

    def sources(self, study: str, audit: bool = False) -> list[Source]:
        """The sample sources of a study, in the order of its YAML; with `audit`, those its audit page adds."""
        return sources_of(self.studies[study], "audit_sources" if audit else "sources")

    def synthetic_sources(self, study: str) -> list[Source]:
        """The sources of sequences of known processes in a study, in the order of its YAML; none where it has none."""
        return sources_of(self.studies[study], "synthetic")

    def topic_sources(self, study: str) -> list[Source]:
        """The sources of a study whose topics are criticised, in the order of its YAML; none where it has none."""
        return sources_of(self.studies[study], "topics")

    def topic_corpora(self, study: str) -> list[str]:
        """The corpora of those, in order of appearance."""
        return list(dict.fromkeys(source.corpus for source in self.topic_sources(study)))

    def corpora(self, study: str) -> list[str]:
        """The corpora of text that a study compares, in order of appearance."""
        return list(dict.fromkeys(source.corpus for source in self.sources(study)))

    def processes(self, study: str) -> list[str]:
        """The known processes in a study, in order of appearance."""
        return list(dict.fromkeys(source.corpus for source in self.synthetic_sources(study)))

    def every_source(self, study: str) -> list[Source]:
        """All sources of a study, each once: those it compares, of its audit page, of known processes and of topics."""
        of_text = [*self.sources(study), *self.sources(study, audit=True), *self.topic_sources(study)]
        return list(dict.fromkeys([*of_text, *self.synthetic_sources(study)]))

    def with_bases(self, corpus: str) -> list[str]:
        """A corpus, and those that it derives from one after the other; the corpus alone where it derives from none."""
        base = self.entry("corpora", corpus)["options"].get("corpus")
        return [corpus] if base is None else [corpus, *self.with_bases(base)]

    def dump_shards(self, corpus: str) -> int:
        """In how many shards a dump is extracted: as its entry says, or, once it is extracted, as it was then."""
        report = self.here / f"results/corpora/{corpus}/extracted.json"
        made = read_json(report).get("shards") if report.is_file() else None
        shards: int = made or self.entry("corpora", corpus)["options"]["shards"]
        return shards

    def describe(self, study: str) -> dict[str, Any]:
        """The study and all of every registry entry it uses that decides what comes out: what the manifest records."""
        sources = self.every_source(study)
        critic = self.studies[study]["critic"]
        further = [block["critic"] for key in ("synthetic", "topics") if (block := self.studies[study][key])]
        used: dict[str, set[str]] = {
            "corpora": {name for source in sources for name in self.with_bases(source.corpus)},
            "generators": {source.generator for source in sources},
            "decodings": {source.decoding for source in sources},
            "critics": {critic, *further},
            "classifiers": {self.entry("critics", critic)["classifier"]},
        }
        trained = [self.entry(kind, name) for kind in ("generators", "classifiers") for name in used[kind]]
        used["encodings"] = {entry["encoding"] for entry in trained if "encoding" in entry}
        tokenizers = [self.entry("encodings", name)["tokenizer"] for name in used["encodings"]]
        inits = [entry["init"] for entry in trained if "init" in entry] + tokenizers
        units = {self.entry("corpora", name)["sections"]["length_unit"] for name in used["corpora"]} - {"words"}
        used["hub"] = {init["hub"] for init in inits if "hub" in init} | units
        files = [path for name in used["corpora"] for _, path in given_paths(self.entry("corpora", name)["options"])]
        vocabularies = [self.entry("critics", name).get("vocabulary", {}) for name in used["critics"]]
        files += [Path(vocabulary["stop_words"]) for vocabulary in vocabularies if vocabulary]
        used["downloads"] = {name for name in map(download_of, files) if name is not None}
        entries = {kind: {name: _deciding(self.entry(kind, name)) for name in sorted(used[kind])} for kind in used}
        return {
            "name": study,
            "study": self.studies[study],
            "sources": [asdict(source) for source in sources],
            "registry": entries,
        }

    def _find(self, folder: str) -> Path:
        for base in (self.here, self.root):
            if (base / folder).is_dir():
                return base / folder
        raise TextcriticError(f"config: there is no folder {folder!r} in {self.here} or {self.root}")

    def _load_registry(self, kind: str, path: Path) -> None:
        if not path.is_file():
            return
        entries = load_yaml(path) or {}
        if not isinstance(entries, dict):
            raise TextcriticError(f"{path}: is not a mapping of names to entries; write `name: {{...}}`")
        for name, entry in entries.items():
            _check_name(name, str(path))
            if name in self.registry[kind]:
                raise TextcriticError(f"{path}: {name}: the name is taken by another registry folder; choose another")
            self.registry[kind][name] = complete(entry, kind, f"{path}: {name}")

    def _load_study(self, name: str) -> dict[str, Any]:
        for folder in self.config["study_folders"]:
            path = self._find(folder) / f"{name}.yaml"
            if path.is_file():
                break
        else:
            known = sorted(p.stem for f in self.config["study_folders"] for p in self._find(f).glob("*.yaml"))
            raise TextcriticError(f"config: studies: there is no study {name!r}; known: {', '.join(known)}")
        _check_name(name, str(path))
        study: dict[str, Any] = complete(load_yaml(path), "study", str(path))
        published = study["published"]
        if published and not (self.root / "config/published" / f"{published}.csv").is_file():
            raise TextcriticError(f"{path}: published: there is no config/published/{published}.csv")
        check_study(study, self.entry, str(path))
        if study["topics"] is not None:
            critic = study["topics"]["critic"]
            check_stop_words(critic, self.entry("critics", critic), self.here)
        return study


def _deciding(entry: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """An entry without the keys that have no effect on results, in one order: Snakemake compares parameters as text."""
    return {
        key: _deciding(value, f"{prefix}{key}.") if isinstance(value, dict) else value
        for key, value in sorted(entry.items())
        if f"{prefix}{key}" not in WITHOUT_EFFECT
    }


def _check_name(name: Any, path: str) -> None:
    if not isinstance(name, str):
        raise TextcriticError(f"{path}: {name!r}: a name is text; put it into quotes")
    text = name
    if text != text.lower() or not all(part.isalnum() for part in text.split("-")):
        raise TextcriticError(f"{path}: {name!r}: a name is lower-case letters, digits and single hyphens")
