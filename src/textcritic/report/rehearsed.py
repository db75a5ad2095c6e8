"""Whether the working directory is that of a rehearsal, and the word that then marks all that is made there."""

from pathlib import Path

MARK = Path("rehearsal.json")
"""This file is in the working directory of a rehearsal: everything made there, by any command, is marked."""
WORD = "REHEARSAL"
CAPTION = f"{WORD}, made of stand-ins with small values; no result."


def rehearsed(here: Path = Path()) -> bool:
    """Whether a working directory, by default this one, is that of a rehearsal."""
    return (here / MARK).is_file()
