"""The registries: named entries of YAML, what they say of one another, and what of them decides results."""

import importlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar, overload

from textcritic.errors import TextcriticError, suggestion
from textcritic.place import PLACE
from textcritic.plan import entries
from textcritic.plan.entries import Causal, Entry, Fairseq, Hsmm, Registry, kind_of
from textcritic.plan.spec import Schema, as_described, laid_over, leaves, load_yaml
from textcritic.values import JsonObject

REGISTRIES = tuple(sorted(entries.REGISTRIES))
# Keys of an entry that change what it is called or how it runs, never what comes out.
WITHOUT_EFFECT = (
    "label",
    "bring",
    "control",
    "threads",
    "gpu",
    "mem_mb",
    "runtime",
    "batch_size",
    "shards",
    "training.checkpoint_seconds",
    "options.shards",
)
LONGEST_NAME = 100
# Folders that rules/download.smk fills with files of the web, and how many parts the path of a file there has; the next
# part after the folder is an entry of the downloads registry.
FETCHED: Mapping[tuple[str, ...], int] = {("results", "raw", "downloads"): 4, ("results", "raw", "unpacked"): 5}


Chosen = TypeVar("Chosen", bound=Entry)
Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class Overlay:
    """Values laid over entries: by registry, entry and key.

    Attributes:
        where: what error lines begin with.
        values: of some keys of some entries; mappings are merged key by key, anything else takes the place of a value.
    """

    where: str
    values: Mapping[str, Any]


