"""A study: a title, and an ordered list of experiments."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from textcritic.errors import TextcriticError, listed
from textcritic.plan.entries.config import Config
from textcritic.plan.entries.config import Study as StudyEntry
from textcritic.plan.experiment import B, Experiment, StudyContext
from textcritic.plan.missing import Missing, without
from textcritic.plan.registries import Registries, check_name, named_in
from textcritic.plan.sources import Source
from textcritic.plan.spec import load_yaml
from textcritic.values import JsonObject

# Ids of the report's own headings.
RESERVED = ("finding", "definitions", "provenance")


class Study:
    """One file of a study folder, validated.

    Args:
        path: the YAML file; its name is the study's.
        kinds: the kinds of experiment by name.
        registries: what the study's names refer to.
        config: the whole configuration.
        published: takes (the study's `published`, a kind) and returns the path of the published values, or None.
        missing: what cannot be had and is left out; None: nothing is.

    Attributes:
        name, title, summary: what the report is headed with.
        description: what the YAML says, with all defaults.
        experiments: by name, in order, without what is left out.
        missing: the entries that are left out, by `registry.name`, each with the reason.
        lost: the experiment of each numbered table of which nothing is left but published values.

    Raises:
        TextcriticError: the first fault found, naming the file and the key.
    """

    def __init__(
        self,
        path: Path,
        kinds: Mapping[str, type[Experiment]],
        registries: Registries,
        config: Config,
        published: Callable[[str, str], str | None],
        missing: Missing | None = None,
    ) -> None:
        self.name = path.stem
        check_name(self.name, str(path))
        entry = StudyEntry.read(load_yaml(path), str(path))
        blocks = list(_blocks(entry, path, kinds))
        written = [
            _as_written(block.plain(), one.plain()) for block, one in zip(blocks, entry.experiments, strict=True)
        ]
        self.description = {**entry.plain(), "experiments": written}
        self.title, self.summary = entry.title, entry.summary
        self.experiments: dict[str, Experiment] = {}
        self._lacking: dict[str, list[str]] = {}
        self.missing: dict[str, str] = {}
        self.lost: dict[str, Experiment] = {}
        for number, block in enumerate(blocks, 1):
            kind = kinds[block.kind]
            where = _where(path, number, block.plain())
            beside = _published(path, published, entry.published, kind.kind) if entry.published else None
            context = StudyContext(self.name, where, beside, config)
            left = block
            if missing is not None:
                left, context = self._left(block, kind, context, missing)
            if left is None:
                continue
            experiment = kind(left, registries, context)
            self._add(experiment, kinds)
            registries.check_references(experiment.mapping, kind.rules(), where)
            experiment.check_parts()
            experiment.check()
        if self.missing and not self.experiments:
            raise TextcriticError(f"{path}: nothing of this study can be made here: {'; '.join(self.reasons())}")

    def reasons(self) -> list[str]:
        """A line for each entry that is left out, with the tables and figures that lack it."""
        parts: dict[str, list[str]] = {use: [] for use in self.missing}
        for part, uses in self._lacking.items():
            for use in uses:
                parts[use].append(part)
        return [
            f"{use.partition('.')[2]}: {why}{f': left out of {listed(parts[use])}' if parts[use] else ''}"
            for use, why in self.missing.items()
        ]

    def experiment(self, name: str, part: str | None = None) -> Experiment:
        """An experiment by its name, for a job that makes a numbered table or figure of it, or the standing ones."""
        return self.lost[part] if part in self.lost else self.experiments[name]

    def names(self) -> set[str]:
        """The names of all experiments that have something to show."""
        return {*self.experiments, *(experiment.name for experiment in self.lost.values())}

    def why_not(self, part: str) -> str:
        """Why a numbered table or figure is left out as a whole; "" where it is not."""
        if part in self.parts() or part not in self._lacking:
            return ""
        return "; ".join(f"{use.partition('.')[2]}: {self.missing[use]}" for use in self._lacking[part])

    def left_out(self) -> list[str]:
        """The numbered tables and figures that are left out as a whole."""
        return [part for part in self._lacking if self.why_not(part)]

    def not_measured(self) -> dict[str, str]:
        """What is left out and why, as the front page lists it."""
        entries = {what: why for what, _, why in (line.partition(": ") for line in self.reasons())}
        return entries | {part: self.why_not(part) for part in self.left_out()}

    def sources(self) -> list[Source]:
        """The sources of all experiments, each once."""
        return list(dict.fromkeys(source for e in self.experiments.values() for source in e.sources()))

    def corpora(self) -> list[str]:
        """The corpora of all experiments, each once."""
        return list(dict.fromkeys(corpus for e in self.experiments.values() for corpus in e.corpora()))

    def uses(self) -> list[tuple[str, str]]:
        """(registry, entry) of all that its experiments name."""
        return [use for experiment in self.experiments.values() for use in experiment.uses()]

    def parts(self) -> dict[str, Experiment]:
        """The experiment that each numbered table or figure belongs to."""
        return {part: experiment for experiment in self.experiments.values() for part in experiment.parts}

    def _left(
        self, block: B, kind: type[Experiment[B]], context: StudyContext, missing: Missing
    ) -> tuple[B | None, StudyContext]:
        """A block without what is missing, of which a note is made; None if nothing is left of it."""
        rules, registries = kind.rules(), missing.registries
        reasons = missing.of(dict.fromkeys((registry, name) for _, registry, name in named_in(block.plain(), rules)))
        if not reasons:
            return block, context
        self.missing |= reasons
        whole, lacking = kind(block, registries, context), {}
        for part in whole.parts:
            of = {folder for path in whole.paths(part) for folder in Path(path).parts}
            uses = [use for use in reasons if use.partition(".")[2] in of]
            if uses:
                self._lacking[part] = uses
                lacking[part] = {registries.label(*use.split(".")): reasons[use] for use in uses}
        context = replace(context, left_out=lacking)
        some = without(whole.mapping, rules, missing)
        left = kind.read_rest(some, context.where) if some else None
        kept = {part["name"] for part in (left.plain() if left else {}).get("tables", ())}
        lost = [name for name in lacking if name.startswith("table") and name not in kept and whole.published]
        alone = kind(block, registries, replace(context, lost=tuple(lost)))
        self.lost |= dict.fromkeys(lost, alone)
        return left, context

    def _add(self, experiment: Experiment, kinds: Mapping[str, type[Experiment]]) -> None:
        name, where = experiment.name, experiment.where
        check_name(name, where)
        if name in self.experiments:
            raise TextcriticError(f"{where}: another experiment has the name {name!r}; give this one a `name`")
        if name in RESERVED:
            raise TextcriticError(f"{where}: {name!r} is a heading of every report; choose another `name`")
        if name in kinds and name != experiment.kind:
            raise TextcriticError(f"{where}: {name!r} is the name of another kind of experiment; choose another `name`")
        for part in experiment.parts:
            if part in self.parts():
                raise TextcriticError(f"{where}: {part} is there twice; rename one")
        self.experiments[name] = experiment


def _blocks(study: StudyEntry, path: Path, kinds: Mapping[str, type[Experiment]]) -> Iterator[Any]:
    """The blocks of a study, each of the class of its kind."""
    for number, block in enumerate(study.experiments, 1):
        if block.kind not in kinds:
            raise TextcriticError(
                f"{path}: experiments.{number}: kind: {block.kind!r} is not one of {', '.join(sorted(kinds))}"
            )
        yield kinds[block.kind].read(block.plain(), _where(path, number, block.plain()))


def _as_written(filled: Any, written: Any) -> Any:
    """A value with all defaults, whose keys are in the order of the YAML: a manifest begins with what is written."""
    if isinstance(filled, list):
        return [_as_written(item, one) for item, one in zip(filled, written or filled, strict=True)]
    if not isinstance(filled, dict):
        return filled
    given = written or {}
    return {key: _as_written(filled[key], given.get(key)) for key in {**given, **filled}}


def _where(path: Path, number: int, block: JsonObject) -> str:
    return f"{path}: experiments.{number} ({block.get('name', block['kind'])})"


def _published(path: Path, find: Callable[[str, str], str | None], values: str, kind: str) -> str | None:
    try:
        return find(values, kind)
    except TextcriticError as error:
        raise TextcriticError(f"{path}: published: {error}") from error
