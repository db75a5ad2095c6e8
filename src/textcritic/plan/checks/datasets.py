"""Options of data sets of the Hugging Face hub, and of the corpora that are made from them."""

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from textcritic.errors import TextcriticError
from textcritic.plan.entries.corpora import Corpus
from textcritic.plan.entries.extraction import Columns, FromSplits

if TYPE_CHECKING:
    from textcritic.plan.registries import Registries

HUB_DATASET = "hub-dataset"
"""Name of the extractor that reads them."""
KEYS = ("dataset", "from_splits", "columns")
"""What `options` of such a corpus has, and no other's."""


def dataset_folder(name: str) -> Path:
    """Where the files of a data set lie."""
    return Path("results/raw/datasets") / name


def check_dataset(name: str, registries: "Registries") -> None:
    """Check an entry of the datasets registry, beyond its schema.

    Raises:
        TextcriticError: it has both `config` and `files`, which would say twice what is read.
    """
    entry = registries.entry("datasets", name)
    if entry.config is not None and entry.files is not None:
        raise TextcriticError("config: has no effect beside files, which say what is read; leave one of the two out")


def check_hub_dataset(entry: Corpus, files: Collection[str] | None) -> None:
    """Check the options of a corpus with regard to data sets of the hub.

    Args:
        entry: the corpus.
        files: the splits in `files` of the data set it names; None if it says none, or if the corpus names no data set.

    Raises:
        TextcriticError: a key is missing, or has no effect here; columns that do not go together; a split that the data
            set does not have.
    """
    options = entry.options
    if entry.extractor != HUB_DATASET:
        if stray := next((key for key in KEYS if getattr(options, key) is not None), None):
            raise TextcriticError(f"options.{stray}: is for the extractor {HUB_DATASET}; this is {entry.extractor}")
        return
    if options.dataset is None or options.from_splits is None or options.columns is None:
        missing = next(key for key in KEYS if getattr(options, key) is None)
        raise TextcriticError(f"options.{missing} is missing; the extractor {HUB_DATASET} needs {', '.join(KEYS)}")
    if options.paths is not None:
        raise TextcriticError("options.paths: has no effect; the files are those of options.dataset")
    _check_columns(options.columns)
    wanted = options.from_splits
    for split in wanted.plain().values() if isinstance(wanted, FromSplits) else wanted:
        if files is not None and split not in files:
            raise TextcriticError(f"options.from_splits: {options.dataset} has no {split!r}; it has {', '.join(files)}")


def _check_columns(columns: Columns) -> None:
    given = [key for key in ("sections", "titles", "texts") if getattr(columns, key) is not None]
    if not given:
        raise TextcriticError(
            "options.columns: names no text; give sections (and titles, if they stand apart), or texts, or titles alone"
        )
    if "texts" in given and len(given) > 1:
        raise TextcriticError(
            f"options.columns: texts are sections named after their columns; leave {given[0]} out, or texts"
        )