class Registries:
    """All entries of all registry folders, validated, with defaults.

    Args:
        folders: where {registry}.yaml files are; a name may stand in one of them only.
        here: the working directory, which relative paths in entries are relative to.
        overlays: laid over the entries one after the other.
        about: what the entries of each registry are: ours, and those of other packages.

    Raises:
        TextcriticError: the first fault found, naming file, entry and key.
    """

    def __init__(
        self,
        folders: Iterable[Path],
        here: Path,
        overlays: Iterable[Overlay] = (),
        about: Mapping[str, Registry] = entries.REGISTRIES,
    ) -> None:
        self.here, self.about = here, about
        self.entries: dict[str, dict[str, Entry]] = {registry: {} for registry in REGISTRIES}
        self._files: dict[tuple[str, str], Path] = {}
        self._plain: dict[tuple[str, str], Entry] = {}
        self._overlays: dict[tuple[str, str], str] = {}
        for folder in folders:
            for registry in REGISTRIES:
                self._load(registry, folder / f"{registry}.yaml")
        for overlay in overlays:
            self.lay_over(overlay)
        for registry, named in self.entries.items():
            for name in named:
                self._check(registry, name)

    def lacks(self, path: str) -> bool:
        """Whether a file that an entry names is not there; of files in a storage Snakemake says so when it plans."""
        return PLACE not in os.environ and not (self.here / path).is_file()

    @overload
    def entry(self, registry: Literal["corpora"], name: str) -> entries.Corpus: ...
    @overload
    def entry(self, registry: Literal["generators"], name: str) -> entries.Generator: ...
    @overload
    def entry(self, registry: Literal["critics"], name: str) -> entries.Critic: ...
    @overload
    def entry(self, registry: Literal["decodings"], name: str) -> entries.Decoding: ...
    @overload
    def entry(self, registry: Literal["encodings"], name: str) -> entries.Encoding: ...
    @overload
    def entry(self, registry: Literal["classifiers"], name: str) -> entries.Classifier: ...
    @overload
    def entry(self, registry: Literal["resolvers"], name: str) -> entries.Resolver: ...
    @overload
    def entry(self, registry: Literal["embedders"], name: str) -> entries.Embedder: ...
    @overload
    def entry(self, registry: Literal["proposals"], name: str) -> entries.Proposal: ...
    @overload
    def entry(self, registry: Literal["datasets"], name: str) -> entries.Dataset: ...
    @overload
    def entry(self, registry: Literal["downloads"], name: str) -> entries.Download: ...
    @overload
    def entry(self, registry: Literal["hub"], name: str) -> entries.HubModel: ...
    @overload
    def entry(self, registry: Literal["campaigns"], name: str) -> entries.Campaign: ...
    @overload
    def entry(self, registry: Literal["annotations"], name: str) -> entries.Annotations: ...
    @overload
    def entry(self, registry: str, name: str) -> Entry: ...
    def entry(self, registry: str, name: str) -> Entry:
        """An entry with all its defaults.

        Raises:
            TextcriticError: no such name; the line lists close ones.
        """
        known = self.entries[registry]
        if name not in known:
            hint = suggestion(name, known, f"known: {', '.join(sorted(known)) or 'none'}")
            raise TextcriticError(f"config/registry/{registry}.yaml has no entry {name!r}; {hint}")
        return known[name]

    def where(self, registry: str, name: str) -> str:
        """File and name of an entry, which an error line begins with."""
        overlay = self._overlays.get((registry, name))
        return f"{self._files[registry, name]}{f' with {overlay}' if overlay else ''}: {name}"

    def label(self, registry: str, name: str) -> str:
        """What tables call an entry: its label, or its name."""
        return str(getattr(self.entry(registry, name), "label", None) or name)

    def overlaid(self) -> dict[tuple[str, str], str]:
        """The (registry, entry) over which something is laid, and what: a file or a key of the configuration."""
        return dict(self._overlays)

    def lay_over(self, overlay: Overlay) -> None:
        """Lay values over entries; raises as the constructor. What an entry names is checked there alone."""
        for registry, named in overlay.values.items():
            if registry not in REGISTRIES:
                hint = suggestion(registry, REGISTRIES, f"known are {', '.join(REGISTRIES)}")
                raise TextcriticError(f"{overlay.where}: there is no registry {registry!r}; {hint}")
            if not isinstance(named, dict):
                raise TextcriticError(
                    f"{overlay.where}: {registry}: is not a mapping; write `{registry}: {{NAME: {{KEY: VALUE}}}}`"
                )
            for name, values in named.items():
                entry, where = (
                    _prefixed(overlay.where, self.entry, registry, name),
                    f"{overlay.where}: {registry}.{name}",
                )
                if not isinstance(values, dict):
                    raise TextcriticError(
                        f"{where}: is not a mapping of keys to values; write `{name}: {{KEY: VALUE}}`"
                    )
                merged = laid_over(entry.plain(), as_described(values, self.about[registry].schema()))
                self.entries[registry][name] = self.about[registry].read(merged, where)
                self._plain.setdefault((registry, name), entry)
                before = self._overlays.get((registry, name))
                self._overlays[registry, name] = f"{before} and {overlay.where}" if before else overlay.where

    def plain(self, registry: str, name: str) -> Entry:
        """An entry with all its defaults as its registry file has it, without what is laid over it."""
        return self._plain.get((registry, name)) or self.entry(registry, name)

    def dependents(self, use: tuple[str, str]) -> set[tuple[str, str]]:
        """A (registry, entry) and all that name it, directly or through others."""
        namers: dict[tuple[str, str], list[tuple[str, str]]] = {}
        for registry, named in self.entries.items():
            for name in named:
                for _, target, other in self.references(registry, name):
                    namers.setdefault((target, other), []).append((registry, name))
        waiting, seen = [use], {use}
        while waiting:
            new = [namer for namer in namers.get(waiting.pop(), ()) if namer not in seen]
            waiting += new
            seen.update(new)
        return seen

    def spec(self, registry: str, name: str, *keys: str) -> str:
        """The canonical string of what determines an entry's results, for a rule's params: no label, no resources.

        Args:
            registry: the registry.
            name: the entry.
            keys: only these top-level keys, for a rule that reads part of an entry.
        """
        entry: Entry = self.entry(registry, name)
        return entry.canonical(*keys, without=WITHOUT_EFFECT)

    def names(self, registry: str, others: bool = False, **wanted: list[str]) -> str:
        """A regular expression that matches the names of a registry, for wildcard constraints.

        Args:
            registry: the registry.
            others: all entries but the wanted ones.
            wanted: only entries whose key has one of these values, e.g. `kind=["causal", "ngram"]`.
        """
        chosen = [
            name
            for name, entry in self.entries[registry].items()
            if all(getattr(entry, key, None) in values for key, values in wanted.items()) is not others
        ]
        return "|".join(sorted(chosen)) or "(?!)"

    def references(self, registry: str, name: str) -> list[tuple[str, str, str]]:
        """What an entry names: (dotted key, registry, entry), read off the keyword `registry` of its schema.

        A key of `registry: downloads` holds a path, which names an entry only if rules/download.smk fetches it.
        """
        return named_in(self.entry(registry, name).plain(), self.about[registry].schema())

    def texts(self, registry: str, name: str) -> Iterator[tuple[str, str, Schema]]:
        """Every text in an entry: its dotted key, the text, and what the schema says of it."""
        return leaves(self.entry(registry, name).plain(), self.about[registry].schema())

    def check_references(self, value: object, rules: Schema, where: str) -> None:
        """See that every entry that a value names by its schema exists.

        Args:
            value: validated, with defaults.
            rules: its schema.
            where: what the error line begins with; the key follows.

        Raises:
            TextcriticError: there is no such entry; the line names the key, and lists close names.
        """
        for key, target, other in named_in(value, rules):
            _prefixed(f"{where}: {key}", self.entry, target, other)

    def closure(self, uses: Iterable[tuple[str, str]]) -> dict[str, dict[str, JsonObject]]:
        """Entries and all that they name, one after the other; of each, what decides results.

        Args:
            uses: (registry, entry).
        """
        waiting, seen = list(uses), set()
        while waiting:
            use = waiting.pop()
            if use not in seen:
                seen.add(use)
                waiting += [(target, other) for _, target, other in self.references(*use)]
        used: dict[str, dict[str, JsonObject]] = {}
        for registry, name in sorted(seen):
            used.setdefault(registry, {})[name] = deciding(self.entry(registry, name).plain())
        return used

    def threads_side_by_side(self, registry: str, name: str, cores: int | None, jobs: int = 2) -> int:
        """CPU threads of an entry's job, so that others like it can run beside it: models come in two settings.

        Args:
            registry: the registry.
            name: the entry.
            cores: of this machine, all together, of which a job without a GPU takes its part at most; None where each
                job has cores of its own.
            jobs: that share the cores.
        """
        threads = int(self.resource(registry, name, "threads"))
        return max(1, min(threads, cores // jobs)) if cores and not self.resource(registry, name, "gpu") else threads

    def memory(self, registry: str, name: str, attempt: int) -> int:
        """Megabytes of an entry's job: half as many more for each time that it failed and is submitted again."""
        return (1 + attempt) * int(self.resource(registry, name, "mem_mb")) // 2

    def resource(self, registry: str, name: str, key: str) -> Any:
        """What an entry's jobs ask for: `threads`, `gpu`, `mem_mb` or `runtime`; 0 for GPUs that it has no key for."""
        return getattr(self.entry(registry, name), key) if key != "gpu" else getattr(self.entry(registry, name), key, 0)

    def boundary(self, generator: str) -> str:
        """What stands between two articles in a generator's token stream."""
        return self.entry("encodings", self.encoding(generator)).boundary

    def encoding(self, generator: str) -> str:
        """The name of the encoding of a generator that reads tokens of a corpus."""
        entry = self.entry("generators", generator)
        if isinstance(entry, Causal | Fairseq | Hsmm):
            return entry.encoding
        raise TextcriticError(f"{generator} is of kind {entry.kind}, which has no encoding")

    def perplexity_windows(self, generator: str) -> str:
        """How the test split is cut for a generator's perplexity: the released code's way goes with its boundary."""
        training = self.of_kind("generators", generator, Causal).training
        return "as_released" if self.boundary(generator) == "as_released" else training.blocks

    def of_kind(self, registry: str, name: str, model: type[Chosen]) -> Chosen:
        """An entry of one kind of a registry.

        Raises:
            TextcriticError: there is no such name, or it is of another kind.
        """
        entry = self.entry(registry, name)
        if not isinstance(entry, model):
            raise TextcriticError(f"{name} is of kind {kind_of(type(entry))}; name one of kind {kind_of(model)}")
        return entry

    def _load(self, registry: str, path: Path) -> None:
        if not path.is_file():
            return
        entries = load_yaml(path) or {}
        if not isinstance(entries, dict):
            raise TextcriticError(f"{path}: is not a mapping of names to entries; write `name: {{...}}`")
        for name, entry in entries.items():
            check_name(name, str(path))
            if name in self.entries[registry]:
                raise TextcriticError(f"{path}: {name}: the name is taken by another registry folder; choose another")
            self._files[registry, name] = path
            self.entries[registry][name] = self.about[registry].read(entry, self.where(registry, name))

    def _check(self, registry: str, name: str) -> None:
        """What an entry names exists, and the checks that its schema names pass."""
        where = self.where(registry, name)
        self.check_references(self.entry(registry, name).plain(), self.about[registry].schema(), where)
        for check in self.about[registry].checks:
            module, _, function = check.partition(":")
            _prefixed(where, getattr(importlib.import_module(module), function), name, self)


def deciding(entry: JsonObject, prefix: str = "") -> JsonObject:
    """An entry without the keys that have no effect on results, in one order: Snakemake compares parameters as text."""
    return {
        key: deciding(value, f"{prefix}{key}.") if isinstance(value, dict) else value
        for key, value in sorted(entry.items())
        if f"{prefix}{key}" not in WITHOUT_EFFECT
    }


def download_of(path: str | Path) -> str | None:
    """The entry of the downloads registry that a file comes from; None for a file of one's own."""
    parts = Path(path).parts
    return parts[3] if FETCHED.get(parts[:3]) == len(parts) else None


def check_name(name: object, where: str) -> None:
    """See that a name can be part of a path and of a wildcard.

    Raises:
        TextcriticError: it is not lower-case letters, digits and single hyphens, or is too long.
    """
    if not isinstance(name, str):
        raise TextcriticError(f"{where}: {name!r}: a name is text; put it into quotes")
    if name != name.lower() or not all(part.isalnum() for part in name.split("-")):
        raise TextcriticError(f"{where}: {name!r}: a name is lower-case letters, digits and single hyphens")
    if len(name) > LONGEST_NAME:
        raise TextcriticError(f"{where}: {name[:LONGEST_NAME]}...: a name has {LONGEST_NAME} letters at most")


def find_folder(folder: str, places: Sequence[Path]) -> Path:
    """The first of the places that has the folder.

    Raises:
        TextcriticError: none has.
    """
    for place in places:
        # `Path.is_dir` fails where a name is too long.
        if os.path.isdir(place / folder):  # noqa: PTH112
            return place / folder
    raise TextcriticError(f"there is no folder {folder!r} in {' or '.join(map(str, places))}")


def named_in(value: object, rules: Schema) -> list[tuple[str, str, str]]:
    """What a value names by the keyword `registry` of its schema: (dotted key, registry, entry)."""
    named = []
    for key, text, about in leaves(value, rules):
        target = about.get("registry")
        if target is not None and text not in about.get("besides", ()):
            other = download_of(text) if target == "downloads" else text
            named += [(key, target, other)] if other is not None else []
    return named


def _prefixed(where: str, check: Callable[..., Made], *arguments: object) -> Made:
    """Call a check; its error line then begins with what is checked."""
    try:
        return check(*arguments)
    except TextcriticError as error:
        raise TextcriticError(f"{where}: {error}") from error
