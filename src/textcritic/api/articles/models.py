"""Models to draw samples from, and their entries in the registries."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from textcritic.digests import is_commit
from textcritic.download import current_commit
from textcritic.errors import TextcriticError
from textcritic.files import read_json
from textcritic.values import JsonObject

DRAWN = "drawn"
"""The decoding."""
OPENING = 32  # tokens of a real article that a model goes on from which was not fine-tuned
SAVE_AGAIN = "copy the model again, or save it again with save_pretrained"
CONTEXT = 1024  # tokens that a model reads at once, or as many as it can
POSITIONS = ("max_position_embeddings", "n_positions", "n_ctx")
REPOSITORY = re.compile(r"[\w.-]+(/[\w.-]+)?")
# How a model is fine-tuned: the paper's learning rate and batch (appendix E); blocks begin with articles, since there
# may be few of them.
TRAINING: Mapping[str, str | float] = {"blocks": "articles", "batch_size": 8, "learning_rate": 5.0e-5}


@dataclass(frozen=True, slots=True)
class Model:
    """One model.

    Attributes:
        label: what the report calls it.
        folder: of a local one, absolute.
        repository, revision: of one of the hub.
    """

    label: str
    folder: Path | None = None
    repository: str = ""
    revision: str = ""


@dataclass(frozen=True, slots=True)
class Drawing:
    """How samples are drawn from models.

    Attributes:
        epochs: passes over the train split of the reference; 0: the models as they are.
        articles: how many are drawn from each model.
        max_tokens: one that has not ended after so many is rejected.
        titles: whether titles are in the text, so that the model writes them.
        threads: CPU threads of its jobs.
    """

    epochs: float
    articles: int
    max_tokens: int
    titles: bool
    threads: int


def models_of(given: Sequence[str], recorded: Mapping[str, str]) -> list[Model]:
    """The models that are named: folders, and names on the hub with or without a commit.

    Args:
        given: `FOLDER`, `OWNER/NAME` or `OWNER/NAME@COMMIT`.
        recorded: the commit of each repository that an earlier run looked up.

    Raises:
        TextcriticError: a folder without a model, a name that is neither, the same one twice, or a commit that cannot
            be looked up.
    """
    models: list[Model] = []
    for name in given:
        folder = Path(name).expanduser().absolute()
        if folder.is_file():
            raise TextcriticError(f"--model {name}: is a file; give the folder of a model saved with save_pretrained")
        model = _in_folder(folder) if folder.is_dir() else _on_hub(name, recorded)
        if model.label in [other.label for other in models]:
            raise TextcriticError(f"--model {name}: the same model twice, or two of one name; name each once")
        models.append(model)
    return models


def entries_of(models: Sequence[Model], names: Sequence[str], drawing: Drawing) -> dict[str, JsonObject]:
    """Entries for the registries: hub, encodings, generators and decodings.

    Args:
        models: the models.
        names: of their entries.
        drawing: how samples are drawn.
    """
    hub, encodings, generators = JsonObject(), JsonObject(), JsonObject()
    smallest = CONTEXT
    for name, model in zip(names, models, strict=True):
        source = {"folder": str(model.folder)} if model.folder else {"hub": name}
        if model.folder is None:
            hub[name] = {"repository": model.repository, "revision": model.revision}
        context = min(CONTEXT, _positions(model.folder))
        smallest = min(smallest, context)
        encodings[name] = {"tokenizer": source}
        tuned = f"fine-tuned, {drawing.epochs:g} epochs" if drawing.epochs else "as it is"
        generators[name] = {
            "kind": "causal",
            "label": f"{model.label}, {tuned}",
            "encoding": name,
            "init": source,
            "training": {"context": context, **TRAINING, "epochs": drawing.epochs},
            "threads": drawing.threads,
        }
    decoding = {"articles": drawing.articles, "max_tokens": drawing.max_tokens}
    opening = {} if drawing.epochs else {"opening": min(OPENING, smallest // 4)}
    return {
        "hub": hub,
        "encodings": encodings,
        "generators": generators,
        "decodings": {DRAWN: decoding | opening},
    }


def _in_folder(folder: Path) -> Model:
    if not (folder / "config.json").is_file():
        raise TextcriticError(f"{folder}: has no config.json; give the folder of a model saved with save_pretrained")
    if set("{}") & set(str(folder)):  # Snakemake would take them for wildcards
        raise TextcriticError(f"{folder}: a path with {{ or }} in it cannot be used; rename it or copy the folder")
    return Model(folder.name, folder)


def _on_hub(name: str, recorded: Mapping[str, str]) -> Model:
    repository, _, commit = name.partition("@")
    if not REPOSITORY.fullmatch(repository) or not (commit == "" or is_commit(commit)):
        raise TextcriticError(
            f"--model {name}: neither a folder nor a name on the hub; give OWNER/NAME, or OWNER/NAME@COMMIT with the 40"
            " hexadecimal digits of a commit"
        )
    commit = commit or recorded.get(repository, "")
    if not commit:
        try:
            commit, _ = current_commit(repository)
        except TextcriticError as error:
            raise TextcriticError(f"{error}; name one, {repository}@COMMIT, or give the folder of a model") from error
    return Model(repository, None, repository, commit)


def _positions(folder: Path | None) -> int:
    """The longest context of a local model; `CONTEXT` where its configuration does not say, or is not here yet."""
    config = read_json(folder / "config.json", SAVE_AGAIN) if folder else {}
    if not isinstance(config, dict):
        raise TextcriticError(f"{folder}/config.json: not an object; {SAVE_AGAIN}")
    known = [config[key] for key in POSITIONS if type(config.get(key)) is int and config[key] > 0]
    return known[0] if known else CONTEXT
