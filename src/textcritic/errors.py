"""The one exception that reaches a user: one clear line, no traceback."""


class TextcriticError(Exception):
    """Bad input or a fault the user can mend.

    The message is a single line that names the file, the line or the config key and says what would be right.
    """


def first_line(error: BaseException) -> str:
    """What another library's exception says, cut to one line; its type where it says nothing."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
