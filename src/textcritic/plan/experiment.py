"""The contract of an experiment: one comparison by one method, a block of a study's `experiments`.

A kind of experiment is a package. Snakemake reads two light modules of it at every start: `plan.py` with the one
subclass of `Experiment` and the class of its blocks, and `files.py` with the dataclasses that say which files its
results are made of. Jobs read
the others, by their names: `tables.py` (`TABLES`, `PAPER_TABLES`, `NAMES`, `KEYS`, `TEXT`), `figures.py` (`FIGURES`)
and `section.py`, whose `section(files, tables, place)` gives a
`report.section.Section` of the files, the rows of the standing tables by name, and the `Place` where it stands. All of
them raise `TextcriticError` where a file is missing or damaged, or files do not belong together. See
docs/new-experiment.md.
"""

import json
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any, ClassVar, Generic, cast, get_args

from typing_extensions import TypeVar

from textcritic.errors import TextcriticError
from textcritic.plan.bundle import Files, Nothing, split_request
from textcritic.plan.checks.sources import check_critic, check_file, check_labels, check_runs, check_text
from textcritic.plan.entries.base import json_schema
from textcritic.plan.entries.blocks import Block
from textcritic.plan.entries.config import Config
from textcritic.plan.labels import labels_of
from textcritic.plan.registries import Registries, named_in
from textcritic.plan.schema_file import MappingBlock, read_block, schema
from textcritic.plan.sources import Source, sources_of
from textcritic.values import JsonObject

FORMATS = ("csv", "tex", "html")
B = TypeVar("B", bound=Block, default=Any)


@dataclass(frozen=True, slots=True)
class Part:
    """A numbered table or figure of a paper, and what of an experiment it compares.

    Attributes:
        name: `table9` or `figure6`; the number picks the published values.
        of: the recipe that makes it, a key of the kind's PAPER_TABLES or FIGURES.
        caption: what it shows, in a line.
        corpora, generators: what it compares, in its order; none means all.
    """

    name: str
    of: str
    caption: str = ""
    corpora: tuple[str, ...] = ()
    generators: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StudyContext:
    """What an experiment knows of the study that it is a block of.

    Attributes:
        study: the study's name.
        where: the file and the key of the block, for error lines.
        published: CSV of the published values of this kind, if the study names any.
        config: the whole configuration, e.g. `resamples`.
        left_out: of each numbered table or figure what it lacks as files are missing: by label, the reason.
        lost: the numbered tables of which nothing is left but published values.
    """

    study: str
    where: str
    published: str | None
    config: Config
    left_out: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    lost: tuple[str, ...] = ()


