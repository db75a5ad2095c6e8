"""The configuration of a study of one's own texts: the shipped templates, filled in, as YAML to keep and edit."""

import hashlib
import re
from collections.abc import Collection, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from itertools import chain, count
from pathlib import Path

import yaml

from textcritic.api.articles.models import DRAWN, Drawing, Model, entries_of
from textcritic.corpora.readers.records import plain_name, shown_path
from textcritic.errors import TextcriticError
from textcritic.files import write_text
from textcritic.plan.entries import Corpus
from textcritic.plan.spec import load_yaml
from textcritic.values import JsonObject
from textcritic.workflow import workflow_folder

STUDY, CORPUS, GENERATOR = "own-text", "my-articles", "my-samples"
GIVEN = "transitions-given"
OWN = "metrics"  # the kind of experiment with measures of one's own
ALWAYS = "corpora"  # the kind that says what real text is
KINDS: Mapping[str, str] = {
    "order": "coherence",
    "tendencies": "tendencies",
    "topics": "topics",
    "mentions": "coreference",
    "recitation": "recitation",
    "sentences": "order",
    "form": OWN,
}
"""The kind of experiment of each measure that a user can choose."""
W_TITLE, WO_TITLE = "w-title", "wo-title"  # as in `corpora.layout`, which would load pyarrow
CONFIG = workflow_folder() / "config"
REGISTRY = CONFIG / "registry"
# Of a reference without titles: what all its sections are called, and which of its articles are kept: all with text.
ONLY_TITLE = "text"
UNTITLED_SECTIONS = {"minimum": 1, "maximum_tokens": 1_000_000, "minimum_title_count": 1}
WHAT = {
    "critics": "Critics with other options than those that ship.",
    "hub": "The models of the hub, pinned.",
    "encodings": "The models' tokenizers.",
    "decodings": "How articles are drawn from the models.",
}
RESERVED = {"data"}  # the name of real text in the tables of the report
LONGEST_NAME = 40
HEAD = "# {what}\n# Written by `textcritic criticise` (mark {mark}), which keeps what you change below this line.\n"
MARK = re.compile(r"^# Written by .*\(mark ([0-9a-f]+)\).*\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Sample:
    """A file of articles that is compared.

    Attributes:
        path: absolute.
        label: what the report calls it.
        control: whether it is real text, which is shown and not ranked.
    """

    path: Path
    label: str
    control: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is compared, and how.

    Attributes:
        reference: absolute path of the file of real articles.
        test: the path of real articles that samples are compared with; None: a part of the reference.
        samples: the files that are compared.
        given: whether the titles of samples are given, or inferred.
        titled: whether articles of the reference have titles; without, nothing of `given` and of the thresholds counts.
        minimum_title_count: `sections.minimum_title_count` of the corpus.
        minimum_sections: `sections.minimum` of the corpus; None: the template's.
        splits: the keys of `splits` of the corpus that differ from the template.
        measures: names of `KINDS`.
        not_measured: what else people may look for, and why it is not measured.
        critics: by kind of experiment, the keys of its critic's entry that differ from the entry that is shipped.
        resamples: the number of resamples for intervals and tests.
        command: the command line that makes the study again.
        models: models that samples are drawn from.
        drawing: how; None without models.
        metrics: measures of one's own, as a block of kind `metrics` names them.
        metric_folders: the folders of their modules.
        crossed: whether real text is judged by cross-fitting.
    """

    reference: Path
    test: Path | None = None
    samples: tuple[Sample, ...]
    given: bool
    titled: bool = True
    minimum_title_count: int
    minimum_sections: int | None = None
    splits: JsonObject = field(default_factory=dict)
    measures: tuple[str, ...] = tuple(KINDS)
    not_measured: Mapping[str, str] = field(default_factory=dict)
    critics: Mapping[str, JsonObject] = field(default_factory=dict)
    resamples: int | None = None
    command: str
    models: tuple[Model, ...] = ()
    drawing: Drawing | None = None
    metrics: tuple[str, ...] = ()
    metric_folders: tuple[str, ...] = ()
    crossed: bool = False


def corpus_template() -> Corpus:
    """The entry `my-articles` of the corpora registry."""
    path = REGISTRY / "corpora.yaml"
    return Corpus.read(load_yaml(path)[CORPUS], f"{path}: {CORPUS}")


def write_configuration(folder: Path, wanted: Wanted) -> list[Path]:
    """Write config.yaml, registry/corpora.yaml, registry/generators.yaml and studies/own-text.yaml.

    A file that was edited since is kept, provided that the same would be written now as then.

    Args:
        folder: where they go; Snakemake's working directory.
        wanted: what to fill in.

    Returns:
        The edited files that were kept.

    Raises:
        TextcriticError: a file exists that was edited and is for something else, or that this command did not write.
    """
    files = {folder / name: (what, value) for name, (what, value) in configuration(wanted).items()}
    texts = {path: _text(what, value) for path, (what, value) in files.items()}
    kept = [path for path, text in texts.items() if _edited(path, text)]
    for path, text in texts.items():
        if path not in kept and not (path.is_file() and path.read_text(encoding="utf-8") == text):
            write_text(path, text)
    return kept


def configuration(wanted: Wanted) -> dict[str, tuple[str, JsonObject]]:
    """The name of each file, a line that says what it is, and its content."""
    (corpus,) = names_of([wanted.reference], load_yaml(REGISTRY / "corpora.yaml"))
    registered = load_yaml(REGISTRY / "generators.yaml")
    generators = names_of([sample.path for sample in wanted.samples], registered)
    samples = {
        name: {**registered[GENERATOR], "label": sample.label, "path": str(sample.path)}
        | ({"control": True} if sample.control else {})
        for name, sample in zip(generators, wanted.samples, strict=True)
    }
    drawn, entries = _drawn(wanted, {*registered, *generators})
    critics = _critics(wanted)
    config = {
        "studies": [STUDY],
        "registry_folders": ["config/registry", "registry"],
        "study_folders": ["studies"],
        "pdf_figures": False,
        **({"resamples": wanted.resamples} if wanted.resamples else {}),
        **({"metric_folders": list(wanted.metric_folders)} if wanted.metric_folders else {}),
    }
    made = {"critics": {entry["name"]: entry["entry"] for entry in critics.values() if entry["entry"]}, **entries}
    return {
        "config.yaml": ("The study and its folders, for `snakemake --configfile`.", config),
        "registry/corpora.yaml": (
            "The reference: its file, its splits, and which articles are kept.",
            {corpus: _corpus(wanted)},
        ),
        "registry/generators.yaml": (
            "The samples: their files or models, and what the report calls them.",
            samples | made.pop("generators", {}),
        ),
        f"studies/{STUDY}.yaml": (
            "What is compared, and by which critics.",
            _study(wanted, corpus, (generators, drawn), {kind: critic["name"] for kind, critic in critics.items()}),
        ),
        **{f"registry/{registry}.yaml": (WHAT[registry], found) for registry, found in made.items() if found},
    }


def recorded_commits(folder: Path) -> dict[str, str]:
    """The commit of each repository that an earlier run in this folder pinned."""
    path = folder / "registry/hub.yaml"
    entries = (load_yaml(path) or {}) if path.is_file() else {}
    known = [entry for entry in entries.values() if isinstance(entry, dict)] if isinstance(entries, dict) else []
    return {str(entry.get("repository")): str(entry.get("revision")) for entry in known}


def names_of(paths: Sequence[Path], taken: Collection[str]) -> list[str]:
    """A free registry name for each file, made from its name: lower-case letters, digits and hyphens."""
    names: list[str] = []
    for path in paths:
        plain = "-".join(re.findall(r"[^\W_]+", plain_name(path).lower()))[:LONGEST_NAME].strip("-") or "file"
        used = {*taken, *RESERVED, *names}
        numbered = (f"{plain}-{number}" for number in count(2))
        names.append(next(name for name in chain([plain], numbered) if name not in used))
    return names


def labels_of(paths: Sequence[Path]) -> list[str]:
    """A label for each file: its name, and as many of its folders as are needed to distinguish it from the others."""

    def tail(path: Path, depth: int) -> str:
        return shown_path("/".join(path.parts[-depth:]))

    def label(path: Path) -> str:
        others = [other for other in paths if other != path]
        depths = range(1, len(path.parts))
        return next((t for d in depths if (t := tail(path, d)) not in [tail(o, d) for o in others]), str(path))

    return [label(path) for path in paths]


def _drawn(wanted: Wanted, taken: Collection[str]) -> tuple[list[str], dict[str, JsonObject]]:
    """Names of the models' generators, and the entries of all registries that they need."""
    if wanted.drawing is None:
        return [], {}
    others = [name for registry in ("hub", "encodings") for name in load_yaml(REGISTRY / f"{registry}.yaml")]
    paths = [model.folder or Path(model.repository) for model in wanted.models]
    names = names_of(paths, {*taken, *others})
    return names, entries_of(wanted.models, names, wanted.drawing)


def _corpus(wanted: Wanted) -> JsonObject:
    """The entry of the reference."""
    entry: JsonObject = deepcopy(load_yaml(REGISTRY / "corpora.yaml")[CORPUS])
    entry.pop("label", None)  # the corpus is called by its file
    train, test = str(wanted.reference), wanted.test
    paths = [train] if test is None else {"train": train, "test": str(test)}
    entry["options"] = {**entry["options"], "paths": paths}
    entry["splits"] = {**entry["splits"], **wanted.splits}
    if wanted.titled:
        sections = entry["sections"] | {"minimum_title_count": wanted.minimum_title_count}
        entry["sections"] = sections | ({"minimum": wanted.minimum_sections} if wanted.minimum_sections else {})
    else:
        entry["options"]["only_title"] = ONLY_TITLE
        entry["sections"] |= UNTITLED_SECTIONS
    return entry


def _critics(wanted: Wanted) -> dict[str, JsonObject]:
    """By kind of experiment the name of its critic, and its entry if it is not as it ships."""
    shipped = load_yaml(REGISTRY / "critics.yaml")
    found = {}
    for block in load_yaml(CONFIG / f"studies/{STUDY}.yaml")["experiments"]:
        if "critic" in block:
            name = GIVEN if block["kind"] == KINDS["order"] and wanted.given and wanted.titled else block["critic"]
            changed = wanted.critics.get(block["kind"], {})
            entry = _merged(shipped[name], changed) if changed else {}
            found[block["kind"]] = {"name": f"{name}-as-asked" if changed else name, "entry": entry}
    return found


def _merged(entry: JsonObject, changed: JsonObject) -> JsonObject:
    """An entry with some keys changed, those of its blocks one by one."""
    return {**entry, **{k: {**entry.get(k, {}), **v} if isinstance(v, Mapping) else v for k, v in changed.items()}}


def _study(
    wanted: Wanted, corpus: str, generators: tuple[Sequence[str], Sequence[str]], critics: Mapping[str, str]
) -> JsonObject:
    """The study; `generators` are those of files and those of models."""
    study: JsonObject = load_yaml(CONFIG / f"studies/{STUDY}.yaml")
    files, models = generators
    (block,) = study["experiments"][0]["sources"]
    given = wanted.given and wanted.titled
    filled = {**block, "corpora": [corpus], "generators": list(files)}
    # All experiments have the same settings, so that nothing is read or drawn twice.
    blocks = [filled | ({"settings": [W_TITLE]} if given else {})] if files else []
    if wanted.drawing:
        setting = W_TITLE if wanted.drawing.titles else WO_TITLE
        blocks.append({**filled, "settings": [setting], "generators": list(models), "decodings": [DRAWN]})
    kinds = {ALWAYS, *(KINDS[name] for name in wanted.measures)}
    chosen = [one for one in study["experiments"] if one["kind"] in kinds]
    shipped = [name for one in chosen for name in one.get("metrics", ())]
    if own := [name for name in wanted.metrics if name not in shipped]:
        chosen.insert(-1, {"kind": OWN, "metrics": own, "sources": []})
    filled_in = {"sources": blocks, "corpora": [corpus]}
    experiments = [
        block
        | {key: value for key, value in (filled_in | {"critic": critics.get(block["kind"])}).items() if key in block}
        for block in chosen
    ]
    not_measured = {"not_measured": dict(wanted.not_measured)} if wanted.not_measured else {}
    return study | not_measured | {"experiments": experiments, "command": wanted.command}


def _text(what: str, value: JsonObject) -> str:
    body = yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=120)
    return HEAD.format(what=what, mark=_mark(body)) + body


def _edited(path: Path, text: str) -> bool:
    """Whether this command wrote the file, for the same purpose as `text`, and it was changed since."""
    if not path.is_file():
        return False
    try:
        present = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise TextcriticError(f"{path}: cannot be read as text; remove it or choose another --output") from error
    mark = MARK.search(present)
    if not mark:
        raise TextcriticError(f"{path}: `textcritic criticise` did not write this; choose another --output")
    if _mark(present[mark.end() :]) == mark[1]:
        return False
    if mark[1] != _mark(text[MARK.search(text).end() :]):  # type: ignore[union-attr]
        raise TextcriticError(
            f"{path}: you edited this file, and it is for other files or options than now, or another version of"
            " textcritic wrote it; remove it to have it written again, or choose another --output"
        )
    return True


def _mark(body: str) -> str:
    return hashlib.sha256(body.encode()).hexdigest()[:12]
