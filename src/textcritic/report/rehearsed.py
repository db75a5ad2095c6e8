"""Whether what is made here is that of a rehearsal, and the word that then stands across it."""

from pathlib import Path

MARK = Path("rehearsal.json")
"""In the working directory of a rehearsal: all that is made there is marked, by whatever command it is made."""
WORD = "REHEARSAL"
CAPTION = f"{WORD}, made of stand-ins with small values; no result."


def rehearsed(here: Path = Path()) -> bool:
    """Whether a working directory, by default this one, is that of a rehearsal."""
    return (here / MARK).is_file()
