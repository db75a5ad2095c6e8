"""Where the workflow's files are."""

from pathlib import Path

# Where a wheel has them (pyproject.toml, force-include); a checkout has no such folder.
SHIPPED = "shipped"


def workflow_folder() -> Path:
    """The folder of Snakefile, rules, workflow/scripts, config, profiles and envs.

    In a checkout, installed editable or not, that is the repository itself; where a wheel is installed, a folder of the
    package.
    """
    room = Path(__file__).resolve().parent
    shipped = room / SHIPPED
    return shipped if shipped.is_dir() else room.parents[1]
