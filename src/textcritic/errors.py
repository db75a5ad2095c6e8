"""The one exception that reaches a user: one clear line, no traceback."""

import difflib
from collections.abc import Iterable


class TextcriticError(Exception):
    """Bad input or a fault the user can mend.

    The message is a single line that names the file, the line or the config key and says what would be right.
    """


def first_line(error: BaseException) -> str:
    """What another library's exception says, cut to one line; its type where it says nothing."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def suggestion(name: str, known: Iterable[str], otherwise: str) -> str:
    """`did you mean 'critics'?`, if a known name is close to one that is not known; else other words."""
    close = difflib.get_close_matches(name, known, 1)
    return f"did you mean {close[0]!r}?" if close else otherwise
