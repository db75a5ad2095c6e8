"""The command `textcritic workflow`: a folder to build on, whose Snakefile uses the installed workflow as a module."""

import os
import re
from pathlib import Path

from textcritic.errors import TextcriticError
from textcritic.files import results_folder, write_text
from textcritic.place import workflow_folder

START = Path(__file__).parent / "start"


def write_start(folder: str | os.PathLike[str]) -> str:
    """Write a Snakefile, a configuration with one example of each thing, the profiles and a README.

    Args:
        folder: where they go; it is made if it is missing.

    Returns:
        What was written and what to call next, in words.

    Raises:
        TextcriticError: one of the files is there with other content; nothing is written then.
    """
    place = results_folder(folder, "folder")
    files = {place / name: text for name, text in _files().items()}
    for path, text in files.items():
        if os.path.lexists(path) and not (path.is_file() and path.read_bytes() == text.encode()):
            raise TextcriticError(f"{path}: is there already, and nothing is overwritten; choose another folder")
    try:
        for path in files:
            path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TextcriticError(f"{place}: cannot be written to: {error.strerror or error}") from error
    for path, text in files.items():
        write_text(path, text)
    written = "\n".join(f"  {path.relative_to(place)}" for path in files)
    return f"{place}:\n{written}\n\nnext: read README.md there; `snakemake -n` in it lists the jobs of the example"


def _files() -> dict[str, str]:
    """The content of each file by its path in the folder."""
    paths = [path for path in START.rglob("*") if path.is_file()]
    texts = {str(path.relative_to(START)): path.read_text(encoding="utf-8") for path in paths}
    default, slurm = (f"profiles/{name}/profile.yaml" for name in ("default", "slurm"))
    texts[default] = (workflow_folder() / default).read_text(encoding="utf-8")
    own = (workflow_folder() / slurm).read_text(encoding="utf-8")
    texts["slurm/profile.yaml"] = re.sub(r"^configfile: .*$", "configfile: config.yaml", own, flags=re.MULTILINE)
    return dict(sorted(texts.items()))
