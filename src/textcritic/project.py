"""The workflow's configuration as one object: registries, studies, and the sources that a study compares."""

import difflib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from textcritic.errors import TextcriticError
from textcritic.files import read_json
from textcritic.spec import canonical, complete, load_yaml
from textcritic.studies import PROCESS, SYMBOLS, Source, check_study, sources_of

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
        self._check_references()
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
        """The study and every registry entry it uses: what the manifest records."""
        from textcritic.corpora import given_paths  # here, as in `_check_recipe`

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
        fetched = ("results/raw/unpacked/", "results/raw/downloads/")
        used["downloads"] = {path.parts[3] for path in files if str(path).startswith(fetched)}
        return {
            "name": study,
            "study": self.studies[study],
            "sources": [asdict(source) for source in sources],
            "registry": {kind: {name: self.entry(kind, name) for name in sorted(used[kind])} for kind in used},
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
        return study

    def _check_references(self) -> None:
        for name, entry in self.registry["critics"].items():
            if "classifier" in entry:
                self._refer("critics", name, "classifiers", entry["classifier"])
        for name, entry in self.registry["corpora"].items():
            if entry["sections"]["length_unit"] != "words":
                self._refer("corpora", name, "hub", entry["sections"]["length_unit"])
            if entry["extractor"] == PROCESS:
                _check_recipe(name, entry)
            self._check_derived(name, entry)
            _check_dump(name, entry)
        for name, entry in self.registry["encodings"].items():
            if "hub" in entry["tokenizer"]:
                self._refer("encodings", name, "hub", entry["tokenizer"]["hub"])
            if SYMBOLS in entry["tokenizer"] and entry["boundary"] != "single":
                raise TextcriticError(
                    f"config/registry/encodings.yaml: {name}: boundary: {entry['boundary']} is for text; with the"
                    f" tokenizer {SYMBOLS} it must be single"
                )
        for kind in ("generators", "classifiers"):
            for name, entry in self.registry[kind].items():
                if "encoding" in entry:
                    self._refer(kind, name, "encodings", entry["encoding"])
                    if kind == "classifiers" and SYMBOLS in self.entry("encodings", entry["encoding"])["tokenizer"]:
                        raise TextcriticError(
                            f"config/registry/{kind}.yaml: {name}: encoding: {entry['encoding']} is for the sequences"
                            " of a process; a classifier reads text, so name one that is for text"
                        )
                elif "config" in entry.get("init", {}):
                    raise TextcriticError(
                        f"config/registry/{kind}.yaml: {name}: the key 'encoding' is missing; it gives the tokens"
                    )
                training = entry["training"] if entry.get("kind") == "causal" else {}
                if training and (training["steps"] is None) == (training["epochs"] is None):
                    raise TextcriticError(
                        f"config/registry/{kind}.yaml: {name}: training: give steps or epochs, one of the two"
                    )
                if training and training["batch_size"] % max(1, entry["gpu"]):
                    raise TextcriticError(
                        f"config/registry/{kind}.yaml: {name}: gpu: {entry['gpu']} GPUs cannot share"
                        f" training.batch_size, {training['batch_size']} blocks, evenly; change one of the two"
                    )
                if "hub" in entry.get("init", {}):
                    self._refer(kind, name, "hub", entry["init"]["hub"])

    def _check_derived(self, name: str, entry: Mapping[str, Any]) -> None:
        from textcritic.corpora.derived import check_derived  # here, as in `_check_recipe`

        if "corpus" in entry["options"]:
            self._refer("corpora", name, "corpora", entry["options"]["corpus"])
        with _within("corpora", name):
            check_derived(name, self.registry["corpora"], PROCESS)

    def _refer(self, kind: str, name: str, other: str, target: str) -> None:
        with _within(kind, name):
            self.entry(other, target)


@contextmanager
def _within(kind: str, name: str) -> Iterator[None]:
    """Names the entry whose keys are checked in this block in the error line."""
    try:
        yield
    except TextcriticError as error:
        raise TextcriticError(f"config/registry/{kind}.yaml: {name}: {error}") from error


def _check_recipe(name: str, entry: Mapping[str, Any]) -> None:
    from textcritic.corpora import recipe_and_counts  # here, because it takes longer to import than all else

    with _within("corpora", name):
        recipe_and_counts(entry["options"])


def _check_dump(name: str, entry: Mapping[str, Any]) -> None:
    from textcritic.corpora.wikipedia_options import WIKIPEDIA, check_dump  # here, as in `_check_recipe`

    if entry["extractor"] == WIKIPEDIA:
        with _within("corpora", name):
            check_dump(entry["options"])


def _deciding(entry: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """An entry without the keys that have no effect on results."""
    return {
        key: _deciding(value, f"{prefix}{key}.") if isinstance(value, dict) else value
        for key, value in entry.items()
        if f"{prefix}{key}" not in WITHOUT_EFFECT
    }


def _check_name(name: Any, path: str) -> None:
    if not isinstance(name, str):
        raise TextcriticError(f"{path}: {name!r}: a name is text; put it into quotes")
    text = name
    if text != text.lower() or not all(part.isalnum() for part in text.split("-")):
        raise TextcriticError(f"{path}: {name!r}: a name is lower-case letters, digits and single hyphens")
