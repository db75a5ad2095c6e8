"""Where the workflow's files are, and where its jobs find theirs."""

import os
from collections.abc import Callable
from pathlib import Path

# The folder of these files in a wheel (pyproject.toml, force-include); a checkout has no such folder.
SHIPPED = "shipped"
# The variable that tells a job the folder of its files; not set where that is the working directory.
PLACE = "TEXTCRITIC_PLACE"


def workflow_folder() -> Path:
    """The folder of Snakefile, rules, workflow/scripts, config, profiles and envs.

    In a checkout, installed editable or not, that is the repository itself; where a wheel is installed, a folder of the
    package.
    """
    room = Path(__file__).resolve().parent
    shipped = room / SHIPPED
    return shipped if shipped.is_dir() else room.parents[1]


def stored(inputfile: Callable[[str], str]) -> bool:
    """Whether a Snakemake storage holds the files; then a variable tells its jobs the folder of the local copies.

    Args:
        inputfile: of the workflow of the Snakefile.
    """
    folder = Path(inputfile("results")).parent
    if folder != Path():
        os.environ[PLACE] = str(folder)
    return folder != Path()
