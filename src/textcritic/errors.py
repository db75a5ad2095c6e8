"""The one exception that reaches a user: one clear line, no traceback."""

import difflib
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

TWICE = re.compile(r"\A(?P<name>[^\n]{1,4096}?): (?=(?P=name)[:,])")


class TextcriticError(Exception):
    """Bad input, or another fault that the user can fix.

    The message is a single line that names the file, the line or the config key, once, and says how to fix it.
    """

    def __init__(self, message: str) -> None:
        super().__init__(TWICE.sub("", message))


@contextmanager
def named(name: str) -> Iterator[None]:
    """Begin the error lines of a block with what they are about: an argument, a file, one of two sets."""
    try:
        yield
    except TextcriticError as error:
        raise TextcriticError(about(name, str(error))) from error


def about(name: str, message: str) -> str:
    """A message that begins with its subject, once: `file.txt:3: ...` has it already."""
    return message if message.startswith((f"{name}:", f"{name},")) else f"{name}: {message}"


def first_line(error: BaseException) -> str:
    """The message of another library's exception, cut to one line and its first sentence; its type if it is empty."""
    lines = [line.strip() for line in str(error).strip().splitlines()] or [type(error).__name__]
    return " ".join(lines[: 2 if lines[0].endswith(":") else 1])


def listed(parts: Sequence[str]) -> str:
    """Words joined as in prose, for error lines and reports: `a`, `a and b`, `a, b and c`."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}" if parts else ""


def suggestion(name: str, known: Iterable[str], otherwise: str) -> str:
    """`did you mean 'critics'?`, if a known name is close to an unknown one; otherwise other words."""
    close = difflib.get_close_matches(name, known, 1)
    return f"did you mean {close[0]!r}?" if close else otherwise
