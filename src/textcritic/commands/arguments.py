"""Arguments of the commands: files by place, and options as the functions declare them."""

import argparse
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import Field, fields
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from textcritic.api.declare import Options, Value, Values, described, in_order, whole
from textcritic.errors import TextcriticError

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"

# What files of documents may be, for the commands' descriptions.
FILES = """
Files are JSON lines (.jsonl) or an array of JSON; tables with such columns: .csv, .tsv, .parquet, .arrow, a folder of
these, or a folder that `datasets` saved; packed by gzip, bzip2, xz or zstd, too. Other keys and columns are ignored,
and named on stderr. Logs of lm-evaluation-harness, Inspect and vLLM's server are read: what the model answered.
"""
TEXTS = """
Texts are JSON lines (.jsonl), each {"text": "..."} or {"sections": [{"text": "..."}, ...]}, or an array of JSON; a
table with such columns: .csv, .tsv, .parquet, .arrow, a folder of these, or a folder that `datasets` saved; a text a
line (.txt, or any other name of a file that begins with neither { nor [), where an empty line is an empty text; or one
text (.md). They may be packed by gzip, bzip2, xz or zstd. Other keys and columns are ignored, and named on stderr. Logs
of lm-evaluation-harness, Inspect and vLLM's server are read: what the model answered.
"""
# On labels; follows FILES or TEXTS.
LABELS = """
A file of SAMPLES may have a label before it, as in gpt2=drawn/seed1.jsonl; without one it is called by its name.
"""
# On groups; follows FILES or TEXTS.
GROUPS = """
Documents are taken as independent of each other. Those that belong together, such as the chapters of a book or the
pages of a site, have the key or column "group", a string that says to what: intervals and tests take a group as one.
"""


def add_command(
    commands: Commands, name: str, summary: str, above: str, below: str = "", aliases: Sequence[str] = ()
) -> argparse.ArgumentParser:
    """Add a command to the command line, with texts that its help has above and below the arguments."""
    lines = argparse.RawDescriptionHelpFormatter
    return commands.add_parser(
        name, aliases=aliases, help=summary, description=above, epilog=below, formatter_class=lines
    )


def add_accept(command: argparse.ArgumentParser) -> None:
    """Add the option `--accept`.

    It takes names of entries whose results may be made again, because the values in config/local.yaml differ from those
    they were made with.
    """
    text = "registry entries, separated by commas, whose results may be made again with the values of config/local.yaml"
    command.add_argument("--accept", metavar="NAMES", help=text)


def labelled_paths(words: Sequence[str], argument: str = "SAMPLES") -> dict[str, Path] | list[Path]:
    """Files of samples as they were written, `FILE` or `LABEL=FILE`: by label if one of them has a label.

    A file whose whole name has a = in it is a file without a label, if it is there.

    Args:
        words: of the command line.
        argument: what they are called in errors.

    Raises:
        TextcriticError: a label or the file behind it is empty, a label is there twice, or a file is.
    """
    from textcritic.api.sets import labelled  # the reader of documents is loaded where there are some

    parted = [_parted(word, argument) for word in words]
    if not any(label for label, _ in parted):
        return [path for _, path in parted]
    plain = [path for label, path in parted if not label]
    names = iter([label for label, *_ in labelled(plain)] if plain else [])
    by_label: dict[str, Path] = {}
    for label, path in parted:
        named = label or next(names)
        if named in by_label:
            raise TextcriticError(f"{argument}: the label {named!r} twice, of {by_label[named]} and of {path}")
        by_label[named] = path
    return by_label


def _parted(word: str, argument: str) -> tuple[str, Path]:
    """The label, "" where there is none, and the path."""
    if not word:
        raise TextcriticError(f"{argument}: is empty; give the path of a file")
    label, sign, path = word.partition("=")
    if not sign or Path(word).expanduser().exists():
        return "", Path(word)
    if not label.strip() or not path:
        raise TextcriticError(f"{argument}: {word!r}: write a label before the = and a file behind it")
    return label.strip(), Path(path)


