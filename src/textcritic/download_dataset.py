"""Download of data sets of the Hugging Face hub; with `download` the only code that uses the network."""

import fnmatch
import os
from pathlib import Path

from textcritic.download import AGENT, fetch_commit, keep_commit
from textcritic.errors import TextcriticError, first_line
from textcritic.plan.entries import Dataset
from textcritic.runlog import log

CARDS = ("README.md", "dataset_infos.json", ".huggingface.yaml")  # what says which file belongs to which split
FORMATS = (
    ".parquet", ".arrow", ".json", ".jsonl", ".csv", ".tsv", ".txt", ".gz", ".zst", ".bz2", ".xz", ".zip", ".tar",
)  # fmt: skip


def download_dataset(name: str, entry: Dataset, out_dir: str | os.PathLike[str]) -> None:
    """Fetch one pinned commit of a data set to a folder, whole or not at all; a rerun continues where it broke.

    Every file is compared with its checksum in the commit. Python files are never fetched.

    Args:
        name: the entry's name.
        entry: a datasets registry entry.
        out_dir: folder to write; its files have the same paths as in the repository.

    Raises:
        TextcriticError: no network, no such repository or commit (the line says which files to put where by hand); no
            file of a split; a file that differs from the commit's.
    """
    os.environ["HF_HUB_OFFLINE"] = "0"  # everywhere else the hub is offline
    from huggingface_hub import HfApi

    target = Path(out_dir)
    partial = target.with_name(f".{target.name}.partial")
    repository, revision = entry.repository, entry.revision
    log.info("fetching %s: %s at %s", name, repository, revision)
    try:
        api = HfApi(user_agent=AGENT["User-Agent"])
        listed = [file.rfilename for file in api.dataset_info(repository, revision=revision).siblings or []]
        broken = fetch_commit(api, entry, wanted_files(listed, entry), partial)
    except TextcriticError:
        raise
    except Exception as error:  # the hub client raises its own, its transport's and the system's for one fault
        files = ", ".join(pattern for patterns in (entry.files or {"": ["all files"]}).values() for pattern in patterns)
        raise TextcriticError(
            f"{repository}: cannot be downloaded ({first_line(error)}); put {files} of"
            f" https://huggingface.co/datasets/{repository}/tree/{revision} into {target} by hand, in the folders they"
            " are in there, and rerun"
        ) from error
    keep_commit(entry, partial, target, broken)


def wanted_files(listed: list[str], entry: Dataset) -> list[str]:
    """The files of a repository that are fetched: those of `files`, or all data, and the files that describe them.

    Raises:
        TextcriticError: a pattern of `files` matches none; or there are no data: the line says what there is instead.
    """
    cards = [path for path in listed if path in CARDS]
    where = f"{entry.repository}: commit {entry.revision}"
    if entry.files is None:
        data = [path for path in listed if path.endswith(FORMATS) and path not in cards]
        if not data:
            scripts = [path for path in listed if path.endswith(".py")]
            why = f"it has {', '.join(scripts)}, which is not run; " * bool(scripts)
            raise TextcriticError(
                f"{where} has no data files; {why}look for a commit of refs/convert/parquet at"
                f" https://huggingface.co/datasets/{entry.repository}/tree/refs%2Fconvert%2Fparquet"
            )
        return cards + data
    chosen: list[str] = []
    for split, patterns in entry.files.items():
        for pattern in patterns:
            # Here a star may match folders too; the reader is stricter.
            matching = [
                p for p in listed if fnmatch.fnmatchcase(p, pattern.replace("**/", "*")) and not p.endswith(".py")
            ]
            if not matching:
                raise TextcriticError(f"{where} has no file {pattern}, which its entry names for the split {split}")
            chosen += matching
    return list(dict.fromkeys(cards + chosen))
