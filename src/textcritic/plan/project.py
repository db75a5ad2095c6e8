"""The workflow's configuration as one object: registries, kinds of experiment, studies, and the targets of papers."""

import os
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from textcritic.errors import TextcriticError, listed, suggestion
from textcritic.experiments import KINDS, kind_of, registries_with
from textcritic.files import read_json
from textcritic.place import workflow_folder
from textcritic.plan.checks.models import GRADIENT
from textcritic.plan.downloads import check_by_hand
from textcritic.plan.entries.config import Config
from textcritic.plan.experiment import Experiment
from textcritic.plan.hub_lock import commits, read_lock, unlocked
from textcritic.plan.missing import REFUSE, Missing, record, recorded
from textcritic.plan.overlay import Recipes, overlays
from textcritic.plan.registries import Registries, check_name, find_folder
from textcritic.plan.spec import load_yaml
from textcritic.plan.study import Study
from textcritic.values import JsonObject

# Keys of the configuration that decide numbers, for the manifest.
DECIDING = ("resamples", "audits", "report_articles", "experiment_packages", "stage_versions")
# A table or figure of a paper by its number there.
NUMBERED = re.compile(r"(table|figure)[1-9][0-9]*")
# Stages that no kind of experiment owns; each kind is a stage too.
STAGES = ("extract", "build", "encode", "train", "perplexity", "sample", "classify", "detect", "report")


@dataclass(frozen=True, slots=True)
class Target:
    """A table or figure of a paper that can be asked for by name.

    Attributes:
        path: its file or folder.
        refusal: why it cannot be asked for.
        left_out: why there is none, as all that it compares is missing.
    """

    path: str = ""
    refusal: str = ""
    left_out: str = ""