class Experiment(ABC, Generic[B]):
    """One block of a study's `experiments`; made at every start of Snakemake.

    A kind is a subclass of `Experiment[...]` of its class of block. One that names no class has a file schema.yaml, and
    its block is a mapping, see `plan.schema_file`.

    Args:
        block: what `read` makes of YAML.
        registries: what its names refer to.
        context: the study.

    Attributes:
        kind: the name of the kind. Its package has this name too, with an underscore for each hyphen.
        critic_kind: the kind that the block's `critic` must be of; "" for a kind without one.
        version: raised when a change of code changes tables, figures or section: they are made again, of this kind
            alone.
        tables: names of the standing tables, which one job makes together.
        standing_figures: whether it has standing figures, which one job makes together.
        figures_read: the standing tables that these are drawn from; none: all.
        name: the block's `name`, by default its kind; part of its path.
        parts: the block's `tables` and `figures` by name.
        block: the block with all defaults.
        mapping: the same as plain mappings, lists, texts and numbers.
        registries: what its names refer to.
        where: the file and the key of the block, which error lines begin with.
        config: the whole configuration.
    """

    kind: ClassVar[str]
    critic_kind: ClassVar[str] = ""
    version: ClassVar[int] = 1
    tables: ClassVar[tuple[str, ...]]
    standing_figures: ClassVar[bool] = True
    figures_read: ClassVar[tuple[str, ...]] = ()
    _block_class: ClassVar[type[Block] | None] = None

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        named = [argument for base in getattr(cls, "__orig_bases__", ()) for argument in get_args(base)]
        cls._block_class = next((one for one in named if isinstance(one, type) and issubclass(one, Block)), None)

    def __init__(self, block: B, registries: Registries, context: StudyContext) -> None:
        self.block, self.registries, self.context = block, registries, context
        self.where, self.config = context.where, context.config
        self.mapping = block.plain()
        self.name: str = self.mapping.get("name", self.kind)
        parts = [_part(part) for key in ("tables", "figures") for part in self.mapping.get(key, ())]
        self.parts: Mapping[str, Part] = {part.name: part for part in parts}
        self._requests: dict[tuple[str | None, bool], dict[str, str]] = {}
        if len(self.parts) < len(parts):
            twice = next(part.name for part in parts if sum(other.name == part.name for other in parts) > 1)
            raise TextcriticError(f"{self.where}: {twice} is there twice; rename one")

    @classmethod
    def package(cls) -> Path:
        """The folder of its package."""
        return Path(str(sys.modules[cls.__module__].__file__)).parent

    @classmethod
    def rules(cls) -> JsonObject:
        """The JSON schema of a block; raises TextcriticError if a schema.yaml is not there or cannot be read."""
        return json_schema(cls._block_class) if cls._block_class else schema(cls.package() / "schema.yaml")

    @classmethod
    def read(cls, value: object, where: str) -> B:
        """A block from YAML, with all defaults; arguments and errors: see `Entry.read`."""
        schema_file = cls.package() / "schema.yaml"
        block: Any = cls._block_class.read(value, where) if cls._block_class else read_block(value, schema_file, where)
        return cast(B, block)

    @classmethod
    def read_rest(cls, value: object, where: str) -> B:
        """What is left of a block out of which names were taken, mended; arguments and errors: see `Entry.read`."""
        block: Any = cls.mended(cls.read(value, where))
        return cast(B, block if cls._block_class else MappingBlock(block))

    def check(self) -> None:
        """Find what would otherwise fail after hours; a kind with more to check does this first.

        Raises:
            TextcriticError: the first fault; the line names the key.
        """
        if self.critic_kind:
            check_critic(self.mapping["critic"], self.critic_kind, self.registries, f"{self.where}: critic")
        for source in self.sources():
            self.check_source(source, f"{self.where}: sources")
            check_file(source, self.registries, f"{self.where}: sources")
        check_labels(self.sources(), self.registries, f"{self.where}: sources")
        check_runs(self.sources(), self.registries, f"{self.where}: sources")

    @classmethod
    def mended(cls, block: B) -> B:
        """A block out of which names were taken whose files are missing, so that the rest still goes together."""
        return block

    def check_source(self, source: Source, where: str) -> None:
        """See that a source is what the critic scores: by default, articles of text; raises as `check`."""
        check_text(source, self.registries, where)

    @abstractmethod
    def files(self, part: str | None = None) -> Files:
        """Exactly the files that a numbered part, or (None) all standing tables and figures, are made of."""

    def sources(self) -> list[Source]:
        """The samples of documents that it compares, in the order of the YAML; none for a kind without samples."""
        return sources_of(getattr(self.block, "sources", []))

    def costly_sources(self) -> list[Source]:
        """Samples for an audit that take over an hour, which are drawn only with `audits: true`; by default none."""
        return []

    def corpora(self) -> list[str]:
        """The corpora that it reads, in order of appearance: for the targets data and train."""
        return list(dict.fromkeys(source.corpus for source in self.sources()))

    def models(self) -> list[str]:
        """Folders of the models that it reads beside those of its sources, for the target train: by default none."""
        return []

    def uses(self) -> list[tuple[str, str]]:
        """(registry, entry) of all that the block names, by the keyword `registry` of its schema."""
        return list(dict.fromkeys((registry, name) for _, registry, name in named_in(self.mapping, self.rules())))

    def labels(self) -> dict[str, dict[str, str]]:
        """What tables and figures call the corpora, decodings and other entries that it names.

        Raises:
            TextcriticError: two entries of a registry have the same label.
        """
        uses = self.uses()
        # A critic names its resolver. The corpora that others are made of are not shown.
        behind = self.registries.closure(use for use in uses if use[0] != "corpora")
        resolvers = [("resolvers", name) for name in behind.get("resolvers", ())]
        return labels_of([*uses, *resolvers], self.registries)

    @property
    def folder(self) -> str:
        """Where its tables, figures and section are."""
        return f"results/studies/{self.context.study}/{self.name}"

    @property
    def published(self) -> list[str]:
        """The CSV of published values; none where there is none."""
        return [self.context.published] if self.context.published else []

    def table_files(self, *names: str) -> list[str]:
        """Tables in every format: those named, by default the standing ones and the numbered ones."""
        chosen = names or (*self.tables, *(name for name in self.parts if name.startswith("table")))
        return [f"{self.folder}/tables/{name}.{suffix}" for name in chosen for suffix in FORMATS]

    def tables_drawn(self) -> list[str]:
        """The tables that standing figures are drawn from, in every format: by default all standing ones."""
        return self.table_files(*(self.figures_read or self.tables))

    def figure_folders(self) -> list[str]:
        """The folders of its standing and of its numbered figures."""
        standing = ["figures"] if self.standing_figures else []
        return [f"{self.folder}/{name}" for name in (*standing, *self.parts) if name.startswith("figure")]

    def artefacts(self) -> list[str]:
        """The files that it is made from or consists of, for the manifest."""
        return list(dict.fromkeys([*self.files().paths(), *self.published, *self.table_files()]))

    def paths(self, part: str | None = None) -> list[str]:
        """The paths of `files`: the `input` of a rule; raises as `request`."""
        self._known(part)
        return self._files(part).paths()

    def request(self, part: str | None = None) -> dict[str, str]:
        """What a job needs to know to make a numbered table or figure, or (None) the standing ones: its `params`.

        They are several short texts, see `bundle.split_request`.

        Raises:
            TextcriticError: there is no such part.
        """
        return self._request(part, {})

    def section_request(self) -> dict[str, str]:
        """The same for the section."""
        return self._request(None, self.parts)

    def _request(self, part: str | None, parts: Mapping[str, Part]) -> dict[str, str]:
        """The texts of a request, made once: Snakemake asks for each text by itself."""
        known, key = self._known(part), (part, bool(parts))
        if key not in self._requests:
            files, left_out = self._files(part), self.context.left_out.get(part or "")
            self._requests[key] = request_of(type(self), self.name, files, known, parts, self.labels(), left_out)
        return self._requests[key]

    def _files(self, part: str | None) -> Files:
        return Nothing() if part in self.context.lost else self.files(part)

    def _known(self, part: str | None) -> Part | None:
        if part is not None and part not in self.parts:
            known = ", ".join(self.parts) or "none"
            raise TextcriticError(f"{self.where}: there is no {part!r} among its tables and figures; known: {known}")
        return None if part is None else self.parts[part]

    def compared(self, part: str | None = None) -> tuple[list[str], list[Source]]:
        """The corpora and sources of a numbered part, in its order; of the whole experiment if `part` is None."""
        corpora, sources = self.corpora(), self.sources()
        if part is None:
            return corpora, sources
        chosen = self.parts[part]
        corpora = list(chosen.corpora) or corpora
        sources = [source for corpus in corpora for source in sources if source.corpus == corpus]
        if chosen.generators:
            sources = [s for generator in chosen.generators for s in sources if s.generator == generator]
        return corpora, sources

    def check_parts(self) -> None:
        """See that numbered parts compare only what the experiment does.

        Raises:
            TextcriticError: a part names a corpus or a generator that is not compared there.
        """
        pairs = {(source.corpus, source.generator) for source in self.sources()}
        for part in self.parts.values():
            where = f"{self.where}: {part.name}"
            for corpus in part.corpora:
                if corpus not in self.corpora():
                    raise TextcriticError(f"{where}: {corpus} is not among the experiment's corpora")
            for corpus, generator in product(part.corpora or self.corpora(), part.generators):
                if (corpus, generator) not in pairs:
                    raise TextcriticError(
                        f"{where}: {generator} on {corpus} is not among the sources of this experiment"
                    )