class Printed(Protocol):
    """A result that has a form for people, `repr`, and one for programs."""

    def to_json(self) -> str:
        """One JSON object with all digits."""


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add `--json`; see `printed`."""
    parser.add_argument("--json", action="store_true", help="print one JSON object with all digits, see below")


def printed(result: Printed, arguments: argparse.Namespace) -> str:
    """What a command prints: tables for people, or one JSON object if it was asked for."""
    return result.to_json() if arguments.json else repr(result)


def add_comparison(
    command: argparse.ArgumentParser,
    compare: Callable[[], Callable[..., Printed]],
    options: type[Options],
    real: str,
    samples: str,
) -> None:
    """Add what a comparison of samples with real text is given, `--json`, and what the command does.

    Args:
        command: to add them to.
        compare: gives the function that compares; what that needs is loaded for its command only.
        options: of the function.
        real: help on REAL.
        samples: help on SAMPLES.
    """

    def run(arguments: argparse.Namespace) -> str:
        samples = labelled_paths(arguments.samples)
        return printed(compare()(arguments.real, samples, **asked(arguments)), arguments)

    command.set_defaults(run=run)
    command.add_argument("real", metavar="REAL", help=real)
    command.add_argument("samples", metavar="SAMPLES", nargs="+", help=samples)
    add_json(command)
    add_options(command, options)


def positive(text: str) -> int:
    """A whole number from 1 upwards."""
    return _reader(whole(1))(text)


def up_to(most: int) -> Callable[[str], int]:
    """What reads a whole number from 1 to this one."""
    return _reader(whole(1, most))


def add_options(
    parser: argparse.ArgumentParser, options: type[Options], groups: Mapping[type[Options], str] | None = None
) -> None:
    """Add an argument for each option of a function; the command line then knows what the options are.

    Args:
        parser: of the command.
        options: of the function.
        groups: headings of the help, by the class that first declares the options below it.
    """
    parser.set_defaults(options=options)
    under: dict[type, argparse._ActionsContainer] = {
        base: parser.add_argument_group(title) for base, title in (groups or {}).items()
    }
    for base, one in in_order(options):
        _add(under.get(base, parser), one)


def asked(arguments: argparse.Namespace) -> dict[str, Any]:
    """The options that were given, by their names in Python."""
    return {one.name: vars(arguments)[one.name] for one in fields(arguments.options) if one.name in vars(arguments)}


def in_flags(line: str, arguments: argparse.Namespace) -> str:
    """A message with its options as a command has them: `--held-out` for `held_out`, where it is named as an option."""
    given = vars(arguments)
    words = [word for value in given.values() for word in (value if isinstance(value, list) else [value])]
    files = {part for word in words if isinstance(word, str) for part in (word, word.partition("=")[2])}
    known = fields(given["options"]) if "options" in given else ()
    flags = {one.name: _flag(one) for one in known if one.name not in files}  # a file may be called `test`

    def flag(found: re.Match[str]) -> str:
        return flags.get(found[1] or found[2], found[0])

    return re.sub(r"^(\w+)(?=: )|`(\w+)`", flag, line)


def _add(parser: argparse._ActionsContainer, one: Field[object]) -> None:
    if isinstance(one.default, bool):
        way: dict[str, Any] = {"action": "store_false" if one.default else "store_true"}
    else:
        way = {"type": _type(one), "metavar": one.metadata["metavar"]}
        way |= {"action": "append"} if isinstance(one.default, tuple) else {}
    parser.add_argument(
        _flag(one), dest=one.name, default=argparse.SUPPRESS, help=described(one).replace("%", "%%"), **way
    )


def _flag(one: Field[object]) -> str:
    plain = f"no-{one.name}" if one.default is True else one.name
    return f"--{one.metadata['flag'] or plain.replace('_', '-')}"


def _type(one: Field[object]) -> Callable[[str], object]:
    read, none = _reader(one.metadata["values"]), one.metadata["none"]
    return lambda text: None if none and text == none else read(text)


def _reader(values: Values[Value]) -> Callable[[str], Value]:
    """What makes a value of a word of the command line, or says what is wrong with it."""

    def read(text: str) -> Value:
        try:
            value = values.read(text)
        except ValueError:
            raise argparse.ArgumentTypeError(values.fault(text)) from None
        if fault := values.fault(value):
            raise argparse.ArgumentTypeError(fault)
        return value

    return read