class Project:
    """Everything the YAML files say, validated.

    Args:
        config: Snakemake's config (config/config.yaml and what the command line laid over it).
        root: folder of the Snakefile; relative `registry` and `studies` folders are looked up there and in `here`.
        here: the working directory.
        leave_out: leave out of studies what is made of files that are not there, see `plan.missing`; by default
            nothing is, so that a missing file shows where it is needed.
        begun: a job's, which leaves out what was missing when its run started.
        locked: give entries of the hub the commits of hub.lock, see `plan.hub_lock`.

    Raises:
        TextcriticError: the first fault found, naming file and key.
    """

    def __init__(
        self,
        config: Mapping[str, Any],
        root: Path,
        here: Path | None = None,
        leave_out: bool = False,
        begun: bool = False,
        locked: bool = True,
    ) -> None:
        self.root, self.here = root, here or Path.cwd()
        self.config = Config.read(_typed(config), "config")
        self.kinds = self._load_kinds()
        self._check_stages()
        places = (self.here, self.root)
        folders = [find_folder(folder, places) for folder in self.config.registry_folders]
        about = registries_with(self.config.experiment_packages)
        self.registries = Registries(folders, self.here, overlays(self.config.registry, self.here), about)
        if locked:
            self.registries.lay_over(commits(read_lock(self.here), self.registries))
        self.recipes = Recipes(self.registries, self.here, self.config.accept)
        self.study_folders = [find_folder(folder, places) for folder in self.config.study_folders]
        decided = recorded(self.here, self.config.studies) if begun else None
        self.missing = Missing(self.registries, self.here, decided if leave_out else {})
        self.studies = {name: self._load_study(name) for name in self.config.studies}
        self._check_missing()
        self._check_names()

    def said_at_start(self) -> list[str]:
        """What is said before anything runs: values laid over entries, and what is left out of studies."""
        return [*self.recipes.said(), *self._left_out()]

    def begin(self) -> None:
        """Called when a run starts, before its first job: record what its jobs must hold to.

        Raises:
            TextcriticError: results stand that were made with other values, and that is not accepted; a file that was
                put where a download goes is not that file.
        """
        self.recipes.begin()
        uses = self.registries.closure(use for study in self.studies.values() for use in study.uses())
        for name in uses.get("downloads", ()):
            check_by_hand(self.registries.entry("downloads", name), self.here / "results/raw/downloads" / name)
        for study in self.studies.values():
            record(self.here, study.name, study.missing)

    def stage(self, name: str) -> int:
        """The version of a stage or of a kind of experiment: raised in the config, its rules run again."""
        if name not in (*STAGES, *self.kinds):
            raise TextcriticError(f"rules: {name!r} is neither a stage nor a kind of experiment")
        version: int = self.config.stage_versions.plain().get(name, 1)
        return version

    def kind(self, name: str) -> type[Experiment]:
        """A kind of experiment by its name, for rules.

        Raises:
            TextcriticError: there is no such kind.
        """
        if name not in self.kinds:
            meant = suggestion(name, self.kinds, f"known: {', '.join(self.kinds)}")
            raise TextcriticError(f"rules: there is no kind of experiment {name!r}; {meant}")
        return self.kinds[name]

    def experiments_of(self, kind: str) -> str:
        """A regular expression that matches the names of all configured experiments of a kind; raises as `kind`."""
        self.kind(kind)
        every = [experiment for study in self.studies.values() for experiment in study.experiments.values()]
        return "|".join(sorted({experiment.name for experiment in every if experiment.kind == kind})) or "(?!)"

    def rule_files(self) -> list[str]:
        """The rule files of kinds that come from outside: rules.smk beside each one's plan.py."""
        return [str(kind_of(package).package() / "rules.smk") for package in self.config.experiment_packages]

    def with_bases(self, corpus: str) -> list[str]:
        """A corpus, and those that it derives from one after the other; the corpus alone where it derives from none."""
        base = self.registries.entry("corpora", corpus).options.corpus
        return [corpus] if base is None else [corpus, *self.with_bases(base)]

    def trained_side_by_side(self) -> int:
        """How many transformers are trained side by side, as far as it matters for their threads: one, or two."""
        sources = {source for study in self.studies.values() for source in study.sources()}
        kinds = {source: self.registries.entry("generators", source.generator).kind for source in sources}
        return min(2, max(1, len({source.model for source, kind in kinds.items() if kind in GRADIENT})))

    def dump_shards(self, corpus: str) -> int:
        """In how many shards a dump is extracted: as its entry says, or, once it is extracted, as it was then."""
        report = self.here / f"results/corpora/{corpus}/extracted.json"
        made = read_json(report).get("shards") if report.is_file() else None
        return int(made or self.registries.entry("corpora", corpus).options.shards)

    def describe(self, study: str) -> JsonObject:
        """The study and all of every registry entry it uses that decides what comes out: what the manifest records."""
        chosen = self.studies[study]
        registry = self.registries.closure(chosen.uses())
        overlay = self.recipes.laid_over(registry)
        return {
            "name": study,
            "experiments": list(chosen.experiments),
            "study": {**chosen.description, **({"not_measured": chosen.not_measured()} if chosen.missing else {})},
            "sources": [asdict(source) for source in chosen.sources()],
            "config": {key: value for key, value in self.config.plain().items() if key in DECIDING},
            "command": chosen.description["command"] or self._command(study),
            "registry": registry,
            **({"overlay": overlay} if overlay else {}),
        }

    def targets(self) -> dict[str, Target]:
        """The tables and figures of all studies of the study folders, by target: `model_criticism_table2` and `table2`.

        The short name stands for the only configured study that has it.
        """
        targets: dict[str, Target] = {}
        owners: dict[str, list[str]] = {}
        for name, parts in self._parts_of_all_studies().items():
            for part in parts:
                full = f"{name.replace('-', '_')}_{part}"
                targets[full] = self._target(full, [name], part)
                owners.setdefault(part, []).append(name)
        for part, names in owners.items():
            configured = [name for name in names if name in self.studies]
            if len(configured) > 1:
                full = listed([f"{name.replace('-', '_')}_{part}" for name in configured])
                targets[part] = Target(refusal=f"several configured studies have a {part}; ask for {full}")
            else:
                targets[part] = self._target(part, configured or names, part)
        return dict(sorted(targets.items()))

    def without_studies(self) -> str:
        """What is said to somebody who configured no study, and asked for everything."""
        studies = sorted({path.stem for folder in self.study_folders for path in folder.glob("*.yaml")})
        return (
            "no study is configured (studies: []), so ask for what to build: a corpus, `corpora/NAME` (NAME is one of"
            f" {', '.join(self.registries.entries['corpora'])}), or a file; or configure one of the studies"
            f" {', '.join(studies)}"
        )

    def _target(self, target: str, studies: list[str], part: str) -> Target:
        """The part of the only study there is, or why it cannot be asked for: none of these is configured."""
        first = studies[0]
        if first not in self.studies:
            which = (
                f"the study {first}, which is not configured; add"
                if len(studies) == 1
                else f"the studies {listed(studies)}, none of which is configured; add one of them, e.g."
            )
            return Target(
                refusal=f"{target} belongs to {which} --config studies=\"['{first}']\""
                " (config/paper.yaml and the profile slurm configure the study model-criticism)"
            )
        study = self.studies[first]
        if (why := study.why_not(part)) and part not in study.lost:
            return Target(left_out=f"{target} is left out: {why}")
        experiment = study.lost.get(part) or study.parts()[part]
        return Target(
            f"{experiment.folder}/tables/{part}.csv" if part.startswith("table") else f"{experiment.folder}/{part}"
        )

    def _parts_of_all_studies(self) -> dict[str, list[str]]:
        """The numbered tables and figures of every study, configured or not; of two of one name the first counts."""
        parts_of: dict[str, list[str]] = {}
        for folder in self.study_folders:
            for path in sorted(folder.glob("*.yaml")):
                if path.stem in self.studies:
                    study = self.studies[path.stem]
                    parts_of.setdefault(path.stem, [*study.parts(), *study.left_out()])
                elif path.stem not in parts_of:
                    with suppress(TextcriticError):  # a study that is not configured may be half written
                        parts_of[path.stem] = _part_names(load_yaml(path))
        return parts_of

    def _load_kinds(self) -> dict[str, type[Experiment]]:
        packages = self.config.experiment_packages
        if packages and str(self.here) not in sys.path:
            sys.path.insert(0, str(self.here))
        kinds: dict[str, type[Experiment]] = {}
        for package in (*KINDS, *packages):
            kind = kind_of(package)
            if kind.kind in kinds:
                raise TextcriticError(
                    f"experiment_packages: {package}: there is a kind {kind.kind!r} already; rename it"
                )
            _check_kind(kind, f"experiment_packages: {package}")
            kinds[kind.kind] = kind
        return kinds

    def _command(self, study: str) -> str:
        """What a person types to make a study again."""
        config, default = self.config.plain(), Config(studies=[study]).plain()
        if all(config[key] == value for key, value in default.items() if key not in ("studies", "accept")):
            return f"snakemake --cores 2 --config studies=\"['{study}']\""
        return f"snakemake --cores 2 --configfile FILE    # the configuration file, with studies: [{study}]"

    def _check_names(self) -> None:
        """Rules know a kind by the names of its experiments, so that a name belongs to one kind in all studies."""
        kinds: dict[str, str] = {}
        for study in self.studies.values():
            for experiment in study.experiments.values():
                if kinds.setdefault(experiment.name, experiment.kind) != experiment.kind:
                    raise TextcriticError(
                        f"{experiment.where}: another study has an experiment {experiment.name!r} of the kind"
                        f" {kinds[experiment.name]}; give one of them another `name`"
                    )

    def _left_out(self) -> list[str]:
        lines = [f"{study.name}: {line}" for study in self.studies.values() for line in study.reasons()]
        for study in self.studies.values():
            uses = [(registry, name) for registry, _, name in (use.partition(".") for use in study.missing)]
            if unlocked(self.registries, uses):
                lines.append(f"{study.name}: `textcritic lock {study.name}` looks the commits up, with a network")
        return lines

    def _check_missing(self) -> None:
        lines = self._left_out()
        if lines and self.config.missing == REFUSE:
            raise TextcriticError(f"config: missing: refuse: {' | '.join(lines)}")

    def _check_stages(self) -> None:
        known = (*STAGES, *self.kinds)
        for name in self.config.stage_versions.plain():
            if name not in known:
                hint = suggestion(name, known, f"known are {', '.join(known)}")
                raise TextcriticError(f"config: stage_versions: unknown stage {name!r}; {hint}")

    def _load_study(self, name: str) -> Study:
        paths = (folder / f"{name}.yaml" for folder in self.study_folders)
        # `Path.is_file` fails where a name is too long.
        path = next((path for path in paths if os.path.isfile(path)), None)  # noqa: PTH113
        if path is None:
            known = sorted(path.stem for folder in self.study_folders for path in folder.glob("*.yaml"))
            raise TextcriticError(f"config: studies: there is no study {name!r}; known: {', '.join(known)}")
        return Study(path, self.kinds, self.registries, self.config, self._published, self.missing)

    def _published(self, name: str, kind: str) -> str | None:
        """The CSV of a kind's published values, relative to the working directory if it is below."""
        path = find_folder(f"config/published/{name}", (self.here, self.root)) / f"{kind}.csv"
        if not path.is_file():
            return None
        return str(path.relative_to(self.here) if path.is_relative_to(self.here) else path)


