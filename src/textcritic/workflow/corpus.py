"""The command `textcritic corpus`: one corpus of the registry, and nothing else."""

import os
from pathlib import Path

import pyarrow.parquet as pq

from textcritic.files import read_json
from textcritic.place import workflow_folder
from textcritic.plan.checks.corpora import SPLITS
from textcritic.plan.project import Project, load_configuration
from textcritic.workflow.run import alone, run_workflow


def build_one_corpus(
    name: str,
    configfile: str | os.PathLike[str] | None = None,
    folder: str | os.PathLike[str] = ".",
    cores: int | None = None,
    accept: str | None = None,
) -> str:
    """Build a corpus in a folder, with the corpora it derives from and its downloads; existing files are kept.

    Args:
        name: an entry of the corpora registry, the user's or the package's.
        configfile: YAML laid over config/config.yaml, e.g. with `registry_folders`.
        folder: working directory, which relative paths in entries are relative to; results go to `results` there.
        cores: CPU cores; None: all.
        accept: registry entries, separated by commas, whose results may be made again with their current values.

    Returns:
        How many articles each split has, why others were left out, and the paths of the splits.

    Raises:
        TextcriticError: there is no such corpus, a fault of the configuration, or a step failed, as stderr says.
    """
    here = Path(folder).resolve()
    project = Project(load_configuration(configfile), workflow_folder(), here)
    project.registries.entry("corpora", name)
    options = ["--config", f"accept={accept}"] if accept else []
    options += ["--configfile", str(Path(configfile).resolve())] if configfile else []
    with alone(here) as lock:
        run_workflow(here, lock, *options, *(["--cores", str(cores)] if cores else []), targets=[f"corpora/{name}"])
    return _summary(here / "results/corpora" / name)


def _summary(folder: Path) -> str:
    statistics = read_json(folder / "statistics.json")
    counts = [f"{split} {pq.read_metadata(folder / f'{split}.parquet').num_rows:,}" for split in SPLITS]
    lines = [f"{folder.name}: articles: {', '.join(counts)}"]
    for key, words in (("rejected", "articles rejected"), ("skipped", "skipped in extraction")):
        if reasons := statistics.get(key):
            lines.append(f"{words}: " + ", ".join(f"{reason} {count:,}" for reason, count in reasons.items()))
    return "\n".join([*lines, "", *(str(folder / f"{split}.parquet") for split in SPLITS)])
