"""Entries of the registries `downloads`, `hub` and `datasets`: what is fetched from the web."""

from typing import Annotated, Literal

from textcritic.plan.entries.base import Entry, key, limits, pattern
from textcritic.plan.entries.parts import REVISION, Revision


class Download(Entry):
    """One file of the web."""

    url: Annotated[str, pattern("^(https?|file)://")] = key("where it is")
    sha256: Annotated[str, pattern("^[0-9a-f]{64}$")] | None = key(
        "its checksum, 64 hexadecimal digits; null means that none is published; then the checksum of the"
        " downloaded file is recorded next to it",
        None,
    )
    sha1: Annotated[str, pattern("^[0-9a-f]{40}$")] | None = key(
        "its SHA-1, 40 hexadecimal digits, for files whose publisher gives no other (Wikimedia's dumps); null for none",
        None,
    )


class HubModel(Entry):
    """One pretrained model of the Hugging Face hub."""

    repository: str = key("owner/name on the hub")
    revision: Revision = key(REVISION)
    weights: bool = key("whether the weights are wanted, or the tokenizer and the configuration alone", True)
    format: Literal["safetensors", "pytorch", "either"] = key(
        "of the weights: `safetensors`, or `pytorch` (pytorch_model.bin) where a repository has no other;"
        " of the latter tensors alone are read. `either` is the first of them that the commit has",
        "safetensors",
    )
    custom_code: bool = key(
        "whether Python files of the model's own, in its repository, may run; read them at this commit"
        " first. The download then makes a file results/raw/hub/{name}.custom_code, which says so to the"
        " jobs. Without it they are not fetched, and a model that needs them is refused",
        False,
    )


class Dataset(Entry):
    """One data set of the Hugging Face hub."""

    repository: str = key("owner/name on the hub")
    revision: Revision = key(REVISION)
    config: str | None = key(
        "the configuration that is read, where the card of the data set has several; null for the only"
        " one, or the card's default",
        None,
    )
    files: (
        Annotated[None, limits(title="whatever the card says")]
        | Annotated[
            dict[str, Annotated[list[str], limits(min_length=1)]],
            limits(title="a list of patterns for each split", min_length=1),
        ]
    ) = key(
        "the files of each split, as patterns with `*`, for a data set without a card that says so, or to"
        " download no more than these; null for all files of the repository (its Python files are never"
        " fetched), the card or the library `datasets` saying which split they belong to",
        None,
    )


class Pin(Entry):
    """The commit of an entry that names a branch or a tag."""

    repository: str = key("owner/name on the hub")
    revision: str = key("the branch or tag that its entry names")
    commit: Annotated[str, limits(title="a commit, 40 hexadecimal digits in quotes"), pattern("^[0-9a-f]{40}$")] = key(
        "what the revision was on that day"
    )
    date: str = key("the day on which it was looked up, in quotes")


class Lock(Entry):
    """Commits of the hub by entry, as `textcritic lock` looked them up: hub.lock."""

    hub: dict[str, Pin] = key("models", {})
    datasets: dict[str, Pin] = key("data sets", {})
