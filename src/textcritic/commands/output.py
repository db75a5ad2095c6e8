"""Printing the output of a command: in characters that the terminal has, and without a traceback if nobody reads it."""

import codecs
import os
import sys

from textcritic.errors import TextcriticError

# 128 + SIGPIPE: what a shell gives for a command whose reader has gone, as in `textcritic show ... | head -1`.
NOBODY_READS = 141
# Replacements for characters that a terminal lacks; any other such character becomes a question mark.
PLAIN = {
    "–": "-",
    "—": "-",
    "−": "-",
    "·": "-",
    "×": "x",
    "∞": "inf",
    "≤": "<=",
    "≥": ">=",
    "≠": "#",
    "≈": "~",
    "±": "+-",
    "’": "'",
    "…": "...",
    "\xa0": " ",
}


def print_text(text: str) -> int:
    """Print to standard output, nothing for no text; returns the exit code, 0 or `NOBODY_READS`.

    Raises:
        TextcriticError: standard output is closed or cannot be written, e.g. as the disk is full.
    """
    if sys.stdout is None:  # closed before Python began
        raise TextcriticError("standard output is closed, so nothing can be printed; redirect the output to a file")
    codecs.register_error("textcritic.plain", _plain)
    if hasattr(sys.stdout, "reconfigure"):  # a replacement of sys.stdout may lack this
        sys.stdout.reconfigure(errors="textcritic.plain")
    try:
        print(text, end="\n" if text else "", flush=True)
    except BrokenPipeError:
        _close()
        return NOBODY_READS
    except OSError as error:
        _close()
        raise TextcriticError(f"standard output: cannot be written: {error.strerror or error}") from error
    return 0


def _plain(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(PLAIN.get(letter, "?") for letter in error.object[error.start : error.end]), error.end


def _close() -> None:
    """Discard what is left in the buffer, which Python would try to write once more when it ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