def load_configuration(configfile: str | os.PathLike[str] | None) -> JsonObject:
    """The configuration as Snakemake puts it together, so that faults in it are one line.

    Args:
        configfile: YAML laid over config/config.yaml; None: nothing is.

    Raises:
        TextcriticError: a file is missing or not a mapping of keys to values.
    """
    config: JsonObject = load_yaml(workflow_folder() / "config/config.yaml")
    given = load_yaml(Path(configfile)) if configfile else {}
    if not isinstance(given, dict):
        raise TextcriticError(f"{configfile}: is not a mapping of keys to values; write e.g. `studies: []`")
    return config | given


def _typed(config: Mapping[str, Any]) -> JsonObject:
    """The configuration with `true`, `false` and the numbers of stages as such, which `--config` gives as text."""
    config = {key: value == "true" if value in ("true", "false") else value for key, value in config.items()}
    stages = config.get("stage_versions")
    if not isinstance(stages, Mapping):
        return config
    return {**config, "stage_versions": {k: int(v) if str(v).isdecimal() else v for k, v in stages.items()}}


def _check_kind(kind: type[Experiment], where: str) -> None:
    """See that the names that a kind brings fit into paths and do not collide with others."""
    check_name(kind.kind, where)
    if kind.kind in STAGES:
        raise TextcriticError(f"{where}: {kind.kind!r} is the name of a stage; rename the kind")
    for table in kind.tables:
        check_name(table, f"{where}: tables")
        if NUMBERED.fullmatch(table):
            raise TextcriticError(f"{where}: tables: {table!r} is a number of a paper's; rename the table")


def _part_names(study: object) -> list[str]:
    """The numbered tables and figures of a study that is not configured, and so not checked; it may be half written."""
    blocks = _dicts(study.get("experiments")) if isinstance(study, dict) else []
    names = [part.get("name") for block in blocks for key in ("tables", "figures") for part in _dicts(block.get(key))]
    return [name for name in names if isinstance(name, str) and NUMBERED.fullmatch(name)]


def _dicts(value: object) -> list[JsonObject]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
