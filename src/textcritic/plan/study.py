"""A study: a title, and an ordered list of experiments."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from textcritic.errors import TextcriticError
from textcritic.plan.experiment import Experiment, StudyContext, schema_of
from textcritic.plan.registries import Registries, check_name
from textcritic.plan.sources import Source
from textcritic.plan.spec import complete, load_yaml, schema

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

    Attributes:
        name, title, summary: what the report is headed with.
        description: what the YAML says, with all defaults.
        experiments: by name, in order.

    Raises:
        TextcriticError: the first fault found, naming the file and the key.
    """

    def __init__(
        self,
        path: Path,
        kinds: Mapping[str, type[Experiment]],
        registries: Registries,
        config: Mapping[str, Any],
        published: Callable[[str, str], str | None],
    ) -> None:
        self.name = path.stem
        check_name(self.name, str(path))
        self.description = _described(path, kinds)
        self.title, self.summary = self.description["title"], self.description["summary"]
        self.experiments: dict[str, Experiment] = {}
        for number, block in enumerate(self.description["experiments"], 1):
            kind = kinds[block["kind"]]
            where = _where(path, number, block)
            values = self.description["published"]
            beside = _published(path, published, values, kind.kind) if values else None
            experiment = kind(block, registries, StudyContext(self.name, where, beside, config))
            self._add(experiment, kinds)
            registries.check_references(block, schema(schema_of(kind)), where)
            experiment.check_parts()
            experiment.check()

    def sources(self) -> list[Source]:
        """The sources of all experiments, each once."""
        return list(dict.fromkeys(source for e in self.experiments.values() for source in e.sources()))

    def corpora(self) -> list[str]:
        """The corpora of all experiments, each once."""
        return list(dict.fromkeys(corpus for e in self.experiments.values() for corpus in e.corpora()))

    def parts(self) -> dict[str, Experiment]:
        """The experiment that each numbered table or figure belongs to."""
        return {part: experiment for experiment in self.experiments.values() for part in experiment.parts}

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
                raise TextcriticError(f"{where}: {part} stands twice; give each a name of its own")
        self.experiments[name] = experiment


def _described(path: Path, kinds: Mapping[str, type[Experiment]]) -> dict[str, Any]:
    """The YAML of a study with all defaults, its experiments described by the schemas of their kinds."""
    study: dict[str, Any] = complete(load_yaml(path), "study", str(path))
    blocks = []
    for number, block in enumerate(study["experiments"], 1):
        if block["kind"] not in kinds:
            raise TextcriticError(
                f"{path}: experiments.{number}: kind: {block['kind']!r} is not one of {', '.join(sorted(kinds))}"
            )
        blocks.append(complete(block, schema_of(kinds[block["kind"]]), _where(path, number, block)))
    return {**study, "experiments": blocks}


def _where(path: Path, number: int, block: Mapping[str, Any]) -> str:
    return f"{path}: experiments.{number} ({block.get('name', block['kind'])})"


def _published(path: Path, find: Callable[[str, str], str | None], values: str, kind: str) -> str | None:
    try:
        return find(values, kind)
    except TextcriticError as error:
        raise TextcriticError(f"{path}: published: {error}") from error