def request_of(
    kind: type[Experiment],
    name: str,
    files: Files,
    part: Part | None = None,
    parts: Mapping[str, Part] | None = None,
    labels: Mapping[str, Mapping[str, str]] | None = None,
    left_out: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """What a job needs to know of an experiment, see `bundle.split_request` and `report.make.Request`.

    Args:
        kind: its kind.
        name: its name.
        files: what the job reads.
        part: the numbered table or figure to make; None for the standing ones, or the section.
        parts: all numbered tables and figures, for the section alone.
        labels: of the entries of registries that it names, as `labels.labels_of` makes them.
        left_out: what a numbered table lacks because its files are missing: by label, the reason.
    """
    payload = {
        "package": kind.__module__.removesuffix(".plan"),
        "experiment": name,
        "version": kind.version,
        "tables": list(kind.tables),
        "part": part and {"name": part.name, "of": part.of, "caption": part.caption},
        "parts": {name: other.of for name, other in (parts or {}).items()},
        "labels": labels or {},
        **({"left_out": left_out} if left_out else {}),
        "files_type": f"{type(files).__module__}:{type(files).__qualname__}",
        "files": json.loads(files.to_json()),
    }
    return split_request(payload)


def _part(entry: JsonObject) -> Part:
    compared = (tuple(entry["corpora"]), tuple(entry["generators"]))
    return Part(entry["name"], entry["of"], entry.get("caption", ""), *compared)
