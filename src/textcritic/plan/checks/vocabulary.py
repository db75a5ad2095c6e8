"""Stop words of the vocabulary of a topic model."""

from pathlib import Path

from textcritic.errors import TextcriticError, suggestion

NO_STOP_WORDS, ENGLISH = "none", "english"
STOP_LISTS = (NO_STOP_WORDS, ENGLISH)
"""Names of lists of stop words, which may be given in place of a file."""


def require_stop_words(name: str, here: Path) -> None:
    """Check that the option `stop_words` names a list or a file that exists.

    Args:
        name: the option.
        here: the working directory, which relative paths are relative to.

    Raises:
        TextcriticError: it is neither.
    """
    if name in STOP_LISTS or (here / name).is_file():
        return
    hint = suggestion(name, STOP_LISTS, f"give {', '.join(STOP_LISTS)} or a file with one word a line")
    raise TextcriticError(f"stop_words: there is no file {name!r} in {here}; {hint}")
